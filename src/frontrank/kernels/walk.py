"""Random walks over the links of a crawl, with impact: the iterations of tran15.

    x(j) = alpha omega sum over links i -> j of F(i) x(i)/O(i)
         + alpha (1 - omega) sum over virtual edges i - j of F'(i) x(i) w(i, j)/s(i)  +  (1 - alpha)/n

Two pages share a virtual edge if a fetched page links to both; w counts such pages, s(i) = sum of w(i, k) over k. Virtual
edges are never written down. With A the 0/1 matrix of links, W = A^T A without its diagonal, so for z(i) = F'(i) x(i)/s(i)

    W z = A^T (A z) - indegree * z        and        s(i) = sum over p that link to i of (O(p) - 1)

and one pass over the rows does both: add up z over a row, then hand the sum back to the row together with the share along
real links. Exact, linear in the number of links, no memory beyond a few vectors. As every factor F is at most 1, a step
shrinks L1 distances by alpha: the walk is within the tolerance of its fixed point when the last change times
alpha/(1 - alpha) is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.kernels.pagerank import MAX_ITERATIONS, Shares

REGISTERS = 256  # of a HyperLogLog counter: a standard error of 6.5%
EXACT = 200_000_000  # pairs of links of one page up to which virtual neighbours are counted exactly


@kernel
def _pass(
    begin: int,
    end: int,
    source: Array,
    indptr: Array,
    target: Array,
    real: Array,
    virtual: float,
    x: Array,
    z: Array,
    sums: Array,
) -> None:
    """Rows begin .. end: what their links hand on, along real links and to each other."""
    for r in range(begin, end):
        first, last = indptr[r], indptr[r + 1]
        give = real[r] * x[source[r]]
        if virtual > 0.0:
            shared = 0.0
            for j in range(first, last):
                shared += z[target[j]]
            give += virtual * shared
        for j in range(first, last):
            sums[target[j]] += give


@kernel
def _settle(
    begin: int,
    end: int,
    sums: Array,
    more: Array,
    base: float,
    virtual: float,
    indegree: Array,
    spread: Array,
    x: Array,
    z: Array,
) -> float:
    """x and z of the next step, sums become 0; returns the L1 change of x."""
    change = 0.0
    for q in range(begin, end):
        value = base + sums[q]
        sums[q] = 0.0
        if more.size > 0:
            value += more[q]
            more[q] = 0.0
        if virtual > 0.0:
            value -= virtual * indegree[q] * z[q]
            z[q] = spread[q] * value
        change += abs(value - x[q])
        x[q] = value
    return change


class Walk(NamedTuple):
    """The scores, and how they were reached: iterations and a bound on the L1 distance to the fixed point."""

    scores: Array
    iterations: int
    residual: float


class Walker:
    """Iterations over rows of links; row r belongs to page source[r]. ``factor`` is F, ``virtual_factor`` is F'."""

    def __init__(
        self,
        source: Array,
        indptr: Array,
        target: Array,
        factor: Array,
        virtual_factor: Array,
        alpha: float,
        omega: float,
    ) -> None:
        self.source, self.indptr, self.target = source, indptr, target
        self.alpha, self.pages = alpha, len(factor)
        degree = np.diff(indptr)
        self.real = alpha * omega * factor[source] / np.maximum(degree, 1)
        self.virtual = alpha * (1.0 - omega)
        self.indegree = np.bincount(target, minlength=self.pages).astype(np.float64)
        siblings = np.bincount(target, weights=np.repeat(degree - 1.0, degree), minlength=self.pages)
        self.spread = np.where(siblings > 0, virtual_factor / np.maximum(siblings, 1.0), 0.0)
        self.shares = Shares(indptr, self.pages)

    def step(self, x: Array, z: Array) -> float:
        """One iteration in place; returns the L1 change."""
        shares, add, finish = self.shares, compiled(_pass), compiled(_settle)
        base = (1.0 - self.alpha) / self.pages
        rows = (self.source, self.indptr, self.target, self.real, self.virtual, x, z)
        shares.each(lambda i: add(*shares.rows[i], *rows, shares.sums[i]))
        ends = (shares.sums[0], shares.more, base, self.virtual, self.indegree, self.spread, x, z)
        return float(sum(shares.each(lambda i: finish(*shares.pages[i], *ends))))

    def along_links(self, x: Array) -> Array:
        """What pages receive along real links when x is handed on once."""
        sums = np.zeros(self.pages)
        rows = (0, len(self.source), self.source, self.indptr, self.target)
        compiled(_pass)(*rows, self.real, 0.0, x, x, sums)
        return sums

    def solve(self, tolerance: float, start: Array | None = None) -> Walk:
        """Iterate to the fixed point, from an old vector if one is given."""
        x = np.full(self.pages, 1.0 / self.pages) if start is None else start.copy()
        z = self.spread * x
        bound, iterations = np.inf, 0
        while bound > tolerance and iterations < MAX_ITERATIONS:
            bound = self.step(x, z) * self.alpha / (1.0 - self.alpha)
            iterations += 1
        self.shares.close()
        return Walk(x, iterations, bound)


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
