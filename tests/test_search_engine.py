"""The embedded engine: which pages it finds, in which order, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.pages.words import url_words, words
from frontrank.search.engine import SearchEngine, pagerank_prior
from frontrank.web.view import Workload

TEXTS = st.lists(st.sampled_from(["bee", "wasp", "Honey", "hive!", "bee-hive"]), max_size=6).map(" ".join)
PAGE = st.tuples(TEXTS, TEXTS, TEXTS, st.sampled_from(["http://www.bee.org/", "http://x/hive", "http://y/"]))


def engine_of(pages: list[tuple[str, str, str, str]], prior: np.ndarray | None = None) -> SearchEngine:
    titles, texts, anchors, urls = (list(column) for column in zip(*pages, strict=True))
    return SearchEngine.build(titles, texts, anchors, urls, np.zeros(len(pages)) if prior is None else prior)


def asking(*queries: str) -> Workload:
    return Workload(queries, np.ones(len(queries)))


@settings(max_examples=30, deadline=None)
@given(st.lists(PAGE, min_size=1, max_size=12), st.lists(TEXTS, min_size=1, max_size=5))
def test_it_finds_exactly_the_pages_that_hold_every_word(pages: list[tuple[str, str, str, str]], queries: list[str]) -> None:
    results = engine_of(pages).search(asking(*queries), top=len(pages))
    for query, asked in enumerate(queries):
        wanted = set(words(asked))
        held = [{*words(title), *words(text), *words(anchor), *url_words(url)} for title, text, anchor, url in pages]
        found, score = results.of(query)
        assert set(found.tolist()) == {page for page in range(len(pages)) if wanted and wanted <= held[page]}
        assert np.all(score > 0) and np.all(np.diff(score) <= 0)
        assert all(found[i] < found[i + 1] for i in range(len(found) - 1) if score[i] == score[i + 1])


def test_a_title_counts_more_than_a_body_and_equal_pages_come_by_number() -> None:
    body, title = ("", "bee", "", "http://x/"), ("bee", "", "", "http://x/")
    found, score = engine_of([body, title, body, ("", "wasp", "", "http://x/")]).search(asking("bee")).of(0)
    assert found.tolist() == [1, 0, 2] and score[1] == score[2]


def test_the_prior_is_added_to_every_score_and_decides_between_equals() -> None:
    pages = [("", "bee", "", "http://x/")] * 3
    plain = engine_of(pages).search(asking("bee"))
    raised = engine_of(pages, np.array([0.0, 2.0, 1.0])).search(asking("bee"))
    assert raised.page.tolist() == [1, 2, 0]
    assert raised.score - plain.score == pytest.approx([2.0, 1.0, 0.0])


def test_the_prior_grows_with_pagerank_and_is_never_negative() -> None:
    prior = pagerank_prior(np.array([0.0, 0.1, 0.9]))
    assert np.all(np.diff(prior) > 0) and prior[0] == 0
    with pytest.raises(InputError, match="prior"):
        engine_of([("", "bee", "", "http://x/")], np.array([-1.0]))


def test_only_the_top_is_kept_and_views_add_up_to_it() -> None:
    log = Workload(("bee", "nothing such"), np.array([3.0, 100.0]))
    results = engine_of([("", "bee", "", "http://x/")] * 25).search(log, top=10)
    assert np.diff(results.indptr).tolist() == [10, 0]
    assert results.views(log, 25, top=4).tolist() == [3.0] * 4 + [0.0] * 21


def test_two_builds_give_the_same_bits() -> None:
    draw = np.random.default_rng(0)
    texts = [" ".join(f"w{w}" for w in draw.zipf(1.3, 40) % 500) for _ in range(400)]
    pages = [("", text, "", f"http://x/{i}") for i, text in enumerate(texts)]
    log = asking(*(f"w{a} w{b}" for a in range(10) for b in range(10)))
    first, second = (engine_of(pages).search(log) for _ in range(2))
    assert np.array_equal(first.page, second.page) and np.array_equal(first.score, second.score)
    assert len(first.page) > 100


def test_absurd_words_and_an_empty_engine_do_no_harm() -> None:
    found = engine_of([("", "bee " + "x" * 100_000, "", "http://x/")]).search(asking("bee", "x" * 100_000, "?!"))
    assert np.diff(found.indptr).tolist() == [1, 0, 0]
    assert len(SearchEngine.build([], [], [], [], np.empty(0)).search(asking("bee")).page) == 0


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    engine_of([("", "bee", "", "http://x/")]).search(asking(*["bee"] * 2500), progress=lambda *at: told.append(at))
    assert told == [(1000, 2500), (2000, 2500)]
