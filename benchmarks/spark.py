"""PageRank on Spark against the local engine: one iteration of each over the same links.

python -m benchmarks.spark                       20 million links, about three minutes
python -m benchmarks.spark --links 100e6         what docs/results/scale.md has
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.show import Result, table, verdict
from frontrank.errors import InputError
from frontrank.lab.best_pages import best
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.sources.parquet_crawl import open_crawl
from frontrank.spark.rank import opened_web, rank
from frontrank.spark.session import check_java, session

LINKS_A_PAGE = 10
PARTS = 8
BOUND, PROMISED = 6.0, 100_000_000
TOLERANCE = 0.02  # some ten iterations


def write_web(folder: Path, links: int) -> None:
    """A web of so many links as Parquet: most go to near pages, the others to popular ones."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, pages = np.random.default_rng(7), links // LINKS_A_PAGE
    (folder / "links").mkdir(parents=True)
    each = links // PARTS
    for part in range(PARTS):
        source = rng.integers(0, pages, each)
        near = np.clip(source + rng.normal(0, 1000, each).astype(np.int64), 0, pages - 1)
        popular = (rng.random(each) ** 3 * pages).astype(np.int64)
        target = np.where(rng.random(each) < 0.7, near, popular)
        pq.write_table(pa.table({"source": source, "target": target}), folder / "links" / f"part-{part}.parquet")
    pq.write_table(pa.table({"page": np.arange(pages)}), folder / "pages.parquet")


def iterations(folder: Path, links: int, master: str = "local[2]") -> list[Result]:
    """Seconds of an iteration on both engines; the scores must be the same."""
    try:
        check_java()
    except InputError as error:
        print(f"\nSpark is left out: {error}")
        return []
    pages = links // LINKS_A_PAGE
    if not (folder / "web").exists():
        write_web(folder / "web", links)
    ranker = PageRank(alpha=0.85, tolerance=TOLERANCE)
    loaded = open_crawl(str(folder / "web"))
    view = loaded.view()
    ranker.score(view)  # compiles
    view.scores.clear()
    begun = perf_counter()
    scores = ranker.score(view)
    local = perf_counter() - begun
    del view, loaded
    told: list[tuple[str, float]] = []

    def tell(what: str, done: int, total: int) -> None:
        told.append((what, perf_counter()))
        print(f"{what} {done}: {perf_counter() - begun:.0f} s", flush=True)

    begun = perf_counter()
    with session(master) as spark, opened_web(spark, str(folder / "web"), str(folder), tell) as web:
        found = rank(web, ranker, 1000)
    whole = perf_counter() - begun
    top = best(np.arange(pages), scores, 1000)
    assert found.ranking.urls == [str(page) for page in top.tolist()], "the same pages first"
    assert np.abs(found.ranking.scores - scores[top]).max() < 1e-9
    steps = np.diff([at for what, at in told if what == "PageRank"])[1:]  # the first compiles
    here, there = local / found.iterations, float(np.median(steps))
    rows = [
        ["local", f"{here:.3f}", f"{here / links * 1e9:.1f}", "1.0"],
        [f"spark {master}", f"{there:.3f}", f"{there / links * 1e9:.1f}", f"{there / here:.2f}"],
    ]
    title = f"One iteration of PageRank, {links:,} links, {pages:,} pages ({found.iterations} iterations)"
    table(title, ["engine", "seconds", "ns a link", "of local"], rows)
    print(f"\niterations on Spark: {', '.join(f'{step:.2f}' for step in steps)} s; start and blocks included {whole:.0f} s")
    if links < PROMISED:  # a smaller web measures what Spark needs to plan an iteration
        return []
    return [Result(f"an iteration on Spark {master}", there / here, BOUND, "local iterations", most=True)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark")
    parser.add_argument("--links", type=float, default=20e6)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--folder", help="where the web is, or is written to and left; a temporary one if none is given")
    given = parser.parse_args()
    if given.folder:
        verdict(iterations(Path(given.folder), int(given.links), given.master))
        return
    with tempfile.TemporaryDirectory(prefix="frontrank-spark-") as folder:
        verdict(iterations(Path(folder), int(given.links), given.master))


if __name__ == "__main__":
    main()
