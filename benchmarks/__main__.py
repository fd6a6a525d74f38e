"""make bench: all benchmarks, about ten minutes. ``python -m benchmarks --small`` is a tenth of the size, for a look."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import scale, speed, walks
from benchmarks.show import verdict
from benchmarks.startup import start_up
from frontrank.sources import load

TARGETS = {"bfs": (30.0, 30.0), "backlink": (8.0, 20.0), "opic": (8.0, 20.0), "fica": (8.0, 20.0), "fpr": (8.0, 20.0)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--small", action="store_true", help="100k instead of 1M pages, no run with 10M pages")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as folder:
        results = start_up()
        web = load(f"synthetic:pages={100_000 if small else 1_000_000},links=20,text=0,seed=7")
        results += speed.against_plain(web, TARGETS)
        results += speed.pagerank_against_scipy(web)
        speed.against_bfs(web)
        results += walks.iterations(web)
        results += walks.pagerank_against_networkit(web)
        results += walks.overlap((20_000, 40_000, 80_000) if small else (250_000, 500_000, 1_000_000))
        results += scale.growth(Path(folder), scale.SIZES[:2] if small else scale.SIZES)
    verdict(results)


if __name__ == "__main__":
    main()
