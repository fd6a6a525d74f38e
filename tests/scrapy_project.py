"""A Scrapy project of small spiders, and a process that crawls with them: python -m tests.scrapy_project REACTOR.

Each line that it reads is JSON: {jobs: [{spider, settings, args}], environment, largest_file, together}. The jobs are crawled
to their end, one after the other or together; then a line RESULTS follows, with the statistics of each and what its spider
noted, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from datetime import datetime
from typing import Any

import scrapy
from scrapy import Request, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import Deferred, gatherResults, inlineCallbacks
from twisted.internet.task import react
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

NOTED: list[list[Any]] = []  # by each job
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 1e6  # whoever relies on the engine's asking now and then waits for ever


def links(response: Response) -> list[Any]:
    return list(response.css("a"))


class Follow(scrapy.Spider):
    """Follows every link. urls: where to start, separated by spaces; number: of the job."""

    name = "follow"

    def __init__(self, urls: str = "", number: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls, self.number = urls.split(), number

    def note(self, *what: Any) -> None:
        NOTED[self.number].append(list(what))
        print("NOTED", *what, flush=True)

    def times(self, what: str) -> int:
        """How often this was noted."""
        return sum(line[0] == what for line in NOTED[self.number])

    def parse(self, response: Response, **kwargs: Any) -> Any:
        self.note("parsed", response.url)
        for link in links(response):
            yield response.follow(link, meta={"link_text": link.css("::text").get()})


class FollowAsync(Follow):
    async def start(self) -> AsyncIterator[Any]:
        for url in self.start_urls:
            yield Request(url)

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        for link in links(response):
            await nap(0.001)
            yield response.follow(link)


class FollowAwaited(Follow):
    """A coroutine that returns a list, on any reactor; start_requests() as older spiders have it."""

    def start_requests(self) -> Iterator[Request]:
        for url in self.start_urls:
            yield Request(url, dont_filter=True)

    async def start(self) -> AsyncIterator[Any]:
        for request in self.start_requests():
            yield request

    async def parse(self, response: Response, **kwargs: Any) -> list[Request]:
        await nap(0.001)
        return [response.follow(link) for link in links(response)]


def nap(seconds: float) -> Deferred[None] | asyncio.Future[None]:
    from scrapy.utils.defer import maybe_deferred_to_future
    from twisted.internet import reactor
    from twisted.internet.task import deferLater

    return maybe_deferred_to_future(deferLater(reactor, seconds, lambda: None))


class Rules(CrawlSpider):
    name = "rules"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, urls: str = "", number: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls, self.number = urls.split(), number

    def parse_page(self, response: Response) -> None:
        NOTED[self.number].append([response.url, response.meta["link_text"]])


class Outcomes(Follow):
    """Every way in which a request may end."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        ways = {name.removeprefix("on_"): getattr(self, name) for name in dir(self) if name.startswith("on_")}
        for way, callback in ways.items():
            patience = {"download_timeout": 0.5} if way == "timeout" else {}
            yield response.follow(f"/{way}", callback, errback=self.failed, meta=patience)
        yield response.follow("/unheard")
        yield response.follow("/quiet", self.on_nothing)
        yield Request("http://elsewhere.invalid/", self.on_items, errback=self.failed, meta={"proxy": None})

    def failed(self, failure: Failure) -> Any:
        self.note("failed", failure.request.url, type(failure.value).__name__)  # type: ignore[attr-defined]
        if failure.request.url.endswith("/timeout"):  # type: ignore[attr-defined]
            yield Request(failure.request.url + "?from=errback", self.on_items)  # type: ignore[attr-defined]

    def on_nothing(self, response: Response) -> None:
        self.note("nothing", response.url)

    def on_items(self, response: Response) -> Any:
        self.note("items", response.url)
        yield {"url": response.url}
        yield {"drop": True}

    def on_error(self, response: Response) -> Any:
        raise ValueError("before anything")

    def on_midway(self, response: Response) -> Any:
        yield response.follow("/after-midway", self.on_nothing)
        raise ValueError("midway")

    async def on_async_error(self, response: Response) -> Any:
        await nap(0.01)
        raise ValueError("later")

    def on_forbidden(self, response: Response) -> None:
        raise AssertionError("robots.txt forbids it")

    on_missing = on_timeout = on_broken = on_bounce = on_loop = on_offsite_bounce = on_refused = on_items
    on_flaky = on_ever_flaky = on_spoiled = on_replaced = on_answered = on_items


class Meddler:
    """A downloader middleware that answers, drops and replaces requests."""

    def process_request(self, request: Request, spider: Any = None) -> Request | Response | None:
        if request.url.endswith("/refused"):
            raise IgnoreRequest("refused by a middleware")
        if request.url.endswith("/answered"):
            return scrapy.http.HtmlResponse(request.url, body=b"<html></html>", request=request)
        if request.url.endswith("/replaced"):
            return Request(request.url + "-by-another", request.callback)
        return None

    def process_response(self, request: Request, response: Response, spider: Any = None) -> Response:
        if request.url.endswith("/spoiled"):
            raise IgnoreRequest("spoiled")
        return response


class Drops:
    def process_item(self, item: Any, spider: Any = None) -> Any:
        if "drop" in item:
            raise scrapy.exceptions.DropItem("not wanted")
        return item


class Slow:
    """Lets no item through before all pages are parsed."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Slow:
        pipeline = cls()
        pipeline.crawler = crawler
        return pipeline

    crawler: Crawler

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        spider = self.crawler.spider
        while spider.times("parsed") < self.crawler.settings.getint("PAGES"):
            await nap(0.02)
        return item


class Items(Follow):
    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}
        yield from super().parse(response)


class Posts(Follow):
    async def start(self) -> AsyncIterator[Any]:
        (url,) = self.start_urls
        for body in ("a=1", "a=2", "a=1"):
            yield Request(url, method="POST", body=body)

    def parse(self, response: Response, **kwargs: Any) -> None:
        assert response.request is not None
        self.note("posted", response.request.body.decode())


class Unfiltered(Follow):
    """The same page over and over, with and without dont_filter."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for times in range(2):
            yield Request(response.url, self.other, dont_filter=True, cb_kwargs={"way": f"unfiltered {times}"})
        for times in range(2):
            yield Request(response.url, self.other, cb_kwargs={"way": f"filtered {times}"})
            yield Request(response.url, cb_kwargs={"way": f"same callback {times}"})

    def other(self, response: Response, way: str) -> None:
        self.note(way)


class Carries(Follow):
    """Meta, cb_kwargs, headers, cookies, errbacks: what a request carries must survive a restart."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for i in range(6):
            yield Request(
                response.urljoin(f"/kept/{i}"),
                self.kept,
                method="POST",
                body=f"body {i}",
                headers={"X-Kept": str(i)},
                meta={"deep": {"list": [i]}},
                cb_kwargs={"number": i},
                errback=self.failed,
            )

        def local(response: Response) -> None:
            self.note("local", response.url)

        yield Request(response.urljoin("/local"), local)
        if self.settings.getbool("STOP_SOON"):
            raise CloseSpider("enough")

    def kept(self, response: Response, number: int) -> None:
        assert response.request is not None
        self.note("kept", number, response.meta["deep"]["list"], response.request.body.decode())

    def failed(self, failure: Failure) -> None:
        self.note("failed", failure.request.url.rsplit("/", 1)[1])  # type: ignore[attr-defined]


class Endless(Follow):
    """A callback that does not end before what it asked for is there."""

    arrived = False

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        yield response.follow("/a", self.last)
        yield response.follow("/b", self.last)
        while not self.arrived:
            await nap(0.02)
        yield response.follow("/c", self.last)

    def last(self, response: Response) -> None:
        self.note("parsed", response.url)
        self.arrived = True


class Idle(Follow):
    """Asks for one more page each time it has nothing to do."""

    rest = ["/second", "/third"]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Idle:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        if self.rest:
            self.crawler.engine.crawl(Request(self.start_urls[0] + self.rest.pop(0)))
            raise DontCloseSpider


class Copies(Follow):
    """Copies response.meta into new requests, as many spiders do."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for link in links(response):
            yield response.follow(link, meta=dict(response.meta))


class Onsite(Follow):
    allowed_domains = ["on.test"]


class LazyStart(Follow):
    """Gives no start page before the last one and its link are parsed."""

    async def start(self) -> AsyncIterator[Any]:
        for i, url in enumerate(self.start_urls):
            yield Request(url)
            while self.times("parsed") < 2 * (i + 1):
                await nap(0.02)


class Until(Follow):
    """Is closed when so many pages are parsed."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response)
        if self.times("parsed") >= self.settings.getint("STOP_AFTER"):
            raise CloseSpider("enough")


class Priorities(Follow):
    """Of the links of the first page, some have priorities."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response)
        if self.times("parsed") == 1:
            given = {4: -2, 5: -1, 6: 10, 7: 20}
            for i in range(8):
                yield response.follow(f"/{i}", priority=given.get(i, 0))
            yield response.follow("/login", priority=10)


class Everything(BaseDupeFilter):
    """Lets all through but what ends in /never."""

    def request_seen(self, request: Request) -> bool:
        return request.url.endswith("/never")

    def log(self, request: Request, spider: scrapy.Spider) -> None:
        spider.note("filtered", request.url)  # type: ignore[attr-defined]


@inlineCallbacks
def run(jobs: list[dict[str, Any]], reactor: str, together: bool) -> Generator[Deferred[Any], Any, None]:
    NOTED[:] = [[] for _ in jobs]
    results: list[Any] = []
    if together:
        results = yield gatherResults([run_one(job, number, reactor) for number, job in enumerate(jobs)])
    else:
        for number, job in enumerate(jobs):
            results.append((yield run_one(job, number, reactor)))
    print("RESULTS", json.dumps(results), flush=True)


@inlineCallbacks
def run_one(job: dict[str, Any], number: int, reactor: str) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    settings = {"TELNETCONSOLE_ENABLED": False, "TWISTED_REACTOR": reactor, **job["settings"]}
    configure_logging({"LOG_LEVEL": settings["LOG_LEVEL"]})
    runner = CrawlerRunner(settings)
    crawler = runner.create_crawler(globals()[job["spider"]])
    error = ""
    try:
        yield runner.crawl(crawler, number=number, **job["args"])
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    stats = crawler.stats.get_stats()
    kept = {name: str(value) if isinstance(value, datetime) else value for name, value in stats.items()}
    return {"stats": kept, "noted": NOTED[number], "error": error}


@inlineCallbacks
def work(reactor: str) -> Generator[Deferred[Any], Any, None]:
    while line := (yield deferToThread(sys.stdin.readline)):
        asked = json.loads(line)
        os.environ.pop("http_proxy", None)
        os.environ.update(asked["environment"])
        if asked["largest_file"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest_file"],) * 2)
        yield run(asked["jobs"], reactor, asked["together"])


def main() -> None:
    reactor = sys.argv[1]
    install_reactor(reactor)
    react(lambda _: work(reactor))


if __name__ == "__main__":
    main()
