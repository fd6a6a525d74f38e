"""Scrapy crawls that end before they are through, and go on: killed, closed, out of budget, on a full disk."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank.crawl.status import events
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from tests.patience import PATIENCE_S
from tests.scrapy_crawls import ASYNCIO, Worker, crawl_one, end_workers, job, why_failed
from tests.scrapy_project_server import Asked, Pages, page, serving
from tests.webs import random_web


@pytest.fixture(scope="module", autouse=True)
def _end_workers() -> Iterator[None]:
    yield
    end_workers()


class Turnstile:
    """Lets so many answers through; then requests hang until more are let through."""

    def __init__(self) -> None:
        self.left = threading.Semaphore(0)
        self.hanging = threading.Event()

    def pass_by(self) -> None:
        if not self.left.acquire(blocking=False):
            self.hanging.set()
            self.left.acquire()

    def let(self, answers: int) -> None:
        self.hanging.clear()
        self.left.release(answers)


def test_after_kill_9_a_crawl_goes_on_and_fetches_again_only_what_was_in_flight(tmp_path: Path) -> None:
    web = random_web(120, 700, seed=8)
    assert web.urls is not None
    urls, gate = web.urls, Turnstile()

    def gated(html: str) -> Any:
        def answer(_: Asked) -> str:
            gate.pass_by()
            return html

        return answer

    pages = {urls[p]: gated(page(*(urls[q] for q in web.targets_of(p)))) for p in range(web.pages)}
    settings = {"CONCURRENT_REQUESTS": 4, "FRONTRANK_POLICY": "fpr", "JOBDIR": str(tmp_path / "job")}
    reachable = simulate(web, parse("fpr"), np.array([7])).trace.order.size
    with serving(pages) as site:
        for _ in range(2):
            gate.let(25)
            worker = Worker(ASYNCIO)
            worker.begin([job("Follow", urls[7], settings)], proxy=site)
            assert gate.hanging.wait(PATIENCE_S)
            worker.end()
        assert 50 < len(site.asked) < reachable
        gate.let(10_000)
        crawled = crawl_one("Follow", urls[7], settings, proxy=site)
        asked = site.urls()
    assert len(set(asked)) == reachable
    assert len(asked) <= reachable + 8
    assert asked.count(urls[7]) == 1
    assert crawled.stats["frontrank/leased"] == 0
    assert "Resuming crawl" in crawled.log
    assert (tmp_path / "job" / "frontrank" / "trace.db").exists()


def test_what_requests_carry_survives_a_restart(tmp_path: Path) -> None:
    pages = {"/": page(), "/local": page(), **{f"/kept/{i}": page() for i in range(5)}}
    settings = {"CONCURRENT_REQUESTS": 1, "FRONTRANK_DIR": str(tmp_path / "crawl"), "SCHEDULER_DEBUG": True}
    with serving(pages) as site:
        first = crawl_one("Carries", site.root + "/", {**settings, "STOP_SOON": True})
        assert site.urls() == ["/"] and first.stats["finish_reason"] == "enough"
        assert first.stats["scheduler/unserializable"] == 1
        assert first.log.count("Unable to serialize request") == 1
        second = crawl_one("Carries", site.root + "/", settings)
        assert site.urls() == ["/", *(f"/kept/{i}" for i in range(6))]
        assert [asked.body for asked in site.asked[1:]] == [f"body {i}" for i in range(6)]
        assert [asked.headers["X-Kept"] for asked in site.asked[1:]] == list("012345")
    assert second.noted == [*(["kept", i, [i], f"body {i}"] for i in range(5)), ["failed", "5"]]
    assert second.stats["frontrank/leased"] == 0
    assert why_failed(tmp_path / "crawl")["/local"] == "its request was in the memory of an earlier process"
    third = crawl_one("Carries", site.root + "/", settings)
    assert third.stats["finish_reason"] == "finished" and "downloader/request_count" not in third.stats


def test_a_budget_is_exact_whatever_the_concurrency_and_counts_all_runs_together(tmp_path: Path) -> None:
    pages: Pages = {
        "/": page("/gone", "/forbidden", "/to", *(f"/{i}" for i in range(40))),
        "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /forbidden\n"),
        "/to": (302, {"Location": "/0"}, ""),
        "/3": lambda asked: (503, {}, "") if asked.times == 1 else page(),
        **{f"/{i}": page() for i in range(40) if i != 3},
    }
    settings = {"CONCURRENT_REQUESTS": 16, "ROBOTSTXT_OBEY": True, "FRONTRANK_DIR": str(tmp_path / "crawl")}
    with serving(pages) as site:
        for budget in (20, 25, 25):
            crawled = crawl_one("Follow", site.root + "/", {**settings, "FRONTRANK_BUDGET": budget})
            assert crawled.stats["finish_reason"] == "frontrank_budget"
            assert crawled.stats["frontrank/leased"] == 0
            ends = Counter(event["kind"] for event in events(tmp_path / "crawl"))
            assert ends["fetched"] + ends["failed"] == budget + 1  # what robots.txt forbids was not asked for
            assert len(set(site.urls())) <= budget + 2  # robots.txt; a page that waits for its retry is not done with


def test_a_disk_that_is_full_ends_the_crawl_with_a_sentence(tmp_path: Path) -> None:
    pages = {f"/{i}": page(*(f"/{i + 1}?{j}" for j in range(30)), f"/{i + 1}") for i in range(2000)}
    worker = Worker(ASYNCIO)
    with serving(pages) as site:
        worker.begin([job("Follow", site.root + "/0", {"FRONTRANK_DIR": str(tmp_path / "crawl")})], largest_file=400_000)
        (crawled,) = worker.results()
    worker.end()
    assert crawled.stats["finish_reason"] == "frontrank_error"
    assert "the trace cannot be written" in crawled.log
