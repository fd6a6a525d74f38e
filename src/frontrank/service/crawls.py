"""The crawls of a service, by ID."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import is_locked
from frontrank.errors import CrawlClosed, DiskFull, InputError, StorageError, TooMany, UnknownCrawl, nearest
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import to_data
from frontrank.service.crawl_factory import CrawlFactory
from frontrank.service.crawl_ids import DEFAULT, crawl_id, directory_of, id_of
from frontrank.service.folder import ServiceFolder, holds_crawl
from frontrank.service.pool import FILES, CrawlPool, CrawlSummary
from frontrank.service.reopening import Reopener
from frontrank.service.serve_options import ServeOptions
from frontrank.system.files import file_limit

CLOSING_S = 1.0  # snapshots are written in this time
POLITE = Politeness(delay_s=ServeOptions.delay)

logger = logging.getLogger("frontrank.service")


class Crawls:
    """Crawls by ID, each with an ordering of its own. Any thread may call any method at any time.

    ``policy`` and ``politeness`` are those of new crawls; ``orderings`` has others for some IDs. An existing crawl keeps the
    ordering it was started with, and ``kept`` says so; with ``rescore`` it gets the one that is given, which sees everything
    that happened. ``revisit_share`` holds for all crawls, if it is given. ``broken`` has those that could not be opened, and
    why: the others are served all the same.

    As many are open as there are files for, ``max_open`` if it is given. ``use`` keeps one open for as long as it is needed;
    one that ``get``, ``find`` or ``get_or_start`` returned is closed when it has been idle for longest and others are used.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        policy: Policy | str | None = None,
        politeness: Politeness | None = None,
        orderings: Mapping[str, Policy | str] | None = None,
        *,
        rescore: bool = False,
        revisit_share: float | None = None,
        clock: Callable[[], float] = time.time,
        sync_s: float = 1.0,
        max_crawls: int = ServeOptions.max_crawls,  # each has a directory
        max_open: int | None = None,
    ) -> None:
        if max_crawls < 1:
            raise InputError(f"a service must have room for at least 1 crawl, got {max_crawls}")
        self.folder, self.max_crawls, self.clock = Path(folder), max_crawls, clock
        self._factory = CrawlFactory(
            policy, orderings, rescore=rescore, revisit_share=revisit_share, clock=clock, sync_s=sync_s
        )
        self.kept: list[str] = []  # orderings that were asked for, and do not hold for an existing crawl
        self._lock = threading.RLock()  # while a crawl is started or deleted, or settings change
        self._deleted = threading.Condition(self._lock)
        self._deleting: set[str] = set()  # crawls that are being deleted
        max_open = max(1, file_limit() // 2 // FILES) if max_open is None else max_open
        self._pool = CrawlPool(self._factory.recover, self._check_written, max_open)
        self._reopener = Reopener(self._pool.reopen)
        self._storage = ServiceFolder(self.folder)
        try:
            stored = self._storage.read_settings()
            self._active = bool(stored.get("active", True))
            self._delays = dict[str, float](stored.get("delays", {}))  # of crawls that have not been used since
            self.politeness = politeness or Politeness(**stored.get("politeness", POLITE.json()))
            self._write_settings()
            for path in self._storage.crawl_directories():
                self._open(path)
        except BaseException:
            self.close()
            raise

    # Which there are ---------------------------------------------------------------------------------------------------------
    def ids(self) -> list[str]:
        """The IDs of all crawls that are served, in alphabetical order. It never blocks."""
        return self._pool.names()

    @property
    def broken(self) -> dict[str, str]:
        """Crawls that could not be opened, and why."""
        return self._pool.broken()

    def __contains__(self, given: str) -> bool:
        return crawl_id(given) in self._pool.names()

    def use(self, given: str = DEFAULT) -> AbstractContextManager[Crawl | None]:
        """The crawl of this ID, which stays open meanwhile; None if there is none."""
        return self._pool.use(self._key(crawl_id(given)))

    @contextmanager
    def use_or_start(self, given: str = DEFAULT, policy: Policy | str | None = None) -> Iterator[Crawl]:
        """The same; it is started if it is not there, with this ordering, or the one that is set for the ID."""
        name = crawl_id(given)
        if self._pool.find(self._key(name)) is None:
            self._start(name, policy)
        with self.use(name) as crawl:
            if crawl is None:
                raise UnknownCrawl(f"the crawl {name!r} was deleted a moment ago")
            yield crawl

    def summary(self, given: str) -> CrawlSummary | None:
        """What was known of a crawl when it was closed because it was idle; None if it is open, or not there."""
        return self._pool.summary(crawl_id(given))

    def folder_of(self, given: str) -> Path | None:
        """The directory of a crawl, be it open or not; None if there is none."""
        entry = self._pool.find(self._key(crawl_id(given)))
        if entry is not None and entry.reason:
            with self.use(given):  # it can be opened again, or an error says why not
                pass
        return None if entry is None else entry.folder

    def open_crawls(self) -> list[Crawl]:
        return self._pool.open_crawls()

    def get(self, given: str = DEFAULT) -> Crawl:
        """The crawl of this ID."""
        found = self.find(given)
        if found is None:
            raise UnknownCrawl(f"there is no crawl {crawl_id(given)!r}{nearest(crawl_id(given), self.ids())}")
        return found

    def find(self, given: str = DEFAULT) -> Crawl | None:
        """The crawl of this ID, None if there is none."""
        with self.use(given) as crawl:
            return crawl

    def has_trouble(self) -> bool:
        """Whether a crawl could not be opened, or cannot be written. It never blocks."""
        unwritten = self._pool.unwritten()
        for name in unwritten:
            self._reopener.add(name)
        return bool(unwritten or self.broken)

    def get_or_start(self, given: str = DEFAULT, policy: Policy | str | None = None) -> Crawl:
        """The crawl of this ID. It is started if it is not there: with this ordering, or the one that is set for the ID."""
        with self.use_or_start(given, policy) as crawl:
            return crawl

    def _start(self, name: str, policy: Policy | str | None) -> None:
        with self._lock:
            self._deleted.wait_for(lambda: name not in self._deleting)
            self._storage.check_open()
            if self._pool.find(self._key(name)) is not None:
                return
            if len(self._pool) >= self.max_crawls:
                raise TooMany(f"there are {self.max_crawls:,} crawls, as many as there may be; delete one, or use one of them")
            ordering = as_policy(policy) if policy is not None else self._factory.ordering_for(name)
            folder = self.folder / directory_of(name)
            self._pool.make_room()
            self._pool.add(name, folder, self._factory.start(name, folder, ordering, self.politeness))
            logger.info("crawl %r begins with %s", name, ordering.spec())

    def _key(self, name: str) -> str:
        """How the pool has a crawl: a broken one, whose ID could not be read, by that of its directory."""
        if self._pool.find(name) is not None:
            return name
        directory = unquote(directory_of(name))
        return name if self._pool.find(directory) is None else directory

    @contextmanager
    def put_into(self, given: str = DEFAULT) -> Iterator[Crawl]:
        """The crawl of this ID, for events that share a commit. If it was deleted just before, they go to a new one."""
        with ExitStack() as block:
            while True:
                with ExitStack() as attempt, suppress(CrawlClosed, UnknownCrawl):
                    self._storage.check_open()
                    crawl = attempt.enter_context(self.use_or_start(given))
                    attempt.enter_context(crawl.together())
                    block.push(attempt.pop_all())
                    break
            yield crawl

    def all_orderings(self) -> list[Policy]:
        """Those of existing and of new crawls."""
        return [*self._factory.all_orderings(), *self._pool.policies()]

    # What is done to them ---------------------------------------------------------------------------------------------------
    def delete(self, given: str = DEFAULT) -> int:
        """Forget a crawl, broken ones too, and remove its directory. Returns how many of its pages were not done with."""
        name = self._key(crawl_id(given))
        with self._lock:
            entry = self._pool.find(name)
            if entry is None or (entry.reason and is_locked(entry.folder)):  # by another process, whose crawl it is
                self.get(given)
                entry = self._pool.find(name)
            assert entry is not None  # or ``get`` has said why not
            self._pool.withdraw(entry)
            self._deleting.add(name)
        try:
            active = self._pool.abandon(entry)
            discarded = self._storage.discard(entry.folder)
        finally:
            with self._lock:
                self._deleting.discard(name)
                self._deleted.notify_all()
        shutil.rmtree(discarded, ignore_errors=True)
        logger.info("crawl %r is deleted", name)
        return active

    @property
    def active(self) -> bool:
        """Whether the service hands out pages. It takes them in, and answers questions, all the same."""
        return self._active

    @active.setter
    def active(self, state: bool) -> None:
        with self._lock:
            self._storage.check_open()
            if state != self._active:
                self._active = state
                self._write_settings()
                logger.info("the service %s", "hands out pages again" if state else "is paused: it hands out nothing")

    def set_politeness(self, politeness: Politeness) -> None:
        """Set the politeness of new crawls. (``crawl.control.set_politeness`` is for an existing one.)"""
        with self._lock:
            self._storage.check_open()
            self.politeness = politeness
            self._write_settings()

    def set_delay(self, delay_s: float) -> None:
        """Set the seconds between two answers from one queue, in existing and new crawls; queues keep delays of their own.

        An existing crawl gets it when it is used next: to open a thousand takes a minute.
        """
        with self._lock:
            self._delays = dict.fromkeys(self.ids(), delay_s)
            self.set_politeness(replace(self.politeness, delay_s=delay_s))

    def _apply_delay(self, name: str, crawl: Crawl) -> None:
        with self._lock:
            if name in self._delays:
                crawl.control.set_politeness(replace(crawl.state.politeness, delay_s=self._delays.pop(name)))
                self._write_settings()

    def close(self, max_s: float = CLOSING_S) -> None:
        """Let all crawls and the folder go. Snapshots that take longer are given up: the journals have it all."""
        until = time.monotonic() + max_s
        self._reopener.close()
        with self._lock:
            try:
                self._pool.close(until)
            finally:
                self._storage.close()

    def __enter__(self) -> Crawls:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------------------------------
    def _write_settings(self) -> None:
        policy, politeness = to_data(self._factory.policy), self.politeness.json()
        self._storage.write_settings(active=self._active, policy=policy, politeness=politeness, delays=self._delays)

    def _open(self, path: Path) -> None:
        """Open the crawl of a directory. Whatever is wrong with it, the others are served."""
        try:
            if not holds_crawl(path):
                return
            self._pool.make_room()
            crawl = self._factory.recover(path)
        except Exception as error:
            self._pool.add_broken(unquote(path.name), path, error)
            return
        name = id_of(crawl.notes, path)
        if self._pool.find(name) is None:
            self._pool.add(name, path, crawl)
            chosen = self._factory.chosen_for(name)
            if chosen is not None and crawl.state.policy != chosen:
                self.kept.append(f"crawl {name!r} keeps {crawl.state.policy.spec()}; --rescore would give it {chosen.spec()}")
            return
        crawl.abandon()
        other = unquote(path.name) if self._pool.find(unquote(path.name)) is None else path.name + "~"  # in no ID's directory
        self._pool.add_broken(other, path, StorageError(f"it is a second crawl of ID {name!r}; move one of them elsewhere"))

    def _check_written(self, name: str, crawl: Crawl) -> None:
        """Refuse a crawl that cannot be written: its memory has more than what is stored, so nobody may see it."""
        if crawl.inspect.broken:
            self._reopener.add(name)
            raise (DiskFull if crawl.inspect.disk_full else StorageError)(crawl.inspect.broken)
        if name in self._delays:
            self._apply_delay(name, crawl)
