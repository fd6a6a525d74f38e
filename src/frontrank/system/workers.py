"""Functions that must end: called in another process, which the system ends if they take too long.

Parsers written in C cannot be interrupted from a thread, and hold up every other thread meanwhile. A process can be ended.

    time        of the processor, not of the clock: SIGPROF ends a worker that has used ``cpu_s`` seconds on one call, so that
                a busy machine does not make slow pages of ordinary ones. The clock only ends a worker that hangs.
    memory      ``max_bytes`` of address space
    crashes     are the worker's own

A worker is started when there is work and no worker is free, up to ``max_workers``; it is used again and again until it dies.
It ends by itself when the process that started it is gone, however that ended. Functions are passed by name, so they must be
at the top level of a module. Any thread may call; a call waits for a free worker.

Cost: 0.15 s and 20 MB to start a worker; after that about 0.2 ms per call, and copying arguments and results.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import TracebackType
from typing import TypeVar

from frontrank.system.portable import is_linux

T = TypeVar("T")

CPU_S = 2.0
PATIENCE, MIN_WALL_S = 10.0, 30.0  # of the clock: so many times the processor's, but not less than this
MAX_BYTES = 3 * 2**30
START = "import sys; sys.path[:] = {path!r}; from frontrank.system.workers import serve; serve({socket}, {max_bytes})"


class TooLong(Exception):
    """A call took longer than it may."""


class Died(Exception):
    """A worker could not be started, or came to an end in the middle of a call: out of memory, or a crash."""


class Closed(Exception):
    """No calls are taken any more."""


def started(script: str = START, max_bytes: int = MAX_BYTES) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A process that runs this script, and our end of the line to it; raises Died."""
    ours, theirs = socket.socketpair()
    script = script.format(path=sys.path, socket=theirs.fileno(), max_bytes=max_bytes)
    with theirs:
        try:
            # In a session of its own: Ctrl-C is for the process that started it.
            process = subprocess.Popen(
                [sys.executable, "-c", script],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise Died(f"a worker cannot be started ({error.strerror})") from error
    return process, ours


class Worker:
    """A process, and the line to it."""

    def __init__(self, max_bytes: int) -> None:
        self.ready = False
        self.process, ours = started(max_bytes=max_bytes)
        self.line = Connection(ours.detach())

    def call(self, wall_s: float, cpu_s: float, function: Callable[..., T], given: tuple[object, ...]) -> T:
        try:
            self.line.send((function, given, cpu_s))
            if not self.line.poll(wall_s):
                raise TooLong
            value, error = self.line.recv()
        except (EOFError, OSError):
            raise TooLong if self.end() == -signal.SIGPROF else Died("a worker crashed") from None
        if error is not None:
            raise error
        result: T = value
        return result

    def end(self) -> int:
        """End it, if it has not ended by itself."""
        if not self.line.closed:
            self.line.close()
        try:
            return self.process.wait(0.1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Workers:
    """A few processes that call functions within a time limit.

    >>> with Workers() as workers:
    ...     workers.call(sorted, "cab")
    ['a', 'b', 'c']
    """

    def __init__(
        self,
        max_workers: int = 2,
        cpu_s: float = CPU_S,
        max_bytes: int = MAX_BYTES,
        *,
        wall_s: float | None = None,
        first: tuple[Callable[..., object], tuple[object, ...]] | None = None,
        first_s: float = CPU_S,
    ) -> None:
        """``first``: what each worker calls before all else, a function and what it is given, within ``first_s`` seconds."""
        self.cpu_s, self.max_bytes = cpu_s, max_bytes
        self.wall_s = max(PATIENCE * cpu_s, MIN_WALL_S) if wall_s is None else wall_s
        self.first, self.first_s = first, first_s
        self.started = 0
        self._room = threading.BoundedSemaphore(max_workers)
        self._free: list[Worker] = []
        self._busy: set[Worker] = set()
        self._lock = threading.Lock()
        self._closed = False

    def call(self, function: Callable[..., T], *given: object) -> T:
        """function(*given), called elsewhere; its exceptions are raised here."""
        with self._room:
            worker = self._take()
            whole = False
            try:
                if self.first is not None and not worker.ready:
                    worker.call(self.first_s, self.first_s, _called, self.first)
                worker.ready = True
                result = worker.call(self.wall_s, self.cpu_s, function, given)
                whole = True
                return result
            except (TooLong, Died):
                raise
            except Exception:
                whole = True
                raise
            finally:
                self._give_back(worker, whole)

    def _take(self) -> Worker:
        with self._lock:
            if self._closed:
                raise Closed
            worker = self._free.pop() if self._free else None
            if worker is None:
                worker = Worker(self.max_bytes)
                self.started += 1
            self._busy.add(worker)
            return worker

    def _give_back(self, worker: Worker, whole: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
            if whole and not self._closed:
                self._free.append(worker)
                return
        worker.process.kill()
        worker.end()

    def close(self) -> None:
        """Take no more calls, and end those that are under way."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
            for worker in self._busy:
                worker.process.kill()  # the thread that waits for it gets Died, and cleans up
        for worker in free:
            worker.process.kill()
            worker.end()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _called(function: Callable[..., object], given: tuple[object, ...]) -> None:
    """Call a function whose result may be of no use elsewhere."""
    function(*given)


def serve(line: int, max_bytes: int) -> None:
    """What a worker does: call what it is sent, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if is_linux():  # elsewhere the limit is not kept, or counts what is only reserved
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    calls = Connection(line)
    while True:
        try:
            function, given, cpu_s = calls.recv()
        except (EOFError, OSError):
            os._exit(0)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        answer: tuple[object, Exception | None]
        try:
            answer = (function(*given), None)
        except Exception as error:
            answer = (None, error)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        try:
            calls.send(answer)
        except OSError:
            os._exit(0)
