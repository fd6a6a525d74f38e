"""Crawl: events one at a time, in memory."""

from __future__ import annotations

import pytest

from frontrank.crawl import Crawl
from frontrank.errors import InputError
from frontrank.registry import parse


def test_taken_pages_are_open_until_they_are_settled() -> None:
    crawl = Crawl(parse("bfs"))
    crawl.seed(["a"])
    assert crawl.take() == ["a"]
    assert crawl.take() == []
    crawl.fetched("a", ["b", "c", "b", "a"])
    assert crawl.waiting == 2
    assert crawl.take(5) == ["b", "c"]
    with pytest.raises(InputError, match="'a' was settled"):
        crawl.fetched("a")
    with pytest.raises(InputError, match="'z' was settled"):
        crawl.failed("z")


def test_a_page_that_fails_keeps_no_links_and_does_not_come_back() -> None:
    crawl = Crawl(parse("opic"))
    crawl.seed(["a", "b"])
    crawl.take(2)
    crawl.failed("a")
    crawl.fetched("b", ["a", "c"])
    assert crawl.take(9) == ["c"]


def test_a_stopping_rule_ends_the_crawl() -> None:
    crawl = Crawl(parse("rankmass:until=0.2"))
    crawl.seed(["a"])
    taken = []
    while page := crawl.take():
        taken += page
        crawl.fetched(page[0], [f"{page[0]}{i}" for i in range(2)])
    assert 1 < len(taken) < 20


def test_seeds_are_needed() -> None:
    with pytest.raises(InputError, match="no seeds"):
        Crawl(parse("bfs")).seed([])
