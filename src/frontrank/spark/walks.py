"""In-degree, PageRank and the walks of tran15 on Spark: the formulas of kernels.pagerank and kernels.walk, range by range.

An iteration is one job: each task pulls what pages hand on along the links of its range, computes the new values x of its
pages, and what they hand on next. The driver learns two numbers, the L1 change and the mass of pages without links, and
stops by the local engine's rule. Both engines start from the same vector, so they do the same number of iterations.

rw-eg has virtual edges, W z = A^T (A z) - indegree z. A z is z pulled along the links turned round, so an iteration is two
jobs, and there are two sets of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import DAMPING, MAX_ITERATIONS, TOLERANCE
from frontrank.orderings.batch.rw import RandomWalk, WalkSettings
from frontrank.spark.jobs import Result, Stretch
from frontrank.spark.local_web import SolverWeb
from frontrank.spark.web import SparkWeb, add_up


class SolvedVector(NamedTuple):
    """The name of a vector of scores, and how they were reached."""

    x: str
    iterations: int
    residual: float


class State(NamedTuple):
    """The vectors of an iteration: the scores, and what pages hand on to each page that they link to."""

    x: str
    give: str


def new_state(web: SolverWeb) -> State:
    return State(web.name("x"), web.name("give"))


def indegree(web: SolverWeb) -> SolvedVector:
    """Links from fetched pages."""
    if "indegree" not in web.cache:
        web.progress("indegree", 0, 0)
        into, ones = web.name("indegree"), web.name("ones")
        web.for_each_stretch(_ones, ones)
        web.pull(web.blocks, ones, add_up, into)
        web.drop(ones)
        web.cache["indegree"] = into
    return SolvedVector(web.cache["indegree"], 1, 0.0)


def _ones(into: str, stretch: Stretch) -> Result:
    stretch.put(into, np.ones(stretch.size))
    return Result()


# --- PageRank ---


def pagerank(web: SolverWeb, alpha: float, tolerance: float) -> SolvedVector:
    """PageRank of all pages over the links of fetched ones; mass of pages without links is spread over all."""
    blocks, _ = web.blocks, web.max_links
    state = new_state(web)
    dangling = web.for_each_stretch(_start_pagerank, state, alpha).mass
    change, iterations = math.inf, 0
    while change * alpha > tolerance * (1.0 - alpha) and iterations < MAX_ITERATIONS:
        web.progress("PageRank", iterations, expected_iterations(alpha, tolerance))
        base = (1.0 - alpha) / web.pages + alpha * dangling / web.pages
        after = new_state(web)
        totals = web.pull(blocks, state.give, _step_pagerank, state.x, after, alpha, base)
        web.drop(*state)
        state, change, dangling = after, totals.change, totals.mass
        iterations += 1
    web.drop(state.give)
    return SolvedVector(state.x, iterations, change * alpha / (1.0 - alpha))


def default_pagerank(web: SparkWeb) -> SolvedVector:
    """PageRank with the default parameters, as features and curves use it; computed once for a web."""
    if "pagerank" not in web.cache:
        web.cache["pagerank"] = pagerank(web, DAMPING, TOLERANCE)
    found: SolvedVector = web.cache["pagerank"]
    return found


def _start_pagerank(into: State, alpha: float, stretch: Stretch) -> Result:
    mass = 0.0
    for piece in stretch.pieces():
        mass += _hand_on(into, alpha, piece, np.full(piece.size, 1.0 / stretch.shape.pages))
    return Result(mass=mass)


def _step_pagerank(old: str, into: State, alpha: float, base: float, stretch: Stretch, sums: Array) -> Result:
    change, mass = 0.0, 0.0
    for piece in stretch.pieces():
        x = sums[piece.begin - stretch.begin : piece.end - stretch.begin]
        x += base
        change += float(np.abs(x - piece.get(old)).sum())
        mass += _hand_on(into, alpha, piece, x)
    return Result(change, mass)


def _hand_on(into: State, alpha: float, piece: Stretch, x: Array) -> float:
    """Write x, and what its pages hand on; returns the mass of pages without links."""
    degree = piece.get("degree", np.int32)
    piece.put(into.x, x)
    piece.put(into.give, alpha * x / np.maximum(degree, 1))
    return float(x[degree == 0].sum())


# --- rw, rw-eg ---


class WalkEdges(NamedTuple):
    """The vectors of a walk that do not change: alpha omega F/O of real edges; with virtual edges F'/s and in-degrees."""

    real: str
    virtual: float = 0.0  # alpha (1 - omega)
    spread: str = ""
    indegree: str = ""


class Crowd(NamedTuple):
    """How virtual neighbours count: (their number / the largest number)^gamma."""

    neighbours: str
    largest: float
    gamma: float


CountNeighbours = Callable[[], str]  # a vector of how many distinct virtual neighbours pages have


def walk(web: SolverWeb, ranker: RandomWalk, settings: WalkSettings, count_neighbours: CountNeighbours) -> SolvedVector:
    """The walk of tran15: along links, and with omega below 1 along virtual edges too. ``count_neighbours`` is called where
    gamma needs it."""
    edges = _edges(web, ranker, settings, count_neighbours)
    base, bound, iterations = (1.0 - ranker.alpha) / web.pages, math.inf, 0
    state = new_state(web)
    web.for_each_stretch(_start_walk, state, edges.spread or edges.real)
    while bound > ranker.tolerance and iterations < MAX_ITERATIONS:
        web.progress(ranker.name, iterations, expected_iterations(ranker.alpha, ranker.tolerance))
        after = new_state(web)
        if not edges.spread:
            totals = web.pull(web.blocks, state.give, _step_walk, edges, state.x, after, base)
        else:
            rows = web.name("rows")
            web.pull(web.turned, state.give, _gather_rows, edges, state.x, rows)
            totals = web.pull(web.blocks, rows, _step_virtual_walk, edges, state.x, after, base)
            web.drop(rows)
        web.drop(*state)
        state, bound = after, totals.change * ranker.alpha / (1.0 - ranker.alpha)
        iterations += 1
    web.drop(state.give, edges.real, *([edges.spread] if edges.spread else []))
    return SolvedVector(state.x, iterations, bound)


def check_impact(web: SparkWeb, name: str) -> None:
    """InputError where nothing is known of the impact of fetched pages."""
    if not web.has_impact:
        raise InputError(f"{name}: needs clicks or views of fetched pages; the pages table of {web.tables.path} has neither")
    if web.page_facts.best == 0.0:
        raise InputError(f"{name}: all impacts are zero, so no page has a vote; give views or clicks of fetched pages")


def _edges(web: SolverWeb, ranker: RandomWalk, settings: WalkSettings, count_neighbours: CountNeighbours) -> WalkEdges:
    virtual = ranker.alpha * (1.0 - settings.omega)
    best, gamma = web.page_facts.best + ranker.eps, settings.gamma
    degrees = Crowd("degree", max(1.0, web.max_links), gamma)
    real = web.name("real")
    web.for_each_stretch(_real_edges, real, ranker.alpha * settings.omega, ranker.eps, best, degrees)
    if not virtual > 0:
        return WalkEdges(real)
    into_degree = indegree(web).x
    others, spread = web.name("others"), web.name("spread")
    web.for_each_stretch(_other_links, others)
    crowd = None
    if gamma > 0:
        neighbours = count_neighbours()
        crowd = Crowd(neighbours, max(1.0, web.for_each_stretch(_peak, neighbours).peak), gamma)
    web.pull(web.blocks, others, _virtual_edges, spread, ranker.eps, best, crowd)
    web.drop(others, *([crowd.neighbours] if crowd else []))
    return WalkEdges(real, virtual, spread, into_degree)


def _real_edges(into: str, scale: float, eps: float, best: float, degrees: Crowd, stretch: Stretch) -> Result:
    degree = stretch.get("degree", np.int32)
    strong = (stretch.get("impact") + eps) / best
    if degrees.gamma > 0:
        strong *= (degree / degrees.largest) ** degrees.gamma
    stretch.put(into, scale * strong / np.maximum(degree, 1))
    return Result()


def _other_links(into: str, stretch: Stretch) -> Result:
    stretch.put(into, np.maximum(stretch.get("degree", np.int32) - 1.0, 0.0))
    return Result()


def _peak(name: str, stretch: Stretch) -> Result:
    return Result(peak=float(stretch.get(name).max()))


def _virtual_edges(into: str, eps: float, best: float, crowd: Crowd | None, stretch: Stretch, siblings: Array) -> Result:
    factor = (stretch.get("impact") + eps) / best
    if crowd is not None:
        factor *= (stretch.get(crowd.neighbours) / crowd.largest) ** crowd.gamma
    stretch.put(into, np.where(siblings > 0, factor / np.maximum(siblings, 1.0), 0.0))
    return Result()


def _start_walk(into: State, share: str, stretch: Stretch) -> Result:
    x = np.full(stretch.size, 1.0 / stretch.shape.pages)
    stretch.put(into.x, x)
    stretch.put(into.give, stretch.get(share) * x)
    return Result()


def _step_walk(edges: WalkEdges, old: str, into: State, base: float, stretch: Stretch, sums: Array) -> Result:
    change = 0.0
    for piece in stretch.pieces():
        x = base + sums[piece.begin - stretch.begin : piece.end - stretch.begin]
        change += float(np.abs(x - piece.get(old)).sum())
        piece.put(into.x, x)
        piece.put(into.give, piece.get(edges.real) * x)
    return Result(change)


def _gather_rows(edges: WalkEdges, old: str, rows: str, stretch: Stretch, sums: Array) -> Result:
    """What rows hand on: their own share, and what all pages of the row share."""
    own = stretch.get(edges.real) * stretch.get(old)
    stretch.put(rows, own + edges.virtual * sums)
    return Result()


def _step_virtual_walk(edges: WalkEdges, old: str, into: State, base: float, stretch: Stretch, sums: Array) -> Result:
    change = 0.0
    for piece in stretch.pieces():
        before, share = piece.get(old), piece.get(edges.spread)
        x = base + sums[piece.begin - stretch.begin : piece.end - stretch.begin]
        x -= edges.virtual * piece.get(edges.indegree) * (share * before)
        change += float(np.abs(x - before).sum())
        piece.put(into.x, x)
        piece.put(into.give, share * x)
    return Result(change)


def expected_iterations(alpha: float, tolerance: float) -> int:
    """About how many iterations it will take: each shrinks the error by alpha."""
    return max(1, math.ceil(math.log(tolerance) / math.log(alpha)))
