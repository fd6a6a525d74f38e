"""One connection, and the request that is under way on it."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from typing import TYPE_CHECKING

from frontrank.fetching.failures import NotFetched, lost, of_network

if TYPE_CHECKING:
    from frontrank.fetching.http.message import Incoming


class Connection(asyncio.Protocol):
    """At most one request at a time; what comes unasked ends it."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.address: str | None = None
        self.used = 0  # requests that were answered
        self.idle_since = 0.0  # by the clock of the event loop
        self.open = False
        self._coming: Incoming | None = None
        self._whole: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.open = transport, True
        name = transport.get_extra_info("peername")
        self.address = name[0] if isinstance(name, tuple) else None

    def is_usable(self) -> bool:
        """Whether a request may be sent on a connection that was idle: it is open, and nothing has come unasked.

        The end of a connection may have come, and wait for the event loop to read it: the socket itself is asked.
        """
        if not self.open or self.transport is None:
            return False
        socket = self.transport.get_extra_info("socket")
        if socket is None or socket.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return not poll.poll(0)

    async def ask(self, request: bytes, coming: Incoming, sent: Callable[[], None] | None = None) -> None:
        """Send a request, and wait until its response is whole; raises NotFetched. ``sent`` is called once it is written."""
        if not self.open or self.transport is None:
            raise lost()
        self._coming, self._whole = coming, asyncio.get_running_loop().create_future()
        try:
            self.transport.write(request)
            if sent is not None:
                sent()
            await self._whole
        except asyncio.CancelledError:
            self.abort()
            raise
        finally:
            self._coming = self._whole = None
        self.used += 1
        if not coming.reusable:
            self.abort()

    def data_received(self, data: bytes) -> None:
        coming, whole = self._coming, self._whole
        if coming is None or whole is None or whole.done():
            self.abort()
            return
        try:
            if coming.feed(data):
                whole.set_result(None)
        except NotFetched as error:
            whole.set_exception(error)
            self.abort()

    def eof_received(self) -> bool:
        self._end(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        self._end(exc)

    def _end(self, exc: Exception | None) -> None:
        coming, whole = self._coming, self._whole
        if coming is None or whole is None or whole.done():
            return
        try:
            coming.end()
            whole.set_result(None)
        except NotFetched as error:
            # A response of unknown length that ends in a reset may lack anything.
            whole.set_exception(error if exc is None or coming.begun else of_network(exc))

    def abort(self) -> None:
        self.open = False
        if self.transport is not None:
            self.transport.abort()
