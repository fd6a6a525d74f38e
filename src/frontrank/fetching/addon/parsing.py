"""Titles and texts of pages, for orderings that read them: what fetching/parsing.py is for an event loop, for a reactor.

Scrapy runs on reactors without an event loop, too, so threads wait for the worker processes here. What is asked of them, and
what follows if they take too long, is the same (pages/bounded.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from frontrank.pages import bounded
from frontrank.pages.bounded import WORKERS
from frontrank.system.workers import CPU_S, Workers

if TYPE_CHECKING:
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
        """End what is under way: those who wait are told."""
        self.workers.close()
        if self._threads.started:
            self._threads.stop()
