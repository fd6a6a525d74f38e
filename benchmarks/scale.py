"""How time and memory grow from 10 thousand to 10 million pages, each crawl in a process of its own.

Seconds are the processor's: a crawl decides on one core, and the clock of a shared machine tells how busy the others were.
What fpr may cost was promised in times of breadth-first search as it was then: a plain loop with a byte a page (``yardstick``).
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.process import converted, figures
from benchmarks.show import Result, table
from frontrank.kernels.jit import Array, kernel

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
ORDERINGS = ("bfs", "fpr")
CRAWL = """
import json, sys
from time import process_time
import numpy as np
from benchmarks.process import peak_gb
from benchmarks.scale import yardstick
from frontrank.kernels.jit import compiled
from frontrank.lab.compare import Runs
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.web.seeds import find_seeds
for source in ("synthetic:pages=1000,text=0", sys.argv[1]):  # machine code first
    web = load(source)
    seeds = find_seeds(web, "random:1000@7")
    begun = process_time()
    run = simulate(web, parse(sys.argv[2]), seeds, steps=1)
    seconds = process_time() - begun
    begun = process_time()
    compiled(yardstick)(web.indptr, web.targets, seeds, np.zeros(web.pages, np.uint8), np.empty(web.pages, np.int32))
    yard = process_time() - begun
figures = Runs(web, (run,)).json()
peak = peak_gb()
print(json.dumps({"seconds": seconds, "peak": peak, "links": web.links, "yard": yard}))
"""


@kernel
def yardstick(indptr: Array, target: Array, seeds: Array, seen: Array, order: Array) -> int:
    """Breadth-first search, said plainly."""
    tail = 0
    for i in range(seeds.size):
        seen[seeds[i]] = 1
        order[tail] = seeds[i]
        tail += 1
    head = 0
    while head < tail:
        page = order[head]
        head += 1
        for j in range(indptr[page], indptr[page + 1]):
            q = target[j]
            if seen[q] == 0:
                seen[q] = 1
                order[tail] = q
                tail += 1
    return tail


def convert(pages: int, folder: Path) -> Path:
    return converted(f"synthetic:pages={pages},links=20,text=0,seed=7", folder / f"{pages}.web")


def growth(folder: Path, sizes: tuple[int, ...] = SIZES) -> list[Result]:
    lines, results = [], []
    before: dict[str, float] = {}
    for pages in sizes:
        path = convert(pages, folder)
        for spec in ORDERINGS:
            told = figures(CRAWL, path, spec)
            per_link = 1e9 * told["seconds"] / told["links"]
            grown = f"{told['seconds'] / before[spec]:.1f}" if spec in before else ""
            before[spec] = told["seconds"]
            links = f"{told['links']:,.0f}"
            lines.append([f"{pages:,}", links, spec, f"{told['seconds']:.3f}", grown, f"{per_link:.1f}", f"{told['peak']:.2f}"])
            if pages == 10_000_000:
                results.append(Result(f"{spec}: peak memory, 10M pages and 200M links", told["peak"], 2.5, "GB", most=True))
        if pages == 10_000_000:
            cost = before["fpr"] / told["yard"]
            results.append(Result("fpr: cost of a plain breadth-first search, 200M links", cost, 6.5, "times", most=True))
    header = ["pages", "links", "ordering", "seconds", "times", "ns/link", "peak GB"]
    table("Growth: whole command in a process of its own (load, crawl, PageRank, measures)", header, lines)
    return results
