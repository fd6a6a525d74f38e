"""Impact-aware walks against PageRank, PageRank against networkit, and query overlap as the frontier grows."""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter

import numpy as np

from benchmarks.show import Result, table
from frontrank.kernels.inlinks import find_inlinks
from frontrank.kernels.pagerank import Solver
from frontrank.kernels.walk import LinkRows, Walk, Walker
from frontrank.web.web import Web

ROUNDS = 7
NO_RESTART = np.empty(0)


def iterations(web: Web) -> list[Result]:
    """One iteration of each walk over the same links, taking turns."""
    pages = np.arange(web.pages, dtype=np.int32)
    factor = np.random.default_rng(0).random(web.pages)
    begun = perf_counter()
    inlinks = find_inlinks(web.indptr, web.targets, web.pages)
    finding = perf_counter() - begun
    solvers = {"pagerank": Solver(pages, web.indptr, inlinks), "pagerank:bits=32": Solver(pages, web.indptr, inlinks, 32)}
    walks = {
        name: Walker(LinkRows(pages, web.indptr, web.targets, inlinks), Walk(0.85, omega, factor, factor))
        for name, omega in (("rw", 1.0), ("rw-eg", 0.7))
    }
    x = np.full(web.pages, 1.0 / web.pages)
    times: dict[str, list[float]] = {name: [] for name in (*solvers, *walks)}
    for _ in range(ROUNDS):
        for name, solver in solvers.items():
            y = x.copy()
            begun = perf_counter()
            solver.step(y, 0.85, 0.0, NO_RESTART)
            times[name].append(perf_counter() - begun)
        for name, walker in walks.items():
            y, z = x.copy(), walker.start(x)
            begun = perf_counter()
            walker.step(y, z)
            times[name].append(perf_counter() - begun)
    for made in (*solvers.values(), *walks.values()):
        made.team.close()
    best = {name: min(taken) for name, taken in times.items()}
    rows = [[name, f"{seconds:.4f}", f"{seconds / best['pagerank']:.2f}"] for name, seconds in best.items()]
    rows.append(["links by target, once", f"{finding:.4f}", f"{finding / best['pagerank']:.2f}"])
    table("One iteration of each walk", ["walk", "seconds", "of PageRank"], rows)
    return [
        Result("rw iteration", best["rw"] / best["pagerank"], 1.3, "PageRank iterations", most=True),
        Result("rw-eg iteration", best["rw-eg"] / best["rw"], 3.5, "iterations of rw", most=True),
    ]


def pagerank_against_networkit(web: Web, count: int = 20) -> list[Result]:
    """The same number of iterations on the same links; networkit is a peer for this benchmark only."""
    try:
        import networkit as nk
    except ImportError:
        print("\nnetworkit is not installed: pip install networkit for this comparison")
        return []
    nk.setNumberOfThreads(2)
    source = np.repeat(np.arange(web.pages), web.out_degree())
    graph = nk.GraphFromCoo((source, web.targets.astype(np.int64)), n=web.pages, directed=True)
    ours, theirs = [], []
    for _ in range(3):
        solver = Solver(np.arange(web.pages, dtype=np.int32), web.indptr, find_inlinks(web.indptr, web.targets, web.pages))
        x, dangling = np.full(web.pages, 1.0 / web.pages), 0.0
        begun = perf_counter()
        for _ in range(count):
            _, dangling = solver.step(x, 0.85, dangling, NO_RESTART)
        ours.append(perf_counter() - begun)
        solver.close()
        peer = nk.centrality.PageRank(graph, damp=0.85, tol=1e-300)
        peer.maxIterations = count
        begun = perf_counter()
        peer.run()
        theirs.append(perf_counter() - begun)
    ratio = min(theirs) / min(ours)
    rows = [["frontrank", f"{min(ours):.2f}"], ["networkit", f"{min(theirs):.2f}"]]
    table(f"PageRank, {count} iterations, two threads", ["", "seconds"], rows)
    return [Result("PageRank against networkit", ratio, 3.0, "times as fast")]


OVERLAP = """
import json, sys, time
import numpy as np
from benchmarks.process import peak_gb
from frontrank.search.ngrams import NGramIndex
pages, queries = int(sys.argv[1]), 10_000
draw = np.random.default_rng(3)
words = np.array([f"w{i}" for i in range(50_000)])
def text(count, least, most):
    return [" ".join(words[(50_000 * draw.random(n) ** 1.5).astype(int)]) for n in draw.integers(least, most, count)]
asked = tuple(dict.fromkeys(text(queries, 1, 3)))
anchors = text(pages, 3, 8)
urls = [f"http://h{i % 997}.example/{i}" for i in range(pages)]
begun = time.perf_counter()
index = NGramIndex.of(asked, urls, anchors, 3)
matches = sum(len(index.match(1.0, first, last).page) for first, last in index.batches(1.0))
seconds = time.perf_counter() - begun
peak = peak_gb()
print(json.dumps({"matches": matches, "seconds": seconds, "peak": peak}))
"""


def overlap(sizes: tuple[int, ...] = (250_000, 500_000, 1_000_000)) -> list[Result]:
    """10,000 queries against frontiers of three sizes, each in a process of its own."""
    rows, peak = [], 0.0
    for pages in sizes:
        done = subprocess.run([sys.executable, "-c", OVERLAP, str(pages)], check=True, capture_output=True, text=True)
        told = json.loads(done.stdout)
        peak = max(peak, told["peak"])
        each = 1e6 * told["seconds"] / told["matches"]
        rows.append([f"{pages:,}", f"{told['matches']:,}", f"{told['seconds']:.1f}", f"{each:.1f}", f"{told['peak']:.2f}"])
    table("Query overlap: 10,000 queries", ["frontier pages", "matches", "seconds", "µs/match", "peak GB"], rows)
    return [Result("query overlap, 1M frontier pages: peak memory", peak, 4.0, "GB", most=True)]
