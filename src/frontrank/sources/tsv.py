"""A crawl as tab-separated files: pages, links with their anchors, and, if they are there, texts, clicks and views.

    pages.tsv[.gz]   id, url, host, title    ids 0 .. n - 1 in order
    links.tsv[.gz]   src, dst, anchor        one line for each anchor, in the order of the page
    text.tsv[.gz]    id, text                ids 0 .. n - 1 in order
    clicks.csv[.gz]  url, clicks             how often searchers chose a page: any order, pages left out have 0
    views.csv[.gz]   url, views              how often they were shown it

The last two may also be .tsv: tables as ``frontrank import`` reads them. The others are UTF-8, one line of column names, no
quoting: fields hold neither tabs nor line ends. Several anchors from one page to another are joined by a blank. Text is read
at its first use: most orderings never look at it.

Cost: Arrow's parallel reader; a file that it refuses is read again, line by line, to say which line is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import canonical
from frontrank.sources.search_team.tablefiles import read_csv
from frontrank.sources.search_team.tables import Field, Schema, read_table
from frontrank.system.lazy import pa
from frontrank.system.text_files import chunks, opened
from frontrank.web.strings import Deferred, Texts
from frontrank.web.web import IMPACTS, Web

PAGES = ("id", "url", "host", "title")
LINKS = ("src", "dst", "anchor")
TEXT = ("id", "text")
NUMBERS = ("id", "src", "dst")
HEADER_LINES = 1
IMPACT_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def find(directory: str, name: str, endings: tuple[str, ...] = (".tsv", ".tsv.gz")) -> str | None:
    """The path of name.tsv or name.tsv.gz in the directory."""
    for path in (os.path.join(directory, f"{name}{ending}") for ending in endings):
        if os.path.isfile(path):
            return path
    return None


def is_tsv_crawl(path: str) -> bool:
    return find(path, "pages") is not None and find(path, "links") is not None


def load_tsv_crawl(directory: str, progress: Callable[[str], None] | None = None) -> Web:
    """The web in a directory of pages.tsv, links.tsv and perhaps text.tsv, each plain or gzip."""
    pages, links, text = (find(directory, name) for name in ("pages", "links", "text"))
    if pages is None or links is None:
        raise SourceError(f"{directory}: expected pages.tsv and links.tsv (or .tsv.gz) in it")
    tell = progress or (lambda _: None)
    tell(f"reading {os.path.basename(pages)}")
    table = _read(pages, PAGES)
    count = table.num_rows
    if count == 0:
        raise SourceError(f"{pages}: no pages; expected a line for each after the column names")
    _check_order(table["id"], pages)
    hosts = table["host"].combine_chunks().dictionary_encode()
    tell(f"reading {os.path.basename(links)}")
    edges = _read(links, LINKS)
    urls = table["url"].combine_chunks()
    return Web.from_edges(
        _page_numbers(edges, "src", count, links),
        _page_numbers(edges, "dst", count, links),
        count,
        hosts=hosts.indices.to_numpy().astype(np.int32),
        host_names=hosts.dictionary.to_pylist(),
        urls=Texts(urls),
        titles=Texts(table["title"].combine_chunks()),
        texts=None if text is None else Deferred(count, partial(_read_text, text), text),
        anchors=edges["anchor"].to_pylist(),
        **{name: _impact(directory, name, urls) for name in IMPACTS},
        name=os.path.basename(os.path.normpath(directory)),
    )


def _impact(directory: str, name: str, urls: Any) -> Array | None:
    """Clicks or views of each page, if there is a table of them."""
    path = find(directory, name, IMPACT_FILES)
    if path is None:
        return None
    table = read_table(path, Schema(name, (Field("url", "url"), Field(name, "amount"))))
    number: dict[str, int] = {}
    for page, url in enumerate(urls.to_pylist()):
        number.setdefault(canonical(url), page)
    total = np.zeros(len(urls))
    for row, (url, amount) in enumerate(zip(table.columns["url"].to_pylist(), table.columns[name].tolist(), strict=True)):
        page = number.get(canonical(url), -1)
        if page < 0:
            raise SourceError(f"{path}, row {row + 1}: {url[:80]!r} is not a page of pages.tsv; remove that row")
        total[page] += amount
    return total


def _read_text(path: str) -> Any:
    table = _read(path, TEXT)
    _check_order(table["id"], path)
    return table["text"]


def _read(path: str, columns: tuple[str, ...]) -> Any:
    """The file as an Arrow table of these columns."""
    _check_header(path, columns)
    types = {name: pa.int64() if name in NUMBERS else pa.string() for name in columns}
    try:
        return read_csv(path, list(columns), types, "\t", quote_char=False, ignore_empty_lines=False)
    except (pa.ArrowInvalid, OSError) as error:
        if not isinstance(error, pa.ArrowInvalid):
            for _ in chunks(path, 2**20):  # a broken gzip file is told as such
                pass
        if _has_no_rows(path):
            return pa.table({name: pa.array([], kind) for name, kind in types.items()})
        raise SourceError(_fault(path, columns) or f"{path}: {str(error).splitlines()[0]}") from None


def _check_header(path: str, columns: tuple[str, ...]) -> None:
    with opened(path) as file:
        first = file.readline(2**16).decode(errors="replace").rstrip("\r\n")
    if first.split("\t") != list(columns):
        wanted = ", ".join(columns)
        raise SourceError(f"{path}, line 1: column names {first[:60]!r}, expected {wanted} separated by tabs")


def _has_no_rows(path: str) -> bool:
    with opened(path) as file:
        file.readline()
        return not file.read(1)


def _fault(path: str, columns: tuple[str, ...]) -> str:
    """What is wrong with the first wrong line."""
    line = HEADER_LINES
    with opened(path) as file:
        file.readline()
        for raw in file:
            line += 1
            try:
                fields = raw.decode().rstrip("\r\n").split("\t")
            except UnicodeDecodeError:
                return f"{path}, line {line}: not UTF-8 text"
            if len(fields) != len(columns):
                wanted = f"{len(columns)} ({', '.join(columns)}) separated by tabs"
                return f"{path}, line {line}: {len(fields)} fields, expected {wanted}"
            for name, field in zip(columns, fields, strict=True):
                if name in NUMBERS and not (field.isascii() and field.isdigit() and int(field) < 2**63):
                    return f"{path}, line {line}: {name} is {field[:40]!r}, expected a page number"
                if "\r" in field:
                    return f"{path}, line {line}: {name} holds a carriage return, expected none inside a field"
    return ""


def _check_order(ids: Any, path: str) -> None:
    found = ids.to_numpy()
    wrong = np.flatnonzero(found != np.arange(len(found)))
    if wrong.size:
        at = int(wrong[0])
        line = at + HEADER_LINES + 1
        raise SourceError(f"{path}, line {line}: id is {found[at]}, expected {at}: ids go 0, 1, 2, ... in order")


def _page_numbers(table: Any, column: str, pages: int, path: str) -> Array:
    numbers: Array = table[column].to_numpy()
    wrong = np.flatnonzero((numbers < 0) | (numbers >= pages))
    if wrong.size:
        at = int(wrong[0])
        raise SourceError(
            f"{path}, line {at + HEADER_LINES + 1}: {column} is {numbers[at]}, expected a page id, 0 to {pages - 1}"
        )
    return numbers.astype(np.int32)
