"""A heap of pages with changeable keys: largest key first, among equals the first discovered.

4-ary, indexed. All data of a waiting page is in one 16-byte record (key, discovery number, place in the
heap), so a comparison touches one cache line: measured three times faster than separate arrays. O(log n) for each call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.growing import GROWTH
from frontrank.kernels.jit import Array, lean

NODE = np.dtype([("key", "f8"), ("seq", "i4"), ("pos", "i4")])
ABSENT = -1  # never seen
GONE = -2  # has been here and left


class Heap(NamedTuple):
    items: Array  # pages, heap-ordered
    node: Array  # one record for each page
    counts: Array  # [waiting, discovered]


def new(pages: int) -> Heap:
    node = np.zeros(pages, NODE)
    node["pos"] = ABSENT
    return Heap(np.zeros(pages, np.int32), node, np.zeros(2, np.int64))


def grown(queue: Heap, pages: int) -> Heap:
    if pages <= queue.items.size:
        return queue
    bigger = new(max(pages, GROWTH * queue.items.size))
    bigger.items[: queue.items.size] = queue.items
    bigger.node[: queue.node.size] = queue.node
    return Heap(bigger.items, bigger.node, queue.counts)


def waiting(queue: Heap) -> int:
    return int(queue.counts[0])


def discovered(queue: Heap) -> Array:
    """All pages ever seen, in the order of their discovery."""
    seen = np.flatnonzero(queue.node["pos"] != ABSENT)
    pages = np.empty(seen.size, np.int32)
    pages[queue.node["seq"][seen]] = seen
    return pages


@lean
def _up(items: Array, node: Array, i: int) -> None:
    x = items[i]
    key = node[x]["key"]
    seq = node[x]["seq"]
    while i > 0:
        parent = (i - 1) >> 2
        y = items[parent]
        above = node[y]["key"]
        if above > key or (above == key and node[y]["seq"] < seq):
            break
        items[i] = y
        node[y]["pos"] = i
        i = parent
    items[i] = x
    node[x]["pos"] = i


@lean
def _down(items: Array, node: Array, size: int, i: int) -> None:
    x = items[i]
    key = node[x]["key"]
    seq = node[x]["seq"]
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        best = child
        best_key = node[items[child]]["key"]
        for k in range(child + 1, min(child + 4, size)):
            other = node[items[k]]["key"]
            if other > best_key or (other == best_key and node[items[k]]["seq"] < node[items[best]]["seq"]):
                best = k
                best_key = other
        y = items[best]
        if best_key < key or (best_key == key and node[y]["seq"] > seq):
            break
        items[i] = y
        node[y]["pos"] = i
        i = best
    items[i] = x
    node[x]["pos"] = i


@lean
def put(queue: Heap, page: int, key: float) -> None:
    items, node, counts = queue
    at = node[page]["pos"]
    if at == GONE:
        return
    if at == ABSENT:
        at = counts[0]
        items[at] = page
        node[page]["key"] = key
        node[page]["seq"] = counts[1]
        counts[0] += 1
        counts[1] += 1
        _up(items, node, at)
        return
    old = node[page]["key"]
    node[page]["key"] = key
    if key > old:
        _up(items, node, at)
    elif key < old:
        _down(items, node, counts[0], at)


@lean
def put_all(queue: Heap, pages: Array, keys: Array) -> None:
    for j in range(pages.size):
        put(queue, pages[j], keys[j])


@lean
def peek(queue: Heap) -> int:
    if queue.counts[0] == 0:
        return -1
    page: int = queue.items[0]
    return page


@lean
def remove(queue: Heap, page: int) -> None:
    items, node, counts = queue
    at = node[page]["pos"]
    if at >= 0:
        counts[0] -= 1
        size = counts[0]
        if at < size:
            items[at] = items[size]
            node[items[at]]["pos"] = at
            _up(items, node, at)
            _down(items, node, size, node[items[at]]["pos"])
    elif at == ABSENT:
        node[page]["seq"] = counts[1]
        counts[1] += 1
    node[page]["pos"] = GONE


@lean
def pop(queue: Heap) -> int:
    items, node, counts = queue
    if counts[0] == 0:
        return -1
    page: int = items[0]
    counts[0] -= 1
    size = counts[0]
    if size > 0:
        items[0] = items[size]
        node[items[0]]["pos"] = 0
        _down(items, node, size, 0)
    node[page]["pos"] = GONE
    return page


# The same heap for items that come and go as they like, such as hosts and due times


@lean
def enter(items: Array, node: Array, size: int, item: int, key: float, seq: int) -> int:
    """This item has this key, whether it was in the heap or not. Returns the heap's size."""
    if node[item]["pos"] < 0:
        node[item]["key"] = key
        node[item]["seq"] = seq
        items[size] = item
        _up(items, node, size)
        return size + 1
    if node[item]["key"] != key or node[item]["seq"] != seq:
        node[item]["key"] = key
        node[item]["seq"] = seq
        _up(items, node, int(node[item]["pos"]))
        _down(items, node, size, int(node[item]["pos"]))
    return size


@lean
def leave(items: Array, node: Array, size: int, item: int) -> int:
    """This item is not in the heap, whether it was or not. Returns the heap's size."""
    at = int(node[item]["pos"])
    if at < 0:
        return size
    size -= 1
    if at < size:
        items[at] = items[size]
        _up(items, node, at)
        _down(items, node, size, at)
    node[item]["pos"] = -1
    return size
