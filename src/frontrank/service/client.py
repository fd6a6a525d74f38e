"""Client: a service's crawl, for programs that fetch. ``AsyncClient`` has the same verbs for asyncio.

    with Client("localhost:7071") as client:
        client.put(["https://example.org/"])
        for page in client.get(queues=10):
            html = ...
            client.fetched(page.url, links=[("https://example.org/a", "its anchor")], queue=page.queue)

It speaks to any service of URLFrontier's protocol, ours or others. One client may be used by many threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from frontrank.service import client_calls
from frontrank.service.channel import TIMEOUT_S, ServiceChannel, channel_to, grpc
from frontrank.service.client_calls import ClientCall, Link, Metadata

P = ParamSpec("P")
T = TypeVar("T")


def blocking(verb: Callable[Concatenate[str, P], ClientCall[T]]) -> Callable[Concatenate[Client, P], T]:
    """The method of a verb: its call is made, and waited for."""

    @wraps(verb)
    def method(client: Client, /, *args: P.args, **given: P.kwargs) -> T:
        return client._do(verb(client.crawl, *args, **given))

    return method


class Client:
    """One crawl of a service.

    ``token``: the service's, if it has one. ``tls_ca``: the file of a certificate (PEM) that is trusted, or "system" for those
    that are trusted anyway: TLS is spoken then. Without, a token goes to this machine alone, or is ``insecure``.
    """

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
        self._channel = ServiceChannel(channel_to(grpc, address, token, tls_ca, insecure), address, token, timeout_s)

    def close(self) -> None:
        self._channel.channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _do(self, call: ClientCall[T]) -> T:
        try:
            return call.read(self._channel.answers(call))
        except grpc.RpcError as error:
            raise self._channel.error(error) from None

    # URLs in and out --------------------------------------------------------------------------------------------------------
    def put(self, urls: Iterable[Link], *, parent: str = "", queue: str = "", metadata: Metadata | None = None) -> list[bool]:
        """URLs that were found (on the page ``parent``), each alone or with its anchor; True for each that is new.

        They wait in the queues of their hosts, or in ``queue``. What was put survives the end of the service. Many URLs
        are sent in calls of 50,000, each with a deadline of its own; if one fails, the calls before it have taken effect.
        """
        new: list[bool] = []
        for some in client_calls.streams(urls):
            found = self._do(client_calls.put(some, self.crawl, parent, queue, metadata))
            new.extend(found)
        return new

    get = blocking(client_calls.get)
    fetched = blocking(client_calls.fetched)
    known = blocking(client_calls.known)

    stats = blocking(client_calls.stats)
    status = blocking(client_calls.status)
    queues = blocking(client_calls.queues)
    urls = blocking(client_calls.urls)
    count = blocking(client_calls.count)
    crawls = blocking(client_calls.crawls)

    block = blocking(client_calls.block)
    delay = blocking(client_calls.delay)
    limit = blocking(client_calls.limit)
    active = blocking(client_calls.active)
    pause = blocking(client_calls.pause)
    resume = blocking(client_calls.resume)
    delete_queue = blocking(client_calls.delete_queue)
    delete_crawl = blocking(client_calls.delete_crawl)
    purge = blocking(client_calls.purge)
