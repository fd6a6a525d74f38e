"""First discovered, first fetched: a queue that ignores keys. O(1) for each call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.growing import GROWTH
from frontrank.kernels.jit import Array, lean

ABSENT, WAITS, GONE = 0, 1, 2
AHEAD = 8  # pages whose links are looked at together


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


@lean
def put(queue: Fifo, page: int, key: float) -> None:
    if queue.mark[page] == ABSENT:
        queue.mark[page] = WAITS
        queue.items[queue.counts[1]] = page
        queue.counts[0] += 1
        queue.counts[1] += 1


@lean
def put_all(queue: Fifo, pages: Array, keys: Array) -> None:
    for j in range(pages.size):
        put(queue, pages[j], keys[j])


@lean
def look_ahead(queue: Fifo, links: Any) -> None:
    """Nothing is asked for: where there are only links to follow, sweep does it."""


@lean
def sweep(state: Any, queue: Fifo, links: Any, order: Array, begin: int, end: int, out: Any) -> int:
    """Breadth-first search, from place begin to place end of the order: pop and put in one loop.

    Most of its time is waiting for memory, as the links of successive pages lie far apart. So a few pages ahead are looked
    at together before the first of them is needed: measured a sixth faster.
    """
    items, mark, counts = queue.items, queue.mark, queue.counts
    head, tail = counts[2], counts[1]
    k = begin
    touched = 0
    while k < end and head < tail:
        last = min(tail, head + AHEAD)
        for i in range(head, last):
            first = links.start[items[i]]
            if first < links.stop[items[i]]:
                touched ^= links.target[first]
        while head < last and k < end:
            page = items[head]
            head += 1
            if mark[page] == WAITS:
                mark[page] = GONE
                state.fetched[page] = 1
                order[k] = page
                k += 1
                for j in range(links.start[page], links.stop[page]):
                    q = links.target[j]
                    if mark[q] == ABSENT:
                        mark[q] = WAITS
                        items[tail] = q
                        tail += 1
    counts[0] += (tail - counts[1]) - (k - begin)
    counts[1], counts[2] = tail, head
    out.page[0] = touched  # or the looking ahead would be optimised away
    return k


@lean
def remove(queue: Fifo, page: int) -> None:
    if queue.mark[page] == ABSENT:
        put(queue, page, 0.0)
    if queue.mark[page] == WAITS:
        queue.counts[0] -= 1
    queue.mark[page] = GONE


@lean
def pop(queue: Fifo) -> int:
    while queue.counts[2] < queue.counts[1]:
        page: int = queue.items[queue.counts[2]]
        queue.counts[2] += 1
        if queue.mark[page] == WAITS:
            queue.mark[page] = GONE
            queue.counts[0] -= 1
            return page
    return -1
