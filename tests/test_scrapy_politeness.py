"""The pace of a Scrapy crawl with the add-on, by the crawl's own clock: what its journal says was taken when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import signals

from frontrank.crawl.status import events
from tests.scrapy_crawls import check_pace, crawl_one, end_workers
from tests.scrapy_project_server import Pages, page, serving


@pytest.fixture(scope="module", autouse=True)
def _end_workers() -> Iterator[None]:
    yield
    end_workers()


def test_a_delay_is_kept_for_each_host_and_the_engine_is_woken_when_it_is_over(tmp_path: Path) -> None:
    pages = {"http://one.test/": page(*(f"http://{host}.test/{i}" for i in range(8) for host in ("one", "two")))}
    with serving({**pages, **{f"/{i}": page() for i in range(8)}}) as site:
        settings = {"DOWNLOAD_DELAY": 0.2, "FRONTRANK_DIR": str(tmp_path / "crawl")}
        crawl_one("Follow", "http://one.test/", settings, proxy=site)  # without an alarm it would never end: no heartbeat
        assert len(site.asked) == 17
    assert check_pace(tmp_path / "crawl", "one.test", 0.2) == (9, 0.2)
    assert check_pace(tmp_path / "crawl", "two.test", 0.2) == (8, 0.2)


@pytest.mark.parametrize(("answer", "rest_s"), [("100", 100.0), ("99999999", 3600.0)])
def test_retry_after_silences_a_host_and_only_that(answer: str, rest_s: float, tmp_path: Path) -> None:
    links = ["http://busy.test/0", *(f"http://{host}.test/{i}" for i in range(1, 5) for host in ("busy", "calm"))]
    pages: Pages = {"http://calm.test/": page(*links), "http://busy.test/0": (429, {"Retry-After": answer}, "")}
    with serving({**pages, **{f"/{i}": page() for i in range(1, 5)}}) as site:
        settings = {"CONCURRENT_REQUESTS": 1, "STOP_AFTER": 5, "FRONTRANK_DIR": str(tmp_path / "crawl")}
        crawled = crawl_one("Until", "http://calm.test/", settings, proxy=site)
        assert site.urls() == ["http://calm.test/", "http://busy.test/0", *(f"http://calm.test/{i}" for i in range(1, 5))]
    (block,) = [event for event in events(tmp_path / "crawl") if event["kind"] == "block"]
    assert block["host"] == "busy.test" and block["until"] - block["time"] == pytest.approx(rest_s)
    assert crawled.stats["frontrank/waiting"] == 5 and crawled.stats["frontrank/leased"] == 0


def test_a_host_that_only_says_too_many_requests_rests_until_the_retry(tmp_path: Path) -> None:
    pages: Pages = {"/": page("/a", "/b"), "/a": lambda asked: (429, {}, "") if asked.times == 1 else page(), "/b": page()}
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"CONCURRENT_REQUESTS": 1, "FRONTRANK_DIR": str(tmp_path / "crawl")})
        assert sorted(site.urls()) == ["/", "/a", "/a", "/b"]
    assert check_pace(tmp_path / "crawl", "127.0.0.1")[0] == 4
    (block,) = [event for event in events(tmp_path / "crawl") if event["kind"] == "block"]
    assert block["until"] - block["time"] == pytest.approx(1.0)


@pytest.mark.skipif(not hasattr(signals, "robots_parsed"), reason="Scrapy tells of robots.txt from 2.18 on")
def test_the_crawl_delay_of_robots_txt_is_kept(tmp_path: Path) -> None:
    robots = (200, {"Content-Type": "text/plain"}, "User-agent: *\nCrawl-delay: 0.4\n")
    pages: Pages = {"/": page(*(f"/{i}" for i in range(5))), "/robots.txt": robots, **{f"/{i}": page() for i in range(5)}}
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"ROBOTSTXT_OBEY": True, "FRONTRANK_DIR": str(tmp_path / "crawl")})
        assert len(site.asked) == 7
    assert check_pace(tmp_path / "crawl", "127.0.0.1") == (6, 0.4)


def test_autothrottle_sets_the_pace(tmp_path: Path) -> None:
    pages = {"/": page(*(f"/{i}" for i in range(6))), **{f"/{i}": page() for i in range(6)}}
    with serving(pages) as site:
        settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.3, "FRONTRANK_DIR": str(tmp_path / "crawl")}
        crawl_one("Follow", site.root + "/", settings)
        assert len(site.asked) == 7
    taken, longest = check_pace(tmp_path / "crawl", "127.0.0.1")
    assert taken == 7 and 0.1 < longest <= 0.3  # half the start delay at least, as the throttle halves it at each answer
