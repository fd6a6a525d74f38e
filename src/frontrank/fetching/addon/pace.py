"""How often a host may be asked, as a Scrapy project and the hosts themselves say: the frontier gets to know it.

DOWNLOAD_SLOTS           delay and concurrency of some hosts
robots.txt               its Crawl-delay, if it is longer than the project's delay (Scrapy 2.18)
429, 503, Retry-After    the host rests
AutoThrottle             the delay that it arrives at
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from frontrank.fetching.retry_after import rest_s
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.addon.scrapy_engine import OrStop, ScrapyEngine

MIN_CHANGE = 0.1  # share of a delay: a smaller change is not passed on, since each is an event of the crawl


class HostPace:
    """The pace of the hosts of one crawl."""

    def __init__(self, crawler: Crawler, crawl: Crawl, engine: ScrapyEngine, or_stop: OrStop) -> None:
        self.settings, self.crawl, self.engine, self.or_stop = crawler.settings, crawl, engine, or_stop
        self.is_throttled = self.settings.getbool("AUTOTHROTTLE_ENABLED")
        self._delays: dict[str, float] = {}  # by AutoThrottle
        for host, slot in self.settings.getdict("DOWNLOAD_SLOTS").items():
            crawl.control.limit_host(host, delay_s=slot.get("delay"), concurrency=slot.get("concurrency"))
        if hasattr(signals, "robots_parsed"):  # Scrapy 2.18
            crawler.signals.connect(self._follow_robots, signals.robots_parsed)

    def rest(self, request: Request, response: Response) -> None:
        """Leave a host alone for as long as it asks."""
        pause = self.crawl.state.politeness.pause(request.meta.get("retry_times", 0) + 1)
        seconds = rest_s(response.status, response.headers.get("Retry-After"), pause)
        if seconds > 0:
            self.crawl.control.block(host_of(request.url), seconds)

    def _follow_robots(self, robotparser: RobotParser, request: Request) -> None:
        agent = self.settings["ROBOTSTXT_USER_AGENT"] or request.headers.get("User-Agent") or self.settings["USER_AGENT"]
        delay = robotparser.crawl_delay(agent)
        if delay is not None and delay > self.settings.getfloat("DOWNLOAD_DELAY"):
            with self.or_stop:
                self.crawl.control.limit_host(host_of(request.url), delay_s=delay)
            self.engine.slow_down(request, delay)  # for requests to this host that were taken before

    def follow_throttle(self, request: Request) -> None:
        """Pass on the delay of AutoThrottle for the host of a request, if it has changed."""
        if not self.is_throttled:
            return
        host, delay = host_of(request.url), self.engine.delay_of(request)
        before = self._delays.get(host, 0.0)
        if abs(delay - before) > MIN_CHANGE * before:
            self._delays[host] = delay
            self.crawl.control.limit_host(host, delay_s=delay)
