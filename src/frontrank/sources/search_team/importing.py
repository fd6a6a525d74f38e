"""Tables of a search team as they are read: pages by number, links, and counts of what was left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import canonical
from frontrank.sources.search_team.tables import Field, Schema, TeamTable, read_table
from frontrank.system.lazy import pa

PAGES = Schema(
    "pages",
    (
        Field("url", "url"),
        Field("fetched", "flag"),
        Field("clicks", "amount", required=False),
        Field("views", "amount", required=False),
        Field("title", "text", required=False),
        Field("text", "text", required=False),
        Field("host", "text", required=False),
    ),
)
LINKS = Schema("links", (Field("source", "url"), Field("target", "url"), Field("anchor", "text", required=False)))
DATE = Field("date", "date", required=False)
QUERIES = Schema("queries", (Field("query", "text"), Field("frequency", "amount"), DATE))
LOG = Schema(
    "log",
    (
        Field("query", "text"),
        Field("url", "url"),
        Field("clicks", "amount", required=False),
        Field("views", "amount", required=False),
        DATE,
    ),
)
IMPACT = Schema(
    "impact", (Field("url", "url"), Field("clicks", "amount", required=False), Field("views", "amount", required=False))
)
RESULTS = Schema(
    "results", (Field("query", "text"), Field("url", "url"), Field("rank", "rank"), Field("score", "number", required=False))
)


@dataclass
class ImportCounts:
    """What was left out or merged: nothing is dropped in silence."""

    skipped: dict[str, int] = field(default_factory=dict)  # bad rows left out, by table
    duplicate_pages: int = 0
    repeated_queries: int = 0  # rows of queries that were there before; their frequencies are added
    unknown_log_rows: int = 0  # rows whose URL is in no table of pages or links
    unknown_result_rows: int = 0
    unasked_result_rows: int = 0  # rows whose query is not in the workload
    repeated_results: int = 0  # rows of a query and page that were there before; the best rank counts
    undated_rows: int = 0  # rows of the log or of queries whose date cannot be read, where they have one
    unlinked_frontier: int = 0  # unfetched pages that no fetched page links to: no crawl has discovered them yet

    def json(self) -> dict[str, Any]:
        return dict(vars(self))


class Numbering:
    """Pages by URL, numbered as they come."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self._number: dict[str, int] = {}

    def of(self, column: Any, add: bool) -> Array:
        """The page number of each URL of an Arrow column; -1 for an unknown one, unless it is added."""
        encoded = column.dictionary_encode()
        distinct = np.array([self._of(url, add) for url in encoded.dictionary.to_pylist()], np.int32)
        indices: Array = encoded.indices.to_numpy(zero_copy_only=False)
        return distinct[indices] if indices.size else np.empty(0, np.int32)

    def _of(self, url: str, add: bool) -> int:
        key = canonical(url)
        page = self._number.get(key, -1)
        if page < 0 and add:
            page = self._number[key] = len(self.urls)
            self.urls.append(url)
        return page


class Import:
    """Tables as they are read: the numbers of pages, and what was left out so far."""

    def __init__(self, skip_bad: bool, progress: Callable[[str], None] | None) -> None:
        self.skip_bad, self.progress = skip_bad, progress
        self.numbering, self.counts = Numbering(), ImportCounts()

    def read(self, path: str, schema: Schema) -> TeamTable:
        if self.progress is not None:
            self.progress(f"reading {schema.table}")
        table = read_table(path, schema, self.skip_bad)
        if table.skipped:
            self.counts.skipped[schema.table] = table.skipped
        return table


class Pages(NamedTuple):
    """The table of pages, the row that counts for each page, and the fetched pages in the order of rows."""

    table: TeamTable
    row: Array
    fetched: Array


def read_pages(path: str, tables: Import) -> Pages:
    table = tables.read(path, PAGES)
    if not table.rows:
        why = "no row of it can be used" if table.skipped else "column names and no rows"
        raise InputError(f"{path}: {why}; expected at least one page, with fetched=1 for those that were fetched")
    numbers = tables.numbering.of(table.columns["url"], add=True)
    _, row = np.unique(numbers, return_index=True)
    tables.counts.duplicate_pages = table.rows - row.size
    return Pages(table, row, np.flatnonzero(table.columns["fetched"][row]).astype(np.int32))


class LinkEnds(NamedTuple):
    """The table of links, and both ends of each."""

    table: TeamTable
    source: Array
    target: Array


def read_edges(path: str, tables: Import) -> LinkEnds:
    """Source and target of a row are read one after the other, so new pages come in that order."""
    table = tables.read(path, LINKS)
    if not table.rows:
        return LinkEnds(table, np.empty(0, np.int32), np.empty(0, np.int32))
    both = pa.concat_arrays([table.columns["source"], table.columns["target"]])
    turn = np.arange(2 * table.rows).reshape(2, table.rows).T.ravel()
    numbers = tables.numbering.of(both.take(pa.array(turn)), add=True)
    return LinkEnds(table, numbers[0::2].copy(), numbers[1::2].copy())
