"""A crawl at one moment as Parquet tables, a form that Spark and this machine read alike: what ``frontrank rank`` takes.

A folder with

    links.parquet    source, target                               int64
    pages.parquet    page                                         int64: 0 .. n - 1, each once, in any order
                     url, host                                    strings
                     fetched                                      boolean; without it all pages are, and all are ranked
                     views, clicks                                numbers; what is not known is null
                     anchors                                      string: anchors that point to the page, one a line
    queries.parquet  query, frequency                             string, number
    results.parquet  query, page, score                           string, int64, number: what the engine shows for a query

or folders of parts in place of the files: ``links/*.parquet``. Only links and page numbers must be there; a ranker says what
else it needs. Every page of the table is known, and counts: its number stands for the order of its discovery, and fetched
pages were fetched in the order of their numbers. Links of pages that are not fetched are not looked at, nor is what is known
of the worth of such pages. Repeated links count once, links of a page to itself not at all.

``checked_parts`` reads every part's footer before the work: a part that is cut off has none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from frontrank.errors import InputError, SourceError, need
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of
from frontrank.search.workload import load_workload, normalised
from frontrank.sources.parquet_tables import batches_of, opened_part, parts_of, table_path
from frontrank.web.links import MAX_PAGES, by_source, tidy
from frontrank.web.view import CrawlView, Results, SearchView, Workload
from frontrank.web.web import IMPACTS

TABLES = ("links", "pages")
EARLIER = (1 / 2, 2 / 3, 5 / 6)  # of what is fetched: the moments that are learned from
BYTES_A_LINK, BYTES_A_PAGE = 16, 64  # of memory, at the peak of a ranking here


def is_parquet_crawl(path: str) -> bool:
    """Whether tables of links and of pages lie there; a folder elsewhere (hdfs://...) is taken to hold them."""
    if "://" in path:
        return True
    return all(os.path.isfile(f"{path}/{table}.parquet") or os.path.isdir(f"{path}/{table}") for table in TABLES)


@dataclass(frozen=True)
class Parts:
    """The files of a table, with what their footers say."""

    files: list[str]
    rows: int
    columns: dict[str, str]  # types by name


def checked_parts(path: str, table: str, needed: Mapping[str, tuple[str, ...]]) -> Parts:
    """The parts of a table, each whole by its footer, with the columns that are needed (name: kinds that will do)."""
    files = parts_of(path, table)
    if not files:
        raise SourceError(f"{path}: there is no {table}.parquet and no folder {table} with parts; a web has links and pages")
    rows, columns = 0, dict[str, str]()
    for file in files:
        with opened_part(file) as footer:
            kinds = {field.name: str(field.type) for field in footer.schema_arrow}
            rows += footer.metadata.num_rows
        check_columns(file, kinds, needed)
        columns = columns or kinds
    return Parts(files, rows, columns)


def check_columns(where: str, kinds: dict[str, str], needed: Mapping[str, tuple[str, ...]]) -> None:
    """SourceError if a needed column is missing, or any is of another kind than it must be."""
    for name, known in needed.items():
        if name not in kinds:
            raise SourceError(f"{where}: no column {name!r}; it has {', '.join(kinds) or 'none'}")
        if kinds[name] not in known:
            raise SourceError(f"{where}: column {name!r} must be {known[0]}, got {kinds[name]}")


WHOLE = ("int64", "int32", "uint32", "int16")
LINKS = {"source": WHOLE, "target": WHOLE}
PAGES = {"page": WHOLE}


@dataclass(frozen=True, eq=False)
class ParquetCrawl:
    """The tables of a crawl, in memory; what is not asked for is not read."""

    path: str
    pages: int
    links: Parts
    columns: frozenset[str]  # of the pages table

    @property
    def queries(self) -> bool:
        return bool(parts_of(self.path, "queries"))

    @cached_property
    def number(self) -> Array:
        """The page of each row of the pages table."""
        numbers: Array = self._column("page").to_numpy(zero_copy_only=False).astype(np.int64)
        seen = np.zeros(self.pages, bool)
        wrong = (numbers < 0) | (numbers >= self.pages)
        if wrong.any():
            raise SourceError(not_numbered(int(numbers[wrong][0]), self.pages))
        seen[numbers] = True
        if not seen.all():
            values, times = np.unique(numbers, return_counts=True)
            raise SourceError(f"pages: page {values[times > 1][0]} is there twice; pages must be numbered, each once")
        return numbers

    def values(self, name: str) -> Array | None:
        """A column of numbers, by page; null is 0. None if the table has no such column."""
        if name not in self.columns:
            return None
        column, values = self._column(name), np.zeros(self.pages)
        values[self.number] = np.nan_to_num(np.asarray(column.to_numpy(zero_copy_only=False), np.float64))
        if bool(np.any(values < 0)) or not bool(np.all(np.isfinite(values))):
            raise SourceError(f"pages: {name} must be numbers from 0, got {values.min():g}")
        return values

    @cached_property
    def fetched(self) -> Array | None:
        found = self.values("fetched")
        return None if found is None else found > 0

    def strings(self, name: str) -> list[str]:
        """A column of strings, by page; null is empty."""
        texts = [""] * self.pages
        for page, text in zip(self.number.tolist(), self._column(name).to_pylist(), strict=True):
            texts[page] = text or ""
        return texts

    def urls_of(self, pages: Sequence[int]) -> list[str]:
        """The URLs of some pages, or their numbers where URLs are not known."""
        if "url" not in self.columns:
            return [str(page) for page in pages]
        asked, which = np.unique(np.asarray(pages, np.int64), return_inverse=True)
        found = [str(page) for page in asked.tolist()]
        for _, _, batch in batches_of(parts_of(self.path, "pages"), ["page", "url"]):  # the column whole may not fit
            numbers = batch.column("page").to_numpy(zero_copy_only=False).astype(np.int64)
            wanted = np.flatnonzero(np.isin(numbers, asked))
            place = np.searchsorted(asked, numbers[wanted]).tolist()
            for at, url in zip(place, batch.column("url").take(wanted).to_pylist(), strict=True):
                found[at] = url or found[at]
        return [found[at] for at in which.tolist()]

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """indptr and targets of all pages; none of pages that are not fetched."""
        source, target = np.empty(self.links.rows, np.int32), np.empty(self.links.rows, np.int32)
        at = 0
        for _, _, batch in batches_of(self.links.files, ["source", "target"]):
            end = at + batch.num_rows
            for name, into in (("source", source), ("target", target)):
                into[at:end] = self._numbers(batch.column(name))
            at = end
        if self.fetched is not None:
            counts = self.fetched[source]
            source, target = source[counts], target[counts]
        indptr, targets, _ = by_source(source, target, self.pages)
        del source, target
        indptr, targets, _ = tidy(indptr, targets)
        return indptr, targets

    def view(self, impact: str | None = None, search: bool = False, rows: int | None = None) -> CrawlView:
        """What the crawl knows, or knew after so many fetches."""
        if self.number.size != self.pages:
            raise SourceError(f"{self.path}: the pages table changed while it was read; rank it again")
        indptr, target = self.rows
        source = np.arange(self.pages) if self.fetched is None else np.flatnonzero(self.fetched)
        source = source[:rows].astype(np.int32)
        degree = np.diff(indptr)[source]
        cut = np.concatenate([[0], np.cumsum(degree)])
        if len(source) < self.pages:
            target = target[np.repeat(indptr[:-1][source] - cut[:-1], degree) + np.arange(cut[-1])]
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
        names = self.strings("host") if "host" in self.columns else [host_of(url) for url in urls]
        numbers: dict[str, int] = {}
        hosts = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
        shown = Results(*results_of(self.path, workload, view.fetched))
        return SearchView(workload, shown, urls, anchors, hosts)

    def _column(self, name: str) -> Any:
        need("pyarrow")
        import pyarrow as pa

        files = parts_of(self.path, "pages")
        chunks = [batch.column(name) for _, _, batch in batches_of(files, [name])]
        return pa.chunked_array(chunks).combine_chunks() if chunks else pa.array([])

    def _numbers(self, column: Any) -> Array:
        if column.null_count:
            raise SourceError("links: a link has no source or no target; expected two page numbers in every row")
        numbers: Array = column.to_numpy(zero_copy_only=False)
        wrong = (numbers < 0) | (numbers >= self.pages)
        if wrong.any():
            raise SourceError(not_known(int(numbers[wrong][0]), self.pages))
        return numbers


def not_known(page: int, pages: int) -> str:
    """What is said of a link to or from a page that is not there."""
    return f"links: page {page} is not in the pages table, which has 0 to {pages - 1}; add it, or drop the link"


def not_numbered(page: int, pages: int) -> str:
    """What is said of a page whose number is none of 0 .. n - 1."""
    return f"pages: there are {pages} rows, so pages must be numbered 0 to {pages - 1}, each once, got {page}"


def impact_column(columns: Iterable[str], impact: str | None, path: str) -> str | None:
    """What fetched pages are known to be worth: what was asked for, or views, or clicks, or nothing."""
    held = set(columns)
    if impact is not None and impact not in held:
        raise InputError(f"{path} knows no {impact}; its pages table needs a column {impact}")
    return impact or next((name for name in ("views", "clicks") if name in held), None)


def results_of(path: str, workload: Workload, fetched: Array) -> tuple[Array, Array, Array]:
    """What the engine shows for each query: indptr, pages and scores, best first; fetched pages alone."""
    query, page, score = result_rows(path, workload)
    if page.size and not (page.min() >= 0 and page.max() < len(fetched)):
        wrong = page[(page < 0) | (page >= len(fetched))][0]
        raise SourceError(f"results: page {wrong} is not in the pages table, which has 0 to {len(fetched) - 1}")
    kept = fetched[page]
    query, page, score = query[kept], page[kept], score[kept]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=len(workload)))])
    return indptr, page.astype(np.int32), score


def result_rows(path: str, workload: Workload) -> tuple[Array, Array, Array]:
    """The rows of the results table, by query, best first: numbers of queries, pages, scores."""
    files = parts_of(path, "results")
    held: list[list[Any]] = [[], [], []]
    if files:
        kinds = {"query": ("string", "large_string"), "page": WHOLE, "score": ("double", "float", *WHOLE)}
        checked_parts(path, "results", kinds)
        for _, _, batch in batches_of(files, [*kinds]):
            for name, column in zip(kinds, held, strict=True):
                column += batch[name].to_pylist()
    return sorted_results(held[0], held[1], held[2], workload)


def sorted_results(queries: Sequence[str], pages: Any, scores: Any, workload: Workload) -> tuple[Array, Array, Array]:
    """Results by query, best first, equal ones by page: numbers of queries, pages, scores. Other queries' are left out."""
    number = {query: at for at, query in enumerate(workload.queries)}
    query = np.array([number.get(normalised(text or ""), -1) for text in queries], np.int64)
    page, score = np.array(pages, np.int64), np.array(scores, np.float64)
    at = np.lexsort((page, -score, query))
    at = at[query[at] >= 0]
    return query[at], page[at], score[at]


def open_crawl(path: str, free: int | None = None) -> ParquetCrawl:
    """The tables of a folder; nothing but footers is read yet. InputError if so many free bytes of memory are too few."""
    links = checked_parts(path, "links", LINKS)
    pages = checked_parts(path, "pages", PAGES)
    if pages.rows == 0:
        raise SourceError(f"{path}: the pages table is empty; a web has at least one page")
    if pages.rows > MAX_PAGES:
        raise InputError(f"{path}: {pages.rows:,} pages, and this machine's engine takes {MAX_PAGES:,}; use --engine spark")
    wanted = links.rows * BYTES_A_LINK + pages.rows * BYTES_A_PAGE
    if free is not None and wanted > free:
        raise InputError(
            f"{path}: {links.rows:,} links and {pages.rows:,} pages need about {wanted / 2**30:.1f} GB of memory, and"
            f" {free / 2**30:.1f} GB are free; use --engine spark, with a cluster as --master where its disk is too small"
        )
    assert set(IMPACTS) == {"views", "clicks"}
    return ParquetCrawl(path, pages.rows, links, frozenset(pages.columns))
