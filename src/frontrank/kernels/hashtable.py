"""The number of a page: an open-addressing table of 64-bit fingerprints, about 16 bytes per page; no strings in memory.

A key is 8 bytes of BLAKE2b. Two pages of n share a key with probability about n^2 / 2^65: 3e-8 for a million pages, 3e-4 for a
hundred million; then the second is mistaken for the first. Linear probing, at most two thirds full.

The table doubles without a pause: the old slots stay, and each batch of keys moves a few of them (``MOVES`` for each key), long
before the new ones are full. Until then a key that is not among the new slots is looked up among the old ones.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, by_size, lean

EMPTY = 0  # a slot holds a number plus one: fresh memory is zero
MIN_SLOTS = 64  # slots
MOVES = 8  # old slots moved for each new key; 1.5 would do
COUNT, MOVED = 0, 1  # places in counts

_new_digest = blake2b(digest_size=8).copy  # takes two thirds of the time of making one anew
_number = struct.Struct("<q").unpack


class HashTable(NamedTuple):
    slots: Array  # int32: a number plus one, or EMPTY; a power of two of them
    old: Array  # the slots before the last doubling; those below counts[MOVED] are among the new ones too
    keys: Array  # int64, by number
    counts: Array  # [numbers given, old slots moved]


def fingerprint(name: str) -> int:
    if not isinstance(name, str):
        raise InputError(f"a page, host or queue must be named by text, got {name!r}")
    number: int = _number(_digest(name))[0]
    return number


def fingerprints(names: Iterable[str]) -> Array:
    return np.frombuffer(b"".join([_digest(name) for name in names]), "<i8")


def _digest(name: str) -> bytes:
    digest = _new_digest()
    digest.update(name.encode() if name.isascii() else name.encode("utf-8", "surrogatepass"))
    return digest.digest()


def signed(key: int) -> int:
    """A 64-bit key, given signed or unsigned, as the table keeps it.

    >>> signed(2**64 - 1), signed(-1), signed(7)
    (-1, -1, 7)
    """
    if not isinstance(key, int | np.integer):
        raise InputError(f"a key must be a whole number of 64 bits, got {key!r}")
    key = int(key) & (2**64 - 1)
    return key - 2**64 if key >= 2**63 else key


def new(numbers: int) -> HashTable:
    slots = _enough(MIN_SLOTS, numbers)
    return HashTable(
        np.zeros(slots, np.int32), np.zeros(1, np.int32), np.zeros(max(numbers, 1), np.int64), np.zeros(2, np.int64)
    )


def _enough(slots: int, numbers: int) -> int:
    while 2 * slots < 3 * numbers:
        slots *= 2
    return slots


def with_capacity(table: HashTable, more: int) -> HashTable:
    """The table, or a larger one of the same content, with room for so many more numbers."""
    needed = int(table.counts[COUNT]) + more
    if needed > table.keys.size:
        table = table._replace(keys=grown(table.keys, needed))
    if 3 * needed > 2 * table.slots.size:
        by_size(move, table.old.size)(table, table.old.size)  # of a batch much larger than the table nothing may be left behind
        table = table._replace(slots=np.zeros(_enough(2 * table.slots.size, needed), np.int32), old=table.slots)
        table.counts[MOVED] = 0
    elif 1 < table.old.size <= table.counts[MOVED]:
        table = table._replace(old=np.zeros(1, np.int32))  # all of them are among the new ones
    return table


@lean
def _place(table: HashTable, key: int, number: int) -> None:
    """Enter a key that is not among the new slots."""
    mask = table.slots.size - 1
    at = key & mask
    while table.slots[at] != EMPTY:
        at = (at + 1) & mask
    table.slots[at] = number + 1


@lean
def _look(slots: Array, keys: Array, key: int) -> int:
    mask = slots.size - 1
    at = key & mask
    while slots[at] != EMPTY:
        number = slots[at] - 1
        if keys[number] == key:
            return int(number)
        at = (at + 1) & mask
    return -1


@lean
def find(table: HashTable, key: int) -> int:
    """The number of a key, or -1."""
    number = _look(table.slots, table.keys, key)
    if number < 0 and table.counts[MOVED] < table.old.size:
        number = _look(table.old, table.keys, key)
    return number


@lean
def move(table: HashTable, limit: int) -> None:
    """Enter what lies in the next so many old slots among the new ones."""
    begin = table.counts[MOVED]
    end = min(begin + limit, table.old.size)
    for at in range(begin, end):
        number = table.old[at] - 1
        if number >= 0 and _look(table.slots, table.keys, table.keys[number]) < 0:
            _place(table, table.keys[number], number)
    table.counts[MOVED] = end


@lean
def enter(table: HashTable, key: int) -> int:
    """Enter a key that is not there; returns its number. There must be room."""
    number = table.counts[COUNT]
    table.keys[number] = key
    table.counts[COUNT] += 1
    _place(table, key, number)
    return int(number)


@lean
def number_all(table: HashTable, keys: Array, numbers: Array) -> int:
    """The numbers of these keys; new keys get the next ones. Returns how many were new. There must be room."""
    before = table.counts[COUNT]
    move(table, MOVES * keys.size)
    for i in range(keys.size):
        number = find(table, keys[i])
        if number < 0:
            number = enter(table, keys[i])
        numbers[i] = number
    fresh: int = table.counts[COUNT] - before
    return fresh


@lean
def added(table: HashTable, key: int) -> bool:
    """Enter a key; whether it was new. There must be room."""
    move(table, MOVES)
    if find(table, key) >= 0:
        return False
    enter(table, key)
    return True
