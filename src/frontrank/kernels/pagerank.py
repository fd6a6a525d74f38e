"""Sums along links on this machine: push values from sources to targets, and PageRank by it.

PageRank, damping a, dangling mass spread uniformly (Page, Brin; cho98 writes d for a):

    x(q) = (1 - a)/n + a * (sum of x(p) over pages p without links)/n + a * sum of x(p)/O(p) over links p -> q

or with a restart vector t, which adds up to 1, in place of 1/n. It is iterated until the L1 distance to the fixed point is
below the tolerance: as each step shrinks it by a, that holds when the last change times a/(1 - a) is. One iteration costs
one pass over the links.

Links stay in the form they are stored in (by source): no transposed copy. Threads push their share of the rows into
accumulators of their own, which are then added. How rows are shared out depends on the number of links alone, never on
the number of cores: the same web gives the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel

SHARE = 250_000  # links from which a second thread pays
MAX_ITERATIONS = 1000
DAMPING, TOLERANCE = 0.85, 1e-10  # unless told otherwise


@kernel
def push(begin: int, end: int, source: Array, indptr: Array, target: Array, x: Array, scale: float, sums: Array) -> None:
    """Add scale * x[source]/O(source) to sums[q] for each link to q in the rows begin .. end."""
    for r in range(begin, end):
        degree = indptr[r + 1] - indptr[r]
        if degree > 0:
            share = scale * x[source[r]] / degree
            for j in range(indptr[r], indptr[r + 1]):
                sums[target[j]] += share


@kernel
def settle(
    begin: int, end: int, sums: Array, more: Array, linked: Array, base: float, restart: Array, x: Array
) -> tuple[float, float]:
    """x becomes sums + more + base (times restart, if there is one), and sums become 0; returns the L1 change and the new
    mass of pages without links."""
    change = 0.0
    dangling = 0.0
    for q in range(begin, end):
        value = (base * restart[q] if restart.size > 0 else base) + sums[q]
        sums[q] = 0.0
        if more.size > 0:
            value += more[q]
            more[q] = 0.0
        change += abs(value - x[q])
        x[q] = value
        if linked[q] == 0:
            dangling += value
    return change, dangling


class Shares:
    """Rows of links and pages, shared out among threads; the cuts depend on the number of links alone."""

    def __init__(self, indptr: Array, pages: int) -> None:
        rows = len(indptr) - 1
        links = int(indptr[rows])
        parts = 2 if links >= 2 * SHARE else 1
        inner = [int(np.searchsorted(indptr, links * i // parts)) for i in range(1, parts)]
        self.rows = list(pairwise([0, *inner, rows]))
        self.pages = list(pairwise([pages * i // parts for i in range(parts + 1)]))
        self.sums = [np.zeros(pages) for _ in range(parts)]
        self.more = self.sums[1] if parts > 1 else self.sums[0][:0]
        self.pool = ThreadPoolExecutor(parts) if parts > 1 else None

    def each(self, work: Callable[[int], Any]) -> list[Any]:
        """Do the work of every part, and wait for all."""
        parts = range(len(self.rows))
        return list(self.pool.map(work, parts)) if self.pool else [work(i) for i in parts]

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()


class Pusher:
    """PageRank iterations over rows of links; row r belongs to page source[r]."""

    def __init__(self, source: Array, indptr: Array, target: Array, pages: int) -> None:
        self.indptr = indptr[: len(source) + 1]
        self.source, self.target, self.pages = source, target, pages
        self.shares = Shares(self.indptr, pages)
        self.linked = np.zeros(pages, np.uint8)
        self.linked[source[np.diff(self.indptr) > 0]] = 1

    def step(self, x: Array, damping: float, dangling: float, restart: Array) -> tuple[float, float]:
        """One iteration in place; returns the L1 change and the new dangling mass."""
        shares, add, finish = self.shares, compiled(push), compiled(settle)
        ways = 1 if restart.size else self.pages
        base = (1.0 - damping) / ways + damping * dangling / ways
        shares.each(lambda i: add(*shares.rows[i], self.source, self.indptr, self.target, x, damping, shares.sums[i]))
        ends = shares.each(lambda i: finish(*shares.pages[i], shares.sums[0], shares.more, self.linked, base, restart, x))
        return sum(change for change, _ in ends), sum(mass for _, mass in ends)

    def solve(
        self, damping: float, tolerance: float, x: Array | None = None, restart: Array | None = None
    ) -> tuple[Array, int]:
        """The fixed point and the number of iterations; x is where to start from (it is changed), restart where the surfer
        does, if not everywhere."""
        jump = np.empty(0) if restart is None else restart
        if x is None:
            x = np.full(self.pages, 1.0 / self.pages)
        dangling = float(x[self.linked == 0].sum())
        iterations = 0
        change = np.inf
        while change * damping > tolerance * (1.0 - damping) and iterations < MAX_ITERATIONS:
            change, dangling = self.step(x, damping, dangling, jump)
            iterations += 1
        self.close()
        return x, iterations

    def close(self) -> None:
        self.shares.close()


def pagerank(indptr: Array, target: Array, damping: float = DAMPING, tolerance: float = TOLERANCE) -> Array:
    """PageRank of every page of a whole graph.

    >>> pagerank(np.array([0, 1, 2]), np.array([1, 0], np.int32)).tolist()
    [0.5, 0.5]
    """
    pages = len(indptr) - 1
    return Pusher(np.arange(pages, dtype=np.int32), indptr, target, pages).solve(damping, tolerance)[0]
