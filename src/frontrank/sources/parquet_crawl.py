"""A crawl at one moment as Parquet tables, a form that Spark and this machine read alike: what ``frontrank rank`` takes.

A folder with

    links.parquet    source, target                               int64
    pages.parquet    page                                         int64: 0 .. n - 1, each once, in any order
                     url, host                                    strings
                     fetched                                      boolean; without it all pages are, and all are ranked
                     views, clicks                                numbers; what is not known is null
                     anchors                                      string: anchors that point to the page, one per line
    queries.parquet  query, frequency                             string, number
    results.parquet  query, page, score                           string, int64, number: what the engine shows for a query

or folders of parts instead of the files: ``links/*.parquet``. Only links and page numbers must be there; a ranker says what
else it needs. Every page of the table is known, and counts: its number stands for the order of its discovery, and fetched
pages were fetched in the order of their numbers. Links of pages that are not fetched are not looked at, nor is what is known
of the worth of such pages. Repeated links count once, links of a page to itself not at all.

Every part's footer is read before the work (``parquet_rows``): a part that is cut off has none. Links are sorted on disk and
mapped, as those of a web directory are.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import Ranker
from frontrank.pages.urls import host_of
from frontrank.search.workload import load_workload, normalised
from frontrank.sources.parquet_rows import (
    WHOLE,
    ParquetTables,
    are_in_order,
    impact_of,
    link_pieces,
    looked_at,
    numbered_pieces,
    table_of,
)
from frontrank.sources.parquet_tables import batches_of, parts_of, table_path
from frontrank.sources.spilled import SpilledLinks
from frontrank.sources.web_directory import mapped
from frontrank.system.capacity import BYTES_A_PAGE, gb
from frontrank.web.view import CrawlView, Results, SearchView, Workload
from frontrank.web.web import numbered

TABLES = ("links", "pages")
BYTES_A_LINK = 40  # of memory, where a ranker learns from earlier moments
DISK_A_LINK, DISK_A_PAGE = 24, 8  # as they come, by bucket, sorted; by target


def is_parquet_crawl(path: str) -> bool:
    """Whether tables of links and of pages lie there; a folder elsewhere (hdfs://...) is taken to hold them."""
    if "://" in path:
        return True
    return all(os.path.isfile(f"{path}/{table}.parquet") or os.path.isdir(f"{path}/{table}") for table in TABLES)


@dataclass(frozen=True, eq=False)
class ParquetCrawl:
    """The tables of a crawl. What is not asked for is not read; links are sorted on disk, and mapped."""

    tables: ParquetTables

    @property
    def path(self) -> str:
        return self.tables.path

    @property
    def pages(self) -> int:
        return self.tables.pages.rows

    @property
    def columns(self) -> frozenset[str]:
        """Of the pages table."""
        return frozenset(self.tables.pages.columns)

    @property
    def queries(self) -> bool:
        return bool(parts_of(self.path, "queries"))

    @cached_property
    def checked(self) -> bool:
        """That each page is there once."""
        are_in_order(self.tables.pages)
        return True

    def values(self, name: str) -> Array | None:
        """A column of numbers, by page; null is 0. None if the table has no such column."""
        if name not in self.columns:
            return None
        assert self.checked
        values = np.zeros(self.pages)
        for numbers, column in numbered_pieces(self.tables, name):
            values[numbers] = impact_of(self.path, column, name)
        return values

    @cached_property
    def fetched(self) -> Array | None:
        if "fetched" not in self.columns:
            return None
        assert self.checked
        fetched = np.zeros(self.pages, bool)
        for numbers, column in numbered_pieces(self.tables, "fetched"):
            fetched[numbers] = impact_of(self.path, column, "fetched") > 0
        return fetched

    def strings(self, name: str) -> list[str]:
        """A column of strings, by page; null is empty."""
        assert self.checked
        texts = [""] * self.pages
        for numbers, column in numbered_pieces(self.tables, name):
            for page, text in zip(numbers.tolist(), column.to_pylist(), strict=True):
                texts[page] = text or ""
        return texts

    def urls_of(self, pages: Sequence[int]) -> list[str]:
        """The URLs of some pages, or their numbers where URLs are not known."""
        if "url" not in self.columns:
            return [str(page) for page in pages]
        asked, which = np.unique(np.asarray(pages, np.int64), return_inverse=True)
        found = [str(page) for page in asked.tolist()]
        for numbers, column in numbered_pieces(self.tables, "url"):  # the column whole may not fit
            wanted = np.flatnonzero(np.isin(numbers, asked))
            place = np.searchsorted(asked, numbers[wanted]).tolist()
            for at, url in zip(place, column.take(wanted).to_pylist(), strict=True):
                found[at] = url or found[at]
        return [found[at] for at in which.tolist()]

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """indptr and targets of all pages, none of pages that are not fetched: in files without a name, mapped."""
        assert self.checked
        with tempfile.TemporaryDirectory(prefix="frontrank-") as folder:
            with SpilledLinks(Path(folder), self.tables.name) as spilled:
                for source, target in link_pieces(self.tables):
                    counts = slice(None) if self.fetched is None else self.fetched[source]
                    spilled.add(source[counts], target[counts])
                links = spilled.write(self.pages)
            return mapped(folder, "indptr", np.int64, self.pages + 1), mapped(folder, "targets", np.int32, links)

    def view(self, impact: str | None = None, search: bool = False, rows: int | None = None) -> CrawlView:
        """What the crawl knows, or knew after so many fetches."""
        indptr, target = self.rows
        source = np.arange(self.pages) if self.fetched is None else np.flatnonzero(self.fetched)
        source = source[:rows].astype(np.int32)
        # Waiting pages have no links, so those of fetched pages lie one behind the other: nothing need be copied.
        cut = np.append(indptr[source], indptr[source[-1] + 1 :][:1] if source.size else 0)
        view = CrawlView(self.pages, 0, np.arange(self.pages, dtype=np.int32), source, cut, target)
        worth = impact_column(self.columns, impact, self.path)
        if worth is not None:
            values = self.values(worth)
            assert values is not None
            view.see_impact(values)
        if search:
            view.search = self._search(view)
        return view

    def _search(self, view: CrawlView) -> SearchView:
        workload, urls = load_workload(table_path(self.path, "queries")), self.strings("url")
        anchors = self.strings("anchors") if "anchors" in self.columns else [""] * self.pages
        hosts, _ = numbered(self.strings("host") if "host" in self.columns else map(host_of, urls))
        shown = results_of(self.path, workload, view.fetched)
        return SearchView(workload, shown, urls, anchors, hosts)


def impact_column(columns: Iterable[str], impact: str | None, path: str) -> str | None:
    """What fetched pages are known to be worth: what was asked for, or views, or clicks, or nothing."""
    present = set(columns)
    if impact is not None and impact not in present:
        raise InputError(f"{path} knows no {impact}; its pages table needs a column {impact}")
    return impact or next((name for name in ("views", "clicks") if name in present), None)


def results_of(path: str, workload: Workload, fetched: Array) -> Results:
    """What the engine shows for each query, best first; fetched pages alone."""
    files = parts_of(path, "results")
    columns: dict[str, list[Any]] = {"query": [], "page": [], "score": []}
    if files:
        table_of(path, "results", {"query": ("string", "large_string"), "page": WHOLE, "score": ("double", "float", *WHOLE)})
        for _, _, batch in batches_of(files, [*columns]):
            for name, column in columns.items():
                column += batch[name].to_pylist()
    query, page, score = sorted_results(columns["query"], columns["page"], columns["score"], workload, len(fetched))
    kept = fetched[page]
    return by_query(query[kept], page[kept].astype(np.int32), score[kept], len(workload))


def sorted_results(
    queries: Sequence[str], pages: Any, scores: Any, workload: Workload, known: int
) -> tuple[Array, Array, Array]:
    """Results by query, best first, equal ones by page: numbers of queries, pages, scores. Other queries' are left out."""
    number = {query: at for at, query in enumerate(workload.queries)}
    query = np.array([number.get(normalised(text or ""), -1) for text in queries], np.int64)
    page, score = np.array(pages, np.int64), np.array(scores, np.float64)
    at = np.lexsort((page, -score, query))
    at = at[query[at] >= 0]
    wrong = at[(page[at] < 0) | (page[at] >= known)]
    if wrong.size:
        raise SourceError(f"results: page {page[wrong[0]]} is not in the pages table, which has 0 to {known - 1}")
    return query[at], page[at], score[at]


def by_query(query: Array, page: Array, score: Array, queries: int) -> Results:
    """Results that are sorted by query, as rows of a CSR."""
    return Results(np.concatenate([[0], np.cumsum(np.bincount(query, minlength=queries))]), page, score)


def open_crawl(path: str) -> ParquetCrawl:
    """The tables of a folder; nothing but footers is read yet."""
    return ParquetCrawl(looked_at(path))


def check_fits(crawl: ParquetCrawl, ranker: Ranker, memory: int | None, disk: int) -> None:
    """InputError if ranking on this machine takes more than so many bytes of memory, or of the disk for temporary files: to be
    asked before the work. Links are mapped: only rankers that read texts or earlier moments hold more of them in memory."""
    links, pages = crawl.tables.links.rows, crawl.pages
    size = f"{crawl.path}: {links:,} links and {pages:,} pages"
    line = f"frontrank rank {crawl.path} --ordering {ranker.spec()} --engine spark"
    wanted = pages * BYTES_A_PAGE + (links * BYTES_A_LINK if ranker.needs() & {"history", "queries"} else 0)
    if memory is not None and wanted > memory:
        raise InputError(
            f"{size} need about {gb(wanted)} of memory for {ranker.spec()}, and {gb(memory)} are free; free some, or: {line}"
        )
    wanted = links * DISK_A_LINK + pages * DISK_A_PAGE
    if wanted > disk:
        raise InputError(
            f"{size} need about {gb(wanted)} of disk while links are sorted, and {tempfile.gettempdir()} has {gb(disk)};"
            f" set TMPDIR to a larger disk, or: {line}"
        )
