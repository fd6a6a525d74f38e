"""Crawlee: its crawlers fetch, an ordering of ours says what comes next.

    requests = await CrawlRequests.open("surf", "my-crawl", politeness=Politeness(delay_s=1.0))
    crawler = ParselCrawler(request_manager=requests)

A request manager of Crawlee hands out requests and takes new ones. It does not learn on which page these were found, but
orderings need links. A crawler works on one request in one task, from ``fetch_next_request`` until the request is marked as
handled; so requests that this task adds meanwhile are the links of that page. Others are seeds.

Requests are kept in the journal until they are handled, with their labels, user data and counts of retries, so that a crawl
can continue after any end. A page is named by the request's ``unique_key``: as in Crawlee, equal keys are one page.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Coroutine, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from frontrank.crawl.async_crawl import AsyncCrawl
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import FILE
from frontrank.errors import need
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LEASED
from frontrank.orderings import DEFAULT_ORDERING
from frontrank.orderings.policy import Policy

need("crawlee")

from crawlee import Request, RequestState  # noqa: E402
from crawlee.request_loaders import RequestManager  # noqa: E402
from crawlee.storage_clients.models import ProcessedRequest  # noqa: E402

WAIT_S = 1.0  # a request that may not go yet is waited for so long; then the crawler asks again
Added = tuple[Request, bool]  # and whether it goes before all others
Task = asyncio.Task[Any]


class CrawlRequests(RequestManager):
    """The requests of a Crawlee crawler, in the order of an ordering."""

    def __init__(self, crawl: AsyncCrawl) -> None:
        self.crawl = crawl
        self._tasks: WeakKeyDictionary[Task, int] = WeakKeyDictionary()  # which page a task works on
        self._links: dict[int, list[Added]] = {}  # found on pages that are worked on
        self._contents: dict[str, tuple[str, str]] = {}  # title and text of pages that are worked on

    @classmethod
    async def open(cls, policy: Policy | str = DEFAULT_ORDERING, path: str | Path | None = None, **options: Any) -> Self:
        """The crawl in this directory, continued if it is there, or one in memory; options are those of Crawl."""
        if path is not None and (Path(path) / FILE).exists():
            return cls(await AsyncCrawl.recover(path, policy, **options))
        return cls(await AsyncCrawl.begin(policy, path, **options))

    async def close(self) -> None:
        """Let the directory go; to be called when the crawler is done."""
        await self.crawl.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    # What a crawler asks ----------------------------------------------------------------------------------------------------
    async def get_handled_count(self) -> int:
        return len(self.crawl.crawl.state.progress.order)

    async def get_total_count(self) -> int:
        return self.crawl.crawl.inspect.known

    async def is_empty(self) -> bool:
        return self.crawl.crawl.inspect.waiting == 0

    async def is_finished(self) -> bool:
        return self.crawl.crawl.inspect.waiting == 0 and self.crawl.crawl.inspect.leased == 0

    def fetch_next_request(self) -> Coroutine[Any, Any, Request | None]:
        """The next request that may go, waited for if it may not yet."""
        return self._next(asyncio.current_task())  # known now: what is awaited may run in another task

    async def _next(self, task: Task | None) -> Request | None:
        try:
            async with asyncio.timeout(WAIT_S):
                taken = await self.crawl.take_page()
        except TimeoutError:
            return None
        if taken is None:
            return None
        page, name = taken
        if task is not None:
            self._tasks[task] = page
        self._links[page] = []
        try:
            stored = (await self.crawl.attached([page])).get(page)
        except asyncio.CancelledError:
            self.crawl.crawl.give_back([page])
            raise
        return Request.from_url(name) if stored is None else Request.model_validate_json(stored)

    # What a crawler says ----------------------------------------------------------------------------------------------------
    def tell(self, request: Request, title: str = "", text: str = "") -> None:
        """What a page says, from its handler: for orderings that read pages."""
        self._contents[request.unique_key] = (title, text)

    async def add_request(self, request: str | Request, *, forefront: bool = False) -> ProcessedRequest | None:
        added = self._transform_request(request)
        present, handled = await self._add(asyncio.current_task(), [added], forefront)
        return ProcessedRequest(unique_key=added.unique_key, was_already_present=present, was_already_handled=handled)

    def add_requests(
        self,
        requests: Sequence[str | Request],
        *,
        forefront: bool = False,
        batch_size: int = 1000,
        wait_time_between_batches: timedelta = timedelta(seconds=1),
        wait_for_all_requests_to_be_added: bool = False,
        wait_for_all_requests_to_be_added_timeout: timedelta | None = None,
    ) -> Coroutine[Any, Any, None]:
        return self._add_all(asyncio.current_task(), self._transform_requests(requests), forefront)

    async def _add_all(self, task: Task | None, requests: Sequence[Request], forefront: bool) -> None:
        await self._add(task, requests, forefront)

    async def _add(self, task: Task | None, requests: Sequence[Request], forefront: bool) -> tuple[bool, bool]:
        """Returns whether the first of them was known, and done with."""
        if not requests:
            return False, False
        page = -1 if task is None else self._tasks.get(task, -1)
        state = await self.crawl.run(partial(_state, self.crawl.crawl, requests[0]))
        if page in self._links:
            self._links[page] += [(request, forefront) for request in requests]
        else:
            await self.crawl.run(partial(_seed, self.crawl.crawl, [(request, forefront) for request in requests]))
        return state not in (ABSENT, FORGOTTEN), state == GONE

    async def mark_request_as_handled(self, request: Request) -> ProcessedRequest | None:
        name = name_of(request)
        page = await self.crawl.lookup(name)
        if page < 0:
            return None  # never handed out here
        links, content = self._links.pop(page, []), self._contents.pop(request.unique_key, ("", ""))
        if request.state in (RequestState.ERROR, RequestState.SKIPPED):
            reason = "skipped" if request.state == RequestState.SKIPPED else "failed"
            await self.crawl.run(partial(_failed, self.crawl.crawl, page, reason, links))
        else:
            crawl = self.crawl.crawl
            scores = await asyncio.to_thread(crawl.scores, name, *content) if crawl.scorers else {}
            await self.crawl.run(partial(_handled, crawl, page, links, content, scores))
        return ProcessedRequest(unique_key=request.unique_key, was_already_present=True, was_already_handled=False)

    async def reclaim_request(self, request: Request, *, forefront: bool = False) -> ProcessedRequest | None:
        page = await self.crawl.lookup(name_of(request))
        if page < 0:
            return None
        self._links.pop(page, None)
        await self.crawl.run(partial(_reclaimed, self.crawl.crawl, page, request, forefront))
        return ProcessedRequest(unique_key=request.unique_key, was_already_present=True, was_already_handled=False)

    async def drop(self) -> None:
        """Let the crawl go, and remove its directory."""
        folder = self.crawl.crawl.inspect.folder
        await self.crawl.abandon()
        if folder is not None:
            await asyncio.to_thread(shutil.rmtree, folder)


def name_of(request: Request) -> str:
    """The name of a request's page: its key; a key that is not a URL comes after the URL, which says on which host it is."""
    key = request.unique_key
    return key if key.startswith(("http://", "https://")) else f"{request.url}#{key}"


# In the crawl's thread -------------------------------------------------------------------------------------------------------
def _state(crawl: Crawl, request: Request) -> int:
    page = crawl.lookup(name_of(request))
    return ABSENT if page < 0 else crawl.inspect.mark(page)


def _pages(crawl: Crawl, added: Sequence[Added]) -> list[int]:
    """The numbers of requests' pages; those that are new are kept with them."""
    pages = []
    for request, forefront in added:
        page = crawl.intern(name_of(request))
        pages.append(page)
        if crawl.inspect.mark(page) in (ABSENT, FORGOTTEN):
            crawl.attach({page: request.model_dump_json().encode()})
            if forefront:
                crawl.control.prioritise(page, 1)
    return pages


def _seed(crawl: Crawl, added: Sequence[Added]) -> None:
    with crawl.together():
        crawl.seed(_pages(crawl, added))


def _handled(crawl: Crawl, page: int, links: Sequence[Added], content: tuple[str, str], scores: dict[str, Any]) -> None:
    with crawl.together():
        crawl.fetched(page, _pages(crawl, links), *content, scores=scores, any_state=True)


def _failed(crawl: Crawl, page: int, reason: str, links: Sequence[Added]) -> None:
    with crawl.together():
        if links:  # an error handler has put another request in its place
            crawl.seed(_pages(crawl, links))
        if crawl.inspect.mark(page) == LEASED:
            crawl.failed(page, reason)


def _reclaimed(crawl: Crawl, page: int, request: Request, forefront: bool) -> None:
    with crawl.together():
        crawl.attach({page: request.model_dump_json().encode()})
        if forefront:
            crawl.control.prioritise(page, 1)
        crawl.give_back([page])
