"""A heap with a shelf: pages at or above a moving bar stand in a heap, all others wait on the shelf.

The order is that of ``heap``: largest key first, among equals the first discovered. But most pages of a large frontier wait
long, and most changes of a key leave a page far from the top. On the shelf such a change is one write, wherever the key lies:

    put    key below the bar: write it into the page's record. At or above: enter the heap, or move in it
    pop    the top of the heap; when that is empty, the bar is lowered, and who stands at or above it enters
    full   the bar is raised: the better half stays in the heap, the others go to the shelf

A page is at or above the bar if it would go before the page that the bar was taken from, by key and by discovery: so the
heap's size is bounded however many keys are equal. The heap's slots hold the keys themselves, four children to a cache line,
and most of it stays in the processor's cache.

Cost: O(1) for a key below the bar, else O(log room). Lowering the bar reads all records once. It happens at most once
for about room/2 pages that leave, and room is a share of the pages, so all of them together cost O(pages) reads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.frontiers.heap import ABSENT, GONE, NODE, discovered
from frontrank.kernels.jit import Array, Column, lean
from frontrank.kernels.prefetch import prefetch
from frontrank.web.links import Links

SLOT = np.dtype([("key", "f8"), ("seq", "i4"), ("page", "i4")])
SHELVED = -3  # waits on the shelf
LEAST_ROOM = 2**14  # slots of the heap at least,
ROOM_SHARE = 12  # and one for so many pages
LINE = 64  # bytes of a cache line
AHEAD = 16  # pages whose records are asked for before they are put
SAMPLE = 2**14  # records looked at to find where the bar goes
WAITING, DISCOVERED, IN_HEAP = range(3)  # of counts
LOWEST_BAR = {"key": -np.inf, "seq": 2**31 - 1}  # which every page reaches

__all__ = ["discovered", "grown", "look_ahead", "new", "peek", "pop", "put", "put_all", "remove", "waiting"]


class Shelf(NamedTuple):
    slot: Array  # the heap, keys inline
    node: Array  # one record for each page; pos is its place in the heap, if it stands there
    bar: Array  # one slot: the key and the discovery number that a page has to reach
    counts: Array  # [waiting, discovered, in the heap]


def new(pages: int, room: int = 0) -> Shelf:
    """For so many pages, with a heap of so many slots, at least 2."""
    node = np.zeros(pages, NODE)
    node["pos"] = ABSENT
    bar = Column(SLOT, LOWEST_BAR, per="crawl").new(1)
    return Shelf(_slots(room or max(LEAST_ROOM, pages // ROOM_SHARE)), node, bar, np.zeros(3, np.int64))


def _slots(room: int) -> Array:
    """Slots of which 1 to 4, the children of the first, fill a cache line, and so do all further children of one."""
    raw = np.empty(room * SLOT.itemsize + 2 * LINE, np.uint8)
    skip = (-raw.ctypes.data - SLOT.itemsize) % LINE
    return raw[skip : skip + room * SLOT.itemsize].view(SLOT)


def grown(queue: Shelf, pages: int) -> Shelf:
    if pages <= queue.node.size:
        return queue
    bigger = np.zeros(max(pages, 2 * queue.node.size), queue.node.dtype)
    bigger["pos"] = ABSENT
    bigger[: queue.node.size] = queue.node
    return queue._replace(node=bigger)


def waiting(queue: Shelf) -> int:
    return int(queue.counts[WAITING])


@lean
def _up(slot: Array, node: Array, i: int, key: float, seq: int, page: int) -> None:
    """Put a page in at place i, or above it."""
    while i > 0:
        parent = (i - 1) >> 2
        above = slot[parent]["key"]
        if above > key or (above == key and slot[parent]["seq"] < seq):
            break
        y = slot[parent]["page"]
        slot[i]["key"] = above
        slot[i]["seq"] = slot[parent]["seq"]
        slot[i]["page"] = y
        node[y]["pos"] = i
        i = parent
    slot[i]["key"] = key
    slot[i]["seq"] = seq
    slot[i]["page"] = page
    node[page]["pos"] = i


@lean
def _down(slot: Array, node: Array, size: int, i: int, key: float, seq: int, page: int) -> None:
    """Put a page in at place i, or below it."""
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        best = child
        best_key = slot[child]["key"]
        best_seq = slot[child]["seq"]
        for k in range(child + 1, min(child + 4, size)):
            other = slot[k]["key"]
            if other > best_key or (other == best_key and slot[k]["seq"] < best_seq):
                best = k
                best_key = other
                best_seq = slot[k]["seq"]
        if best_key < key or (best_key == key and best_seq > seq):
            break
        y = slot[best]["page"]
        slot[i]["key"] = best_key
        slot[i]["seq"] = best_seq
        slot[i]["page"] = y
        node[y]["pos"] = i
        i = best
    slot[i]["key"] = key
    slot[i]["seq"] = seq
    slot[i]["page"] = page
    node[page]["pos"] = i


@lean
def _take_out(queue: Shelf, at: int) -> None:
    """Close the gap at a place of the heap."""
    slot, node, counts = queue.slot, queue.node, queue.counts
    counts[IN_HEAP] -= 1
    size = counts[IN_HEAP]
    if at < size:
        key, seq, page = slot[size]["key"], slot[size]["seq"], slot[size]["page"]
        _down(slot, node, size, at, key, seq, page)
        at = node[page]["pos"]
        _up(slot, node, at, key, seq, page)


@lean
def _goes_before(slot: Array, i: int, key: float, seq: int) -> bool:
    return bool(slot[i]["key"] > key or (slot[i]["key"] == key and slot[i]["seq"] < seq))


@lean
def _goes_after(slot: Array, i: int, key: float, seq: int) -> bool:
    return bool(slot[i]["key"] < key or (slot[i]["key"] == key and slot[i]["seq"] > seq))


@lean
def _select(slot: Array, size: int, place: int) -> None:
    """Bring the slot to this place that would stand there if all were sorted, the better ones before it (Hoare)."""
    low = 0
    high = size - 1
    while low < high:
        key, seq = slot[(low + high) >> 1]["key"], slot[(low + high) >> 1]["seq"]
        i = low
        j = high
        while i <= j:
            while _goes_before(slot, i, key, seq):
                i += 1
            while _goes_after(slot, j, key, seq):
                j -= 1
            if i <= j:
                other_key, other_seq, other_page = slot[i]["key"], slot[i]["seq"], slot[i]["page"]
                slot[i]["key"], slot[i]["seq"], slot[i]["page"] = slot[j]["key"], slot[j]["seq"], slot[j]["page"]
                slot[j]["key"], slot[j]["seq"], slot[j]["page"] = other_key, other_seq, other_page
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@lean
def _raise_bar(slot: Array, node: Array, bar: Array, counts: Array) -> None:
    """Keep the better half of the slots, shelve the others. Slots are no heap afterwards."""
    size = counts[IN_HEAP]
    kept = size // 2
    _select(slot, size, kept - 1)
    bar[0]["key"] = slot[kept - 1]["key"]
    bar[0]["seq"] = slot[kept - 1]["seq"]
    for i in range(kept, size):
        node[slot[i]["page"]]["pos"] = SHELVED
    counts[IN_HEAP] = kept


@lean
def _order(slot: Array, node: Array, size: int) -> None:
    """Make a heap of slots in any order."""
    for i in range(size):
        node[slot[i]["page"]]["pos"] = i
    for i in range((size - 2) >> 2, -1, -1):
        _down(slot, node, size, i, slot[i]["key"], slot[i]["seq"], slot[i]["page"])


@lean
def _lower_bar(slot: Array, node: Array, bar: Array, counts: Array) -> None:
    """Fill half of the empty heap from the shelf, about: the bar is set by a sample of who waits there."""
    pages = node.size
    want = slot.size // 2
    bar[0]["key"] = -np.inf
    bar[0]["seq"] = 2**31 - 1
    if counts[WAITING] > want:
        found = 0  # the slots are free: they hold the sample
        step = max(1, pages // min(SAMPLE, slot.size))
        for page in range(counts[DISCOVERED] % step, pages, step):
            if node[page]["pos"] == SHELVED and found < slot.size:
                slot[found]["key"] = node[page]["key"]
                slot[found]["seq"] = node[page]["seq"]
                found += 1
        place = int(found * (want / counts[WAITING]))
        if place < found:
            _select(slot, found, place)
            bar[0]["key"] = slot[place]["key"]
            bar[0]["seq"] = slot[place]["seq"]
    least = bar[0]["key"]
    for page in range(pages):
        key = node[page]["key"]
        if (node[page]["pos"] == SHELVED) & (key >= least):  # one condition, hardly ever true: guessed right by the processor
            seq = node[page]["seq"]
            if counts[IN_HEAP] == slot.size:
                _raise_bar(slot, node, bar, counts)
                least = bar[0]["key"]
            if key > least or (key == least and seq <= bar[0]["seq"]):
                size = counts[IN_HEAP]
                slot[size]["key"] = key
                slot[size]["seq"] = seq
                slot[size]["page"] = page
                counts[IN_HEAP] = size + 1
    _order(slot, node, counts[IN_HEAP])


@lean
def _enter(queue: Shelf, page: int, key: float, seq: int) -> None:
    """A page of the shelf has reached the bar."""
    slot, node, bar, counts = queue
    if counts[IN_HEAP] == slot.size:
        _raise_bar(slot, node, bar, counts)
        _order(slot, node, counts[IN_HEAP])
        if not (key > bar[0]["key"] or (key == bar[0]["key"] and seq <= bar[0]["seq"])):
            return
    size = counts[IN_HEAP]
    counts[IN_HEAP] = size + 1
    _up(slot, node, size, key, seq, page)


@lean
def _move(queue: Shelf, page: int, at: int, old: float, key: float) -> None:
    """A page in the heap has another key."""
    slot, node, bar, counts = queue
    seq = node[page]["seq"]
    if key > old:
        _up(slot, node, at, key, seq, page)
    elif key > bar[0]["key"] or (key == bar[0]["key"] and seq <= bar[0]["seq"]):
        _down(slot, node, counts[IN_HEAP], at, key, seq, page)
    else:
        _take_out(queue, at)
        node[page]["pos"] = SHELVED


@lean
def put(queue: Shelf, page: int, key: float) -> None:
    node = queue.node
    at = node[page]["pos"]
    if at == GONE:
        return
    old = node[page]["key"]
    node[page]["key"] = key
    if at >= 0:
        if key != old:
            _move(queue, page, at, old, key)
        return
    if at == ABSENT:
        node[page]["seq"] = queue.counts[DISCOVERED]
        node[page]["pos"] = SHELVED
        queue.counts[WAITING] += 1
        queue.counts[DISCOVERED] += 1
    seq = node[page]["seq"]
    least = queue.bar[0]["key"]
    if key > least or (key == least and seq <= queue.bar[0]["seq"]):
        _enter(queue, page, key, seq)


@lean
def put_all(queue: Shelf, pages: Array, keys: Array) -> None:
    for j in range(min(AHEAD, pages.size)):
        prefetch(queue.node, pages[j])
    for j in range(pages.size):
        if j + AHEAD < pages.size:
            prefetch(queue.node, pages[j + AHEAD])
        put(queue, pages[j], keys[j])


@lean
def look_ahead(queue: Shelf, links: Links) -> None:
    """The pages at the top are the next to go: their links will be read soon."""
    slot, start = queue.slot, links.start
    size = min(5, queue.counts[IN_HEAP])
    for i in range(1, size):
        prefetch(start, slot[i]["page"])
    if size > 0:
        first = start[slot[0]["page"]]
        prefetch(links.target, first)
        prefetch(links.target, first + 16)


@lean
def peek(queue: Shelf) -> int:
    if queue.counts[WAITING] == 0:
        return -1
    if queue.counts[IN_HEAP] == 0:
        _lower_bar(queue.slot, queue.node, queue.bar, queue.counts)
    page: int = queue.slot[0]["page"]
    return page


@lean
def remove(queue: Shelf, page: int) -> None:
    node, counts = queue.node, queue.counts
    at = node[page]["pos"]
    if at == ABSENT:
        node[page]["seq"] = counts[DISCOVERED]
        counts[DISCOVERED] += 1
    elif at != GONE:
        counts[WAITING] -= 1
        if at >= 0:
            _take_out(queue, at)
    node[page]["pos"] = GONE


@lean
def pop(queue: Shelf) -> int:
    slot, node, bar, counts = queue
    if counts[WAITING] == 0:
        return -1
    if counts[IN_HEAP] == 0:
        _lower_bar(slot, node, bar, counts)
    page: int = slot[0]["page"]
    counts[WAITING] -= 1
    counts[IN_HEAP] -= 1
    size = counts[IN_HEAP]
    if size > 0:
        _down(slot, node, size, 0, slot[size]["key"], slot[size]["seq"], slot[size]["page"])
    node[page]["pos"] = GONE
    return page
