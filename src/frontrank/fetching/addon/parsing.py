"""Titles and texts of pages, for orderings that read them: what fetching/parsing.py is for an event loop, for a reactor.

Scrapy runs on reactors without an event loop, too, so threads wait for the worker processes here. What is asked of them, and
what follows if they take too long, is the same (pages/bounded.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.http import HtmlResponse
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from frontrank.pages import bounded, html
from frontrank.pages.bounded import WORKERS
from frontrank.pages.urls import host_of
from frontrank.system.workers import CPU_S, Closed, Workers

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.addon.leases import Lease
    from frontrank.pages.html import Page

T = TypeVar("T")


class ThreadedParsing:
    """The workers of one crawl."""

    def __init__(self, workers: int = WORKERS, cpu_s: float = CPU_S) -> None:
        self.workers = Workers(workers, cpu_s)
        # Not the reactor's own threads: name servers that do not answer hold these.
        self._threads = ThreadPool(0, workers, "parsing")
        self._threads.start()
        self._hosts: dict[str, tuple[DeferredLock, list[None]]] = {}

    def at_once(self, body: bytes, url: str, encoding: str | None, most_links: int, text: bool) -> Page | None:
        """The page, if it cannot take long."""
        return bounded.parse_here(body, url, encoding, most_links, text)

    async def page(self, host: str, body: bytes, url: str, encoding: str | None, most_links: int, text: bool) -> Page:
        """The page, or what could be read of it in time."""
        return await self.wait_for(host, bounded.parse_elsewhere, self.workers, body, url, encoding, most_links, text)

    async def wait_for(self, host: str, function: Callable[..., T], *given: object) -> T:
        """A function that itself waits, called in a thread; of one host one at a time."""
        lock, waiting = self._hosts.setdefault(host, (DeferredLock(), []))
        waiting.append(None)
        try:
            await maybe_deferred_to_future(lock.acquire())
            try:
                return await self._in_thread(function, *given)
            finally:
                lock.release()
        finally:
            waiting.pop()
            if not waiting:
                self._hosts.pop(host, None)

    async def _in_thread(self, function: Callable[..., T], *given: object) -> T:
        from twisted.internet import reactor

        result: Any = deferToThreadPool(reactor, self._threads, function, *given)
        value: T = await maybe_deferred_to_future(result)
        return value

    def close(self) -> None:
        """End what is under way; callers that wait for it get ``Closed``."""
        self.workers.close()
        if self._threads.started:
            self._threads.stop()


class PageReader:
    """What an ordering reads of pages: title, text, and the judgement of its scorers. Long pages are read by a process."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl, self.parsing = crawl, ThreadedParsing()

    async def read(self, lease: Lease) -> None:
        response = lease.response
        if not isinstance(response, HtmlResponse):
            return
        host, source = host_of(response.url), (response.body, response.url, response.encoding, html.MAX_LINKS, True)
        with suppress(Closed):
            page = lease.read = self.parsing.at_once(*source) or await self.parsing.page(host, *source)
            judged = (response.url, page.title, page.text)
            lease.scores = self.crawl.scorers.judge_at_once(*judged)
            if lease.scores is None:
                lease.scores = await self.parsing.wait_for(host, self.crawl.scores, *judged)

    def close(self) -> None:
        self.crawl.scorers.close()
        self.parsing.close()
