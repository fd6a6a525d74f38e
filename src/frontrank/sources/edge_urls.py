"""Edge lists of URLs: pages are numbered in order of first appearance, the source of a line before its target.

Columns are separated by a tab; or by a comma, with quoted fields as in CSV; or by blanks.
The first link decides. A kernel finds the columns; URLs are numbered by ``names`` and stay bytes all the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.edge_lines import (
    BLANK,
    COMMA,
    COMPLAINTS,
    HASH,
    NEWLINE,
    NO_COLUMN,
    NO_URL,
    PERCENT,
    QUOTE,
    TAB,
    Edges,
    is_end,
    shown,
)
from frontrank.sources.names import NameTable, SameKey
from frontrank.sources.spilled import SpilledLinks
from frontrank.sources.url_files import UrlFiles, check_text
from frontrank.sources.web_directory import write_manifest
from frontrank.system.text_files import chunks
from frontrank.web.strings import Packed
from frontrank.web.web import Web, hosts_from_urls

SEPARATORS = (TAB, COMMA, BLANK)
COLON, SLASH = 58, 47
T = TypeVar("T")
SALTS = 3  # two names with one key are rare; three times in a row they are not an accident


def separator_of(text: bytes) -> int:
    """What divides the columns of lines like this one, if the first two are URLs; else 0."""
    for separator in SEPARATORS:
        spans = np.empty(4, np.int64)
        _, found, status = _columns(np.frombuffer(bytearray(text), np.uint8), 0, separator, spans)
        if found == 1 and status == 0:
            return separator
    return 0


def url_web(edges: Edges, separator: int) -> Web:
    """The web in memory."""
    return _with_salts(edges, lambda salt: _url_web(edges, separator, salt))


def write_url_web(edges: Edges, separator: int, where: Path) -> None:
    """The web as a directory; neither its links nor its URLs are ever in memory together."""
    _with_salts(edges, lambda salt: _write_url_web(edges, separator, where, salt))


def _with_salts(edges: Edges, work: Callable[[int], T]) -> T:
    for salt in range(SALTS):
        try:
            return work(salt)
        except SameKey:
            continue
    raise SourceError(f"{edges.path}: different URLs keep the same 64-bit key, whatever the salt; number the pages yourself")


def _url_web(edges: Edges, separator: int, salt: int) -> Web:
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    urls: list[str] = []
    for src, dst, fresh in _links(edges, separator, salt):
        sources.append(src)
        targets.append(dst)
        urls += fresh.strings()
    hosts, host_names = hosts_from_urls(urls)
    return Web.from_edges(
        np.concatenate(sources),
        np.concatenate(targets),
        len(urls),
        urls=urls,
        hosts=hosts,
        host_names=host_names,
        name=edges.name,
    )


def _write_url_web(edges: Edges, separator: int, where: Path, salt: int) -> None:
    with SpilledLinks(where, edges.name, edges.progress) as spilled:
        with UrlFiles(where, salt) as files:
            for src, dst, fresh in _links(edges, separator, salt):
                spilled.add(src, dst)
                files.append(fresh)
        links = spilled.write(files.pages)
    write_manifest(where, edges.name, files.pages, links, files.hosts, ["hosts", "urls"])


def _links(edges: Edges, separator: int, salt: int) -> Iterator[tuple[Array, Array, Packed]]:
    """Sources, targets, and the URLs of pages that were not seen before, piece by piece."""
    names = NameTable(salt)
    lines = links = 0
    for data in chunks(edges.path, edges.chunk):
        check_text(edges.path, data, lines)
        bytes_ = np.frombuffer(bytearray(data), np.uint8)  # quotes are taken out in place
        spans = np.empty(bytes_.size // 2 + 4, np.int64)  # a link of eight bytes has four ends
        seen, found, status = compiled(_columns)(bytes_, edges.header - lines, separator, spans)
        if status != 0:
            raise SourceError(f"{edges.path}, line {lines + seen + 1}: {_complaint(bytes_, seen, spans[4 * found :], status)}")
        begins, ends = spans[: 4 * found : 2], spans[1 : 4 * found : 2]
        numbers, fresh = names.numbers(bytes_, begins, ends)
        lines += seen
        links += found
        yield numbers[::2], numbers[1::2], Packed.picked(bytes_, begins[fresh], ends[fresh])
        if edges.progress is not None:
            edges.progress(f"{edges.name}: {links:,} links read")


def _complaint(data: Array, line: int, span: Array, status: int) -> str:
    if status == NO_URL:
        return f"{shown(data[span[0] : span[1]].tobytes())} is not a URL; expected two on a line"
    return f"{shown(data.tobytes().split(bytes([NEWLINE]))[line])}: {COMPLAINTS[status]}"


# --- lines ---


@kernel
def _is_space(c: int) -> bool:
    return c == BLANK or (c >= TAB and c <= 13) or (c >= 28 and c <= 31)


@kernel
def _parts(data: Array, at: int, separator: int) -> bool:
    """Whether a column ends here."""
    return is_end(data, at) or (_is_space(data[at]) if separator == BLANK else data[at] == separator)


@kernel
def _column(data: Array, at: int, separator: int) -> tuple[int, int, int]:
    """Where the column that begins here begins and ends, and the place behind it. Quotes are taken out in place."""
    while not is_end(data, at) and _is_space(data[at]) and data[at] != separator:
        at += 1
    if separator == BLANK:
        while not is_end(data, at) and data[at] == BLANK:
            at += 1
    begin = at
    end = at
    if separator == COMMA and not is_end(data, at) and data[at] == QUOTE:
        at += 1
        while not is_end(data, at):
            if data[at] == QUOTE:
                at += 1
                if is_end(data, at) or data[at] != QUOTE:
                    break
            data[end] = data[at]
            end += 1
            at += 1
    while not _parts(data, at, separator):
        data[end] = data[at]
        end += 1
        at += 1
    while end > begin and _is_space(data[end - 1]):
        end -= 1
    return begin, end, at


@kernel
def _is_url(data: Array, begin: int, end: int) -> bool:
    found = False
    for at in range(begin, end - 2):
        found = found or (data[at] == COLON and data[at + 1] == SLASH and data[at + 2] == SLASH)
    return found


@kernel
def _columns(data: Array, header: int, separator: int, spans: Array) -> tuple[int, int, int]:
    """Where source and target of each line begin and end; returns (lines before the end or the fault, links, status)."""
    at = 0
    line = 0
    links = 0
    while at < data.size:
        begin = at
        while not is_end(data, at) and _is_space(data[at]):
            at += 1
        skip = is_end(data, at) or data[at] == HASH or data[at] == PERCENT or line + 1 == header
        if not skip:
            at = begin
            for column in range(2):
                first, last, at = _column(data, at, separator)
                spans[4 * links + 2 * column] = first
                spans[4 * links + 2 * column + 1] = last
                if column == 0:
                    if is_end(data, at):
                        return line, links, NO_COLUMN
                    at += 1
                    if separator == BLANK:
                        while not is_end(data, at) and _is_space(data[at]):
                            at += 1
                        if is_end(data, at):
                            return line, links, NO_COLUMN
                elif not _is_url(data, spans[4 * links], spans[4 * links + 1]):
                    return line, links, NO_URL
                elif not _is_url(data, first, last):
                    spans[4 * links] = first
                    spans[4 * links + 1] = last
                    return line, links, NO_URL
            links += 1
        while not is_end(data, at):
            at += 1
        at += 1
        line += 1
    return line, links, 0
