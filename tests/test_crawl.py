"""Crawl: events one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.crawl import hosts
from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse
from frontrank.pages.urls import host_of


def test_taken_pages_are_open_until_they_are_settled() -> None:
    crawl = Crawl(parse("bfs"))
    crawl.seed(["a"])
    assert crawl.take() == ["a"]
    assert crawl.take() == []
    crawl.fetched("a", ["b", "c", "b", "a"])
    assert crawl.inspect.waiting == 2
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


BEGINNINGS = [
    "http://",
    "https://",
    "HTTP://",
    "http:",
    "http:/",
    "http:///",
    "https:////",
    "ftp://",
    "//",
    " http://",
    "file:///",
    "",
]
PARTS = [
    *"ab/\\?#@:.\t\n ",
    "a.org",
    "A.org",
    "b.a.org",
    ":80",
    ":99999",
    "[::1]",
    "1.2.3.4",
    "0x7f.1",
    "xn--a",
    "\u00fc",
    "%41",
    "\ud800",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.builds(str.__add__, st.sampled_from(BEGINNINGS), st.lists(st.sampled_from(PARTS), max_size=7).map("".join))))
def test_hosts_found_by_the_beginning_of_a_url_are_those_of_the_whole(urls: list[str]) -> None:
    """Half a character behind the host is stored as a question mark, so it says nothing about the host."""
    crawl = Crawl("bfs")
    for _ in range(2):  # the second time most are remembered
        for url, number in zip(urls, crawl.state.hosts.of_urls(urls, 0).tolist(), strict=True):
            whole = url if url.isascii() else url.encode("utf-8", "replace").decode()
            assert number in (crawl.inspect.host_number(host_of(url)), crawl.inspect.host_number(host_of(whole)))


def test_more_hosts_than_are_remembered_keep_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "MAX_CACHED", 3)
    crawl = Crawl("bfs", queue_by={"h0.test": "one", "h1.test": "two"})
    urls = [f"{scheme}://h{page % 7}.test/{page}" for page in range(40) for scheme in ("http", "https")]
    for begin in range(0, len(urls), 6):
        crawl.discover(urls[begin : begin + 6])
    by_name = {host["host"]: host["waiting"] for host in crawl.inspect.hosts() if host["waiting"]}
    assert by_name == {"one": 12, "two": 12, **{f"h{n}.test": 12 if n < 5 else 10 for n in range(2, 7)}}


def test_seeds_are_needed() -> None:
    with pytest.raises(InputError, match="at least one seed"):
        Crawl(parse("bfs")).seed([])


def test_a_failure_that_may_pass_is_tried_again_later_and_each_time_later_still() -> None:
    crawl = Crawl(parse("bfs"), politeness=Politeness(retries=2, backoff_s=10.0))
    crawl.seed(["http://a.org/", "http://b.org/"], now=0.0)
    crawl.take(2, now=0.0)
    assert crawl.failed("http://a.org/", "timeout", retry=True, now=0.0)
    assert crawl.inspect.waiting == 1 and crawl.next_at() == 10.0
    assert crawl.take(now=9.9) == []
    assert crawl.take(now=10.0) == ["http://a.org/"]
    assert crawl.failed("http://a.org/", "timeout", retry=True, now=10.0)
    assert crawl.take(now=29.9) == []
    assert crawl.take(now=30.0) == ["http://a.org/"]
    assert not crawl.failed("http://a.org/", "timeout", retry=True, now=30.0)
    assert (crawl.inspect.failed_count, crawl.inspect.waiting) == (1, 0)
    assert crawl.take(now=1e9) == ["http://b.org/"]  # its lease ran out long ago


def test_a_retried_page_waits_with_the_priority_it_has_earned_meanwhile() -> None:
    crawl = Crawl(parse("backlink"), politeness=Politeness(retries=1, backoff_s=1.0))
    crawl.seed(["s", "t"], now=0.0)
    crawl.take(2, now=0.0)
    crawl.fetched("s", ["x", "y"], now=0.0)
    crawl.fetched("t", ["y", "x", "z"], now=0.0)
    assert crawl.take(now=0.0) == ["x"]
    crawl.failed("x", retry=True, now=0.0)
    assert crawl.take(now=0.5) == ["y"]
    crawl.fetched("y", ["z", "x", "w"], now=0.5)
    assert crawl.take(3, now=2.0) == ["x", "z", "w"]


def test_hosts_are_asked_no_faster_than_they_like_and_others_go_meanwhile() -> None:
    crawl = Crawl(parse("bfs"), politeness=Politeness(delay_s=1.0))
    pages = ["http://a.org/1", "http://a.org/2", "http://b.org/1", "http://a.org/3"]
    crawl.seed(pages, now=0.0)
    assert crawl.take(9, now=0.0) == ["http://a.org/1", "http://b.org/1"]
    crawl.control.limit_host("a.org", delay_s=5.0, now=0.0)
    assert crawl.next_at() == 1.0
    assert crawl.take(9, now=1.0) == ["http://a.org/2"]
    assert crawl.next_at() == 6.0
    crawl.control.block("a.org", 100.0, now=2.0)
    assert crawl.take(9, now=101.0) == []
    assert crawl.take(9, now=102.0) == ["http://a.org/3"]


def test_budgets_and_concurrency_of_a_host_hold_over_a_restart(tmp_path: Path) -> None:
    politeness = Politeness(per_host=2, host_budget=3, in_flight=3)
    crawl = Crawl(parse("bfs"), tmp_path / "c", politeness=politeness)
    crawl.seed([f"http://{host}.org/{i}" for host in "ab" for i in range(5)])
    assert crawl.take(9) == ["http://a.org/0", "http://a.org/1", "http://b.org/0"]
    crawl.fetched("http://a.org/0")
    crawl.fetched("http://a.org/1")
    crawl.control.limit_host("b.org", budget=1)
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.take(9) == ["http://a.org/2", "http://b.org/0"]
        for url in ("http://a.org/2", "http://b.org/0"):
            again.fetched(url)
        assert again.take(9) == [] and again.inspect.waiting == 6 and again.next_at() is None


def test_depth_is_the_number_of_links_from_a_seed() -> None:
    crawl = Crawl(parse("bfs"))
    crawl.seed(["a"])
    for url, links in (("a", ["b", "c"]), ("b", ["d", "c"]), ("c", ["d"]), ("d", ["e", "a"])):
        assert crawl.take() == [url]
        crawl.fetched(url, links)
    assert [crawl.inspect.depth(crawl.lookup(url)) for url in "abcde"] == [0, 1, 1, 2, 3]


def test_ranking_anew_moves_what_waits_and_recovery_remembers_it(tmp_path: Path) -> None:
    crawl = Crawl(parse("indegree:every=1000"), tmp_path / "c")
    crawl.seed(["a", "b"])
    crawl.take(2)
    crawl.fetched("a", ["x", "y"])
    crawl.fetched("b", ["z", "y"])
    assert [crawl.url(page) for page in crawl.state.frontier.best(9)] == ["x", "y", "z"]
    crawl.control.rescore()
    assert [crawl.url(page) for page in crawl.state.frontier.best(9)] == ["y", "x", "z"]
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.take(3) == ["y", "x", "z"]


def test_what_is_kept_with_a_page_is_there_until_it_is_settled(tmp_path: Path) -> None:
    for path in (None, tmp_path / "c"):
        crawl = Crawl(parse("bfs"), path)
        page = crawl.intern("POST http://a.org/", key=2**64 - 5)
        crawl.attach({page: b"body"})
        crawl.seed([page])
        assert crawl.lookup("anything", key=-5) == page and crawl.attached([page]) == {page: b"body"}
        assert crawl.take_pages() == [page]
        if path is not None:
            crawl.abandon()
            crawl = Crawl.recover(path)
            assert crawl.take_pages() == [page] and crawl.attached([page]) == {page: b"body"}
        crawl.fetched(page, [])
        assert not crawl.attached([page])
        crawl.close()


def test_orderings_driven_by_queries_need_queries(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="driven by queries and none are given"):
        Crawl(parse("q-overlap"), tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("given", [{"delay_s": -1.0}, {"per_host": 1.5}, {"lease_s": 0.0}, {"backoff_s": float("nan")}])
def test_politeness_that_makes_no_sense_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(given))} must be .*, got"):
        Politeness(**given)  # type: ignore[arg-type]


def test_links_without_anchors_are_followed_by_orderings_that_read_anchors(tmp_path: Path) -> None:
    crawl = Crawl(parse("similarity:topic=moon"), tmp_path / "c")
    crawl.seed(["a"])
    crawl.take()
    crawl.fetched("a", ["b", "c"])
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.take(2) == ["b", "c"]


def test_other_politeness_holds_after_a_restart_but_for_what_a_host_asked_for_itself(tmp_path: Path) -> None:
    crawl = Crawl(parse("bfs"), tmp_path / "c", politeness=Politeness(delay_s=100.0))
    crawl.seed([f"http://{host}.org/{i}" for host in "ab" for i in range(3)], now=0.0)
    crawl.control.limit_host("b.org", delay_s=50.0, now=0.0)
    crawl.abandon()
    with Crawl.recover(tmp_path / "c", politeness=Politeness(delay_s=1.0), clock=lambda: 0.0) as again:
        assert again.take(9, now=1000.0) == ["http://a.org/0", "http://b.org/0"]
        assert again.take(9, now=1001.0) == ["http://a.org/1"]
        assert again.take(9, now=1050.0) == ["http://a.org/2", "http://b.org/1"]
    with Crawl.recover(tmp_path / "c", read_only=True) as seen:
        assert seen.state.politeness.delay_s == 1.0


def test_a_dropped_page_is_never_taken_and_costs_its_host_nothing(tmp_path: Path) -> None:
    politeness = Politeness(delay_s=10.0, per_host=1, host_budget=2, retries=3)
    with Crawl(parse("bfs"), tmp_path / "crawl", politeness=politeness, clock=lambda: 100.0) as crawl:
        crawl.seed([f"http://a.example/{n}" for n in range(4)])
        crawl.drop("http://a.example/0", "excluded")
        assert crawl.take() == ["http://a.example/1"], "the host did not rest for a page that was not asked for"
        with pytest.raises(InputError, match="not waiting"):
            crawl.drop("http://a.example/1")
        crawl.failed("http://a.example/1", "http 503", retry=True)
        crawl.drop("http://a.example/1", "excluded")
        with pytest.raises(InputError, match="does not know"):
            crawl.drop("http://b.example/")
    later = 200.0
    with Crawl.recover(tmp_path / "crawl", clock=lambda: later) as crawl:
        assert (crawl.inspect.waiting, crawl.inspect.failed_count) == (2, 2)
        assert crawl.take() == ["http://a.example/2"]
        crawl.fetched("http://a.example/2", ["http://a.example/0", "http://a.example/1"])
        later = 300.0
        assert crawl.take() == ["http://a.example/3"], "dropped pages spend no budget of their host, and do not come back"


def test_other_politeness_survives_a_kill_after_an_older_snapshot(tmp_path: Path) -> None:
    with Crawl(parse("bfs"), tmp_path / "c", politeness=Politeness(delay_s=1.0), clock=lambda: 100.0) as crawl:
        crawl.seed([f"http://a.example/{n}" for n in range(9)])
        crawl.take()
        crawl.snapshot()
    crawl = Crawl.recover(tmp_path / "c", politeness=Politeness(delay_s=50.0), clock=lambda: 200.0)
    crawl.take()
    crawl.abandon()
    with Crawl.recover(tmp_path / "c", clock=lambda: 400.0) as again:
        again.take()
        assert again.next_at() == 450.0
