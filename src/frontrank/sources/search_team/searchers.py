"""What searchers did: clicks and views of pages, the workload, and the results that they were shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.sources.search_team.importing import IMPACT, LOG, Import, ImportCounts, Numbering, Pages
from frontrank.sources.search_team.tables import TeamTable, read_table
from frontrank.web.dates import AskedOn, SeenOn, by_date
from frontrank.web.web import IMPACTS


@dataclass(frozen=True, eq=False)
class ResultTable:
    """Search results as parallel arrays, sorted by query and rank; one row for each query and page."""

    query: Array  # int32: which of the queries
    page: Array  # int32
    rank: Array  # int32, from 1
    score: Array  # float64; 1 / rank where the table gave none


def read_log(path: str | None, tables: Import) -> TeamTable | None:
    if path is None:
        return None
    log = tables.read(path, LOG)
    if not any(column in log.columns for column in IMPACTS):
        raise InputError(f"{log.path}: neither clicks nor views; a log needs one of these columns, or both")
    return log


def impact_of(column: str, pages: Pages, log: TeamTable | None, numbering: Numbering, counts: ImportCounts) -> Array | None:
    """Clicks or views of each page: of the table of pages, else of the log."""
    impact = np.zeros(len(numbering.urls))
    if log is not None:
        at = numbering.of(log.columns["url"], add=False)
        counts.unknown_log_rows = int((at < 0).sum())
    if column in pages.table.columns:
        impact[: pages.row.size] = pages.table.columns[column][pages.row]
    elif log is not None and column in log.columns:
        np.add.at(impact, at[at >= 0], log.columns[column][at >= 0])
    else:
        return None
    return impact


def seen_on(log: TeamTable | None, pages: TeamTable, numbering: Numbering) -> SeenOn | None:
    """When pages were clicked on and shown, as far as the log has dates."""
    if log is None or log.get("date") is None:
        return None
    at = numbering.of(log.columns["url"], add=False)
    amounts = [None if name in pages.columns else log.get(name) for name in ("views", "clicks")]
    page, time, sums = by_date(at, log.columns["date"], *amounts)
    return SeenOn(page, time, *sums) if page.size else None


def undated_rows(table: TeamTable | None) -> int:
    return 0 if table is None or table.get("date") is None else int(np.isnan(table.columns["date"]).sum())


def workload_of_tables(
    queries: TeamTable | None, log: TeamTable | None, counts: ImportCounts
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


def results_of(table: TeamTable, queries: Sequence[str], numbering: Numbering, counts: ImportCounts) -> ResultTable:
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
