"""A web from a file to disk: seconds and memory at the peak, beside DuckDB's sort of the same file.

    python -m benchmarks.loading                  20 million links
    python -m benchmarks.loading 200 --alone      200 million, without DuckDB
    python -m benchmarks.loading 20 --formats     20 million, of Parquet, a BVGraph and Common Crawl's files
    python -m benchmarks.loading 1000 --ranked    a billion, Parquet tables of a crawl ranked as they lie there

Peaks are of the whole process (VmHWM). DuckDB is told to use no more than 1.5 GB and both cores; it sorts by source and line,
which keeps the order of links, and hands the targets over as Arrow: less than a web directory needs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.loading_files import LINKS_A_PAGE, write_bvgraph, write_common_crawl, write_edges, write_tables
from benchmarks.process import figures
from benchmarks.show import Result, table, verdict

HEADER = ["", "s", "of it CPU", "ns a link", "bytes a link at the peak", "GB in all"]
MEASURE = """
import json, sys, time
def most(): return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
def done(links):
    seconds = time.perf_counter() - begun
    told = {"seconds": seconds, "cpu": time.process_time() - used, "peak": most() - before, "whole": most()}
    print(json.dumps({**told, "links": links}))
def clear(): open("/proc/self/clear_refs", "w").write("5")
"""
OWN = (
    MEASURE
    + """
from frontrank.sources import convert
path, small, target = sys.argv[1:4]
convert(small, small + ".web", force=True)  # kernels are compiled or loaded before
clear()
before, begun, used = most(), time.perf_counter(), time.process_time()
done(convert(path, target, force=True).links)
"""
)
RANK = (
    MEASURE
    + """
from frontrank.lab.best_pages import local_ranking
from frontrank.orderings.registry import parse_ranker
from frontrank.sources.parquet_crawl import open_crawl
path, small = sys.argv[1:3]
ranker = parse_ranker("rw-eg:omega=0.7,tolerance=0.01")
local_ranking(open_crawl(small), ranker, None, 100)
clear()
before, begun, used = most(), time.perf_counter(), time.process_time()
done(local_ranking(open_crawl(path), ranker, None, 1000)[2].links)
"""
)
DUCKDB = (
    MEASURE
    + """
import duckdb
path, folder = sys.argv[1:3]
db = duckdb.connect(folder + "/duck.db")
db.execute(f"set memory_limit='1500MB'; set threads=2; set enable_progress_bar=false; set temp_directory='{folder}/spill'")
clear()
before, begun, used = most(), time.perf_counter(), time.process_time()
columns = "delim='\\\\t', header=false, columns={'s': 'INTEGER', 't': 'INTEGER'}"
lines = f"SELECT s, t, row_number() OVER () AS line FROM read_csv('{path}', {columns})"
links = 0
with open(folder + "/targets", "wb") as file:
    for batch in db.sql(f"SELECT s, t FROM ({lines}) ORDER BY s, line").to_arrow_reader(2**20):
        file.write(batch.column(1).to_numpy(zero_copy_only=False).data)
        links += batch.num_rows
done(links)
"""
)


def loading(folder: Path, links: int = 20_000_000, beside: bool = True) -> list[Result]:
    """``beside``: DuckDB sorts the same file."""
    write_edges(folder / "small.txt", 100, 2000)
    write_edges(folder / "edges.txt", links // 20, links)
    own = figures(OWN, folder / "edges.txt", folder / "small.txt", folder / "edges.web")
    rows = [_row("frontrank convert", own)]
    results = [
        Result(f"{links:,} links to disk: memory at the peak", own["peak"] / links, 10, "bytes a link", most=True),
        Result(f"{links:,} links to disk: process at the peak", own["whole"] / 1e9, 3, "GB", most=True),
    ]
    if beside:
        duck = figures(DUCKDB, folder / "edges.txt", folder)
        rows.append(_row("DuckDB, sort alone", duck))
        results.append(
            Result(f"{links:,} links to disk: DuckDB's time over ours", duck["seconds"] / own["seconds"], 1, "times")
        )
    table(f"An edge list of {links:,} links to disk", HEADER, rows)
    return results


def _row(name: str, it: dict[str, float]) -> list[str]:
    each = f"{it['seconds'] / it['links'] * 1e9:.0f}"
    return [
        name,
        f"{it['seconds']:.0f}",
        f"{it['cpu']:.0f}",
        each,
        f"{it['peak'] / it['links']:.1f}",
        f"{it['whole'] / 1e9:.2f}",
    ]


def formats(folder: Path, links: int = 20_000_000) -> list[Result]:
    """The same of other forms: Parquet, a BVGraph, Common Crawl's files."""
    pages = links // LINKS_A_PAGE
    for size, name in ((100, "small"), (pages, "large")):
        write_tables(folder / f"{name}.tables", size, LINKS_A_PAGE * size)
        write_common_crawl(folder / f"{name}.hosts", size, LINKS_A_PAGE * size)
        write_bvgraph(folder / name, size, LINKS_A_PAGE * size)
    rows, results = [], []
    for form, name in {"Parquet": "{}.tables", "Common Crawl": "{}.hosts", "BVGraph": "{}.graph"}.items():
        paths = (folder / name.format("large"), folder / name.format("small"), folder / f"{form}.web")
        rows.append(_row(f"{form}, to disk", it := figures(OWN, *paths)))
        results.append(
            Result(f"{links:,} links of {form}: memory at the peak", it["peak"] / links, 10, "bytes a link", most=True)
        )
    table(f"{links:,} links of other forms", HEADER, rows)
    return results


def ranked(folder: Path, links: int = 20_000_000) -> list[Result]:
    """A crawl in Parquet tables, ranked as it lies there."""
    for size, name in ((100, "small"), (links // LINKS_A_PAGE, "large")):
        write_tables(folder / f"{name}.crawl", size, LINKS_A_PAGE * size)
    it = figures(RANK, folder / "large.crawl", folder / "small.crawl")
    table(f"Parquet tables of {links:,} links ranked by rw-eg:omega=0.7", HEADER, [_row("frontrank rank", it)])
    return [Result(f"{links:,} links in Parquet, ranked: process at the peak", it["whole"] / 1e9, 20, "GB", most=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loading")
    parser.add_argument("millions", type=int, nargs="?", default=20, help="links, in millions")
    parser.add_argument("--dir", help="where the files go, about 50 bytes a link for a while")
    parser.add_argument("--alone", action="store_true", help="without DuckDB")
    parser.add_argument("--formats", action="store_true", help="other forms than an edge list")
    parser.add_argument("--ranked", action="store_true", help="Parquet tables of a crawl, ranked")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-", dir=given.dir) as made:
        size = given.millions * 1_000_000
        if given.ranked or given.formats:
            verdict((ranked if given.ranked else formats)(Path(made), size))
        else:
            verdict(loading(Path(made), size, not given.alone))
