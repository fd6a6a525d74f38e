"""AsyncCrawl: a Crawl for programs of asyncio. The same verbs, awaited.

    async with await AsyncCrawl.begin("surf", "my-crawl", politeness=Politeness(delay_s=1.0)) as crawl:
        await crawl.seed(["https://example.org/"])
        async for url in crawl.pages():
            links = await fetch(url)                          # yours; several tasks may go through pages() at a time
            await crawl.fetched(url, links)

Calls run one after the other in a thread of their own, so that no commit, recovery or scorer ever holds up the event loop. A
call that is cancelled has happened whole, or not at all; pages that a cancelled ``take`` was given wait again at once. The
crawl itself is ``crawl.crawl``, safe for threads: what is quick to read may be read there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any, Self, TypeVar

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.queues import Queues
from frontrank.pages.scorers import Judged

T = TypeVar("T")
LOOK_S = 1.0  # a page that may go is looked for again, whatever happens, after so long
LEASING = frozenset({"take_prioritised", "take"})  # of queues: what they return is given back if nobody waits for it any more
NOT_AWAITED = frozenset({"recover", "together"})  # they are about a thread, or make a crawl


class AsyncCrawl:
    """A crawl whose methods are awaited: those of ``Crawl``, and what takes pages in the way of asyncio."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl
        self._worker = ThreadPoolExecutor(1, "frontrank-crawl")
        self._news: asyncio.Future[None] | None = None  # done as soon as anything has happened

    @classmethod
    async def begin(cls, policy: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """A new crawl; options are those of Crawl."""
        return cls(await asyncio.to_thread(partial(Crawl, policy, path, **options)))

    @classmethod
    async def recover(cls, path: str | os.PathLike[str], policy: Any = None, **options: Any) -> Self:
        """The crawl of a directory, as it was after its last acknowledged event; options are those of Crawl.recover."""
        return cls(await asyncio.to_thread(partial(Crawl.recover, path, policy, **options)))

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The method of this name of the crawl, awaited."""
        if name in NOT_AWAITED:
            raise AttributeError(f"an AsyncCrawl has no {name!r} to await; see AsyncCrawl.crawl")
        return self._awaited(self.crawl, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(set(_methods(self.crawl)) - NOT_AWAITED)})

    def _awaited(self, owner: Any, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = None if name.startswith("_") else getattr(owner, name)
        if not callable(method):
            raise AttributeError(f"an AsyncCrawl has no {name!r} to await; see AsyncCrawl.crawl")
        leasing = isinstance(owner, Queues) and name in LEASING

        async def call(*args: Any, **options: Any) -> Any:
            return await self.run(partial(method, *args, **options), self.crawl.give_back if leasing else None)

        return update_wrapper(call, method)

    # The parts of a crawl ---------------------------------------------------------------------------------------------------
    @property
    def control(self) -> AwaitedPart:
        return AwaitedPart(self._awaited, self.crawl.control)

    @property
    def inspect(self) -> AwaitedPart:
        return AwaitedPart(self._awaited, self.crawl.inspect)

    @property
    def queues(self) -> AwaitedPart:
        return AwaitedPart(self._awaited, self.crawl.queues)

    async def scores(self, url: str, title: str, text: str) -> dict[str, Judged]:
        """What the ordering's scorers say of a page, for ``fetched``. It may take seconds, and holds up nobody else."""
        return await asyncio.to_thread(self.crawl.scores, url, title, text)

    # What is taken ----------------------------------------------------------------------------------------------------------
    async def take(self, n: int = 1, now: float | None = None) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none may go now."""
        return [url for _, url in await self._take(n, now)]

    async def take_pages(self, n: int = 1, now: float | None = None) -> list[int]:
        """The same by number."""
        return [page for page, _ in await self._take(n, now)]

    async def take_page(self) -> tuple[int, str] | None:
        """Number and URL of the next page, as soon as one may go; None if nothing waits and nothing is out."""
        while True:
            news = self._soon()
            if taken := await self._take():
                return taken[0]
            wait = await self.run(self._wait_s)
            if wait is None:
                return None
            await asyncio.wait([news], timeout=min(max(wait, 0.001), LOOK_S))

    async def pages(self) -> AsyncIterator[str]:
        """The pages to fetch, each as soon as it may go, until nothing waits and nothing is out."""
        while (taken := await self.take_page()) is not None:
            yield taken[1]

    async def _take(self, n: int = 1, now: float | None = None) -> list[tuple[int, str]]:
        def take() -> list[tuple[int, str]]:
            return [(page, self.crawl.url(page)) for page in self.crawl.take_pages(n, now)]

        return await self.run(take, lambda taken: self.crawl.give_back([page for page, _ in taken]))

    def _wait_s(self) -> float | None:
        """For how long no page may go by time alone; None if none ever will."""
        at = self.crawl.next_at()
        if at is None:
            return LOOK_S if self.crawl.inspect.leased else None
        return at - self.crawl.inspect.clock()

    # How it runs ------------------------------------------------------------------------------------------------------------
    async def run(self, call: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
        """Have this called after what was asked for before; ``undo`` is for a result that nobody waits for any more."""
        future = self._worker.submit(call)
        try:
            result = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if undo is not None:
                future.add_done_callback(partial(_undo, undo))
            raise
        finally:
            if self._news is not None and not self._news.done():
                self._news.set_result(None)
        return result

    def _soon(self) -> asyncio.Future[None]:
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        return self._news

    async def close(self, max_s: float | None = None) -> None:
        """Leave a snapshot, so that the next start is quick, and let the directory go. One that takes longer is given up."""
        await self._end(partial(self.crawl.close, max_s))

    async def abandon(self) -> None:
        """Let the directory go as it is, without a snapshot."""
        await self._end(self.crawl.abandon)

    async def _end(self, call: Callable[[], None]) -> None:
        ending = asyncio.ensure_future(self.run(call))
        try:
            await asyncio.shield(ending)  # who is cancelled here waits no longer, but the directory is let go all the same
        finally:
            self._worker.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AwaitedPart:
    """The methods of a part of a crawl, awaited; its properties as they are."""

    def __init__(self, awaited: Callable[[Any, str], Callable[..., Coroutine[Any, Any, Any]]], part: Any) -> None:
        self._awaited, self._part = awaited, part

    def __getattr__(self, name: str) -> Any:
        if isinstance(getattr(type(self._part), name, None), property):
            return getattr(self._part, name)
        return self._awaited(self._part, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_methods(self._part)})


def _methods(owner: Any) -> list[str]:
    return [name for name in dir(type(owner)) if name[0] != "_" and callable(getattr(type(owner), name))]


def _undo(undo: Callable[[T], object], future: Future[T]) -> None:
    """In the thread that made the result."""
    if not future.cancelled() and future.exception() is None:
        undo(future.result())
