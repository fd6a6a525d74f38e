"""Crawl directories: a crawl at one moment with its searchers, as ``frontrank import`` writes it. Opens at once.

A web directory (see ``sources.web_directory``: links, urls, hosts, titles, texts, anchors, clicks, views), so every command
that takes a WEB takes it too, and beside that

    crawl.json        {"format": "frontrank-imported-crawl", "version": 1, "fetched", "queries", "results"}
    fetched.npy       int32: page numbers in fetch order
    queries.parquet   query, frequency           if queries is not null
    asked_on.parquet  query, time, frequency     if asked_on is there: when queries were asked
    seen_on.parquet   page, time, views, clicks  if seen_on is there: when pages were shown and clicked on
    results.parquet   query, page, rank, score   if results is not null; sorted by query and rank

The others in crawl.json are numbers of rows; times are seconds since 1970. Arrays are memory-mapped. Written beside, then
renamed.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from frontrank.errors import InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.digests import read_manifest, write_digested
from frontrank.sources.live_crawl import is_crawled, load_crawled
from frontrank.sources.search_team.searchers import ResultTable
from frontrank.sources.search_team.searchlog import Observed
from frontrank.sources.web_directory import FILES as WEB_FILES
from frontrank.sources.web_directory import (
    check_range,
    is_web_directory,
    load_directory,
    mapped,
    read_columns,
    write_web,
)
from frontrank.system.capacity import check_copy
from frontrank.system.files import IMPORTED, Progress, check_target, written_beside
from frontrank.system.lazy import pa, pq
from frontrank.web.dates import AskedOn, SeenOn
from frontrank.web.view import CrawlView, Results, SearchView, Workload
from frontrank.web.web import IMPACTS, Web

FORMAT = "frontrank-imported-crawl"
FORMATS = (FORMAT, "frontrank-crawl")  # the second is what 0.1 wrote
VERSION = 1
LARGE = 2**26  # links: from here on a copy of them, with pages numbered by discovery, is not worth its memory
DATED = ("asked_on", "seen_on")
FILES = WEB_FILES | {IMPORTED, "fetched.npy", "queries.parquet", "results.parquet", *(f"{name}.parquet" for name in DATED)}


@dataclass(frozen=True, eq=False)
class CrawlTables(Observed):
    """A crawl at one moment, with its searchers: what rankers are shown, and what they are judged by."""

    def workload(self) -> Workload | None:
        if self.queries is None or self.frequency is None:
            return None
        return Workload(tuple(self.queries), self.frequency, self.asked_on)

    def view(self, impact: Literal["views", "clicks"] | None = None, search: bool = True) -> CrawlView:
        """What the crawl knows, pages numbered by discovery: each fetched page when it is first linked to or fetched.

        ``impact`` names what fetched pages are known to be worth; without it views, or else clicks, or nothing. Where
        queries are known, ``search`` brings them with their results: those of the table, or else those of the embedded
        engine over the fetched pages, which reads all their texts.
        """
        workload = self.workload() if search else None
        view = self._searched(workload) if workload is not None else self._known()
        named: str | None = impact or next((name for name in ("views", "clicks") if self.web.has(name)), None)
        if named is None:  # the views that results give, of the table or of the embedded engine
            if view.impact is None and view.search is not None and self.results is not None:
                view.impact = view.search.results.views(view.search.workload, view.known)
            return view
        if named not in IMPACTS:
            raise InputError(f"impact must be views or clicks, got {named!r}")
        known: Array | None = getattr(self.web, named)
        if known is None:
            raise InputError(f"{self.web.name} knows no {named}; import it with a column {named} of its pages, or with a log")
        view.see_impact(known)
        return view

    def _known(self) -> CrawlView:
        """A large crawl is ranked where it lies; its scores differ from those of a copy in the last bits alone."""
        stored = CrawlView.as_stored(self.web, self.fetched) if self.web.links >= LARGE else None
        if stored is not None:
            return stored
        check_copy(self.web.name, self.web.pages, self.web.links)
        return CrawlView.of(self.web, self.fetched[:1], self.fetched)

    def _searched(self, workload: Workload) -> CrawlView:
        from frontrank.search.observe import anchors_of, observe

        web = self.web
        if self.results is None and (web.has("texts") or web.has("titles")):
            return observe(web, self.fetched[:1], self.fetched, workload)
        view = CrawlView.of(web, self.fetched[:1], self.fetched)
        assert web.urls is not None and web.hosts is not None
        urls = [web.urls[page] for page in view.pages.tolist()]
        anchors = anchors_of(web, view)
        view.search = SearchView(workload, self._shown(view, len(workload)), urls, anchors, web.hosts[view.pages])
        return view

    def _shown(self, view: CrawlView, queries: int) -> Results:
        """The results among fetched pages: an engine shows only what it has."""
        if self.results is None:
            return Results(np.zeros(queries + 1, np.int64), np.empty(0, np.int32), np.empty(0))
        number = np.full(self.web.pages, -1, np.int32)
        number[view.pages[view.source]] = view.source
        page = number[self.results.page]
        kept = page >= 0
        indptr = np.zeros(queries + 1, np.int64)
        np.cumsum(np.bincount(self.results.query[kept], minlength=queries), out=indptr[1:])
        return Results(indptr, page[kept], np.asarray(self.results.score[kept], np.float64))


def is_crawl_directory(path: str | os.PathLike[str]) -> bool:
    """Whether a crawl.json lies there."""
    return os.path.isfile(os.path.join(path, IMPORTED))


def load_web(path: str, progress: Progress | None = None) -> Web:
    return load_crawl(path).web


# --- writing ---


def save_crawl(path: str | os.PathLike[str], crawl: Observed, force: bool = False) -> None:
    """Write the crawl as a directory; with ``force`` it replaces another crawl or web there."""
    check_crawl_target(path, force)
    with written_beside(path) as beside:
        beside.mkdir()
        write_web(crawl.web, os.fspath(beside))
        _write(crawl, os.fspath(beside))


def check_crawl_target(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise InputError if no crawl can be written there, or if one would be lost: to be asked before tables are read."""
    check_target(path, _is_ours, "an imported crawl or a frontrank web, and nothing else")
    if not force and os.path.isdir(path) and os.listdir(path):
        kind = "an imported crawl" if is_crawl_directory(path) else "a frontrank web"
        raise InputError(f"{os.fspath(path)} exists and holds {kind}; give another path, or --force to replace it")


def _is_ours(path: Path) -> bool:
    return is_web_directory(os.fspath(path)) and {entry.name for entry in path.iterdir()} <= FILES


def _write(crawl: Observed, where: str) -> None:
    np.save(os.path.join(where, "fetched.npy"), np.asarray(crawl.fetched, np.int32))
    if crawl.queries is not None:
        queries = {"query": pa.array(crawl.queries, pa.string()), "frequency": pa.array(crawl.frequency, pa.float64())}
        pq.write_table(pa.table(queries), os.path.join(where, "queries.parquet"), compression="zstd", write_page_checksum=True)
    if crawl.results is not None:
        pq.write_table(
            pa.table(vars(crawl.results)), os.path.join(where, "results.parquet"), compression="zstd", write_page_checksum=True
        )
    dated = {"asked_on": crawl.asked_on, "seen_on": crawl.web.seen_on}
    for name, rows in dated.items():
        if rows is not None:
            present = {column: array for column, array in rows._asdict().items() if array is not None}
            path = os.path.join(where, f"{name}.parquet")
            pq.write_table(pa.table(present), path, compression="zstd", write_page_checksum=True)
    results = None if crawl.results is None else len(crawl.results.query)
    counts = {name: len(rows.time) for name, rows in dated.items() if rows is not None}
    write_manifest(where, len(crawl.fetched), None if crawl.queries is None else len(crawl.queries), results, **counts)


def write_manifest(
    where: str | os.PathLike[str], fetched: int, queries: int | None = None, results: int | None = None, **dated: int
) -> None:
    """crawl.json: numbers of rows."""
    manifest = {"format": FORMAT, "version": VERSION, "fetched": fetched, "queries": queries, "results": results, **dated}
    write_digested(os.path.join(where, IMPORTED), manifest, FILES - WEB_FILES)


# --- reading ---


def load_crawl(path: str | os.PathLike[str]) -> CrawlTables:
    """The crawl in a directory that ``save_crawl`` wrote, or that of a live crawl, as it is now."""
    where = os.fspath(path)
    if is_crawled(where):
        return _live(where)
    manifest = _manifest(os.path.join(where, IMPORTED))
    web = load_directory(where)
    fetched = mapped(where, "fetched", np.int32, manifest["fetched"], manifest["digests"])
    check_range(fetched, web.pages, f"{where}/fetched.npy", "page")
    if not bool(np.all(fetched[1:] > fetched[:-1])) and np.unique(fetched).size != fetched.size:
        raise SourceError(f"{where}/fetched.npy: a page is there twice; import the crawl again")
    for name in IMPACTS:
        amounts = getattr(web, name)
        if amounts is not None and not bool(np.all(np.isfinite(amounts) & (amounts >= 0))):
            raise SourceError(f"{where}/{name}.npy: a number is negative or not finite; import the crawl again")
    queries = frequency = None
    if manifest["queries"] is not None:
        columns = _columns(where, "queries", manifest, {"query": "string", "frequency": "float64"})
        queries, frequency = tuple(columns["query"].to_pylist()), _array(columns["frequency"])
    asked = {"query": len(queries or ())}
    kinds = {"query": "int32", "page": "int32", "rank": "int32", "score": "float64"}
    found = _numbers(where, "results", manifest, kinds, {**asked, "page": web.pages})
    results = None if found is None else ResultTable(**found)
    if results is not None and bool(np.any(np.diff(results.query) < 0)):
        raise SourceError(f"{where}/results.parquet: not sorted by query; import the crawl again")
    found = _numbers(where, "asked_on", manifest, {"query": "int32", "time": "float64", "frequency": "float64"}, asked)
    asked_on = None if found is None else AskedOn(**found)
    if queries is not None and frequency is not None:
        web = replace(web, queries=Workload(queries, frequency, asked_on))
    seen_on = _seen_on(where, manifest, web.pages)
    web = web if seen_on is None else replace(web, seen_on=seen_on)
    return CrawlTables(web, fetched, queries, frequency, results, asked_on)


def _seen_on(where: str, manifest: dict[str, Any], pages: int) -> SeenOn | None:
    if manifest["seen_on"] is None:
        return None
    try:
        there = pq.read_schema(f"{where}/seen_on.parquet").names
    except (OSError, ValueError) as error:
        raise SourceError(f"{where}/seen_on.parquet: cannot be read ({error}); import the crawl again") from None
    kinds = {"page": "int32", "time": "float64", **{name: "float64" for name in IMPACTS if name in there}}
    found = _numbers(where, "seen_on", manifest, kinds, {"page": pages})
    return None if found is None else SeenOn(found["page"], found["time"], found.get("views"), found.get("clicks"))


def _live(where: str) -> CrawlTables:
    """A live crawl at this moment: its fetched pages come first, in their order."""
    web = load_crawled(where, waiting=True)
    order = np.arange(web.fetched or 0, dtype=np.int32)
    if web.queries is None:
        return CrawlTables(web, order, None, None, None)
    return CrawlTables(web, order, web.queries.queries, web.queries.frequency, None)


def _manifest(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        folder, name = os.path.split(path)
        why = f"{name}: {os.strerror(errno.ENOENT)}" if os.path.isdir(folder) else "there is no such directory"
        hint = "frontrank crawl and frontrank import write crawl directories"
        raise SourceError(f"{folder}: not a crawl ({why}); {hint}")
    manifest = read_manifest(path, FORMATS, VERSION, ("fetched",), ("queries", "results", *DATED))
    if manifest["results"] is not None and manifest["queries"] is None:
        raise SourceError(f"{path}: results without queries; import the crawl again")
    return manifest


def _columns(where: str, name: str, manifest: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
    path, rows = f"{where}/{name}.parquet", manifest[name]
    table = read_columns(path, list(kinds), rows, manifest["digests"])
    try:
        columns = {column: table[column].cast(pa.type_for_alias(kind)).combine_chunks() for column, kind in kinds.items()}
    except pa.ArrowException as error:
        raise SourceError(f"{path}: cannot be read ({str(error).splitlines()[0]}); import the crawl again") from None
    if any(column.null_count for column in columns.values()):
        raise SourceError(f"{path}: a value is missing, expected {rows:,} rows without gaps; import the crawl again")
    return columns


def _numbers(
    where: str, name: str, manifest: dict[str, Any], kinds: dict[str, str], limits: dict[str, int]
) -> dict[str, Array] | None:
    """The columns of a table of numbers, some of them below a limit; None if there is no such table."""
    if manifest[name] is None:
        return None
    arrays = {column: _array(values) for column, values in _columns(where, name, manifest, kinds).items()}
    for column, limit in limits.items():
        check_range(arrays[column], limit, f"{where}/{name}.parquet", column)
    return arrays


def _array(column: Any) -> Array:
    return np.array(column.to_numpy(zero_copy_only=False))  # a copy: Arrow's are read-only, another type to numba
