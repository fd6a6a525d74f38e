"""Which pages of a web in Parquet come first, by any engine: ties, the local engine, and the table that is written.

Two engines add up the same numbers in another order, so their scores differ in the last bits, and pages that are equally good
come out a rounding error apart. Scores are therefore compared to about 1e-9 of themselves (``kernels.coarse``); among equals
the page with the smaller number goes first. So all engines give the same pages, in the same order.
"""

from __future__ import annotations

import os
from functools import reduce

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.coarse import coarse
from frontrank.kernels.jit import Array
from frontrank.lab.next_pages import Ranking
from frontrank.orderings.ranker import Ranker
from frontrank.sources.parquet_crawl import ParquetCrawl
from frontrank.system.files import check_target, written_beside
from frontrank.system.lazy import pa, pq
from frontrank.web.view import CrawlView, earlier_moments

PIECE = 1 << 20  # rows of scores that are written at a time


def best(pages: Array, scores: Array, count: int) -> Array:
    """Places of the best: by falling score, equal ones by page number."""
    key = coarse(scores)
    if count >= len(pages):
        return np.lexsort((pages, -key))
    near = np.flatnonzero(key >= np.partition(key, len(key) - count)[len(key) - count])  # so that only these are sorted
    return near[np.lexsort((pages[near], -key[near]))[:count]]


def check_asked(ranker: Ranker, columns: frozenset[str], queries: bool, path: str) -> None:
    """InputError if a ranker needs what the tables do not have."""
    needs, name = ranker.needs(), ranker.spec()
    if "queries" in needs and not queries:
        raise InputError(f"{name}: driven by queries, but {path} has no queries.parquet; rank by pagerank or rw-eg:omega=0.7")
    if ("queries" in needs or "urls" in needs) and "url" not in columns:
        raise InputError(f"{name}: needs URLs, but the pages table of {path} has no column url")
    if "impact" in needs and not columns & {"views", "clicks"}:
        raise InputError(f"{name}: needs clicks or views of fetched pages; the pages table of {path} has neither")
    if needs & {"history", "queries"} and "fetched" not in columns:
        raise InputError(f"{name}: ranks pages that wait, but the pages table of {path} has no column fetched")


def check_frontier(fetched: int, pages: int, path: str) -> None:
    """InputError where nothing is fetched, or everything."""
    if fetched == 0:
        raise InputError(f"{path}: no page is fetched, so nothing is known of any; set the column fetched where one is")
    if fetched == pages:
        raise InputError(f"{path}: every page is fetched, so there is no frontier; drop the column fetched to rank all pages")


def local_scores(crawl: ParquetCrawl, ranker: Ranker, impact: str | None) -> tuple[Array, CrawlView]:
    """The scores of all pages, by this machine."""
    check_asked(ranker, crawl.columns, crawl.queries, crawl.path)
    if crawl.fetched is not None:
        check_frontier(int(crawl.fetched.sum()), crawl.pages, crawl.path)
    search = crawl.queries and "url" in crawl.columns and bool(ranker.needs() & {"queries", "history"})
    view = crawl.view(impact, search)
    if "impact" in ranker.needs() and (view.impact is None or not view.impact.any()):
        raise InputError(f"{ranker.spec()}: all impacts are zero, so no page has a vote; give views or clicks of fetched pages")
    if "urls" in ranker.needs():
        view.urls = crawl.strings("url")
        view.url_value = np.array([ranker.url_value(url) for url in view.urls])
    if "history" in ranker.needs():
        view.history = [crawl.view(impact, search, rows) for rows in earlier_moments(len(view.source))]
    scores: Array = reduce(np.add, ranker.parts(view).values())
    return scores, view


def local_ranking(crawl: ParquetCrawl, ranker: Ranker, impact: str | None, budget: int) -> tuple[Ranking, Array, CrawlView]:
    """The best pages that wait (or of all, where no page is said to be fetched), and the scores of all pages."""
    scores, view = local_scores(crawl, ranker, impact)
    pages = np.arange(crawl.pages) if crawl.fetched is None else np.flatnonzero(~crawl.fetched)
    top = pages[best(pages, scores[pages], budget)]
    return Ranking(crawl.urls_of(top.tolist()), scores[top], {}, ranker.spec()), scores, view


# --- the scores of all pages, as Parquet ---


def check_scores_target(path: str) -> None:
    """InputError if no folder of scores can be written there; a folder of ours is replaced."""
    if "://" not in path:
        check_target(path, lambda folder: (folder / "_SUCCESS").is_file(), "scores of an earlier ranking")


def save_scores(path: str, scores: Array) -> None:
    """Write page and score of every page; the folder is there when it is whole, and has a file _SUCCESS."""
    with written_beside(path) as beside:
        os.mkdir(beside)
        schema = pa.schema([("page", pa.int64()), ("score", pa.float64())])
        with pq.ParquetWriter(beside / "part-00000.parquet", schema) as writer:
            for begin in range(0, len(scores), PIECE):
                end = min(begin + PIECE, len(scores))
                columns = [np.arange(begin, end), np.asarray(scores[begin:end], np.float64)]
                writer.write_table(pa.table(columns, schema=schema))
        (beside / "_SUCCESS").touch()
