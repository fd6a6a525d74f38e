"""In-degree, PageRank and the walks of tran15 on Spark: the formulas of kernels.pagerank and kernels.walk, range by range.

An iteration is one job: each task pulls along the links of its range what pages hand on, and makes of it the new values of its
pages, x, and what they hand on next. The driver learns two numbers, the L1 change and the mass of pages without links, and
stops by the local engine's rule; as both engines start from the same vector, they do as many iterations.

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
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Numbers, Shape
from frontrank.spark.web import SparkWeb, Web, add_up, pieces


class Solved(NamedTuple):
    """The name of a vector of scores, and how they were reached."""

    x: str
    iterations: int
    residual: float


def indegree(web: Web) -> Solved:
    """Links from fetched pages."""
    if "indegree" not in web.solved:
        web.tell("indegree", 0, 0)
        into, ones = web.name("indegree"), web.name("ones")
        web.over(_ones, ones)
        web.pulled(web.blocks, ones, add_up, into)
        web.drop(ones)
        web.solved["indegree"] = into
    return Solved(web.solved["indegree"], 1, 0.0)


def _ones(into: str, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    folder.place(into, begin, np.ones(end - begin))
    return Numbers()


# --- PageRank ---


def pagerank(web: Web, alpha: float, tolerance: float) -> Solved:
    """PageRank of all pages over the links of fetched ones; mass of pages without links is spread over all."""
    blocks, _ = web.blocks, web.most_links
    x, give = web.name("x"), web.name("give")
    dangling = web.over(_begun, x, give, alpha).mass
    change, iterations = math.inf, 0
    while change * alpha > tolerance * (1.0 - alpha) and iterations < MAX_ITERATIONS:
        web.tell("PageRank", iterations, expected(alpha, tolerance))
        base = (1.0 - alpha) / web.pages + alpha * dangling / web.pages
        new_x, new_give = web.name("x"), web.name("give")
        told = web.pulled(blocks, give, _ranked, x, new_x, new_give, alpha, base)
        web.drop(x, give)
        x, give, change, dangling = new_x, new_give, told.change, told.mass
        iterations += 1
    web.drop(give)
    return Solved(x, iterations, change * alpha / (1.0 - alpha))


def standing(web: SparkWeb) -> Solved:
    """PageRank as features and curves have it; solved once for a web."""
    if "standing" not in web.solved:
        web.solved["standing"] = pagerank(web, DAMPING, TOLERANCE)
    found: Solved = web.solved["standing"]
    return found


def _begun(into: str, give: str, alpha: float, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    mass = 0.0
    for low, high in pieces(begin, end):
        x = np.full(high - low, 1.0 / shape.pages)
        mass += _handed(into, give, alpha, folder, low, x)
    return Numbers(mass=mass)


def _ranked(
    old: str, into: str, give: str, alpha: float, base: float, shape: Shape, folder: Folder, begin: int, end: int, sums: Array
) -> Numbers:
    change, mass = 0.0, 0.0
    for low, high in pieces(begin, end):
        x = sums[low - begin : high - begin]
        x += base
        change += float(np.abs(x - folder.part(old, np.float64, low, high)).sum())
        mass += _handed(into, give, alpha, folder, low, x)
    return Numbers(change, mass)


def _handed(into: str, give: str, alpha: float, folder: Folder, low: int, x: Array) -> float:
    """Write x, and what its pages hand on; returns the mass of pages without links."""
    degree = folder.part("degree", np.int32, low, low + x.size)
    folder.place(into, low, x)
    folder.place(give, low, alpha * x / np.maximum(degree, 1))
    return float(x[degree == 0].sum())


# --- rw, rw-eg ---


def walk(
    web: Web,
    alpha: float,
    omega: float,
    gamma: float,
    eps: float,
    tolerance: float,
    name: str,
    counted: Callable[[], str],
) -> Solved:
    """The walk of tran15: along links, and with omega below 1 along virtual edges too. ``counted`` gives a vector of how many
    distinct virtual neighbours pages have, where gamma asks for it."""
    virtual = alpha * (1.0 - omega)
    real, spread = _fixed_of_walk(web, alpha, omega, gamma, eps, virtual > 0, counted)
    base, bound, iterations = (1.0 - alpha) / web.pages, math.inf, 0
    x, give = web.name("x"), web.name("give")
    web.over(_set_off, x, give, spread or real)
    while bound > tolerance and iterations < MAX_ITERATIONS:
        web.tell(name, iterations, expected(alpha, tolerance))
        new_x, new_give = web.name("x"), web.name("give")
        if spread is None:
            told = web.pulled(web.blocks, give, _walked, x, new_x, new_give, base, real)
        else:
            rows = web.name("rows")
            web.pulled(web.turned, give, _gathered, x, rows, virtual, real)
            told = web.pulled(web.blocks, rows, _walked_on, x, new_x, new_give, base, virtual, spread, indegree(web).x)
            web.drop(rows)
        web.drop(x, give)
        x, give, bound = new_x, new_give, told.change * alpha / (1.0 - alpha)
        iterations += 1
    web.drop(give, real, *([spread] if spread else []))
    return Solved(x, iterations, bound)


def check_worth(web: SparkWeb, name: str) -> None:
    """InputError where nothing is known of what fetched pages are worth."""
    if not web.worth:
        raise InputError(f"{name}: needs clicks or views of fetched pages; the pages table of {web.tables.path} has neither")
    if web.given.best == 0.0:
        raise InputError(f"{name}: all impacts are zero, so no page has a vote; give views or clicks of fetched pages")


def _fixed_of_walk(
    web: Web,
    alpha: float,
    omega: float,
    gamma: float,
    eps: float,
    virtual: bool,
    counted: Callable[[], str],
) -> tuple[str, str | None]:
    """The vectors that do not change: alpha omega F/O; and for virtual edges F'/s."""
    best = web.given.best
    most = max(1.0, web.most_links)
    real = web.name("real")
    web.over(_real, real, alpha * omega, gamma, eps, best + eps, most)
    if not virtual:
        return real, None
    indegree(web)
    others, spread = web.name("others"), web.name("spread")
    web.over(_others, others)
    crowd = None
    if gamma > 0:
        beside = counted()
        crowd = Crowd(beside, max(1.0, web.over(_most, beside).most), gamma)
    web.pulled(web.blocks, others, _spread, spread, eps, best + eps, crowd)
    web.drop(others, *([crowd.neighbours] if crowd else []))
    return real, spread


def _others(into: str, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    folder.place(into, begin, np.maximum(folder.part("degree", np.int32, begin, end) - 1.0, 0.0))
    return Numbers()


def _real(
    into: str,
    scale: float,
    gamma: float,
    eps: float,
    best: float,
    most: float,
    shape: Shape,
    folder: Folder,
    begin: int,
    end: int,
) -> Numbers:
    degree = folder.part("degree", np.int32, begin, end)
    strong = (folder.part("impact", np.float64, begin, end) + eps) / best
    if gamma > 0:
        strong *= (degree / most) ** gamma
    folder.place(into, begin, scale * strong / np.maximum(degree, 1))
    return Numbers()


class Crowd(NamedTuple):
    """How virtual neighbours count: (their number/the greatest number)^gamma."""

    neighbours: str
    most: float
    gamma: float


def _most(name: str, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    return Numbers(most=float(folder.part(name, np.float64, begin, end).max()))


def _spread(
    into: str,
    eps: float,
    best: float,
    crowd: Crowd | None,
    shape: Shape,
    folder: Folder,
    begin: int,
    end: int,
    siblings: Array,
) -> Numbers:
    factor = (folder.part("impact", np.float64, begin, end) + eps) / best
    if crowd is not None:
        factor *= (folder.part(crowd.neighbours, np.float64, begin, end) / crowd.most) ** crowd.gamma
    folder.place(into, begin, np.where(siblings > 0, factor / np.maximum(siblings, 1.0), 0.0))
    return Numbers()


def _set_off(into: str, give: str, share: str, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    x = np.full(end - begin, 1.0 / shape.pages)
    folder.place(into, begin, x)
    folder.place(give, begin, folder.part(share, np.float64, begin, end) * x)
    return Numbers()


def _walked(
    old: str, into: str, give: str, base: float, real: str, shape: Shape, folder: Folder, begin: int, end: int, sums: Array
) -> Numbers:
    change = 0.0
    for low, high in pieces(begin, end):
        x = base + sums[low - begin : high - begin]
        change += float(np.abs(x - folder.part(old, np.float64, low, high)).sum())
        folder.place(into, low, x)
        folder.place(give, low, folder.part(real, np.float64, low, high) * x)
    return Numbers(change)


def _gathered(
    old: str, rows: str, virtual: float, real: str, shape: Shape, folder: Folder, begin: int, end: int, sums: Array
) -> Numbers:
    """What rows hand on: their own share, and what all pages of the row share."""
    own = folder.part(real, np.float64, begin, end) * folder.part(old, np.float64, begin, end)
    folder.place(rows, begin, own + virtual * sums)
    return Numbers()


def _walked_on(
    old: str,
    into: str,
    give: str,
    base: float,
    virtual: float,
    spread: str,
    into_degree: str,
    shape: Shape,
    folder: Folder,
    begin: int,
    end: int,
    sums: Array,
) -> Numbers:
    change = 0.0
    for low, high in pieces(begin, end):
        before, share = (folder.part(name, np.float64, low, high) for name in (old, spread))
        x = base + sums[low - begin : high - begin]
        x -= virtual * folder.part(into_degree, np.float64, low, high) * (share * before)
        change += float(np.abs(x - before).sum())
        folder.place(into, low, x)
        folder.place(give, low, share * x)
    return Numbers(change)


def expected(alpha: float, tolerance: float) -> int:
    """About how many iterations it will take: each shrinks the error by alpha."""
    return max(1, math.ceil(math.log(tolerance) / math.log(alpha)))
