"""How the scheduler learns what became of a page: its links, its failure, a rest that its host asked for.

Scrapy 2.13 gives each method the spider; later versions do not, and warn of methods that insist on it.
"""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.misc import load_object

from frontrank.fetching.addon.scrapy_engine import PAGE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from frontrank.fetching.addon.leases import Lease
    from frontrank.fetching.addon.scheduler import Scheduler


class Part:
    """What the middlewares share: the scheduler makes itself known to them when it opens. Before that, as in a project's unit
    tests, they let everything through."""

    scheduler: Scheduler | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        from frontrank.fetching.addon.scheduler import Scheduler  # which knows these classes

        chosen: type = load_object(crawler.settings["SCHEDULER"])
        if Scheduler not in chosen.__mro__:  # issubclass holds for any scheduler, by the metaclass of Scrapy's
            raise NotConfigured(f"the SCHEDULER of this project is {chosen.__name__}, not frontrank's")
        return cls()

    def lease_of(self, request: Request | None) -> Lease | None:
        return None if self.scheduler is None else self.scheduler.lease_of(request)


class Links(Part):
    """The requests that a callback yields are the links of its page."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        scheduler = self.scheduler
        if scheduler is not None:
            if scheduler.stopped:
                return  # the crawl could not be opened: nothing of the spider is run
            scheduler.seeds.reading = True
        try:
            async for output in start:
                yield output
        finally:
            if scheduler is not None:
                scheduler.seeds.reading = False

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        lease = self.lease_of(response.request)
        if lease is not None:
            lease.response, lease.arrived = response, monotonic()

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        scheduler, lease = self.scheduler, self.lease_of(response.request)
        if scheduler is not None and lease is not None:
            await scheduler.read(lease)
        try:
            async for output in result:
                if isinstance(output, Request):
                    output.meta.pop(PAGE, None)  # copied from response.meta, it would make a retry of a link
                    if scheduler is not None and lease is not None and not lease.settled:
                        scheduler.expect(lease, output)
                yield output
        finally:
            if scheduler is not None and lease is not None:
                scheduler.ended(lease)


class Failures(Part):
    """Downloads that failed for good: RetryMiddleware, which is nearer to the downloader, has given up or was not asked."""

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        lease = self.lease_of(request)
        if self.scheduler is not None and lease is not None and lease.request is request:
            self.scheduler.fail(lease, in_words(exception), asked=not isinstance(exception, IgnoreRequest))


class Downloads(Part):
    """Downloads as they arrive, before RetryMiddleware replaces them: why a page is tried again; and a host that answers 429 or
    503 and says for how long is not asked until then."""

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        self._note(request, in_words(exception))

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        if response.status >= 400:
            self._note(request, f"http {response.status}")
        if self.scheduler is not None:
            self.scheduler.slow_down(request, response)
        return response

    def _note(self, request: Request, reason: str) -> None:
        lease = self.lease_of(request)
        if lease is not None:
            lease.reason = reason


def in_words(exception: Exception) -> str:
    """Why a download failed, for the journal.

    >>> in_words(TimeoutError("30 s")), in_words(IgnoreRequest("Forbidden by robots.txt"))
    ('timeout error', 'forbidden by robots.txt')
    """
    text = str(exception)
    if isinstance(exception, IgnoreRequest) and text:
        return (text[0].lower() + text[1:])[:200]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(exception).__name__).lower()
