"""Pace: a crawl that has time enough waits for better pages, and for nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank.cli import main
from frontrank.crawl.crawl import Crawl
from frontrank.errors import InputError
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import new_job, reopen_job
from frontrank.frontiers.frontier import LEASED
from frontrank.frontiers.pace import check_pace, parse_pace
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.simulation.trace import Trace
from frontrank.sources.synthetic import synthetic
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds

WEB = synthetic("pages=10000,hosts=200,seed=7,text=0")
PAGES = 1000


def crawled(pace: str, **politeness: Any) -> Trace:
    polite = Politeness(delay_s=1.0, in_flight=64, pace=pace, **politeness)
    return simulate(WEB, parse("fpr:m=100"), find_seeds(WEB), PAGES, politeness=polite, latency_s=0.2).trace


@pytest.fixture(scope="module")
def greedy() -> Trace:
    return crawled("greedy")


def seconds(trace: Trace) -> float:
    assert trace.times is not None
    return float(trace.times[-1])


def hot(trace: Trace) -> float:
    best = np.argsort(-importance(WEB), kind="stable")[:PAGES]
    return float(np.isin(trace.order, best).mean())


@pytest.mark.parametrize("times", [1.5, 3.0, 10.0])
def test_a_crawl_with_more_time_finds_more_and_keeps_to_it(times: float, greedy: Trace) -> None:
    paced = crawled(f"{PAGES} in {times * seconds(greedy)}")
    assert paced.fetched == PAGES and seconds(paced) <= 1.02 * times * seconds(greedy) + 0.2
    assert hot(paced) > hot(greedy)


def test_half_takes_twice_as_long_at_most_and_finds_more(greedy: Trace) -> None:
    half = crawled("half")
    assert seconds(greedy) < seconds(half) <= 2.05 * seconds(greedy)
    assert hot(half) > hot(greedy)


def test_a_rate_is_kept(greedy: Trace) -> None:
    rate = 0.25 * PAGES / seconds(greedy)
    times = crawled(f"{rate}/s").times
    assert times is not None
    late = [at - k / rate for k, at in enumerate(times.tolist(), 1)]
    assert max(late[PAGES // 2 :]) <= 1.3  # a burst, and a request


def test_hosts_that_never_rest_are_not_waited_for() -> None:
    free = Politeness(in_flight=8)
    for pace in ("half", f"{PAGES} in 10000", "0.5/s"):
        paced = simulate(WEB, parse("bfs"), find_seeds(WEB), 200, politeness=Politeness(in_flight=8, pace=pace)).trace
        assert paced.order.tolist() == simulate(WEB, parse("bfs"), find_seeds(WEB), 200, politeness=free).trace.order.tolist()


def frontier(pace: str, hosts: list[int]) -> PoliteFrontier:
    """Page N waits at the N-th of these hosts, the first page the best."""
    made = PoliteFrontier(Politeness(delay_s=1.0, pace=pace))
    made.grow(len(hosts), max(hosts) + 1)
    made.place(0, np.array(hosts, np.int32))
    for page in range(len(hosts)):
        made.put(page, -float(page))
    return made


@pytest.mark.parametrize("pace", ["0.5/s", "5 in 10"])
def test_while_it_is_ahead_a_page_waits_for_better_ones_whose_host_rests(pace: str) -> None:
    queue = frontier(pace, [0, 0, 1, 1])
    assert queue.take(4, 0.0) == [0]  # page 1 is better than page 2, and its host rests
    assert queue.take(4, 0.3) == [] and queue.next_at() <= 1.0
    assert queue.take(4, 1.0) == [1, 2]  # nothing rests that is better than page 2
    queue.put(2, 5.0)  # it is out
    assert queue.mark(2) == LEASED


def test_from_the_time_it_is_due_a_page_goes_in_any_case() -> None:
    queue = frontier("2/s", [0, 0, 0, 1])
    assert queue.take(4, 0.0) == [0]
    assert queue.take(4, 0.4) == [] and queue.next_at() == 0.5
    assert queue.take(4, 0.5) == [3]


@pytest.mark.parametrize("never", ["blocked", "budget", "limit"])
def test_a_host_that_gives_nothing_soon_is_not_waited_for(never: str) -> None:
    queue = frontier("0.1/s", [0, 0, 1, 1])
    assert queue.take(1, 0.0) == [0]
    if never == "blocked":
        queue.block(0, np.inf)
    else:
        queue.limit(0, **{never: 1})
        queue.settle(0)
    assert queue.take(4, 0.1) == [2]


def test_a_priority_goes_whatever_the_pace() -> None:
    queue = frontier("0.1/s", [0, 0, 1])
    queue.take(1, 0.0)
    queue.prioritise(1, 2)
    queue.prioritise(2, 1)
    assert queue.pop_prioritised(0.1, 1) == [2]


def test_other_politeness_brings_a_pace_and_takes_it_away() -> None:
    queue = frontier("greedy", [0, 0, 1, 1])
    slow, fast = Politeness(delay_s=1.0, pace="0.1/s"), Politeness(delay_s=1.0)
    assert queue.take(1, 0.0) == [0]
    queue.behave(fast, slow)
    assert queue.take(1, 0.1) == [2]  # the first page of a pace is due
    assert queue.take(1, 0.2) == [] and queue.take(1, 1.05) == [1]
    queue.behave(slow, fast)
    assert queue.take(1, 1.2) == [3]


@pytest.mark.parametrize("pace", ["half", "0.8/s", "100 in 90"])
def test_a_recovered_crawl_goes_on_as_if_nothing_had_happened(pace: str, tmp_path: Path) -> None:
    assert _live(pace, tmp_path / "crawl") == _live(pace, None)


def _live(pace: str, folder: Path | None) -> list[tuple[float, str]]:
    """A crawl of 100 pages of which each takes 0.3 s; with a folder it is recovered from there after every 20th."""
    assert WEB.urls is not None
    number = {url: page for page, url in enumerate(WEB.urls)}
    clock = [0.0]
    crawl = Crawl(
        parse("opic"), folder, politeness=Politeness(delay_s=2.0, per_host=1, in_flight=6, pace=pace), clock=lambda: clock[0]
    )
    crawl.seed([WEB.urls[page] for page in find_seeds(WEB)])
    flying: list[tuple[float, str]] = []
    order: list[tuple[float, str]] = []
    while len(order) < 100:
        flying += [(clock[0] + 0.3, url) for url in crawl.take(6)]
        ready = crawl.next_at()
        if flying and (ready is None or not clock[0] < ready < flying[0][0]):
            clock[0], url = flying.pop(0)
            order.append((clock[0], url))
            crawl.fetched(url, [WEB.urls[q] for q in WEB.targets_of(number[url])])
            if folder and len(order) % 20 == 0:
                crawl.close()
                crawl = Crawl.recover(folder, keep_leases=True, clock=lambda: clock[0])
        else:
            assert ready is not None
            clock[0] = max(clock[0], ready)
    crawl.close()
    return order


def test_the_pace_of_a_resumed_crawl_follows_from_what_is_left(tmp_path: Path) -> None:
    options = Options(("http://a.example/",), budget=100, within=3600.0, warc=False)
    job = new_job(options, tmp_path / "crawl")
    assert job.crawl.state.politeness.pace == "100 in 3600"
    (url,) = job.crawl.take(1)
    job.crawl.fetched(url, [f"http://a.example/{page}" for page in range(200)])
    for url in job.crawl.take(24, now=1e10):
        job.crawl.fetched(url, [])
    fetched = job.crawl.inspect.fetched_count
    job.crawl.close()
    again = reopen_job(tmp_path / "crawl")
    assert again.crawl.state.politeness.pace == f"{100 - fetched} in {36 * (100 - fetched)}"
    again.crawl.close()
    faster = reopen_job(tmp_path / "crawl", {"within": 0.0, "pace": "2/s"})
    assert faster.crawl.state.politeness.pace == "2/s"
    faster.crawl.close()


@pytest.mark.parametrize(
    "pace", ["", "fast", "0/s", "-1/s", "5/m", "5 in 0", "0 in 5", "in", "1e999/s", "nan/s", "5", None, 3.0]
)
def test_what_is_no_pace_is_refused(pace: Any) -> None:
    with pytest.raises(InputError, match="pace must be greedy, half, pages per second such as 5/s, or"):
        Politeness(pace=pace)
    with pytest.raises(InputError):
        parse_pace(pace)


SIMULATE = ["simulate", "synthetic:pages=500,hosts=5", "--ordering", "bfs"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["crawl", "http://a.example/", "--out", "new", "--within", "1h"], "--within needs --budget: how many pages"),
        (["crawl", "http://a.example/", "--out", "new", "--pace", "fast"], "--pace must be greedy, half, pages per second"),
        (
            ["crawl", "http://a.example/", "--out", "new", "--budget", "100", "--within", "10s"],
            "a pace of 10 pages per second cannot be kept: 2 hosts with 1 s between requests give 2; give more time",
        ),
        (
            ["crawl", "http://a.example/", "--out", "new", "--budget", "9", "--within", "1h", "--pace", "half"],
            "--within sets the pace, and --pace half another; give one of them",
        ),
        ([*SIMULATE, "--within", "1h", "--host-delay", "1"], "--within needs --budget"),
        ([*SIMULATE, "--within", "1h", "--budget", "50"], "a pace needs a clock; give --host-delay"),
        (
            [*SIMULATE, "--within", "5", "--budget", "50", "--host-delay", "1", "--in-flight", "50"],
            "a pace of 10 pages per second cannot be kept: 5 hosts with 1 s between requests give 5; give more time",
        ),
        (
            [*SIMULATE, "--pace", "5/s", "--in-flight", "2", "--latency", "1"],
            "a pace of 5 pages per second cannot be kept: 2 requests in flight of 1 s each give 2; give more time",
        ),
    ],
)
def test_a_pace_that_cannot_be_kept_is_one_sentence_and_nothing_is_begun(
    args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_pace_that_can_just_be_kept_is_not_refused() -> None:
    check_pace("100 in 10", 10, 1.0, 10, 1.0)
