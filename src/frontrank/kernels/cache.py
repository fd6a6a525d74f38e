"""Machine code is compiled by one process at a time, and stored in a folder of frontrank's own (``code_folder``).

numba's cache lets every process compile for itself. Several that start together (fetchers, workers of tests, commands of a
script) then spend minutes on the same code, and two signatures of one kernel, stored at the same moment, get the same file. So
a process that compiles holds a lock, a file beside the code, which ends with the process. A kernel that is in the cache is
loaded without a lock. A kernel waits for those that it calls, never the other way round, so no two processes wait for each
other. Waiting for a process that was suspended while compiling ends after some time.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import caching

from frontrank.kernels.code_folder import code_folder, delete_unused

ATTEMPTS, PAUSE_S = 12_000, 0.05  # at a lock: ten minutes


class Locator(caching._CacheLocator):
    """Names the folder. What a kernel is made of is in its name, so that there is no stamp to compare."""

    def get_cache_path(self) -> str:
        return str(code_folder())

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return ""

    @classmethod
    def from_function(cls, function: FunctionType, path: str) -> Locator:
        return cls()


class KernelCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [Locator]  # type: ignore[list-item]


class KernelCache(caching.FunctionCache):
    """numba's cache of one kernel, in our folder, under a lock while it is compiled."""

    _impl_class = KernelCacheImpl

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._index = Path(self._cache_file._index_path)
        self.lock = CompileLock(self._index.with_suffix(".lock"))

    def load_overload(self, signature: Any, context: Any) -> Any:
        found = self._load(signature, context)
        if found is None and self.lock.acquire():
            found = self._load(signature, context)  # by now another process may have compiled it
        return found

    def _load(self, signature: Any, context: Any) -> Any:
        try:
            found = super().load_overload(signature, context)  # type: ignore[no-untyped-call]
            if found is not None:
                os.utime(self._index)
        except Exception:  # a damaged file: what cannot be read is compiled anew, and replaced
            self.flush()
            return None
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        with suppress(OSError):  # a full disk: the code is there, but not kept
            super().save_overload(signature, result)  # type: ignore[no-untyped-call]
            delete_unused(self._index.parent)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()  # type: ignore[no-untyped-call]


def keep(dispatcher: Any) -> None:
    """Have a dispatcher of numba load what was compiled before, and keep what it compiles."""
    kernel_cache = KernelCache(dispatcher.py_func)
    compile_it = dispatcher.compile

    def compile_one(signature: Any) -> Any:
        before = kernel_cache.lock.depth
        try:
            return compile_it(signature)
        finally:
            if kernel_cache.lock.depth > before:
                kernel_cache.lock.release()

    dispatcher._cache, dispatcher.compile = kernel_cache, compile_one


class CompileLock(threading.local):
    """The lock of one kernel, as each thread holds it."""

    def __init__(self, path: Path) -> None:
        self.path, self.file, self.depth = path, -1, 0

    def acquire(self) -> bool:
        """Wait for the lock; False if this thread has it, or there can be none."""
        if self.depth:
            return False
        try:
            self.file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        try:
            self.depth = int(self._wait())
        finally:
            if not self.depth:
                os.close(self.file)
        return bool(self.depth)

    def _wait(self) -> bool:
        for _ in range(ATTEMPTS):
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                time.sleep(PAUSE_S)
            except OSError:  # a file system without locks
                break
        return False

    def release(self) -> None:
        self.depth = 0
        with suppress(OSError):
            fcntl.flock(self.file, fcntl.LOCK_UN)  # closing is not enough if this process was forked meanwhile
        os.close(self.file)
