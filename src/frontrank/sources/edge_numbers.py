"""Edge lists of page numbers.

If max + 1 <= 2 * distinct + 16, pages are 0 .. max as given, and numbers that never occur are pages without links.
Otherwise the numbers are foreign identifiers: pages are the distinct numbers in increasing order, and ``web.ids``
keeps what they were.

On the way to disk, a bit for every number up to the largest tells which occur, and ranks them: at most half a byte per link,
since beyond four numbers per link the rule is decided. Numbers beyond that go through a hash table: about 40 bytes per page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels import hashtable
from frontrank.kernels.hashtable import find
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.edge_lines import (
    BLANK,
    COMMA,
    COMPLAINTS,
    HASH,
    MINUS,
    NEGATIVE,
    NO_COLUMN,
    NO_NUMBER,
    PERCENT,
    RETURN,
    SEMICOLON,
    TAB,
    TOO_LARGE,
    Edges,
    is_end,
    shown,
)
from frontrank.sources.spilled import Rename, SpilledLinks
from frontrank.sources.web_directory import write_manifest
from frontrank.system.text_files import chunks
from frontrank.web.links import MAX_PAGES
from frontrank.web.web import Web

SLACK = 16  # so that small files keep their numbers, however scattered
MAX_INT64 = 2**63 - 1
BATCH = 2**16  # the table has room for so many new numbers at any time
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads runs of numbers over the table
GATHER = np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))  # and back


def number_web(edges: Edges) -> Web:
    """The web in memory."""
    sources: list[Array] = []
    targets: list[Array] = []
    for src, dst in number_links(edges):
        sources.append(_narrow(src))
        targets.append(_narrow(dst))
    src, dst = _whole(sources), _whole(targets)
    pages, rename, ids = _numbered(int(max(src.max(), dst.max())), src.size, lambda: iter([(src, dst)]))
    _check_pages(edges, pages)
    if rename is not None:
        src, dst = rename(src), rename(dst)
    return Web.from_edges(src, dst, pages, ids=ids, name=edges.name)


def write_number_web(edges: Edges, where: Path) -> None:
    """The web as a directory; its links are never in memory together."""
    with SpilledLinks(where, edges.name, edges.progress) as spilled:
        for src, dst in number_links(edges):
            spilled.add(src, dst)
        pages, rename, ids = _numbered(spilled.top, spilled.count, spilled.pieces)
        _check_pages(edges, pages)
        links = spilled.write(pages, rename)
    if ids is not None:
        np.save(where / "ids.npy", ids)
    write_manifest(where, edges.name, pages, links, columns=[] if ids is None else ["ids"])


def _check_pages(edges: Edges, pages: int) -> None:
    if pages > MAX_PAGES:
        raise SourceError(f"{edges.path}: {pages:,} pages, at most {MAX_PAGES:,} can be numbered here")


def number_links(edges: Edges) -> Iterator[tuple[Array, Array]]:
    """The links as they stand, piece by piece."""
    lines = links = 0
    for data in chunks(edges.path, edges.chunk):
        bytes_ = np.frombuffer(data, np.uint8)
        src = np.empty(bytes_.size // 4 + 1, np.int64)  # the shortest link is '0 1' and a line end
        dst = np.empty_like(src)
        seen, found, status = compiled(_parse)(bytes_, edges.header - lines, src, dst)
        if status != 0:
            text = bytes_.tobytes().split(b"\n")[seen]
            raise SourceError(f"{edges.path}, line {lines + seen + 1}: {shown(text)}: {COMPLAINTS[status]}")
        yield src[:found], dst[:found]
        lines += seen
        links += found
        if edges.progress is not None:
            edges.progress(f"{edges.name}: {links:,} links read")


def _narrow(numbers: Array) -> Array:
    if numbers.size and int(numbers.max()) > MAX_PAGES:
        return numbers.copy()
    return numbers.astype(np.int32)


def _whole(parts: list[Array]) -> Array:
    joined = np.concatenate(parts)
    parts.clear()
    return joined


# --- pages for numbers ---

Pieces = Callable[[], Iterator[tuple[Array, Array]]]


def _numbered(top: int, links: int, pieces: Pieces) -> tuple[int, Rename | None, Array | None]:
    """By the rule of this module: the number of pages; the pages of numbers, and their ids, where they do not stay."""
    if top + 1 > 4 * links + SLACK:  # more than twice as many as there can be distinct ones
        return _from_afar(pieces)
    there = np.zeros(top // 64 + 1, np.uint64)
    for src, dst in pieces():
        compiled(_mark)(there, src)
        compiled(_mark)(there, dst)
    before = np.zeros(there.size + 1, np.int32)
    distinct = compiled(_rank_words)(there, before)
    if top + 1 <= 2 * distinct + SLACK:
        return top + 1, None, None
    ids = np.empty(distinct, np.int64)
    compiled(_list)(there, ids)

    def rename(numbers: Array) -> Array:
        pages = np.empty(numbers.size, np.int32)
        compiled(_rank)(there, before, numbers, pages)
        return pages

    return distinct, rename, ids


def _from_afar(pieces: Pieces) -> tuple[int, Rename, Array]:
    table = hashtable.new(1024)
    for src, dst in pieces():
        for numbers in (src, dst):
            for begin in range(0, numbers.size, BATCH):
                keys = _spread(numbers[begin : begin + BATCH])
                table = hashtable.with_capacity(table, keys.size)
                compiled(hashtable.number_all)(table, keys, np.empty(keys.size, np.int32))
    count = int(table.counts[hashtable.COUNT])
    ids = _gathered(table.keys[:count])
    order = np.argsort(ids)
    rank = np.empty(count, np.int32)
    rank[order] = np.arange(count, dtype=np.int32)

    def rename(numbers: Array) -> Array:
        pages = np.empty(numbers.size, np.int32)
        compiled(_look_up)(table, rank, _spread(numbers), pages)
        return pages

    return count, rename, ids[order]


@kernel
def _mark(there: Array, numbers: Array) -> None:
    """A bit for every number that occurs."""
    for j in range(numbers.size):
        there[numbers[j] >> 6] |= np.uint64(1) << np.uint64(numbers[j] & 63)


@kernel
def _ones(word: Any) -> Any:
    """The bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _rank_words(there: Array, before: Array) -> int:
    """How many numbers lie before each word; returns how many there are."""
    for w in range(there.size):
        before[w + 1] = before[w] + _ones(there[w])
    return int(before[there.size])


@kernel
def _rank(there: Array, before: Array, numbers: Array, pages: Array) -> None:
    for j in range(numbers.size):
        w = numbers[j] >> 6
        below = (np.uint64(1) << np.uint64(numbers[j] & 63)) - np.uint64(1)
        pages[j] = before[w] + _ones(there[w] & below)


@kernel
def _list(there: Array, ids: Array) -> None:
    n = 0
    for w in range(there.size):
        for bit in range(64):
            if (there[w] >> np.uint64(bit)) & np.uint64(1):
                ids[n] = 64 * w + bit
                n += 1


def _spread(numbers: Array) -> Array:
    """Each number as another one of 64 bits, whose low bits look like chance; ``_gathered`` undoes it."""
    keys = numbers.astype(np.uint64) * SPREAD
    return (keys ^ (keys >> np.uint64(32))).view(np.int64)


def _gathered(keys: Array) -> Array:
    spread = keys.view(np.uint64)
    return ((spread ^ (spread >> np.uint64(32))) * GATHER).view(np.int64)


@kernel
def _look_up(table: hashtable.HashTable, rank: Array, keys: Array, pages: Array) -> None:
    for j in range(keys.size):
        pages[j] = rank[find(table, keys[j])]


# --- lines ---


@kernel
def _is_blank(c: int) -> bool:
    return c in (BLANK, TAB, RETURN)


@kernel
def _number(data: Array, at: int) -> tuple[Any, int]:
    """The number at this place and the place after it; below 0 says why there is none."""
    if is_end(data, at):
        return NO_COLUMN, at
    minus = data[at] == MINUS
    if minus:
        at += 1
    begin = at
    value = np.int64(0)
    while at < data.size and data[at] >= 48 and data[at] <= 57:
        digit = np.int64(data[at]) - 48
        if value >= MAX_INT64 // 10 and (value > MAX_INT64 // 10 or digit > MAX_INT64 % 10):
            return TOO_LARGE, at
        value = value * 10 + digit
        at += 1
    ended = is_end(data, at) or _is_blank(data[at]) or data[at] == COMMA or data[at] == SEMICOLON
    if at == begin or not ended:
        return NO_NUMBER, at
    if minus:
        return NEGATIVE, at
    return value, at


@kernel
def _digits(data: Array, at: int) -> tuple[Any, int]:
    """The number at this place, if it has at most 18 digits, and the place after it; -1 if there is none."""
    value = np.int64(0)
    begin = at
    while at < data.size:
        digit = data[at] ^ 48
        if digit > 9:
            break
        value = value * 10 + digit
        at += 1
    return (value if at > begin and at - begin <= 18 else np.int64(-1)), at


@kernel
def _plain(data: Array, at: int) -> tuple[Any, Any, int]:
    """Both numbers of a line that holds nothing but them and a tab or blank, and the place of its end; -1 if it does not.

    Almost all lines are like that, and read so five times as fast.
    """
    a, at = _digits(data, at)
    if a < 0 or at >= data.size or (data[at] != TAB and data[at] != BLANK):
        return np.int64(-1), np.int64(-1), at
    b, at = _digits(data, at + 1)
    return a, (b if is_end(data, at) else np.int64(-1)), at


@kernel
def _parse(data: Array, header: int, src: Array, dst: Array) -> tuple[int, int, int]:
    """Whole lines into src and dst; returns (lines before the end or the fault, links, status)."""
    at = 0
    line = 0
    links = 0
    while at < data.size:
        if line + 1 != header:
            a, b, end = _plain(data, at)
            if b >= 0:
                src[links] = a
                dst[links] = b
                links += 1
                line += 1
                at = end + 1
                continue
        while at < data.size and _is_blank(data[at]):
            at += 1
        comment = not is_end(data, at) and (data[at] == HASH or data[at] == PERCENT)
        if not is_end(data, at) and not comment and line + 1 != header:
            a, at = _number(data, at)
            if a < 0:
                return line, links, a
            while not is_end(data, at) and _is_blank(data[at]):
                at += 1
            if not is_end(data, at) and (data[at] == COMMA or data[at] == SEMICOLON):
                at += 1
                while not is_end(data, at) and _is_blank(data[at]):
                    at += 1
            b, at = _number(data, at)
            if b < 0:
                return line, links, b
            src[links] = a
            dst[links] = b
            links += 1
        while not is_end(data, at):
            at += 1
        at += 1
        line += 1
    return line, links, 0
