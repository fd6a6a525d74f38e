"""Edge lists: one link per line, source and target, as SNAP and most others publish graphs.

Columns are separated by a tab, blanks, a comma or a semicolon; columns after the second are ignored, and so are empty
lines, lines that begin with # or %, and a line of column names before the first link. Plain or gzip. The columns are
page numbers or URLs, which the first link tells: ``edge_numbers`` and ``edge_urls`` read them.

Cost: one pass in pieces of a few MB, parsed by kernels. ``load_edges`` keeps all links in memory: 20 bytes per link at the
peak, the web's own 4 among them, if numbers fit in 32 bits. ``write_edges`` writes a web directory through files on disk
(``spilled``) and keeps none of them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from frontrank.errors import SourceError
from frontrank.sources.edge_lines import CHUNK, Edges, shown
from frontrank.sources.edge_numbers import number_web, write_number_web
from frontrank.sources.edge_urls import separator_of, url_web, write_url_web
from frontrank.sources.spilled import check_spilled
from frontrank.system.capacity import check_room
from frontrank.system.files import Progress
from frontrank.system.text_files import opened
from frontrank.web.web import Web

BYTES_A_LINK = 20  # in memory, at the peak; URLs come on top
SMALL = 64 * 2**20  # a file that fits whatever is in it
SAMPLE = 4 * 2**20
_NUMBERS = re.compile(rb"\s*-?\d+(\s*[,;]\s*|\s+)-?\d+(?![^\s,;])")
_NAMES = re.compile(rb"\s*[A-Za-z_\"](?!.*://)")


def is_file(path: str) -> bool:
    return os.path.isfile(path)


def load_edges(path: str, progress: Progress | None = None, chunk: int = CHUNK) -> Web:
    """The web in an edge list, in memory; refused if it does not fit."""
    edges, separator = _looked_at(path, chunk, progress)
    if os.path.getsize(path) > SMALL:
        links = _links_about(path)
        check_room(path, links, BYTES_A_LINK * links * (3 if separator else 1))
    return url_web(edges, separator) if separator else number_web(edges)


def write_edges(path: str, where: Path, progress: Progress | None = None, chunk: int = CHUNK) -> None:
    """The web in an edge list, written into a folder as a web directory, however large it is."""
    edges, separator = _looked_at(path, chunk, progress)
    if os.path.getsize(path) > SMALL:
        check_spilled(where, edges.name, _links_about(path))
    if separator:
        write_url_web(edges, separator, where)
    else:
        write_number_web(edges, where)


def _looked_at(path: str, chunk: int, progress: Progress | None) -> tuple[Edges, int]:
    """What the first links show; and what divides URLs, 0 for page numbers."""
    first = _first_links(path)
    if not first:
        raise SourceError(f"{path}: no links; expected lines of a source and a target")
    header = 0
    if len(first) == 2 and _NAMES.match(first[0][1]) and (_NUMBERS.match(first[1][1]) or separator_of(first[1][1])):
        header = first.pop(0)[0]
    line, text = first[0]
    separator = separator_of(text)
    if not separator and not re.match(rb"\s*-?\d+(?![^\s,;])", text):
        line, text = first[-1]  # the first may be column names; what stands below them is no link
        raise SourceError(
            f"{path}, line {line}: {shown(text)}: neither page numbers nor URLs; expected two of either, "
            "and URLs whole, such as https://site.example/page"
        )
    return Edges(path, os.path.basename(path), header, chunk, progress), separator


def _first_links(path: str) -> list[tuple[int, bytes]]:
    """The first two lines that are neither empty nor comments, with their numbers."""
    found: list[tuple[int, bytes]] = []
    with opened(path) as file:
        line, begins = 1, True
        while len(found) < 2 and (text := file.readline(2**16)):
            if line == 1 and begins and text.startswith(b"%%MatrixMarket"):
                raise SourceError(f"{path}: a Matrix Market file; expected an edge list: drop its size line")
            if begins and text.strip() and text.lstrip()[:1] not in b"#%":
                found.append((line, text))
            begins = text.endswith(b"\n")
            line += begins
    return found


def _links_about(path: str) -> int:
    """How many links a large file holds, by its first few megabytes."""
    with opened(path) as file:
        lines = file.read(SAMPLE).count(b"\n")
        read = getattr(file, "fileobj", file).tell()  # of a packed file: what lies on disk
    return int(lines * os.path.getsize(path) / max(read, 1))
