"""Web: links are distinct, without self-links, in row order; pages are found by id and by URL."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import FrontrankError, InputError, SeedError, SourceError, SpecError
from frontrank.kernels.pagerank import pagerank
from frontrank.lab.compare import order
from frontrank.orderings.online.oracle import Oracle
from frontrank.web.importance import importance
from frontrank.web.links import tidy
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

edges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60)


@settings(max_examples=200, deadline=None)
@given(given=edges)
def test_rows_hold_distinct_targets_in_the_order_of_the_page(given: list[tuple[int, int]]) -> None:
    web = Web.from_edges([a for a, _ in given], [b for _, b in given], pages=10, anchors=[f"{a}>{b}" for a, b in given])
    for page in range(10):
        expected = list(dict.fromkeys(b for a, b in given if a == page and b != page))
        assert web.targets_of(page).tolist() == expected
        held = list(web.anchors or ())[web.indptr[page] : web.indptr[page + 1]]
        assert held == [" ".join(f"{a}>{b}" for a, b in given if (a, b) == (page, q)) for q in expected]


class TestLookUp:
    web = Web.from_edges([0, 1], [1, 2], 3, urls=["https://a.org/", "https://a.org/", "http://b.org/x"])

    @pytest.mark.parametrize("name", ["https://a.org/", "https://a.org", "HTTPS://A.ORG:443", "0"])
    def test_the_first_page_with_a_url_is_meant(self, name: str) -> None:
        assert self.web.page_of(name) == 0

    @pytest.mark.parametrize("name", ["https://c.org/", "3", "-1"])
    def test_a_page_that_is_not_there(self, name: str) -> None:
        with pytest.raises(SeedError, match="is not a page"):
            self.web.page_of(name)

    def test_own_ids(self) -> None:
        web = Web.from_edges([0, 1], [1, 2], 3, ids=np.array([700, 20, 5]))
        assert [web.page_of(str(i)) for i in (5, 20, 700)] == [2, 1, 0]
        assert web.ids_of(np.array([2, 0])).tolist() == [5, 700]
        with pytest.raises(SeedError):
            web.page_of("6")


def test_what_a_web_lacks_is_said() -> None:
    web = Web.from_edges([0], [1], 2)
    assert not web.has("hosts")
    with pytest.raises(InputError, match="no column 'host'"):
        web.has("host")
    with pytest.raises(SourceError, match="no pages"):
        Web.from_edges([], [], 0)
    with pytest.raises(SourceError, match="1 urls for 2 pages"):
        Web.from_edges([0], [1], 2, urls=["u"])
    with pytest.raises(SeedError, match="knows no URLs"):
        web.page_of("http://a/")


class TestSeeds:
    web = Web.from_edges([0, 1, 2, 3, 4], [2, 2, 0, 2, 0], 5)

    def test_top_is_by_pagerank(self) -> None:
        assert find_seeds(self.web, "top:2").tolist() == [2, 0]

    def test_random_is_drawn_once_and_for_all(self) -> None:
        drawn = find_seeds(self.web, "random:3@7").tolist()
        assert drawn == find_seeds(self.web, "random:3@7").tolist()
        assert len(set(drawn)) == 3

    def test_repetitions_count_once(self) -> None:
        assert find_seeds(self.web, [3, 1, 3]).tolist() == [3, 1]


def test_importance_metrics() -> None:
    urls = ["http://a/", "http://a/x/", "http://a/y"]
    web = Web.from_edges([0, 0, 1], [1, 2, 2], 3, urls=urls, titles=["Jazz", "", ""], texts=["", "jazz " * 10, "jazz"])
    assert importance(web, "backlink").tolist() == [0, 1, 2]
    assert importance(web, "forward").tolist() == [2, 1, 0]
    assert importance(web, "location").tolist() == [-3, -4, -3]
    assert importance(web, "similarity:topic=jazz").tolist() == [1, 1, 0]
    assert importance(web, "0.5*backlink+2*forward").tolist() == [4, 2.5, 1]


class TestMetrics:
    urls = ["http://a/", "http://b/x", "http://b/y"]
    texts = ["jazz " * 5, "jazz", "new york, ny " * 10]
    web = Web.from_edges([0, 1], [2, 2], 3, urls=urls, texts=texts)

    def test_parameters_are_used(self) -> None:
        assert importance(self.web, "pagerank:alpha=0.5").tolist() == pagerank(self.web.indptr, self.web.targets, 0.5).tolist()
        assert importance(self.web, "pagerank:alpha=0.85").tolist() == importance(self.web).tolist()
        assert importance(self.web, "similarity:topic=jazz,body=5").tolist() == [1, 0, 0]
        assert importance(self.web, "similarity:body=1,topic=jazz").tolist() == [1, 1, 0]
        for topic in ("new york, ny", '"new york, ny"', '"new york, ny",body=10'):  # with or without the quotes of an ordering
            assert importance(self.web, f"similarity:topic={topic}").tolist() == [0, 0, 1]
        half = importance(self.web, "2*pagerank:alpha=0.5+1*backlink")
        assert half.tolist() == (2 * importance(self.web, "pagerank:alpha=0.5") + importance(self.web, "backlink")).tolist()

    @pytest.mark.parametrize(
        ("metric", "says"),
        [
            ("pagerank:nonsense=1", "'nonsense=1' given, but pagerank takes alpha="),
            ("pagerank:alpha=1.5", "alpha must be a number between 0 and 1, got 1.5"),
            ("pagerank:alpha=nan", "alpha must be a number between 0 and 1, got nan"),
            ("pagerank:alpha=half", "alpha must be a number, got half"),
            ("pagerank:alpha=", "alpha must be a number, got nothing"),
            ("pagerank:alpha=0.5,alpha=0.6", "alpha given twice"),
            ("pagerank:", "'' given, but pagerank takes alpha="),
            ("backlink:foo", "'foo' given, but backlink takes no parameters"),
            ("1*backlink:foo=2", "'foo=2' given, but backlink takes no parameters"),
            ("similarity", "no topic given"),
            ("similarity:topic=jazz,body=0", "body must be a whole number from 1, got 0"),
            ("pagrank", "did you mean 'pagerank'"),
        ],
    )
    def test_what_is_wrong_with_a_metric_is_said_in_one_sentence(self, metric: str, says: str) -> None:
        with pytest.raises(SpecError, match=says) as told:
            importance(self.web, metric)
        assert "\n" not in str(told.value)
        with pytest.raises(SpecError, match=f"oracle: .*{says}"):
            Oracle(truth=metric)

    def test_votes_are_links_from_other_hosts(self) -> None:
        hosts = np.array([0, 0, 1], np.int32)
        web = Web.from_edges([0, 0, 1, 2, 2], [1, 2, 2, 0, 1], 3, hosts=hosts)
        assert importance(web, "votes").tolist() == [1, 1, 2]
        with pytest.raises(InputError, match="votes needs a web with hosts"):
            importance(self.web, "votes")

    def test_a_topic_that_no_page_is_about_is_refused_as_every_crawl_would_have_all_of_nothing(self) -> None:
        with pytest.raises(InputError, match="no page of web is about the topic: 'opera' is in no title"):
            importance(self.web, "similarity:topic=opera")
        with pytest.raises(InputError, match="nowhere 10 times"):
            importance(self.web, "similarity:topic=jazz")


def test_a_web_with_other_columns_forgets_what_was_derived_from_the_old() -> None:
    web = Web.from_edges([0, 1], [1, 2], 3, urls=["http://a/", "http://a/x/y", "http://a/x"])
    assert importance(web, "location").tolist() == [-3, -4, -3]
    assert web.page_of("http://a/x") == 2
    other = replace(web, urls=["http://b/1/2/3", "http://b/", "http://a/x"])
    assert importance(other, "location").tolist() == [-5, -3, -3]
    assert importance(web, "location").tolist() == [-3, -4, -3]
    with pytest.raises(SeedError):
        other.page_of("http://a/")


@pytest.mark.parametrize(("source", "target"), [([0, 7], [1, 1]), ([0, -1], [1, 1]), ([0], [3]), ([0], [2**31]), ([0], [-2])])
def test_page_numbers_out_of_range_are_refused_before_a_kernel_trusts_them(source: list[int], target: list[int]) -> None:
    with pytest.raises(InputError, match="must be a page number from 0 to 2, got"):
        Web.from_edges(source, target, pages=3)


def test_links_need_a_source_and_a_target_each() -> None:
    with pytest.raises(InputError, match="got 2 sources and 1 targets"):
        Web.from_edges([0, 1], [1], pages=3)


def test_links_are_tidied_in_place() -> None:
    """A second array of targets would be the largest thing in memory while a large web is read."""
    indptr, targets = np.array([0, 3, 5]), np.array([1, 0, 1, 0, 0], np.int32)
    indptr, kept, _ = tidy(indptr, targets)
    assert (indptr.tolist(), kept.tolist()) == ([0, 1, 2], [1, 0])
    assert kept is targets and kept.flags.owndata and kept.nbytes == 8


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"targets": np.array([1, 7_000_000], np.int32)}, "a target must be a page number from 0 to 2, got 7000000"),
        ({"targets": np.array([1, -1], np.int32)}, "a target must be a page number from 0 to 2, got -1"),
        ({"indptr": np.array([0, 5, 1, 2])}, "indptr must rise from 0 to the 2 links"),
        ({"indptr": np.array([0, 1, 1, 1])}, "indptr must rise from 0 to the 2 links, got 0 to 1"),
        ({"hosts": [0, -1, 0]}, "hosts must be whole numbers from 0"),
        ({"hosts": np.array([0.0, 1.5, 0.0])}, "hosts must be whole numbers from 0"),
        ({"hosts": ["a", "b", "a"]}, "hosts must be whole numbers from 0"),
        ({"seeds": [3]}, "a seed must be a page number from 0 to 2, got 3"),
        ({"views": [1.0, np.nan, 0.0]}, "views must be finite numbers from 0"),
        ({"clicks": [1.0, -2.0, 0.0]}, "clicks must be finite numbers from 0"),
    ],
)
def test_numbers_that_kernels_would_trust_are_checked(given: dict[str, Any], wrong: str) -> None:
    whole = {"indptr": np.array([0, 2, 2, 2]), "targets": np.array([1, 2], np.int32)}
    with pytest.raises(FrontrankError, match=wrong):
        Web(**{**whole, **given})


def test_columns_may_be_lists() -> None:
    web = Web.from_edges([0, 0], [1, 2], pages=3, hosts=[0, 0, 5], seeds=[2], views=[1, 2, 3])
    assert order(web, "fpr:m=100", seeds=[0]) == [0, 2, 1]
    assert importance(web, "views").tolist() == [1.0, 2.0, 3.0] and order(web, "bfs") == [2]


@pytest.mark.parametrize("source", [[0.5], ["a"], [[0]], [None], iter([0])])
def test_links_are_between_numbers(source: Any) -> None:
    """A share of a page is not rounded to one."""
    with pytest.raises(InputError, match="source page must be a page number, in an array of whole numbers"):
        Web.from_edges(source, [1], pages=2)


@pytest.mark.parametrize(("spec", "got"), [("random:0", "random:0"), ("random:4@1", "random:4@1"), ("top:0", "top:0")])
def test_as_many_seeds_as_there_are_pages(spec: str, got: str) -> None:
    with pytest.raises(SeedError, match=f"seeds must be from 1 to the 3 pages of web, got '{got}'"):
        find_seeds(Web.from_edges([0], [1], 3), spec)


def test_an_importance_that_tells_no_page_from_another_is_refused() -> None:
    web = Web.from_edges([0], [1], 2, titles=["tea", "jobs"], texts=["tea", "jobs"], urls=["http://a/", "http://a/x"])
    with pytest.raises(SpecError, match="a weight must not be 0"):
        importance(web, "0*pagerank+0*backlink")
    with pytest.raises(InputError, match="no page of web is worth anything to the scorer topic:coffee"):
        importance(web, "quality:scorer=topic:coffee")
    assert importance(web, "quality:scorer=topic:tea")[0] > 0
