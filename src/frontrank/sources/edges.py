"""Edge lists: one link a line, source and target, as SNAP and most others publish graphs.

Columns are separated by a tab, blanks, a comma or a semicolon; columns after the second are ignored, and so are empty
lines, lines that begin with # or %, and a line of column names before the first link. Plain or gzip. The columns are
page numbers or URLs, which the first link tells.

Page numbers: if max + 1 <= 2 * distinct + 16, pages are 0 .. max as they stand, and numbers that never occur are pages
without links. Otherwise the numbers are identifiers from elsewhere: pages are the distinct numbers in increasing order,
and ``web.ids`` keeps what they were. URLs: pages are numbered in order of first appearance, the source of a line before
its target.

Cost: one pass in pieces of a few MB, numbers parsed by a kernel. Memory at the peak: 20 bytes a link, the web's own 4 among
them, if numbers fit in 32 bits (measured by ``python -m benchmarks.memory``: 12 are in use, the rest waits to be reused).
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.web.files import chunks, opened
from frontrank.web.links import MAX_PAGES
from frontrank.web.web import Web, hosts_from_urls

CHUNK = 8 * 2**20
SLACK = 16  # so that small files keep their numbers, however scattered
BOM = b"\xef\xbb\xbf"

TAB, NEWLINE, RETURN, BLANK = 9, 10, 13, 32
COMMA, SEMICOLON, MINUS, HASH, PERCENT = 44, 59, 45, 35, 37
NO_COLUMN, NO_NUMBER, NEGATIVE, TOO_LARGE = -1, -2, -3, -4
LARGEST = 2**63 - 1
TABLE = 1024  # a power of two, as are all sizes it grows to
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads runs of numbers over the table

COMPLAINTS = {
    NO_COLUMN: "only one column; expected a source and a target",
    NO_NUMBER: "not a page number; expected two whole numbers",
    NEGATIVE: "a page number is negative; expected 0 or more",
    TOO_LARGE: "a page number is larger than 9223372036854775807, the largest that fits in 64 bits",
}
_NUMBERS = re.compile(rb"\s*-?\d+(\s*[,;]\s*|\s+)-?\d+(?![^\s,;])")
_NAMES = re.compile(rb"\s*[A-Za-z_\"](?!.*://)")
Split = Callable[[str], list[str]]


def load_edges(path: str, chunk: int = CHUNK, progress: Callable[[str], None] | None = None) -> Web:
    """The web in an edge list."""
    first = _first_links(path)
    if not first:
        raise SourceError(f"{path}: no links; expected lines of a source and a target")
    name = os.path.basename(path)
    header = 0
    if len(first) == 2 and _NAMES.match(first[0][1]) and (_NUMBERS.match(first[1][1]) or _url_split(first[1][1])):
        header = first.pop(0)[0]
    line, text = first[0]
    split = _url_split(text)
    if split is not None:
        return _url_web(path, chunk, header, split, name)
    if not re.match(rb"\s*-?\d+(?![^\s,;])", text):
        raise SourceError(f"{path}, line {line}: {_shown(text)}: neither page numbers nor URLs; expected two of either")
    return _number_web(path, chunk, header, name, progress)


def _first_links(path: str) -> list[tuple[int, bytes]]:
    """The first two lines that are neither empty nor comments, with their numbers."""
    found: list[tuple[int, bytes]] = []
    with opened(path) as file:
        line, begins = 1, True
        while len(found) < 2 and (text := file.readline(2**16)):
            if line == 1 and begins:
                text = text.removeprefix(BOM)
                if text.startswith(b"%%MatrixMarket"):
                    raise SourceError(f"{path}: a Matrix Market file; expected an edge list: drop its size line")
            if begins and text.strip() and text.lstrip()[:1] not in b"#%":
                found.append((line, text))
            begins = text.endswith(b"\n")
            line += begins
    return found


def _shown(text: bytes) -> str:
    shown = text.decode(errors="replace").strip()
    return repr(shown if len(shown) <= 60 else shown[:57] + "...")


# --- page numbers ---


def _number_web(path: str, chunk: int, header: int, name: str, progress: Callable[[str], None] | None) -> Web:
    sources: list[Array] = []
    targets: list[Array] = []
    lines = links = 0
    for data in chunks(path, chunk):
        bytes_ = np.frombuffer(data, np.uint8)
        if lines == 0 and data.startswith(BOM):
            bytes_ = bytes_[3:]
        src = np.empty(bytes_.size // 4 + 1, np.int64)  # the shortest link is '0 1' and a line end
        dst = np.empty_like(src)
        seen, found, status = compiled(_parse)(bytes_, header - lines, src, dst)
        if status != 0:
            text = bytes_.tobytes().split(b"\n")[seen]
            raise SourceError(f"{path}, line {lines + seen + 1}: {_shown(text)}: {COMPLAINTS[status]}")
        lines += seen
        links += found
        sources.append(_narrow(src[:found]))
        targets.append(_narrow(dst[:found]))
        if progress is not None:
            progress(f"{name}: {links:,} links read")
    src, dst, pages, ids = _numbered(_whole(sources), _whole(targets))
    if pages > MAX_PAGES:
        raise SourceError(f"{path}: {pages:,} pages, at most {MAX_PAGES:,} fit in memory here")
    return Web.from_edges(src, dst, pages, ids=ids, name=name)


def _narrow(numbers: Array) -> Array:
    if numbers.size and int(numbers.max()) > MAX_PAGES:
        return numbers.copy()
    return numbers.astype(np.int32)


def _whole(parts: list[Array]) -> Array:
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def _numbered(src: Array, dst: Array) -> tuple[Array, Array, int, Array | None]:
    """Pages for numbers, by the rule of this module: (source, target, number of pages, ids or None)."""
    top = int(max(src.max(), dst.max()))
    if top + 1 > 4 * src.size + SLACK:  # more than twice as many as there can be distinct ones
        src, dst = src.astype(np.int64, copy=False), dst.astype(np.int64, copy=False)
        ids, count = compiled(_place)(src, np.empty(TABLE, np.int64), 0)
        ids, count = compiled(_place)(dst, ids, count)
        ids = ids[:count]
        order = np.argsort(ids)
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        return rank[src], rank[dst], len(ids), ids[order]
    there = np.zeros(top + 1, np.bool_)
    for numbers in (src, dst):
        compiled(_mark)(there, numbers)
    distinct = int(np.count_nonzero(there))
    if top + 1 <= 2 * distinct + SLACK:
        return src, dst, top + 1, None
    rank = np.cumsum(there, dtype=np.int32) - 1
    return rank[src], rank[dst], distinct, np.flatnonzero(there).astype(np.int64)


@kernel
def _mark(there: Array, numbers: Array) -> None:
    """there[numbers] = True, for which NumPy would make 8 bytes of each number first."""
    for number in numbers:
        there[number] = True


@kernel
def _slot(slots: Array, ids: Array, number: int) -> Any:
    """Where this number stands, or would stand, in an open-addressing table of places in ids."""
    mask = slots.size - 1
    at = np.int64((np.uint64(number) * SPREAD) >> np.uint64(32)) & mask
    while slots[at] >= 0 and ids[slots[at]] != number:
        at = (at + 1) & mask
    return at


@kernel
def _place(column: Array, ids: Array, n: int) -> tuple[Array, int]:
    """Turn the numbers of a column into their places in ids, which grows by those that are new."""
    slots = np.full(4 * ids.size, -1, np.int32)
    for i in range(n):
        slots[_slot(slots, ids, ids[i])] = i
    for j in range(column.size):
        number = column[j]
        at = _slot(slots, ids, number)
        if slots[at] < 0:
            if n == ids.size:
                more = np.empty(2 * n, np.int64)
                more[:n] = ids
                ids = more
                slots = np.full(8 * n, -1, np.int32)
                for i in range(n):
                    slots[_slot(slots, ids, ids[i])] = i
                at = _slot(slots, ids, number)
            ids[n] = number
            slots[at] = n
            n += 1
        column[j] = slots[at]
    return ids, n


@kernel
def _is_blank(c: int) -> bool:
    return c in (BLANK, TAB, RETURN)


@kernel
def _is_end(data: Array, at: int) -> bool:
    return at >= data.size or data[at] == NEWLINE


@kernel
def _number(data: Array, at: int) -> tuple[Any, int]:
    """The number at this place and the place after it; below 0 says why there is none."""
    if _is_end(data, at):
        return NO_COLUMN, at
    minus = data[at] == MINUS
    if minus:
        at += 1
    begin = at
    value = np.int64(0)
    while at < data.size and data[at] >= 48 and data[at] <= 57:
        digit = np.int64(data[at]) - 48
        if value >= LARGEST // 10 and (value > LARGEST // 10 or digit > LARGEST % 10):
            return TOO_LARGE, at
        value = value * 10 + digit
        at += 1
    ended = _is_end(data, at) or _is_blank(data[at]) or data[at] == COMMA or data[at] == SEMICOLON
    if at == begin or not ended:
        return NO_NUMBER, at
    if minus:
        return NEGATIVE, at
    return value, at


@kernel
def _parse(data: Array, header: int, src: Array, dst: Array) -> tuple[int, int, int]:
    """Whole lines into src and dst; returns (lines before the end or the fault, links, status)."""
    at = 0
    line = 0
    links = 0
    while at < data.size:
        while at < data.size and _is_blank(data[at]):
            at += 1
        comment = not _is_end(data, at) and (data[at] == HASH or data[at] == PERCENT)
        if not _is_end(data, at) and not comment and line + 1 != header:
            a, at = _number(data, at)
            if a < 0:
                return line, links, a
            while not _is_end(data, at) and _is_blank(data[at]):
                at += 1
            if not _is_end(data, at) and (data[at] == COMMA or data[at] == SEMICOLON):
                at += 1
                while not _is_end(data, at) and _is_blank(data[at]):
                    at += 1
            b, at = _number(data, at)
            if b < 0:
                return line, links, b
            src[links] = a
            dst[links] = b
            links += 1
        while not _is_end(data, at):
            at += 1
        at += 1
        line += 1
    return line, links, 0


# --- URLs ---


def _url_web(path: str, chunk: int, header: int, split: Split, name: str) -> Web:
    pages: dict[str, int] = {}
    src: list[int] = []
    dst: list[int] = []
    for line, text in _text_lines(path, chunk):
        if line == header:
            continue
        columns = split(text)
        if len(columns) < 2:
            raise SourceError(f"{path}, line {line}: {_shown(text.encode())}: {COMPLAINTS[NO_COLUMN]}")
        for url in columns[:2]:
            if "://" not in url:
                raise SourceError(f"{path}, line {line}: {_shown(url.encode())} is not a URL; expected two on a line")
        src.append(pages.setdefault(columns[0], len(pages)))
        dst.append(pages.setdefault(columns[1], len(pages)))
    urls = list(pages)
    hosts, host_names = hosts_from_urls(urls)
    columns_: dict[str, Any] = {"urls": urls, "hosts": hosts, "host_names": host_names, "name": name}
    return Web.from_edges(src, dst, len(urls), **columns_)


def _text_lines(path: str, chunk: int) -> Iterator[tuple[int, str]]:
    """Lines that are neither empty nor comments, with their numbers."""
    line = 0
    for data in chunks(path, chunk):
        for raw in data.removesuffix(b"\n").split(b"\n"):
            line += 1
            try:
                text = (raw.removeprefix(BOM) if line == 1 else raw).decode().strip(" \r")
            except UnicodeDecodeError:
                raise SourceError(f"{path}, line {line}: {_shown(raw)}: not UTF-8 text") from None
            if text.strip() and text.lstrip()[0] not in "#%":
                yield line, text


def _url_split(text: bytes) -> Split | None:
    """How lines like this one fall into columns, if the first two are URLs."""
    line = text.decode(errors="replace").strip()
    for split in (_tabs, _commas, _blanks):
        columns = split(line)
        if len(columns) >= 2 and "://" in columns[0] and "://" in columns[1]:
            return split
    return None


def _tabs(line: str) -> list[str]:
    return [column.strip() for column in line.split("\t", 2)]


def _commas(line: str) -> list[str]:
    try:
        return [column.strip() for column in next(csv.reader([line], skipinitialspace=True))]
    except csv.Error:  # a field of more than 128 kB
        return [line]


def _blanks(line: str) -> list[str]:
    return line.split(None, 2)
