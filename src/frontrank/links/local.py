"""Sums along links on this machine: push values from sources to targets, and PageRank by it.

PageRank, damping a, dangling mass spread uniformly (Page, Brin; cho98 writes d for a):

    x(q) = (1 - a)/n + a * (sum of x(p) over pages p without links)/n + a * sum of x(p)/O(p) over links p -> q

iterated until the L1 distance to the fixed point is below the tolerance: as each step shrinks it by a, that holds when
the last change times a/(1 - a) is. One iteration costs one pass over the links.

Links stay in the form they are stored in (by source): no transposed copy. Threads push their share of the rows into
accumulators of their own, which are then added. How rows are shared out depends on the number of links alone, never on
the number of cores: the same web gives the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from frontrank.kernel import Array, compiled, kernel

SHARE = 250_000  # links from which a second thread pays
MAX_ITERATIONS = 1000


@kernel
def push(begin: int, end: int, source: Array, indptr: Array, target: Array, x: Array, scale: float, sums: Array) -> None:
    """sums[q] = sum over rows begin..end of scale * x[source] / O(source), for the links to q."""
    sums[:] = 0.0
    for r in range(begin, end):
        degree = indptr[r + 1] - indptr[r]
        if degree > 0:
            share = scale * x[source[r]] / degree
            for j in range(indptr[r], indptr[r + 1]):
                sums[target[j]] += share


@kernel
def settle(sums: Array, more: Array, linked: Array, base: float, x: Array) -> tuple[float, float]:
    """x becomes sums + more + base; returns the L1 change and the new mass of pages without links."""
    change = 0.0
    dangling = 0.0
    for q in range(x.size):
        value = base + sums[q] if more.size == 0 else base + sums[q] + more[q]
        change += abs(value - x[q])
        x[q] = value
        if linked[q] == 0:
            dangling += value
    return change, dangling


class Pusher:
    """PageRank iterations over rows of links; row r belongs to page source[r]."""

    def __init__(self, source: Array, indptr: Array, target: Array, pages: int) -> None:
        self.source, self.indptr, self.target, self.pages = source, indptr, target, pages
        rows = len(source)
        links = int(indptr[rows])
        parts = 2 if links >= 2 * SHARE else 1
        self.cuts = [int(np.searchsorted(indptr[: rows + 1], links * i // parts)) for i in range(parts + 1)]
        self.cuts[0], self.cuts[-1] = 0, rows
        self.sums = [np.empty(pages) for _ in range(parts)]
        self.linked = np.zeros(pages, np.uint8)
        self.linked[source[np.diff(indptr[: rows + 1]) > 0]] = 1
        self.pool = ThreadPoolExecutor(parts) if parts > 1 else None
        self._push: Callable[..., Any] = compiled(push)
        self._settle: Callable[..., Any] = compiled(settle)

    def step(self, x: Array, damping: float, dangling: float) -> tuple[float, float]:
        """One iteration in place; returns the L1 change and the new dangling mass."""

        def part(i: int) -> None:
            begin, end = self.cuts[i], self.cuts[i + 1]
            self._push(begin, end, self.source, self.indptr, self.target, x, damping, self.sums[i])

        if self.pool is None:
            part(0)
        else:
            list(self.pool.map(part, range(len(self.sums))))
        base = (1.0 - damping) / self.pages + damping * dangling / self.pages
        more = self.sums[1] if len(self.sums) > 1 else self.sums[0][:0]
        result: tuple[float, float] = self._settle(self.sums[0], more, self.linked, base, x)
        return result

    def solve(self, damping: float, tolerance: float, x: Array | None = None) -> tuple[Array, int]:
        """The fixed point and the number of iterations; x is where to start from (it is changed)."""
        if x is None:
            x = np.full(self.pages, 1.0 / self.pages)
        dangling = float(x[self.linked == 0].sum())
        iterations = 0
        change = np.inf
        while change * damping > tolerance * (1.0 - damping) and iterations < MAX_ITERATIONS:
            change, dangling = self.step(x, damping, dangling)
            iterations += 1
        self.close()
        return x, iterations

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()


def pagerank(indptr: Array, target: Array, damping: float = 0.85, tolerance: float = 1e-10) -> Array:
    """PageRank of every page of a whole graph.

    >>> pagerank(np.array([0, 1, 2]), np.array([1, 0], np.int32)).tolist()
    [0.5, 0.5]
    """
    pages = len(indptr) - 1
    return Pusher(np.arange(pages, dtype=np.int32), indptr, target, pages).solve(damping, tolerance)[0]
