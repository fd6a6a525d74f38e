"""What a search team has: pages it fetched or knows of, links, queries, a click log, search results, as tables.

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
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.jit import Array
from frontrank.pages.urls import canonical, host_of
from frontrank.sources.search_team.tables import Field, Schema, TeamTable, read_table
from frontrank.web.dates import AskedOn, SeenOn, by_date
from frontrank.web.strings import Texts
from frontrank.web.web import IMPACTS, Web

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


@dataclass(frozen=True, eq=False)
class ResultTable:
    """Search results as parallel arrays, sorted by query and rank; one row for each query and page."""

    query: Array  # int32: which of the queries
    page: Array  # int32
    rank: Array  # int32, from 1
    score: Array  # float64; 1 / rank where the table gave none


@dataclass(frozen=True, eq=False)
class Observed:
    """A crawl at one moment and what searchers did with it."""

    web: Web  # with clicks and views where they are known
    fetched: Array  # page numbers, in fetch order
    queries: Sequence[str] | None = None
    frequency: Array | None = None  # of each query
    results: ResultTable | None = None
    asked_on: AskedOn | None = None  # when each query was asked, where that is known


@dataclass
class Counts:
    """What was met on the way: nothing is dropped in silence."""

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


def read_observed(
    pages: str,
    links: str,
    queries: str | None = None,
    log: str | None = None,
    results: str | None = None,
    skip_bad: bool = False,
    name: str = "crawl",
    progress: Callable[[str], None] | None = None,
) -> tuple[Observed, Counts]:
    """The crawl that these tables tell of, and what was left out of it."""
    counts = Counts()

    def read(path: str, schema: Schema) -> TeamTable:
        if progress is not None:
            progress(f"reading {schema.table}")
        table = read_table(path, schema, skip_bad)
        if table.skipped:
            counts.skipped[schema.table] = table.skipped
        return table

    if results is not None and queries is None and log is None:
        raise InputError(f"{results}: results need the frequencies of their queries; give --queries or --log too")
    numbering = Numbering()
    page_table = read(pages, PAGES)
    if not page_table.rows:
        why = "no row of it can be used" if page_table.skipped else "column names and no rows"
        raise InputError(f"{pages}: {why}; expected at least one page, with fetched=1 for those that were fetched")
    row, fetched = _page_rows(page_table, numbering, counts)
    edges = read(links, LINKS)
    source, target = _endpoints(edges, numbering)
    logged = None if log is None else read(log, LOG)
    if logged is not None and not any(column in logged.columns for column in IMPACTS):
        raise InputError(f"{logged.path}: neither clicks nor views; a log needs one of these columns, or both")
    impacts = {column: _impact(column, page_table, row, logged, numbering, counts) for column in IMPACTS}
    seen_on = _seen_on(logged, page_table, numbering)
    web = _web(page_table, row, edges, source, target, numbering, {"name": name, "seen_on": seen_on, **impacts})
    counts.unlinked_frontier = _unlinked(web, fetched)
    query_table = None if queries is None else read(queries, QUERIES)
    asked, frequency, asked_on = _workload(query_table, logged, counts)
    counts.undated_rows = sum(_undated(table) for table in (query_table, logged))
    shown = None
    if results is not None:
        assert asked is not None
        shown = _results(read(results, RESULTS), asked, numbering, counts)
    return Observed(web, fetched, asked, frequency, shown, asked_on), counts


# --- pages and links ---


def _page_rows(table: TeamTable, numbering: Numbering, counts: Counts) -> tuple[Array, Array]:
    """The row that counts for each page, and the fetched pages in the order of rows."""
    numbers = numbering.of(table.columns["url"], add=True)
    _, row = np.unique(numbers, return_index=True)
    counts.duplicate_pages = table.rows - row.size
    fetched = np.flatnonzero(table.columns["fetched"][row]).astype(np.int32)
    return row, fetched


def _endpoints(edges: TeamTable, numbering: Numbering) -> tuple[Array, Array]:
    """Both ends of each link. Source and target of a row are read one after the other, so new pages come in that order."""
    need("pyarrow")
    import pyarrow as pa

    if not edges.rows:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    both = pa.concat_arrays([edges.columns["source"], edges.columns["target"]])
    turn = np.arange(2 * edges.rows).reshape(2, edges.rows).T.ravel()
    numbers = numbering.of(both.take(pa.array(turn)), add=True)
    return numbers[0::2].copy(), numbers[1::2].copy()


def _web(
    table: TeamTable, row: Array, edges: TeamTable, source: Array, target: Array, numbering: Numbering, columns: dict[str, Any]
) -> Web:
    columns["urls"] = numbering.urls
    more = len(numbering.urls) - row.size
    for given, column in (("title", "titles"), ("text", "texts")):
        if given in table.columns:
            columns[column] = _of_rows(table.columns[given], row, more)
    columns["hosts"], columns["host_names"] = _hosts(table, row, numbering.urls)
    if "anchor" in edges.columns:
        columns["anchors"] = edges.columns["anchor"].to_pylist()
    return Web.from_edges(source, target, len(numbering.urls), **columns)


def _of_rows(column: Any, row: Array, more: int) -> Texts:
    need("pyarrow")
    import pyarrow as pa

    return Texts(pa.concat_arrays([column.take(pa.array(row)), pa.array([""] * more, column.type)]))


def _hosts(table: TeamTable, row: Array, urls: Sequence[str]) -> tuple[Array, list[str]]:
    """Host numbers by first appearance; a host that is not given is that of the URL."""
    given = table.get("host")
    names: Iterable[str] = [""] * len(urls) if given is None else _of_rows(given, row, len(urls) - row.size)
    numbers: dict[str, int] = {}
    hosts = np.empty(len(urls), np.int32)
    for page, (name, url) in enumerate(zip(names, urls, strict=True)):
        hosts[page] = numbers.setdefault(name.lower() or host_of(url), len(numbers))
    return hosts, list(numbers)


def _unlinked(web: Web, fetched: Array) -> int:
    known = np.zeros(web.pages, bool)
    known[fetched] = True
    known[web.targets[np.repeat(known, web.out_degree())]] = True
    return int(web.pages - known.sum())


# --- searchers ---


def _impact(
    column: str, pages: TeamTable, row: Array, log: TeamTable | None, numbering: Numbering, counts: Counts
) -> Array | None:
    """Clicks or views of each page: of the table of pages, else of the log."""
    impact = np.zeros(len(numbering.urls))
    if log is not None:
        at = numbering.of(log.columns["url"], add=False)
        counts.unknown_log_rows = int((at < 0).sum())
    if column in pages.columns:
        impact[: row.size] = pages.columns[column][row]
    elif log is not None and column in log.columns:
        np.add.at(impact, at[at >= 0], log.columns[column][at >= 0])
    else:
        return None
    return impact


def _seen_on(log: TeamTable | None, pages: TeamTable, numbering: Numbering) -> SeenOn | None:
    """When pages were clicked on and shown, as far as the log tells of that."""
    if log is None or log.get("date") is None:
        return None
    at = numbering.of(log.columns["url"], add=False)
    amounts = [None if name in pages.columns else log.get(name) for name in ("views", "clicks")]
    page, time, sums = by_date(at, log.columns["date"], *amounts)
    return SeenOn(page, time, *sums) if page.size else None


def _undated(table: TeamTable | None) -> int:
    return 0 if table is None or table.get("date") is None else int(np.isnan(table.columns["date"]).sum())


def _workload(
    queries: TeamTable | None, log: TeamTable | None, counts: Counts
) -> tuple[list[str] | None, Array | None, AskedOn | None]:
    """Distinct queries in their order, how often each is asked, and when."""
    if queries is not None:
        encoded = queries.columns["query"].dictionary_encode()
        counts.repeated_queries = queries.rows - len(encoded.dictionary)
        frequency = np.zeros(len(encoded.dictionary))
        of_query = encoded.indices.to_numpy(zero_copy_only=False)
        np.add.at(frequency, of_query, queries.columns["frequency"])
        asked_on = _asked_on(of_query, queries.get("date"), queries.columns["frequency"])
        return encoded.dictionary.to_pylist(), frequency, asked_on
    if log is None:
        return None, None, None
    amount = log.columns["views" if "views" in log.columns else "clicks"]
    encoded, of_url = (log.columns[name].dictionary_encode() for name in ("query", "url"))
    at, url = (part.indices.to_numpy(zero_copy_only=False).astype(np.int64) for part in (encoded, of_url))
    pair, inverse = np.unique(at * max(len(of_url.dictionary), 1) + url, return_inverse=True)  # days are added up
    frequency = np.zeros(len(encoded.dictionary))
    np.maximum.at(frequency, pair // max(len(of_url.dictionary), 1), np.bincount(inverse, amount, pair.size))
    if log.get("date") is None:
        return encoded.dictionary.to_pylist(), frequency, None
    pairs, time, sums = by_date(inverse, log.columns["date"], amount)  # of each date the most viewed page counts
    asked_on = _asked_on(pair[pairs] // max(len(of_url.dictionary), 1), time, sums[0], np.maximum)
    return encoded.dictionary.to_pylist(), frequency, asked_on


def _asked_on(query: Array, time: Array | None, amount: Any, fold: np.ufunc = np.add) -> AskedOn | None:
    if time is None:
        return None
    found, times, sums = by_date(query, time, amount, fold=fold)
    assert sums[0] is not None
    return AskedOn(found, times, sums[0]) if found.size else None


def _results(table: TeamTable, queries: Sequence[str], numbering: Numbering, counts: Counts) -> ResultTable:
    index = {query: i for i, query in enumerate(queries)}
    encoded = table.columns["query"].dictionary_encode()
    of_query = np.array([index.get(query, -1) for query in encoded.dictionary.to_pylist()], np.int32)
    query = of_query[encoded.indices.to_numpy(zero_copy_only=False)] if table.rows else np.empty(0, np.int32)
    page = numbering.of(table.columns["url"], add=False)
    counts.unknown_result_rows = int((page < 0).sum())
    counts.unasked_result_rows = int((query < 0).sum())
    rank = table.columns["rank"]
    score = np.full(table.rows, np.nan) if table.get("score") is None else table.columns["score"]
    score = np.where(np.isnan(score), 1 / np.maximum(rank, 1), score)
    order = np.lexsort((rank, query))
    order = order[(page[order] >= 0) & (query[order] >= 0)]
    pair = query[order].astype(np.int64) * len(numbering.urls) + page[order]
    _, first = np.unique(pair, return_index=True)
    counts.repeated_results = order.size - first.size
    order = order[np.sort(first)]
    ranks = np.minimum(rank[order], np.iinfo(np.int32).max).astype(np.int32)
    return ResultTable(query[order], page[order], ranks, score[order])


def read_impacts(path: str) -> list[tuple[str, float | None, float | None]]:
    """URL, clicks and views of each row of a table, for a live crawl; of a URL on several rows the sums."""
    table = read_table(path, IMPACT)
    columns = [table.get(name) for name in ("clicks", "views")]
    if all(column is None for column in columns):
        raise InputError(f"{table.path}: neither clicks nor views; a table of impact needs one of these columns, or both")
    sums: dict[str, list[float]] = {}
    for row, url in enumerate(table.columns["url"].to_pylist()):
        total = sums.setdefault(url, [0.0, 0.0])
        for at, column in enumerate(columns):
            total[at] += 0.0 if column is None else float(column[row])
    clicks, views = (column is not None for column in columns)
    return [(url, total[0] if clicks else None, total[1] if views else None) for url, total in sums.items()]
