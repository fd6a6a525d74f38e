"""How fast are the orderings? Against a plain Python implementation, and against each other, on one generated web.

An ordering decides on one core, and so does plain Python: seconds are those of the processor, which other programs on the
machine change least.
"""

from __future__ import annotations

import gc
from time import perf_counter, process_time

import numpy as np

from benchmarks import plain
from benchmarks.show import Result, table
from frontrank.orderings.registry import parse
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

BOUNDED = ("backlink", "opic", "fica", "fpr")
ALSO = (
    "surf",
    "dfs",
    "random",
    "forward",
    "largest-site",
    "fpr:m=100",
    "rankmass",
    "rankmass:window=0.05",
    "indegree:every=100000",
)
REPEATS = 3


def engine_seconds(web: Web, spec: str, seeds: np.ndarray, repeats: int = REPEATS) -> tuple[float, list[int]]:
    """Seconds of the processor, the best of a few runs, and the order."""
    seconds, order = [], np.empty(web.pages, np.int32)
    for _ in range(repeats):
        engine = GraphDriver(parse(spec), web)
        engine.warm(order)
        begun = process_time()
        engine.seed(seeds)
        fetched = engine.run(order, 0, web.pages)
        seconds.append(process_time() - begun)
    return min(seconds), order[:fetched].tolist()


def against_plain(web: Web, targets: dict[str, float]) -> list[Result]:
    """targets: ordering -> at least so many times the speed of the plain implementation."""
    seeds = find_seeds(web, "random:1000@7")
    ours = {name: engine_seconds(web, name, seeds) for name in targets}  # before the baseline's objects fill the caches
    flat = web.targets.tolist()
    rows = {p: flat[web.indptr[p] : web.indptr[p + 1]] for p in range(web.pages)}
    gc.collect()
    gc.disable()  # as anyone would who times a loop over millions of objects
    lines, results = [], []
    for name, least in targets.items():
        seconds, order = ours[name]
        begun = process_time()
        theirs_order = plain.ORDERINGS[name](rows, seeds.tolist())
        theirs = process_time() - begun
        assert order == theirs_order, f"{name}: the baseline fetches in another order, so its time says nothing"
        ratio = theirs / seconds
        lines.append([name, f"{seconds:.2f}", f"{theirs:.1f}", f"{ratio:.1f}", f"{least:g}"])
        results.append(Result(f"{name} against plain Python", ratio, least, "times as fast"))
    gc.enable()
    table(
        f"Orderings against plain Python (dicts, heapq), whole web of {web.pages:,} pages and {web.links:,} links",
        ["ordering", "seconds", "plain", "ratio", "at least"],
        lines,
    )
    return results


def against_bfs(web: Web) -> list[Result]:
    """Links per second of each ordering relative to bfs. Those with a bound take turns with it: a busy moment hits all."""
    seeds = find_seeds(web, "random:1000@7")
    specs = ("bfs", *BOUNDED)
    rounds = [[engine_seconds(web, spec, seeds, 1)[0] for spec in specs] for _ in range(REPEATS)]
    seconds = dict(zip(specs, map(min, zip(*rounds, strict=True)), strict=True))
    results = [Result(f"{spec}: cost of bfs", seconds[spec] / seconds["bfs"], 10.0, "times", most=True) for spec in BOUNDED]
    seconds |= {spec: engine_seconds(web, spec, seeds, 1)[0] for spec in ALSO}
    lines = [[spec, f"{s:.2f}", f"{web.links / s / 1e6:.1f}", f"{s / seconds['bfs']:.1f}"] for spec, s in seconds.items()]
    table("Cost of a link relative to bfs", ["ordering", "seconds", "M links/s", "times bfs"], lines)
    results.append(Result("surf: cost of fpr", seconds["surf"] / seconds["fpr"], 15.0, "times", most=True))
    return results


def pagerank_against_scipy(web: Web) -> list[Result]:
    """One PageRank iteration (product, dangling mass, residual) against scipy's bare sparse product."""
    from scipy.sparse import csr_array

    from frontrank.kernels.inlinks import find_inlinks
    from frontrank.kernels.pagerank import Solver

    degree = np.maximum(web.out_degree(), 1)
    forward = csr_array((np.repeat(1.0 / degree, web.out_degree()), web.targets, web.indptr), shape=(web.pages, web.pages))
    by_target = forward.T.tocsr()
    x = np.full(web.pages, 1.0 / web.pages)
    inlinks, everywhere = find_inlinks(web.indptr, web.targets, web.pages), np.empty(0)
    solver = Solver(np.arange(web.pages, dtype=np.int32), web.indptr, inlinks)
    solver.step(x.copy(), 0.85, 0.0, everywhere)
    ours, theirs = [], []
    for _ in range(10):  # taking turns, so that a busy moment hits both
        begun = perf_counter()
        solver.step(x, 0.85, 0.0, everywhere)
        ours.append(perf_counter() - begun)
        begun = perf_counter()
        _ = by_target @ x
        theirs.append(perf_counter() - begun)
    solver.close()
    ratio = min(theirs) / min(ours)
    lines = [["frontrank, whole iteration", f"{min(ours):.4f}"], ["scipy, product alone", f"{min(theirs):.4f}"]]
    table("One PageRank iteration", ["", "seconds"], lines)
    return [Result("PageRank iteration against scipy's product", ratio, 1.2, "times as fast")]
