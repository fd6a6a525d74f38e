"""Two small parts of Scrapy's machinery: which proxy requests go through, and a log without a line for each page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class ProxyMiddleware:
    """Every request, robots.txt included, goes through the proxy that was given; the environment's proxies are not used."""

    def __init__(self, proxy: str | None) -> None:
        self.proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        spider: Any = crawler.spider
        return cls(spider.job.options.proxy or None)  # not a setting: Scrapy logs these, and it may hold a password

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = self.proxy


class Silent(LogFormatter):
    """The journal has the pages; the log is for what is out of order."""

    def crawled(self, *given: Any, **named: Any) -> None:  # type: ignore[override]
        return None
