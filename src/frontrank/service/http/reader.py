"""How the crawls of a service are read: quick reads in this process, slow ones in processes of their own.

    here            methods of crawl.inspect that hold its lock for milliseconds
    past            a process that reads logs bit by bit (``past``), and another that looks for URLs in them
    replays         a process that replays logs (``replays``): seconds to minutes, one at a time
    telling         a process that sends commands to crawls of other processes, and waits until they have acted on them

What was read is kept for a moment: ten dashboards cost as much as one. Questions that would take a replay are refused
(``Busy``) when too many wait already. The processes start when they are first needed, and are ended if one takes too long.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.inbox import do
from frontrank.errors import BrokenCrawl, FrontrankError, InputError, StorageError, UnknownCrawl, nearest
from frontrank.orderings.stored import Trusted, trusted
from frontrank.service.http import replays
from frontrank.service.pool import reason_of
from frontrank.system.workers import Closed, Died, TooLong, Workers

if TYPE_CHECKING:
    from frontrank.service.crawls import Crawls

T = TypeVar("T")
PAST_S, REPLAY_S = 60.0, 600.0  # of the processor, for one question
MAX_BYTES = 2**46  # of address space: growing arrays reserve much more than they use
MAX_WAITING = 6  # questions that take a replay
MAX_CACHED = 500  # answers


class Busy(FrontrankError):
    """Too many questions wait that take long to answer."""


class ServedCrawl:
    """A crawl of this process. It is opened for questions that its summary does not answer."""

    def __init__(self, name: str, crawls: Crawls, folder: Path) -> None:
        self.name, self.crawls, self.folder = name, crawls, str(folder)

    @property
    def trusted(self) -> Trusted:
        """This process has the crawl open, with this ordering."""
        named: Trusted = self.notes().get("policy", False)
        return named

    @contextmanager
    def _use(self) -> Iterator[Crawl]:
        with self.crawls.use(self.name) as crawl:
            if crawl is None:
                raise UnknownCrawl(f"there is no crawl {self.name!r} any more")
            yield crawl

    def ask(self, method: str, *given: Any) -> Any:
        with self._use() as crawl:
            return getattr(crawl.inspect, method)(*given)

    def overview(self) -> dict[str, Any]:
        summary = self.crawls.summary(self.name)
        return dict(self.ask("overview")) if summary is None else summary.overview

    def tell(self, verb: str, **given: Any) -> bool:
        """Whether it is done; a crawl of another process may act on it later."""
        with self._use() as crawl:
            do(crawl, verb, given)
        return True

    def notes(self) -> dict[str, Any]:
        summary = self.crawls.summary(self.name)
        if summary is not None:
            return summary.notes
        with self._use() as crawl:
            return crawl.notes

    def as_of(self) -> float:
        """The moment that answers are about."""
        return time.time()

    def running(self) -> bool:
        return True


class WatchedCrawl:
    """A crawl in a directory, which another process may be at work on: that process reads commands from the crawl's inbox."""

    def __init__(self, name: str, folder: str, workers: Workers, telling: Workers, trusted: Trusted) -> None:
        self.name, self.folder, self.workers, self.telling, self.trusted = name, folder, workers, telling, trusted

    def ask(self, method: str, *given: Any) -> Any:
        try:
            return self._opening(self.workers, replays.watched, method, given)
        except (TooLong, Closed):
            raise
        except Exception as error:
            if isinstance(error, FrontrankError) and not isinstance(error, StorageError):
                raise  # this crawl cannot answer this question
            reason = "reading it ended a process" if isinstance(error, Died) else reason_of(error, Path(self.folder))
            raise BrokenCrawl(self.name, reason) from None

    def overview(self) -> dict[str, Any]:
        return dict(self.ask("overview"))

    def _opening(self, workers: Workers, function: Callable[..., T], *given: Any) -> T:
        answer: T = workers.call(replays.opening, self.trusted, function, self.folder, *given)
        return answer

    def tell(self, verb: str, **given: Any) -> bool:
        applied: bool = self._opening(self.telling, replays.tell, verb, given)
        self.workers.call(replays.forget, self.folder)
        return applied

    def notes(self) -> dict[str, Any]:
        return dict(self._opening(self.workers, replays.notes))

    def as_of(self) -> float:
        return self._opening(self.workers, replays.as_of)

    def running(self) -> bool:
        return bool(self.workers.call(replays.running, self.folder))


Source = ServedCrawl | WatchedCrawl


class CrawlReader:
    """Crawls of this process (``crawls``), or directories of crawls that are watched."""

    def __init__(self, crawls: Crawls | None = None, folders: dict[str, Path] | None = None) -> None:
        self.crawls, self.folders = crawls, {name: str(path.resolve()) for name, path in (folders or {}).items()}
        self.trusted = trusted()  # questions come in other threads
        self.past = Workers(1, PAST_S, MAX_BYTES, wall_s=2 * PAST_S)
        self.searching = Workers(1, PAST_S, MAX_BYTES, wall_s=2 * PAST_S)
        self.replays = Workers(1, REPLAY_S, MAX_BYTES, wall_s=2 * REPLAY_S)
        self.watching = Workers(1, PAST_S, MAX_BYTES, wall_s=2 * PAST_S)
        self.telling = Workers(1, PAST_S, MAX_BYTES, wall_s=2 * PAST_S)
        self._waiting = threading.BoundedSemaphore(MAX_WAITING)
        self._cache: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._flights: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def ids(self) -> list[str]:
        return sorted(self.folders) if self.crawls is None else self.crawls.ids()

    def source(self, name: str) -> Source:
        if self.crawls is None:
            if name in self.folders:
                return WatchedCrawl(name, self.folders[name], self.watching, self.telling, self.trusted)
        else:
            folder = self.crawls.folder_of(name)
            if folder is not None:
                return ServedCrawl(name or "DEFAULT", self.crawls, folder)
        raise UnknownCrawl(f"there is no crawl {name[:80]!r}{nearest(name[:80], self.ids()[:50])}")

    @property
    def active(self) -> bool:
        """Whether the service hands out pages of any crawl."""
        return self.crawls is None or self.crawls.active

    def set_active(self, state: bool) -> None:
        if self.crawls is None:
            raise InputError("these crawls are watched, not served: pause or resume each of them")
        self.crawls.active = state

    def trouble(self) -> bool:
        """Whether a crawl could not be opened, or its journal cannot be written any more."""
        return self.crawls is not None and self.crawls.has_trouble()

    def broken(self) -> dict[str, str]:
        """Crawls that cannot be opened, and why."""
        return {} if self.crawls is None else dict(self.crawls.broken)

    def slowly(self, source: Source, function: Callable[..., T], *given: Any) -> T:
        """A question about a crawl that takes a replay."""
        if not self._waiting.acquire(blocking=False):
            raise Busy("too many questions wait that take a replay of a crawl; ask again in a while")
        try:
            answer: T = self.replays.call(replays.opening, source.trusted, function, *given)
            return answer
        finally:
            self._waiting.release()

    def cached(self, key: Hashable, for_s: float, make: Callable[[], T]) -> T:
        """The answer that was made a moment ago for the same question, or a new one; simultaneous callers share it."""
        with self._lock:
            flight = self._flights.setdefault(key, threading.Lock())
        with flight:
            with self._lock:
                found = self._cache.get(key)
            if found is not None and time.monotonic() < found[0]:
                value: T = found[1]
                return value
            try:
                value = make()
            except BaseException:
                with self._lock:
                    self._flights.pop(key, None)
                raise
            with self._lock:
                self._cache[key] = (time.monotonic() + for_s, value)
                self._cache.move_to_end(key)
                while len(self._cache) > MAX_CACHED:
                    self._flights.pop(self._cache.popitem(last=False)[0], None)
            return value

    def forget(self) -> None:
        """Something was changed: answers from before are dropped."""
        with self._lock:
            self._cache.clear()
            self._flights = {key: flight for key, flight in self._flights.items() if flight.locked()}

    def close(self) -> None:
        for workers in (self.past, self.searching, self.replays, self.watching, self.telling):
            workers.close()
