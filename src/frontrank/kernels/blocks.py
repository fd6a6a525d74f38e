"""Blocks of links: those from one span of pages to one range of pages. A web too large for one machine is cut so.

    bucket   some pages; links are sorted by the bucket of the page they point to
    range    several buckets: the pages that one task works on
    span     pages whose part of a vector is read at random at a time
    block    the links from a span to a range. Row i has the pages that link to page i of the range, distinct and ascending,
             as offsets into the span (int32); where most pages have no such links, ``at`` lists those that do

So a block takes 4 bytes per link and 4 per page, or 8 for each page with links where that is less. ``pull_block`` is the inner
loop of every iteration: as in ``pagerank`` and ``walk``, a page adds up what the pages that link to it hand on, in their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel


class Block(NamedTuple):
    """Row i is row[start[i]:start[i + 1]], and belongs to page at[i] of the range; to page i, where ``at`` is empty."""

    start: Array
    at: Array
    row: Array


@kernel
def _pull(start: Array, at: Array, row: Array, first: int, low: int, high: int, give: Array, sums: Array) -> None:
    i = first
    while i < start.size - 1 and start[i] < high:
        total = 0.0
        for j in range(max(start[i], low), min(start[i + 1], high)):
            total += give[row[j]]
        q = at[i] if at.size > 0 else i
        sums[q] += total
        i += 1


@kernel
def _largest(start: Array, at: Array, row: Array, first: int, low: int, high: int, give: Array, found: Array) -> None:
    i = first
    while i < start.size - 1 and start[i] < high:
        q = at[i] if at.size > 0 else i
        for j in range(max(start[i], low), min(start[i + 1], high)):
            found[q] = max(found[q], give[row[j]])
        i += 1


def pull_block(block: Block, give: Array, sums: Array, low: int = 0, high: int | None = None, largest: bool = False) -> None:
    """Add to the sum of each page of the range what the pages that link to it hand on, by links ``low`` to ``high`` alone; or
    find the ``largest`` of it, and of what is there.

    >>> block, sums = Block(np.array([0, 2, 3]), np.empty(0, np.int32), np.array([0, 1, 1], np.int32)), np.zeros(2)
    >>> pull_block(block, np.array([1.0, 10.0]), sums)
    >>> sums.tolist()
    [11.0, 10.0]
    >>> pull_block(block, np.array([1.0, 12.0]), sums, largest=True)
    >>> sums.tolist()
    [12.0, 12.0]
    """
    end = len(block.row) if high is None else high
    first = int(np.searchsorted(block.start, low, side="right")) - 1 if low else 0
    compiled(_largest if largest else _pull)(*block, first, low, end, give, sums)


# --- links by bucket ---


@kernel
def _counts(value: Array, key: Array, source: Array, kept: Array, bucket: int, counts: Array) -> None:
    for i in range(key.size):
        if value[i] != key[i] and (kept.size == 0 or kept[source[i]] != 0):
            counts[key[i] // bucket] += 1


@kernel
def _scatter(value: Array, key: Array, source: Array, kept: Array, bucket: int, place: Array, pairs: Array) -> None:
    for i in range(key.size):
        if value[i] != key[i] and (kept.size == 0 or kept[source[i]] != 0):
            k = place[key[i] // bucket]
            place[key[i] // bucket] = k + 1
            pairs[k, 0] = value[i]
            pairs[k, 1] = key[i]


class Buckets(NamedTuple):
    """How pages are cut into buckets, and the type of a page number."""

    pages: int  # of a bucket
    total: int
    number: Any


def by_bucket(value: Array, key: Array, source: Array, kept: Array, buckets: Buckets) -> tuple[Array, Array]:
    """Links as pairs (value, key), sorted by the bucket of the key; and where each bucket begins.

    Left out are links of a page to itself and, where ``kept`` is not empty, those whose source it does not mark.

    >>> source, target, nothing = np.array([5, 0, 2]), np.array([1, 9, 2]), np.empty(0, np.uint8)
    >>> begins, pairs = by_bucket(source, target, source, nothing, Buckets(pages=4, total=3, number=np.int32))
    >>> begins.tolist(), pairs.tolist()
    ([0, 1, 1, 2], [[5, 1], [0, 9]])
    """
    counts = np.zeros(buckets.total, np.int64)
    compiled(_counts)(value, key, source, kept, buckets.pages, counts)
    begins = np.concatenate([[0], np.cumsum(counts)])
    pairs = np.empty((int(begins[-1]), 2), buckets.number)
    compiled(_scatter)(value, key, source, kept, buckets.pages, begins[:-1].copy(), pairs)
    return begins, pairs


# --- rows of a block ---


@kernel
def _rows(pairs: Array, first: int, low: int, high: int, start: Array, row: Array) -> int:
    for i in range(pairs.shape[0]):
        if low <= pairs[i, 0] < high:
            start[pairs[i, 1] - first + 1] += 1
    for r in range(start.size - 1):
        start[r + 1] += start[r]
    place = start[:-1].copy()
    for i in range(pairs.shape[0]):
        if low <= pairs[i, 0] < high:
            r = pairs[i, 1] - first
            row[place[r]] = pairs[i, 0] - low
            place[r] += 1
    k = 0
    begin = 0
    for r in range(start.size - 1):
        end = start[r + 1]
        row[begin:end].sort()
        start[r] = k
        for j in range(begin, end):
            if j == begin or row[j] != row[j - 1]:
                value = row[j]
                row[k] = value
                k += 1
        begin = end
    start[start.size - 1] = k
    return k


def rows_of(pairs: Array, first: int, count: int, low: int, high: int) -> tuple[Array, Array]:
    """Pairs (value, key) in any order, repeated or not, as rows of pages ``first`` and so many after it: start (int64) and row
    (int32). Of the values those from ``low`` to ``high`` alone, as offsets from ``low``.

    >>> start, row = rows_of(np.array([[7, 1], [3, 0], [7, 1], [2, 1]]), 0, 2, 3, 10)
    >>> start.tolist(), row.tolist()
    ([0, 1, 2], [0, 4])
    """
    start, row = np.zeros(count + 1, np.int64), np.empty(len(pairs), np.int32)
    links = compiled(_rows)(pairs, first, low, high, start, row)
    return start, row[:links]


@kernel
def _add_up(row: Array, counts: Array) -> None:
    for j in range(row.size):
        counts[row[j]] += 1


def times_in(row: Array, size: int) -> tuple[Array, Array]:
    """The numbers that occur in a row of offsets below ``size``, going up, and how often (int32).

    >>> at, times = times_in(np.array([4, 1, 4], np.int32), 5)
    >>> at.tolist(), times.tolist()
    ([1, 4], [1, 2])
    """
    if size > 4 * len(row):  # a counter for each would be the larger part
        at, times = np.unique(row, return_counts=True)
        return at, times.astype(np.int32)
    counts = np.zeros(size, np.int32)
    compiled(_add_up)(row, counts)
    at = np.flatnonzero(counts).astype(row.dtype)
    return at, counts[at]
