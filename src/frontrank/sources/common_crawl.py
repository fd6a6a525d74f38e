"""Common Crawl's web graphs: hosts or domains that link to each other, as text.

    *vertices*.txt[.gz]     id <tab> host, reversed (org.example.www) [<tab> number of hosts]; ids are 0, 1, 2, ... in order
    *edges*.txt[.gz]        from <tab> to

Each is one file (domains) or a folder called ``vertices`` or ``edges`` with parts in it (hosts). A page of this web is a host:
its URL is https://HOST/, its host is itself. Common Crawl has taken a leading www. away. The ranks file of a graph is not part
of the web: ``prior:file=`` reads it.

Host names are turned round by a kernel and stay bytes; links are sorted on disk (``spilled``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.edge_lines import CHUNK, NO_COLUMN, NO_NUMBER, RETURN, TAB, Edges, is_end, shown
from frontrank.sources.edge_numbers import number_links
from frontrank.sources.spilled import SpilledLinks, check_spilled
from frontrank.sources.url_files import check_text
from frontrank.sources.web_directory import StringsFile, write_manifest
from frontrank.system.capacity import check_room
from frontrank.system.files import NpyFile, Progress
from frontrank.system.text_files import chunks, opened
from frontrank.web.links import MAX_PAGES
from frontrank.web.strings import Packed
from frontrank.web.web import Web

VERTICES, EDGES = "vertices", "edges"
BYTES_A_LINE = 20  # of edges, unpacked, about
PACKED = 4  # times as large is a file unpacked, about
DOT, OUT_OF_TURN = 46, -10
BEFORE, BEHIND = np.frombuffer(b"https://", np.uint8), np.frombuffer(b"/", np.uint8)
COMPLAINTS = {
    NO_COLUMN: "only one column; expected an id and a reversed host name, divided by a tab",
    NO_NUMBER: "not an id; expected a whole number",
    OUT_OF_TURN: "its id must be {}; vertices are numbered 0, 1, 2, ... in order",
}


def is_common_crawl(path: str) -> bool:
    return os.path.isdir(path) and bool(_parts(path, VERTICES)) and bool(_parts(path, EDGES))


def _parts(path: str, what: str) -> list[str]:
    """The files of vertices or edges, by name: those of a folder of this name, else one that has it in its own name."""
    folder = os.path.join(path, what)
    inside = os.path.isdir(folder)
    form = re.compile(r"[^._].*\.txt(\.gz)?" if inside else rf"(.*-)?{what}\.txt(\.gz)?")
    where = folder if inside else path
    return [os.path.join(where, name) for name in sorted(os.listdir(where)) if form.fullmatch(name)]


def load_common_crawl(path: str, progress: Progress | None = None) -> Web:
    """The web in memory; refused if it does not fit."""
    size = _unpacked(path, EDGES)
    check_room(path, size // BYTES_A_LINE, size)
    hosts = Packed.joined(list(_hosts(path, progress)))
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for source, target in _links(path, hosts.size, progress):
        sources.append(source.astype(np.int32))
        targets.append(target.astype(np.int32))
    pages, names = hosts.size, hosts.strings()
    return Web.from_edges(
        np.concatenate(sources),
        np.concatenate(targets),
        pages,
        urls=_urls(hosts).strings(),
        hosts=np.arange(pages, dtype=np.int32),
        host_names=names,
        name=_name(path),
    )


def _unpacked(path: str, what: str) -> int:
    """Bytes of the files of vertices or edges, about."""
    return sum(os.path.getsize(part) * (PACKED if part.endswith(".gz") else 1) for part in _parts(path, what))


def write_common_crawl(path: str, where: Path, progress: Progress | None = None) -> None:
    """The same web, written into a folder as a web directory, however large it is."""
    check_spilled(where, _name(path), _unpacked(path, EDGES) // BYTES_A_LINE)
    with (
        StringsFile(where, "pages", ["url"]) as urls,
        StringsFile(where, "hosts", ["host"]) as names,
        NpyFile(where / "hosts.npy", np.int32) as numbers,
    ):
        for hosts in _hosts(path, progress):
            numbers.append(np.arange(names.rows, names.rows + hosts.size, dtype=np.int32))
            urls.append(_urls(hosts))
            names.append(hosts)
    pages = names.rows
    with SpilledLinks(where, _name(path), progress) as spilled:
        for source, target in _links(path, pages, progress):
            spilled.add(source, target)
        links = spilled.write(pages)
    write_manifest(where, _name(path), pages, links, pages, ["hosts", "urls"])


def _name(path: str) -> str:
    return os.path.basename(os.path.abspath(path))


def _urls(hosts: Packed) -> Packed:
    return hosts.between(BEFORE, BEHIND)


def _links(path: str, pages: int, progress: Progress | None) -> Iterator[tuple[Array, Array]]:
    for part in _parts(path, EDGES):
        links = 0
        for source, target in number_links(Edges(part, os.path.basename(part), 0, CHUNK, progress)):
            wrong = np.flatnonzero((source >= pages) | (target >= pages))
            if wrong.size:
                at = int(wrong[0])
                number = int(max(source[at], target[at]))
                where = f"{part}, line {_line_of(part, links + at)}"
                raise SourceError(f"{where}: {number} is not a vertex; ids are 0 to {pages - 1:,}")
            yield source, target
            links += source.size


def _line_of(part: str, link: int) -> int:
    """The line of a link, counted over lines that hold one."""
    with opened(part) as file:
        records = (line for line, text in enumerate(file, 1) if text.strip() and text.lstrip()[:1] not in b"#%")
        return next(islice(records, link, None))


def _hosts(path: str, progress: Progress | None) -> Iterator[Packed]:
    """The names of all hosts, in order of their ids, piece by piece."""
    hosts = 0
    for part in _parts(path, VERTICES):
        lines = 0
        for data in chunks(part, CHUNK):
            check_text(part, data, lines)
            bytes_ = np.frombuffer(bytearray(data), np.uint8)
            offsets = np.zeros(data.count(b"\n") + 2, np.int64)
            turned = np.empty(bytes_.size, np.uint8)
            seen, status = compiled(_turn)(bytes_, hosts, turned, offsets)
            if status != 0:
                text, why = data.split(b"\n")[seen], COMPLAINTS[status].format(f"{hosts + seen:,}")
                raise SourceError(f"{part}, line {lines + seen + 1}: {shown(text)}: {why}")
            yield Packed(turned[: offsets[seen]], offsets[: seen + 1])
            lines += seen
            hosts += seen
            if hosts > MAX_PAGES:
                raise SourceError(f"{part}: more than {MAX_PAGES:,} hosts, which can not be numbered here")
            if progress is not None:
                progress(f"{os.path.basename(part)}: {hosts:,} hosts read")
    if not hosts:
        raise SourceError(f"{path}: contains no vertices; expected lines of an id and a reversed host name")


@kernel
def _turn(data: Array, first: int, turned: Array, offsets: Array) -> tuple[int, int]:
    """Host names the right way round, the last label first; returns (lines before the end or the fault, status)."""
    at = 0
    line = 0
    to = 0
    while at < data.size:
        number = 0
        begin = at
        while not is_end(data, at) and data[at] >= 48 and data[at] <= 57 and at - begin < 12:
            number = number * 10 + (data[at] - 48)
            at += 1
        if at == begin:
            return line, NO_NUMBER
        if is_end(data, at) or data[at] != TAB:
            return line, NO_COLUMN
        if number != first + line:
            return line, OUT_OF_TURN
        at += 1
        begin = at
        while not is_end(data, at) and data[at] != TAB and data[at] != RETURN:
            at += 1
        if at == begin:
            return line, NO_COLUMN
        end = at
        for i in range(at - 1, begin - 2, -1):
            if i < begin or data[i] == DOT:
                for j in range(i + 1, end):
                    turned[to] = data[j]
                    to += 1
                if i >= begin:
                    turned[to] = DOT
                    to += 1
                end = i
        while not is_end(data, at):
            at += 1
        at += 1
        line += 1
        offsets[line] = to
    return line, 0
