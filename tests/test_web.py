"""Web: links are distinct, without self-links, in row order; pages are found by id and by URL."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError, SeedError, SourceError
from frontrank.web.importance import importance
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
