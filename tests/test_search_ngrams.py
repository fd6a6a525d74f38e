"""Matching queries and pages by n-grams of URL and anchors, against the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.pages.words import url_words, words
from frontrank.search import ngrams as module
from frontrank.search.ngrams import match

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5)
URL = WORDS.map(lambda parts: "http://www.x/" + "/".join(parts))
ANCHORS = st.lists(WORDS.map(" ".join), max_size=3).map(" \n ".join)
Row = list[tuple[int, float, float, float]]


def ngrams(sequence: list[str], g: int) -> list[str]:
    """All runs of 1 to g words."""
    return [" ".join(sequence[i : i + n]) for n in range(1, g + 1) for i in range(len(sequence) - n + 1)]


def by_definition(queries: list[str], urls: list[str], anchors: list[str], g: int, rho: float) -> list[Row]:
    rows = []
    for query in queries:
        asked = set(ngrams(words(query), g))
        row = []
        for page, (url, lines) in enumerate(zip(urls, anchors, strict=True)):
            in_url = asked & set(ngrams(url_words(url), g))
            in_anchors = asked & {gram for line in lines.split("\n") for gram in ngrams(words(line), g)}
            if asked and len(in_url | in_anchors) >= max(1, math.ceil(rho * len(asked) - 1e-9)):
                shares = [len(held) / len(asked) for held in (in_url, in_anchors, in_url | in_anchors)]
                row.append((page, shares[0], shares[1], shares[2]))
        rows.append(row)
    return rows


@settings(max_examples=150, deadline=None)
@given(
    st.lists(WORDS.map(" ".join), max_size=6),
    st.lists(st.tuples(URL, ANCHORS), max_size=8),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]),
    st.integers(1, 8),
)
def test_matches_are_those_of_the_definition(
    queries: list[str], pages: list[tuple[str, str]], g: int, rho: float, batch: int
) -> None:
    urls, anchors = [url for url, _ in pages], [lines for _, lines in pages]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH", batch)  # how pages are batched is invisible
        found = match(queries, urls, anchors, g, rho)
    expected = by_definition(queries, urls, anchors, g, rho)
    for query, row in enumerate(expected):
        at = slice(int(found.indptr[query]), int(found.indptr[query + 1]))
        columns = (found.page[at], found.in_url[at], found.in_anchors[at], found.in_either[at])
        assert np.column_stack(columns) == pytest.approx(np.array(row).reshape(-1, 4), abs=1e-6)


def test_an_ngram_never_crosses_from_one_anchor_to_the_next_or_from_the_url() -> None:
    found = match(["new york"], ["http://a/new", "http://a/", "http://new/york"], ["york", "new\nyork", ""])
    assert found.page.tolist() == [2]


def test_a_word_that_no_query_holds_parts_its_neighbours() -> None:
    assert match(["new york"], ["http://a/new/big/york"], [""]).page.tolist() == []


@pytest.mark.parametrize(("g", "rho"), [(0, 1.0), (3, 1.5), (3, -0.1), (3, float("nan"))])
def test_parameters_out_of_range_are_refused(g: int, rho: float) -> None:
    with pytest.raises(InputError, match=r"must be .* got"):
        match(["a"], ["http://a/"], [""], g, rho)


def test_batches_hold_every_query_once_and_few_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MATCHES", 25)
    index = module.NGramIndex.of(["x", "y", "x y", "none", "y x"], ["http://x/y"] * 10, [""] * 10)
    batches = [*index.batches()]
    assert [query for first, last in batches for query in range(first, last)] == [0, 1, 2, 3, 4]
    assert batches == [(0, 2), (2, 5)]
    whole = index.match()
    for first, last in batches:
        some = index.match(1.0, first, last)
        for query in range(first, last):
            assert some.of(query - first).tolist() == whole.of(query).tolist()


def test_a_rare_word_spares_the_postings_of_frequent_ones() -> None:
    pages = 20_000
    urls = [f"http://x/the/page/{'bee' if i % 5000 == 0 else i}" for i in range(pages)]
    found = match(["the page bee"] * 500, urls, [""] * pages)
    assert np.diff(found.indptr).tolist() == [4] * 500


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.text("ab ", max_size=9), st.text("ab \n", max_size=9)), max_size=6), max_size=5
    )
)
def test_an_index_that_grew_is_one_that_was_made_at_once(steps: list[list[tuple[int, str, str]]]) -> None:
    queries = ["a", "b a", "a b a", "b"]
    growing = module.GrowingIndex(queries)
    urls, anchors = [""] * 10, [""] * 10
    for step in steps:
        for page, url, anchor in step:
            urls[page], anchors[page] = url, anchor
        pages = sorted({page for page, _, _ in step})
        growing.take_in(pages, [urls[page] for page in pages], [anchors[page] for page in pages])
        made, whole = growing.index(), module.NGramIndex.of(queries, urls, anchors)
        for one, other in zip(made.postings, whole.postings, strict=True):
            assert one.tolist() == other.tolist()
