"""Blocks of links: those from one range of pages to another, as arrays of offsets. What is too large for one machine is cut so.

    pages       0 .. n - 1, cut into segments of ``width`` pages; a range is several segments
    block       the links from one segment to one range: row r holds the links of the segment's page first + r, sorted and
                distinct, as offsets into the range (int32)

A block takes 4 bytes a link and 4 a page of its segment. ``push_block`` is the inner loop of every iteration; it reads one
segment of a vector and writes to one range of another.
"""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel


@kernel
def push_block(first: int, indptr: Array, target: Array, give: Array, sums: Array) -> None:
    """Add give[first + r] to sums[q] for each link to q in row r."""
    for r in range(indptr.size - 1):
        value = give[first + r]
        if value != 0.0:
            for j in range(indptr[r], indptr[r + 1]):
                sums[target[j]] += value


@kernel
def _cells(source: Array, target: Array, width: int, reach: int, ranges: int, counts: Array, cell: Array) -> None:
    """The cell (segment, range) of each link, and how many links each cell has; self-links are in none (-1)."""
    for i in range(source.size):
        if source[i] == target[i]:
            cell[i] = -1
        else:
            cell[i] = (source[i] // width) * ranges + target[i] // reach
            counts[cell[i]] += 1


@kernel
def _scatter(
    source: Array, target: Array, width: int, reach: int, cell: Array, at: Array, sources: Array, targets: Array
) -> None:
    for i in range(source.size):
        if cell[i] >= 0:
            k = at[cell[i]]
            at[cell[i]] = k + 1
            sources[k] = source[i] % width
            targets[k] = target[i] % reach


def by_cell(source: Array, target: Array, width: int, reach: int, ranges: int, segments: int) -> tuple[Array, Array, Array]:
    """Links sorted by cell: where each cell begins (cell = segment * ranges + range), offsets of sources and of targets.

    >>> begins, sources, targets = by_cell(np.array([5, 0, 2]), np.array([1, 1, 2]), width=4, reach=8, ranges=1, segments=2)
    >>> begins.tolist(), sources.tolist(), targets.tolist()
    ([0, 1, 2], [0, 1], [1, 1])
    """
    counts, cell = np.zeros(segments * ranges, np.int64), np.empty(source.size, np.int64)
    compiled(_cells)(source, target, width, reach, ranges, counts, cell)
    begins = np.concatenate([[0], np.cumsum(counts)])
    sources, targets = np.empty(int(begins[-1]), np.uint16), np.empty(int(begins[-1]), np.int32)
    compiled(_scatter)(source, target, width, reach, cell, begins[:-1].copy(), sources, targets)
    return begins, sources, targets


@kernel
def _rows(source: Array, target: Array, kept: Array, indptr: Array, targets: Array) -> int:
    """Rows of distinct, sorted targets; rows that are not kept are empty. Returns the number of links."""
    for i in range(source.size):
        if kept.size == 0 or kept[source[i]] != 0:
            indptr[source[i] + 1] += 1
    for r in range(indptr.size - 1):
        indptr[r + 1] += indptr[r]
    at = indptr[:-1].copy()
    for i in range(source.size):
        if kept.size == 0 or kept[source[i]] != 0:
            targets[at[source[i]]] = target[i]
            at[source[i]] += 1
    k = 0
    begin = 0
    for r in range(indptr.size - 1):
        end = indptr[r + 1]
        targets[begin:end].sort()
        indptr[r] = k
        for j in range(begin, end):
            if j == begin or targets[j] != targets[j - 1]:
                value = targets[j]
                targets[k] = value
                k += 1
        begin = end
    indptr[indptr.size - 1] = k
    return k


def block_of(source: Array, target: Array, width: int, kept: Array) -> tuple[Array, Array]:
    """One cell's links in any order, repeated or not, as rows: indptr (int64) and targets (int32). ``kept`` marks the pages
    of the segment whose links count; empty, all do.

    >>> indptr, target = block_of(np.array([1, 0, 1], np.uint16), np.array([7, 3, 7], np.int32), 2, np.empty(0, np.uint8))
    >>> indptr.tolist(), target.tolist()
    ([0, 1, 2], [3, 7])
    """
    indptr, targets = np.zeros(width + 1, np.int64), np.empty(source.size, np.int32)
    links = compiled(_rows)(source, target, kept, indptr, targets)
    return indptr, targets[:links]
