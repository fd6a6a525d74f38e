"""What a live crawl survives: hosts it has not met, rankings that fail, many threads, its own older format."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from frontrank.crawl import snapshots, status
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.drivers import Fused, driver_of
from frontrank.crawl.journal import VERSION, Journal
from frontrank.crawl.log import Row
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.replay import replay
from frontrank.crawl.state import CrawlState
from frontrank.errors import InputError, StorageError
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Lazy
from frontrank.orderings.online.fpr import FractionalPageRank
from frontrank.orderings.online.similarity import Similarity
from frontrank.orderings.registry import parse
from frontrank.sources import load
from frontrank.web.view import Workload
from tests.patience import PATIENCE_S

ASSETS = Path(__file__).parent / "assets"


def page(n: int) -> str:
    return f"http://h{n % 3}.example.org/{n}"


def links(n: int) -> list[tuple[str, str]]:
    return [(page(2 * n + 1), "left"), (page(2 * n + 2), "right"), (page(n // 2), "up")]


def number(url: str) -> int:
    return int(url.rpartition("/")[2])


def crawled(crawl: Crawl, pages: int) -> list[str]:
    order: list[str] = []
    while len(order) < pages and (taken := crawl.take()):
        crawl.fetched(taken[0], links(number(taken[0])), title=f"page {number(taken[0])}", text="left right up")
        order += taken
    return order


# Hosts -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("durable", [True, False])
def test_hosts_may_be_limited_and_blocked_before_a_page_of_theirs_is_known(tmp_path: Path, durable: bool) -> None:
    crawl = Crawl("bfs", tmp_path / "c" if durable else None, clock=lambda: 0.0)
    names = [f"h{i}.example" for i in range(40)]
    for name in names:
        crawl.control.block(name, 3600)
        crawl.control.limit_host(name, delay_s=5.0, concurrency=1, budget=2)
    crawl.seed(f"http://{name}/{n}" for name in names for n in range(3))
    assert crawl.take(200, now=3599.0) == []
    assert len(crawl.take(200, now=3600.0)) == 40
    if durable:
        crawl.abandon()
        with Crawl.recover(tmp_path / "c", clock=lambda: 3600.0) as again:
            assert all(host["delay"] == 5.0 and host["budget"] == 2 for host in again.inspect.hosts())


@pytest.mark.parametrize(
    "refused",
    [lambda crawl: crawl.control.block("nowhere.example", np.nan), lambda crawl: crawl.control.block_until("x.y", np.nan)],
)
def test_what_is_refused_leaves_no_trace(tmp_path: Path, refused: Any) -> None:
    with Crawl("bfs", tmp_path / "c", clock=lambda: 0.0) as crawl:
        with pytest.raises(InputError, match=r"blocked (for|until) a time in seconds, got nan"):
            refused(crawl)
        crawl.seed(["http://a.example/", "http://b.example/"])
        before = {name: array.copy() for name, array in crawl.state.frontier.arrays().items()}
        assert crawl.state.frontier.known_hosts == 2
        crawl.abandon()
    with Crawl.recover(tmp_path / "c", clock=lambda: 0.0) as again:
        found = again.state.frontier.arrays()
        assert again.state.frontier.hosts().tobytes() == crawl.state.frontier.hosts().tobytes()
        assert found["host"][:2].tolist() == before["host"][:2].tolist() == [0, 1]


def test_a_block_does_not_shorten_another_of_a_host_that_is_known_or_not(tmp_path: Path) -> None:
    crawl = Crawl("bfs", clock=lambda: 0.0)
    for seconds in (60.0, 5.0):
        crawl.control.block("a.example", seconds)
    crawl.seed("http://a.example/")
    assert crawl.take(now=59.0) == [] and crawl.take(now=60.0) == ["http://a.example/"]


# Policies are data -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "policy",
    [FractionalPageRank(d=0.8500049), Similarity(topic="new york, ny"), parse("pagerank:every=7")],
    ids=lambda p: p.name,
)
def test_a_crawl_is_recovered_with_exactly_the_ordering_it_was_started_with(tmp_path: Path, policy: Any) -> None:
    crawl = Crawl(policy, tmp_path / "c")
    crawl.seed(page(0))
    crawled(crawl, 20)
    crawl.abandon()
    with Crawl.recover(tmp_path / "c") as again:
        assert again.state.policy == policy


def test_a_single_url_is_one_seed_and_a_specification_is_an_ordering() -> None:
    crawl = Crawl("fpr:m=10")
    crawl.seed("http://a.example/")
    assert crawl.take(9) == ["http://a.example/"]
    with pytest.raises(InputError, match="true importance"):
        Crawl("oracle")


# Rankings --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ranking", ["inline", "background"])
def test_a_ranking_that_fails_never_loses_a_crawl(tmp_path: Path, ranking: str) -> None:
    workload = Workload(("left", "right"), np.array([1.0, 2.0]))
    crawl = Crawl("ml:every=5", tmp_path / "c", workload=workload, ranking=ranking)
    crawl.seed([page(0), page(1)])
    crawl.control.rescore()
    crawl.control.rescore()  # "ml has nothing to learn from"
    first = _patiently(crawl, 12)
    crawl.abandon()
    with Crawl.recover(tmp_path / "c", ranking=ranking) as again:
        assert [again.url(p) for p in again.state.progress.order] == first
        assert again.state.ranking.failures >= 0 and len(_patiently(again, 6)) == 6


def _patiently(crawl: Crawl, pages: int) -> list[str]:
    """Fetch pages one at a time; a crawl that waits for a ranking is asked again."""
    order: list[str] = []
    while len(order) < pages:
        some = crawled(crawl, 1)
        order += some
        if not some and crawl.next_at() is None:
            break
    return order


@pytest.mark.parametrize("spec", ["pagerank:every=5", "rw:every=7", "similarity:topic=left,inner=pagerank,every=5"])
def test_rankings_beside_the_crawl_give_the_same_order_with_one_page_in_flight(
    tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontrank.crawl.recorder.PART", 7)
    orders = []
    for mode in ("inline", "background"):
        crawl = Crawl(spec, tmp_path / mode, ranking=mode)
        crawl.seed(page(0))
        order = _patiently(crawl, 40)
        crawl.abandon()
        again = Crawl.recover(tmp_path / mode, ranking=mode)
        orders.append(order + _patiently(again, 20))
        again.close()
    assert orders[0] == orders[1]


def test_a_ranking_under_way_holds_up_nobody_and_is_replayed_from_its_own_moment(tmp_path: Path) -> None:
    gate = threading.Event()
    crawl = Crawl("pagerank:every=10", tmp_path / "c", ranking="background")
    scored = crawl.state.policy.scores
    object.__setattr__(crawl.state.policy, "scores", lambda view: (gate.wait(), scored(view))[1])
    crawl.seed(page(0))
    held = crawled(crawl, 1) and crawl.take(1)  # one stays in flight: the crawl does not wait for the ranking
    while crawl.inspect.fetched_count < 25:
        crawled(crawl, 1)
    assert crawl.state.ranking.under_way
    gate.set()
    while crawl.state.ranking.under_way:
        pass
    crawl.fetched(held[0], links(number(held[0])))
    expected = [entry["url"] for entry in crawl.inspect.next(99)]
    crawl.abandon()
    with Crawl.recover(tmp_path / "c", ranking="background") as again:
        assert [entry["url"] for entry in again.inspect.next(99)] == expected


def test_a_crawl_that_ended_amid_a_ranking_takes_over_the_rest_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontrank.crawl.recorder.PART", 7)
    nexts = []
    for parts in (2, 1000):
        path = tmp_path / str(parts)
        crawl = Crawl("pagerank:every=10", path, ranking="background")
        work, done = crawl._recorder._apply_ranking_part, threading.Event()
        some = lambda work=work, parts=parts, done=done: ([work() for _ in range(parts)], done.set())  # noqa: E731
        monkeypatch.setattr(crawl.state.ranking, "finished", some)
        crawl.seed(page(0))
        crawled(crawl, 10)
        assert done.wait(PATIENCE_S)
        assert crawl.state.ranking.under_way == (parts == 2) and crawl.inspect.known > 2 * 7
        crawl.abandon()
        with Crawl.recover(path, ranking="background") as again:
            assert not again.state.ranking.under_way
            nexts.append([entry["url"] for entry in again.inspect.next(99)])
    assert nexts[0] == nexts[1]


# Threads ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("durable", [True, False])
def test_threads_never_take_a_page_twice(tmp_path: Path, durable: bool) -> None:
    crawl = Crawl("fpr", tmp_path / "c" if durable else None)
    crawl.seed(page(0))
    taken: list[str] = []
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            idle = 0
            while len(taken) < 1500 and idle < 100_000:
                urls = crawl.take(2)
                idle = 0 if urls else idle + 1
                taken.extend(urls)
                for url in urls:
                    crawl.fetched(url, links(number(url)))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert max(Counter(taken).values()) == 1
    assert crawl.inspect.fetched_count == len(taken)
    crawl.close()


# One meaning of an event -----------------------------------------------------------------------------------------------
KINDS = ["take", "fetch", "retry", "fail", "drop", "expire", "host", "block", "priority", "rescore", "impact", "ask"]
KINDS += [
    "fetch",
    "again",
    "unchanged",
    "discover",
    "name",
    "report",
    "schedule",
    "forget",
    "pause",
    "boost",
    "family",
    "queues",
    "report slow",
    "report failed",
]
steps = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 9)),
    min_size=5,
    max_size=60,
)


def lived(crawl: Crawl, happened: list[tuple[str, int]]) -> None:
    now, out = 1.0, list[str]()
    crawl.seed([page(0), page(1), page(2)], now=now)
    for what, value in happened:
        now += value / 3
        out = [url for url in out if crawl.lookup(url) in crawl.state.leases]
        if what == "take":
            out += crawl.take(1 + value % 3, now=now)
        elif what in ("fetch", "again", "unchanged", "retry", "fail") and out:
            url = out.pop(value % len(out))
            if what == "again":
                crawl.fetched(url, links(number(url))[value % 2 :], now=now, again_after=value)
            elif what == "unchanged":
                crawl.fetched(url, status=304, now=now, again_after=value)
            elif what == "fetch":
                crawl.fetched(url, links(number(url)), now=now)
            else:
                crawl.failed(url, "http 503", retry=what == "retry", now=now)
        elif what == "drop" and (best := crawl.inspect.next(1)) and crawl.lookup(best[0]["url"]) >= 0:
            crawl.drop(best[0]["url"], now=now)
        elif what == "expire":
            now += 50.0
            crawl.take(0, now=now)
        elif what == "host":
            crawl.control.limit_host(f"h{value % 5}.example.org", delay_s=value / 2, concurrency=value % 3, now=now)
        elif what == "block":
            crawl.control.block(f"h{value % 5}.example.org", value, now=now)
        elif what == "priority":
            crawl.control.prioritise(crawl.lookup(page(value % 3)), value - 4, now=now)
        elif what == "rescore":
            crawl.control.rescore(now=now)
        elif what == "impact":
            crawl.control.impact(page(value % 3), clicks=value, views=None if value % 2 else 2.0 * value, now=now)
        elif what == "discover":
            crawl.discover([page(value * 3 + i) for i in range(3)], page(value % 4), ["up", "", "down"], now=now)
        elif what == "name":
            crawl.discover([page(value + 30), page(value + 40)], queues=["slow", None], now=now)
        elif what == "report":
            again_at = now + value if value % 3 else None
            crawl.fetched(crawl.intern(page(value % 6)), None, now=now, again_at=again_at, any_state=True)
        elif what == "report slow":
            crawl.discover([page(value + 50)], page(value % 4 + 30), now=now)
            pages, _ = crawl.queues.discover([page(value % 4 + 30)], queues=["fast" if value % 2 else "slow"], now=now)
            crawl.queues.report(int(pages[0]), again_at=now + value if value % 3 else None, now=now)
        elif what == "report failed":
            one = crawl.lookup(page(value % 6))
            if one >= 0:
                crawl.queues.report_failure(one, "http 503", again_at=now + value if value % 3 else None, now=now)
        elif what == "schedule":
            crawl.queues.schedule(crawl.intern(page(value)), now + value * value - 4, now=now)
        elif what == "forget":
            crawl.queues.forget([crawl.intern(page(value)), crawl.intern(page(value + 1))], now=now)
        elif what == "pause":
            (crawl.control.pause if value % 3 == 0 else crawl.control.resume)(now=now)
        elif what == "boost":
            crawl.control.boost(f"h{value % 3}", value - 4, now=now)
        elif what == "family":
            crawl.control.limit_pattern(f"h{value % 3}", budget=value % 4, delay_s=value % 2 * 5.0, now=now)
        elif what == "queues":
            taken = crawl.queues.take(
                value % 3, value % 2, lease_s=value * 10.0 + 1, queue="slow" if value == 9 else None, now=now
            )
            out += [crawl.url(page) for page in taken]
        elif what == "ask" and crawl.state.demand.searchers is not None:
            crawl.control.ask(Workload(("left", f"page {value}"), np.array([1.0, 2.0])), now=now)


def facts(state: CrawlState, now: float) -> Any:
    state.frontier.take(0, now)  # retries that are due wait again; a take without a page is no event
    polite: Any = state.frontier
    queue = polite.queue
    known = state.known
    columns = [leaf[:known].tobytes() for leaf in snapshots.leaves(state.ordering.columns)]
    hosts = dict(zip(state.hosts.table.keys.tolist(), state.frontier.hosts().tolist(), strict=False))  # numbered as they came
    frontier = (queue.mark[:known].tobytes(), queue.node["key"][:known].tobytes(), queue.node["seq"][:known].tobytes(), hosts)
    due = sorted(zip(*(array.tolist() for array in polite.due.arrays().values()), strict=True))
    told = (dict(state.pending), state.pending.size, [state.pages.named(page(n)) for n in range(30, 40)])
    control = (due, told, state.rules.held_up, state.progress.revisits, state.progress.paused, state.rules.save()[0])
    worth = (state.demand.impact_by, state.demand.impacts[:known].tobytes())
    return (
        control,
        worth,
        list(state.progress.order),
        dict(state.leases),
        state.leases.attempts,
        state.progress.failed,
        frontier,
        columns,
    )


@pytest.mark.parametrize("spec", ["fpr", "bfs", "opic", "pagerank:every=2", "rw:every=2", "q-overlap:every=3"])
@given(happened=steps)
@example(happened=[("family", 1), ("queues", 0), ("take", 4), ("boost", 1), ("boost", 4)])  # scheduled while it has a priority
@settings(max_examples=25)
def test_replayed_at_once_or_one_by_one_a_crawl_is_what_it_was(spec: str, happened: list[tuple[str, int]]) -> None:
    log = MemoryLog()
    asked = Workload(("up", "right up"), np.ones(2)) if spec.startswith("q-") else None
    polite = Politeness(lease_s=40.0, retries=1, backoff_s=3.0)
    crawl = Crawl(spec, log=log, politeness=polite, clock=lambda: 0.0, workload=asked, impact_by="clicks")
    lived(crawl, happened)
    for fused in (True, False):
        again = CrawlState(crawl.state.policy, log, crawl.state.setup)
        again.replaying = True
        replay(again, log, fused=fused)
        assert facts(again, crawl.state.progress.now) == facts(crawl.state, crawl.state.progress.now)
    if asked is None:
        crawl.snapshot()
        restored = Crawl.recover(log, clock=lambda: 0.0, keep_leases=True)
        assert facts(restored.state, crawl.state.progress.now) == facts(crawl.state, crawl.state.progress.now)


# What searchers do while it runs -----------------------------------------------------------------------------------------
def test_impact_that_is_told_later_counts_from_the_next_ranking_on_and_survives(tmp_path: Path) -> None:
    with Crawl("rw:every=1000", tmp_path / "c") as crawl:
        crawl.seed(page(0))
        crawled(crawl, 4)  # 0, 1, 2, 0's other links
        waiting = {number(one["url"]) for one in crawl.inspect.next(20)}
        crawl.control.impact(page(2), clicks=900)
        crawl.control.rescore()
        best = number(crawl.inspect.next(1)[0]["url"])
        assert best in waiting and best in {number(url) for url, _ in links(2)}
        crawl.control.impact(page(1), clicks=90_000)
        crawl.control.rescore()
        best = number(crawl.inspect.next(1)[0]["url"])
        assert best in {number(url) for url, _ in links(1)}
        told = [crawl.state.demand.impacts[crawl.lookup(page(n))] for n in (1, 2)]
        assert told == [90_000.0, 900.0]
    with Crawl.recover(tmp_path / "c") as again:
        assert [again.state.demand.impacts[again.lookup(page(n))] for n in (1, 2)] == told
        assert number(again.inspect.next(1)[0]["url"]) == best
    web = load(tmp_path / "c")
    assert web.views is None and web.clicks is not None and web.impact_by == "clicks"
    assert web.clicks[web.page_of(page(1))] == 90_000.0


def test_a_page_that_waits_keeps_its_impact_until_it_is_fetched_and_has_no_vote_before() -> None:
    crawl = Crawl("rw:every=1")
    crawl.seed(page(0))
    crawled(crawl, 1)
    crawl.control.impact(page(1), views=50)
    crawl.control.rescore()
    assert crawl.state.ranking.view.impact is not None and not crawl.state.ranking.view.impact.any()
    crawled(crawl, 2)
    assert crawl.state.ranking.view.impact.max() == 50.0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"url": "http://nowhere.example/", "clicks": 1}, "cannot be given an impact: this crawl does not know it"),
        ({"url": page(0), "clicks": -1}, "clicks of page .* must be a finite number from 0, got -1"),
        ({"url": page(0), "views": float("nan")}, "views of page .* must be a finite number from 0, got nan"),
        ({"url": page(0)}, "must be given clicks, views or both, got neither"),
        ({"url": page(0), "views": 3}, "this crawl goes by clicks, but views were given"),
    ],
)
def test_an_impact_that_cannot_be_used_is_told_in_one_sentence_and_leaves_no_event(given: dict[str, Any], says: str) -> None:
    log = MemoryLog()
    crawl = Crawl("rw", log=log, impact_by="clicks")
    crawl.seed(page(0))
    before = log.seq
    with pytest.raises(InputError, match=says):
        crawl.control.impact(**given)
    assert log.seq == before


def test_other_queries_hold_from_the_next_ranking_on_and_survive(tmp_path: Path) -> None:
    def asked(*queries: str) -> Workload:
        return Workload(queries, np.ones(len(queries)))

    with Crawl("q-overlap:every=1000", tmp_path / "c", workload=asked("left")) as crawl:
        crawl.seed(page(0))
        crawled(crawl, 3)
        crawl.control.rescore()
        assert {number(one["url"]) % 2 for one in crawl.inspect.next(2)} == {1}  # anchors say left
        crawl.control.ask(asked("right"))
        crawl.control.rescore()
        best = [one["url"] for one in crawl.inspect.next(2)]
        assert {number(url) % 2 for url in best} == {0}
    with Crawl.recover(tmp_path / "c") as again:
        assert [one["url"] for one in again.inspect.next(2)] == best
        assert again.state.demand.searchers is not None and again.state.demand.searchers.workload.queries == ("right",)
    assert load(tmp_path / "c").queries.queries == ("right",)


def test_queries_may_come_later_where_an_ordering_goes_by_impact_and_survive(tmp_path: Path) -> None:
    with Crawl("rw:every=1000", tmp_path / "c") as crawl:
        crawl.seed(page(0))
        crawled(crawl, 3)
        crawl.control.ask(Workload(("left",), np.ones(1)))
        crawled(crawl, 6)
        crawl.control.rescore()
        assert crawl.state.ranking.view.impact is not None and crawl.state.ranking.view.impact.any()
        now = crawl.state.progress.now
        told = facts(crawl.state, now)
    with Crawl.recover(tmp_path / "c", clock=lambda: now) as again:
        assert facts(again.state, now) == told
        assert again.state.demand.searchers is not None and again.state.demand.searchers.workload.queries == ("left",)


def test_another_ordering_may_come_with_the_queries_that_it_needs(tmp_path: Path) -> None:
    with Crawl("bfs", tmp_path / "c") as crawl:
        crawl.seed(page(0))
        crawled(crawl, 3)
    with pytest.raises(InputError, match="driven by queries"):
        Crawl.recover(tmp_path / "c", "q-overlap:every=1000", rescore=True)
    right = Workload(("right",), np.ones(1))
    with Crawl.recover(tmp_path / "c", "q-overlap:every=1000", rescore=True, workload=right) as crawl:
        crawl.control.rescore()
        best = [one["url"] for one in crawl.inspect.next(2)]
        assert {number(url) % 2 for url in best} == {0}  # anchors that say right
    with Crawl.recover(tmp_path / "c") as again:
        assert [one["url"] for one in again.inspect.next(2)] == best


def test_many_impacts_are_told_at_once_all_or_none_and_unknown_pages_are_named(caplog: pytest.LogCaptureFixture) -> None:
    log = MemoryLog()
    crawl = Crawl("rw", log=log)
    crawl.seed([page(0), page(1)])
    before = log.seq
    with pytest.raises(InputError, match=r"views of page .* must be a finite number from 0, got -1"):
        crawl.control.impacts([(page(0), None, 3.0), (page(1), None, -1.0)])
    assert log.seq == before
    assert crawl.control.impacts([(page(0), None, 3.0), ("http://nowhere.example/", None, 4.0)]) == ["http://nowhere.example/"]
    assert "1 of 2 pages with an impact are not known to this crawl: http://nowhere.example/" in caplog.text
    assert crawl.state.demand.impacts[crawl.lookup(page(0))] == 3.0


def test_queries_cannot_come_where_there_were_none_nor_be_none() -> None:
    with pytest.raises(InputError, match="started without queries"):
        Crawl("bfs").control.ask(Workload(("a",), np.ones(1)))
    with pytest.raises(InputError, match="at least one query"):
        Crawl("q-overlap", workload=Workload(("a",), np.ones(1))).control.ask(Workload((), np.empty(0)))
    with pytest.raises(InputError, match="impact_by must be views or clicks"):
        Crawl("rw", impact_by="likes")


# The format of 0.1 -----------------------------------------------------------------------------------------------------
def test_a_directory_of_version_0_1_opens_and_goes_on_as_it_would_have(tmp_path: Path) -> None:
    shutil.copytree(ASSETS / "crawl-0.1", tmp_path / "old")
    expected = json.loads((ASSETS / "crawl-0.1.json").read_text())
    now = expected["now"]
    before = status.status(tmp_path / "old")
    assert (before["known"], before["fetched"], before["failed"]) == (
        expected["known"],
        expected["fetched"],
        expected["failed"],
    )
    assert [entry["url"] for entry in before["next"]] == expected["next"]
    assert [entry["priority"] for entry in before["next"]] == expected["priorities"]
    for _ in range(2):  # the second time it is of the present version
        with Crawl.recover(tmp_path / "old", clock=lambda: now) as crawl:
            assert (crawl.state.politeness.delay_s, crawl.state.politeness.per_host, crawl.notes["mine"]) == (2.0, 1, 7)
            assert crawl.notes["version"] == VERSION and crawl.state.policy.spec() == "fpr:m=10"
            assert list(crawl.attached([crawl.lookup(expected["kept"])]).values()) == [b"kept"]
            limits = {host["host"]: (host["delay"], host["concurrency"], host["budget"]) for host in crawl.inspect.hosts()}
            assert limits["h1.example.org"] == (0.5, 2, 9)
    taken: list[str] = []
    with Crawl.recover(tmp_path / "old", clock=lambda: now) as crawl:
        while len(taken) < 20:
            now += 1.0
            for url in crawl.take(3, now=now):
                crawl.fetched(url, links(number(url)), now=now)
                taken.append(url)
    assert taken == expected["taken"]


def test_an_event_of_a_kind_to_come_is_refused(tmp_path: Path) -> None:
    crawl = Crawl("bfs", tmp_path / "c")
    crawl.seed(page(0))
    crawl.close()
    log = Journal.open(tmp_path / "c")
    log.append([Row(0, 77, -1, 0.0)])
    log.close()
    with pytest.raises(StorageError, match="kind 77"):
        Crawl.recover(tmp_path / "c")


# Why -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("spec", ["fpr", "opic", "backlink", "pagerank:every=5", "rankmass"])
def test_the_parts_of_a_priority_add_up_to_it(tmp_path: Path, spec: str) -> None:
    with Crawl(spec, tmp_path / "c") as crawl:
        crawl.seed(page(0))
        crawled(crawl, 30)
        for entry in crawl.inspect.next(5):
            told = crawl.inspect.explain(entry["url"])
            assert told["priority"] == entry["priority"]
            parts = sum(link["part"] for link in told["links"]) + told["other"] + told.get("further_links", 0.0)
            assert parts == pytest.approx(entry["priority"], rel=1e-9, abs=1e-12)
        best = crawl.inspect.explain(crawl.inspect.next(1)[0]["url"])
        assert best["place"] == 1 and best["state"] == "waiting"


def test_an_explanation_names_the_links_that_gave_the_priority(tmp_path: Path) -> None:
    with Crawl("backlink", tmp_path / "c") as crawl:
        crawl.seed(["http://a/", "http://b/"])
        for url in crawl.take(2):
            crawl.fetched(url, ["http://x/", f"{url}y"])
        told = crawl.inspect.explain("http://x/")
        assert {(link["url"], link["part"]) for link in told["links"]} == {("http://a/", 1.0), ("http://b/", 1.0)}
        with pytest.raises(InputError, match="does not know"):
            crawl.inspect.explain("http://nowhere/")


# Snapshots beside the crawl --------------------------------------------------------------------------------------------
def test_a_running_crawl_leaves_snapshots_however_many_links_its_pages_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("WORK", 2000), ("ROWS", 10), ("PAUSE_S", 0.0)):
        monkeypatch.setattr(f"frontrank.crawl.recorder.SNAPSHOT_{name}", value)
    crawl = Crawl("fpr", tmp_path / "c", group=50)
    crawl.seed("http://a.example/0")
    for n in range(300):
        (url,) = crawl.take()
        crawl.fetched(url, [f"http://h{j}.example/{n}/{j}" for j in range(40)])
    assert isinstance(crawl.state.log, Journal)
    crawl.state.log.files.close()
    expected = [entry["url"] for entry in crawl.inspect.next(50)]
    crawl.commit()
    shutil.copytree(tmp_path / "c", tmp_path / "killed")  # as kill -9 leaves it
    crawl.abandon()
    log = Journal.open(tmp_path / "killed", read_only=True)
    assert list(log.snapshots()), "a snapshot was written while the crawl ran"
    log.close()
    with Crawl.recover(tmp_path / "killed") as again:
        assert again.inspect.snapshot_seq > 0
        assert [entry["url"] for entry in again.inspect.next(50)] == expected


# Memory -------------------------------------------------------------------------------------------------------------------
def test_links_are_kept_only_for_orderings_that_read_them_again(tmp_path: Path) -> None:
    used = {}
    for spec in ("fpr", "rankmass", "pagerank:every=50"):
        with Crawl(spec, tmp_path / spec) as crawl:
            crawl.seed(page(0))
            crawled(crawl, 100)
            used[spec] = crawl.state.links.used
        with Crawl.recover(tmp_path / spec) as again:
            assert len(crawled(again, 5)) == 5
    assert used["fpr"] <= 3 and used["rankmass"] > 200 and used["pagerank:every=50"] > 200


# Two formats ----------------------------------------------------------------------------------------------------------------
def test_the_trace_of_a_crawl_and_an_imported_crawl_have_names_of_their_own() -> None:
    from frontrank.crawl import journal_file
    from frontrank.sources import imported_crawl

    assert journal_file.FORMAT != imported_crawl.FORMAT
    assert "frontrank-crawl" in imported_crawl.FORMATS, "what 0.1 imported still opens"


def test_links_told_after_their_page_have_their_words_beside_their_targets(tmp_path: Path) -> None:
    """Words of links are kept beside the links: links that came late had none, and the next ranking read past the end."""
    asked = Workload(("bees", "ants"), np.array([3.0, 1.0]))

    def happen(crawl: Crawl) -> list[str]:
        crawl.seed("http://a/0", now=0.0)
        crawl.take(1, 0.0)
        crawl.fetched("http://a/0", [("http://a/1", "one")], now=1.0)
        crawl.discover(["http://a/2"], "http://a/0", ["ants"], now=2.0)
        crawl.discover(["http://a/3", "http://a/1"], "http://a/0", ["bees", "one more"], now=3.0)
        crawl.take(1, 4.0)
        crawl.fetched("http://a/1", [("http://a/4", "wasps")], now=5.0)
        assert crawl.state.demand.searchers is not None and len(crawl.state.demand.searchers.anchors) == crawl.state.links.used
        page = crawl.lookup("http://a/0")
        row = slice(int(crawl.state.links.rows.start[page]), int(crawl.state.links.rows.stop[page]))
        assert [crawl.url(target) for target in crawl.state.links.rows.target[row].tolist()] == [
            "http://a/1",
            "http://a/2",
            "http://a/3",
        ]
        assert crawl.state.demand.searchers.anchors[row] == ["one", "ants", "bees"]
        return [waiting["url"] for waiting in crawl.inspect.next(9)]

    with Crawl("q-overlap:every=1", tmp_path / "c", workload=asked, clock=lambda: 9.0) as crawl:
        order = happen(crawl)
    with Crawl.recover(tmp_path / "c", clock=lambda: 9.0) as crawl:
        assert [waiting["url"] for waiting in crawl.inspect.next(9)] == order and order


def test_what_the_frontier_does_is_compiled_once_for_all_orderings() -> None:
    surf, opic = (driver_of(parse(spec), PoliteFrontier()) for spec in ("surf", "opic"))
    assert isinstance(surf, Fused) and isinstance(opic, Fused)
    pairs = {name: (one, vars(opic)[name]) for name, one in vars(surf).items() if isinstance(one, Lazy)}
    differ = {name for name, (one, other) in pairs.items() if (one._kernel, one._bind) != (other._kernel, other._bind)}
    assert "_key_links" in differ and differ <= {"_key_seeds", "_on_start", "_key_links", "_on_revisit", "_key_all"}
