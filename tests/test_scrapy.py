"""The Scrapy integration: real crawls, in processes of their own, of a server on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank.crawl.events import Retried
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from tests.patience import PATIENCE_S
from tests.scrapy_crawls import ASYNCIO, SELECT, SMALL, crawl, crawl_one, end_workers, job, why_failed
from tests.scrapy_project_server import Asked, Pages, page, serving
from tests.webs import random_web


@pytest.fixture(scope="module", autouse=True)
def _end_workers() -> Iterator[None]:
    yield
    end_workers()


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
    unlinked = np.flatnonzero(np.bincount(web.targets, minlength=web.pages) == 0).tolist()
    seed = max(unlinked, key=lambda p: web.targets_of(p).size)
    policy = "similarity:topic=computer"
    orders = {spec: [urls[p] for p in simulate(web, parse(spec), np.array([seed])).trace.order] for spec in ("bfs", policy)}
    assert orders[policy] != orders["bfs"]
    with serving(pages) as site:
        crawled = crawl_one("Rules", urls[seed], {"CONCURRENT_REQUESTS": 1, "FRONTRANK_POLICY": policy}, proxy=site)
        assert site.urls() == orders[policy]
    assert any("COMPUTER" in text for _, text in crawled.noted)


def test_the_texts_of_long_pages_reach_the_ordering_too() -> None:
    long = "<p>another word</p>" * 4000  # too long to be parsed while all else waits
    pages = {
        "/": page("/plain", "/about"),
        "/plain": page("/plain-target", text=long),
        "/about": page("/about-target", text=long + " computer" * 10),
        **{f"/{name}-target": page() for name in ("plain", "about")},
    }
    policy = "similarity:topic=computer"
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"CONCURRENT_REQUESTS": 1, "FRONTRANK_POLICY": policy})
        assert site.urls() == ["/", "/plain", "/about", "/about-target", "/plain-target"]


@pytest.mark.parametrize("scorer", ["words", "tests.scorers:picky"])
def test_scores_of_pages_reach_the_ordering_and_one_that_fails_comes_last(scorer: str) -> None:
    pages = {
        "/": page("/poor", "/rich", text="a page of some words"),
        "/poor": page("/poor-target", text="raise"),
        "/rich": page("/rich-target", text=" ".join(f"word{i}" for i in range(50))),
        **{f"/{name}-target": page() for name in ("poor", "rich")},
    }
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"CONCURRENT_REQUESTS": 1, "FRONTRANK_POLICY": f"quality:scorer={scorer}"})
        assert site.urls() == ["/", "/poor", "/rich", "/rich-target", "/poor-target"]


def test_start_may_wait_for_what_it_gave_before() -> None:
    pages = {f"/{i}": page(f"/{i}/x") for i in range(4)} | {f"/{i}/x": page() for i in range(4)}
    with serving(pages) as site:
        urls = " ".join(f"{site.root}/{i}" for i in range(4))
        crawl_one("LazyStart", urls, {"CONCURRENT_REQUESTS": 1})
        assert site.urls() == ["/0", "/0/x", "/1", "/1/x", "/2", "/2/x", "/3", "/3/x"]


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
def outcomes(over: threading.Event) -> dict[str, Any]:
    def never(_: Asked) -> str:
        over.wait(PATIENCE_S)
        return page()

    return {
        "/": page(),
        "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /forbidden\n"),
        "/timeout": never,
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
    over = threading.Event()
    with serving(outcomes(over)) as site:
        crawled = crawl_one("Outcomes", site.root + "/", settings, reactor=SELECT if where == "select" else ASYNCIO)
        asked = site.urls()
        over.set()
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
        assert why_failed(tmp_path / "crawl", Retried.kind)["/flaky"] == "http 503"


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


def test_slow_pipelines_do_not_hold_up_the_next_page() -> None:
    pages = {f"/{i}": page(f"/{i + 1}") for i in range(8)}
    with serving({**pages, "/8": page()}) as site:
        settings = {"CONCURRENT_REQUESTS": 1, "PAGES": 9, "ITEM_PIPELINES": {"tests.scrapy_project.Slow": 300}}
        crawled = crawl_one("Items", site.root + "/0", settings)
        assert len(site.asked) == 9
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
    assert crawled.stats["offsite/filtered"] == 20 and crawled.stats["frontrank/known"] == 21


def test_requests_from_an_idle_handler_are_seeds() -> None:
    pages = {"": page("/x"), "/x": page(), "/second": page("/y"), "/y": page(), "/third": page()}
    with serving({"/": page("/x"), **pages}) as site:
        crawl_one("Idle", site.root, {"FRONTRANK_POLICY": "fica"})
        assert site.urls() == ["/", "/x", "/second", "/y", "/third"]


def test_a_redirect_to_a_known_page_ends_there() -> None:
    pages: Pages = {
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


# Priorities -------------------------------------------------------------------------------------------------------------------
PRIORITIES = {"/": page(), "/login": page("/a"), "/a": page(), **{f"/{i}": page() for i in range(8)}}
BY_PRIORITY = ["/", "/7", "/6", "/login", "/0", "/1", "/2", "/3", "/a", "/5", "/4"]  # 20, 10, 10, then bfs, then -1, -2


def test_priorities_go_before_the_ordering_and_negative_ones_after_it() -> None:
    with serving(PRIORITIES) as site:
        crawl_one("Priorities", site.root + "/", {"CONCURRENT_REQUESTS": 1})
        assert site.urls() == BY_PRIORITY


def test_priorities_survive_a_restart(tmp_path: Path) -> None:
    settings = {"CONCURRENT_REQUESTS": 1, "FRONTRANK_DIR": str(tmp_path / "crawl")}
    with serving(PRIORITIES) as site:
        for budget in (1, 3, 7, 0):
            crawl_one("Priorities", site.root + "/", {**settings, "FRONTRANK_BUDGET": budget})
            assert len(site.asked) == (budget or len(BY_PRIORITY))
        assert site.urls() == BY_PRIORITY


def test_depth_redirects_and_retries_are_no_priorities() -> None:
    pages: Pages = {
        "/": page("/to", "/a", "/b"),
        "/to": (302, {"Location": "/target"}, ""),
        "/a": page("/c"),
        **{name: page() for name in ("/b", "/c", "/target")},
    }
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"CONCURRENT_REQUESTS": 1, "DEPTH_PRIORITY": -5})
        assert site.urls() == ["/", "/to", "/a", "/b", "/target", "/c"]
    with serving(pages) as site:
        crawl_one("Follow", site.root + "/", {"CONCURRENT_REQUESTS": 1, "REDIRECT_PRIORITY_ADJUST": 2})
        assert site.urls() == ["/", "/to", "/target", "/a", "/b", "/c"]
