"""Random walks over the links of a crawl, with impact: the iterations of tran15.

    x(j) = alpha omega sum over links i -> j of F(i) x(i)/O(i)
         + alpha (1 - omega) sum over virtual edges i - j of F'(i) x(i) w(i, j)/s(i)  +  (1 - alpha) v(j)

v is 1/n, or another vector that adds up to 1. Two pages share a virtual edge if a fetched page links to both; w counts such
pages, s(i) = sum of w(i, k) over k. Virtual edges are never stored. With A the 0/1 matrix of links, W = A^T A without its
diagonal, so for z(i) = F'(i) x(i)/s(i)

    W z = A^T (A z) - indegree * z        and        s(i) = sum over p that link to i of (O(p) - 1)

and two passes do it: every row adds up z over its links, and hands the sum on together with the share along real links; then
every page takes in what the rows that link to it hand on (``inlinks``). Exact, linear in the number of links, no memory beyond
a few vectors. As every factor F is at most 1, a step shrinks L1 distances by alpha: the walk is within the tolerance of its
fixed point when the last change times alpha/(1 - alpha) is.

With 32 bits z and what is handed on are rounded to float32, as in ``pagerank``; what that can change is computed and added to
the bound, for a page that is mostly the only link of pages can hand on more than it has, and take it back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.inlinks import Inlinks
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.kernels.pagerank import MAX_ITERATIONS, PAGE, ROUNDING, Solved
from frontrank.kernels.threads import Cut, Team, cuts

REGISTERS = 256  # of a HyperLogLog counter: a standard error of 6.5%
EXACT = 200_000_000  # pairs of links of one page up to which virtual neighbours are counted exactly


@kernel
def _hand_on(
    begin: int,
    end: int,
    source: Array,
    indptr: Array,
    target: Array,
    real: Array,
    virtual: float,
    x: Array,
    z: Array,
    give: Array,
) -> float:
    """give[r] becomes what row r hands on along each of its links; returns how much it is in all."""
    handed = 0.0
    for r in range(begin, end):
        first, last = indptr[r], indptr[r + 1]
        each = real[r] * x[source[r]]
        if virtual > 0.0:
            shared = 0.0
            for j in range(first, last):
                shared += z[target[j]]
            each += virtual * shared
        give[r] = each
        handed += each * (last - first)
    return handed


@kernel
def _take_in(
    begin: int,
    end: int,
    start: Array,
    row: Array,
    give: Array,
    base: float,
    restart: Array,
    virtual: float,
    spread: Array,
    x: Array,
    z: Array,
) -> float:
    """x and z of the next step; returns the L1 change of x. ``restart``: what each page has without links, if not all alike."""
    change = 0.0
    for q in range(begin, end):
        total = 0.0
        for j in range(start[q], start[q + 1]):
            total += give[row[j]]
        value = (restart[q] if restart.size > 0 else base) + total
        if virtual > 0.0:
            value -= virtual * float(start[q + 1] - start[q]) * z[q]
            z[q] = spread[q] * value
        change += abs(value - x[q])
        x[q] = value
    return change


@kernel
def _siblings(begin: int, end: int, start: Array, row: Array, indptr: Array, siblings: Array) -> None:
    """How many links stand beside the one to q, summed over the pages that link to it."""
    for q in range(begin, end):
        total = 0.0
        for j in range(start[q], start[q + 1]):
            total += indptr[row[j] + 1] - indptr[row[j]] - 1
        siblings[q] = total


class LinkRows(NamedTuple):
    """Links by page: row r belongs to page source[r]; and the same by target."""

    source: Array
    indptr: Array
    target: Array
    inlinks: Inlinks


class Walk(NamedTuple):
    """Where a walk goes: its parameters, the factors F and F' of pages, and the vector v, if pages are not all alike."""

    alpha: float
    omega: float
    factor: Array
    virtual_factor: Array
    restart: Array | None = None


class Walker:
    """Iterations of a walk over rows of links."""

    def __init__(self, rows: LinkRows, walk: Walk, bits: int = 64, threads: int | None = None) -> None:
        alpha, indptr, inlinks = walk.alpha, rows.indptr, rows.inlinks
        self.restart = np.empty(0) if walk.restart is None else (1.0 - alpha) * walk.restart
        self.source, self.indptr, self.target, self.inlinks = rows
        self.alpha, self.pages, self.bits = alpha, len(walk.factor), bits
        self.real = alpha * walk.omega * walk.factor[self.source] / np.maximum(np.diff(indptr), 1)
        self.virtual = alpha * (1.0 - walk.omega)
        self.give = np.zeros(len(self.source), self._kept)
        self.rows, self.targets = cuts(indptr, PAGE), cuts(inlinks.start, PAGE)
        self.team = Team(len(self.targets), threads)
        self.spread = np.empty(0)
        if self.virtual > 0.0:
            siblings = np.empty(self.pages)
            self.team.each(lambda cut: compiled(_siblings)(*cut, *inlinks, indptr, siblings), self.targets)
            self.spread = np.where(siblings > 0, walk.virtual_factor / np.maximum(siblings, 1.0), 0.0)

    @property
    def _kept(self) -> type[np.floating]:
        """What numbers that are read at random are kept as."""
        return np.float64 if self.bits == 64 else np.float32

    def start(self, x: Array) -> Array:
        """z of x."""
        return (self.spread * x).astype(self._kept) if self.virtual > 0.0 else np.empty(0, self._kept)

    def step(self, x: Array, z: Array) -> tuple[float, float]:
        """One iteration in place; returns the L1 change, and how much was handed on."""
        hand, take = compiled(_hand_on), compiled(_take_in)
        base = (1.0 - self.alpha) / self.pages

        def handed(cut: Cut) -> float:
            rows = (self.source, self.indptr, self.target, self.real, self.virtual, x, z)
            return float(hand(*cut, *rows, self.give))

        def taken(cut: Cut) -> float:
            return float(take(*cut, *self.inlinks, self.give, base, self.restart, self.virtual, self.spread, x, z))

        total = sum(self.team.each(handed, self.rows))
        return sum(self.team.each(taken, self.targets)), total

    def along_links(self, x: Array) -> Array:
        """What pages receive along real links when x is handed on once."""
        sums, nothing, give = np.zeros(self.pages), np.empty(0), np.empty(len(self.source))
        compiled(_hand_on)(0, len(self.source), self.source, self.indptr, self.target, self.real, 0.0, x, nothing, give)
        compiled(_take_in)(0, self.pages, *self.inlinks, give, 0.0, nothing, 0.0, nothing, sums, nothing)
        return sums

    def solve(self, tolerance: float, start: Array | None = None) -> Solved:
        """Iterate to the fixed point, from an old vector if one is given."""
        x = np.full(self.pages, 1.0 / self.pages) if start is None else start.copy()
        z = self.start(x)
        bound, last, rounding, iterations = np.inf, np.inf, 0.0, 0
        while bound > max(tolerance, rounding) and iterations < MAX_ITERATIONS:
            change, handed = self.step(x, z)
            bound = change * self.alpha / (1.0 - self.alpha)
            if self.bits == 32:
                rounding = ROUNDING * (handed + self.virtual) / (1.0 - self.alpha)
            iterations += 1
            if self.bits == 32 and bound >= last:  # each step shrinks the change, so this is rounding
                break
            last = bound
        self.team.close()
        return Solved(x, iterations, bound + rounding)


@kernel
def _count_neighbours(indptr: Array, target: Array, by_target: Array, rows: Array, seen: Array, counts: Array) -> None:
    for page in range(counts.size):
        count = 0
        for i in range(by_target[page], by_target[page + 1]):
            for j in range(indptr[rows[i]], indptr[rows[i] + 1]):
                if seen[target[j]] != page and target[j] != page:
                    seen[target[j]] = page
                    count += 1
        counts[page] = count


@kernel
def _sketch_neighbours(indptr: Array, target: Array, registers: Array) -> None:
    """Each row's targets are counted in a HyperLogLog sketch, which all pages of the row take in."""
    size = registers.shape[1]
    row = np.zeros(size, np.uint8)
    for r in range(indptr.size - 1):
        row[:] = 0
        for j in range(indptr[r], indptr[r + 1]):
            h = (np.int64(target[j]) * 0x9E3779B1 + 0x7F4A7C15) & 0xFFFFFFFF
            h = ((h ^ (h >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
            h = ((h ^ (h >> 15)) * 0x735A2D97) & 0xFFFFFFFF
            h = h ^ (h >> 15)
            rest = h >> 8
            zeros = 1
            while zeros <= 24 and (rest & 1) == 0:
                rest >>= 1
                zeros += 1
            row[h & 255] = max(row[h & 255], zeros)
        for j in range(indptr[r], indptr[r + 1]):
            for k in range(size):
                registers[target[j], k] = max(registers[target[j], k], row[k])


def virtual_degree(indptr: Array, target: Array, pages: int, exact: int = EXACT) -> Array:
    """The number of distinct virtual neighbours of each page: exact on small graphs, estimated on large ones."""
    degree = np.diff(indptr)
    if float((degree.astype(np.float64) ** 2).sum()) <= exact:
        rows = np.repeat(np.arange(len(degree), dtype=np.int32), degree)[np.argsort(target, kind="stable")]
        by_target = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=pages))]).astype(np.int64)
        counts, seen = np.zeros(pages, np.int64), np.full(pages, -1, np.int64)
        compiled(_count_neighbours)(indptr, target, by_target, rows, seen, counts)
        return counts.astype(np.float64)
    registers = np.zeros((pages, REGISTERS), np.uint8)
    compiled(_sketch_neighbours)(indptr, target, registers)
    return np.maximum(_estimate(registers) - 1.0, 0.0)  # a page's rows hold the page itself


def _estimate(registers: Array) -> Array:
    """HyperLogLog (Flajolet et al. 2007), with linear counting for small counts."""
    m = registers.shape[1]
    totals = np.empty(len(registers))
    for begin in range(0, len(registers), 65536):
        part = registers[begin : begin + 65536]
        raw = 0.7213 / (1 + 1.079 / m) * m * m / np.exp2(-part.astype(np.float64)).sum(axis=1)
        empty = (part == 0).sum(axis=1)
        small = (raw <= 2.5 * m) & (empty > 0)
        totals[begin : begin + 65536] = np.where(small, m * np.log(m / np.maximum(empty, 1)), raw)
    return totals
