"""What is between Scrapy's engine and a Crawl, whatever requests are.

    ScrapyEngine      wakes it, has it ask again, closes it: only here names are used that are not public in Scrapy
    OrStop            a crawl that cannot continue (the disk is full, say) ends with its reason, once
    CrawlScheduler    the scheduler's clock: the engine asks again at the moment when a page may go

Scrapy's engine asks for the next request whenever a download has ended, and every 5 s. A page that politeness holds back is
due in between: without an alarm of our own those seconds are lost.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import CallLaterOnce

from frontrank.errors import FrontrankError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import TracebackType
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from frontrank.crawl.crawl import Crawl

PAGE = "frontrank_page"  # the key in request.meta: which page was taken for this request
SOON_S = 0.001
LOOK_S = 1.0  # the longest wait for a moment: an operator may have changed it


class ScrapyEngine:
    """Scrapy's engine, as far as a scheduler needs more of it than its public interface offers."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._call: CallLaterOnce[None] | None = None
        self._call_at = 0.0
        self._closing: CallLaterOnce[None] | None = None

    @property
    def _slot(self) -> Any:
        engine: Any = self.crawler.engine
        return engine._slot if hasattr(engine, "_slot") else engine.slot

    def in_progress(self) -> Collection[Request]:
        """Requests that the scheduler gave out and that are not finished: downloaded, parsed, the results passed on."""
        slot = self._slot
        requests: Collection[Request] = slot.inprogress if slot is not None else ()
        return requests

    # Asking for the next request --------------------------------------------------------------------------------------
    def ask(self) -> None:
        """Have next_request called as soon as the engine has time for it."""
        if self._slot is not None:
            self._slot.nextcall.schedule()

    def ask_again(self, after_s: float) -> None:
        """Have next_request called so many seconds from now, if no earlier call is due."""
        after_s = max(after_s, SOON_S)
        at = monotonic() + after_s
        if self._call is not None and self._call_at <= at + SOON_S:
            return
        self.forget()
        self._call, self._call_at = CallLaterOnce(self._ring), at
        self._call.schedule(after_s)

    def _ring(self) -> None:
        self._call = None
        self.ask()

    def forget(self) -> None:
        """Drop the call that is due."""
        if self._call is not None:
            self._call.cancel()
            self._call = None

    # The end ----------------------------------------------------------------------------------------------------------
    def close_spider(self, reason: str) -> None:
        """Close it, once, as soon as the engine is done with what it does now: it may be in the middle of asking us."""
        if not self.closing:
            self._closing = CallLaterOnce(self._close, reason)
            self._closing.schedule()

    @property
    def closing(self) -> bool:
        return self._closing is not None

    def _close(self, reason: str) -> None:
        engine: Any = self.crawler.engine
        if self._slot is None:
            return  # something else has closed it
        if hasattr(engine, "close_spider_async"):  # Scrapy 2.14
            deferred_from_coro(engine.close_spider_async(reason=reason))
        else:
            engine.close_spider(self.crawler.spider, reason)

    def fail_at_the_end(self) -> None:
        """Have the process end with a code other than 0. Scrapy's commands look for crawlers that never had a spider."""
        self.crawler.signals.connect(self._lose_spider, signals.engine_stopped)

    def _lose_spider(self) -> None:
        self.crawler.spider = None

    # The downloader's own pace ----------------------------------------------------------------------------------------
    def slow_down(self, request: Request, delay_s: float) -> None:
        """The downloader, too, waits so long between requests to this host."""
        slot = self._download_slot(request)
        if slot is not None:
            slot.delay = max(slot.delay, delay_s)

    def delay_of(self, request: Request) -> float:
        slot = self._download_slot(request)
        return 0.0 if slot is None else float(slot.delay)

    def _download_slot(self, request: Request) -> Any:
        engine: Any = self.crawler.engine
        return engine.downloader.slots.get(engine.downloader.get_slot_key(request))


class OrStop:
    """with OrStop(stop): an error that keeps the crawl from being stored stops it with a reason, without a traceback."""

    def __init__(self, stop: Callable[[FrontrankError], None]) -> None:
        self.stop = stop

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if isinstance(error, OSError):
            error = StorageError(f"the crawl cannot be stored ({error.strerror or error}); fix this, then resume it")
        if isinstance(error, FrontrankError):
            self.stop(error)
            return True
        return False


class CrawlScheduler(BaseScheduler):
    """Scrapy's scheduler interface for a Crawl; what requests are, and what becomes of pages, is for ``Scheduler`` to say."""

    crawl: Crawl

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.engine = ScrapyEngine(crawler)
        self.or_stop = OrStop(self.stop)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def stop(self, error: FrontrankError) -> None:
        """The crawl cannot continue."""
        raise NotImplementedError

    def ask_when_ready(self) -> None:
        """Nothing may be taken now: have the engine ask again when that may change, by time alone or by an operator."""
        at = self.crawl.next_at()
        if at is not None:
            self.engine.ask_again(min(at - self.crawl.inspect.clock(), LOOK_S))
