"""Machine code is made by one process at a time: others that want the same kernel wait for it, and load what it made.

numba's on-disk cache lets every process compile for itself. Several that start together (fetchers, workers of tests, commands
of a script) then spend minutes on the same code. And what they store can be mixed up: two signatures of one kernel, stored at
the same moment, get the same file, and a process that comes later is given the machine code of the wrong one.

A kernel that is in the cache is loaded without a lock. The lock of a kernel is a file beside its code, and ends with the
process that has it. A kernel waits for those that it calls, never the other way round: no two processes wait for each other.
One that was suspended amid its work is not waited for for ever.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

TRIES, TRIED_EVERY_S = 12_000, 0.05  # ten minutes


def compile_once(made: Any) -> None:
    """Have this dispatcher of numba compile only what no other process has compiled, or is compiling."""
    try:
        cache, compile_it = made._cache, made.compile
        load, held = cache.load_overload, Held(os.path.splitext(cache._cache_file._index_path)[0] + ".lock")
        cache._impl.locator  # noqa: B018
    except AttributeError:  # private names of numba's: a release without them compiles as it always did
        return

    def load_overload(signature: Any, context: Any) -> Any:
        found = load(signature, context)
        if found is None and held.take(cache._impl.locator.ensure_cache_path):
            found = load(signature, context)
        return found

    def compile_one(signature: Any) -> Any:
        before = held.count
        try:
            return compile_it(signature)
        finally:
            if held.count > before:
                held.give_back()

    cache.load_overload, made.compile = load_overload, compile_one


class Held(threading.local):
    """The lock of one kernel, as each thread holds it."""

    def __init__(self, path: str) -> None:
        self.path, self.file, self.count = path, -1, 0

    def take(self, make_folder: Callable[[], None]) -> bool:
        """Wait for the lock; False if this thread has it, or there can be none."""
        if self.count:
            return False
        try:
            make_folder()
            self.file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        except OSError:
            return False
        try:
            self.count = int(self._wait())
        finally:
            if not self.count:
                os.close(self.file)
        return bool(self.count)

    def _wait(self) -> bool:
        for _ in range(TRIES):
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                time.sleep(TRIED_EVERY_S)
            except OSError:  # a file system without locks
                break
        return False

    def give_back(self) -> None:
        self.count = 0
        with suppress(OSError):
            fcntl.flock(self.file, fcntl.LOCK_UN)  # closing is not enough if this process was forked meanwhile
        os.close(self.file)
