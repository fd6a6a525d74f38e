"""The embedded engine: which pages it finds, in which order, the same every time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.words import url_words, words
from frontrank.search.search_engine import SearchEngine, pagerank_prior
from frontrank.web.view import Results, Workload

TEXTS = st.lists(st.sampled_from(["bee", "wasp", "Honey", "hive!", "bee-hive"]), max_size=6).map(" ".join)
PAGE = st.tuples(TEXTS, TEXTS, TEXTS, st.sampled_from(["http://www.bee.org/", "http://x/hive", "http://y/"]))


Page = tuple[str, str, str, str]


def found(pages: list[Page], queries: Sequence[str], prior: Array | None = None, top: int = 10) -> Results:
    columns = [[page[i] for page in pages] for i in range(4)]
    return SearchEngine.build(queries, *columns).search(np.zeros(len(pages)) if prior is None else prior, top)


def bm25(pages: list[Page], query: str) -> dict[int, float]:
    """Okapi's formula, word by word; pages are short, so lengths are exact."""
    fields = [[words(title), words(text), words(anchor), url_words(url)] for title, text, anchor, url in pages]
    scores = {}
    for page, held in enumerate(fields):
        asked = set(words(query))
        if not asked or not asked <= {word for field in held for word in field}:
            continue
        scores[page] = 0.0
        for at, boost in enumerate((3.0, 1.0, 2.0, 1.5)):
            mean = sum(len(one[at]) for one in fields) / len(pages)
            for word in asked:
                tf, df = held[at].count(word), sum(word in one[at] for one in fields)
                if tf:
                    norm = 1.2 * (0.25 + 0.75 * len(held[at]) / mean)
                    scores[page] += boost * math.log(1 + (len(pages) - df + 0.5) / (df + 0.5)) * 2.2 * tf / (tf + norm)
    return scores


@settings(max_examples=30, deadline=None)
@given(st.lists(PAGE, min_size=1, max_size=12), st.lists(TEXTS, min_size=1, max_size=5))
def test_it_finds_exactly_the_pages_that_hold_every_word_and_scores_them_by_the_formula(
    pages: list[Page], queries: list[str]
) -> None:
    results = found(pages, queries, top=len(pages))
    for query, asked in enumerate(queries):
        page, score = results.of(query)
        assert dict(zip(page.tolist(), score.tolist(), strict=True)) == pytest.approx(bm25(pages, asked))
        assert np.all(score > 0) and np.all(np.diff(score) <= 0)
        assert all(page[i] < page[i + 1] for i in range(len(page) - 1) if score[i] == score[i + 1])


@settings(max_examples=30, deadline=None)
@given(st.lists(PAGE, min_size=1, max_size=12), st.lists(TEXTS, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_an_engine_that_grew_says_the_same_to_the_last_bit(pages: list[Page], queries: list[str], shuffle: Random) -> None:
    engine = SearchEngine(queries)
    events = [(page, anchor) for page, one in enumerate(pages) for anchor in (None, *one[2].split())]
    shuffle.shuffle(events)
    for at, (page, anchor) in enumerate(events):
        if anchor is None:
            engine.add(page, pages[page][0], pages[page][1], pages[page][3])
        else:
            engine.point(page, anchor)
        if at % 3 == 0:
            engine.search(np.zeros(len(pages)))
    assert engine.ask(queries)
    grew, built = engine.search(np.zeros(len(pages))), found(pages, queries)
    assert all(np.array_equal(getattr(grew, name), getattr(built, name)) for name in ("indptr", "page", "score"))


def test_other_queries_need_the_pages_again_only_if_they_bring_new_words() -> None:
    engine = SearchEngine(["bee hive"])
    engine.add(3, "bee", "hive", "http://x/")
    assert engine.ask(["hive", "bee"]) and engine.search(np.zeros(4)).page.tolist() == [3, 3]
    assert not engine.ask(["wasp"])


def test_a_title_counts_more_than_a_body_and_equal_pages_come_by_number() -> None:
    body, title = ("", "bee", "", "http://x/"), ("bee", "", "", "http://x/")
    page, score = found([body, title, body, ("", "wasp", "", "http://x/")], ["bee"]).of(0)
    assert page.tolist() == [1, 0, 2] and score[1] == score[2]


def test_the_prior_is_added_to_every_score_and_decides_between_equals() -> None:
    pages = [("", "bee", "", "http://x/")] * 3
    plain = found(pages, ["bee"])
    raised = found(pages, ["bee"], np.array([0.0, 2.0, 1.0]))
    assert raised.page.tolist() == [1, 2, 0]
    assert raised.score - plain.score == pytest.approx([2.0, 1.0, 0.0])


def test_the_prior_grows_with_pagerank_and_is_never_negative() -> None:
    prior = pagerank_prior(np.array([0.0, 0.1, 0.9]))
    assert np.all(np.diff(prior) > 0) and prior[0] == 0
    with pytest.raises(InputError, match="prior"):
        found([("", "bee", "", "http://x/")], ["bee"], np.array([-1.0]))
    with pytest.raises(InputError, match="must have a value for each of 1 pages, got 0"):
        found([("", "bee", "", "http://x/")], ["bee"], np.empty(0))


def test_only_the_top_is_kept_and_views_add_up_to_it() -> None:
    log = Workload(("bee", "nothing such"), np.array([3.0, 100.0]))
    results = found([("", "bee", "", "http://x/")] * 25, log.queries)
    assert np.diff(results.indptr).tolist() == [10, 0]
    assert results.views(log, 25, top=4).tolist() == [3.0] * 4 + [0.0] * 21


def test_two_builds_give_the_same_bits() -> None:
    draw = np.random.default_rng(0)
    texts = [" ".join(f"w{w}" for w in draw.zipf(1.3, 40) % 500) for _ in range(400)]
    pages = [("", text, "", f"http://x/{i}") for i, text in enumerate(texts)]
    log = [f"w{a} w{b}" for a in range(10) for b in range(10)]
    first, second = (found(pages, log) for _ in range(2))
    assert np.array_equal(first.page, second.page) and np.array_equal(first.score, second.score)
    assert len(first.page) > 100


def test_of_many_equal_pages_the_first_are_candidates() -> None:
    many = found([("", "bee", "", "http://x/")] * 700, ["bee"], np.arange(700.0))
    assert many.page.tolist() == list(range(299, 289, -1))


def test_absurd_words_and_an_empty_engine_do_no_harm() -> None:
    results = found([("", "bee " + "x" * 100_000, "", "http://x/")], ["bee", "x" * 100_000, "?!"])
    assert np.diff(results.indptr).tolist() == [1, 0, 0]
    assert len(SearchEngine(["bee"]).search(np.empty(0)).page) == 0
    assert len(SearchEngine([]).search(np.empty(0)).indptr) == 1


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    engine = SearchEngine(["bee"] * 2500)
    engine.add(0, "", "bee", "http://x/")
    engine.search(np.zeros(1), progress=lambda *at: told.append(at))
    assert told == [(1000, 2500), (2000, 2500)]
