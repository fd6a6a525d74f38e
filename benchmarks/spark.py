"""Spark against the local engine: one iteration of PageRank over the same links; and ml, whose scores must be the same.

python -m benchmarks.spark                               20 million links, a minute or two
python -m benchmarks.spark --links 100e6 --folder DIR    what docs/results/scale.md has, with 5 GB of disk
python -m benchmarks.spark --hub                         every page links to one, the other half of the links as before
python -m benchmarks.spark --ml --links 2e6              ml of a crawl with impacts and queries, 200,000 pages

Beside the clock CPU time is told, of this process and all that it started (Java, Python's workers): what is left of a
comparison on a machine that others use too. DIR keeps the tables for the next run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.show import Result, table, verdict
from frontrank.errors import InputError
from frontrank.lab.best_pages import best, local_ranking
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.registry import parse_ranker
from frontrank.sources.parquet_crawl import open_crawl
from frontrank.spark.rank import open_web, rank
from frontrank.spark.session import check_java, session

LINKS_A_PAGE = 10
PARTS = 8
FETCHED = 0.5  # of the pages of a crawl
BEST = 10_000  # pages that are compared
PROMISED, BOUND = 100_000_000, 6.0
SMALLER = 10.0  # on webs below what was promised for: there is less to do, and as much to plan
TOLERANCE = 0.02  # some ten iterations


def pages_of(links: int, hub: bool = False) -> int:
    return links // (2 if hub else LINKS_A_PAGE)


def write_web(folder: Path, links: int, hub: bool = False) -> None:
    """A web of so many links as Parquet: most go to near pages, the others to popular ones; all link to a hub."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, pages = np.random.default_rng(7), pages_of(links, hub)
    beside = folder.with_name(f"{folder.name}.half")
    (beside / "links").mkdir(parents=True)
    each = links // PARTS
    for part in range(PARTS):
        source = rng.integers(0, pages, each)
        near = np.clip(source + rng.normal(0, 1000, each).astype(np.int64), 0, pages - 1)
        popular = (rng.random(each) ** 3 * pages).astype(np.int64)
        target = np.where(rng.random(each) < 0.7, near, popular)
        if hub:
            target[: each // 2] = pages // 2
            source[: each // 2] = np.arange(each // 2) + part * (each // 2)
        pq.write_table(pa.table({"source": source, "target": target}), beside / "links" / f"part-{part}.parquet")
    pq.write_table(pa.table({"page": np.arange(pages)}), beside / "pages.parquet")
    beside.rename(folder)


def cpu_s(pids: dict[int, float]) -> float:
    """CPU seconds of this process and all below it; ``pids`` remembers those that have ended."""
    parent: dict[int, int] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                said = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # gone
                continue
            parent[int(entry.name)] = int(said[1])
            spent[int(entry.name)] = (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")
    for pid in spent:
        above = pid
        while above > 1 and above != os.getpid():
            above = parent.get(above, 0)
        if above == os.getpid():
            pids[pid] = max(spent[pid], pids.get(pid, 0.0))
    return sum(pids.values())


class Steps:
    """When iterations began, by the clock and by CPU time."""

    def __init__(self) -> None:
        self.begun = perf_counter()
        self.pids: dict[int, float] = {}
        self.told: list[tuple[str, float, float]] = []

    def __call__(self, what: str, done: int, total: int) -> None:
        self.told.append((what, perf_counter(), cpu_s(self.pids)))
        print(f"{what} {done}: {perf_counter() - self.begun:.1f} s", flush=True)

    def of(self, what: str) -> Any:
        """Rows of seconds and CPU seconds, but for the first step, which compiles."""
        return np.diff([told[1:] for told in self.told if told[0] == what], axis=0)[1:]


def has_java() -> bool:
    """Said, if Spark cannot run here."""
    try:
        check_java()
    except InputError as error:
        print(f"\nSpark is left out: {error}")
        return False
    return True


def iterations(folder: Path, links: int, master: str = "local[2]", hub: bool = False) -> list[Result]:
    """Seconds of an iteration on both engines; the scores must be the same."""
    if not has_java():
        return []
    pages, web_folder = pages_of(links, hub), folder / f"web-{links}{'-hub' if hub else ''}"
    if not web_folder.exists():
        write_web(web_folder, links, hub)
    ranker = PageRank(alpha=0.85, tolerance=TOLERANCE)
    scores, local, local_cpu = here(web_folder, ranker)
    steps = Steps()
    with session(master) as spark, open_web(spark, str(web_folder), str(folder), steps) as web:
        found = rank(web, ranker, 1000)
    whole = perf_counter() - steps.begun
    top = best(np.arange(pages), scores, 1000)
    assert found.ranking.urls == [str(page) for page in top.tolist()], "the same pages first"
    assert np.abs(found.ranking.scores - scores[top]).max() < 1e-9
    there, there_cpu = np.median(steps.of("PageRank"), axis=0).tolist()
    local, local_cpu = local / found.iterations, local_cpu / found.iterations
    rows = [
        ["local", f"{local:.3f}", f"{local / links * 1e9:.1f}", f"{local_cpu:.3f}", "1.0"],
        [f"spark {master}", f"{there:.3f}", f"{there / links * 1e9:.1f}", f"{there_cpu:.3f}", f"{there / local:.2f}"],
    ]
    title = f"One iteration of PageRank, {links:,} links, {pages:,} pages ({found.iterations} iterations)"
    table(title, ["engine", "seconds", "ns a link", "CPU seconds", "of local"], rows)
    each = ", ".join(f"{step[0]:.2f}" for step in steps.of("PageRank"))
    print(f"\niterations on Spark: {each} s; start and blocks included {whole:.0f} s")
    if hub:
        return []
    bound = BOUND if links >= PROMISED else SMALLER
    return [Result(f"an iteration on Spark {master}, {links:,} links", there / local, bound, "local iterations", most=True)]


def write_crawl(folder: Path, links: int) -> None:
    """A crawl with impacts, queries and results: popular pages are fetched sooner, and searchers find more in them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    write_web(folder, links)
    rng, pages = np.random.default_rng(8), pages_of(links)
    page = np.arange(pages)
    views = rng.poisson(20.0 * rng.random(pages) ** 8 * (pages / (page + 1.0)) ** 0.3)
    urls = [f"http://h{number % 1000}.example/{number}" for number in range(pages)]
    told = {"page": page, "url": urls, "fetched": page < FETCHED * pages, "views": views}
    pq.write_table(pa.table(told), folder / "pages.parquet")
    queries = [f"word{number}" for number in range(1000)]
    pq.write_table(pa.table({"query": queries, "frequency": rng.random(1000) * 100.0}), folder / "queries.parquet")
    shown = {
        "query": np.repeat(queries, 10),
        "page": rng.integers(0, int(FETCHED * pages), 10_000),
        "score": rng.random(10_000),
    }
    pq.write_table(pa.table(shown), folder / "results.parquet")


def learned(folder: Path, links: int, master: str = "local[2]") -> list[Result]:
    """ml on both engines: seconds, the largest difference of a score, and whether the best pages are the same."""
    if not has_java():
        return []
    import pyarrow.parquet as pq

    tables = folder / f"crawl-{links}"
    if not tables.exists():
        write_crawl(tables, links)
    ranker = parse_ranker("ml:features=links")
    begun, spent = perf_counter(), cpu_s({})
    ranking, scores, _ = local_ranking(open_crawl(str(tables)), ranker, None, BEST)
    local, local_cpu = perf_counter() - begun, cpu_s({}) - spent
    steps, spent = Steps(), cpu_s({})
    with session(master) as spark, open_web(spark, str(tables), str(folder), steps) as web:
        found = rank(web, ranker, BEST, str(folder / "scores"))
        there, there_cpu = perf_counter() - steps.begun, cpu_s(steps.pids) - spent
    apart = float(np.abs(pq.read_table(folder / "scores").sort_by("page")["score"].to_numpy() - scores).max())
    rows = [
        ["local", f"{local:.1f}", f"{local_cpu:.1f}", "1.0", ""],
        [f"spark {master}", f"{there:.1f}", f"{there_cpu:.1f}", f"{there / local:.2f}", f"{apart:.1e}"],
    ]
    title = f"{ranker.spec()}, {links:,} links, {len(scores):,} pages, {len(np.unique(scores)):,} different scores"
    table(title, ["engine", "seconds", "CPU seconds", "of local", "scores apart by at most"], rows)
    same = np.mean([ours == theirs for ours, theirs in zip(ranking.urls, found.ranking.urls, strict=True)])
    return [
        Result("ml: scores of Spark and of the local engine", apart, 1e-9, "apart", most=True),
        Result(f"ml: of the best {BEST:,} pages in the same place", float(same), 1.0, ""),
    ]


def here(folder: Path, ranker: PageRank) -> tuple[Any, float, float]:
    """Scores by the local engine; seconds and CPU seconds of its iterations."""
    view = open_crawl(str(folder)).view()
    ranker.score(view)  # compiles, and finds links by target
    view.scores.clear()
    begun, spent = perf_counter(), os.times()
    scores = ranker.score(view)
    now = os.times()
    return scores, perf_counter() - begun, now.user + now.system - spent.user - spent.system


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark")
    parser.add_argument("--links", type=float, default=20e6)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--hub", action="store_true", help="every page links to one")
    parser.add_argument("--ml", action="store_true", help="ml in place of PageRank")
    parser.add_argument("--folder", help="where the web is, or is written to and left; a temporary one if none is given")
    given = parser.parse_args()
    with nullcontext(given.folder) if given.folder else tempfile.TemporaryDirectory(prefix="frontrank-spark-") as folder:
        if given.ml:
            verdict(learned(Path(folder), int(given.links), given.master))
        else:
            verdict(iterations(Path(folder), int(given.links), given.master, given.hub))


if __name__ == "__main__":
    main()
