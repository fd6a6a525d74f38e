"""Methods by path, served on one port."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from frontrank.service.rpc.connection import GRACE_S, RpcConnection
from frontrank.service.rpc.messages import CallRefused, GrpcStatus, Headers

MAX_CONNECTIONS = 1_000
AT_ONCE = 1_024  # messages of a stream that one call answers
SLOW_THREADS = 2  # for calls that may take long
ADMITTED_S, IDLE_S = 10.0, 300.0
LEAVING = "the service is ending; call it again when it is back"


@dataclass(frozen=True)
class Method:
    """What a call of one path does: it turns messages, as bytes, into chunks of messages. It runs in a worker thread.

    A method that streams is called again and again, with some messages each time; others once, with one message. ``begins`` is
    called first, to count calls. A ``slow`` method may take long, and has threads of its own, so that the others need not wait.
    """

    call: Callable[[Sequence[bytes]], Iterable[Sequence[bytes]]]
    streams: bool = False
    at_once: int = AT_ONCE
    begins: Callable[[], None] = lambda: None
    slow: bool = False


class RpcServer:
    """Methods by path (``/package.Service/Method``), served on one port.

    ``admit`` checks the headers of each call first, and may raise ``CallRefused``.
    """

    def __init__(
        self, methods: Mapping[str, Method], admit: Callable[[Headers], None] = lambda _: None, threads: int = 8
    ) -> None:
        self.methods = {path.encode(): method for path, method in methods.items()}
        self.admit = admit
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="frontrank-rpc")
        self.slow_pool = ThreadPoolExecutor(SLOW_THREADS, thread_name_prefix="frontrank-rpc-slow")
        self.connections: set[RpcConnection] = set()
        self.admitted_s, self.idle_s = ADMITTED_S, IDLE_S
        self.max_connections = MAX_CONNECTIONS
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen; returns the port, which is a free one if 0 was asked for."""
        loop = asyncio.get_running_loop()
        within = ADMITTED_S if tls is not None else None
        self._server = await loop.create_server(
            lambda: RpcConnection(self), host, port, ssl=tls, backlog=128, ssl_handshake_timeout=within
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """Admit no new calls; those that are being answered may end within the grace, those that wait for messages end now."""
        if self._server is not None:
            self._server.close()
        for connection in list(self.connections):
            connection.is_leaving = True
            for call in [call for call in connection.calls.values() if not call.is_busy]:
                call.cancel()
                call.close(CallRefused(GrpcStatus.UNAVAILABLE, LEAVING))
        under_way = [call.task for connection in self.connections for call in connection.calls.values() if call.task]
        if under_way:
            await asyncio.wait(under_way, timeout=grace_s)
        for connection in list(self.connections):
            connection.go_away()
        for pool in (self.pool, self.slow_pool):
            pool.shutdown(wait=True, cancel_futures=True)
