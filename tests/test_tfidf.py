"""IS of cho98: how similar pages are to a query, as an importance and as an ordering."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontrank as fr
from frontrank.crawl.crawl import Crawl
from frontrank.errors import FrontrankError, InputError
from frontrank.frontiers.politeness import Politeness
from frontrank.lab.measures import mass
from frontrank.orderings.online.similarity import Similarity
from frontrank.orderings.registry import parse
from frontrank.pages import tfidf
from frontrank.simulation.simulate import simulate
from frontrank.web.importance import importance
from frontrank.web.web import Web
from tests.oracles.orderings import plain_words
from tests.webs import random_web

TEXTS = st.lists(st.sampled_from(["machine", "learning", "database", "music", "law", "page"]), max_size=12).map(" ".join)


def dense(pages: list[tuple[str, str]], query: str, title: float) -> list[float]:
    """IS by whole vectors over the whole vocabulary."""
    bags = [plain_words(text) + plain_words(head) * int(title) for head, text in pages]
    vocabulary = sorted({word for bag in bags for word in bag} | set(plain_words(query)))
    df = np.array([sum(word in bag for bag in bags) for word in vocabulary])
    idf = np.log(1.0 + len(pages) / np.maximum(1, df))
    rows = np.array([[bag.count(word) for word in vocabulary] for bag in bags]) * idf
    asked = np.array([float(word in plain_words(query)) for word in vocabulary]) * idf
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    found: list[float] = np.divide(rows @ asked, lengths, out=np.zeros(len(rows)), where=lengths > 0).tolist()
    return found


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8), TEXTS.filter(bool), st.integers(0, 4))
def test_importance_is_the_cosine_of_dense_vectors(pages: list[tuple[str, str]], query: str, title: int) -> None:
    heads, texts = zip(*pages, strict=True)
    web = Web.from_edges([], [], len(pages), titles=list(heads), texts=list(texts))
    wanted = dense(pages, query, title)
    metric = f'similarity:query="{query}",title={title}'
    held = {word for head, text in pages for word in plain_words(f"{head * bool(title)} {text}")}
    if not held & set(plain_words(query)):
        with pytest.raises(InputError, match="has a word of the query"):
            importance(web, metric)
    else:
        assert importance(web, metric) == pytest.approx(wanted, abs=1e-8)


def test_a_page_of_the_query_alone_is_as_similar_as_can_be() -> None:
    web = Web.from_edges([], [], 3, texts=["law music", "music", "music law music law"])
    part = math.log(2) / math.hypot(math.log(2), math.log(2.5))
    assert importance(web, 'similarity:query="music law"').tolist() == [1.0, pytest.approx(part, abs=1e-8), 1.0]


def test_words_of_this_vocabulary_share_no_slot() -> None:
    words = [f"word{i}" for i in range(300)]
    assert len({tfidf.slots(word) for word in words}) == 300


def test_idf_is_that_of_the_pages_fetched_so_far() -> None:
    """A word that all pages fetched so far hold tells less than one that few do."""
    df = tfidf.counts()
    for text in ("music law", "music", "music"):
        tfidf.note(df, tfidf.of_page("", text))
    query = tfidf.slots("music law")
    rare, common = (tfidf.similarity(tfidf.of_link(word, ""), query, df, 3) for word in ("law", "music"))
    idf = {"law": math.log(4), "music": math.log(2)}
    assert rare == pytest.approx(idf["law"] / math.hypot(*idf.values()), abs=1e-8)
    assert common == pytest.approx(idf["music"] / math.hypot(*idf.values()), abs=1e-8)


def test_one_word_with_hot_is_the_crawler_by_topic() -> None:
    assert parse("similarity:query=computer,hot=5") == parse("similarity:topic=computer,body=5")
    web = random_web(60, 300, 2)
    assert fr.order(web, "similarity:query=computer,hot=10", [0]) == fr.order(web, "similarity:topic=computer", [0])


def test_a_title_counts_as_often_as_it_is_told_to() -> None:
    assert Similarity(query="law").title == tfidf.TITLE
    assert tfidf.of_page("law", "law music", 3.0) == {**tfidf.of_page("", "law law law law music")}


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ('similarity:query="..."', "query must have at least one word, got '...'"),
        ("similarity:query=", "query must have at least one word"),
        ("similarity:query=a,topic=b", "both query and topic were given"),
        ("similarity:query=a,title=-1", "title must be a number from 0, got -1"),
        ("similarity:query=a,body=3", "body given, but it goes with topic="),
        ("similarity:topic=a,title=3", "title given, but it goes with query="),
    ],
)
def test_what_is_no_importance(metric: str, says: str) -> None:
    with pytest.raises(FrontrankError) as error:
        importance(random_web(), metric)
    assert says in str(error.value)


@pytest.mark.parametrize("seed", range(5))
def test_with_one_page_in_flight_a_clock_changes_nothing(seed: int) -> None:
    web, policy = random_web(80, 400, seed), parse("similarity:query=computer shop")
    plain, clocked = (simulate(web, policy, np.array([0, 7]), politeness=given) for given in (None, Politeness(in_flight=1)))
    assert clocked.trace.order.tolist() == plain.trace.order.tolist()
    several = simulate(web, policy, np.array([0, 7]), politeness=Politeness(in_flight=4, delay_s=1.0), latency_s=0.5)
    assert sorted(several.trace.order.tolist()) == sorted(plain.trace.order.tolist())


def test_a_web_without_anchors_is_refused() -> None:
    web = replace(random_web(), anchors=None)
    with pytest.raises(InputError, match="needs a web with anchors"):
        fr.order(web, "similarity:query=law", [0])


def test_a_live_crawl_counts_words_on_where_it_was(tmp_path: Path) -> None:
    """What was counted is in the snapshot, or in the texts of the log: both give the same priorities."""
    crawl = Crawl("similarity:query=law music", tmp_path / "crawl")
    crawl.seed(["http://a/"])
    crawl.take()
    crawl.fetched("http://a/", [("http://b/", "law"), ("http://c/", "music")], "law", "law and law")
    crawl.snapshot()
    (second,) = crawl.take()
    crawl.fetched(second, [("http://d/", "law")], "", "music, music")
    priorities = [(one["url"], one["priority"]) for one in crawl.inspect.next()]
    crawl.abandon()
    again = Crawl.recover(tmp_path / "crawl")
    assert [(one["url"], one["priority"]) for one in again.inspect.next()] == priorities
    assert again.state.ordering.columns.documents[0] == 2
    again.abandon()


@pytest.mark.data
def test_a_query_of_several_words_on_a_real_site(data_dir: Path) -> None:
    web = fr.load(data_dir / "uci-ics")
    query = "machine learning database"
    for spec, least, most in ((f"similarity:query={query}", 0.25, 1.0), ("bfs", 0.0, 0.1)):
        run = simulate(web, parse(spec), np.array([web.page_of("https://www.ics.uci.edu")]), budget=0.02)
        share = mass(run.trace, web, (0.02,), f'similarity:query="{query}"')[0.02]
        assert share is not None
        assert least <= share <= most
