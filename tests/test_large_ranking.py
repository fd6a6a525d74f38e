"""Crawls that are ranked where they lie: the same scores as those of a copy, and what does not fit is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from benchmarks.large_web import write_large

from frontrank.errors import InputError, SpecError
from frontrank.kernels.jit import Array
from frontrank.lab import next_pages
from frontrank.lab.next_pages import rank, view_for
from frontrank.orderings.registry import parse_ranker
from frontrank.sources import imported_crawl
from frontrank.sources.imported_crawl import CrawlTables, load_crawl
from frontrank.system import capacity
from frontrank.web.view import CrawlView
from frontrank.web.web import Web

RANKERS = ("indegree", "pagerank", "pagerank:bits=32", "rw", "rw-eg:omega=0.7", "rw-eg:omega=0.3,bits=32", "rw-virtual")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlTables:
    where = tmp_path_factory.mktemp("large") / "some.crawl"
    write_large("pages=3000,links=6,frontier=0.3,impact=0.1,seed=5", where)
    return load_crawl(where)


def by_page(crawl: CrawlTables, spec: str) -> tuple[Array, CrawlView]:
    ranker = parse_ranker(spec)
    view = view_for(crawl, [ranker])
    scores = np.full(crawl.web.pages, np.nan)
    scores[view.pages] = ranker.score(view)
    return scores, view


@pytest.mark.parametrize("spec", RANKERS)
def test_scores_are_those_of_a_copy(crawl: CrawlTables, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copied, _ = by_page(crawl, spec)
    monkeypatch.setattr(imported_crawl, "LARGE", 0)
    stored, view = by_page(crawl, spec)
    assert np.shares_memory(view.target, crawl.web.targets)
    assert not np.isnan(copied).any()
    assert stored == pytest.approx(copied, abs=1e-7 if "bits=32" in spec else 1e-12)


def test_the_order_of_fetches_does_not_matter(crawl: CrawlTables) -> None:
    shuffled = np.random.default_rng(0).permutation(crawl.fetched)
    one, other = CrawlView.as_stored(crawl.web, crawl.fetched), CrawlView.as_stored(crawl.web, shuffled)
    assert one is not None
    assert other is not None
    assert one.pagerank().tobytes() == other.pagerank().tobytes()


def test_pages_that_the_crawl_does_not_know_need_a_copy() -> None:
    web = Web.from_edges([0, 1], [1, 2], pages=4)
    assert CrawlView.as_stored(web, np.array([0, 1])) is None  # nobody knows of page 3
    web = Web.from_edges([0, 1, 2], [1, 2, 0], pages=3)
    assert CrawlView.as_stored(web, np.array([0, 1])) is None  # page 2 waits, and has links all the same


def test_many_pages_are_written_as_few_are(crawl: CrawlTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = parse_ranker("rw-eg:omega=0.5")
    few = rank(crawl, view_for(crawl, [ranker]), ranker, 100)
    monkeypatch.setattr(next_pages, "MANY", 10)
    many = rank(crawl, view_for(crawl, [ranker]), ranker, 100)
    few.save(tmp_path / "few.parquet")
    many.save(tmp_path / "many.parquet")
    assert pq.read_table(tmp_path / "few.parquet").equals(pq.read_table(tmp_path / "many.parquet"))
    assert list(many.head(3).urls) == list(few.urls[:3])


def test_what_does_not_fit_is_said_before_the_work(crawl: CrawlTables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "SMALL", 0)
    monkeypatch.setattr(capacity, "free_memory", lambda: 110 * 1000)
    message = r"ranking 3,000 pages takes .* GB of memory, and .* are free, enough for 1,000 pages of this kind; .* spark"
    with pytest.raises(InputError, match=message):
        view_for(crawl, [parse_ranker("pagerank")])
    monkeypatch.setattr(capacity, "free_memory", lambda: 110 * 3000)
    view_for(crawl, [parse_ranker("pagerank")])
    more = replace(crawl.web, indptr=crawl.web.indptr * 10, targets=np.repeat(crawl.web.targets, 10))
    with pytest.raises(InputError, match=r"links, put in the order of their discovery, takes .*free some memory"):
        replace(crawl, web=more).view()


def test_bits_are_32_or_64() -> None:
    for name in ("pagerank", "rw", "rw-eg"):
        with pytest.raises(SpecError, match="bits must be 32 or 64, got 16"):
            parse_ranker(f"{name}:bits=16")
