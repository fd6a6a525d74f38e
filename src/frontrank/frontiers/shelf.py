"""A queue with a shelf: pages at or above a moving bar are kept in order, all others wait on the shelf.

The order is that of ``heap``: largest key first, among equals the first discovered. But most pages of a large frontier wait
long, and most changes of a key leave a page far from the top. On the shelf such a change is one write, whatever the key:

    put    key below the bar: write it into the page's record. At or above: enter the heap, or move in it
    pop    the first of the line or the top of the heap; when both are empty, the bar is lowered: the pages at or above it
           are sorted, and they are the new line
    full   the bar is raised: the better half stays in the heap, the others go to the shelf, and so does the end of the line

Most pages wait in the line, where waiting costs nothing and the next pages are known long ahead, so that the memory they will
touch can be prefetched. Only pages that reached the bar since it was lowered are in the heap. A page of the line whose key
changes leaves it; its slot is skipped.

A page is at or above the bar if it would go before the page that the bar was taken from, by key and by discovery, so heap and
line are bounded however many keys are equal. Slots contain the keys themselves, four children of the heap to a cache line.

Cost: O(1) for a key below the bar, O(log room) in the heap, and to sort. Lowering the bar reads all records once. It happens at
most once for about room/2 pages that leave, and room is a share of the pages, so all of them together cost O(pages) reads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.frontiers.heap import ABSENT, GONE, NODE, discovered
from frontrank.frontiers.slots import SLOT, down, goes_after, goes_before, new_slots, select, sort, up
from frontrank.kernels.jit import Array, Column, lean
from frontrank.kernels.prefetch import prefetch
from frontrank.web.links import Links

SHELVED = -3  # waits on the shelf
IN_LINE = -4  # waits in the line
MIN_ROOM = 2**14  # slots at lowest,
ROOM_SHARE = 8  # and one for so many pages
HEAP_SHARE = 4  # the heap has one of so many
AHEAD = 16  # pages whose records are asked for before they are put
SAMPLE = 2**14  # records looked at to find where the bar goes
FAR, NEAR, SOON = 16, 8, 2  # places ahead in the line whose rows are asked for, whose links, and what those touch
MAX_AHEAD = 64  # links of a page that are looked at ahead
CACHED = 2**22  # pages of which a byte each stays in the cache
WAITING, DISCOVERED, IN_HEAP, NEXT, END = range(5)  # of counts
COUNTS = 5
LOWEST_BAR = {"key": -np.inf, "seq": 2**31 - 1}  # which every page reaches

__all__ = ["discovered", "grown", "look_ahead", "new", "peek", "pop", "put", "put_all", "remove", "waiting"]


class Shelf(NamedTuple):
    slot: Array  # keys inline: first the heap, then the line
    node: Array  # one record for each page; pos is its place in the heap, if it is there
    bar: Array  # one slot: the key and the discovery number that a page has to reach
    counts: Array  # [waiting, discovered, in the heap, first slot of the line, end of the line]


def new(pages: int, room: int = 0) -> Shelf:
    """For so many pages, with so many slots, at least 8."""
    node = np.zeros(pages, NODE)
    node["pos"] = ABSENT
    bar = Column(SLOT, LOWEST_BAR, per="crawl").new(1)
    return Shelf(new_slots(room or max(MIN_ROOM, pages // ROOM_SHARE)), node, bar, np.zeros(COUNTS, np.int64))


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
def _take_out(queue: Shelf, at: int) -> None:
    """Close the gap at a place of the heap."""
    slot, node, counts = queue.slot, queue.node, queue.counts
    counts[IN_HEAP] -= 1
    size = counts[IN_HEAP]
    if at < size:
        key, seq, page = slot[size]["key"], slot[size]["seq"], slot[size]["page"]
        down(slot, node, size, at, key, seq, page)
        at = node[page]["pos"]
        up(slot, node, at, key, seq, page)


# The bar ----------------------------------------------------------------------------------------------------------------
@lean
def _reaches(bar: Array, key: float, seq: int) -> bool:
    return bool(key > bar[0]["key"] or (key == bar[0]["key"] and seq <= bar[0]["seq"]))


@lean
def _raise_bar(queue: Shelf) -> None:
    """The heap is full: keep its better half, shelve the others and the pages behind them in the line."""
    slot, node, bar, counts = queue
    size = counts[IN_HEAP]
    kept = size // 2
    select(slot, 0, size - 1, kept - 1)
    key, seq = slot[kept - 1]["key"], slot[kept - 1]["seq"]
    bar[0]["key"], bar[0]["seq"] = key, seq
    for i in range(kept, size):
        node[slot[i]["page"]]["pos"] = SHELVED
    counts[IN_HEAP] = kept
    for i in range(kept):
        node[slot[i]["page"]]["pos"] = i
    for i in range((kept - 2) >> 2, -1, -1):
        down(slot, node, kept, i, slot[i]["key"], slot[i]["seq"], slot[i]["page"])
    end = counts[END]
    while end > counts[NEXT] and goes_after(slot, end - 1, key, seq):
        end -= 1
        if node[slot[end]["page"]]["pos"] == IN_LINE:
            node[slot[end]["page"]]["pos"] = SHELVED
    counts[END] = end


@lean
def _guess_bar(queue: Shelf, want: int) -> None:
    """Set the bar so that about so many pages of the shelf reach it, by a sample of the pages there."""
    slot, node, bar, counts = queue
    pages, room = node.size, slot.size // HEAP_SHARE
    found = 0  # the heap is empty: its slots hold the sample
    step = max(1, pages // min(SAMPLE, room))
    for page in range(counts[DISCOVERED] % step, pages, step):
        if node[page]["pos"] == SHELVED and found < room:
            slot[found]["key"] = node[page]["key"]
            slot[found]["seq"] = node[page]["seq"]
            found += 1
    place = int(found * (want / counts[WAITING]))
    if place < found:
        select(slot, 0, found - 1, place)
        bar[0]["key"], bar[0]["seq"] = slot[place]["key"], slot[place]["seq"]


@lean
def _lower_bar(queue: Shelf) -> None:
    """Heap and line are empty: the pages that reach the new bar are the new line, which is about three quarters full."""
    slot, node, bar, counts = queue
    begin, end = slot.size // HEAP_SHARE, slot.size
    bar[0]["key"], bar[0]["seq"] = -np.inf, 2**31 - 1
    if counts[WAITING] > end - begin:
        _guess_bar(queue, 3 * (end - begin) // 4)
    lowest = bar[0]["key"]
    at = begin
    for page in range(node.size):
        key = node[page]["key"]
        if (node[page]["pos"] == SHELVED) & (key >= lowest):  # one condition, hardly ever true: guessed right by the processor
            if at == end:  # more than the sample promised: the better half stays
                at = begin + (end - begin) // 2
                select(slot, begin, end - 1, at - 1)
                lowest = slot[at - 1]["key"]
                bar[0]["key"], bar[0]["seq"] = lowest, slot[at - 1]["seq"]
                for i in range(at, end):
                    node[slot[i]["page"]]["pos"] = SHELVED
            seq = node[page]["seq"]
            if _reaches(bar, key, seq):
                slot[at]["key"], slot[at]["seq"], slot[at]["page"] = key, seq, page
                node[page]["pos"] = IN_LINE
                at += 1
    sort(slot, begin, at - 1)
    counts[NEXT], counts[END] = begin, at


# The queue --------------------------------------------------------------------------------------------------------------
@lean
def _enter(queue: Shelf, page: int, key: float, seq: int) -> None:
    """A page of the shelf has reached the bar."""
    counts = queue.counts
    if counts[IN_HEAP] == queue.slot.size // HEAP_SHARE:
        _raise_bar(queue)
        if not _reaches(queue.bar, key, seq):
            return
    size = counts[IN_HEAP]
    counts[IN_HEAP] = size + 1
    up(queue.slot, queue.node, size, key, seq, page)


@lean
def _move(queue: Shelf, page: int, at: int, old: float, key: float) -> None:
    """A page in the heap has another key."""
    slot, node, bar, counts = queue
    seq = node[page]["seq"]
    if key > old:
        up(slot, node, at, key, seq, page)
    elif _reaches(bar, key, seq):
        down(slot, node, counts[IN_HEAP], at, key, seq, page)
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
        queue.counts[WAITING] += 1
        queue.counts[DISCOVERED] += 1
    elif at == IN_LINE and key == old:
        return
    node[page]["pos"] = SHELVED
    seq = node[page]["seq"]
    if _reaches(queue.bar, key, seq):
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
def look_ahead(queue: Shelf, links: Links, fetched: Array, touched: Array) -> None:
    """The next pages are known, unless another gets in before: prefetch their links, and what those touch."""
    slot, node, start, stop, target = queue.slot, queue.node, links.start, links.stop, links.target
    at, end = queue.counts[NEXT], queue.counts[END]
    if at + FAR < end:
        page = slot[at + FAR]["page"]
        prefetch(start, page)
        prefetch(node, page)
        prefetch(touched, page)
    if at + NEAR < end:
        page = slot[at + NEAR]["page"]
        for j in range(start[page], min(stop[page], start[page] + MAX_AHEAD), 16):
            prefetch(target, j)
    if at + SOON < end:
        page = slot[at + SOON]["page"]
        if fetched.size > CACHED:
            for j in range(start[page], min(stop[page], start[page] + MAX_AHEAD)):
                prefetch(fetched, target[j])
        page = slot[at]["page"]
        for j in range(start[page], min(stop[page], start[page] + MAX_AHEAD)):
            q = target[j] * (
                fetched[target[j]] == 0
            )  # no record of a page that has left is touched; a branch would be mispredicted
            prefetch(touched, q)
            prefetch(node, q)
    size = min(5, queue.counts[IN_HEAP])
    for i in range(1, size):
        prefetch(start, slot[i]["page"])
    if size > 0:
        page = slot[0]["page"]
        prefetch(touched, page)
        first = start[page]
        prefetch(target, first)
        prefetch(target, first + 16)


@lean
def _first(queue: Shelf) -> int:
    """The slot of the next page to go: the first of the line, or 0, the top of the heap. A page must be waiting."""
    slot, node, counts = queue.slot, queue.node, queue.counts
    at, end = counts[NEXT], counts[END]
    while at < end and node[slot[at]["page"]]["pos"] != IN_LINE:
        at += 1
    counts[NEXT] = at
    if at == end:
        if counts[IN_HEAP] > 0:
            return 0
        _lower_bar(queue)
        return int(counts[NEXT])
    return 0 if counts[IN_HEAP] > 0 and goes_before(slot, 0, slot[at]["key"], slot[at]["seq"]) else int(at)


@lean
def peek(queue: Shelf) -> int:
    if queue.counts[WAITING] == 0:
        return -1
    page: int = queue.slot[_first(queue)]["page"]
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
    slot, node, counts = queue.slot, queue.node, queue.counts
    if counts[WAITING] == 0:
        return -1
    at = _first(queue)
    page: int = slot[at]["page"]
    counts[WAITING] -= 1
    if at > 0:
        counts[NEXT] = at + 1
    else:
        counts[IN_HEAP] -= 1
        size = counts[IN_HEAP]
        if size > 0:
            down(slot, node, size, 0, slot[size]["key"], slot[size]["seq"], slot[size]["page"])
    node[page]["pos"] = GONE
    return page
