"""The tables of a search team: pages it fetched or knows, links, queries, a click log, search results.

    pages    url, fetched, and if known: clicks, views, title, text, host
    links    source, target (URLs), and if known: anchor
    queries  query, frequency, and if known: date
    log      query, url, and clicks, views or both, and if known: date
    results  query, url, rank, and if known: score

Pages are numbered by their rows, then those that only links name, by the links' rows, source before target: these have not
been fetched. URLs are compared in canonical form and kept as first given. Rows of the same page: the first counts. Clicks
and views are those of pages, or else the sums of the log. Without a table of queries the log stands in for it: a query was
asked as often as its most viewed page was viewed (clicked, if the log has no views).

Dates are kept beside the sums: what was asked, clicked and shown when. Rows whose date cannot be read count in the sums alone.

Formats and checks: ``tables``. Cost: one look-up for each distinct URL of a table; all tables are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of
from frontrank.sources.search_team.importing import (
    QUERIES,
    RESULTS,
    Import,
    ImportCounts,
    LinkEnds,
    Numbering,
    Pages,
    read_edges,
    read_pages,
)
from frontrank.sources.search_team.searchers import (
    ResultTable,
    impact_of,
    read_log,
    results_of,
    seen_on,
    undated_rows,
    workload_of_tables,
)
from frontrank.sources.search_team.tables import TeamTable
from frontrank.system.lazy import pa
from frontrank.web.dates import AskedOn
from frontrank.web.strings import Texts
from frontrank.web.web import IMPACTS, Web, numbered


@dataclass(frozen=True, eq=False)
class Observed:
    """A crawl at one moment, and what searchers did."""

    web: Web  # with clicks and views where they are known
    fetched: Array  # page numbers, in fetch order
    queries: Sequence[str] | None = None
    frequency: Array | None = None  # of each query
    results: ResultTable | None = None
    asked_on: AskedOn | None = None  # when each query was asked, where that is known


class TeamFiles(NamedTuple):
    """The files with the tables of a search team."""

    pages: str
    links: str
    queries: str | None = None
    log: str | None = None
    results: str | None = None


def read_observed(
    files: TeamFiles, *, skip_bad: bool = False, name: str = "crawl", progress: Callable[[str], None] | None = None
) -> tuple[Observed, ImportCounts]:
    """The crawl that these tables describe, and counts of what was left out."""
    if files.results is not None and files.queries is None and files.log is None:
        raise InputError(f"{files.results}: results need the frequencies of their queries; give --queries or --log too")
    tables = Import(skip_bad, progress)
    numbering, counts = tables.numbering, tables.counts
    pages = read_pages(files.pages, tables)
    edges = read_edges(files.links, tables)
    log = read_log(files.log, tables)
    columns = {column: impact_of(column, pages, log, numbering, counts) for column in IMPACTS}
    web = _web(pages, edges, numbering, {"name": name, "seen_on": seen_on(log, pages.table, numbering), **columns})
    counts.unlinked_frontier = _unlinked(web, pages.fetched)
    query_table = None if files.queries is None else tables.read(files.queries, QUERIES)
    queries, frequency, asked_on = workload_of_tables(query_table, log, counts)
    counts.undated_rows = sum(undated_rows(table) for table in (query_table, log))
    results = None
    if files.results is not None:
        assert queries is not None
        results = results_of(tables.read(files.results, RESULTS), queries, numbering, counts)
    return Observed(web, pages.fetched, queries, frequency, results, asked_on), counts


# --- pages and links ---


def _web(pages: Pages, edges: LinkEnds, numbering: Numbering, columns: dict[str, Any]) -> Web:
    columns["urls"] = numbering.urls
    more = len(numbering.urls) - pages.row.size
    for name, column in (("title", "titles"), ("text", "texts")):
        if name in pages.table.columns:
            columns[column] = _of_rows(pages.table.columns[name], pages.row, more)
    columns["hosts"], columns["host_names"] = _hosts(pages.table, pages.row, numbering.urls)
    if "anchor" in edges.table.columns:
        columns["anchors"] = edges.table.columns["anchor"].to_pylist()
    return Web.from_edges(edges.source, edges.target, len(numbering.urls), **columns)


def _of_rows(column: Any, row: Array, more: int) -> Texts:
    return Texts(pa.concat_arrays([column.take(pa.array(row)), pa.array([""] * more, column.type)]))


def _hosts(table: TeamTable, row: Array, urls: Sequence[str]) -> tuple[Array, list[str]]:
    """Host numbers by first appearance; a host that is not given is that of the URL."""
    given = table.get("host")
    names: Iterable[str] = [""] * len(urls) if given is None else _of_rows(given, row, len(urls) - row.size)
    return numbered(name.lower() or host_of(url) for name, url in zip(names, urls, strict=True))


def _unlinked(web: Web, fetched: Array) -> int:
    known = np.zeros(web.pages, bool)
    known[fetched] = True
    known[web.targets[np.repeat(known, web.out_degree())]] = True
    return int(web.pages - known.sum())
