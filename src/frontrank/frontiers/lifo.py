"""Last discovered, first fetched: a stack that ignores keys. Seeing a page again does not move it. O(1) for each call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernel import GROWTH, Array, kernel

ABSENT, WAITS, GONE = 0, 1, 2


class Lifo(NamedTuple):
    items: Array
    mark: Array
    counts: Array  # [waiting, height of the stack]


def new(pages: int) -> Lifo:
    return Lifo(np.zeros(pages, np.int32), np.zeros(pages, np.uint8), np.zeros(2, np.int64))


def grown(queue: Lifo, pages: int) -> Lifo:
    if pages <= queue.items.size:
        return queue
    bigger = new(max(pages, GROWTH * queue.items.size))
    bigger.items[: queue.items.size] = queue.items
    bigger.mark[: queue.mark.size] = queue.mark
    return Lifo(bigger.items, bigger.mark, queue.counts)


def waiting(queue: Lifo) -> int:
    return int(queue.counts[0])


@kernel
def put(queue: Lifo, page: int, key: float) -> None:
    if queue.mark[page] == ABSENT:
        queue.mark[page] = WAITS
        queue.items[queue.counts[1]] = page
        queue.counts[0] += 1
        queue.counts[1] += 1


@kernel
def put_row(queue: Lifo, pages: Array) -> None:
    """put for all links of a page."""
    for j in range(pages.size):
        put(queue, pages[j], 0.0)


@kernel
def remove(queue: Lifo, page: int) -> None:
    if queue.mark[page] == WAITS:
        queue.counts[0] -= 1
    queue.mark[page] = GONE


@kernel
def pop(queue: Lifo) -> int:
    while queue.counts[1] > 0:
        queue.counts[1] -= 1
        page: int = queue.items[queue.counts[1]]
        if queue.mark[page] == WAITS:
            queue.mark[page] = GONE
            queue.counts[0] -= 1
            return page
    return -1
