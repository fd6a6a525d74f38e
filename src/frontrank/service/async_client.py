"""AsyncClient: the verbs of ``Client``, for asyncio.

    async with AsyncClient("localhost:7071") as client:
        await client.put(["https://example.org/"])
        for page in await client.get(queues=10):
            html = ...
            await client.fetched(page.url, links=["https://example.org/a"], queue=page.queue)

It is made inside a running event loop, and belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from frontrank.service import client_calls
from frontrank.service.channel import TIMEOUT_S, ServiceChannel, channel_to, grpc
from frontrank.service.client_calls import ClientCall, Link, Metadata

P = ParamSpec("P")
T = TypeVar("T")


def awaited(
    verb: Callable[Concatenate[str, P], ClientCall[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """The method of a verb, to be awaited."""

    @wraps(verb)
    async def method(client: AsyncClient, /, *args: P.args, **given: P.kwargs) -> T:
        return await client._do(verb(client.crawl, *args, **given))

    return method


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
        self.crawl, self.address = crawl, address
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

    get = awaited(client_calls.get)
    fetched = awaited(client_calls.fetched)
    known = awaited(client_calls.known)

    stats = awaited(client_calls.stats)
    status = awaited(client_calls.status)
    queues = awaited(client_calls.queues)
    urls = awaited(client_calls.urls)
    count = awaited(client_calls.count)
    crawls = awaited(client_calls.crawls)

    block = awaited(client_calls.block)
    delay = awaited(client_calls.delay)
    limit = awaited(client_calls.limit)
    active = awaited(client_calls.active)
    pause = awaited(client_calls.pause)
    resume = awaited(client_calls.resume)
    delete_queue = awaited(client_calls.delete_queue)
    delete_crawl = awaited(client_calls.delete_crawl)
    purge = awaited(client_calls.purge)
