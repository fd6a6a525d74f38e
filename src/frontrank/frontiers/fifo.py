"""First discovered, first fetched: a queue that ignores keys. O(1) for each call.

A page takes two bits: those of 30 million pages fit into the processor's cache, where a byte each would not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.growing import GROWTH
from frontrank.kernels.jit import Array, lean
from frontrank.kernels.prefetch import prefetch

FAR, NEAR = 16, 8  # places ahead whose rows are asked for, and whose links
LINE = 16  # links of a cache line
SOON = 64  # links of a page that are asked for at most


class Fifo(NamedTuple):
    items: Array  # pages in the order of their discovery; each enters once
    known: Array  # a bit for each page that was ever here
    gone: Array  # and one for each that has left
    counts: Array  # [waiting, discovered, next to go]


def new(pages: int) -> Fifo:
    bits = pages // 8 + 1
    return Fifo(np.zeros(pages, np.int32), np.zeros(bits, np.uint8), np.zeros(bits, np.uint8), np.zeros(3, np.int64))


def grown(queue: Fifo, pages: int) -> Fifo:
    if pages <= queue.items.size:
        return queue
    bigger = new(max(pages, GROWTH * queue.items.size))
    for old, longer in zip(queue[:3], bigger[:3], strict=True):
        longer[: old.size] = old
    return bigger._replace(counts=queue.counts)


def waiting(queue: Fifo) -> int:
    return int(queue.counts[0])


@lean
def has(bits: Array, page: int) -> bool:
    return bool(bits[page >> 3] & (1 << (page & 7)))


@lean
def add(bits: Array, page: int) -> None:
    bits[page >> 3] |= 1 << (page & 7)


@lean
def put(queue: Fifo, page: int, key: float) -> None:
    if not has(queue.known, page):
        add(queue.known, page)
        queue.items[queue.counts[1]] = page
        queue.counts[0] += 1
        queue.counts[1] += 1


@lean
def put_all(queue: Fifo, pages: Array, keys: Array) -> None:
    for j in range(pages.size):
        put(queue, pages[j], keys[j])


@lean
def look_ahead(queue: Fifo, links: Any, fetched: Array, touched: Array) -> None:
    """Nothing is asked for: where there are only links to follow, sweep does it."""


@lean
def sweep(state: Any, queue: Fifo, links: Any, touched: Array, order: Array, begin: int, end: int, out: Any) -> int:
    """Breadth-first search, from place begin to place end of the order: pop and put in one loop, called as a driver is.

    Links of successive pages lie far apart. But the next pages are known, so their rows and links are prefetched.
    """
    items, known, gone, counts = queue.items, queue.known, queue.gone, queue.counts
    start, stop, target = links.start, links.stop, links.target
    head, tail = counts[2], counts[1]
    k = begin
    while k < end and head < tail:
        if head + FAR < tail:
            prefetch(start, items[head + FAR])
        if head + NEAR < tail:
            near = items[head + NEAR]
            for j in range(start[near], min(stop[near], start[near] + SOON), LINE):
                prefetch(target, j)
        page = items[head]
        head += 1
        if not has(gone, page):
            add(gone, page)
            state.fetched[page] = 1
            order[k] = page
            k += 1
            for j in range(start[page], stop[page]):
                q = target[j]
                if not has(known, q):
                    add(known, q)
                    items[tail] = q
                    tail += 1
    counts[0] += (tail - counts[1]) - (k - begin)
    counts[1], counts[2] = tail, head
    return k


@lean
def remove(queue: Fifo, page: int) -> None:
    put(queue, page, 0.0)
    if not has(queue.gone, page):
        queue.counts[0] -= 1
        add(queue.gone, page)


@lean
def pop(queue: Fifo) -> int:
    while queue.counts[2] < queue.counts[1]:
        page: int = queue.items[queue.counts[2]]
        queue.counts[2] += 1
        if not has(queue.gone, page):
            add(queue.gone, page)
            queue.counts[0] -= 1
            return page
    return -1
