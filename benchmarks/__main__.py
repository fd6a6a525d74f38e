"""make bench: all benchmarks, about half an hour. ``python -m benchmarks --small`` is a tenth of the size, for a look."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import (
    billion,
    durable,
    exports,
    fetchers,
    frontier,
    hostile,
    integrity,
    large,
    loading,
    memory,
    robots,
    scale,
    scrapy_throughput,
    spark,
    speed,
    stalls,
    stopping,
    walks,
)
from benchmarks.show import Result, verdict
from benchmarks.startup import start_up
from frontrank.sources import load

TARGETS = {"bfs": 30.0, "backlink": 30.0, "opic": 40.0, "fica": 30.0, "fpr": 40.0}  # times as fast as plain Python


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--small", action="store_true", help="100k instead of 1M pages, no run with 10M pages")
    parser.add_argument("--only", choices=("lab", "live"), help="the half on simulation, or the half on live crawls")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as folder:
        results = [] if given.only == "live" else lab(Path(folder), given.small)
        results += [] if given.only == "lab" else live(Path(folder), given.small)
    verdict(results)


def live(folder: Path, small: bool) -> list[Result]:
    """The frontier and Crawl against Scrapy's queues, and crawls on loopback against stock Scrapy."""
    results = frontier.takes()
    results += durable.writing(folder, 2_000 if small else 10_000)
    results += durable.memory(folder, 100_000 if small else 1_000_000)
    results += memory.waiting(folder, 100_000 if small else 300_000)
    results += durable.recovery(folder, 100_000 if small else 1_000_000)
    results += integrity.checks(folder)
    results += stalls.stalls(folder, 100_000 if small else 1_000_000)
    results += robots.reading()
    results += stalls.recovery_after_kill(folder, 120_000 if small else 1_200_000)
    results += exports.exports(folder, 2_000 if small else exports.PAGES)
    results += hostile.gaps(folder, small)
    results += stopping.ending(folder, small)
    results += scrapy_throughput.throughput() + fetchers.throughput(500 if small else 1_500)
    return results + fetchers.waiting(500 if small else 1_500)


def lab(folder: Path, small: bool) -> list[Result]:
    """Simulation, PageRank and search against plain Python, scipy and networkit."""
    results = start_up()
    web = load(f"synthetic:pages={100_000 if small else 1_000_000},links=20,text=0,seed=7")
    results += speed.against_plain(web, TARGETS)
    results += speed.pagerank_against_scipy(web)
    results += speed.against_bfs(web)
    results += walks.iterations(web)
    results += walks.pagerank_against_networkit(web)
    results += large.hundredth(folder)
    results += walks.overlap((20_000, 40_000, 80_000) if small else (250_000, 500_000, 1_000_000))
    results += memory.reading(folder, *((100_000, 2_000_000) if small else (1_000_000, 20_000_000)))
    results += loading.loading(folder, 2_000_000 if small else 20_000_000)
    results += loading.formats(folder, 2_000_000 if small else 20_000_000)
    results += loading.ranked(folder, 2_000_000 if small else 20_000_000)
    results += billion.billion(folder, (3_000, 30_000) if small else billion.SIZES)
    results += spark.iterations(folder / "spark", 2_000_000 if small else 20_000_000)
    results += spark.learned(folder / "spark", 200_000 if small else 2_000_000)
    return results + scale.growth(folder, scale.SIZES[:2] if small else scale.SIZES)


if __name__ == "__main__":
    main()
