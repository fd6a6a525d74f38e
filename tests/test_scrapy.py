"""The Scrapy integration: real crawls, in processes of their own, of a server on loopback."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank.crawl.journal import FAILED, RETRY
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from tests.scrapy_project_server import Asked, Site, page, serving
from tests.webs import random_web

ROOT = Path(__file__).resolve().parent.parent
ADDON = {"frontrank.fetching.addon.Addon": 500}
ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SELECT = "twisted.internet.selectreactor.SelectReactor"


class Crawled:
    def __init__(self, result: dict[str, Any], log: str) -> None:
        self.stats: dict[str, Any] = result["stats"]
        self.noted: list[list[Any]] = result["noted"]
        self.error: str = result["error"]
        self.log = log


class Worker:
    """A process that crawls; it serves many tests, as it takes seconds to start one."""

    def __init__(self, reactor: str) -> None:
        command = [sys.executable, "-m", "tests.scrapy_project", reactor]
        self.process = subprocess.Popen(
            command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def begin(self, jobs: list[dict[str, Any]], proxy: Site | None = None, largest_file: int = 0) -> None:
        assert self.process.stdin is not None
        environment = {} if proxy is None else {"http_proxy": proxy.root}
        print(
            json.dumps({"jobs": jobs, "environment": environment, "largest_file": largest_file}),
            file=self.process.stdin,
            flush=True,
        )

    def results(self) -> list[Crawled]:
        assert self.process.stdout is not None
        too_late = threading.Timer(60.0, self.process.kill)
        too_late.start()
        log = []
        for line in self.process.stdout:
            if line.startswith("RESULTS "):
                too_late.cancel()
                return [Crawled(result, "".join(log)) for result in json.loads(line.removeprefix("RESULTS "))]
            log.append(line)
        too_late.cancel()
        raise AssertionError(f"the crawl did not end:\n{''.join(log)[-8000:]}")

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


WORKERS: dict[str, Worker] = {}


@pytest.fixture(scope="module", autouse=True)
def _end_workers() -> Iterator[None]:
    yield
    while WORKERS:
        WORKERS.popitem()[1].end()


def job(spider: str, urls: str, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    every = {"ADDONS": ADDON, "FRONTRANK_POLICY": "bfs", "LOG_LEVEL": "INFO", "DOWNLOAD_TIMEOUT": 5, **(settings or {})}
    return {"spider": spider, "settings": every, "args": {"urls": urls}}


def crawl(jobs: list[dict[str, Any]], proxy: Site | None = None, reactor: str = ASYNCIO) -> list[Crawled]:
    if reactor not in WORKERS or WORKERS[reactor].process.poll() is not None:
        WORKERS[reactor] = Worker(reactor)
    WORKERS[reactor].begin(jobs, proxy)
    return WORKERS[reactor].results()


def crawl_one(
    spider: str, urls: str, settings: dict[str, Any] | None = None, proxy: Site | None = None, reactor: str = ASYNCIO
) -> Crawled:
    (crawled,) = crawl([job(spider, urls, settings)], proxy, reactor)
    assert not crawled.error, crawled.log[-8000:]
    return crawled


SMALL = {"/": page("/a", "/b"), "/a": page("/c", "/b", "/"), "/b": page("/d"), "/c": page(), "/d": page("/a")}


# The order -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("spider", ["Follow", "FollowAsync", "FollowAwaited"])
def test_with_one_request_at_a_time_the_order_is_the_one_of_a_simulation(spider: str) -> None:
    web = random_web(60, 300, seed=3)
    assert web.urls is not None
    urls = web.urls
    pages = {urls[p]: page(*(urls[q] for q in web.targets_of(p))) for p in range(web.pages)}
    seeds = np.array([5, 17, 40])
    policies = ["bfs", "fpr", "fica", "opic"] if spider == "Follow" else ["fpr"]
    with serving(pages) as site:
        start = " ".join(urls[p] for p in seeds)
        jobs = [
            job(spider, start, {"CONCURRENT_REQUESTS": 1, "FRONTRANK_POLICY": name, "LOG_LEVEL": "ERROR"}) for name in policies
        ]
        crawled = crawl(jobs, proxy=site)
        asked = site.urls()
    for name, result in zip(policies, crawled, strict=True):
        order = [urls[p] for p in simulate(web, parse(name), seeds).trace.order]
        assert asked[: len(order)] == order, f"{name}\n{result.log[-5000:]}"
        del asked[: len(order)]
        assert result.stats["frontrank/leased"] == 0
        assert result.stats["frontrank/policy"] == name
    assert not asked


def test_anchors_titles_and_texts_of_a_crawl_spider_reach_the_ordering() -> None:
    web = random_web(60, 300, seed=4, topic="computer")
    assert web.urls is not None and web.anchors is not None and web.titles is not None and web.texts is not None
    urls = web.urls
    pages = {}
    for p in range(web.pages):
        row = slice(web.indptr[p], web.indptr[p + 1])
        links, anchors = [urls[q] for q in web.targets[row]], tuple(web.anchors[row])
        pages[urls[p]] = page(*links, anchors=anchors, title=web.titles[p], text=web.texts[p])
    unlinked = np.flatnonzero(np.bincount(web.targets, minlength=web.pages) == 0)
    seed = max(unlinked, key=lambda p: web.targets_of(p).size)
    policy = "similarity:topic=computer"
    orders = {spec: [urls[p] for p in simulate(web, parse(spec), np.array([seed])).trace.order] for spec in ("bfs", policy)}
    assert orders[policy] != orders["bfs"]
    with serving(pages) as site:
        crawled = crawl_one("Rules", urls[seed], {"CONCURRENT_REQUESTS": 1, "FRONTRANK_POLICY": policy}, proxy=site)
        assert site.urls() == orders[policy]
    assert any("COMPUTER" in text for _, text in crawled.noted)


def test_seeds_that_start_gives_together_share_their_weight_and_late_ones_do_not_wait() -> None:
    pages = {f"/{i}": page(f"/{i}/x") for i in range(4)}
    with serving(pages) as site:
        urls = " ".join(f"{site.root}/{i}" for i in range(4))
        begun = time.monotonic()
        crawl_one("LazyStart", urls, {"CONCURRENT_REQUESTS": 1, "RETRY_ENABLED": False})
        at = {asked.url.removeprefix(site.root): asked.at - begun for asked in site.asked}
    assert len(at) == 8
    assert at["/0"] < at["/0/x"] < at["/1"] < at["/2"] < at["/3"]


# Duplicates -----------------------------------------------------------------------------------------------------------------
def test_a_page_is_fetched_once_and_repeats_are_counted_and_dropped_as_in_stock_scrapy() -> None:
    with serving(SMALL) as site:
        ours, theirs = crawl([job("Follow", site.root + "/"), job("Follow", site.root + "/", {"ADDONS": {}})])
        asked = site.urls()
    assert sorted(asked[:5]) == ["/", "/a", "/b", "/c", "/d"]
    assert ours.stats["dupefilter/filtered"] == 3
    # stock fetches the start page twice, as start requests are not filtered: then its links are repeats, too
    assert len(asked[5:]) == 6 and theirs.stats["dupefilter/filtered"] == 4
    assert ours.stats["scheduler/enqueued"] == ours.stats["scheduler/dequeued"] == 5
    assert ours.stats["scheduler/enqueued/memory"] == 5
    assert ours.stats["frontrank/known"] == 5 and ours.stats["frontrank/waiting"] == 0


def test_duplicates_are_shown_if_asked_for() -> None:
    with serving(SMALL) as site:
        crawled = crawl_one("Follow", site.root + "/", {"DUPEFILTER_DEBUG": True, "LOG_LEVEL": "DEBUG"})
    assert crawled.log.count("Filtered duplicate request") == 3


def test_dont_filter_always_goes_through_and_another_callback_gets_the_start_page_once() -> None:
    with serving({"/": page()}) as site:
        crawled = crawl_one("Unfiltered", site.root + "/")
        assert len(site.asked) == 4
    assert sorted(crawled.noted) == [["filtered 0"], ["unfiltered 0"], ["unfiltered 1"]]
    assert crawled.stats["dupefilter/filtered"] == 3


def test_posts_differ_by_their_body() -> None:
    with serving({"/": page()}) as site:
        crawled = crawl_one("Posts", site.root + "/")
        assert [asked.method for asked in site.asked] == ["POST", "POST"]
    assert sorted(crawled.noted) == [["posted", "a=1"], ["posted", "a=2"]]


def test_a_duplicate_filter_of_ones_own_decides() -> None:
    pages = {"/": page("/a", "/a", "/never"), "/a": page(), "/never": page()}
    with serving(pages) as site:
        crawled = crawl_one("Follow", site.root + "/", {"DUPEFILTER_CLASS": "tests.scrapy_project.Everything"})
        assert sorted(site.urls()) == ["/", "/a", "/a"]
    assert ["filtered", site.root + "/never"] in crawled.noted


def test_copied_meta_does_not_confuse_pages() -> None:
    with serving(SMALL) as site:
        crawled = crawl_one("Copies", site.root + "/", {"CONCURRENT_REQUESTS": 1})
        assert site.urls() == ["/", "/a", "/b", "/c", "/d"]
    assert crawled.stats["frontrank/leased"] == 0


# How pages end ----------------------------------------------------------------------------------------------------------------
def outcomes() -> dict[str, Any]:
    def slow(asked: Asked) -> str:
        if "?" not in asked.url:
            time.sleep(1.0)
        return page()

    return {
        "/": page(),
        "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /forbidden\n"),
        "/timeout": slow,
        "/timeout?from=errback": page(),
        "/broken": (0, {}, ""),
        "/bounce": (302, {"Location": "/landed"}, ""),
        "/landed": page(),
        "/loop": (302, {"Location": "/loop2"}, ""),
        "/loop2": (302, {"Location": "/loop"}, ""),
        "/offsite_bounce": (302, {"Location": "http://offsite.invalid/"}, ""),
        "/flaky": lambda asked: (503, {}, "") if asked.times < 3 else page(),
        "/ever_flaky": (503, {}, ""),
        **{f"/{name}": page() for name in ("nothing", "items", "error", "midway", "async_error", "answered", "unheard")},
        **{f"/{name}": page() for name in ("forbidden", "refused", "spoiled", "replaced-by-another", "after-midway", "quiet")},
    }


@pytest.mark.parametrize("where", ["memory", "directory", "select"])
def test_nothing_stays_leased_whatever_becomes_of_a_request(where: str, tmp_path: Path) -> None:
    settings = {
        "ROBOTSTXT_OBEY": True,
        "RETRY_TIMES": 2,
        "REDIRECT_MAX_TIMES": 3,
        "DOWNLOADER_MIDDLEWARES": {"tests.scrapy_project.Meddler": 800},
        "ITEM_PIPELINES": {"tests.scrapy_project.Drops": 300},
        **({"FRONTRANK_DIR": str(tmp_path / "crawl")} if where == "directory" else {}),
    }
    with serving(outcomes()) as site:
        crawled = crawl_one("Outcomes", site.root + "/", settings, reactor=SELECT if where == "select" else ASYNCIO)
        asked = site.urls()
    assert crawled.stats["frontrank/leased"] == 0, crawled.log
    assert crawled.stats["frontrank/waiting"] == 0
    assert crawled.stats["finish_reason"] == "finished"
    noted = [[line[0], line[1].removeprefix(site.root), *line[2:]] for line in crawled.noted]
    failures = {line[1]: line[2] for line in noted if line[0] == "failed"}
    assert failures["/missing"] == failures["/ever_flaky"] == "HttpError"
    assert failures["/forbidden"] == failures["/refused"] == failures["/spoiled"] == "IgnoreRequest"
    assert {"/timeout", "/broken"} <= failures.keys()
    items = {line[1] for line in noted if line[0] == "items"}
    assert items == {"/items", "/landed", "/flaky", "/replaced-by-another", "/answered", "/timeout?from=errback"}
    assert {line[1] for line in noted if line[0] == "nothing"} == {"/nothing", "/quiet", "/after-midway"}
    assert asked.count("/flaky") == asked.count("/ever_flaky") == 3
    assert "/forbidden" not in asked and "/refused" not in asked
    assert crawled.stats["retry/count"] >= 4
    if where == "directory":
        reasons = why_failed(tmp_path / "crawl")
        assert reasons["/forbidden"] == "forbidden by robots.txt"
        assert reasons["/missing"] == "http 404"
        assert reasons["/ever_flaky"] == "http 503"
        assert reasons["/refused"] == "refused by a middleware"
        assert "timeout" in reasons["/timeout"]
        assert why_failed(tmp_path / "crawl", RETRY)["/flaky"] == "http 503"


def why_failed(folder: Path, kind: int = FAILED) -> dict[str, str]:
    db = sqlite3.connect(folder / "trace.db")
    rows = db.execute(
        "SELECT url.url, event.note FROM event JOIN url ON url.id = event.page WHERE event.kind = ?", (kind,)
    ).fetchall()
    db.close()
    return {"/" + url.split("/", 3)[3]: note for url, note in rows}


def test_responses_from_the_cache_settle_their_pages(tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with serving(SMALL) as site:
        crawl_one("Follow", site.root + "/", settings)
        again = crawl_one("Follow", site.root + "/", settings)
        assert len(site.asked) == 5
    assert again.stats["httpcache/hit"] == 5 and again.stats["frontrank/leased"] == 0


@pytest.mark.parametrize("reactor", [ASYNCIO, SELECT], ids=["asyncio", "select"])
def test_a_callback_that_does_not_end_stops_nothing(reactor: str) -> None:
    pages = {"/": page(), "/a": page(), "/b": page(), "/c": page()}
    with serving(pages) as site:
        crawl_one("Endless", site.root + "/", {"CONCURRENT_REQUESTS": 1}, reactor=reactor)
        assert site.urls() == ["/", "/a", "/b", "/c"]
        assert site.asked[1].at - site.asked[0].at < 8.0


def test_slow_pipelines_do_not_hold_up_the_next_page() -> None:
    pages = {f"/{i}": page(f"/{i + 1}") for i in range(8)}
    with serving({**pages, "/8": page()}) as site:
        settings = {"CONCURRENT_REQUESTS": 1, "ITEM_PIPELINES": {"tests.scrapy_project.Slow": 300}}
        crawled = crawl_one("Items", site.root + "/0", settings)
        assert site.asked[-1].at - site.asked[0].at < 3.0
    assert crawled.stats["item_scraped_count"] == 9


def test_with_many_requests_at_once_the_same_pages_are_fetched_as_by_stock_scrapy() -> None:
    web = random_web(200, 1500, seed=9)
    assert web.urls is not None
    urls = web.urls
    with serving({urls[p]: page(*(urls[q] for q in web.targets_of(p))) for p in range(web.pages)}) as site:
        (ours,) = crawl([job("Follow", urls[7], {"FRONTRANK_POLICY": "fica", "LOG_LEVEL": "ERROR"})], proxy=site)
        first = site.urls()
        crawl([job("Follow", urls[7], {"ADDONS": {}, "LOG_LEVEL": "ERROR"})], proxy=site)
        second = site.urls()[len(first) :]
    assert len(first) > 100 and len(first) == len(set(first))
    assert set(first) == set(second)
    assert ours.stats["frontrank/leased"] == 0


def test_requests_that_others_drop_hold_nothing_up() -> None:
    pages = {f"/{i}": page(f"/{i + 1}", "http://off.test/") for i in range(20)}
    with serving({**pages, "/20": page()}) as site:
        crawled = crawl_one("Onsite", "http://on.test/0", {"CONCURRENT_REQUESTS": 1}, proxy=site)
        assert site.urls() == [f"http://on.test/{i}" for i in range(21)]
        assert site.asked[-1].at - site.asked[0].at < 5.0
    assert crawled.stats["offsite/filtered"] == 20 and crawled.stats["frontrank/known"] == 21


def test_requests_from_an_idle_handler_are_seeds() -> None:
    pages = {"": page("/x"), "/x": page(), "/second": page("/y"), "/y": page(), "/third": page()}
    with serving({"/": page("/x"), **pages}) as site:
        crawl_one("Idle", site.root, {"FRONTRANK_POLICY": "fica"})
        assert site.urls() == ["/", "/x", "/second", "/y", "/third"]


def test_a_redirect_to_a_known_page_ends_there() -> None:
    pages = {
        "/": page("/to-a", "/a", "/loop"),
        "/to-a": (301, {"Location": "/a"}, ""),
        "/a": page("/b"),
        "/b": page(),
        "/loop": (302, {"Location": "/loop"}, ""),
    }
    with serving(pages) as site:
        crawled = crawl_one("Follow", site.root + "/")
        assert sorted(site.urls()) == ["/", "/a", "/b", "/loop", "/to-a"]
    assert crawled.stats["frontrank/leased"] == 0 and crawled.stats["dupefilter/filtered"] == 2


# Politeness -------------------------------------------------------------------------------------------------------------------
def test_a_delay_is_kept_for_each_host_and_no_time_is_lost_beyond_it() -> None:
    pages = {"http://one.test/": page(*(f"http://{host}.test/{i}" for i in range(8) for host in ("one", "two")))}
    with serving({**pages, **{f"/{i}": page() for i in range(8)}}) as site:
        crawl_one("Follow", "http://one.test/", {"DOWNLOAD_DELAY": 0.2}, proxy=site)
        asked = site.asked
    assert len(asked) == 17
    for host, pages_of_host in (("one", 9), ("two", 8)):
        at = [request.at for request in asked if host in request.url]
        assert len(at) == pages_of_host
        assert np.diff(at).min() > 0.15
    assert asked[-1].at - asked[0].at < 8 * 0.2 + 1.0


def test_retry_after_silences_a_host_and_only_that() -> None:
    def busy(asked: Asked) -> Any:
        return (429, {"Retry-After": "2"}, "") if asked.times == 1 else page()

    pages = {
        "http://calm.test/": page(
            "http://busy.test/0", *(f"http://{host}.test/{i}" for i in range(1, 5) for host in ("busy", "calm"))
        )
    }
    with serving({**pages, "http://busy.test/0": busy, **{f"/{i}": page() for i in range(1, 5)}}) as site:
        settings = {"DOWNLOAD_DELAY": 0.1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        crawled = crawl_one("Follow", "http://calm.test/", settings, proxy=site)
        busy_at = [asked.at for asked in site.asked if "busy" in asked.url]
        calm_at = [asked.at for asked in site.asked if "calm" in asked.url]
    assert len(busy_at) == 6 and len(calm_at) == 5
    assert busy_at[1] - busy_at[0] > 1.9
    assert calm_at[-1] < busy_at[1]
    assert crawled.stats["frontrank/leased"] == 0


def test_the_crawl_delay_of_robots_txt_is_kept() -> None:
    robots = (200, {"Content-Type": "text/plain"}, "User-agent: *\nCrawl-delay: 0.4\n")
    pages = {"/": page(*(f"/{i}" for i in range(5))), "/robots.txt": robots, **{f"/{i}": page() for i in range(5)}}
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"ROBOTSTXT_OBEY": True})
        at = [asked.at for asked in site.asked if "robots" not in asked.url]
    assert len(at) == 6
    assert np.diff(at).min() > 0.35


def test_autothrottle_sets_the_pace() -> None:
    pages = {"/": page(*(f"/{i}" for i in range(6))), **{f"/{i}": page() for i in range(6)}}
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.3})
        assert len(site.asked) == 7


# Going on where a crawl ended -------------------------------------------------------------------------------------------------
def test_after_kill_9_a_crawl_goes_on_and_fetches_again_only_what_was_in_flight(tmp_path: Path) -> None:
    web = random_web(120, 700, seed=8)
    assert web.urls is not None
    urls = web.urls

    def slowly(html: str) -> Any:
        def answer(_: Asked) -> str:
            time.sleep(0.02)
            return html

        return answer

    pages = {urls[p]: slowly(page(*(urls[q] for q in web.targets_of(p)))) for p in range(web.pages)}
    settings = {"CONCURRENT_REQUESTS": 4, "FRONTRANK_POLICY": "fpr", "JOBDIR": str(tmp_path / "job")}
    reachable = simulate(web, parse("fpr"), np.array([7])).trace.order.size
    with serving(pages) as site:
        for _ in range(2):
            before, until = len(site.asked), time.monotonic() + 30
            worker = Worker(ASYNCIO)
            worker.begin([job("Follow", urls[7], settings)], proxy=site)
            while len(site.asked) < before + 25 and time.monotonic() < until:
                time.sleep(0.005)
            worker.end()
            time.sleep(0.1)
        assert 50 <= len(site.asked) < reachable
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


def test_another_policy_for_a_directory_is_refused_with_a_sentence_unless_rescored(tmp_path: Path) -> None:
    folder = str(tmp_path / "crawl")
    with serving(SMALL) as site:
        settings = {"FRONTRANK_DIR": folder, "CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 1}
        other = {**settings, "FRONTRANK_POLICY": "fica"}
        begun, refused, taken = crawl(
            [
                job("Follow", site.root + "/", settings),
                job("Follow", site.root + "/", other),
                job("Follow", site.root + "/", {**other, "CLOSESPIDER_PAGECOUNT": 0, "FRONTRANK_RESCORE": True}),
            ]
        )
        assert sorted(site.urls()) == ["/", "/a", "/b", "/c", "/d"]
    assert not begun.error
    assert "FRONTRANK_RESCORE = True" in refused.error and "bfs" in refused.error and "fica" in refused.error
    assert not taken.error and taken.stats["frontrank/policy"] == "fica"


# Wrong settings ---------------------------------------------------------------------------------------------------------------
def test_a_wrong_policy_ends_the_crawl_with_a_sentence_before_it_begins() -> None:
    with serving(SMALL) as site:
        (crawled,) = crawl([job("Follow", site.root + "/", {"FRONTRANK_POLICY": "ficca"})])
        assert not site.asked
    assert "did you mean 'fica'" in crawled.error


def test_the_scheduler_without_its_middlewares_says_what_to_set() -> None:
    settings = {"ADDONS": {}, "SCHEDULER": "frontrank.fetching.addon.Scheduler"}
    with serving(SMALL) as site:
        (crawled,) = crawl([job("Follow", site.root + "/", settings)])
        assert not site.asked
    assert 'ADDONS = {"frontrank.fetching.addon.Addon": 500}' in crawled.error


def test_a_scheduler_of_the_project_itself_stays() -> None:
    with serving(SMALL) as site:
        crawled = crawl_one("Follow", site.root + "/", {"SCHEDULER": "scrapy.core.scheduler.Scheduler"})
    assert "frontrank/policy" not in crawled.stats and crawled.stats["finish_reason"] == "finished"


def test_a_disk_that_is_full_ends_the_crawl_with_a_sentence(tmp_path: Path) -> None:
    pages = {f"/{i}": page(*(f"/{i + 1}?{j}" for j in range(30)), f"/{i + 1}") for i in range(2000)}
    worker = Worker(ASYNCIO)
    with serving(pages) as site:
        worker.begin([job("Follow", site.root + "/0", {"FRONTRANK_DIR": str(tmp_path / "crawl")})], largest_file=400_000)
        (crawled,) = worker.results()
    worker.end()
    assert crawled.stats["finish_reason"] == "frontrank_error"
    assert "the trace cannot be written" in crawled.log
