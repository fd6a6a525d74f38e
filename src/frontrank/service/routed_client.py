"""RoutedClient: one crawl over several services, each of which has some of the hosts.

    async with RoutedClient([AsyncClient("one:7071"), AsyncClient("two:7071")]) as client:
        await client.put(["https://example.org/", "https://example.com/"])

A host belongs to the service whose address has the largest fingerprint together with the host's name. So all clients agree if
they name the services alike, in any order, and one service more takes over its share of the hosts and no others. What a service
knows of a host that another one takes over stays where it is, and is still handed out, fetched and reported there.

Links go to the services of their hosts. Only the service of the page on which they were found hears of that page: at another
one they would wait for a report that never comes. So a link to a host of another service counts there as a URL that somebody
named, once, and the links of a page give their weight within one service.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from frontrank.errors import InputError, ServiceAway
from frontrank.kernels.hashtable import fingerprint
from frontrank.pages.urls import host_of
from frontrank.service.async_client import AsyncClient
from frontrank.service.client_calls import Link, Metadata, Page, Stats

MAX_QUEUES = 100_000  # of which it is known who handed out a page


class RoutedClient:
    """The verbs that a fetcher needs, each sent to the service that it concerns."""

    def __init__(self, clients: Sequence[AsyncClient]) -> None:
        addresses = [client.address for client in clients]
        if len(set(addresses)) < len(addresses) or not addresses:
            raise InputError(f"each service must be named once, got {', '.join(addresses) or 'none'}")
        self.clients = list(clients)
        self._handed_out_by: dict[str, AsyncClient] = {}  # by queue, which need not be named like its host
        self._turn = 0

    def of_host(self, host: str) -> AsyncClient:
        """The service of a host, or the one that handed out pages of a queue."""
        return self._handed_out_by.get(host) or max(self.clients, key=lambda one: fingerprint(f"{one.address}\0{host}"))

    async def close(self) -> None:
        for client in self.clients:
            await client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def put(self, urls: Iterable[Link], *, parent: str = "", metadata: Metadata | None = None) -> list[bool]:
        """As ``AsyncClient.put``."""
        links = [urls] if isinstance(urls, str) else list(urls)
        services = [self.of_host(host_of(link if isinstance(link, str) else link[0])) for link in links]
        home = self.of_host(host_of(parent)) if parent else None
        new: dict[int, bool] = {}
        for client in dict.fromkeys(services):
            places = [place for place, one in enumerate(services) if one is client]
            some = [links[place] for place in places]
            found = await client.put(some, parent=parent if client is home else "", metadata=metadata)
            new.update(zip(places, found, strict=True))
        return [new[place] for place in range(len(links))]

    async def get(self, queues: int = 0, per_queue: int = 1, lease_s: float = 30.0) -> list[Page]:
        """As ``AsyncClient.get``: a share of each service, another one first each time. One that is away is skipped
        unless all are."""
        pages: list[Page] = []
        away: list[ServiceAway] = []
        left, count = queues, len(self.clients)
        self._turn += 1
        for asked in range(count):
            client = self.clients[(self._turn + asked) % count]
            try:
                found = await client.get(-(-left // (count - asked)), per_queue, lease_s)
            except ServiceAway as error:
                away.append(error)
                continue
            self._remember(client, found)
            pages += found
            left -= len({page.queue for page in found})
            if queues and left <= 0:
                break
        if len(away) == count:
            raise away[0]
        return pages

    def _remember(self, client: AsyncClient, pages: Sequence[Page]) -> None:
        if len(self._handed_out_by) > MAX_QUEUES:
            self._handed_out_by.clear()
        self._handed_out_by.update((page.queue, client) for page in pages)

    async def known(self, url: str, again_at: float = 0, *, queue: str = "", **report: Any) -> None:
        await self.of_host(queue or host_of(url)).known(url, again_at, queue=queue, **report)

    async def block(self, queue: str, until: float) -> None:
        await self.of_host(queue).block(queue, until)

    async def delay(self, seconds: int, queue: str = "", *, at_least: bool = False) -> None:
        for client in [self.of_host(queue)] if queue else self.clients:
            await client.delay(seconds, queue, at_least=at_least)

    async def active(self) -> bool:
        """Whether all services hand out URLs."""
        return all([await client.active() for client in self.clients])

    async def stats(self) -> Stats:
        """The crawl's URLs at all services together."""
        return Stats(*map(sum, zip(*[await client.stats() for client in self.clients], strict=True)))
