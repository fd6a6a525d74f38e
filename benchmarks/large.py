"""A crawl of the size of tran15's, ranked on this machine: time of an iteration, memory, and the pages to fetch next.

``python -m benchmarks.large`` is the real one: 98 million pages, 1.18 billion links, impact on 0.4% of the pages. It takes
12 GB of disk and up to half an hour. ``make bench`` runs a hundredth of it. Each ranker has a process of its own:
the whole ``frontrank rank``, with 2% of the frontier written to Parquet.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.large_web import write_large
from benchmarks.show import Result, table, verdict

PAGES, LINKS, WAITING = 98_000_000, 12, 0.3
RANKERS = ("indegree", "pagerank", "rw", "rw-eg:omega=0.7")
MORE = ("pagerank:bits=32", "rw-eg:omega=0.7,bits=32")
ROUGH = 1e-4  # of pagerank: an iteration takes as long whatever the tolerance, and a dozen are enough to know how long
RANK = """
import json, sys, time
from benchmarks.process import peak_gb
from frontrank.kernels import pagerank, walk
from frontrank.kernels.threads import cores
from frontrank.lab.next_pages import rank, view_for
from frontrank.orderings.registry import parse_ranker
from frontrank.sources.imported_crawl import load_crawl

steps, used = [], []

def timed(solver):
    step = solver.step
    def counted(self, *given):
        begun, spent = time.perf_counter(), time.process_time()
        found = step(self, *given)
        steps.append(time.perf_counter() - begun)
        used.append(time.process_time() - spent)
        return found
    solver.step = counted

timed(pagerank.Solver), timed(walk.Walker)
begun = time.perf_counter()
crawl, ranker = load_crawl(sys.argv[1]), parse_ranker(sys.argv[2])
view = view_for(crawl, [ranker])
opened = time.perf_counter() - begun
budget = round(0.02 * (view.known - len(view.source)))
ranking = rank(crawl, view, ranker, budget)
ranking.save(sys.argv[3])
print(json.dumps({
    "links": view.links, "opened": opened, "seconds": time.perf_counter() - begun, "written": len(ranking.urls),
    "steps": len(steps), "best": min(steps, default=0.0), "mean": sum(steps) / max(len(steps), 1),
    "cpu": min(used, default=0.0) / cores(),
    "notes": list(view.notes.values()), "peak": peak_gb(),
}))
"""


def ranked(crawl: Path, spec: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-c", RANK, str(crawl), spec, str(folder / "next.parquet")]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return told


def rough(spec: str, tolerance: float) -> str:
    """PageRank with this tolerance; walks along impact end soon, and go all the way."""
    return f"{spec}{',' if ':' in spec else ':'}tolerance={tolerance:g}" if spec.startswith("pagerank") else spec


def rankers(crawl: Path, folder: Path, tolerance: float, peak: float, more: tuple[str, ...] = ()) -> list[Result]:
    rows, found = [], {}
    for spec in (*RANKERS, *more):
        told = found[spec] = ranked(crawl, rough(spec, tolerance), folder)
        each = [f"{1e9 * told[key] / told['links']:.2f}" if told["steps"] else "" for key in ("best", "mean", "cpu")]
        whole = [f"{told['opened']:.0f}", f"{told['seconds']:.0f}", f"{told['peak']:.1f}", f"{told['written']:,}"]
        rows.append([spec, f"{told['steps']}", *each, *whole])
        print("  ".join(rows[-1]), flush=True)
    links = f"{found['pagerank']['links']:,.0f} links"
    header = ["ranker", "iterations", "ns/link", "mean", "of CPU time", "opened, s", "in all, s", "peak GB", "written"]
    table(f"Rankers on {links}; ns a link of the best iteration, of all, and of CPU time over cores", header, rows)
    ns = {spec: 1e9 * told["best"] / told["links"] for spec, told in found.items()}
    return [
        Result(f"pagerank iteration, {links}", ns["pagerank"], 10.0, "ns a link", most=True),
        Result(f"rw iteration, {links}", ns["rw"], 10.0, "ns a link", most=True),
        Result(f"rw-eg iteration, {links}", ns[RANKERS[3]] / ns["rw"], 3.5, "iterations of rw", most=True),
        Result(f"peak memory, {links}", max(told["peak"] for told in found.values()), peak, "GB", most=True),
    ]


def made(folder: Path, pages: int) -> Path:
    crawl = folder / f"{pages}.crawl"
    if not crawl.exists():
        begun = perf_counter()
        write_large(f"pages={pages},links={LINKS},frontier={WAITING},impact=0.004,seed=1", crawl)
        print(f"made in {perf_counter() - begun:.0f} s", flush=True)
    return crawl


def hundredth(folder: Path) -> list[Result]:
    return rankers(made(folder, PAGES // 100), folder, ROUGH, 1.0, MORE)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large")
    parser.add_argument("--crawl", type=Path, help="a crawl made earlier; made in a temporary folder if none is given")
    parser.add_argument("--tolerance", type=float, default=ROUGH)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as name:
        crawl = given.crawl or made(Path(name), PAGES)
        verdict(rankers(crawl, Path(name), given.tolerance, 20.0, MORE))


if __name__ == "__main__":
    main()
