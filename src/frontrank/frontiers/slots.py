"""Slots (key, order of discovery, page): their order, sorting, and a heap of them whose four children fill a cache line."""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array, lean

SLOT = np.dtype([("key", "f8"), ("seq", "i4"), ("page", "i4")])
LINE = 64  # bytes of a cache line
SHORT = 16  # slots that are sorted by insertion


def new_slots(many: int) -> Array:
    """Slots of which 1 to 4, the children of the first, fill a cache line, and so do all further children of one."""
    raw = np.empty(many * SLOT.itemsize + 2 * LINE, np.uint8)
    skip = (-raw.ctypes.data - SLOT.itemsize) % LINE
    return raw[skip : skip + many * SLOT.itemsize].view(SLOT)


@lean
def goes_before(slot: Array, i: int, key: float, seq: int) -> bool:
    return bool(slot[i]["key"] > key or (slot[i]["key"] == key and slot[i]["seq"] < seq))


@lean
def goes_after(slot: Array, i: int, key: float, seq: int) -> bool:
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
        while goes_before(slot, i, key, seq):
            i += 1
        while goes_after(slot, j, key, seq):
            j -= 1
        if i <= j:
            other_key, other_seq, other_page = slot[i]["key"], slot[i]["seq"], slot[i]["page"]
            slot[i]["key"], slot[i]["seq"], slot[i]["page"] = slot[j]["key"], slot[j]["seq"], slot[j]["page"]
            slot[j]["key"], slot[j]["seq"], slot[j]["page"] = other_key, other_seq, other_page
            i += 1
            j -= 1
    return i, j


@lean
def select(slot: Array, low: int, high: int, place: int) -> None:
    """Put the slot at this place that would be there if all from low to high were sorted, with the better ones before it."""
    while low < high:
        i, j = _partition(slot, low, high)
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@lean
def sort(slot: Array, low: int, high: int) -> None:
    """Sort the slots from low to high. The first slots are free: the ranges that are still to be sorted are stored there."""
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
            while j > low and goes_after(slot, j - 1, key, seq):
                slot[j]["key"], slot[j]["seq"], slot[j]["page"] = slot[j - 1]["key"], slot[j - 1]["seq"], slot[j - 1]["page"]
                j -= 1
            slot[j]["key"], slot[j]["seq"], slot[j]["page"] = key, seq, page
        if ranges == 0:
            return
        ranges -= 1
        low, high = slot[ranges]["seq"], slot[ranges]["page"]


# A heap of slots ------------------------------------------------------------------------------------------------------
@lean
def up(slot: Array, node: Array, i: int, key: float, seq: int, page: int) -> None:
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
def down(slot: Array, node: Array, size: int, i: int, key: float, seq: int, page: int) -> None:
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
