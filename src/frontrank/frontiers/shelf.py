"""A queue with a shelf: pages at or above a moving bar are kept in order, all others wait on the shelf.

The order is that of ``heap``: largest key first, among equals the first discovered. But most pages of a large frontier wait
long, and most changes of a key leave a page far from the top. On the shelf such a change is one write, wherever the key lies:

    put    key below the bar: write it into the page's record. At or above: enter the heap, or move in it
    pop    the first of the line or the top of the heap; when both are empty, the bar is lowered: who stands at or above it
           is sorted, and that is the new line
    full   the bar is raised: the better half stays in the heap, the others go to the shelf, and so does the end of the line

Most pages wait their turn in the line, where it costs nothing, and who comes next is known long before: what a page will touch
is asked for ahead. Only those that reached the bar since it was lowered stand in the heap. A page of the line whose key changes
leaves it; its slot is passed over.

A page is at or above the bar if it would go before the page that the bar was taken from, by key and by discovery: so heap and
line are bounded however many keys are equal. Slots hold the keys themselves, four children of the heap to a cache line.

Cost: O(1) for a key below the bar, O(log room) in the heap, and to sort. Lowering the bar reads all records once. It happens
at most once for about room/2 pages that leave, and room is a share of the pages, so all of them together cost O(pages) reads.
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
IN_LINE = -4  # waits in the line
MIN_ROOM = 2**14  # slots at least,
ROOM_SHARE = 8  # and one for so many pages
HEAP_SHARE = 4  # the heap has one of so many
LINE = 64  # bytes of a cache line
AHEAD = 16  # pages whose records are asked for before they are put
SAMPLE = 2**14  # records looked at to find where the bar goes
SHORT = 16  # slots that are sorted by insertion
FAR, NEAR, SOON = 16, 8, 2  # places ahead in the line whose rows are asked for, whose links, and what those touch
MAX_AHEAD = 64  # links of a page that are looked at ahead
CACHED = 2**22  # pages of which a byte each stays in the cache
WAITING, DISCOVERED, IN_HEAP, NEXT, END = range(5)  # of counts
COUNTS = 5
LOWEST_BAR = {"key": -np.inf, "seq": 2**31 - 1}  # which every page reaches

__all__ = ["discovered", "grown", "look_ahead", "new", "peek", "pop", "put", "put_all", "remove", "waiting"]


class Shelf(NamedTuple):
    slot: Array  # keys inline: first the heap, then the line
    node: Array  # one record for each page; pos is its place in the heap, if it stands there
    bar: Array  # one slot: the key and the discovery number that a page has to reach
    counts: Array  # [waiting, discovered, in the heap, first slot of the line, end of the line]


def new(pages: int, room: int = 0) -> Shelf:
    """For so many pages, with so many slots, at least 8."""
    node = np.zeros(pages, NODE)
    node["pos"] = ABSENT
    bar = Column(SLOT, LOWEST_BAR, per="crawl").new(1)
    return Shelf(_slots(room or max(MIN_ROOM, pages // ROOM_SHARE)), node, bar, np.zeros(COUNTS, np.int64))


def _slots(many: int) -> Array:
    """Slots of which 1 to 4, the children of the first, fill a cache line, and so do all further children of one."""
    raw = np.empty(many * SLOT.itemsize + 2 * LINE, np.uint8)
    skip = (-raw.ctypes.data - SLOT.itemsize) % LINE
    return raw[skip : skip + many * SLOT.itemsize].view(SLOT)


def grown(queue: Shelf, pages: int) -> Shelf:
    if pages <= queue.node.size:
        return queue
    bigger = np.zeros(max(pages, 2 * queue.node.size), queue.node.dtype)
    bigger["pos"] = ABSENT
    bigger[: queue.node.size] = queue.node
    return queue._replace(node=bigger)


def waiting(queue: Shelf) -> int:
    return int(queue.counts[WAITING])


# Slots: their order, sorting --------------------------------------------------------------------------------------------
@lean
def _goes_before(slot: Array, i: int, key: float, seq: int) -> bool:
    return bool(slot[i]["key"] > key or (slot[i]["key"] == key and slot[i]["seq"] < seq))


@lean
def _goes_after(slot: Array, i: int, key: float, seq: int) -> bool:
    return bool(slot[i]["key"] < key or (slot[i]["key"] == key and slot[i]["seq"] > seq))


@lean
def _better(slot: Array, i: int, j: int) -> int:
    """1 if the first of two slots goes before the second, else 0."""
    key, other = slot[i]["key"], slot[j]["key"]
    return int((key > other) | ((key == other) & (slot[i]["seq"] < slot[j]["seq"])))


@lean
def _partition(slot: Array, low: int, high: int) -> tuple[int, int]:
    """Better slots first (Hoare): those up to the second place returned go before all from the first on."""
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
    return i, j


@lean
def _select(slot: Array, low: int, high: int, place: int) -> None:
    """Bring the slot to this place that would stand there if all from low to high were sorted, the better ones before it."""
    while low < high:
        i, j = _partition(slot, low, high)
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@lean
def _sort(slot: Array, low: int, high: int) -> None:
    """Sort slots of the line, from low to high. The heap is empty: its slots hold the ranges that are still to be sorted."""
    ranges = 0
    while True:
        while high - low >= SHORT:
            i, j = _partition(slot, low, high)
            if j - low > high - i:  # the larger part waits: so there are never more than log2 of them
                slot[ranges]["seq"], slot[ranges]["page"] = low, j
                low = i
            else:
                slot[ranges]["seq"], slot[ranges]["page"] = i, high
                high = j
            ranges += 1
        for i in range(low + 1, high + 1):
            key, seq, page = slot[i]["key"], slot[i]["seq"], slot[i]["page"]
            j = i
            while j > low and _goes_after(slot, j - 1, key, seq):
                slot[j]["key"], slot[j]["seq"], slot[j]["page"] = slot[j - 1]["key"], slot[j - 1]["seq"], slot[j - 1]["page"]
                j -= 1
            slot[j]["key"], slot[j]["seq"], slot[j]["page"] = key, seq, page
        if ranges == 0:
            return
        ranges -= 1
        low, high = slot[ranges]["seq"], slot[ranges]["page"]


# The heap ---------------------------------------------------------------------------------------------------------------
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
        if child + 4 <= size:  # hardly ever guessed right by the processor: so nothing is to be guessed
            best = child + _better(slot, child + 1, child)
            other = child + 2 + _better(slot, child + 3, child + 2)
            best += _better(slot, other, best) * (other - best)
        else:
            best = child
            for k in range(child + 1, size):
                best += _better(slot, k, best) * (k - best)
        best_key = slot[best]["key"]
        best_seq = slot[best]["seq"]
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


# The bar ----------------------------------------------------------------------------------------------------------------
@lean
def _reaches(bar: Array, key: float, seq: int) -> bool:
    return bool(key > bar[0]["key"] or (key == bar[0]["key"] and seq <= bar[0]["seq"]))


@lean
def _raise_bar(queue: Shelf) -> None:
    """The heap is full: keep its better half, shelve the others, and who stands behind them in the line."""
    slot, node, bar, counts = queue
    size = counts[IN_HEAP]
    kept = size // 2
    _select(slot, 0, size - 1, kept - 1)
    key, seq = slot[kept - 1]["key"], slot[kept - 1]["seq"]
    bar[0]["key"], bar[0]["seq"] = key, seq
    for i in range(kept, size):
        node[slot[i]["page"]]["pos"] = SHELVED
    counts[IN_HEAP] = kept
    for i in range(kept):
        node[slot[i]["page"]]["pos"] = i
    for i in range((kept - 2) >> 2, -1, -1):
        _down(slot, node, kept, i, slot[i]["key"], slot[i]["seq"], slot[i]["page"])
    end = counts[END]
    while end > counts[NEXT] and _goes_after(slot, end - 1, key, seq):
        end -= 1
        if node[slot[end]["page"]]["pos"] == IN_LINE:
            node[slot[end]["page"]]["pos"] = SHELVED
    counts[END] = end


@lean
def _guess_bar(queue: Shelf, want: int) -> None:
    """Set the bar so that about so many pages of the shelf reach it, by a sample of who waits there."""
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
        _select(slot, 0, found - 1, place)
        bar[0]["key"], bar[0]["seq"] = slot[place]["key"], slot[place]["seq"]


@lean
def _lower_bar(queue: Shelf) -> None:
    """Heap and line are empty: who reaches the new bar is the new line, which is three quarters full, about."""
    slot, node, bar, counts = queue
    begin, end = slot.size // HEAP_SHARE, slot.size
    bar[0]["key"], bar[0]["seq"] = -np.inf, 2**31 - 1
    if counts[WAITING] > end - begin:
        _guess_bar(queue, 3 * (end - begin) // 4)
    least = bar[0]["key"]
    at = begin
    for page in range(node.size):
        key = node[page]["key"]
        if (node[page]["pos"] == SHELVED) & (key >= least):  # one condition, hardly ever true: guessed right by the processor
            if at == end:  # more than the sample promised: the better half stays
                at = begin + (end - begin) // 2
                _select(slot, begin, end - 1, at - 1)
                least = slot[at - 1]["key"]
                bar[0]["key"], bar[0]["seq"] = least, slot[at - 1]["seq"]
                for i in range(at, end):
                    node[slot[i]["page"]]["pos"] = SHELVED
            seq = node[page]["seq"]
            if _reaches(bar, key, seq):
                slot[at]["key"], slot[at]["seq"], slot[at]["page"] = key, seq, page
                node[page]["pos"] = IN_LINE
                at += 1
    _sort(slot, begin, at - 1)
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
    _up(queue.slot, queue.node, size, key, seq, page)


@lean
def _move(queue: Shelf, page: int, at: int, old: float, key: float) -> None:
    """A page in the heap has another key."""
    slot, node, bar, counts = queue
    seq = node[page]["seq"]
    if key > old:
        _up(slot, node, at, key, seq, page)
    elif _reaches(bar, key, seq):
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
    """Who comes next is known, unless somebody gets in before: ask for their links, and for what those touch."""
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
            q = target[j] * (fetched[target[j]] == 0)  # who has left is not touched; a condition would be guessed wrong
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
    """The slot of the next page to go: the first of the line, or 0, the top of the heap. Somebody waits."""
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
    return 0 if counts[IN_HEAP] > 0 and _goes_before(slot, 0, slot[at]["key"], slot[at]["seq"]) else int(at)


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
            _down(slot, node, size, 0, slot[size]["key"], slot[size]["seq"], slot[size]["page"])
    node[page]["pos"] = GONE
    return page
