"""The fetch loop: takes pages from a source, fetches them side by side, and has the source settle them.

    FetchLoop(source, requests).run()       until nothing is in flight and the source has no more work

A ``PageSource`` is a crawl in this process (``crawler.source``) or a crawl that a service keeps (``service.page_source``). It
decides which pages may be fetched, in which order and how many; the loop does not. What a failure means for the host of a page
is decided here, by ``HostTrouble``, and passed on with it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from frontrank.errors import InputError
from frontrank.fetching.copies import Copy
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.fetcher import FetchResult
from frontrank.fetching.fetchers import FetcherDied
from frontrank.fetching.host_trouble import HostTrouble, Verdict
from frontrank.fetching.pacing import MAX_WAIT_S, NotYet
from frontrank.fetching.requests import Requests
from frontrank.system.workers import Closed

MAX_DEATHS = 3  # of fetchers that had the same page: then it may be the page that kills them

H = TypeVar("H")


@dataclass(eq=False, slots=True)
class FetchTask(Generic[H]):
    """A page that was taken from its source, to be fetched and then settled there."""

    handle: H  # the page, as its source knows it
    url: str
    queue: str  # what it shares its pace with: its host, or a group of hosts
    before: Copy | None = None  # the copy from an earlier visit
    max_wait_s: float = MAX_WAIT_S  # if its host rests for longer, it is given back


class PageSource(Protocol[H]):
    """Where pages come from. A page that was taken is settled once, or given back."""

    trouble: HostTrouble
    advice: str  # ends the sentence about a proxy that cannot be reached

    @property
    def error(self) -> BaseException | None:
        """Why the loop cannot continue; pages in flight are not waited for then."""

    async def take(self) -> tuple[Sequence[FetchTask[H]], float]:
        """Pages that may be fetched now; if there are none, in how many seconds to ask again."""

    def has_work(self) -> bool:
        """Whether pages may be taken, now or later, while none is in flight."""

    async def admit(self, task: FetchTask[H]) -> bool:
        """Whether a page that was taken may be requested; if not, it was given back."""

    async def settle(self, task: FetchTask[H], result: FetchResult, verdict: Verdict) -> None:
        """A page arrived, or failed, or waits again; its host rests, if that is the verdict."""

    async def give_back(self, task: FetchTask[H], rest_s: float = 0.0) -> None:
        """A page waits again as if it had not been taken; its host rests for ``rest_s``."""

    def fail(self, error: BaseException) -> None:
        """Something went wrong: the loop is to end."""


class FetchLoop(Generic[H]):
    def __init__(self, source: PageSource[H], requests: Requests) -> None:
        self.source, self.requests = source, requests
        self.in_flight: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._abandoned = False
        self._deaths: Counter[str] = Counter()  # by URL

    def wake(self) -> None:
        """Have the loop ask its source for pages."""
        self._wake.set()

    def abandon(self) -> None:
        """End without waiting for the pages in flight."""
        self._abandoned = True
        self._wake.set()

    async def run(self) -> None:
        source = self.source
        try:
            while not self._abandoned:
                self._wake.clear()
                wait_s = await self._start_tasks()
                if source.error is not None or not (self.in_flight or source.has_work()):
                    break
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await self._wake.wait()
        except Exception as error:
            source.fail(error)
        finally:
            for task in self.in_flight:
                task.cancel()
            await asyncio.gather(*self.in_flight, return_exceptions=True)

    async def _start_tasks(self) -> float:
        """Start fetching all pages that may be fetched now; returns in how many seconds to ask for more."""
        while True:
            tasks, wait_s = await self.source.take()
            if not tasks:
                return wait_s
            for task in tasks:
                running = asyncio.ensure_future(self.handle(task))
                self.in_flight.add(running)
                running.add_done_callback(self._end_task)

    def _end_task(self, running: asyncio.Task[None]) -> None:
        self.in_flight.discard(running)
        self._wake.set()
        if not running.cancelled() and (error := running.exception()) is not None:
            self.source.fail(error)

    async def handle(self, task: FetchTask[H]) -> None:
        """Fetch one page, and have it settled or given back."""
        source = self.source
        if not await source.admit(task):
            return
        requested_at = source.trouble.clock()
        try:
            result = await self._fetch(task)
        except NotYet as error:
            await source.give_back(task, error.seconds)
        except (Closed, FetcherDied):
            await source.give_back(task)
        else:
            verdict = source.trouble.judge(task.queue, task.url, result, requested_at)
            if verdict.fatal:
                await source.give_back(task)
                raise InputError(verdict.fatal + source.advice)
            await source.settle(task, result, verdict)

    async def _fetch(self, task: FetchTask[H]) -> FetchResult:
        try:
            result = await self.requests.page(task.url, task.before, task.max_wait_s)
        except FetcherDied:
            self._deaths[task.url] += 1
            if self._deaths[task.url] < MAX_DEATHS:
                raise
            result = FetchResult(NotFetched("fetcher died", True))
        self._deaths.pop(task.url, None)
        return result
