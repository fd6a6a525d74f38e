"""Simulations of a memory-mapped web of 30 million pages and a billion links, beside smaller ones of the same kind.

    python -m benchmarks.billion                     1/100 of it: 300,000 pages, 10 million links (a part of make bench)
    python -m benchmarks.billion --sizes 3e4 1e6 30e6 --dir DIR --orderings bfs fpr
    python -m benchmarks.billion --sizes 30e6 --dir DIR --orderings surf --budget 1e6

All of it takes 4.6 GB on disk. Each crawl is a process of its own, which fetches every page that 1,000 random seeds lead to, or
``--budget`` of them. Webs are made once, in DIR. Seconds of the processor are what counts: a crawl decides on one core, and on
a shared machine the clock tells how busy the others were.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.large_web import write_large
from benchmarks.process import figures
from benchmarks.show import Result, table, verdict

LINKS = 33.4  # a page: a billion on 30 million pages
ORDERINGS = ("bfs", "fpr", "surf")
SIZES = (30_000, 300_000)  # 1/1000 and 1/100 of it
WARM = 1_000
FPR10 = 11_000  # pages a second: 80 of 106 million pages with 3.7 billion links in 2 hours, as fpr10 reports
GROWTH = 1.1
CRAWL = """
import json, sys
from time import process_time
from benchmarks.process import peak_gb
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.web.seeds import find_seeds
web = load(sys.argv[1])
small = load(sys.argv[2])
budget = int(float(sys.argv[4])) or None
for one in (small, web):  # machine code first
    seeds = find_seeds(one, "random:1000@7")
    begun = process_time()
    run = simulate(one, parse(sys.argv[3]), seeds, budget, steps=10)
    seconds = process_time() - begun
peak = peak_gb()
links = int((web.indptr[run.trace.order + 1] - web.indptr[run.trace.order]).sum())
print(json.dumps({"seconds": seconds, "clock": run.seconds, "peak": peak, "links": links, "fetched": run.trace.fetched}))
"""


def made(pages: int, folder: Path) -> Path:
    web = folder / f"large-{pages}.web"
    if not web.exists():
        write_large(f"pages={pages},links={LINKS},seed=7", web)
    return web


def billion(
    folder: Path, sizes: tuple[int, ...] = SIZES, orderings: tuple[str, ...] = ORDERINGS, budget: float = 0
) -> list[Result]:
    lines, results = [], []
    small = made(WARM, folder)
    seconds: dict[str, list[float]] = {spec: [] for spec in orderings}
    links: dict[str, list[float]] = {spec: [] for spec in orderings}
    for size in sizes:
        for spec in orderings:
            told = figures(CRAWL, made(size, folder), small, spec, budget)
            seconds[spec].append(told["seconds"])
            links[spec].append(told["links"])
            pace, of_bfs = told["fetched"] / told["seconds"], told["seconds"] / seconds[orderings[0]][-1]
            line = [f"{size:,}", spec, f"{told['fetched']:,.0f}", f"{told['links']:,.0f}", f"{told['clock']:.2f}"]
            line += [f"{told['seconds']:.2f}", f"{1e9 * told['seconds'] / told['links']:.1f}", f"{of_bfs:.1f}"]
            lines.append([*line, f"{pace:,.0f}", f"{pace / FPR10:.1f}", f"{told['peak']:.2f}"])
            print(*lines[-1], file=sys.stderr, flush=True)
            if size == sizes[-1]:
                results.append(Result(f"{spec}: peak memory, {size:,} pages", told["peak"], 20.0, "GB", most=True))
                if spec != "bfs":
                    results.append(Result(f"{spec}: pages a second (fpr10: 11,000)", pace, FPR10, ""))
    for spec in orderings:
        if len(sizes) > 1:
            growth = float(np.polyfit(np.log(links[spec]), np.log(seconds[spec]), 1)[0])
            results.append(Result(f"{spec}: growth exponent of time in links", growth, GROWTH, "", most=True))
    header = ["pages", "ordering", "fetched", "links", "clock s", "CPU s", "ns/link", f"of {orderings[0]}", "pages/s"]
    table("Simulations of a memory-mapped web, each in a process of its own", [*header, "of fpr10's", "peak GB"], lines)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.billion")
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES, help="pages; 30e6 have a billion links")
    parser.add_argument("--budget", type=float, default=0, help="pages that are fetched; all if not given")
    parser.add_argument("--dir", type=Path, help="where webs are kept; a temporary folder if not given")
    parser.add_argument("--orderings", nargs="+", default=ORDERINGS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-billion-") as folder:
        kept = given.dir or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        verdict(billion(kept, tuple(map(int, given.sizes)), tuple(given.orderings), given.budget))


if __name__ == "__main__":
    main()
