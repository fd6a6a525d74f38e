"""Numbers for millions of names: URLs and hosts in order of first appearance, without making Python objects of them.

A name is identified by 128 bits: 64 are its key in the table of ``kernels.hashtable``, the others are stored beside it. Two
names with the same key and other bits there raise ``SameKey`` (odds of n^2 / 2^65, 1 in 3,700 for a hundred million names), and
the caller begins again with other keys (``salt``). About 28 bytes per name; the names themselves are not stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontrank.kernels import hashtable
from frontrank.kernels.growing import grown
from frontrank.kernels.hashtable import MOVES, HashTable, enter, find, move
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.pages.urls import host_of
from frontrank.web.strings import Packed

FIRST, SECOND = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)
STEP, OTHER_STEP = np.uint64(0x100000001B3), np.uint64(0xD6E8FEB86659FD93)
MIX = np.uint64(0xFF51AFD7ED558CCD)
BATCH = 2**16
HTTP, HTTPS = np.frombuffer(b"http://", np.uint8), np.frombuffer(b"https://", np.uint8)
SLASH, QUESTION, SHARP, DOT, DASH, UNDERSCORE = 47, 63, 35, 46, 45, 95


class SameKey(Exception):
    """Two names have the same key: begin again with another salt."""


class NameTable:
    """Numbers by name."""

    def __init__(self, salt: int = 0) -> None:
        self.salt = np.uint64(salt)
        self.table = hashtable.new(1024)
        self.checks = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        return int(self.table.counts[hashtable.COUNT])

    def numbers(self, data: Array, begins: Array, ends: Array) -> tuple[Array, Array]:
        """The numbers of the names that lie from these places of ``data`` to those; and which of them came first."""
        found = np.empty(begins.size, np.int32)
        fresh = []
        for at in range(0, begins.size, BATCH):
            span = slice(at, at + BATCH)
            self.table = hashtable.with_capacity(self.table, BATCH)
            self.checks = grown(self.checks, len(self) + BATCH)
            new = np.empty(found[span].size, np.int64)
            count = compiled(_number)(self.table, self.checks, data, begins[span], ends[span], self.salt, found[span], new)
            if count < 0:
                raise SameKey
            fresh.append(new[:count] + at)
        return found, np.concatenate(fresh) if fresh else np.empty(0, np.int64)


class HostTable:
    """Host numbers of URLs, in order of first appearance."""

    def __init__(self, salt: int = 0) -> None:
        self.names = NameTable(salt)

    def numbers(self, urls: Packed) -> tuple[Array, Packed]:
        """The host number of each URL; and the names of hosts that were not seen before."""
        begins, ends = np.empty(urls.size, np.int64), np.empty(urls.size, np.int64)
        odd = compiled(_hosts)(urls.data, urls.offsets, begins, ends)
        data = urls.data
        if odd:  # what a browser would rewrite: few, and read as a browser does
            at = np.flatnonzero(begins < 0)
            hosts = [host_of(_decoded(urls, i)).encode() for i in at.tolist()]
            sizes = np.array([len(host) for host in hosts], np.int64)
            ends[at] = data.size + np.cumsum(sizes)
            begins[at] = ends[at] - sizes
            data = np.concatenate([data, np.frombuffer(b"".join(hosts), np.uint8)])
        found, fresh = self.names.numbers(data, begins, ends)
        return found, Packed.picked(data, begins[fresh], ends[fresh])

    def of_names(self, hosts: Packed) -> tuple[Array, Packed]:
        """The same of hosts that are given by name."""
        begins, ends = hosts.offsets[:-1], hosts.offsets[1:]
        found, fresh = self.names.numbers(hosts.data, begins, ends)
        return found, Packed.picked(hosts.data, begins[fresh], ends[fresh])


def _decoded(urls: Packed, i: int) -> str:
    return urls.data[urls.offsets[i] : urls.offsets[i + 1]].tobytes().decode(errors="replace")


@kernel
def _number(
    table: HashTable, checks: Array, data: Array, begins: Array, ends: Array, salt: int, found: Array, new: Array
) -> int:
    """Numbers of names; returns how many were new, -1 where two names are alike. There must be room."""
    move(table, MOVES * begins.size)
    count = 0
    for i in range(begins.size):
        a = FIRST ^ salt
        b = SECOND
        for at in range(begins[i], ends[i]):
            a = (a ^ np.uint64(data[at])) * STEP
            b = (b + np.uint64(data[at])) * OTHER_STEP
            b ^= b >> np.uint64(29)
        a = (a ^ (a >> np.uint64(33))) * MIX
        key: Any = np.int64(a ^ (a >> np.uint64(33)))
        check = np.int64(b)
        number = find(table, key)
        if number < 0:
            number = enter(table, key)
            checks[number] = check
            new[count] = i
            count += 1
        elif checks[number] != check:
            return -1
        found[i] = number
    return count


@kernel
def _starts(data: Array, begin: int, end: int, with_: Array) -> bool:
    if end - begin < with_.size:
        return False
    same = True
    for i in range(with_.size):
        same = same and data[begin + i] == with_[i]
    return same


@kernel
def _hosts(data: Array, offsets: Array, begins: Array, ends: Array) -> int:
    """Where the host of each URL lies, if it stands there as a browser would have it; else -1. Returns how many do not.

    Plain is http or https, then letters in lower case, digits, dots and dashes, a last label that begins with a letter
    (numbers are addresses), no punycode, no port.
    """
    odd = 0
    for i in range(offsets.size - 1):
        begin = offsets[i]
        end = offsets[i + 1]
        at = begin
        if _starts(data, begin, end, HTTP):
            at += 7
        elif _starts(data, begin, end, HTTPS):
            at += 8
        first = at
        label = at
        plain = at > begin
        while plain and at < end and data[at] != SLASH and data[at] != QUESTION and data[at] != SHARP:
            c = data[at]
            if c == DOT:
                plain = at > label
                label = at + 1
            elif not ((c >= 97 and c <= 122) or (c >= 48 and c <= 57) or c == UNDERSCORE):
                # two dashes in the third and fourth place of a label are punycode
                plain = c == DASH and not (at == label + 3 and data[at - 1] == DASH)
            at += 1
        if plain and at > label and data[label] >= 97 and data[label] <= 122:
            begins[i] = first
            ends[i] = at
        else:
            begins[i] = -1
            odd += 1
    return odd
