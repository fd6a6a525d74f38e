"""Pages and sitemaps of strangers, read without holding up the crawl.

Small tame pages are parsed at once; all else by a worker process with a deadline (system/workers.py), which answers through
the event loop, so that no thread waits. A host has at most one worker at a time: its slow pages hold up its own pages alone.
"""

from __future__ import annotations

import asyncio
import pickle
import signal
import struct
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from frontrank.pages import bounded
from frontrank.pages.bounded import WORKERS
from frontrank.pages.html import Page
from frontrank.system.workers import CPU_S, MIN_WALL_S, PATIENCE, Closed, Died, TooLong, started

T = TypeVar("T")

LONG = struct.Struct("!i"), struct.Struct("!Q")  # how multiprocessing's connections frame what they send


class Hosts:
    """One at a time of each host."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, list[None]]] = {}

    @asynccontextmanager
    async def one_at_a_time(self, host: str) -> AsyncIterator[None]:
        lock, waiting = self._locks.setdefault(host, (asyncio.Lock(), []))
        waiting.append(None)
        try:
            async with lock:
                yield
        finally:
            waiting.pop()
            if not waiting:
                self._locks.pop(host, None)


class Parsing:
    """The workers of one crawl."""

    def __init__(self, workers: int = WORKERS, cpu_s: float = CPU_S) -> None:
        self.workers = Workers(workers, cpu_s)
        self._hosts = Hosts()

    def at_once(self, body: bytes, url: str, encoding: str | None, max_links: int, text: bool) -> Page | None:
        """The page, if it cannot take long."""
        return bounded.parse_here(body, url, encoding, max_links, text)

    async def page(self, host: str, body: bytes, url: str, encoding: str | None, max_links: int, text: bool) -> Page:
        """The page, or what could be read of it in time (bounded.attempts)."""
        trying = bounded.attempts(body, url, encoding, max_links, text)
        async with self._hosts.one_at_a_time(host):
            function, given = next(trying)
            while True:
                try:
                    try:
                        answer = await self.workers.call(function, *given)
                    except Exception as error:
                        function, given = trying.throw(error)
                    else:
                        function, given = trying.send(answer)
                except StopIteration as end:
                    page: Page = end.value
                    return page

    async def call(self, host: str, function: Callable[..., T], *given: object) -> T:
        """A function of bytes that come from this host; raises TooLong or Died if it has no result."""
        async with self._hosts.one_at_a_time(host):
            return await self.workers.call(function, *given)

    def close(self) -> None:
        """End what is under way: callers that wait get an error."""
        self.workers.close()


class Judging:
    """Functions that themselves wait, called in threads of their own; of one host one at a time."""

    def __init__(self, threads: int = WORKERS) -> None:
        self._threads = ThreadPoolExecutor(threads, "judging")
        self._hosts = Hosts()

    async def wait_for(self, host: str, function: Callable[..., T], *given: object) -> T:
        async with self._hosts.one_at_a_time(host):
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *given)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class Workers:
    """pages.workers.Workers for the event loop: the same processes, deadlines and exceptions."""

    def __init__(self, max_workers: int, cpu_s: float) -> None:
        self.cpu_s, self.wall_s = cpu_s, max(PATIENCE * cpu_s, MIN_WALL_S)
        self._room = asyncio.Semaphore(max_workers)
        self._free: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False

    async def call(self, function: Callable[..., T], *given: object) -> T:
        async with self._room:
            if self._closed:
                raise Closed
            worker = self._free.pop() if self._free else await Worker.start()
            self._busy.add(worker)
            whole = False
            try:
                value, error = await worker.call(self.wall_s, (function, given, self.cpu_s))
                whole = True
            except (TooLong, Died):
                if self._closed:
                    raise Closed from None
                raise
            finally:
                self._busy.discard(worker)
                if whole and not self._closed:
                    self._free.append(worker)
                else:
                    worker.kill()
            if error is not None:
                raise error
            result: T = value
            return result

    def close(self) -> None:
        self._closed = True
        for worker in (*self._free, *self._busy):
            worker.kill()
        self._free = []


class Worker:
    def __init__(self, process: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process, self.reader, self.writer = process, reader, writer

    @classmethod
    async def start(cls) -> Worker:
        process, line = started()
        reader, writer = await asyncio.open_connection(sock=line)
        return cls(process, reader, writer)

    async def call(self, wall_s: float, what: object) -> Any:
        data = pickle.dumps(what)
        try:
            async with asyncio.timeout(wall_s):
                self.writer.write(LONG[0].pack(len(data)) if len(data) < 2**31 else LONG[0].pack(-1) + LONG[1].pack(len(data)))
                self.writer.write(data)
                (length,) = LONG[0].unpack(await self.reader.readexactly(4))
                if length == -1:
                    (length,) = LONG[1].unpack(await self.reader.readexactly(8))
                return pickle.loads(await self.reader.readexactly(length))
        except TimeoutError:
            raise TooLong from None
        except (asyncio.IncompleteReadError, OSError):
            code = await asyncio.to_thread(self._ended)
            raise TooLong if code == -signal.SIGPROF else Died("a worker crashed") from None

    def _ended(self) -> int:
        try:
            return int(self.process.wait(1.0))
        except Exception:  # it lives on, without a line to us
            self.process.kill()
            return int(self.process.wait())

    def kill(self) -> None:
        self.process.kill()
        self.writer.transport.abort()
        self.process.wait()
