"""The HTTP side at work: an application on a port, in a thread of its own, beside whatever else the process does."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from frontrank.errors import InputError
from frontrank.service.http.app import App
from frontrank.service.http.guard import MAX_TARGET_LENGTH

CONNECTIONS = 256
RESERVE = 64  # more for new ones while all of those are being answered
CLOSING_S = 1
REQUEST_S = 10.0  # for the head of a request to come; then the connection is closed


class Impatient(H11Protocol):
    """uvicorn's own, which waits for the first request of a connection, and for the rest of a request, without end.

    Where there are ``max_connections``, a new one takes the place of the one that has been waiting for a request, or for the
    rest of one, for longest.
    """

    waits: asyncio.TimerHandle | None = None
    waiting_since = 0.0
    request_s = REQUEST_S
    max_connections = CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        others = [other for other in self.connections if isinstance(other, Impatient) and not other.transport.is_closing()]
        super().connection_made(transport)
        if len(others) >= self.max_connections:
            idle = [other for other in others if other.is_waiting()]
            if idle:
                min(idle, key=lambda other: other.waiting_since).transport.abort()
            elif len(others) >= self.max_connections + RESERVE:
                transport.abort()
        self._wait()

    def is_waiting(self) -> bool:
        """Whether the client has more to send before there is something to answer."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()  # a request is being answered
        elif self.waits is None:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.waiting_since = self.loop.time()
        self.waits = self.loop.call_later(self.request_s, self._give_up)

    def _stop(self) -> None:
        if self.waits is not None:
            self.waits.cancel()
            self.waits = None

    def _give_up(self) -> None:
        self.waits = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


class HttpServer:
    """Serving from ``start`` to ``stop``; ``url`` says where. Port 0 is a free one."""

    def __init__(self, app: App, host: str = "127.0.0.1", port: int = 0, tls: tuple[str, str] | None = None) -> None:
        self.app, self.tls = app, tls
        self.socket = _bound(host, port)
        self.host, self.port = host, int(self.socket.getsockname()[1])
        self._thread: threading.Thread | None = None
        options: dict[str, Any] = {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]} if tls else {}
        config = uvicorn.Config(
            app.app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            http=Impatient,
            h11_max_incomplete_event_size=2 * MAX_TARGET_LENGTH,
            loop="asyncio",
            server_header=False,
            timeout_graceful_shutdown=CLOSING_S,
            **options,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            self.socket.close()
            raise InputError(f"the certificate or its key cannot be used ({error.strerror or error})") from None
        self.server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{shown}:{self.port}"

    def start(self) -> HttpServer:
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)
        self._thread.start()
        return self

    def _run(self) -> None:
        asyncio.run(self.server.serve(sockets=[self.socket]))

    def stop(self) -> None:
        """End all streams and requests, and wait for it."""
        self.app.close()
        self.server.should_exit = True
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.socket.close()

    def __enter__(self) -> HttpServer:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"{host}:{port} cannot be listened on ({error})") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {host}:{port} ({why}); give another port") from None
    return listening
