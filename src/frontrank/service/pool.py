"""The crawls of a service by ID, of which as many are open as there are files for.

An open crawl has ``FILES`` files. Half of what the process may open is for crawls, the rest for connections, workers and crawls
that are in use although there is no room. A crawl is opened when it is used; if there is no room, the one that nobody has used
for longest is closed. It comes back as after a restart: with all that was acknowledged, leases and delays too. Whoever asks
about all crawls gets what was known of a closed one when it was closed.

A crawl that cannot be opened is broken, and says why. The others are served. It is tried again when it is used later.

Locks: that of the pool is held for moments, that of a crawl while it is opened or closed, which holds up only its own callers.
Whoever has the lock of a crawl may take the pool's, or try another crawl's without waiting.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.queues import QueueCounts
from frontrank.errors import BrokenCrawl, FrontrankError, UnknownCrawl
from frontrank.orderings.policy import Policy
from frontrank.service.reopening import has_room

FILES = 8  # the database, its log twice, its index and the lock; three more for a moment
RETRY_S, RETRY_FACTOR = 1.0, 10.0  # a broken crawl is not opened again before so long, or so many times what the attempt took
MAX_REASON = 500  # characters
CLOSERS = 8  # threads
MAX_UNSAVED = 5_000  # pages since the last snapshot of a crawl that is closed

logger = logging.getLogger("frontrank.service")


class CrawlSummary(NamedTuple):
    """What is asked of all crawls, of one that is closed."""

    overview: dict[str, Any]
    notes: dict[str, Any]
    counts: QueueCounts
    ready_at: float  # a page may be taken from then on

    @classmethod
    def of(cls, crawl: Crawl) -> CrawlSummary:
        counts, next_at = crawl.queues.counts(), crawl.next_at()
        ready_at = min([next_at] if next_at is not None else [], default=float("inf"))
        lease_ends = min(crawl.state.leases.values(), default=float("inf")) - crawl.inspect.shift
        return cls(crawl.inspect.overview(), dict(crawl.notes), counts, min(ready_at, lease_ends))


@dataclass
class PooledCrawl:
    """One crawl, open, closed or broken."""

    name: str
    folder: Path
    crawl: Crawl | None = None
    policy: Policy | None = None
    summary: CrawlSummary | None = None  # if it is closed
    reason: str = ""  # why it could not be opened
    retry_at: float = 0.0
    users: int = 0
    used: int = 0  # which use of all was its last
    lock: threading.Lock = field(default_factory=threading.Lock)


class CrawlPool:
    """``recover`` opens the crawl of a directory; ``check`` raises an error if an open one is not to be used."""

    def __init__(self, recover: Callable[[Path], Crawl], check: Callable[[str, Crawl], None], max_open: int) -> None:
        self.recover, self.check, self.max_open = recover, check, max_open
        self._lock = threading.Lock()
        self._entries: dict[str, PooledCrawl] = {}
        self._uses = itertools.count(1)
        self._closed = False

    # What is there ----------------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self._entries)

    def names(self) -> list[str]:
        """Of all crawls that are not broken, in alphabetical order."""
        with self._lock:
            return sorted(name for name, entry in self._entries.items() if not entry.reason)

    def broken(self) -> dict[str, str]:
        """Crawls that could not be opened, and why."""
        with self._lock:
            return {name: entry.reason for name, entry in sorted(self._entries.items()) if entry.reason}

    def find(self, name: str) -> PooledCrawl | None:
        return self._entries.get(name)

    def open_crawls(self) -> list[Crawl]:
        with self._lock:
            return [entry.crawl for entry in self._entries.values() if entry.crawl is not None]

    def policies(self) -> list[Policy]:
        with self._lock:
            return [entry.policy for entry in self._entries.values() if entry.policy is not None]

    def summary(self, name: str) -> CrawlSummary | None:
        """What was known of a crawl when it was closed; None if it is open, or not there."""
        with self._lock:
            entry = self._entries.get(name)
            return None if entry is None or entry.crawl is not None else entry.summary

    # Use --------------------------------------------------------------------------------------------------------------------
    @contextmanager
    def use(self, name: str) -> Iterator[Crawl | None]:
        """The crawl of this ID, which stays open meanwhile; None if there is none."""
        with self._lock:
            entry = self._entries.get(name)
            if entry is not None:
                entry.users += 1
                entry.used = next(self._uses)
        if entry is None:
            yield None
            return
        try:
            crawl = entry.crawl or self._opened(entry)  # with a user, one that is open stays open
            self.check(name, crawl)
            yield crawl
        finally:
            with self._lock:
                entry.users -= 1

    def _opened(self, entry: PooledCrawl) -> Crawl:
        with entry.lock:
            if entry.crawl is not None:
                return entry.crawl
            if self._closed or self._entries.get(entry.name) is not entry:
                raise UnknownCrawl(f"there is no crawl {entry.name!r} any more")
            if entry.reason and time.monotonic() < entry.retry_at:
                raise BrokenCrawl(entry.name, entry.reason)
            self.make_room()
            begun = time.monotonic()
            try:
                crawl = self.recover(entry.folder)
            except Exception as error:
                entry.reason = reason_of(error, entry.folder)
                entry.retry_at = time.monotonic() + max(RETRY_S, RETRY_FACTOR * (time.monotonic() - begun))
                logger.debug("crawl %r cannot be opened", entry.name, exc_info=True)
                raise BrokenCrawl(entry.name, entry.reason) from None
            with self._lock:
                entry.crawl, entry.policy, entry.reason = crawl, crawl.state.policy, ""
            return crawl

    # Which crawls there are -------------------------------------------------------------------------------------------------
    def add(self, name: str, folder: Path, crawl: Crawl) -> None:
        with self._lock:
            self._entries[name] = PooledCrawl(name, folder, crawl, crawl.state.policy, used=next(self._uses))

    def add_broken(self, name: str, folder: Path, error: Exception) -> None:
        logger.debug("crawl %r cannot be opened", name, exc_info=error)
        with self._lock:
            self._entries[name] = PooledCrawl(name, folder, reason=reason_of(error, folder))

    def withdraw(self, entry: PooledCrawl) -> None:
        """There is no such crawl any more; calls that are under way continue until ``abandon``."""
        with self._lock:
            del self._entries[entry.name]

    def abandon(self, entry: PooledCrawl) -> int:
        """Close a withdrawn crawl as it is; returns how many pages were not completed. Calls under way get CrawlClosed."""
        with entry.lock:
            crawl, entry.crawl = entry.crawl, None
            if crawl is None:
                return entry.summary.counts.active if entry.summary is not None else 0
            active = 0 if crawl.inspect.broken else crawl.queues.counts().active
            crawl.abandon()
            return active

    def unwritten(self) -> list[str]:
        """Open crawls that cannot be written."""
        with self._lock:
            return [name for name, entry in self._entries.items() if entry.crawl is not None and entry.crawl.inspect.broken]

    def reopen(self, name: str) -> bool:
        """Open a crawl that cannot be written as it is stored. False if that does not work yet."""
        entry = self._entries.get(name)
        if entry is None:
            return True
        with entry.lock:
            old = entry.crawl
            if old is None or not old.inspect.broken:
                return True
            if not has_room(entry.folder):
                return False
            old.abandon()
            try:
                crawl = self.recover(entry.folder)
            except Exception as error:  # whatever it is, the next attempt may be better
                logger.warning("crawl %r cannot be opened again yet: %s", name, error)
                return False
            entry.crawl, entry.policy = crawl, crawl.state.policy
            logger.warning("crawl %r is opened again as it is stored; before, %s", name, old.inspect.broken)
            return True

    def close(self, until: float) -> None:
        """Close all crawls; snapshots that are not written by then, on the monotonic clock, are given up."""
        self._closed = True
        with ThreadPoolExecutor(CLOSERS) as threads:
            failures = list(threads.map(lambda entry: self._close(entry, until), list(self._entries.values())))
        with self._lock:
            self._entries.clear()
        for error in filter(None, failures):
            raise error

    def _close(self, entry: PooledCrawl, until: float) -> FrontrankError | None:
        with entry.lock:
            crawl, entry.crawl = entry.crawl, None
            try:
                if crawl is not None:
                    crawl.close(max(0.0, until - time.monotonic()))
            except FrontrankError as error:  # the others are closed all the same
                return error
        return None

    # Room -------------------------------------------------------------------------------------------------------------------
    def make_room(self) -> None:
        """Close crawls that are idle until another one may be opened; if all are in use, it is opened all the same."""
        while True:
            with self._lock:
                opened = [entry for entry in self._entries.values() if entry.crawl is not None]
                idle = sorted((entry for entry in opened if not entry.users), key=lambda entry: entry.used)
            if len(opened) < self.max_open or not any(map(self._close_idle, idle)):
                return

    def _close_idle(self, entry: PooledCrawl) -> bool:
        if not entry.lock.acquire(blocking=False):
            return False
        try:
            with self._lock:
                crawl = entry.crawl
                if crawl is None or entry.users or crawl.inspect.broken or crawl.state.ranking.under_way:
                    return False
                entry.crawl = entry.summary = None  # a caller that needs it now waits for its lock, and opens it again
            with suppress(FrontrankError):
                entry.summary = CrawlSummary.of(crawl)
            try:
                with crawl:
                    if crawl.inspect.unsaved > MAX_UNSAVED:
                        crawl.snapshot()  # it may have few events, each of many pages: it comes back quickly all the same
            except Exception as error:  # what was acknowledged is in its log all the same
                logger.warning("crawl %r was closed without a snapshot (%s)", entry.name, error)
            return True
        finally:
            entry.lock.release()


def reason_of(error: Exception, folder: Path) -> str:
    """Why a crawl cannot be opened, for callers too: the path of its directory is not theirs to know.

    >>> reason_of(FrontrankError("/srv/a: the trace cannot be read"), Path("/srv/a"))
    'the trace cannot be read'
    >>> reason_of(KeyError("seq"), Path("/srv/a"))
    "it is damaged, or this is a defect (KeyError: 'seq')"
    """
    if isinstance(error, FrontrankError):
        reason = str(error)
    elif isinstance(error, OSError):
        reason = f"it cannot be read ({error.strerror or type(error).__name__})"
    else:
        reason = f"it is damaged, or this is a defect ({type(error).__name__}: {error})"
    reason = reason.replace(f"{folder}: ", "").replace(str(folder), "its directory")
    return "".join(sign if sign.isprintable() else " " for sign in reason[:MAX_REASON])
