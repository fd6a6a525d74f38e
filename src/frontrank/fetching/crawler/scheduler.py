"""The scheduler of ``frontrank crawl``: the next request is the next page of the Crawl.

A waiting page is a number in the frontier, never a Request. Politeness is the frontier's alone: nothing waits inside
Scrapy's downloader.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from scrapy import Request

from frontrank.fetching.scrapy_engine import PAGE, CrawlScheduler

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from frontrank.errors import FrontrankError
    from frontrank.fetching.crawler.spider import PageSpider


class Scheduler(CrawlScheduler):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        spider: Any = crawler.spider
        self.spider: PageSpider = spider
        self.job = self.spider.job
        self.crawl = self.job.crawl
        self.returned: list[Request] = []  # what Scrapy itself wants to send again

    def open(self, spider: Spider) -> None:
        self.job.nudge = self.engine.ask

    def close(self, reason: str) -> None:
        self.job.nudge = lambda: None
        self.engine.forget()

    def stop(self, error: FrontrankError) -> None:
        self.job.fail(error)

    def has_pending_requests(self) -> bool:
        with self.or_stop:
            return bool(self.returned) or self.job.goes_on()
        return False

    def enqueue_request(self, request: Request) -> bool:
        self.returned.append(request)
        return True

    def next_request(self) -> Request | None:
        if self.returned:
            return self.returned.pop(0)
        with self.or_stop:
            return self._next()
        return None

    def _next(self) -> Request | None:
        while self.job.may_take():
            wait = self.job.wait_s()
            if wait > 0:
                if wait < inf:
                    self.engine.ask_again(wait)
                break
            pages = self.crawl.take_pages(1)
            if not pages:
                self.ask_when_ready()
                break
            self.job.took()
            request = self._request(pages[0])
            if request is not None:
                return request
        return None

    def _request(self, page: int) -> Request | None:
        url = self.crawl.url(page)
        meta = {PAGE: page, "verbatim_url": True}
        try:
            return Request(url, self.spider.arrived, errback=self.spider.lost, meta=meta, dont_filter=True)
        except ValueError:
            self.spider.failed(page, url, "not a URL", retry=False)
            return None
