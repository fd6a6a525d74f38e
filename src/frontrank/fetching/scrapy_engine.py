"""The little that is needed of Scrapy's engine and not public there: the only file that knows such names."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import CallLaterOnce

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy import Request
    from scrapy.crawler import Crawler


class Engine:
    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._call: CallLaterOnce[None] | None = None
        self._call_at = 0.0

    @property
    def _slot(self) -> Any:
        engine: Any = self.crawler.engine
        return engine._slot if hasattr(engine, "_slot") else engine.slot

    def in_progress(self) -> Collection[Request]:
        """Requests that the scheduler gave out and that are not through: downloaded, parsed, what came of it passed on."""
        slot = self._slot
        requests: Collection[Request] = slot.inprogress if slot is not None else ()
        return requests

    def ask_again(self, after_s: float) -> None:
        """Have next_request called so many seconds from now, if no earlier call is due."""
        at = monotonic() + after_s
        if self._call is not None and self._call_at <= at + 0.001:
            return
        self.forget()
        self._call, self._call_at = CallLaterOnce(self._ask), at
        self._call.schedule(after_s)

    def _ask(self) -> None:
        self._call = None
        if self._slot is not None:
            self._slot.nextcall.schedule()

    def forget(self) -> None:
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def close_spider(self, reason: str) -> None:
        engine: Any = self.crawler.engine
        if hasattr(engine, "close_spider_async"):  # Scrapy 2.14
            deferred_from_coro(engine.close_spider_async(reason=reason))
        else:
            engine.close_spider(self.crawler.spider, reason)

    def slow_down(self, request: Request, delay_s: float) -> None:
        """The downloader, too, waits so long between requests to this host."""
        slot = self._download_slot(request)
        if slot is not None:
            slot.delay = max(slot.delay, delay_s)

    def delay_of(self, request: Request) -> float:
        slot = self._download_slot(request)
        return 0.0 if slot is None else float(slot.delay)

    def _download_slot(self, request: Request) -> Any:
        downloader: Any = self.crawler.engine.downloader
        return downloader.slots.get(downloader.get_slot_key(request))
