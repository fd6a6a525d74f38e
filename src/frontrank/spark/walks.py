"""In-degree, PageRank and the walks of tran15 on Spark: the formulas of kernels.pagerank and kernels.walk, range by range.

An iteration pushes a vector along the blocks and settles each segment: adds up its partial sums, makes the new values, and from
them what the segment hands on next. The driver learns two numbers of it, the L1 change and the mass of pages without links, and
stops by the local engine's rule; as both engines start from the same vector, they do as many iterations.

rw-eg has virtual edges, W z = A^T (A z) - indegree z. A z is z pushed along the links turned round, so an iteration pushes
twice, and there are two sets of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.pagerank import DAMPING, MAX_ITERATIONS, TOLERANCE
from frontrank.spark.blocks import pushed
from frontrank.spark.session import said_plainly
from frontrank.spark.vectors import Held, Made, Shape
from frontrank.spark.web import SparkWeb, addressed


class Solved(NamedTuple):
    """Scores (rows of kind "x"), and how they were reached."""

    rows: Any
    iterations: int
    residual: float


def indegree(web: SparkWeb) -> Solved:
    """Links from fetched pages."""
    web.tell("indegree", 0, 0)
    ones = web.made(web.fixed.where("kind != 'x'"), _ones)
    rows = web.made(pushed(web.blocks, ones).union(web.fixed), summed)
    return Solved(web.work.kept(rows, "indegree")[0], 1, 0.0)


def _ones(shape: Shape, held: Held) -> Iterator[Made]:
    yield from addressed("give", np.ones(shape.size(held.segment)), held.one("to", np.int32))


def summed(shape: Shape, held: Held) -> Iterator[Made]:
    """The partial sums of a segment, added up."""
    yield Made("x", held.total(shape.size(held.segment)))


# --- PageRank ---


def pagerank(web: SparkWeb, alpha: float, tolerance: float) -> Solved:
    """PageRank of all pages over the links of fetched ones; mass of pages without links is spread over all."""
    n, fixed = web.pages, web.fixed
    state, path = web.work.kept(web.made(fixed, _begun, alpha), "pagerank")
    _, dangling = numbers(state)
    change, iterations = math.inf, 0
    while change * alpha > tolerance * (1.0 - alpha) and iterations < MAX_ITERATIONS:
        web.tell("PageRank", iterations, expected(alpha, tolerance))
        base = (1.0 - alpha) / n + alpha * dangling / n
        rows = pushed(web.blocks, state).union(state.where("kind = 'x'")).union(fixed)
        before = path
        state, path = web.work.kept(web.made(rows, _ranked, alpha, base), "pagerank")
        change, dangling = numbers(state)
        web.work.drop(before)
        iterations += 1
    return Solved(state.where("kind = 'x'"), iterations, change * alpha / (1.0 - alpha))


def standing(web: SparkWeb) -> Solved:
    """PageRank as features and curves have it; solved once for a web."""
    if "standing" not in web.solved:
        web.solved["standing"] = pagerank(web, DAMPING, TOLERANCE)
    found: Solved = web.solved["standing"]
    return found


def _begun(shape: Shape, alpha: float, held: Held) -> Iterator[Made]:
    x = np.full(shape.size(held.segment), 1.0 / shape.pages)
    yield from _handed(held, alpha, x, 0.0)


def _ranked(shape: Shape, alpha: float, base: float, held: Held) -> Iterator[Made]:
    old = held.one("x")
    x = base + held.total(old.size)
    yield from _handed(held, alpha, x, float(np.abs(x - old).sum()))


def _handed(held: Held, alpha: float, x: Any, change: float) -> Iterator[Made]:
    degree = held.one("degree", np.int32)
    yield Made("x", x, change=change, mass=float(x[degree == 0].sum()))
    yield from addressed("give", alpha * x / np.maximum(degree, 1), held.one("to", np.int32))


# --- rw, rw-eg ---


def walk(web: SparkWeb, alpha: float, omega: float, gamma: float, eps: float, tolerance: float, name: str) -> Solved:
    """The walk of tran15: along links, and with omega below 1 along virtual edges too."""
    if not web.worth:
        raise InputError(f"{name}: needs clicks or views of fetched pages; the pages table of {web.tables.path} has neither")
    virtual = alpha * (1.0 - omega)
    if gamma > 0 and virtual > 0:
        raise InputError(f"{name}: gamma above 0 counts distinct neighbours, which Spark does not; leave it 0, or rank locally")
    fixed = _fixed_of_walk(web, alpha, omega, gamma, eps, name, virtual > 0)
    base, bound, iterations = (1.0 - alpha) / web.pages, math.inf, 0
    state, path = web.work.kept(web.made(fixed, _set_off), name)
    while bound > tolerance and iterations < MAX_ITERATIONS:
        web.tell(name, iterations, expected(alpha, tolerance))
        last = state.where("kind = 'x'").union(fixed)
        give = state
        if virtual > 0:
            give = web.made(pushed(web.turned, state, "z").union(last), _gathered, virtual)
        before = path
        rows = pushed(web.blocks, give).union(last)
        state, path = web.work.kept(web.made(rows, _walked, base, virtual), name)
        change, _ = numbers(state)
        bound = change * alpha / (1.0 - alpha)
        web.work.drop(before)
        iterations += 1
    return Solved(state.where("kind = 'x'"), iterations, bound)


def _fixed_of_walk(web: SparkWeb, alpha: float, omega: float, gamma: float, eps: float, name: str, virtual: bool) -> Any:
    """What does not change: "real" = alpha omega F/O, "to"; and for virtual edges "indegree", "spread" = F'/s, "back"."""
    best, most = greatest(web.given, "impact"), greatest(web.fixed, "degree")
    if best == 0.0:
        raise InputError(f"{name}: all impacts are zero, so no page has a vote; give views or clicks of fetched pages")
    told = web.fixed.union(web.given.where("kind = 'impact'"))
    given = (alpha * omega, gamma, eps, best + eps, max(1.0, most))
    if not virtual:
        return web.work.kept(web.made(told, _real, *given), name)[0]
    ones = web.made(web.fixed, _ones)
    into = web.made(pushed(web.blocks, ones).union(web.fixed), summed).selectExpr(
        "seg", "'indegree' kind", "place", "change", "mass", "data"
    )
    others = pushed(web.blocks, web.made(web.fixed, _others))
    rows = told.union(web.work.kept(into, name)[0]).union(web.back).union(others)
    return web.work.kept(web.made(rows, _real, *given), name)[0]


def _others(shape: Shape, held: Held) -> Iterator[Made]:
    yield from addressed("give", np.maximum(held.one("degree", np.int32) - 1.0, 0.0), held.one("to", np.int32))


def _real(shape: Shape, scale: float, gamma: float, eps: float, best: float, most: float, held: Held) -> Iterator[Made]:
    degree, impact = held.one("degree", np.int32), held.one("impact")
    factor = (impact + eps) / best
    strong = factor * (degree / most) ** gamma if gamma > 0 else factor
    yield Made("real", scale * strong / np.maximum(degree, 1))
    yield Made("to", held.one("to", np.int32))
    if "indegree" in held.rows:
        siblings = held.total(degree.size)
        yield Made("indegree", held.one("indegree"))
        yield Made("spread", np.where(siblings > 0, factor / np.maximum(siblings, 1.0), 0.0))
        yield Made("back", held.one("back", np.int32))


def _set_off(shape: Shape, held: Held) -> Iterator[Made]:
    yield from _passed(held, np.full(shape.size(held.segment), 1.0 / shape.pages), 0.0)


def _gathered(shape: Shape, virtual: float, held: Held) -> Iterator[Made]:
    """What rows hand on: their own share, and what all pages of the row share."""
    give = held.one("real") * held.one("x") + virtual * held.total(shape.size(held.segment))
    yield from addressed("give", give, held.one("to", np.int32))


def _walked(shape: Shape, base: float, virtual: float, held: Held) -> Iterator[Made]:
    old = held.one("x")
    x = base + held.total(old.size)
    if virtual > 0:
        x -= virtual * held.one("indegree") * (held.one("spread") * old)
    yield from _passed(held, x, float(np.abs(x - old).sum()))


def _passed(held: Held, x: Any, change: float) -> Iterator[Made]:
    yield Made("x", x, change=change)
    if "spread" in held.rows:
        yield from addressed("z", held.one("spread") * x, held.one("back", np.int32))
    else:
        yield from addressed("give", held.one("real") * x, held.one("to", np.int32))


# --- numbers for the driver ---


def numbers(rows: Any) -> tuple[float, float]:
    """The sums of change and of mass."""
    with said_plainly():
        change, mass = rows.groupBy().sum("change", "mass").first()
    return float(change), float(mass)


def greatest(rows: Any, kind: str) -> float:
    with said_plainly():
        return float(rows.where(f"kind = '{kind}'").groupBy().max("change").first()[0])


def expected(alpha: float, tolerance: float) -> int:
    """About how many iterations it will take: each shrinks the error by alpha."""
    return max(1, math.ceil(math.log(tolerance) / math.log(alpha)))
