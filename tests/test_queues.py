"""A crawl that is told from elsewhere, whose pages come back, and that is controlled while it runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank import order as simulated
from frontrank.crawl import control, pending_links, rules
from frontrank.crawl.crawl import Crawl as AnyCrawl
from frontrank.crawl.events.control import Grouped, Ungrouped
from frontrank.crawl.log import Row
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.pending_links import MAX_ANCHOR, PendingLinks
from frontrank.crawl.status import events
from frontrank.errors import InputError
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.groups import read_groups
from frontrank.sources.synthetic import synthetic
from frontrank.web.web import Web

OPEN: list[AnyCrawl] = []
ORDERINGS = ["bfs", "fpr", "opic", "backlink", "surf", "pagerank:every=7"]


class Crawl(AnyCrawl):
    """One that is let go when its test ends, also if that fails."""

    def _attach(self, *args: Any, **kwargs: Any) -> None:
        super()._attach(*args, **kwargs)
        OPEN.append(self)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().abandon()


def url(page: int) -> str:
    return f"http://h{page % 5}.test/{page}"


def number(name: str) -> int:
    return int(name.rsplit("/", 1)[1])


@pytest.fixture(scope="module")
def web() -> Web:
    return synthetic("pages=300,links=6,hosts=5,seed=4")


def reopened(crawl: AnyCrawl) -> Any:
    """The crawl as the next process finds it, at the moment of its last event."""
    assert crawl.inspect.folder is not None
    folder, now = crawl.inspect.folder, crawl.state.progress.now
    crawl.abandon()
    return Crawl.recover(folder, clock=lambda: now, keep_leases=True)


# Told from elsewhere ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("policy", ORDERINGS)
def test_links_told_before_their_page_give_the_order_of_a_crawl_that_fetches_itself(policy: str, web: Web) -> None:
    rows = web.rows()
    seeds = [0, 7, 21]
    crawls = [Crawl(policy), Crawl(policy)]
    for crawl in crawls:
        crawl.seed([url(page) for page in seeds])
    orders: list[list[str]] = [[], []]
    for crawl, order in zip(crawls, orders, strict=True):
        while len(order) < 150 and (taken := crawl.take()):
            order += taken
            page = number(taken[0])
            links = [url(int(target)) for target in rows.target[rows.start[page] : rows.stop[page]]]
            if crawl is crawls[0]:
                crawl.fetched(taken[0], links)
            else:
                half = len(links) // 2
                crawl.discover(links[:half], taken[0])
                crawl.discover(links[half:], taken[0])
                crawl.fetched(taken[0], None)
    assert orders[0] == orders[1] and len(orders[0]) == 150


def test_the_order_of_a_crawl_told_from_elsewhere_is_the_simulators(web: Web) -> None:
    rows = web.rows()
    crawl = Crawl("fpr")
    crawl.seed([url(3)])
    order: list[int] = []
    while len(order) < 100:
        page = number(crawl.take()[0])
        order.append(page)
        crawl.discover([url(int(target)) for target in rows.target[rows.start[page] : rows.stop[page]]], url(page))
        crawl.fetched(url(page), None)
    assert order == simulated(web, "fpr", seeds=[3])[:100]


def test_what_is_new_is_told_once_and_waits_behind_what_is_ranked() -> None:
    crawl = Crawl("fpr")
    assert crawl.discover([url(0), url(1), url(0)]) == [True, True, False]
    assert crawl.take() == [url(0)]
    assert crawl.discover([url(2), url(1)], url(0)) == [True, False]
    assert [one["url"] for one in crawl.inspect.next(9)] == [url(1), url(2)]
    crawl.fetched(url(0), None)
    assert crawl.inspect.next(1)[0]["url"] == url(1)
    assert crawl.take(2) == [url(1), url(2)] and crawl.inspect.depth(crawl.lookup(url(2))) == 1


@pytest.mark.parametrize("policy", ORDERINGS)
def test_links_that_come_late_are_discovered_all_the_same(policy: str) -> None:
    crawl = Crawl(policy)
    crawl.seed([url(0)])
    crawl.take()
    crawl.fetched(url(0), None)
    crawl.discover([url(1), url(2)], url(0), ["one", "two"])
    crawl.discover([url(3)], url(0))
    assert set(crawl.take(9)) == {url(1), url(2), url(3)}
    assert crawl.inspect.fetched_count == 1


def test_a_page_may_be_reported_that_was_never_taken_nor_named() -> None:
    crawl = Crawl("surf")
    page = crawl.intern(url(0))
    crawl.discover([url(1)], url(0))
    crawl.fetched(page, None, any_state=True)
    assert crawl.take(9) == [url(1)] and crawl.inspect.completed(page)
    with pytest.raises(InputError, match="not leased"):
        crawl.fetched(url(0))


def test_links_told_of_pages_to_come_survive(tmp_path: Path) -> None:
    crawl = Crawl("similarity:topic=left", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(0)])
    crawl.take()
    crawl.discover([url(1), url(2)], url(0), ["right", "left"])
    for snapshot in (False, True):
        if snapshot:
            crawl.snapshot()
        crawl = reopened(crawl)
        assert list(crawl.state.pending) == [0] and list(crawl.state.pending[0].values()) == ["right", "left"]
    crawl.fetched(url(0), None)
    assert crawl.take() == [url(2)]


def test_links_told_many_times_of_a_page_to_come_are_kept_once() -> None:
    crawl = Crawl("similarity:topic=left")
    crawl.seed([url(0)])
    crawl.take()
    for words in ("right", "right", "left", "right left"):
        crawl.discover([url(1)], url(0), [words])
    for number in range(2_000):
        crawl.discover([url(2)], url(0), [f"word{number}"])
    right, many = crawl.state.pending[0].values()
    assert right == "right left" and len(many) < 2 * MAX_ANCHOR
    crawl.fetched(url(0), None)
    assert crawl.take() == [url(1)]


def test_links_of_pages_that_are_never_reported_are_given_up_at_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_links, "MAX_PENDING", 20)
    monkeypatch.setattr(pending_links, "KEPT", 15)
    crawl = Crawl("backlink", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(900)])
    crawl.take()
    crawl.discover([url(901)], url(900))  # of a page that is out: it will be reported
    for parent in range(0, 100, 10):
        crawl.discover([url(parent + n) for n in range(1, 5)], url(parent))
        assert crawl.state.pending.size <= 20
    assert crawl.lookup(url(900)) in crawl.state.pending and crawl.lookup(url(90)) in crawl.state.pending
    for snapshot in (False, True):
        if snapshot:
            crawl.snapshot()
        kept = dict(crawl.state.pending)
        crawl = reopened(crawl)
        assert dict(crawl.state.pending) == kept and crawl.state.pending.size == sum(map(len, kept.values()))
        assert (
            crawl.state.progress.links_given_up == 41 - crawl.state.pending.size == crawl.inspect.overview()["links_given_up"]
        )
    assert crawl.inspect.waiting == 41, "what they lead to waits on"
    crawl.queues.report(crawl.lookup(url(0)))
    crawl.queues.report(crawl.lookup(url(90)))
    assert [number(one["url"]) for one in crawl.inspect.next(4)] == [91, 92, 93, 94]


def test_what_many_words_say_counts_as_links() -> None:
    kept = PendingLinks()
    kept.add(1, [2, 3], ["", "w" * 250])
    kept.add(1, [2], ["w" * 120])
    assert kept.size == 2 + 1 + 2
    kept.pop(1)
    assert kept.size == 0 and kept.pop(1) == {}


# Queues ----------------------------------------------------------------------------------------------------------------
@given(
    placed=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, "slow", "Slow", "h0.test"])), max_size=12),
    later=st.integers(0, 12),
)
@settings(max_examples=30, deadline=None)
def test_a_url_finds_its_pages_whatever_their_queues(placed: list[tuple[int, str | None]], later: int) -> None:
    log = MemoryLog()
    crawl = Crawl("bfs", log=log, clock=lambda: 0.0)
    for at, (page, queue) in enumerate(placed):
        if at == later:
            crawl.snapshot()
        crawl.discover([url(page)], queues=[queue])
    wanted = {page: {crawl.lookup(url(page), queue) for one, queue in placed if one == page} for page in range(4)}
    for again in (crawl, Crawl.recover(log, clock=lambda: 0.0)):
        assert {page: set(again.queues.pages_named(url(page))) for page in range(4)} == wanted
        for page in range(4):
            assert again.lookup(url(page)) in (wanted[page] or {-1})
    while taken := crawl.take_pages():
        assert crawl.lookup(crawl.url(taken[0])) == taken[0], "the one that is out is meant"
        crawl.fetched(crawl.url(taken[0]), now=1.0)


def test_pages_of_a_group_of_hosts_are_found_by_its_name() -> None:
    crawl = Crawl("bfs", queue_by={"h0.test": "both", "h1.test": "both"})
    crawl.seed([url(0), url(1), url(2)])
    assert [row["queue"] for row in crawl.inspect.next(9)] == ["both", "both", "h2.test"]
    assert crawl.lookup(url(1), "both") == 1 == crawl.lookup(url(1)) and crawl.lookup(url(2), "both") == -1


def test_a_page_waits_in_the_queue_that_is_named_and_is_another_one_there(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", politeness=Politeness(delay_s=10.0), clock=lambda: 0.0)
    pages, fresh = crawl.queues.discover([url(0), url(0), url(5), url(1)], queues=[None, "Slow", "Slow", "h1.test"])
    assert fresh.all() and len(set(pages.tolist())) == 4
    crawl = reopened(crawl)
    assert [crawl.lookup(url(0)), crawl.lookup(url(0), "Slow"), crawl.lookup(url(0), "slow")] == [0, 1, -1]
    assert crawl.lookup(url(1), "h1.test") == crawl.lookup(url(1)) == 3
    assert crawl.queues.names([2, 0]) == [(url(5), "Slow"), (url(0), "h0.test")]
    assert sorted(crawl.queues.listed()) == ["Slow", "h0.test", "h1.test"]
    assert [crawl.queues.names([page])[0][1] for page in crawl.take_pages(9, now=1.0)] == ["h0.test", "Slow", "h1.test"]
    assert crawl.take_pages(9, now=10.0) == [] and crawl.take_pages(9, now=11.0) == [2]
    crawl.control.block_until("Slow", 100.0, now=11.0)
    assert crawl.queues.pages("Slow").tolist() == [1, 2] and "Slow" not in crawl.queues.listed(now=11.0)
    assert "Slow" in crawl.queues.listed(inactive=True, now=11.0)


def test_several_pages_of_a_queue_are_leased_for_as_long_as_is_asked(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.discover([url(page) for page in range(10)])
    assert crawl.queues.take(2, 2, lease_s=5.0, now=0.0) == [0, 5, 1, 6]
    assert crawl.queues.take(queue="h2.test", lease_s=60.0, now=1.0) == [2, 7]
    assert crawl.queues.take(queue="unknown", now=1.0) == []
    crawl = reopened(crawl)
    assert [crawl.state.leases[page] for page in (0, 6, 7)] == [5.0, 5.0, 61.0]
    taken = [event["url"] for event in events(tmp_path / "c") if event["kind"] == "take"]
    assert taken == [url(page) for page in (0, 5, 1, 6, 2, 7)]
    assert crawl.queues.take(now=6.0) == [0, 5, 1, 6, 3, 8, 4, 9]


def test_counts_of_queues_know_of_leases_that_have_run_out() -> None:
    now = [0.0]
    crawl = Crawl("bfs", clock=lambda: now[0])
    crawl.discover([url(0), url(5), url(1)])
    crawl.queues.take(1, 1, lease_s=5.0)
    assert crawl.queues.counts_of("h0.test") == (1, 0, 1, 0, 1, 1)
    now[0] = 6.0
    assert crawl.queues.counts_of("h0.test") == (2, 0, 0, 0, 1, 1)
    assert crawl.queues.counts() == (3, 0, 0, 0, 2, 2) and crawl.queues.counts_of("h9.test") is None


def test_a_limit_of_completed_pages_and_a_block_are_lifted_and_survive(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.discover([url(0), url(5), url(10)])
    crawl.control.limit_host("h0.test", limit=1)
    assert crawl.take() == [url(0)]
    crawl.fetched(url(0))
    crawl = reopened(crawl)
    assert crawl.take() == []
    crawl.control.limit_host("h0.test", limit=0)
    crawl.control.block_until("h0.test", 1000.0)
    crawl = reopened(crawl)
    assert crawl.take(now=999.0) == []
    crawl.control.block_until("h0.test", 0.0)
    assert crawl.take(now=999.0) == [url(5)]


def test_pages_are_forgotten_and_may_be_found_anew(tmp_path: Path) -> None:
    crawl = Crawl("fpr", tmp_path / "c", clock=lambda: 0.0)
    crawl.discover([url(0), url(1), url(2)])
    crawl.take()
    crawl.fetched(url(0), [url(3)])
    assert crawl.queues.forget([0, 1, 1000 - 997]) == 3
    crawl = reopened(crawl)
    assert crawl.queues.pages().tolist() == [2] and crawl.take(9) == [url(2)]
    assert crawl.discover([url(0), url(2)]) == [True, False]
    assert crawl.take(9) == [url(0)]


def test_when_pages_became_known_is_told_to_the_second(tmp_path: Path) -> None:
    now = [100.0]
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: now[0])
    crawl.discover([url(0), url(1)])
    now[0] = 200.5
    crawl.discover([url(2)])
    assert [crawl.inspect.discovered_at(page) for page in range(3)] == [100.0, 100.0, 200.5]
    assert [crawl.inspect.discovered_before(at) for at in (100.0, 150.0, 300.0)] == [0, 2, 3]


def test_events_inside_a_block_share_one_commit(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    with crawl.together():
        crawl.discover([url(0)])
        crawl.discover([url(1)])
        crawl.attach({0: b"a", 1: b"b"})
        seen = Crawl.recover(tmp_path / "c", read_only=True)
        assert seen.inspect.known == 0
        seen.close()
    seen = Crawl.recover(tmp_path / "c", read_only=True)
    assert seen.inspect.known == 2 and seen.attached([1, 0]) == {0: b"a", 1: b"b"}
    seen.close()


# Pages come back -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("policy", ORDERINGS)
def test_a_page_comes_back_at_its_time_and_what_it_links_to_by_then_is_found(tmp_path: Path, policy: str) -> None:
    crawl = Crawl(policy, tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(0)])
    crawl.take(now=1.0)
    crawl.fetched(url(0), [url(1)], now=2.0, again_after=10.0)
    assert crawl.take(9, now=3.0) == [url(1)]
    crawl.fetched(url(1), now=3.0)
    crawl = reopened(crawl)
    assert crawl.take(9, now=11.9) == [] and crawl.next_at() == 12.0
    assert crawl.take(9, now=12.0) == [url(0)]
    crawl.fetched(url(0), [url(1), url(2)], now=13.0, again_at=20.0)
    assert crawl.inspect.fetched_count == 2 and crawl.inspect.revisits == 1
    assert crawl.take(9, now=14.0) == [url(2)]
    crawl = reopened(crawl)
    assert crawl.take(9, now=20.0) == [url(0)]
    crawl.fetched(url(0), status=304, now=21.0)
    assert crawl.take(9, now=1e9) == [] or crawl.inspect.leased == 1
    assert crawl.inspect.revisits == 2 and [one["kind"] for one in events(tmp_path / "c")].count("fetched") == 4


def test_a_page_that_is_gone_when_it_comes_back_fails_and_what_it_gave_stays() -> None:
    crawl = Crawl("fpr", clock=lambda: 0.0)
    crawl.seed([url(0)])
    crawl.take(now=1.0)
    crawl.fetched(url(0), [url(1)], now=1.0, again_at=5.0)
    before = crawl.inspect.next(9)
    assert crawl.queues.take(queue="h0.test", now=5.0) == [0]
    crawl.failed(url(0), "http 404", now=6.0)
    assert crawl.inspect.next(9) == before and crawl.inspect.failed_count == 0 and crawl.inspect.fetched_count == 1
    assert crawl.inspect.completed(0)


def test_rankings_see_the_links_that_a_page_has_now() -> None:
    crawl = Crawl("pagerank:every=1")
    crawl.seed([url(0)])
    crawl.take()
    crawl.fetched(url(0), [url(1), url(2)], now=1.0, again_at=2.0)
    crawl.queues.take(queue="h0.test", now=2.0)
    crawl.fetched(url(0), [url(2), url(3)], now=3.0)
    crawl.control.rescore()
    priority = {one["url"]: one["priority"] for one in crawl.inspect.next(9)}
    assert priority[url(2)] == priority[url(3)] > priority[url(1)]


@settings(max_examples=50)
@given(dates=st.lists(st.integers(1, 2_000_000_000), min_size=2, max_size=8, unique=True))
@pytest.mark.parametrize("policy", ["bfs", "surf", "dfs"])
@pytest.mark.parametrize("named", [False, True])
def test_pages_that_an_ordering_cannot_tell_apart_come_back_by_their_dates(policy: str, named: bool, dates: list[int]) -> None:
    crawl = Crawl(policy, clock=lambda: 0.0)
    pages = [crawl.intern(f"http://one.test/{date}") for date in dates]
    if named and policy != "dfs":  # dfs tells them apart by when they were named
        for page in pages:
            crawl.discover([crawl.url(page)])
    for page, date in zip(pages, dates, strict=True):
        crawl.queues.schedule(page, float(date), now=0.0)
    order = [int(name.rsplit("/", 1)[1]) for name in crawl.take(99, now=2e9)]
    assert order == sorted(dates)


@pytest.mark.parametrize(("share", "wanted"), [(0.25, 25), (0.0, 0), (1.0, 50)])
def test_revisits_have_their_share_of_what_is_taken(tmp_path: Path, share: float, wanted: int) -> None:
    crawl = Crawl("bfs", tmp_path / "c", revisit_share=share, clock=lambda: 100.0)
    crawl.discover([f"http://h{page}.test/" for page in range(150)])
    for page in crawl.take_pages(50):
        crawl.fetched(page, [], again_at=50.0 - page)  # the last one fetched is due for longest
    crawl = reopened(crawl)
    taken = [page for _ in range(100) for page in crawl.take_pages()]
    again = [page for page in taken if page < 50]
    assert len(taken) == 100 and len(again) == wanted
    assert again == sorted(again, reverse=True) and [page for page in taken if page >= 50] == list(range(50, 150 - wanted))
    for page in taken:
        crawl.fetched(page, [])
    assert len(crawl.take_pages(99)) == 50  # what one kind leaves, the other takes
    assert crawl.inspect.revisits == wanted


@pytest.mark.parametrize("policy", ["bfs", "opic"])
@pytest.mark.parametrize(("share", "wanted"), [(0.25, 25), (0.0, 0), (1.0, 50)])
def test_revisits_have_their_share_of_what_is_taken_of_queues(tmp_path: Path, policy: str, share: float, wanted: int) -> None:
    crawl = Crawl(policy, tmp_path / "c", revisit_share=share, clock=lambda: 100.0)
    crawl.discover([f"http://h{page}.test/" for page in range(150)])
    for page in crawl.queues.take(50):
        crawl.fetched(page, [], again_at=50.0 - page)
    crawl = reopened(crawl)
    taken = [page for _ in range(25) for page in crawl.queues.take(4, 1)]
    again = [page for page in taken if page < 50]
    assert len(taken) == 100 and len(again) == wanted and again == sorted(again, reverse=True)
    assert [page for page in taken if page >= 50] == list(range(50, 150 - wanted))
    crawl = reopened(crawl)
    for page in taken:
        crawl.fetched(page, [])
    assert len(crawl.queues.take()) == 50 and crawl.inspect.revisits == wanted


def test_revisits_of_one_queue_go_together_within_its_limits() -> None:
    crawl = Crawl("bfs", politeness=Politeness(delay_s=10.0), revisit_share=1.0, clock=lambda: 100.0)
    crawl.discover([f"http://a.test/{page}" for page in range(6)] + ["http://b.test/"])
    for page in crawl.queues.take(per_queue=5, now=100.0):
        crawl.fetched(page, [], again_at=109.0 - page)
    assert crawl.queues.take(per_queue=3, now=109.5) == [] and crawl.next_at() == 110.0
    assert crawl.queues.take(queue="a.test", per_queue=3, now=110.0) == [4, 3, 2], "due for longest first, as one request"
    assert crawl.queues.take(now=110.0) == [6], "a.test rests"
    for page in (2, 3, 4):
        crawl.fetched(page, [], now=110.0)
    crawl.control.limit_host("a.test", concurrency=1)
    assert crawl.queues.take(1, 5, now=120.0) == [1]


def test_a_budget_counts_what_is_asked_of_a_host_revisits_too(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(0), url(5), url(1)])
    crawl.control.limit_host("h0.test", budget=2)
    for now in (1.0, 3.0):
        assert crawl.queues.take(queue="h0.test", per_queue=1, now=now) == [0]
        crawl.fetched(url(0), now=now, again_at=now + 1)
    crawl = reopened(crawl)
    assert crawl.take(9, now=5.0) == [url(1)], "one page was asked for twice"
    crawl.control.limit_host("h0.test", budget=3)
    assert len(crawl.take(9, now=6.0)) == 1


def test_a_revisit_waits_for_its_host_too() -> None:
    crawl = Crawl("bfs", politeness=Politeness(delay_s=10.0), revisit_share=1.0, clock=lambda: 100.0)
    crawl.seed(["http://a.test/", "http://b.test/"])
    for page in crawl.take_pages(2):
        crawl.fetched(page, [], again_at=100.0 + page)
    assert crawl.take_pages(2, now=109.0) == [] and crawl.next_at() == 110.0
    assert crawl.take_pages(2, now=110.0) == [0, 1]


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="revisit_share must be a share from 0 to 1"):
        Crawl("bfs", revisit_share=share)


def test_a_time_that_is_none_is_refused() -> None:
    crawl = Crawl("bfs")
    crawl.seed([url(0)])
    crawl.take()
    with pytest.raises(InputError, match="got nan"):
        crawl.fetched(url(0), again_at=math.nan)
    with pytest.raises(InputError, match="got nan"):
        crawl.queues.schedule(0, math.nan)


# Control ----------------------------------------------------------------------------------------------------------------
def test_a_paused_crawl_takes_nothing_and_hears_everything(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(0)])
    crawl.control.pause()
    assert crawl.take() == [] and crawl.queues.take() == [] and crawl.next_at() is not None
    crawl = reopened(crawl)
    assert crawl.state.progress.paused and crawl.take() == []
    crawl.control.resume()
    assert crawl.take() == [url(0)]


def test_boosts_add_up_hold_for_pages_to_come_and_end(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.discover([url(page) for page in range(6)])
    assert crawl.control.boost(r"/[34]$", 1) == 2 and crawl.control.boost("h4", 2) == 1 and crawl.control.boost("h0", -1) == 2
    crawl.discover([url(9), url(6)])
    crawl = reopened(crawl)
    wanted = [4, 9, 3, 1, 2, 6, 0, 5]
    assert [number(one["url"]) for one in crawl.inspect.next(9)] == wanted
    crawl.snapshot()
    crawl = reopened(crawl)
    crawl.discover([url(14)])
    assert [number(one["url"]) for one in crawl.inspect.next(9)] == [4, 9, 14, 3, 1, 2, 6, 0, 5]
    assert crawl.control.boost("h4", 0) == 3
    assert [number(one["url"]) for one in crawl.inspect.next(9)] == [3, 4, 1, 2, 9, 6, 14, 0, 5]
    assert crawl.inspect.status()["rules"] == [
        {"pattern": r"/[34]$", "boost": 1, "budget": 0, "delay_s": 0.0, "taken": 0},
        {"pattern": "h0", "boost": -1, "budget": 0, "delay_s": 0.0, "taken": 0},
    ]


def test_a_page_keeps_its_own_priority_when_its_boosted_family_gets_a_budget(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(0), url(1)])
    crawl.control.boost("h0", 5)
    crawl.control.prioritise(0, -1)
    crawl.control.limit_pattern("h0", budget=3)
    assert [number(one["url"]) for one in crawl.inspect.next(9)] == [1, 0]
    assert [number(one["url"]) for one in reopened(crawl).inspect.next(9)] == [1, 0]


def test_a_page_whose_boost_ends_has_the_priority_that_its_ordering_gave_it_meanwhile() -> None:
    crawl = Crawl("backlink")
    crawl.seed([url(0), url(1), url(2), url(3)])
    crawl.control.boost("/2$", -1)
    for page in (0, 1):
        crawl.take()
        crawl.fetched(page, [2, 3], any_state=True)
    crawl.control.boost("/2$", 0)
    assert {number(one["url"]): one["priority"] for one in crawl.inspect.next(9)} == {2: 2.0}


def test_a_family_has_a_budget_and_a_pace_whatever_its_hosts(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.discover([url(page) for page in range(6)])
    crawl.control.limit_pattern("[0-3]$", budget=2)
    crawl.control.limit_pattern("[45]$", delay_s=10.0)
    assert [number(name) for name in crawl.take(9, now=1.0)] == [0, 1, 4]
    crawl = reopened(crawl)
    assert crawl.take(9, now=10.9) == [] and crawl.take(9, now=11.0) == [url(5)]
    crawl.control.limit_pattern("[0-3]$", budget=3, now=12.0)
    crawl = reopened(crawl)
    assert crawl.take(9, now=13.0) == [url(2)]
    crawl.control.limit_pattern(
        "[45]$", delay_s=0.0, now=13.0
    )  # another family's rule does not wake those that wait for this one
    assert crawl.inspect.due(crawl.intern(url(3))) == math.inf
    crawl.control.limit_pattern("[0-3]$", budget=0, now=14.0)
    assert crawl.take(9, now=15.0) == [url(3)]


def test_a_page_that_is_held_up_leaves_its_host_to_others(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", politeness=Politeness(delay_s=10.0), clock=lambda: 0.0)
    crawl.discover([url(page) for page in (0, 1, 5, 6, 10)])
    crawl.control.limit_pattern("/[015]$", budget=1)
    assert [number(name) for name in crawl.take(9, now=1.0)] == [0, 6]
    assert crawl.queues.take(now=1.0) == [] and crawl.next_at() == 11.0
    crawl = reopened(crawl)
    assert [number(crawl.url(page)) for page in crawl.queues.take(now=11.0)] == [10]


@pytest.mark.parametrize("each", [1, 3])
def test_pages_of_a_paced_family_go_in_their_order_and_are_not_looked_at_each_time(tmp_path: Path, each: int) -> None:
    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.discover([url(page) for page in range(40)])
    crawl.control.limit_pattern("test/", delay_s=10.0)
    order: list[int] = []
    for turn in range(20):
        order += [number(name) for name in crawl.take(each, now=10.0 * turn + 1)]
        if turn == 5:
            crawl.discover([url(900)])
            crawl.control.boost("900", 1)
            crawl = reopened(crawl)
    assert order == [0, 1, 2, 3, 4, 5, 900, *range(6, 19)]
    held = sum(event["kind"] == "held" for event in events(tmp_path / "c"))
    assert held < 4 * 40, "40 pages at each of 20 turns would be 800"
    crawl.control.limit_pattern("test/", delay_s=0.0, now=200.0)
    assert len(crawl.take(99, now=200.0)) == 21 and not crawl.state.rules.held_up


ACTIONS = st.lists(st.tuples(st.sampled_from(["take", "fetched", "failed"]), st.integers(0, 4)), max_size=40)


@given(actions=ACTIONS, groups=st.lists(st.integers(0, 1), min_size=5, max_size=5), delay=st.sampled_from([0.0, 3.0]))
@settings(max_examples=25, deadline=None)
def test_hosts_that_join_before_they_are_asked_are_as_if_they_had_always_been_one(
    actions: list[tuple[str, int]], groups: list[int], delay: float
) -> None:
    groups[4] = 2  # a group of its own
    names = {f"h{host}.test": f"group {group}" for host, group in enumerate(groups)}
    polite = Politeness(delay_s=delay, per_host=2, host_budget=6)
    joining, grouped = (
        Crawl("fpr", politeness=polite, clock=lambda: 0.0),
        Crawl("fpr", politeness=polite, queue_by=names, clock=lambda: 0.0),
    )
    for crawl in (joining, grouped):
        crawl.seed([url(page) for page in range(5)])
    for host, group in names.items():
        assert joining.control.join(host, group, now=0.0)
    out: list[str] = []
    for now, (action, n) in enumerate(actions, 1):
        if action == "take":
            taken = joining.take(n + 1, now=now)
            assert taken == grouped.take(n + 1, now=now)
            out += taken
        elif out:
            name = out.pop(n % len(out))
            for crawl in (joining, grouped):
                if action == "fetched":
                    crawl.fetched(name, [url(number(name) * 3 + k) for k in range(n)], now=now)
                else:
                    crawl.failed(name, retry=n > 2, retry_s=2.0, now=now)
    assert joining.queues.listed(inactive=True) == grouped.queues.listed(inactive=True)
    assert joining.queues.counts() == grouped.queues.counts()


@pytest.mark.parametrize("ended", [False, True])
def test_a_journal_with_groups_of_an_earlier_version_loses_no_page(tmp_path: Path, ended: bool) -> None:
    crawl = Crawl("bfs", tmp_path / "c", politeness=Politeness(delay_s=10.0), clock=lambda: 0.0)
    crawl.seed([url(page) for page in range(4)])
    assert [number(name) for name in crawl.take(1, now=1.0)] == [0]
    note = json.dumps({"by": "list", "group": "h0.test", "hosts": ["h0.test", "h1.test"]})
    rows = [Row(0, Grouped.kind, -1, 1.0, note=note)]
    rows += [Row(0, Ungrouped.kind, -1, 1.0, note=json.dumps({"group": "h0.test", "hosts": ["h1.test"]}))] if ended else []
    crawl.state.log.append(rows)
    crawl.control.limit_host("h0.test", budget=1, now=1.0)
    crawl.fetched(url(0), [url(4), url(5), url(6)], now=2.0)
    crawl = reopened(crawl)
    assert [event["kind"] for event in events(tmp_path / "c")].count("group") == 1
    assert sorted(crawl.queues.listed(inactive=True)) == [f"h{n}.test" for n in range(5)]
    taken = [name for at in (20.0, 30.0) for name in crawl.take(9, now=at)]
    assert sorted(map(number, taken)) == [1, 2, 3, 4, 6], "each host stands by itself; h0's own budget is spent"
    crawl.control.limit_host("h0.test", budget=0, now=30.0)
    assert [number(name) for name in crawl.take(9, now=40.0)] == [5]


def test_a_host_that_was_limited_before_it_was_known_has_a_name() -> None:
    crawl = Crawl("bfs")
    crawl.control.limit_host("late.org", delay_s=9.0)
    crawl.discover(["http://late.org/"])
    assert crawl.queues.listed() == ["late.org"] and crawl.inspect.hosts()[0]["host"] == "late.org"


@pytest.mark.parametrize("most", [2**31, 2**32 + 1, 2**62])
def test_a_limit_beyond_what_can_be_counted_holds_nothing_back(most: int) -> None:
    crawl = Crawl("bfs")
    crawl.discover([f"http://a.org/{n}" for n in range(5)])
    crawl.control.limit_host("a.org", budget=most, limit=most, concurrency=most)
    assert len(crawl.take(9)) == 5


def test_names_of_many_queues_and_pages_of_a_group_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Crawl("bfs", politeness=Politeness(delay_s=10.0), clock=lambda: 0.0)
    crawl.seed([url(page) for page in range(40)])
    whole, names = crawl.queues.counts_of("h0.test"), crawl.queues.listed(inactive=True)
    assert crawl.control.join("h0.test", "192.0.2.7", now=1.0) and crawl.control.join("h1.test", "192.0.2.7", now=1.0)
    waits: list[float] = []
    monkeypatch.setattr("frontrank.crawl.queues.NAMED_AT_ONCE", 10)
    monkeypatch.setattr("frontrank.crawl.queues.READ_AT_ONCE", 1)
    monkeypatch.setattr("frontrank.crawl.queues.time", SimpleNamespace(sleep=waits.append))
    assert crawl.queues.counts_of("h0.test") == whole and len(waits) == 4
    listed = crawl.queues.listed(inactive=True)
    assert sorted(listed) == sorted({"192.0.2.7", *names} - {"h0.test", "h1.test"}) and len(waits) == 4 + len(listed) - 1


def test_a_group_that_a_host_joined_survives_the_process(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c", politeness=Politeness(delay_s=10.0), clock=lambda: 0.0)
    crawl.seed([url(page) for page in range(4)])
    assert [number(name) for name in crawl.take(2, now=1.0)] == [0, 1]
    assert crawl.control.join("h0.test", "192.0.2.7", now=1.0)
    assert not crawl.control.join("H1.test", "192.0.2.7", now=1.0), "the group was asked a moment ago"
    crawl.give_back([1], now=1.0)
    crawl.fetched(url(0), [url(5), url(6), url(10)], now=2.0)
    for snapshot in (False, True):
        if snapshot:
            crawl.snapshot()
        crawl = reopened(crawl)
        counted = [crawl.queues.counts_of(name) for name in ("192.0.2.7", "h0.test", "h1.test")]  # a host's part is its own
        assert [one and (one.waiting, one.completed) for one in counted] == [(4, 1), (2, 1), (2, 0)]
        assert sorted(crawl.queues.listed(inactive=True, now=2.0)) == ["192.0.2.7", "h2.test", "h3.test"]
    assert [number(name) for name in crawl.take(9, now=11.0)] == [1, 2, 3], "h0, h1: one page, ten seconds after the last"
    assert [number(name) for name in crawl.take(9, now=21.0)] == [5], "pages found later are the group's too"
    assert {"kind": "join", "host": "h0.test", "group": "192.0.2.7", "asked": True}.items() <= next(
        event for event in events(tmp_path / "c") if event["kind"] == "join"
    ).items()


@pytest.mark.parametrize(
    ("pattern", "given", "says"),
    [
        ("[", {"budget": 1}, "must be a regular expression, got '\\['"),
        ("", {"budget": 1}, "1 to 1,000 characters, got 0"),
        ("a", {"budget": -1}, "budget must be a whole number of pages from 0"),
        ("a", {"delay_s": math.nan}, "delay_s must be a number of seconds from 0, got nan"),
        ("a", {}, "must be given a budget, a delay_s, or both"),
    ],
)
def test_a_rule_that_cannot_be_is_told_in_one_sentence_and_leaves_no_event(
    pattern: str, given: dict[str, Any], says: str
) -> None:
    crawl = Crawl("bfs")
    with pytest.raises(InputError, match=says):
        crawl.control.limit_pattern(pattern, **given)
    assert crawl.state.log.seq == 0 and not crawl.state.rules


def test_a_crawl_of_an_earlier_version_has_queues_from_now_on(tmp_path: Path) -> None:
    import sqlite3

    crawl = Crawl("bfs", tmp_path / "c", clock=lambda: 0.0)
    crawl.seed([url(0)])
    crawl.close()
    with sqlite3.connect(tmp_path / "c" / "trace.db") as db:
        db.executescript("DROP TABLE place; DROP TABLE born;")
    db.close()
    seen = Crawl.recover(tmp_path / "c", read_only=True)
    assert seen.queues.listed() == ["h0.test"]
    seen.close()
    again = Crawl.recover(tmp_path / "c", clock=lambda: 0.0)
    again.discover([url(0)], queues=["other"])
    assert again.queues.listed() == ["h0.test", "other"]


# Groups of hosts ---------------------------------------------------------------------------------------------------------
def test_hosts_of_a_group_share_one_pace_and_what_is_said_of_one_of_them(tmp_path: Path) -> None:
    names = ["http://www.bbc.co.uk/", "http://news.bbc.co.uk/", "http://a.org/", "http://b.org/"]
    crawl = Crawl("bfs", tmp_path / "c", queue_by="domain", politeness=Politeness(delay_s=5.0), clock=lambda: 0.0)
    crawl.seed(names)
    assert crawl.take(9, now=0.0) == [names[0], names[2], names[3]]
    crawl = reopened(crawl)
    crawl.control.limit_host("news.bbc.co.uk", delay_s=50.0, now=1.0)
    assert crawl.take(9, now=5.0) == [names[1]] and sorted(crawl.queues.listed(inactive=True)) == [
        "a.org",
        "b.org",
        "bbc.co.uk",
    ]
    crawl.discover(["http://www.bbc.co.uk/2"], now=6.0)
    crawl = reopened(crawl)
    assert crawl.take(9, now=54.0) == [] and crawl.take(9, now=55.0) == ["http://www.bbc.co.uk/2"]
    by_list = Crawl("bfs", queue_by={"a.org": "a.org", "b.org": "a.org"}, politeness=Politeness(per_host=1))
    by_list.seed(names)
    assert by_list.take(9) == names[:3]


def test_the_order_of_an_ordering_that_reads_hosts_is_the_same_in_groups() -> None:
    orders = []
    for groups in ("host", "domain"):
        crawl = Crawl("fpr:m=3", queue_by=groups)
        crawl.seed([f"http://h{page % 4}.one.org/{page}" for page in range(8)])
        for _ in range(30):
            name = crawl.take()[0]
            page = number(name)
            crawl.fetched(name, [f"http://h{at % 4}.one.org/{at}" for at in (page * 3 + 1, page + 2, page * 7 % 50)])
        orders.append(list(crawl.state.progress.order))
    assert orders[0] == orders[1]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("", "names no host"),
        ("a.org b.org\nb.org c.org", "line 2: b.org is in a group already"),
        ("a/b", "line 1: 'a/b' is not"),
    ],
)
def test_bad_groups_are_told_in_one_sentence(tmp_path: Path, lines: str, says: str) -> None:
    (tmp_path / "groups").write_text(lines)
    with pytest.raises(InputError, match=says):
        read_groups(str(tmp_path / "groups"))
    with pytest.raises(InputError, match="must be host, domain, ip, or a file, got 'hosts'"):
        read_groups("hosts")


def test_groups_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "groups").write_text("a.org B.org # one machine\n\nc.org\n")
    assert read_groups(str(tmp_path / "groups")) == {"a.org": "a.org", "b.org": "a.org", "c.org": "c.org"}


def test_a_call_tries_so_many_expressions_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_WORK", 100)
    crawl = Crawl("bfs")
    crawl.discover([f"http://a{n}.org/held" for n in range(100)] + ["http://b.org/"], now=1.0)
    for n in range(10):
        crawl.control.limit_pattern(f"held|{n}x", delay_s=1e6, now=1.0)
    taken = crawl.queues.take(10, 1, now=1.0)
    held_up = len(crawl.state.rules.held_up)
    assert taken == [0] and held_up == 9
    while not taken or taken == [0]:
        taken = crawl.queues.take(10, 1, now=1.0)
        assert held_up <= len(crawl.state.rules.held_up) <= held_up + 10
        held_up = len(crawl.state.rules.held_up)
    assert taken == [100] and held_up == 99


def test_a_boost_with_many_others_changes_priorities_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MAX_WORK", 50)
    crawl = Crawl("bfs")
    crawl.discover([f"http://a{n}.org/{'last' if n == 99 else ''}" for n in range(100)], now=1.0)
    parts: list[Any] = []
    boost_part = crawl.control._boost_part

    def counted(*given: Any) -> Any:
        parts.append(boost_part(*given))
        return parts[-1]

    monkeypatch.setattr(crawl.control, "_boost_part", counted)
    assert crawl.control.boost("org", 1) == 100 and crawl.control.boost("last", 1) == 1
    assert len(parts) > 4 and crawl.take(1) == ["http://a99.org/last"]
