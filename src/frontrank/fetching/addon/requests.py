"""Where the requests of a Scrapy crawl are while they wait: in memory, or packed beside their page in the crawl's directory.

A packed request is a pickle of what differs from a plain GET to the spider's parse; one that differs in nothing takes no
room at all. As in Scrapy's own disk queues, callbacks are kept by name, so they must be methods of the spider. A request
that cannot be packed stays in memory, and is lost with the process: its page then fails, and is not fetched as something else.
"""

from __future__ import annotations

import logging
import pickle
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.statscollectors import StatsCollector

    from frontrank.crawl.crawl import Crawl

logger = logging.getLogger(__name__)

LOST = b"lost"  # the payload of a request that lives in memory only
PLAIN = Request("http://plain.invalid/").to_dict()


def pack(request: Request, spider: Spider) -> bytes:
    """Empty for a plain request. Raises one of CANNOT_PACK if a part of it is not for the disk."""
    parts = {name: value for name, value in request.to_dict(spider=spider).items() if value != PLAIN.get(name)}
    del parts["url"]
    return pickle.dumps(parts, protocol=5) if parts else b""


def unpack(url: str, payload: bytes, spider: Spider) -> Request:
    parts: dict[str, Any] = pickle.loads(payload) if payload else {}
    return request_from_dict({"url": url, **parts}, spider=spider)


CANNOT_PACK = (ValueError, TypeError, AttributeError, RecursionError, pickle.PicklingError)


class Requests:
    """The requests of waiting pages. ``durable``: they live in the crawl's directory."""

    def __init__(self, crawl: Crawl, spider: Spider, stats: StatsCollector, durable: bool, debug: bool) -> None:
        self.crawl, self.spider, self.stats = crawl, spider, stats
        self.durable, self.debug = durable, debug
        self.held: dict[int, Request] = {}

    def put(self, page: int, request: Request) -> None:
        where = "memory"
        if not self.durable:
            self.held[page] = request
        else:
            try:
                payload = pack(request, self.spider)
                where = "disk"
            except CANNOT_PACK as error:
                self._refused(request, error)
                self.held[page] = request
                payload = LOST
            if payload or self.crawl.attached(page) is not None:
                self.crawl.attach(page, payload)
        self.stats.inc_value(f"scheduler/enqueued/{where}")
        self.stats.inc_value("scheduler/enqueued")

    def take(self, page: int) -> Request | None:
        """The request of a page that was taken; None if it was in the memory of an earlier process."""
        request = self.held.pop(page, None)
        if request is not None:
            self.stats.inc_value("scheduler/dequeued/memory")
        else:
            payload = self.crawl.attached(page) or b""
            if payload == LOST:
                return None
            request = unpack(self.crawl.url(page), payload, self.spider)
            self.stats.inc_value("scheduler/dequeued/disk")
        self.stats.inc_value("scheduler/dequeued")
        return request

    def _refused(self, request: Request, error: Exception) -> None:
        self.stats.inc_value("scheduler/unserializable")
        if self.debug:
            logger.warning(
                "Unable to serialize request: %(request)s - reason: %(reason)s - it is kept in memory, and lost with this "
                "process - no more unserializable requests will be logged (stats being collected)",
                {"request": request, "reason": error},
                extra={"spider": self.spider},
            )
            self.debug = False
