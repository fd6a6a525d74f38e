"""First discovered, first fetched: a queue that ignores keys. O(1) for each call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernel import GROWTH, Array, kernel

ABSENT, WAITS, GONE = 0, 1, 2


class Fifo(NamedTuple):
    items: Array  # pages in the order of their discovery; each enters once
    mark: Array
    counts: Array  # [waiting, discovered, next to go]


def new(pages: int) -> Fifo:
    return Fifo(np.zeros(pages, np.int32), np.zeros(pages, np.uint8), np.zeros(3, np.int64))


def grown(queue: Fifo, pages: int) -> Fifo:
    if pages <= queue.items.size:
        return queue
    bigger = new(max(pages, GROWTH * queue.items.size))
    bigger.items[: queue.items.size] = queue.items
    bigger.mark[: queue.mark.size] = queue.mark
    return Fifo(bigger.items, bigger.mark, queue.counts)


def waiting(queue: Fifo) -> int:
    return int(queue.counts[0])


@kernel
def put(queue: Fifo, page: int, key: float) -> None:
    if queue.mark[page] == ABSENT:
        queue.mark[page] = WAITS
        queue.items[queue.counts[1]] = page
        queue.counts[0] += 1
        queue.counts[1] += 1


@kernel
def put_row(queue: Fifo, pages: Array) -> None:
    """put for all links of a page. The hot loop of breadth-first search, so it keeps the counter in a register."""
    mark, items = queue.mark, queue.items
    first = queue.counts[1]
    last = first
    for j in range(pages.size):
        page = pages[j]
        if mark[page] == ABSENT:
            mark[page] = WAITS
            items[last] = page
            last += 1
    queue.counts[0] += last - first
    queue.counts[1] = last


@kernel
def remove(queue: Fifo, page: int) -> None:
    if queue.mark[page] == ABSENT:
        put(queue, page, 0.0)
    if queue.mark[page] == WAITS:
        queue.counts[0] -= 1
    queue.mark[page] = GONE


@kernel
def pop(queue: Fifo) -> int:
    while queue.counts[2] < queue.counts[1]:
        page: int = queue.items[queue.counts[2]]
        queue.counts[2] += 1
        if queue.mark[page] == WAITS:
            queue.mark[page] = GONE
            queue.counts[0] -= 1
            return page
    return -1
