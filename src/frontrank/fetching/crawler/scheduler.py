"""The scheduler of ``frontrank crawl``: the next request is the next page of the Crawl.

A waiting page is a number in the frontier, never a Request. Politeness is the frontier's alone: nothing waits inside
Scrapy's downloader. If no page may go now, the engine is asked again at the moment when one may, so that nothing is lost to
the engine's own heartbeat of 5 s.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler

from frontrank.errors import FrontrankError

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from frontrank.fetching.crawler.spider import PageSpider

PAGE = "frontrank_page"  # in request.meta: the number of the page
SOON_S = 0.001


class Scheduler(BaseScheduler):
    def __init__(self, crawler: Crawler) -> None:
        spider: Any = crawler.spider
        self.crawler = crawler
        self.spider: PageSpider = spider
        self.job = self.spider.job
        self.returned: list[Request] = []  # what Scrapy itself wants to send again
        self.alarm: asyncio.TimerHandle | None = None
        self.alarm_at = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        self.job.nudge = self._ask

    def close(self, reason: str) -> None:
        self.job.nudge = lambda: None
        self._silence()

    def has_pending_requests(self) -> bool:
        try:
            return bool(self.returned) or self.job.goes_on()
        except FrontrankError as error:
            self.job.fail(error)
            return False

    def enqueue_request(self, request: Request) -> bool:
        self.returned.append(request)
        return True

    def next_request(self) -> Request | None:
        if self.returned:
            return self.returned.pop(0)
        try:
            return self._next()
        except FrontrankError as error:
            self.job.fail(error)
            return None

    def _next(self) -> Request | None:
        crawl = self.job.crawl
        while self.job.may_take():
            pages = crawl.take_pages(1)
            if not pages:
                self._wake_when_ready()
                break
            request = self._request(pages[0])
            if request is not None:
                return request
        return None

    def _request(self, page: int) -> Request | None:
        url = self.job.crawl.url(page)
        meta = {PAGE: page, "verbatim_url": True}
        try:
            return Request(url, self.spider.arrived, errback=self.spider.lost, meta=meta, dont_filter=True)
        except ValueError:
            self.spider.failed(page, url, "not a URL", retry=False)
            return None

    def _wake_when_ready(self) -> None:
        crawl = self.job.crawl
        at = crawl.next_at()
        if at is None or (self.alarm is not None and self.alarm_at <= at):
            return
        self._silence()
        self.alarm_at = at
        self.alarm = asyncio.get_running_loop().call_later(max(SOON_S, at - crawl.clock()), self._ring)

    def _ring(self) -> None:
        self.alarm = None
        self._ask()

    def _silence(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None

    def _ask(self) -> None:
        """Have the engine ask for the next request."""
        engine: Any = self.crawler.engine
        slot = engine._slot if hasattr(engine, "_slot") else engine.slot  # the one name of Scrapy's that is not public
        if slot is not None:
            slot.nextcall.schedule()
