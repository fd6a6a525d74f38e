"""Crawls that could not be written are opened again from what is stored, until that works, without a restart of the service."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from frontrank.system.files import private
from frontrank.system.portable import sync

MIN_PAUSE_S, MAX_PAUSE_S = 0.1, 10.0
ROOM = 2**20  # bytes that must fit on the disk before a crawl is opened again
PROBE = "room.tmp"


class Reopener:
    """Tries again and again, in a thread of its own, with pauses that double from ``MIN_PAUSE_S`` to ``MAX_PAUSE_S``.

    The pause is that of the disk, which all crawls share. It is short again after ``MAX_PAUSE_S`` in which nothing broke.
    ``reopen`` gets the name of a crawl, and returns whether it is open again, or gone.
    """

    def __init__(self, reopen: Callable[[str], bool]) -> None:
        self._reopen = reopen
        self._names: set[str] = set()
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, name: str) -> None:
        """Have a crawl opened again; nothing happens if it is waiting for that already."""
        with self._changed:
            if name in self._names or self._ended.is_set():
                return
            self._names.add(name)
            self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="frontrank-reopen", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End the thread, and wait for a crawl that is being opened."""
        self._ended.set()
        with self._changed:
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        pause_s = MIN_PAUSE_S
        while self._is_wanted():
            self._ended.wait(pause_s)
            pause_s = min(2 * pause_s, MAX_PAUSE_S)
            for name in sorted(self._names):
                if not self._ended.is_set() and self._reopen(name):
                    with self._changed:
                        self._names.discard(name)

    def _is_wanted(self) -> bool:
        with self._changed:
            wanted = self._changed.wait_for(lambda: self._names or self._ended.is_set(), MAX_PAUSE_S)
            if wanted and not self._ended.is_set():
                return True
            self._thread = None
            return False


def has_room(folder: Path) -> bool:
    """Whether the disk takes what is written: asked first, as opening a large crawl takes seconds."""
    probe = folder / PROBE
    try:
        with open(probe, "wb", opener=private) as file:
            file.write(bytes(ROOM))
            file.flush()
            sync(file.fileno())
        return True
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
