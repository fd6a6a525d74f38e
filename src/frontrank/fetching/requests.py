"""Every request of one process: pages, robots.txt and other files, each in the turn of its host.

robots.txt    is requested before the first page of an origin, by this process itself
pages         are fetched here, or by fetchers in processes of their own; a page whose turn is not soon raises ``NotYet``
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from frontrank.fetching.copies import Copy
from frontrank.fetching.fetcher import Fetcher, FetchOptions, FetchResult
from frontrank.fetching.fetchers import Fetchers
from frontrank.fetching.http.message import Response
from frontrank.fetching.pacing import Pacer
from frontrank.fetching.robots import Robots, TakesHostLimits, refusal

if TYPE_CHECKING:
    from frontrank.pages.warc_writer import Warc


class PageFetcher(Protocol):
    """Fetches pages: a ``Fetcher`` in this process, or ``Fetchers`` in several others."""

    async def fetch(
        self, url: str, info: bytes = b"", before: Copy | None = None, sent: Callable[[], None] | None = None
    ) -> FetchResult: ...

    def close(self) -> None: ...


class Requests:
    """``limits`` gets the Crawl-delays of robots.txt files; ``None``: robots.txt is not read."""

    def __init__(
        self,
        options: FetchOptions,
        pacer: Pacer,
        limits: TakesHostLimits | None,
        *,
        fetchers: int = 1,
        warc: Warc | None = None,
    ) -> None:
        self.own = Fetcher(options)
        self.fetchers: PageFetcher = Fetchers(options, fetchers) if fetchers > 1 else self.own
        self.pacer, self.warc = pacer, warc
        self.robots = Robots(options.agent, self._robots_txt, limits, options.purpose) if limits is not None else None

    async def page(self, url: str, before: Copy | None, max_wait_s: float) -> FetchResult:
        """Raises NotYet if the host of the page rests for longer than ``max_wait_s``."""
        if self.pacer.resumed:
            self.pacer.check(url, max_wait_s)  # its robots.txt is to be read again, and would wait here
        refused = await refusal(url, self.own.names, self.robots)
        if refused is not None:
            return FetchResult(refused)
        info = self.warc.info() if self.warc is not None else b""
        return await self.pacer.send(url, lambda sent: self.fetchers.fetch(url, info, before, sent), max_wait_s)

    async def file(self, url: str, max_bytes: int, sink: Callable[[bytes], object]) -> Response:
        """A file that is not a page of the crawl; ``sink`` gets its bytes, with their content codings."""
        return await self.pacer.send(url, lambda sent: self.own.file(url, max_bytes, sink, sent))

    async def _robots_txt(self, url: str) -> Response:
        return await self.pacer.send(url, lambda sent: self.own.robots_txt(url, sent))

    def close(self) -> None:
        self.own.close()
        self.fetchers.close()
