"""Threads in one thread: each runs until it waits, and who runs next follows from the seed.

``Threads.module`` stands in for the module ``threading`` in frontrank. The event loop runs one thread that is ready between two
of its own turns; the loop's own code, in the main thread, lets others run when it waits for a lock, an event or an end.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from functools import partial
from random import Random
from types import TracebackType
from typing import Any

import greenlet

from tests.faults.clock import Clock


class Stuck(Exception):
    """Nothing can ever happen again."""


class Threads:
    def __init__(self, clock: Clock, random: Random) -> None:
        self.clock, self.random = clock, random
        self.main = greenlet.getcurrent()
        self.ready: list[greenlet.greenlet] = []
        self.alive: list[Thread] = []
        self.died: list[BaseException] = []
        self._timers: list[tuple[float, int, greenlet.greenlet]] = []
        self._waiting: dict[greenlet.greenlet, Callable[[], bool]] = {}
        self._numbers = itertools.count()
        self.module = Module(self)
        clock.sleep = self.sleep

    def next_at(self) -> float | None:
        return self._timers[0][0] if self._timers else None

    def wake_due(self) -> None:
        while self._timers and self._timers[0][0] <= self.clock.now:
            self.wake(heapq.heappop(self._timers)[2])

    def wake(self, thread: greenlet.greenlet) -> None:
        if thread not in self.ready and not thread.dead:
            self.ready.append(thread)

    def run_one(self) -> bool:
        """Let one thread run, if one is ready. Called by the main thread."""
        self.wake_due()
        if not self.ready:
            return False
        self.ready.pop(self.random.randrange(len(self.ready))).switch()
        return True

    def wait(self, until: Callable[[], bool], timeout: float | None = None) -> bool:
        """Let others run until this holds, or the time is over."""
        end = None if timeout is None else self.clock.now + max(timeout, 0.0)
        while not until():
            if end is not None and self.clock.now >= end:
                return False
            if greenlet.getcurrent() is not self.main:
                self._pass(until, end)
            elif not self.run_one():
                times = [at for at in (self.next_at(), end) if at is not None]
                if not times:
                    raise Stuck("the main thread waits for what no thread will do")
                self.clock.advance_to(min(times))
        return True

    def _pass(self, until: Callable[[], bool], end: float | None) -> None:
        me = greenlet.getcurrent()
        if end is not None:
            heapq.heappush(self._timers, (end, next(self._numbers), me))
        self._waiting[me] = until
        try:
            self.main.switch()
        finally:
            self._waiting.pop(me, None)

    def sleep(self, seconds: float) -> None:
        end = self.clock.now + max(seconds, 0.0)
        self.wait(lambda: self.clock.now >= end, seconds)

    def pause(self) -> None:
        """A place at which another thread may come first."""
        me = greenlet.getcurrent()
        if me is not self.main:
            self.ready.append(me)
            self.main.switch()
        elif self.ready and self.random.random() < 0.2:
            self.run_one()

    def woken(self) -> None:
        """Something has changed: whoever waited for it goes on."""
        for thread, until in self._waiting.items():
            if until():
                self.wake(thread)

    def end_named(self, prefix: str) -> None:
        """The process that had these threads is gone."""
        for thread in list(self.alive):
            if thread.name.startswith(prefix) and not thread.fibre.dead:
                thread.fibre.throw(greenlet.GreenletExit)

    def end_all(self) -> None:
        """The process is gone, and its threads with it."""
        for thread in list(self.alive):
            if not thread.fibre.dead:
                thread.fibre.throw(greenlet.GreenletExit)
        self.alive, self.ready, self._timers = [], [], []


class Module:
    """What frontrank uses of ``threading``."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    def Thread(self, **given: Any) -> Thread:
        return Thread(self._threads, **given)

    def Event(self) -> Event:
        return Event(self._threads)

    def RLock(self) -> Lock:
        return Lock(self._threads)

    Lock = RLock

    def Condition(self, lock: Any = None) -> Condition:
        return Condition(self._threads, lock or Lock(self._threads))

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)


class Thread:
    def __init__(
        self, threads: Threads, target: Callable[..., object], args: tuple[Any, ...] = (), name: str = "", daemon: bool = False
    ) -> None:
        self.threads, self.target, self.args, self.name, self.daemon = threads, target, args, name, daemon
        self.fibre = greenlet.greenlet(self._run, threads.main)

    def start(self) -> None:
        self.threads.alive.append(self)
        self.threads.ready.append(self.fibre)

    def _run(self) -> None:
        try:
            self.target(*self.args)
        except Exception as error:
            self.threads.died.append(error)
        finally:
            if self in self.threads.alive:
                self.threads.alive.remove(self)
            self.threads.woken()

    def is_alive(self) -> bool:
        return not self.fibre.dead

    def join(self, timeout: float | None = None) -> None:
        self.threads.wait(lambda: self.fibre.dead, timeout)


class Event:
    def __init__(self, threads: Threads) -> None:
        self.threads, self._set = threads, False

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True
        self.threads.woken()

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout: float | None = None) -> bool:
        self.threads.wait(self.is_set, timeout)
        return self._set


class Lock:
    """A lock that its owner may take again."""

    def __init__(self, threads: Threads) -> None:
        self.threads, self.depth = threads, 0
        self.owner: Any = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = greenlet.getcurrent()
        if self.owner is not me:
            if self.owner is None and self.threads.ready:
                self.threads.pause()
            if self.owner is not None and not (
                blocking and self.threads.wait(lambda: self.owner is None, None if timeout < 0 else timeout)
            ):
                return False
        self.owner, self.depth = me, self.depth + 1
        return True

    def release(self) -> None:
        self.depth -= 1
        if not self.depth:
            self.owner = None
            self.threads.woken()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


class Condition:
    """Something that threads wait for with a lock, which others have meanwhile."""

    def __init__(self, threads: Threads, lock: Lock) -> None:
        self.threads, self.lock, self.changes = threads, lock, 0

    def __enter__(self) -> bool:
        return self.lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.lock.release()

    def notify_all(self) -> None:
        self.changes += 1
        self.threads.woken()

    notify = notify_all

    def _changed_since(self, before: int) -> bool:
        return self.changes != before

    def wait_for(self, until: Callable[[], object], timeout: float | None = None) -> object:
        end = None if timeout is None else self.threads.clock.now + timeout
        while not (found := until()):
            if end is not None and self.threads.clock.now >= end:
                break
            before = self.changes
            self.lock.release()
            try:
                self.threads.wait(partial(self._changed_since, before), None if end is None else end - self.threads.clock.now)
            finally:
                self.lock.acquire()
        return found


class InlineExecutor:
    """A pool of threads that works in the thread that asks it."""

    def __init__(self, max_workers: int) -> None:
        pass

    def __enter__(self) -> InlineExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, call: Callable[..., Any], items: list[Any]) -> list[Any]:
        return [call(item) for item in items]
