"""Fetchers in processes of their own: they ask for pages, unpack, parse and pack them; the crawl hands out and settles.

    crawl  ──  (number, url, info, before, tell_sent)  ──►  fetcher      one frontier, so one pace per host, however many
           ◄──  (number, None)  ───────────────────────              its request was sent: the host's delay begins
           ◄──  (number, FetchResult)  ─────────────────────

What goes to and fro in one turn of an event loop goes as one message. Pages of a host go to the same fetcher while it has no
more to do than others, so that connections are used again. A fetcher that dies is replaced; its pages raise ``FetcherDied`` at
once, and wait again. Those that end as soon as they start end the crawl.

Cost: 0.4 s of CPU and 45 MB per fetcher; 0.06 ms per page to pack and unpack its message.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import struct
import subprocess
import zlib
from collections.abc import Callable
from typing import Any

from frontrank.errors import InputError
from frontrank.fetching.copies import Copy
from frontrank.fetching.fetcher import Fetcher, FetchOptions, FetchResult
from frontrank.pages.urls import host_of
from frontrank.system.workers import Closed, Died, started

START = "import sys; sys.path[:] = {path!r}; from frontrank.fetching.fetchers import serve; serve({socket})"
AHEAD = 2  # pages that a host's own fetcher may have more than the least busy one
MAX_DEATHS = 5  # in a row, without an answer between them
LENGTH = struct.Struct("!Q")


class FetcherDied(Exception):
    """The process that had this page is gone; the page may be given to another."""


class Line(asyncio.Protocol):
    """Messages between two processes: pickled lists, each with its length before it. Both ends are ours."""

    def __init__(self, came: Callable[[list[Any]], None], ended: Callable[[], None]) -> None:
        self.came, self.ended = came, ended
        self.transport: asyncio.Transport | None = None
        self._waiting: list[Any] = []
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def send(self, what: object) -> None:
        """With all else that is sent before the event loop gets to it."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(what)

    def _flush(self) -> None:
        data = pickle.dumps(self._waiting, pickle.HIGHEST_PROTOCOL)
        self._waiting = []
        if self.transport is not None:
            self.transport.writelines([LENGTH.pack(len(data)), data])

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._buffer)
            end = LENGTH.size + length
            if len(self._buffer) < end:
                return
            message = pickle.loads(memoryview(self._buffer)[LENGTH.size : end])
            del self._buffer[:end]
            self.came(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.ended()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.abort()


# The crawl's side ------------------------------------------------------------------------------------------------------------
class Remote:
    """One fetcher, as the crawl sees it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.line = Line(self._came, self._ended)
        self.out: dict[int, asyncio.Future[FetchResult]] = {}
        self.unsent: dict[int, Callable[[], None]] = {}  # whom to tell that a request was sent
        self.alive = True
        self.answered = 0
        self._number = 0

    @classmethod
    async def start(cls, options: FetchOptions) -> Remote:
        process, ours = started(START)
        remote = cls(process)
        await asyncio.get_running_loop().create_connection(lambda: remote.line, sock=ours)
        remote.line.send(options)
        return remote

    def ask(
        self, url: str, info: bytes, before: Copy | None, sent: Callable[[], None] | None = None
    ) -> asyncio.Future[FetchResult]:
        self._number += 1
        answer: asyncio.Future[FetchResult] = asyncio.get_running_loop().create_future()
        self.out[self._number] = answer
        if sent is not None:
            self.unsent[self._number] = sent
        self.line.send((self._number, url, info, before, sent is not None))
        return answer

    def _came(self, message: list[Any]) -> None:
        for number, answer in message:
            sent = self.unsent.pop(number, None)
            if answer is None:
                if sent is not None:
                    sent()
                continue
            waiting = self.out.pop(number, None)
            self.answered += 1
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    def _ended(self) -> None:
        self.alive = False
        unsent, self.unsent = self.unsent, {}
        for sent in unsent.values():  # perhaps it was
            sent()
        lost, self.out = self.out, {}
        for waiting in lost.values():
            if not waiting.done():
                waiting.set_exception(FetcherDied())
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.line.close()
        self.process.kill()
        self.process.wait()


class Fetchers:
    """So many of them, each as good as any."""

    def __init__(self, options: FetchOptions, count: int) -> None:
        self.options, self.count = options, count
        self.remotes: list[Remote | None] = [None] * count
        self._starting = asyncio.Lock()
        self._deaths = 0
        self._closed = False

    async def fetch(
        self, url: str, info: bytes = b"", before: Copy | None = None, sent: Callable[[], None] | None = None
    ) -> FetchResult:
        """As Fetcher.fetch; raises FetcherDied if the fetcher that had it is gone."""
        if not all(remote is not None and remote.alive for remote in self.remotes):
            await self._start()
        remotes = [remote for remote in self.remotes if remote is not None]
        idlest = min(remotes, key=lambda remote: len(remote.out))
        own = remotes[zlib.crc32(host_of(url).encode()) % len(remotes)]
        chosen = own if own.alive and len(own.out) <= len(idlest.out) + AHEAD else idlest
        asked = chosen.ask(url, info, before, sent)
        try:
            return await asked
        finally:
            asked.cancel()  # the caller waits no longer

    async def _start(self) -> None:
        async with self._starting:
            for place, remote in enumerate(self.remotes):
                if self._closed:
                    raise Closed
                if remote is not None and remote.alive:
                    continue
                if remote is not None:
                    self._deaths = 0 if remote.answered else self._deaths + 1
                    if self._deaths >= MAX_DEATHS:
                        raise InputError(
                            f"{MAX_DEATHS} fetchers in a row ended before they had fetched a page; is there memory for "
                            f"{self.count}? Resume with fewer --fetchers"
                        )
                try:
                    self.remotes[place] = await Remote.start(self.options)
                except Died as error:
                    raise InputError(f"{error}; resume with fewer --fetchers") from None

    def close(self) -> None:
        self._closed = True
        for remote in self.remotes:
            if remote is not None:
                remote.close()


# The fetcher's side ----------------------------------------------------------------------------------------------------------
def serve(descriptor: int) -> None:
    """What a fetcher does: fetch what is asked for, until the crawl is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve(socket.socket(fileno=descriptor)))


async def _serve(line_socket: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    fetchers: list[Fetcher] = []
    tasks: set[asyncio.Task[None]] = set()

    async def one(number: int, url: str, info: bytes, before: Copy | None, tell_sent: bool) -> None:
        sent = (lambda: line.send((number, None))) if tell_sent else None
        line.send((number, await fetchers[0].fetch(url, info, before, sent)))

    def came(message: list[Any]) -> None:
        for what in message:
            if isinstance(what, FetchOptions):
                fetchers.append(Fetcher(what))
                continue
            task = loop.create_task(one(*what))
            tasks.add(task)
            task.add_done_callback(done)

    def done(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if task.exception() is not None:
            os._exit(1)  # a defect: the crawl sees the end of the process

    # The end of the line is the end of the crawl, however that came; workers that parse end with us.
    line = Line(came, lambda: os._exit(0))
    await loop.create_connection(lambda: line, sock=line_socket)
    await loop.create_future()
