"""The sockets: asyncio streams, one task a connection, on loopback only.

The server outlives its clients: whatever one sends or does costs its own connection at most. A client that takes
longer than ``idle_s`` to send a request or to read an answer is hung up on.

Cost: with keep-alive, of a generated web with 20 links per page, 5,300 pages for each second of processor time, and 2,600
where it has titles, texts and anchors, most of which goes into making these up.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import struct
import time
from types import TracebackType
from typing import Any

from frontrank.errors import FrontrankError, InputError
from frontrank.lab.webserver.addresses import Report, netloc_of
from frontrank.lab.webserver.faults import HANG, RESET
from frontrank.lab.webserver.names import HOME
from frontrank.lab.webserver.protocol import MAX_HEAD, BadRequest, Clock, Request, read_request, response
from frontrank.lab.webserver.server_options import ServerOptions
from frontrank.lab.webserver.site import TEXT, Reply, Site, not_found
from frontrank.system.files import file_limit
from frontrank.web.web import Web

HANG_S = 600.0
LINGER_S, LINGER_BYTES = 2.0, 4 * 1024 * 1024
BUFFERED = 65_536  # answers up to this size wait for nobody
TURN = 16  # requests of one connection in a row, before others have their turn
BACKLOG = 128
MAX_FILES = 65_536  # more are never needed
SPARE_FILES = 64  # open files that are not connections
ATTEMPTS = 20  # to find a port that is free at every address

Logged = tuple[float, str, int]  # time, the web's own URL, status (0: none was sent)


class WebServer:
    """A web being served. ``requests`` counts, ``log`` (if asked for) holds one entry for each in order."""

    def __init__(self, site: Site, log: bool = False) -> None:
        self.site = site
        self.requests = 0
        self.log: list[Logged] | None = [] if log else None
        self._idle_s = site.options.idle_s
        self._date = Clock()
        self._listening: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._most = max(SPARE_FILES // 4, min(MAX_FILES, file_limit()) - BACKLOG - SPARE_FILES - len(site.names.binds))

    @property
    def port(self) -> int:
        return self.site.names.port

    @property
    def url(self) -> str:
        return f"http://{HOME}:{self.port}"

    async def start(self, port: int = 0) -> None:
        if not 0 <= port <= 65_535:
            raise InputError(f"port must be 1 to 65535, or 0 for any free one, got {port}")
        for attempt in range(ATTEMPTS):
            try:
                await self._bind(port)
                return
            except OSError as error:
                await self._unbind()
                if port == 0 and error.errno == errno.EADDRINUSE and attempt + 1 < ATTEMPTS:
                    continue
                raise InputError(_why_not(error, port, len(self.site.names.binds))) from None

    async def close(self) -> None:
        await self._unbind()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> WebServer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _bind(self, port: int) -> None:
        for address in self.site.names.binds:
            server = await asyncio.start_server(
                self._connected, address, port, limit=MAX_HEAD, family=socket.AF_INET, backlog=BACKLOG
            )
            self._listening.append(server)
            port = server.sockets[0].getsockname()[1]
        self.site.names.port = port

    async def _unbind(self) -> None:
        for listening in self._listening:
            listening.close()
        self._listening.clear()
        await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._tasks) >= self._most:  # short of open files, not even a refusal could be sent to the next
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._talk(reader, writer)
            writer.close()
            async with asyncio.timeout(self._idle_s):
                await writer.wait_closed()
        except (OSError, EOFError):  # the client is gone, or too slow (TimeoutError is an OSError)
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()  # a plain close would wait for a client that never reads

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn = 0
        while True:
            try:
                async with asyncio.timeout(self._idle_s):
                    request = await read_request(reader)
            except BadRequest as refused:
                self._note("", refused.status)
                await self._refuse(reader, writer, refused)
                return
            if request is None or not await self._reply(request, reader, writer):
                return
            if writer.transport.get_write_buffer_size() > BUFFERED:
                async with asyncio.timeout(self._idle_s):
                    await writer.drain()
            turn += 1
            if turn % TURN == 0:
                await asyncio.sleep(0)

    async def _reply(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; whether another may follow."""
        site = self.site
        url = site.names.own(request.url)
        try:
            answer = await self._answer(request, url)
        except FrontrankError as error:  # a file of the web that is read when it is first needed has changed
            answer = Reply(500, f"{error}\n".encode(), TEXT)
        delay = site.faults.latency_s(url)
        if delay:
            await asyncio.sleep(delay)
        self._note(url, max(0, answer.status))
        if answer.status == RESET:
            _reset(writer)
            return False
        if answer.status == HANG:
            await _discard(reader, HANG_S, LINGER_BYTES)
            return False
        head = request.method == "HEAD"
        date, keep = self._date(), request.keep_alive
        writer.write(response(answer.status, answer.kind, answer.body, date, answer.headers, keep=keep, head=head))
        return keep

    async def _answer(self, request: Request, url: str) -> Reply:
        site = self.site
        if site.slow(url):
            return await asyncio.to_thread(site.slow_answer, url)
        netloc = netloc_of(url)
        if site.addresses.host(netloc) < 0:
            mine = not request.proxied or netloc == f"{HOME}:{self.port}"
            return site.home() if mine and url == f"http://{netloc}/" else not_found(url)
        return site.answer(url)

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, refused: BadRequest) -> None:
        """Say why and hang up; what is still being sent is read first, or the client would never see the answer."""
        body = f"{refused}\n".encode()
        allow = "Allow: GET, HEAD\r\n" if refused.status == 405 else ""
        writer.write(response(refused.status, TEXT, body, self._date(), allow, keep=False))
        writer.write_eof()
        await _discard(reader, min(LINGER_S, self._idle_s), LINGER_BYTES)

    def _note(self, url: str, status: int) -> None:
        self.requests += 1
        if self.log is not None:
            self.log.append((time.time(), url, status))


async def serve(web: Web, port: int = 0, *, log: bool = False, report: Report | None = None, **options: Any) -> WebServer:
    """Serve a web; port 0 is any free one. ``options`` are those of ``frontrank.lab.webserver.ServerOptions``."""
    server = WebServer(Site(web, ServerOptions.of(options), report), log)
    await server.start(port)
    return server


async def _discard(reader: asyncio.StreamReader, seconds: float, max_bytes: int) -> None:
    """Read until the client hangs up, for so long and so much at most."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while max_bytes > 0 and (data := await reader.read(65_536)):
                max_bytes -= len(data)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Cut the connection: with no time to linger the system sends RST instead of FIN."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _why_not(error: OSError, port: int, addresses: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use by another program; give another --port, or 0 for any free one"
    if error.errno == errno.EACCES:
        return f"port {port} may not be opened by this user; give a --port above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"this system does not have the {addresses} loopback addresses that --hosts ip takes; use --hosts name"
    if error.errno == errno.EMFILE:
        return f"{addresses} addresses take more open files than this user may have; use --hosts name, or raise ulimit -n"
    return f"port {port} cannot be opened ({error.strerror or error})"
