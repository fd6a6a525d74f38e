"""Online orderings that rank the frontier of a crawl: by what it fetched, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from frontrank.errors import InputError
from frontrank.lab.evaluate import evaluate
from frontrank.lab.scenario import ranker_of
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.web.view import CrawlView
from frontrank.web.web import Web

READERS = (
    "quality",
    "quality:scorer=rules,inherit=max",
    "group",
    "group:inner=backlink",
    "similarity:topic=crawl,body=1",
    "similarity:query=crawl",
    "largest-site",
    "fpr:m=100",
    "location",
)


@pytest.fixture(scope="session")
def web() -> Web:
    return load("synthetic:pages=600,hosts=6,seed=4")


@pytest.mark.parametrize("spec", READERS)
@pytest.mark.parametrize("fetched", [7, 120])
def test_the_best_page_of_the_frontier_is_the_one_that_the_ordering_fetches_next(web: Web, spec: str, fetched: int) -> None:
    seeds = np.array([0, 5], np.int32)
    trace = simulate(web, parse(spec), seeds, fetched + 1).trace
    view = CrawlView.of(web, seeds, trace.order[:fetched])
    scores = ranker_of(spec).score(view)
    waits = np.flatnonzero(~view.fetched)
    assert view.pages[waits[np.argmax(scores[waits])]] == trace.order[fetched]


@pytest.mark.parametrize("spec", READERS[:6])
def test_what_pages_say_that_are_not_fetched_changes_nothing(web: Web, spec: str) -> None:
    assert web.texts is not None and web.titles is not None
    seeds = np.array([0], np.int32)
    order = simulate(web, parse("bfs"), seeds, 100).trace.order
    fetched = np.isin(np.arange(web.pages), order)
    other = replace(
        web,
        texts=[text if had else "crawl " * 50 for text, had in zip(web.texts, fetched, strict=True)],
        titles=[title if had else "crawl" for title, had in zip(web.titles, fetched, strict=True)],
    )
    one, two = (ranker_of(spec).score(CrawlView.of(known, seeds, order)) for known in (web, other))
    assert one.tolist() == two.tolist()


def test_they_are_evaluated_beside_rankers_by_impact(web: Web) -> None:
    views = np.arange(web.pages, dtype=np.float64)
    done = evaluate(replace(web, views=views), None, ["rw", "quality", "group", "similarity:topic=crawl"], "bfs:0.3", [0])
    assert [finding.name for finding in done.findings] == ["rw", "quality", "group", "similarity:topic=crawl"]


def test_the_oracle_that_reads_before_it_fetches_ranks_no_frontier(web: Web) -> None:
    view = CrawlView.of(web, np.array([0]), np.array([0]))
    with pytest.raises(InputError, match="reads pages before they are fetched"):
        ranker_of("quality:inherit=own").score(view)


def test_without_texts_an_ordering_that_reads_them_is_refused() -> None:
    view = CrawlView.of(Web.from_edges([0], [1], 2), np.array([0]), np.array([0]))
    with pytest.raises(InputError, match="needs a web with texts"):
        ranker_of("quality").score(view)
