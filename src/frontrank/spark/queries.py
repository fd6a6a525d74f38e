"""Query overlap on Spark (pandey08): the driver has queries and results, pages are matched segment by segment.

    1  each segment matches its pages with all queries; what the regression learns from comes from its fetched pages: at most
       ``PAIRS`` pairs, the same as on one machine, go to the driver, which fits the tree
    2  each segment matches once more, predicts what its waiting pages would score, and passes on its best few of each query
    3  the driver has the best few of all segments, and makes sketches of them with the local engine's kernel

So the driver's memory grows with the query log (queries times results looked at), never with the web. Features, tree and
sketches are those of ``search.expected_score`` and ``search.sketches``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.pages.urls import host_of
from frontrank.pages.words import url_words
from frontrank.search.expected_score import HOST_PAIRS, PAIRS, fitted_tree, query_features
from frontrank.search.ngrams import Matches, NGramIndex
from frontrank.search.sketches import sketch_impact
from frontrank.search.visibility import visibility
from frontrank.search.workload import workload_of
from frontrank.sources.parquet_crawl import by_query, sorted_results
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Result, Shape, Stretch, in_arrow
from frontrank.spark.rows import ROW, batch, by_segment, packed, raw, rows_of_segments
from frontrank.spark.tables import table_frame
from frontrank.spark.walks import SolvedVector, indegree
from frontrank.spark.web import SparkWeb
from frontrank.system.lazy import pa
from frontrank.web.view import Results, SearchView, Workload
from frontrank.web.web import numbered

PAIR = "query long, page long, score double, features binary"
Segments = Callable[[Iterable[Any]], Iterator["Segment"]]


class QueryLog(NamedTuple):
    """What all segments need: the queries, what the engine shows for them, and how to match."""

    workload: Workload
    shown: Array  # query * pages + page of each result, sorted
    score: Array  # of these
    host_mean: dict[str, float]
    usual: float  # the mean of a host without results
    of_query: Array
    g: int
    rho: float


def overlap(web: SparkWeb, ranker: QOverlap, pagerank: SolvedVector) -> SolvedVector:
    """q-overlap of all pages; ``pagerank`` is one of the features, as in the local engine."""
    workload = _workload(web)
    results, hosts = _results(web, workload)
    log = _query_log(web.pages, workload, results, hosts, ranker)
    segments = partial(_segments, SegmentVectors(web.folder, web.shape, indegree(web).x, pagerank.x), log)
    rows = _texts(web)
    web.progress("matching fetched pages", 0, 0)
    known, score = _pairs(in_arrow(rows, partial(_learned_from, segments), PAIR))
    tree = fitted_tree(known, score)
    seen = visibility(ranker.v, ranker.k)
    web.progress("matching waiting pages", 0, 0)
    flat = float(results.score.mean()) if len(results.score) else 1.0
    waiting = _best(in_arrow(rows, partial(_expected, segments, tree, flat, len(seen)), PAIR), len(seen), workload)
    pages, impact = _impact(workload, results, waiting, seen)
    into = web.name("overlap")
    web.for_each_stretch(_scatter, into, pages, impact)
    rows.unpersist()
    return SolvedVector(into, pagerank.iterations, pagerank.residual)


# --- what the driver reads ---


def _workload(web: SparkWeb) -> Workload:
    frame = table_frame(web.spark, web.tables.path, "queries")
    assert frame is not None
    rows = frame.selectExpr("query", "cast(frequency as double) f").collect()
    return workload_of(((f"row {at}", row.query or "", row.f or 0.0) for at, row in enumerate(rows, 1)), "queries.parquet")


def _results(web: SparkWeb, workload: Workload) -> tuple[Results, list[str]]:
    """The results among fetched pages, and the host of each."""
    from pyspark.sql.functions import broadcast

    frame = table_frame(web.spark, web.tables.path, "results")
    columns = ("query", "cast(page as long) page", "cast(score as double) score")
    rows = [] if frame is None else frame.selectExpr(*columns).collect()
    queries, pages, scores = ([row[at] for row in rows] for at in range(3))
    query, page, score = sorted_results(queries, pages, scores, workload, web.pages)
    host = "host" if "host" in web.tables.columns else "cast(null as string) host"
    asked = web.spark.createDataFrame([(number,) for number in np.unique(page).tolist()], "page long")
    hosts = web.tables.pages.where("fetched").selectExpr("cast(page as long) page", "url", host).join(broadcast(asked), "page")
    host_of_page = {row.page: row.host or host_of(row.url or "") for row in hosts.collect()} if page.size else {}
    kept = np.array([number in host_of_page for number in page.tolist()], bool)
    results = by_query(query[kept], page[kept], score[kept], len(workload))
    return results, [host_of_page[number] for number in results.page.tolist()]


def _query_log(pages: int, workload: Workload, results: Results, hosts: list[str], ranker: QOverlap) -> QueryLog:
    query = np.repeat(np.arange(len(workload)), np.diff(results.indptr))
    shown = query * pages + results.page
    order = np.argsort(shown)
    overall = float(results.score.mean()) if len(results.score) else 0.0
    of, names = numbered(hosts)
    sums, count = np.bincount(of, results.score, len(names)), np.bincount(of, minlength=len(names))
    means = (sums + HOST_PAIRS * overall) / (count + HOST_PAIRS)
    search = SearchView(workload, results, [], [], np.empty(0, np.int32))
    of_query = query_features(search, ranker.k).astype(np.float32)
    usual = (HOST_PAIRS * overall) / HOST_PAIRS
    host_mean = dict(zip(names, means.tolist(), strict=True))
    return QueryLog(workload, shown[order], results.score[order], host_mean, usual, of_query, ranker.g, ranker.rho)


# --- texts by segment ---


def _texts(web: SparkWeb) -> Any:
    """URL, anchors and host of pages, as Arrow has them, by segment. A row for every segment, though it may have no texts."""
    columns = ["cast(page as long) page", "coalesce(url, '') url"]
    columns += [f"coalesce({name}, '') {name}" if name in web.tables.columns else f"'' {name}" for name in ("anchors", "host")]
    by_segments = in_arrow(web.tables.pages.selectExpr(*columns), partial(packed, partial(_texts_by_segment, web.shape)), ROW)
    return by_segments.repartition(len(web.stretches.bounds), "seg").sortWithinPartitions("seg").persist()


def _texts_by_segment(shape: Shape, arrived: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    for rows in arrived:
        for segment, some in by_segment(rows.column("page").to_numpy(zero_copy_only=False), shape.width):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rows.schema) as writer:
                writer.write_batch(rows.take(pa.array(some)))
            yield segment, raw(np.frombuffer(sink.getvalue(), np.uint8))


class SegmentVectors(NamedTuple):
    """The vectors that features are made of."""

    folder: Folder
    shape: Shape
    indegree: str
    pagerank: str

    def stretch(self, segment: int) -> Stretch:
        first = segment * self.shape.width
        return Stretch(self.folder, self.shape, first, first + self.shape.size(segment))


def _segments(vectors: SegmentVectors, log: QueryLog, arrived: Iterable[Any]) -> Iterator[Segment]:
    vectors.folder.check()
    for segment, texts in rows_of_segments(arrived):
        yield Segment(vectors, log, vectors.stretch(segment), texts)


class Segment:
    """The pages of a segment, matched with the queries, and their features."""

    def __init__(self, vectors: SegmentVectors, log: QueryLog, stretch: Stretch, rows: list[Any]) -> None:
        self.first, self.fetched = stretch.begin, stretch.get("fetched", np.uint8) > 0
        texts = _unpacked(stretch, rows)
        urls, anchors = texts["url"], texts["anchors"]
        hosts = [host or host_of(url) for host, url in zip(texts["host"], urls, strict=True)]
        self.index = NGramIndex.of(log.workload.queries, urls, anchors, log.g)
        self.of_page = np.column_stack(
            [
                np.log1p([len(url_words(url)) for url in urls]),
                np.log1p([lines.count("\n") + (lines != "") for lines in anchors]),
                np.log1p(stretch.get(vectors.indegree)),
                np.log(stretch.get(vectors.pagerank) * stretch.shape.pages),
                [log.host_mean.get(host, log.usual) for host in hosts],
            ]
        ).astype(np.float32)
        self.log, self.pages = log, stretch.shape.pages

    def batches(self) -> Iterator[tuple[Array, Matches]]:
        """The query of each match, and the matches, some queries at a time."""
        for first, last in self.index.batches(self.log.rho):
            matches = self.index.match(self.log.rho, first, last)
            yield first + np.repeat(np.arange(last - first), np.diff(matches.indptr)), matches

    def features(self, query: Array, matches: Matches, at: Array) -> Array:
        of_pair = np.column_stack([matches.in_url[at], matches.in_anchors[at], matches.in_either[at]])
        return np.hstack([of_pair, self.of_page[matches.page[at]], self.log.of_query[query[at]]])

    def scores(self, query: Array, page: Array) -> Array:
        """What the engine gives these pages for these queries; 0 where it does not show them."""
        key, shown = query * self.pages + page, self.log.shown
        at = np.minimum(np.searchsorted(shown, key), max(0, len(shown) - 1))
        return np.where(shown[at] == key, self.log.score[at], 0.0) if len(shown) else np.zeros(len(key))


def _unpacked(stretch: Stretch, rows: list[Any]) -> dict[str, list[str]]:
    """The texts of a segment's pages, by column; "" where a page has none."""
    columns = {name: [""] * stretch.size for name in ("url", "anchors", "host")}
    for data in rows:
        for some in pa.ipc.open_stream(pa.py_buffer(data)):
            at = (some.column("page").to_numpy(zero_copy_only=False) - stretch.begin).tolist()
            for name, texts in columns.items():
                for page, text in zip(at, some.column(name).to_pylist(), strict=True):
                    texts[page] = text
    return columns


# --- learning ---


def _learned_from(segments: Segments, arrived: Iterable[Any]) -> Iterator[Any]:
    for segment in segments(arrived):
        for query, matches in segment.batches():
            at = np.flatnonzero(segment.fetched[matches.page])
            page = segment.first + matches.page[at].astype(np.int64)
            yield _rows(query[at], page, segment.scores(query[at], page), segment.features(query, matches, at))


def _rows(query: Array, page: Array, score: Array, features: Array) -> Any:
    data = [row.tobytes() for row in np.ascontiguousarray(features, np.float32)]
    return batch(PAIR, query, page, score, data)


def _pairs(frame: Any) -> tuple[Array, Array]:
    """Features and scores of the pairs to learn from, by query and page: all, or evenly spread ones of too many."""
    from pyspark.sql import Window
    from pyspark.sql.functions import broadcast, row_number

    found = frame = frame.persist()
    counts = dict(frame.groupBy("query").count().collect())
    step = 1
    while -(-sum(counts.values()) // step) > PAIRS:
        step *= 2
    if step > 1:
        queries = sorted(counts)
        before = np.concatenate([[0], np.cumsum([counts[query] for query in queries])])[:-1].tolist()
        offsets = frame.sparkSession.createDataFrame([*zip(queries, before, strict=True)], "query long, offset long")
        place = row_number().over(Window.partitionBy("query").orderBy("page")) - 1
        numbered = frame.withColumn("place", place).join(broadcast(offsets), "query")
        frame = numbered.where(f"pmod(place + offset, {step}) = 0")
    rows = frame.select("query", "page", "score", "features").collect()
    found.unpersist()
    rows.sort(key=lambda row: (row.query, row.page))
    known = np.frombuffer(b"".join(bytes(row.features) for row in rows), np.float32)
    return known.reshape(len(rows), -1) if rows else np.empty((0, 0), np.float32), np.array([row.score for row in rows])


# --- the best of each query ---


def _expected(segments: Segments, tree: Any, flat: float, count: int, arrived: Iterable[Any]) -> Iterator[Any]:
    for segment in segments(arrived):
        for query, matches in segment.batches():
            at = np.flatnonzero(~segment.fetched[matches.page])
            if at.size == 0:
                continue
            score = np.full(at.size, flat) if tree is None else tree.predict(segment.features(query, matches, at))
            page, of = segment.first + matches.page[at].astype(np.int64), query[at]
            order = np.lexsort((page, -score, of))
            begins = np.flatnonzero(np.concatenate([[True], np.diff(of[order]) > 0]))
            rank = np.arange(order.size) - np.repeat(begins, np.diff(np.append(begins, order.size)))
            top = order[rank < count]
            yield _rows(of[top], page[top], score[top], np.empty((top.size, 0)))


def _best(frame: Any, count: int, workload: Workload) -> Results:
    """The best of each query, in the order of their pages."""
    from pyspark.sql import Window
    from pyspark.sql.functions import row_number

    place = row_number().over(Window.partitionBy("query").orderBy(frame["score"].desc(), "page"))
    rows = frame.withColumn("place", place).where(f"place <= {count}").select("query", "page", "score").collect()
    rows.sort(key=lambda row: (row.query, row.page))
    length = np.bincount(np.array([row.query for row in rows], np.int64), minlength=len(workload))
    page, score = np.array([row.page for row in rows], np.int64), np.array([row.score for row in rows], np.float64)
    return Results(np.concatenate([[0], np.cumsum(length)]), page, score)


def _impact(workload: Workload, results: Results, waiting: Results, seen: Array) -> tuple[Array, Array]:
    """The pages of the sketches, and their impact."""
    pages = np.unique(np.concatenate([results.page, waiting.page]))
    shown, likely = (Results(one.indptr, np.searchsorted(pages, one.page), one.score) for one in (results, waiting))
    return pages, sketch_impact(workload, shown, likely, len(pages), seen)


def _scatter(into: str, pages: Array, impact: Array, stretch: Stretch) -> Result:
    """Write the impact of the pages of the sketches; that of others is 0."""
    low, high = np.searchsorted(pages, [stretch.begin, stretch.end]).tolist()
    values = np.zeros(stretch.size)
    values[pages[low:high] - stretch.begin] = impact[low:high]
    stretch.put(into, values)
    return Result()


def check_overlap(ranker: QOverlap) -> None:
    """InputError for parameters that Spark does not support."""
    if ranker.keep < 1.0:
        raise InputError(f"{ranker.spec()}: keep is for the local engine; drop it, or drop --engine")
