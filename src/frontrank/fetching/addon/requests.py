"""Where the requests of a Scrapy crawl are while they wait: in memory, or packed beside their page in the crawl's directory.

A request that cannot be packed (``packing``) stays in memory, and is lost with the process: its page then fails, and is not
fetched as something else. A pickle that this user did not sign ends the crawl before it is read, unless FRONTRANK_TRUST says
that the directory is trusted; then all of them are signed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from frontrank.errors import InputError, NotTrusted
from frontrank.fetching.addon.packing import CANNOT_PACK, LOST, Damaged, is_ours, pack, pickle_in, signed, unpack

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.statscollectors import StatsCollector

    from frontrank.crawl.crawl import Crawl

logger = logging.getLogger(__name__)

SIGNED_AT_ONCE = 10_000  # pages


class Missing(Exception):
    """There is no request of a page any more, and why."""


class Requests:
    """The requests of waiting pages. ``durable``: stored in the directory of the crawl; ``trust``: pickles in it are read."""

    def __init__(
        self, crawl: Crawl, spider: Spider, stats: StatsCollector, durable: bool, debug: bool, *, trust: bool = False
    ) -> None:
        self.crawl, self.spider, self.stats = crawl, spider, stats
        self.durable, self.debug, self.trust = durable, debug, trust
        self.held: dict[int, Request] = {}
        self._warned = False  # that there can be no key

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
            if payload or self.crawl.attached([page]):
                self.crawl.attach({page: payload})
        self.stats.inc_value(f"scheduler/enqueued/{where}")
        self.stats.inc_value("scheduler/enqueued")

    def take(self, page: int) -> Request:
        """The request of a page that was taken; Missing if there is none any more."""
        request = self.held.pop(page, None)
        if request is not None:
            self.stats.inc_value("scheduler/dequeued/memory")
        else:
            request = self._stored(page)
            self.stats.inc_value("scheduler/dequeued/disk")
        self.stats.inc_value("scheduler/dequeued")
        return request

    def _stored(self, page: int) -> Request:
        payload = self.crawl.attached([page]).get(page, b"")
        if payload == LOST:
            raise Missing("its request was in the memory of an earlier process")
        url = self.crawl.url(page)
        if not (self.trust or is_ours(payload)):
            raise NotTrusted(
                f"the stored request of {url} is a pickle that was not signed with your key: reading it may run code; "
                f"if you trust this directory, set FRONTRANK_TRUST = True for one run"
            )
        try:
            return unpack(url, payload, self.spider)
        except Damaged as error:
            logger.warning("the stored request of %s cannot be read (%s)", url, error, extra={"spider": self.spider})
            raise Missing("its stored request is damaged") from None

    def sign_all(self) -> None:
        """Sign every pickle of a trusted directory, so that it needs to be trusted once. No pickle is read."""
        try:
            for first in range(0, self.crawl.inspect.known, SIGNED_AT_ONCE):
                pages = range(first, min(first + SIGNED_AT_ONCE, self.crawl.inspect.known))
                payloads = self.crawl.attached(pages).items()
                unsigned = {page: pickle_in(payload) for page, payload in payloads if not is_ours(payload)}
                self.crawl.attach({page: signed(body) for page, body in unsigned.items()})
        except InputError as error:  # there is no key: it is trusted for this run
            self._warn(error)
        self.crawl.commit()

    def _refused(self, request: Request, error: Exception) -> None:
        self.stats.inc_value("scheduler/unserializable")
        if isinstance(error, InputError):
            self._warn(error)
        elif self.debug:
            logger.warning(
                "Unable to serialize request: %(request)s - reason: %(reason)s - it is kept in memory, and lost with this "
                "process - no more unserializable requests will be logged (stats being collected)",
                {"request": request, "reason": error},
                extra={"spider": self.spider},
            )
            self.debug = False

    def _warn(self, error: InputError) -> None:
        if not self._warned:
            logger.warning("requests that JSON cannot hold are not stored: %s", error, extra={"spider": self.spider})
            self._warned = True
