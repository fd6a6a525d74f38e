"""Which number a page has: an open-addressing table of 64-bit fingerprints, about 16 bytes a page; no strings in memory.

A key is 8 bytes of BLAKE2b. Two pages of n share a key with probability about n^2 / 2^65: 3e-8 for a million pages,
3e-4 for a hundred million; the second is then taken for the first. Linear probing, at most two thirds full.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import GROWTH, Array, kernel

EMPTY = -1
LEAST = 64  # slots


class Table(NamedTuple):
    slots: Array  # int32: a number or EMPTY; a power of two of them
    keys: Array  # int64, by number
    counts: Array  # [numbers given]


def fingerprint(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


def fingerprints(names: Iterable[str]) -> Array:
    digests = [blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), "<i8")


def signed(key: int) -> int:
    """A 64-bit key, given signed or unsigned, as the table keeps it.

    >>> signed(2**64 - 1), signed(-1), signed(7)
    (-1, -1, 7)
    """
    key &= 2**64 - 1
    return key - 2**64 if key >= 2**63 else key


def new(numbers: int) -> Table:
    slots = LEAST
    while 2 * slots < 3 * numbers:
        slots *= 2
    return Table(np.full(slots, EMPTY, np.int32), np.zeros(max(numbers, 1), np.int64), np.zeros(1, np.int64))


def roomy(table: Table, more: int) -> Table:
    """The table, or a larger one of the same content, with room for so many more numbers."""
    from frontrank.kernels.jit import compiled

    needed = int(table.counts[0]) + more
    if needed > table.keys.size:
        keys = np.zeros(max(needed, GROWTH * table.keys.size), np.int64)
        keys[: table.keys.size] = table.keys
        table = table._replace(keys=keys)
    if 3 * needed > 2 * table.slots.size:
        slots = table.slots.size
        while 2 * slots < 3 * needed:
            slots *= 2
        table = table._replace(slots=np.full(slots, EMPTY, np.int32))
        compiled(_refill)(table)
    return table


@kernel
def find(table: Table, key: int) -> int:
    """The number of a key, or -1."""
    mask = table.slots.size - 1
    at = key & mask
    while True:
        number = table.slots[at]
        if number == EMPTY:
            return -1
        if table.keys[number] == key:
            return int(number)
        at = (at + 1) & mask


@kernel
def number_all(table: Table, keys: Array, numbers: Array) -> int:
    """The numbers of these keys; new keys get the next ones. Returns how many were new. There must be room."""
    mask = table.slots.size - 1
    before = table.counts[0]
    for i in range(keys.size):
        key = keys[i]
        at = key & mask
        while True:
            number = table.slots[at]
            if number == EMPTY:
                number = table.counts[0]
                table.slots[at] = number
                table.keys[number] = key
                table.counts[0] += 1
                numbers[i] = number
                break
            if table.keys[number] == key:
                numbers[i] = number
                break
            at = (at + 1) & mask
    fresh: int = table.counts[0] - before
    return fresh


@kernel
def _refill(table: Table) -> None:
    mask = table.slots.size - 1
    for number in range(table.counts[0]):
        at = table.keys[number] & mask
        while table.slots[at] != EMPTY:
            at = (at + 1) & mask
        table.slots[at] = number
