"""A ranking on Spark: a ranker's scores, the best pages of them, and the scores of all pages as Parquet.

The driver gets the best pages, as many as were asked for, and nothing else: each partition hands on its own best.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.best_pages import best, check_asked, check_frontier, coarse
from frontrank.lab.next_pages import Ranking
from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.orderings.batch.rw import EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.spark.queries import check_overlap, overlap
from frontrank.spark.session import said_plainly
from frontrank.spark.standing import check_hybrid, hybrid
from frontrank.spark.tables import table_frame
from frontrank.spark.vectors import Held, Shape, held_in, in_arrow
from frontrank.spark.walks import Solved, indegree, pagerank, standing, walk
from frontrank.spark.web import SparkWeb, Tell, work_folder
from frontrank.web.files import written_beside

CANDIDATE = "page long, score double, key double"
SCORE = "page long, score double"
KNOWN = ("indegree", "pagerank", "rw", "rw-eg", "rw-virtual", "q-overlap", "q-hybrid")


class Ranked(NamedTuple):
    """The best pages, and how their scores were reached."""

    ranking: Ranking
    iterations: int
    residual: float


def check_ranker(ranker: Ranker) -> None:
    """InputError if Spark does not know a ranker, or not with these parameters: to be asked before Spark is started."""
    if ranker.name not in KNOWN:
        raise InputError(f"{ranker.spec()}: not on Spark, which knows {', '.join(KNOWN)}; leave out --engine")
    if isinstance(ranker, QOverlap):
        check_overlap(ranker)
    if isinstance(ranker, QHybrid):
        check_hybrid(ranker)
    if isinstance(ranker, PageRank | RandomWalk) and ranker.bits != 64:
        raise InputError(f"{ranker.spec()}: Spark adds up in 64 bits; leave bits out, or leave out --engine")
    if isinstance(ranker, PageRank | RandomWalk) and ranker.trust:
        raise InputError(f"{ranker.spec()}: trust is for the local engine; leave out --engine")
    if isinstance(ranker, EnrichedWalk) and not (isinstance(ranker.omega, float) and isinstance(ranker.gamma, float)):
        raise InputError(
            f"{ranker.spec()}: omega is learned on one machine; rank a part of the crawl locally, which says what was learned,"
            " then give it here: rw-eg:omega=0.7"
        )


def solved(web: SparkWeb, ranker: Ranker) -> Solved:
    """The scores of all pages by this ranker."""
    if isinstance(ranker, InDegree):
        return indegree(web)
    if isinstance(ranker, PageRank):
        return pagerank(web, ranker.alpha, ranker.tolerance)
    if isinstance(ranker, QOverlap):
        return overlap(web, ranker, standing(web))
    if isinstance(ranker, QHybrid):
        return hybrid(web, ranker)
    assert isinstance(ranker, RandomWalk)
    omega = ranker.omega if isinstance(ranker, EnrichedWalk) else 0.0 if isinstance(ranker, VirtualWalk) else 1.0
    return walk(web, ranker.alpha, float(omega), float(ranker.gamma), ranker.eps, ranker.tolerance, ranker.name)


@contextmanager
def opened_web(spark: Any, path: str, folder: str, tell: Tell, impact: str | None = None, **cut: int) -> Iterator[SparkWeb]:
    """A web to rank, with a work folder that goes when it is done; the blocks go with the session, if not before."""
    with work_folder(spark, folder) as work:
        web = SparkWeb(work, path, tell, impact, **cut)
        yield web
        web.close()


def rank(web: SparkWeb, ranker: Ranker, budget: int, scores_to: str | None = None) -> Ranked:
    """The best pages that wait (or of all, where no page is said to be fetched); all scores go to a folder, if one is given."""
    path, columns = web.tables.path, web.tables.columns
    with said_plainly():
        check_asked(ranker, columns, table_frame(web.spark, path, "queries") is not None, path)
        if "fetched" in columns:
            check_frontier(web.fetched, web.pages, path)
        found = solved(web, ranker)
        web.tell("choosing the best pages", 0, 0)
        scores = found.rows.union(web.given.where("kind = 'fetched'"))
        pages, values = _top(web, scores, budget)
        ranking = Ranking(_urls(web, pages), values, {}, ranker.spec())
        if scores_to is not None:
            web.tell("writing all scores", 0, 0)
            _save(web, found.rows, scores_to)
    return Ranked(ranking, found.iterations, found.residual)


def _top(web: SparkWeb, scores: Any, budget: int) -> tuple[Array, Array]:
    together = scores.repartition(web.partitions, "seg").sortWithinPartitions("seg")
    waits = "fetched" in web.tables.columns
    candidates = in_arrow(together, partial(_best_here, web.shape, waits, budget), CANDIDATE)
    rows = candidates.orderBy(candidates["key"].desc(), "page").limit(budget).select("page", "score").collect()
    return np.array([row.page for row in rows], np.int64), np.array([row.score for row in rows])


def _best_here(shape: Shape, waits: bool, budget: int, arrived: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    pages, scores = np.empty(0, np.int64), np.empty(0)
    for held in held_in(arrived):
        here, values = _waiting(shape, waits, held)
        pages, scores = np.concatenate([pages, here]), np.concatenate([scores, values])
        top = best(pages, scores, budget)
        pages, scores = pages[top], scores[top]
    columns = [pa.array(pages), pa.array(scores), pa.array(coarse(scores))]
    yield pa.RecordBatch.from_arrays(columns, names=["page", "score", "key"])


def _waiting(shape: Shape, waits: bool, held: Held) -> tuple[Array, Array]:
    values = held.one("x")
    at = np.flatnonzero(held.one("fetched", np.uint8) == 0) if waits else np.arange(values.size)
    return held.segment * shape.width + at, values[at]


def _urls(web: SparkWeb, pages: Array) -> list[str]:
    if "url" not in web.tables.columns or not len(pages):
        return [str(page) for page in pages.tolist()]
    from pyspark.sql.functions import broadcast

    asked = web.spark.createDataFrame([(page,) for page in pages.tolist()], "page long")
    rows = web.tables.pages.selectExpr("cast(page as long) page", "url").join(broadcast(asked), "page").collect()
    url_of = {row.page: row.url for row in rows}
    return [url_of[page] or str(page) for page in pages.tolist()]


def _save(web: SparkWeb, rows: Any, path: str) -> None:
    """All scores as Parquet parts: beside its place and renamed, or, elsewhere than here, whole when it has a _SUCCESS."""
    table = in_arrow(rows.select("seg", "kind", "place", "data"), partial(_scores, web.shape), SCORE)
    if "://" in path:
        table.write.mode("overwrite").parquet(path)
        return
    with written_beside(path) as beside:
        table.write.parquet(f"file://{os.path.abspath(beside)}")


def _scores(shape: Shape, arrived: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for held in held_in(arrived):
        values = held.one("x")
        pages = held.segment * shape.width + np.arange(values.size)
        yield pa.RecordBatch.from_arrays([pa.array(pages), pa.array(values)], names=["page", "score"])
