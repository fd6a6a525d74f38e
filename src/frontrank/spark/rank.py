"""A ranking on Spark: a ranker's scores, the best pages of them, and the scores of all pages as Parquet.

The driver gets the best pages, as many as were asked for, and nothing else: each partition passes on its own best.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.coarse import coarse
from frontrank.kernels.jit import Array
from frontrank.lab.best_pages import best, check_asked, check_frontier
from frontrank.lab.next_pages import Ranking
from frontrank.orderings.batch.ml.ml import Ml
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.orderings.batch.rw import RandomWalk
from frontrank.orderings.ranker import Ranker
from frontrank.spark.by_links import scores_by_links
from frontrank.spark.hybrid import check_hybrid, hybrid
from frontrank.spark.jobs import Stretches, in_arrow
from frontrank.spark.ml import check_ml, check_texts, ml
from frontrank.spark.queries import check_overlap, overlap
from frontrank.spark.rows import batch
from frontrank.spark.session import plain_errors
from frontrank.spark.tables import hadoop, open_tables, table_frame
from frontrank.spark.walks import SolvedVector, check_impact, default_pagerank
from frontrank.spark.web import Cut, Progress, SparkWeb, work_folder
from frontrank.system.files import written_beside
from frontrank.system.lazy import pa

CANDIDATE = "page long, score double, key double"
SCORE = "page long, score double"
RANKERS = ("indegree", "pagerank", "rw", "rw-eg", "rw-virtual", "q-overlap", "q-hybrid", "ml")


class Ranked(NamedTuple):
    """The best pages, and how their scores were reached."""

    ranking: Ranking
    iterations: int
    residual: float


def check_ranker(ranker: Ranker) -> None:
    """InputError for a ranker or parameters that Spark does not support; call it before Spark is started."""
    if ranker.name not in RANKERS:
        raise InputError(f"{ranker.spec()}: not available on Spark, which has {', '.join(RANKERS)}; drop --engine")
    if isinstance(ranker, QOverlap):
        check_overlap(ranker)
    if isinstance(ranker, QHybrid):
        check_hybrid(ranker)
    if isinstance(ranker, Ml):
        check_ml(ranker)
    if isinstance(ranker, PageRank | RandomWalk) and ranker.bits != 64:
        raise InputError(f"{ranker.spec()}: Spark adds up in 64 bits; drop bits, or drop --engine")
    if isinstance(ranker, PageRank | RandomWalk) and getattr(ranker, "trust", None):
        raise InputError(f"{ranker.spec()}: trust is for the local engine; drop --engine")


def scores_of(web: SparkWeb, ranker: Ranker) -> SolvedVector:
    """The scores of all pages by this ranker."""
    if isinstance(ranker, QOverlap):
        return overlap(web, ranker, default_pagerank(web))
    if isinstance(ranker, QHybrid):
        return hybrid(web, ranker)
    if isinstance(ranker, Ml):
        return ml(web, ranker)
    if isinstance(ranker, RandomWalk):
        check_impact(web, ranker.name)
    return scores_by_links(web, ranker)


@contextmanager
def open_web(
    spark: Any, path: str, folder: str, progress: Progress, impact: str | None = None, cut: Cut | None = None
) -> Iterator[SparkWeb]:
    """A web to rank, with a work folder that is removed at the end."""
    cut = cut or Cut()
    with work_folder(folder) as work:
        progress("reading the tables", 0, 0)
        web = SparkWeb(spark, work, open_tables(spark, path, work.path, cut.span), progress, impact, cut)
        yield web
        web.close()


def rank(web: SparkWeb, ranker: Ranker, budget: int, scores_to: str | None = None) -> Ranked:
    """The best pages that wait (or of all, where no page is said to be fetched); ``scores_to`` is a folder for all scores."""
    path, columns = web.tables.path, web.tables.columns
    with plain_errors():
        queries = table_frame(web.spark, path, "queries") is not None
        check_asked(ranker, columns, queries, path)
        if isinstance(ranker, Ml) and queries and "url" in columns:
            check_texts(ranker)
        if scores_to is not None and "://" in scores_to:
            check_elsewhere(web.spark, scores_to)
        if "fetched" in columns:
            check_frontier(web.fetched, web.pages, path)
        found = scores_of(web, ranker)
        web.progress("choosing the best pages", 0, 0)
        pages, values = _top(web, found.x, budget)
        ranking = Ranking(_urls(web, pages), values, {}, ranker.spec())
        if scores_to is not None:
            web.progress("writing all scores", 0, 0)
            _save(web, found.x, scores_to)
    return Ranked(ranking, found.iterations, found.residual)


def _top(web: SparkWeb, x: str, budget: int) -> tuple[Array, Array]:
    waits = "fetched" in web.tables.columns
    work = partial(_best_of_tasks, web.stretches, x, waits, budget)
    candidates = in_arrow(web.tasks.frame(len(web.stretches.bounds)), work, CANDIDATE)
    found = candidates.orderBy(candidates["key"].desc(), "page").limit(budget).select("page", "score").toArrow()
    return found["page"].to_numpy(), found["score"].to_numpy()


def _best_of_tasks(stretches: Stretches, x: str, waits: bool, budget: int, arrived: Iterable[Any]) -> Iterator[Any]:
    for stretch in stretches.of_tasks(arrived):
        scores, pages = stretch.get(x), stretch.numbers
        if waits:
            pages = pages[stretch.get("fetched", np.uint8) == 0]
            scores = scores[pages - stretch.begin]
        top = best(pages, scores, budget)
        yield batch(CANDIDATE, pages[top], scores[top], coarse(scores[top]))


def _urls(web: SparkWeb, pages: Array) -> list[str]:
    """The URLs of these pages, or their numbers where URLs are not known."""
    if "url" not in web.tables.columns or not len(pages):
        return [str(page) for page in pages.tolist()]
    from pyspark.sql.functions import broadcast

    asked = web.spark.createDataFrame(pa.table({"page": pages}))
    found = web.tables.pages.selectExpr("cast(page as long) page", "url").join(broadcast(asked), "page").toArrow()
    order = np.argsort(found["page"].to_numpy())
    urls = found["url"].take(pa.array(order[np.searchsorted(found["page"].to_numpy()[order], pages)])).to_pylist()
    return [url or str(page) for url, page in zip(urls, pages.tolist(), strict=True)]


def _save(web: SparkWeb, x: str, path: str) -> None:
    """All scores as Parquet parts, written beside their place and renamed."""
    table = in_arrow(web.tasks.frame(len(web.stretches.bounds)), partial(_scores, web.stretches, x), SCORE)
    if "://" in path:
        save_elsewhere(web.spark, table, path)
        return
    with written_beside(path) as beside:
        table.write.parquet(f"file://{os.path.abspath(beside)}")


def save_elsewhere(spark: Any, table: Any, path: str) -> None:
    """Write a table beside its place and rename it, where only Spark reaches; replace what is there."""
    files, place = hadoop(spark, path)
    _, beside = hadoop(spark, f"{path.rstrip('/')}.{secrets.token_hex(4)}")
    try:
        table.write.parquet(beside.toString())
        if files.exists(place):
            files.delete(place, True)
        if not files.rename(beside, place):
            raise InputError(f"{path} cannot be written: renaming {beside.toString()} to it failed")
    except BaseException:
        with suppress(Exception):
            files.delete(beside, True)
        raise


def check_elsewhere(spark: Any, path: str) -> None:
    """InputError if something other than scores of an earlier ranking is there."""
    files, place = hadoop(spark, path)
    if files.exists(place) and not files.exists(hadoop(spark, f"{path}/_SUCCESS")[1]):
        entries = files.listStatus(place) if files.getFileStatus(place).isDirectory() else [place]
        if len(entries):
            raise InputError(f"{path} exists and does not contain scores of an earlier ranking; give another path")


def _scores(stretches: Stretches, x: str, arrived: Iterable[Any]) -> Iterator[Any]:
    for stretch in stretches.of_tasks(arrived):
        for piece in stretch.pieces():
            yield batch(SCORE, piece.numbers, piece.get(x))
