"""How time and memory grow from 10 thousand to 10 million pages, each crawl in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.show import Result, table

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
ORDERINGS = ("bfs", "fpr")
CRAWL = """
import json, resource, sys
from frontrank.cli.simulate import run
runs = run(sys.argv[1], (sys.argv[2],), "random:1000@7")
figures = runs.json()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
print(json.dumps({"seconds": runs[0].seconds, "peak": peak, "links": runs.web.links, "hot": runs[0].trace.fetched}))
"""


def convert(pages: int, folder: Path) -> Path:
    path = folder / f"{pages}.web"
    if not path.exists():
        spec = f"synthetic:pages={pages},links=20,text=0,seed=7"
        subprocess.run([sys.executable, "-m", "frontrank", "convert", spec, str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def crawl(path: Path, spec: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", CRAWL, str(path), spec], check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def growth(folder: Path, sizes: tuple[int, ...] = SIZES) -> list[Result]:
    lines, results = [], []
    before: dict[str, float] = {}
    for pages in sizes:
        path = convert(pages, folder)
        for spec in ORDERINGS:
            figures = crawl(path, spec)
            per_link = 1e9 * figures["seconds"] / figures["links"]
            grown = f"{figures['seconds'] / before[spec]:.1f}" if spec in before else ""
            before[spec] = figures["seconds"]
            links = f"{figures['links']:,.0f}"
            lines.append(
                [f"{pages:,}", links, spec, f"{figures['seconds']:.3f}", grown, f"{per_link:.1f}", f"{figures['peak']:.2f}"]
            )
            if pages == 10_000_000:
                results.append(Result(f"{spec}: peak memory, 10M pages and 200M links", figures["peak"], 2.5, "GB", most=True))
    header = ["pages", "links", "ordering", "seconds", "times", "ns/link", "peak GB"]
    table("Growth: whole command in a process of its own (load, crawl, PageRank, measures)", header, lines)
    return results
