"""AsyncClient: the verbs of ``Client``, for asyncio.

    async with AsyncClient("localhost:7071") as client:
        await client.put(["https://example.org/"])
        for page in await client.get(queues=10):
            html = ...
            await client.fetched(page.url, links=["https://example.org/a"], queue=page.queue)

It is made inside a running event loop, and belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from frontrank.service import client_calls
from frontrank.service.channel import TIMEOUT_S, ServiceChannel, channel_to, grpc
from frontrank.service.client_calls import ClientCall, KnownUrl, Link, Metadata, Page, Stats

T = TypeVar("T")


class AsyncClient:
    """One crawl of a service, as in ``Client``."""

    def __init__(
        self,
        address: str = "localhost:7071",
        crawl: str = "DEFAULT",
        *,
        token: str = "",
        tls_ca: str = "",
        insecure: bool = False,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.crawl = crawl
        self._channel = ServiceChannel(channel_to(grpc.aio, address, token, tls_ca, insecure), address, token, timeout_s)

    async def close(self) -> None:
        await self._channel.channel.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _do(self, call: ClientCall[T]) -> T:
        try:
            return call.read(await self._channel.answers_async(call))
        except grpc.RpcError as error:
            raise self._channel.error(error) from None

    # URLs in and out --------------------------------------------------------------------------------------------------------
    async def put(
        self, urls: Iterable[Link], *, parent: str = "", queue: str = "", metadata: Metadata | None = None
    ) -> list[bool]:
        """URLs that were found (on the page ``parent``), each alone or with its anchor; True for each that is new.

        They wait in the queues of their hosts, or in ``queue``. What was put survives the end of the service. Many URLs
        are sent in calls of 50,000, each with a deadline of its own; if one fails, the calls before it have taken effect.
        """
        new: list[bool] = []
        for some in client_calls.streams(urls):
            found = await self._do(client_calls.put(some, self.crawl, parent, queue, metadata))
            new.extend(found)
        return new

    async def get(self, queues: int = 0, per_queue: int = 1, lease_s: float = 30.0, queue: str = "") -> list[Page]:
        """URLs to fetch, best first, of so many queues (0: all), so many of each; or of one ``queue``.

        They are leased to this client for ``lease_s`` seconds; those not reported by then wait again.
        """
        return await self._do(client_calls.get(queues, per_queue, lease_s, queue, self.crawl))

    async def fetched(
        self,
        url: str,
        links: Iterable[Link] = (),
        *,
        again_at: float = 0,
        queue: str = "",
        metadata: Metadata | None = None,
        lease: float = 0.0,
    ) -> list[bool]:
        """A URL was fetched, and has these links; True for each that is new.

        ``again_at``: when it is to be fetched again. ``lease``: that of the page as it was handed out.
        """
        return await self._do(client_calls.fetched(url, links, again_at, self.crawl, queue, metadata, lease=lease))

    async def known(
        self,
        url: str,
        again_at: float = 0,
        *,
        queue: str = "",
        metadata: Metadata | None = None,
        sent_ago: float = 0.0,
        lease: float = 0.0,
    ) -> None:
        """A URL is completed (0), or is to be fetched again at a time, in seconds since 1970. It need not be known or leased.

        ``sent_ago``: how many seconds ago the last request to its queue was sent; the delay begins then, not when the URL was
        handed out. 0: unknown. ``lease``: that of the page as it was handed out. A late or repeated report
        that names it does not take the URL from a fetcher that has got it since.
        """
        await self._do(client_calls.fetched(url, (), again_at, self.crawl, queue, metadata, sent_ago=sent_ago, lease=lease))

    # What is known ------------------------------------------------------------------------------------------------------------
    async def stats(self, queue: str = "") -> Stats:
        """How many URLs a queue has, or the whole crawl."""
        return await self._do(client_calls.stats(queue, self.crawl))

    async def status(self, url: str, queue: str = "") -> KnownUrl:
        """What is known of a URL; NotFound if nothing."""
        return await self._do(client_calls.status(url, queue, self.crawl))

    async def queues(self, start: int = 0, size: int = 100, inactive: bool = False) -> list[str]:
        """Names of queues that have URLs to hand out; with ``inactive``, of all."""
        return await self._do(client_calls.queues(start, size, inactive, self.crawl))

    async def urls(self, queue: str = "", start: int = 0, size: int = 100, containing: str = "") -> list[KnownUrl]:
        """URLs (of a queue), completed ones included."""
        return await self._do(client_calls.urls(queue, start, size, containing, self.crawl))

    async def count(self, queue: str = "", containing: str = "") -> int:
        """The number of URLs, completed ones included."""
        return await self._do(client_calls.count(queue, containing, self.crawl))

    async def crawls(self) -> list[str]:
        """The IDs of all crawls of the service that have URLs."""
        return await self._do(client_calls.crawls())

    # Control ------------------------------------------------------------------------------------------------------------------
    async def block(self, queue: str, until: float) -> None:
        """Hand out nothing from a queue before this time, in seconds since 1970; 0 ends the block."""
        await self._do(client_calls.block(queue, until, self.crawl))

    async def delay(self, seconds: int, queue: str = "", *, at_least: bool = False) -> None:
        """Set the seconds between two answers from a queue; without one, from all queues without a delay of their own.

        ``at_least``: a queue whose delay is longer keeps it (only our service knows this).
        """
        await self._do(client_calls.delay(seconds, queue, self.crawl, at_least))

    async def limit(self, queue: str, completed: int) -> None:
        """Hand out nothing more from a queue once so many of its URLs are completed; 0 is any number."""
        await self._do(client_calls.limit(queue, completed, self.crawl))

    async def active(self) -> bool:
        """Whether the service hands out URLs."""
        return await self._do(client_calls.active())

    async def pause(self) -> None:
        """Hand out nothing from any crawl of the service, until ``resume``."""
        await self._do(client_calls.set_active(False))

    async def resume(self) -> None:
        await self._do(client_calls.set_active(True))

    async def delete_queue(self, queue: str) -> int:
        """Forget all URLs of a queue; returns how many were active."""
        return await self._do(client_calls.delete_queue(queue, self.crawl))

    async def delete_crawl(self) -> int:
        """Remove the whole crawl; returns how many URLs were active."""
        return await self._do(client_calls.delete_crawl(self.crawl))

    async def purge(self, days: int, queue: str = "") -> int:
        """Forget URLs that are known for longer than this; returns how many."""
        return await self._do(client_calls.purge(days, queue, self.crawl))
