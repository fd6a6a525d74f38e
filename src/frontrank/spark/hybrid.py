"""q-hybrid on Spark: q-overlap, mixed with the impact that is expected of a page from its PageRank alone.

The curve is fitted to x = log(n PageRank) and the impact of all fetched pages, without having them all on one machine:

    quadratic   least squares need eight sums, of powers of x (scaled to -1 .. 1) and of impact times these
    isotonic    the best function that never falls is the same whether neighbours are pooled at once or part by part: Spark
                sorts pages by x, each partition pools its own, and the driver pools what is left: levels, not pages, and
                at most ``MAX_LEVELS`` of a partition (where impact rises from page to page, neighbours are joined)

A tree needs all pages in one place, so only the local engine fits one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.spark.jobs import Result, Stretch, Stretches, in_arrow
from frontrank.spark.queries import check_overlap, overlap
from frontrank.spark.rows import batch
from frontrank.spark.session import plain_errors
from frontrank.spark.walks import SolvedVector, default_pagerank
from frontrank.spark.web import SparkWeb

POINT = "x double, impact double"
LEVEL = "low double, high double, total double, weight double"
MAX_LEVELS = 100_000  # of a partition that come to the driver
CLOSE = 1e-15  # x that lie closer are one, as in scikit-learn


class ImpactCurve(NamedTuple):
    """Impact by x: a parabola (three numbers, of x scaled to -1 .. 1), or values between which lines are drawn."""

    at: Array
    value: Array
    parabola: bool = False

    def __call__(self, x: Array) -> Array:
        if self.parabola:
            return np.asarray(np.polynomial.polynomial.polyval(_scaled(x, *self.at), self.value))
        return np.asarray(np.interp(x, self.at, self.value))


def hybrid(web: SparkWeb, ranker: QHybrid) -> SolvedVector:
    """q-hybrid of all pages."""
    if not web.has_impact:
        raise InputError(f"{ranker.name}: needs clicks or views of fetched pages; the pages table has neither")
    x = default_pagerank(web)
    by_query = overlap(web, ranker.overlap(), x)
    web.progress("fitting impact to PageRank", 0, 0)
    with plain_errors():
        curve = _fit(web, x.x, ranker.fit)
    into = web.name("hybrid")
    web.for_each_stretch(_mix, into, x.x, by_query.x, ranker.weight, curve)
    web.drop(by_query.x)
    return SolvedVector(into, x.iterations, x.residual)


def check_hybrid(ranker: QHybrid) -> None:
    """InputError for parameters that Spark does not support."""
    check_overlap(ranker.overlap())
    if ranker.fit == "tree":
        raise InputError(f"{ranker.spec()}: a tree is for the local engine; take fit=isotonic or quadratic")


def _mix(into: str, x: str, overlap: str, weight: float, curve: ImpactCurve, stretch: Stretch) -> Result:
    by_query, pagerank = stretch.get(overlap), stretch.get(x)
    stretch.put(into, weight * by_query + (1.0 - weight) * curve(np.log(pagerank * stretch.shape.pages)))
    return Result()


def _fit(web: SparkWeb, x: str, fit: str) -> ImpactCurve:
    points = in_arrow(web.tasks.frame(len(web.stretches.bounds)), partial(_points, web.stretches, x), POINT).persist()
    try:
        low, high, mean = points.selectExpr("min(x)", "max(x)", "avg(impact)").first()
        if points.select("x").distinct().limit(3).count() < 3:  # a curve through fewer points is anybody's guess
            return ImpactCurve(np.array([low]), np.array([mean]))
        return _parabola(points, low, high) if fit == "quadratic" else _rising(points)
    finally:
        points.unpersist()


def _points(stretches: Stretches, x: str, arrived: Iterable[Any]) -> Iterator[Any]:
    for stretch in stretches.of_tasks(arrived):
        for piece in stretch.pieces():
            at = np.flatnonzero(piece.get("fetched", np.uint8))
            pagerank, impact = (piece.get(name)[at] for name in (x, "impact"))
            yield batch(POINT, np.log(pagerank * stretches.shape.pages), impact)


def _scaled(x: Any, low: float, high: float) -> Any:
    return (2.0 * x - low - high) / (high - low)


def _parabola(points: Any, low: float, high: float) -> ImpactCurve:
    scaled = points.selectExpr(f"(2 * x - ({low!r}D) - ({high!r}D)) / (({high!r}D) - ({low!r}D)) u", "impact")
    powers = [f"sum(pow(u, {power}))" for power in range(5)] + [f"sum(impact * pow(u, {power}))" for power in range(3)]
    sums = np.array(scaled.selectExpr(*powers).first())
    matrix = sums[np.add.outer(np.arange(3), np.arange(3))]
    return ImpactCurve(np.array([low, high]), np.linalg.lstsq(matrix, sums[5:], rcond=None)[0], parabola=True)


def _rising(points: Any) -> ImpactCurve:
    sorted_ = points.repartitionByRange("x").sortWithinPartitions("x")  # equal x stay together
    rows = in_arrow(sorted_, _pooled, LEVEL).collect()
    rows.sort(key=lambda row: row.low)
    return _curve(np.array([tuple(row) for row in rows]).reshape(-1, 4))


def _curve(levels: Array) -> ImpactCurve:
    """The levels of all partitions, in order, pooled once more."""
    count = compiled(_pool)(levels)
    low, high, total, weight = levels[:count].T
    at = np.column_stack([low, high]).ravel()
    kept = np.concatenate([[True], np.diff(at) > 0])
    return ImpactCurve(at[kept], np.repeat(total / weight, 2)[kept])


def _pooled(arrived: Iterable[Any]) -> Iterator[Any]:
    pooled, last = np.empty((0, 4)), np.empty((0, 4))  # the next batch may begin with the last x
    for some in arrived:
        x, impact = (some.column(name).to_numpy(zero_copy_only=False) for name in ("x", "impact"))
        if not x.size:
            continue
        begins = np.flatnonzero(np.concatenate([[True], np.diff(x) >= CLOSE]))
        weight = np.diff(np.append(begins, x.size)).astype(np.float64)
        levels = np.column_stack([x[begins], x[begins], np.add.reduceat(impact, begins), weight])
        if len(last) and levels[0, 0] - last[0, 1] < CLOSE:
            levels[0, 2:] += last[0, 2:]
            last = last[:0]
        pooled, last = np.concatenate([pooled, last, levels[:-1]]), levels[-1:]
        pooled = pooled[: compiled(_pool)(pooled)]
    pooled = np.concatenate([pooled, last])
    pooled = _thinned(pooled[: compiled(_pool)(pooled)], MAX_LEVELS)
    yield batch(LEVEL, *(column.copy() for column in pooled.T))


def _thinned(levels: Array, limit: int) -> Array:
    """At most so many levels: where there are more, neighbours are joined, the same number each.

    >>> _thinned(np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 3.0, 1.0], [2.0, 2.0, 9.0, 1.0]]), 2).tolist()
    [[0.0, 1.0, 4.0, 2.0], [2.0, 2.0, 9.0, 1.0]]
    """
    if len(levels) <= limit:
        return levels
    begins = np.arange(0, len(levels), -(-len(levels) // limit))
    ends = np.append(begins[1:], len(levels)) - 1
    sums = np.add.reduceat(levels[:, 2:], begins)
    return np.column_stack([levels[begins, 0], levels[ends, 1], sums])


@kernel
def _pool(levels: Array) -> int:
    """Neighbours whose means fall become one, in place; returns how many levels are left."""
    last = -1
    for i in range(levels.shape[0]):
        last += 1
        for k in range(4):
            levels[last, k] = levels[i, k]
        while last > 0 and levels[last - 1, 2] * levels[last, 3] >= levels[last, 2] * levels[last - 1, 3]:
            levels[last - 1, 1] = levels[last, 1]
            levels[last - 1, 2] += levels[last, 2]
            levels[last - 1, 3] += levels[last, 3]
            last -= 1
    return last + 1
