"""A host's trouble is the host's: outages, busy hosts, dead proxies and mistyped names cost no page."""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.status import events
from frontrank.fetching.crawler.arrivals import Arrivals
from frontrank.fetching.crawler.job import Job
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.scope import scope_of
from frontrank.fetching.crawler.source import CrawlSource
from frontrank.fetching.crawler.status import status
from frontrank.fetching.crawler.summary import given_up_hosts
from frontrank.fetching.failures import Cause, NotFetched, Unreachable, host_not_found, lost, of_network, of_proxy
from frontrank.fetching.fetcher import FetchResult
from frontrank.fetching.fetchers import FetcherDied
from frontrank.fetching.host_trouble import DOUBT_S, JITTER, Failure, HostTrouble
from frontrank.fetching.loop import MAX_DEATHS, FetchLoop
from frontrank.fetching.pacing import Pacer
from frontrank.frontiers.politeness import Politeness
from tests.patience import PATIENCE_S, eventually
from tests.test_crawler import Site, Wide, crawl, fetched, links, served
from tests.test_fetch import command as fetch_command
from tests.test_fetch import service

T0 = 1.7e9
OK = FetchResult(status=200)
FAILURES = {
    "refused": FetchResult(of_network(ConnectionRefusedError())),
    "no name": FetchResult(host_not_found("a.example")),
    "TLS": FetchResult(of_network(ssl.SSLError("handshake"))),
    "lost": FetchResult(lost()),
    "timeout": FetchResult(of_network(TimeoutError())),
    "robots.txt": FetchResult(Unreachable("http 503")),
    "http 429": FetchResult(status=429),
    "http 502": FetchResult(status=502),
    "http 503": FetchResult(status=503),
}
Server = Callable[[str, float], FetchResult]  # what it answers to a URL at a time


class Simulated:
    """A real crawl on a clock of its own, one page in flight a host, all pages known from the start."""

    def __init__(self, urls: list[str], out: Path | None = None, **options: Any) -> None:
        self.now = T0
        self.asked: list[tuple[float, str]] = []
        asked = Options(tuple(urls), "bfs", **options)
        log = MemoryLog() if out is None else None
        self.crawl = Crawl("bfs", out, politeness=asked.politeness, clock=lambda: self.now, log=log)
        self.crawl.seed(urls)
        self.job = Job(self.crawl, asked, None)
        self.job.trouble.clock, self.job.trouble.chance = (lambda: self.now), (lambda: 0.5)
        self.server: Server = lambda url, at: OK
        self.pacer = Pacer(self.crawl.inspect.pace_of, clock=lambda: self.now)
        source = CrawlSource(self.job, self, Arrivals(self.job, scope_of(asked, ())))  # type: ignore[arg-type]
        self.source, self.loop = source, FetchLoop(source, self)  # type: ignore[arg-type]

    async def page(self, url: str, *_: object) -> FetchResult:
        """As ``Requests.page``, by the clock of the simulation."""
        self.asked.append((self.now, url))
        return self.server(url, self.now - T0)

    def close(self) -> None:
        pass

    def run(self, server: Server, until: float = math.inf) -> None:
        self.server = server
        asyncio.run(self._run(until))

    async def _run(self, until: float) -> None:
        while (at := self.crawl.next_at()) is not None and max(at, self.now) < until:
            self.now = max(self.now, at)
            tasks, _ = await self.source.take()
            for task in tasks:
                await self.loop.handle(task)
            if self.job.error:
                raise self.job.error

    @property
    def failures(self) -> dict[str, int]:
        return dict(self.crawl.inspect.history.reasons())

    def gaps(self, begin: float, end: float) -> list[float]:
        """Between requests to the first host, within this time."""
        times = [at for at, url in self.asked if begin <= at - T0 <= end and url.startswith("http://a.")]
        return [later - sooner for sooner, later in pairwise(times)]


def pages(host: str, count: int) -> list[str]:
    return [f"http://{host}.example/{n}" for n in range(count)]


@pytest.mark.parametrize("away_s", [20.0, 300.0, 4 * 3600.0])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_host_that_is_away_for_a_while_loses_no_page_and_holds_up_no_other(failure: FetchResult, away_s: float) -> None:
    run = Simulated([*pages("a", 30), *pages("b", 200)])
    run.run(lambda url, at: failure if url.startswith("http://a.") and 10 < at < 10 + away_s else OK)
    assert run.failures == {} and run.crawl.inspect.fetched_count == 230 and not run.crawl.inspect.waiting
    tries = sum(10 < at - T0 < 10 + away_s and url.startswith("http://a.") for at, url in run.asked)
    assert 3 <= tries <= 12 + away_s / 50, "it rests longer and longer"
    others = [at for at, url in run.asked if url.startswith("http://b.")]
    assert others[-1] - others[0] == pytest.approx(199.0), "one a second, as if nothing had happened"
    back = [at - T0 for at, url in run.asked if url.startswith("http://a.") and at - T0 >= 10 + away_s]
    assert back[0] <= 10 + away_s + 300.0 and min(run.gaps(back[3], math.inf)) >= 1.0


@pytest.mark.parametrize("kind", ["lost", "timeout", "http 502", "http 503"])
def test_a_host_with_some_broken_pages_goes_on_at_its_pace(kind: str) -> None:
    urls = pages("a", 200)
    broken = {url for n, url in enumerate(urls) if n % 12 == 5}
    run = Simulated(urls)
    run.run(lambda url, at: FAILURES[kind] if url in broken else OK)
    assert run.crawl.inspect.fetched_count == 200 - len(broken) and not run.crawl.inspect.waiting
    assert list(run.failures.values()) == [len(broken)]
    good = [at - T0 for at, url in run.asked if url not in broken]
    assert max(good) < {"http 503": 1000.0}.get(kind, 300.0), "200 pages, one a second"


def test_a_page_that_ends_three_fetchers_has_failed_and_no_other() -> None:
    def server(url: str, at: float) -> FetchResult:
        if url.endswith("/1"):
            raise FetcherDied
        return OK

    run = Simulated(pages("a", 3), retries=0)
    run.run(server)
    assert run.failures == {"fetcher died": 1} and run.crawl.inspect.fetched_count == 2
    assert [url[-1] for _, url in run.asked].count("1") == MAX_DEATHS


def test_what_has_not_failed_goes_first_while_a_host_is_in_trouble() -> None:
    trouble = HostTrouble(Politeness, lambda: 0.0, lambda: 0.0, lambda host: True)
    trouble.answered("a")
    trouble.failed("a", 1, Failure("http 503", Cause.BUSY), 0.0)
    assert trouble.stand_back_s("a", 2) == 0.0 and trouble.stand_back_s("b", 1) == 0.0
    assert trouble.stand_back_s("a", 1) > 0.0
    assert trouble.stand_back_s("a", 1) == 0.0, "there was no other page to try"
    trouble.failed("a", 2, Failure("http 503", Cause.BUSY), 0.0)
    assert trouble.stand_back_s("a", 1) > 0.0
    trouble.answered("a")
    assert trouble.stand_back_s("a", 1) == 0.0


def test_pauses_grow_by_chance_within_bounds_and_an_answer_ends_them() -> None:
    now, chance = [0.0], [0.0]
    trouble = HostTrouble(Politeness, lambda: now[0], lambda: chance[0], lambda host: True)
    refused = Failure("connection refused", Cause.HOST)
    rests = []
    for n in range(12):
        chance[0] = n % 2
        rests.append(trouble.failed("a", n, refused, now[0]).rest_s)
        now[0] += 400.0
    expected = [min(2.0**n * (1 + JITTER * (n % 2)), 300.0) for n in range(12)]
    assert rests == expected
    trouble.answered("a")
    assert trouble.failed("a", 0, refused, now[0]).rest_s == pytest.approx(1.0, rel=JITTER)


def test_failures_of_requests_that_were_under_way_together_are_one() -> None:
    trouble = HostTrouble(Politeness, lambda: 5.0, lambda: 0.0)
    refused = Failure("connection refused", Cause.HOST)
    assert [trouble.failed("a", n, refused, 4.0).rest_s for n in range(16)] == [1.0] * 16


def test_retry_after_comes_first() -> None:
    answers = [FetchResult(status=503, retry_after=b"120"), FetchResult(status=429, retry_after=b"7")]
    run = Simulated(pages("a", 3))
    run.run(lambda url, at: answers.pop(0) if answers else OK)
    first, second, third = [at - T0 for at, _ in run.asked][:3]
    assert (first, second) == (0.0, 120.0) and 127.0 <= third <= 128.0, "a page that failed lets another one go first"
    assert run.failures == {} and run.crawl.inspect.fetched_count == 3


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_limits_requests_is_asked_less_often_and_loses_no_page(status: int) -> None:
    recent: list[float] = []

    def limited(url: str, at: float) -> FetchResult:
        recent[:] = [then for then in recent if at - then < 1.0]
        if len(recent) >= 5:
            return FetchResult(status=status)
        recent.append(at)
        return OK

    run = Simulated(pages("a", 300), delay=0.0, per_host=0)
    run.run(limited)
    assert run.failures == {} and run.crawl.inspect.fetched_count == 300
    assert len(run.asked) < 330, "it is learned that there is a limit"
    delay = run.crawl.inspect.hosts()[0]["delay"]
    assert 0.2 <= delay <= 1.0, "and kept with the crawl"


@pytest.mark.parametrize("name", ["lost", "timeout", "http 502", "http 503"])
def test_a_page_that_alone_gets_no_answer_fails_and_does_not_stop_its_host(name: str) -> None:
    run = Simulated(pages("a", 400))
    run.run(lambda url, at: FAILURES[name] if url.endswith("/3") else OK)
    assert sum(run.failures.values()) == 1 and run.crawl.inspect.fetched_count == 399
    tries = [at - T0 for at, url in run.asked if url.endswith("/3")]
    assert len(tries) <= 14
    others = [at - T0 for at, url in run.asked if not url.endswith("/3")]
    assert others[-1] < 460, "400 s, and some short rests"


def test_a_page_that_is_the_last_of_its_host_fails_after_a_while() -> None:
    run = Simulated(pages("a", 2))
    run.run(lambda url, at: FAILURES["lost"] if url.endswith("/1") else OK)
    assert run.failures == {"connection lost": 1}
    assert DOUBT_S <= run.now - T0 <= 2 * DOUBT_S, "until then it may have been the host"


def test_pages_in_a_row_that_get_no_answer_do_not_stop_the_others() -> None:
    run = Simulated(pages("a", 60))
    hanging = {f"http://a.example/{n}" for n in range(2, 22)}
    run.run(lambda url, at: FAILURES["timeout"] if url in hanging else OK)
    assert run.crawl.inspect.fetched_count == 40 and run.failures == {"timeout": 20}


@pytest.mark.parametrize("known", [False, True])
def test_a_host_that_stays_away_is_given_up_and_its_pages_wait(known: bool) -> None:
    run = Simulated([*pages("a", 50), *pages("b", 5)], give_up_after=7200.0)
    run.run(lambda url, at: OK if url.startswith("http://b.") or (known and at < 8) else FAILURES["refused"])
    (host,) = given_up_hosts(run.crawl)
    assert (host.name, host.reason) == ("a.example", "connection refused")
    assert host.pages == run.crawl.inspect.waiting >= 40 and run.failures == {}
    tries = sum(url.startswith("http://a.") for _, url in run.asked)
    assert run.now - T0 == pytest.approx(7210, abs=30) if known else (tries == 4 and run.now - T0 < 60)
    assert run.job.asked == run.crawl.inspect.fetched_count, "pages that were never answered use up no budget"


def test_what_happened_to_hosts_is_the_same_after_a_kill(tmp_path: Path) -> None:
    run = Simulated(pages("a", 9), tmp_path / "crawl")
    run.run(lambda url, at: OK if at < 3 else FAILURES["refused"], until=T0 + 40)
    before = run.crawl.state.frontier.hosts().tolist()
    attempts, waits = run.crawl.state.leases.attempts, [run.crawl.inspect.due(page) for page in range(9)]
    run.crawl.commit()
    run.crawl.abandon()
    again = Crawl.recover(tmp_path / "crawl", clock=lambda: run.now)
    assert again.state.frontier.hosts().tolist() == before
    assert (again.state.leases.attempts, [again.inspect.due(page) for page in range(9)]) == (attempts, waits)
    assert set(attempts.values()) == {0}
    ((host, reason, until),) = again.inspect.history.resting(run.now)
    assert (host, reason) == ("a.example", "connection refused") and run.now < until < run.now + 60
    again.close()


def test_status_tells_of_the_trouble_of_hosts_with_pages_to_come(tmp_path: Path) -> None:
    for name, count, waits in (("done", 1, False), ("open", 2, True)):
        run = Simulated(pages("a", count), tmp_path / name, retries=0)
        (page,) = run.crawl.take_pages(1)
        run.crawl.control.block("a.example", 30.0, reason="http 503")
        run.crawl.failed(page, "http 503")
        run.crawl.close()
        assert bool(status(tmp_path / name)["trouble"]) == waits


def test_a_proxy_that_worked_may_be_away_and_one_that_never_did_ends_the_crawl() -> None:
    dead = FetchResult(of_proxy(ConnectionRefusedError(), "127.0.0.1:9"))
    run = Simulated(pages("a", 20))
    run.run(lambda url, at: dead if 5 < at < 300 else OK)
    assert run.crawl.inspect.fetched_count == 20
    run = Simulated(pages("a", 20))
    with pytest.raises(Exception, match=r"the proxy 127\.0\.0\.1:9 cannot be reached: connection refused; start it"):
        run.run(lambda url, at: dead)
    assert (len(run.asked), run.crawl.inspect.waiting, run.crawl.inspect.leased) == (1, 20, 0)


def test_what_a_failure_is_crosses_processes() -> None:

    for error in (lost(), host_not_found("a"), Unreachable(), NotFetched("fetcher died", True)):
        same = pickle.loads(pickle.dumps(error))
        assert (same.reason, same.retry, same.cause) == (error.reason, error.retry, error.cause)


# On real sockets -------------------------------------------------------------------------------------------------------------
QUICK = ("--allow-private", "--delay", "0.05", "--no-robots", "--ordering", "bfs")


def started(*args: str | Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "frontrank", *map(str, args)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Away(Wide):
    """A site whose connections end with it."""

    protocol_version = "HTTP/1.0"


def test_a_server_that_is_started_again_loses_no_page(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Away) as url:
        port = int(url.rpartition(":")[2])
        process = started("crawl", f"{url}/", "--out", out, *QUICK, "--budget", "60", "--json")
        eventually(lambda: (out / "trace.db").exists() and len(fetched(out)) >= 10)

    def refused() -> list[dict[str, Any]]:
        return [one for one in events(out) if one.get("reason") == "connection refused" and one["kind"] == "retry"]

    eventually(lambda: len(refused()) >= 2)
    with served(Away, port):
        told = json.loads(process.communicate(timeout=PATIENCE_S)[0])
    assert told["failures"] == {} and told["fetched"] == 60
    assert {one["attempt"] for one in refused()} == {0}


def test_a_host_that_was_given_up_is_asked_again_by_a_resumed_crawl(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Away) as url:
        port = int(url.rpartition(":")[2])
        crawl(f"{url}/", "--out", out, *QUICK, "--budget", "3")
    told = crawl("--resume", out, "--budget", "30", "--give-up-after", "1.5")
    assert (told["ended"], told["failures"], told["fetched"]) == ("hosts given up", {}, 3)
    (host,) = told["given_up"]
    assert host == {"name": "127.0.0.1", "reason": "connection refused", "pages": told["waiting"]} and told["waiting"] > 190
    said = subprocess.run(
        [sys.executable, "-m", "frontrank", "status", out], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert "1 host given up" in said.stdout
    with served(Away, port):
        told = crawl("--resume", out)
    assert (told["ended"], told["fetched"], told["given_up"]) == ("budget", 30, [])


def test_a_mistyped_host_ends_soon_with_its_reason(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    said = crawl("http://127.0.0.1:9/", "--out", out, "--allow-private", "--retries", "1", code=1)
    assert "no page was fetched, every seed failed: connection refused (1); try them again" in said
    assert sum(one["kind"] == "take" for one in events(out)) == 3


@pytest.mark.parametrize("args", [(), ("--no-robots",), ("--fetchers", "2", "--no-robots")])
def test_a_dead_proxy_is_named_at_once(tmp_path: Path, args: tuple[str, ...]) -> None:
    out = tmp_path / "crawl"
    said = crawl(
        "http://a.example/", "http://b.example/", "--out", out, "--proxy", "http://me:secret@127.0.0.1:9", *args, code=2
    )
    assert "the proxy 127.0.0.1:9 cannot be reached: connection refused; start it" in said and "secret" not in said
    assert sum(one["kind"] == "take" for one in events(out)) <= 2


class Late(Site):
    """Pages that are there on the second crawl."""

    there = False
    PAGES = {"/": links("/a", "/b", "/c", "/skip"), "/a": links("/d"), "/d": links("/")}

    def do_GET(self) -> None:
        self.asked.append((time.monotonic(), self.path, ""))
        if self.path in ("/a", "/b") and not Late.there:
            self.answer(404 if self.path == "/a" else 410)
        elif self.path == "/c":
            self.answer(404)
        else:
            self.answer(200, self.PAGES.get(self.path, ""))


def test_failed_pages_are_tried_again_when_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    Late.there = False
    with served(Late) as url:
        told = crawl(f"{url}/", "--out", out, *QUICK, "--max-depth", "3", "--exclude", "/skip")
        assert told["failures"] == {"http 404": 2, "http 410": 1} and told["fetched"] == 1
        said = crawl("--resume", out, "--retry-failed", "timeout", code=2)
        assert "no page failed for a reason that begins with 'timeout'; there are: http 404 (2), http 410 (1)" in said
        Late.there = True
        told = crawl("--resume", out, "--retry-failed", "http 404")
        assert (told["fetched"], told["failed"], told["revisits"], told["run_pages"]) == (3, 2, 0, 3)
        assert told["failures"] == {"http 404": 1, "http 410": 1}
        assert [path for _, path, _ in Late.asked][-3:].count("/c") == 1 and fetched(out)[-1] == f"{url}/d"
        told = crawl("--resume", out, "--retry-failed")
        assert (told["fetched"], told["failures"]) == (4, {"http 404": 1})
        assert told["hosts"][0]["failed"] == 1
    again = Crawl.recover(out)
    assert (again.inspect.fetched_count, again.inspect.failed_count, again.state.progress.reopened, again.inspect.revisits) == (
        4,
        1,
        set(),
        0,
    )
    again.close()
    assert "without --resume" in crawl("http://a.example/", "--out", tmp_path / "new", "--retry-failed", code=2)


def test_fetchers_of_a_service_lose_no_page_either(tmp_path: Path) -> None:
    class Few(Site):
        protocol_version = "HTTP/1.0"
        PAGES = {"/": links(*(f"/{n}" for n in range(12)))}

        def do_GET(self) -> None:
            self.asked.append((time.monotonic(), self.path, ""))
            self.answer(200, self.PAGES.get(self.path, links("/")))

    with service(tmp_path / "frontier", delay_s=0.2) as client:
        with served(Few) as url:
            port = int(url.rpartition(":")[2])
            args = (f"{url}/", "--allow-private", "--no-robots", "--budget", "13", "--retries", "0")
            process = subprocess.Popen(fetch_command(client, *args), stdout=subprocess.PIPE, text=True)
            eventually(lambda: client.stats().completed >= 3)

        def tried() -> list[Any]:
            return [one for one in client.urls() if one.metadata.get("error") or one.metadata.get("attempts")]

        eventually(tried)
        assert {one.metadata["attempts"][0] for one in tried()} == {"0"}
        with served(Few, port):
            told = json.loads(process.communicate(timeout=PATIENCE_S)[0])
        assert (told["fetched"], told["failures"]) == (13, {})


def test_a_fetcher_whose_proxy_is_dead_says_so(tmp_path: Path) -> None:
    with service(tmp_path / "frontier") as client:
        args = fetch_command(client, "http://a.example/", "--proxy", "http://127.0.0.1:9")
        done = subprocess.run(args, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 2 and "the proxy 127.0.0.1:9 cannot be reached: connection refused" in done.stderr
        assert (client.stats().active, client.stats().leased) == (1, 0)
