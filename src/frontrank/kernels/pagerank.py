"""PageRank on this machine: each page adds up what the pages that link to it hand on.

Damping a, dangling mass spread uniformly (Page, Brin; cho98 writes d for a):

    x(q) = (1 - a)/n + a * (sum of x(p) over pages p without links)/n + a * sum of x(p)/O(p) over links p -> q

or with a restart vector t, which adds up to 1, instead of 1/n. It is iterated until the L1 distance to the fixed point is below
the tolerance: as each step shrinks it by a, that holds when the last change times a/(1 - a) is. One iteration costs one pass
over the links.

Links are read by target (``inlinks``). Each page's sum is added up by one thread in the order of the rows, and the sums over
all pages are cut at places that depend on the links alone: the same web gives the same bits on every number of cores. In memory
beside the links: 17 bytes per page, and 8 for each page with links.

With 32 bits what a page hands on is rounded to a float32: the only numbers that are read at random take half the memory. Sums
and scores stay float64. Rounding changes what is handed on, a in all, by 2^-24 of itself at most, so the scores by 2^-24 a/(1 -
a) in all: 3.4e-7 for 0.85. Iterating further would gain nothing, so that is the minimum tolerance.

Gauss-Seidel iterations (each page uses what was found in the same pass) were measured, and are not used: 59 passes instead of
71 on generated webs, but on one core; and pages of equal PageRank no longer have equal scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.inlinks import Inlinks, Room, find_inlinks
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.kernels.threads import Cut, Team, cuts

MAX_ITERATIONS = 1000
DAMPING, TOLERANCE = 0.85, 1e-10  # unless told otherwise
ROUNDING = 2.0**-24  # of a float32
BITS = (32, 64)
PAGE = 4  # links that a page costs as much as


class Solved(NamedTuple):
    """Scores, and how they were reached: iterations and a bound on the L1 distance to the fixed point."""

    scores: Array
    iterations: int
    residual: float


@kernel
def hand_on(begin: int, end: int, source: Array, indptr: Array, x: Array, scale: float, give: Array) -> None:
    """give[r] becomes what row r hands on along each of its links: scale * x[source]/O(source)."""
    for r in range(begin, end):
        degree = indptr[r + 1] - indptr[r]
        give[r] = scale * x[source[r]] / degree if degree > 0 else 0.0


@kernel
def take_in(
    begin: int, end: int, start: Array, row: Array, give: Array, linked: Array, base: float, restart: Array, x: Array
) -> tuple[float, float]:
    """x becomes what comes in plus base (times restart, if there is one); returns the L1 change and the new mass of pages
    without links."""
    change = 0.0
    dangling = 0.0
    for q in range(begin, end):
        total = 0.0
        for j in range(start[q], start[q + 1]):
            total += give[row[j]]
        value = (base * restart[q] if restart.size > 0 else base) + total
        change += abs(value - x[q])
        x[q] = value
        if linked[q] == 0:
            dangling += value
    return change, dangling


class Solver:
    """PageRank iterations over rows of links; row r belongs to page source[r]."""

    def __init__(self, source: Array, indptr: Array, inlinks: Inlinks, bits: int = 64, threads: int | None = None) -> None:
        self.source, self.indptr, self.inlinks = source, indptr[: len(source) + 1], inlinks
        self.pages = len(inlinks.start) - 1
        self.bits = bits
        self.give = np.zeros(len(source), np.float64 if bits == 64 else np.float32)
        self.linked = np.zeros(self.pages, np.uint8)
        self.linked[source[np.diff(self.indptr) > 0]] = 1
        self.rows, self.targets = cuts(self.indptr, PAGE), cuts(inlinks.start, PAGE)
        self.team = Team(len(self.targets), threads)

    def step(self, x: Array, damping: float, dangling: float, restart: Array) -> tuple[float, float]:
        """One iteration in place; returns the L1 change and the new dangling mass."""
        give, take = compiled(hand_on), compiled(take_in)
        ways = 1 if restart.size else self.pages
        base = (1.0 - damping) / ways + damping * dangling / ways

        def given(cut: Cut) -> None:
            give(*cut, self.source, self.indptr, x, damping, self.give)

        def taken(cut: Cut) -> tuple[float, float]:
            ends: tuple[float, float] = take(*cut, *self.inlinks, self.give, self.linked, base, restart, x)
            return ends

        self.team.each(given, self.rows)
        ends = self.team.each(taken, self.targets)
        return sum(change for change, _ in ends), sum(mass for _, mass in ends)

    def solve(self, damping: float, tolerance: float, x: Array | None = None, restart: Array | None = None) -> Solved:
        """The fixed point; x is where to start from (it is changed), restart where the surfer does, if not everywhere."""
        jump = np.empty(0) if restart is None else restart
        if x is None:
            x = np.full(self.pages, 1.0 / self.pages)
        rounding = ROUNDING * damping / (1.0 - damping) if self.bits == 32 else 0.0
        dangling = float(x[self.linked == 0].sum())
        iterations = 0
        change, last = np.inf, np.inf
        while change * damping > max(tolerance, rounding) * (1.0 - damping) and iterations < MAX_ITERATIONS:
            change, dangling = self.step(x, damping, dangling, jump)
            iterations += 1
            if self.bits == 32 and change >= last:  # each step shrinks it: what does not is rounding
                break
            last = change
        self.close()
        return Solved(x, iterations, change * damping / (1.0 - damping) + rounding)

    def close(self) -> None:
        self.team.close()


def pagerank(
    indptr: Array, target: Array, damping: float = DAMPING, tolerance: float = TOLERANCE, room: Room | None = None
) -> Array:
    """PageRank of every page of a whole graph.

    >>> pagerank(np.array([0, 1, 2]), np.array([1, 0], np.int32)).tolist()
    [0.5, 0.5]
    """
    pages = len(indptr) - 1
    inlinks = find_inlinks(indptr, target, pages, room)
    return Solver(np.arange(pages, dtype=np.int32), indptr, inlinks).solve(damping, tolerance).scores
