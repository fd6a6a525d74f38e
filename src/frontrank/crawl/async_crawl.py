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
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from frontrank.crawl.crawl import Crawl
from frontrank.pages.scorers import Judged

P = ParamSpec("P")
T = TypeVar("T")
LOOK_S = 1.0  # a page that may go is looked for again, whatever happens, after so long


def _verb(
    method: Callable[Concatenate[Crawl, P], T],
) -> Callable[Concatenate[AsyncCrawl, P], Coroutine[Any, Any, T]]:
    async def call(self: AsyncCrawl, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(partial(method, self.crawl, *args, **kwargs))

    update_wrapper(call, method)
    return call


class AsyncCrawl:
    """A crawl whose verbs are awaited."""

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

    # What happens -----------------------------------------------------------------------------------------------------------
    seed = _verb(Crawl.seed)
    seed_pages = _verb(Crawl.seed_pages)
    fetched = _verb(Crawl.fetched)
    fetched_page = _verb(Crawl.fetched_page)
    failed = _verb(Crawl.failed)
    failed_page = _verb(Crawl.failed_page)
    drop = _verb(Crawl.drop)
    drop_page = _verb(Crawl.drop_page)
    impact = _verb(Crawl.impact)
    impacts = _verb(Crawl.impacts)
    ask = _verb(Crawl.ask)
    give_back = _verb(Crawl.give_back)
    rescore = _verb(Crawl.rescore)
    note = _verb(Crawl.note)
    attach = _verb(Crawl.attach)
    attach_all = _verb(Crawl.attach_all)

    # What is told from elsewhere --------------------------------------------------------------------------------------------
    discover = _verb(Crawl.discover)
    discover_pages = _verb(Crawl.discover_pages)
    report_page = _verb(Crawl.report_page)
    report_failure = _verb(Crawl.report_failure)
    schedule_page = _verb(Crawl.schedule_page)
    forget_pages = _verb(Crawl.forget_pages)

    # What is controlled -----------------------------------------------------------------------------------------------------
    prioritise = _verb(Crawl.prioritise)
    prioritise_pages = _verb(Crawl.prioritise_pages)
    host = _verb(Crawl.host)
    join = _verb(Crawl.join)
    behave = _verb(Crawl.behave)
    block = _verb(Crawl.block)
    retry_failed = _verb(Crawl.retry_failed)
    block_until = _verb(Crawl.block_until)
    rest = _verb(Crawl.rest)
    pause = _verb(Crawl.pause)
    resume = _verb(Crawl.resume)
    boost = _verb(Crawl.boost)
    limit_family = _verb(Crawl.limit_family)
    share_revisits = _verb(Crawl.share_revisits)

    # What is asked ----------------------------------------------------------------------------------------------------------
    find = _verb(Crawl.find)
    find_page = _verb(Crawl.find_page)
    pages_named = _verb(Crawl.pages_named)
    parent_page = _verb(Crawl.parent_page)
    links_told = _verb(Crawl.links_told)
    number = _verb(Crawl.number)
    page = _verb(Crawl.page)
    unknown_urls = _verb(Crawl.unknown_urls)
    url = _verb(Crawl.url)
    names = _verb(Crawl.names)
    mark = _verb(Crawl.mark)
    depth = _verb(Crawl.depth)
    due = _verb(Crawl.due)
    completed = _verb(Crawl.completed)
    born = _verb(Crawl.born)
    born_before = _verb(Crawl.born_before)
    attached = _verb(Crawl.attached)
    attached_all = _verb(Crawl.attached_all)
    waiting_pages = _verb(Crawl.waiting_pages)
    pages_of = _verb(Crawl.pages_of)
    done = _verb(Crawl.done)
    next_at = _verb(Crawl.next_at)
    counts = _verb(Crawl.counts)
    queue_counts = _verb(Crawl.queue_counts)
    queues = _verb(Crawl.queues)
    gauges = _verb(Crawl.gauges)
    status = _verb(Crawl.status)
    overview = _verb(Crawl.overview)
    score_distribution = _verb(Crawl.score_distribution)
    coverage = _verb(Crawl.coverage)
    next = _verb(Crawl.next)
    pages_shown = _verb(Crawl.pages_shown)
    hosts = _verb(Crawl.hosts)
    busiest_hosts = _verb(Crawl.busiest_hosts)
    explain = _verb(Crawl.explain)

    commit = _verb(Crawl.commit)
    sync = _verb(Crawl.sync)
    snapshot = _verb(Crawl.snapshot)

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

    async def take_prioritised(self, n: int, priority: int, now: float | None = None) -> list[int]:
        """As ``take_pages``, but only pages with at least this priority."""
        return await self.run(partial(self.crawl.take_prioritised, n, priority, now), self.crawl.give_back)

    async def take_queues(
        self,
        queues: int = 0,
        per_queue: int = 0,
        *,
        lease_s: float | None = None,
        queue: str | None = None,
        now: float | None = None,
    ) -> list[int]:
        """Pages of up to so many queues, up to so many of each, the queue with the best page first; 0 is any number."""
        take = partial(self.crawl.take_queues, queues, per_queue, lease_s=lease_s, queue=queue, now=now)
        return await self.run(take, self.crawl.give_back)

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
            return LOOK_S if self.crawl.leased else None
        return at - self.crawl.clock()

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


def _undo(undo: Callable[[T], object], future: Future[T]) -> None:
    """In the thread that made the result."""
    if not future.cancelled() and future.exception() is None:
        undo(future.result())
