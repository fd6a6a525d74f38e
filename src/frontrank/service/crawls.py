"""The crawls of a service, by ID: one directory each, below one folder.

    DIR/service.json          ordering and politeness of crawls to come; whether pages are handed out at all
    DIR/.lock                 locked by the one process that serves it
    DIR/DEFAULT/trace.db      the crawl of ID "DEFAULT": see ``frontrank.crawl.journal``
    DIR/news%2Fsport/...      one of ID "news/sport"

An ID is any text, and comes from anybody who may call the service. So a directory is named by a code of it, in which nothing
but letters, digits, "_" and "-" stand for themselves: no ID leads out of the folder, and two IDs never share a directory.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote

from frontrank.crawl import validation
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import FILE, UNBORN, Journal, is_disk_full
from frontrank.crawl.needs import check_live
from frontrank.crawl.ranking import BACKGROUND
from frontrank.errors import CrawlClosed, DiskFull, InputError, StorageError, TooMany, UnknownCrawl, nearest
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import to_data, trusted, trusting
from frontrank.service.options import ServeOptions
from frontrank.service.pool import FILES, CrawlPool, Summary
from frontrank.service.reopening import Reopener
from frontrank.system.files import PRIVATE_FOLDER, file_limit, locked, private, replaced

DEFAULT = "DEFAULT"
SETTINGS, LOCK = "service.json", ".lock"  # a directory of a crawl has no dot in its name
FORMAT, VERSION = "frontrank-service", 1
MAX_ID_LENGTH = 1_000  # characters
MAX_NAME_LENGTH = 120  # of a directory; file systems hold 255 bytes
DELETED = ".deleted-"
CLOSING_S = 1.0  # snapshots are written in this time
POLITE = Politeness(delay_s=ServeOptions.delay)

logger = logging.getLogger("frontrank.service")


class Crawls:
    """Crawls by ID, each with an ordering of its own. Any thread may call any method at any time.

    ``policy`` and ``politeness`` are those of crawls that are yet to come; ``orderings`` has others for some IDs. A crawl that
    is there keeps the ordering it was started with, and ``kept`` says so; with ``rescore`` it gets the one that is given, which
    sees everything that happened. ``revisit_share`` holds for all crawls, if it is given. ``broken`` has those that could not
    be opened, and why: the others are served all the same.

    As many are open as there are files for, ``max_open`` if it is given. ``use`` keeps one open for as long as it is needed;
    one that ``get``, ``find`` or ``made`` returned is closed when it has been idle for longest and others are used.
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
        most: int = ServeOptions.max_crawls,  # each has a directory
        max_open: int | None = None,
    ) -> None:
        if most < 1:
            raise InputError(f"a service must have room for at least 1 crawl, got {most}")
        self.folder, self.most = Path(folder), most
        self.policy = as_policy(policy or ServeOptions.policy)
        self._for_all = policy is not None
        self.orderings = {crawl_id(given): as_policy(ordering) for given, ordering in (orderings or {}).items()}
        for ordering in (self.policy, *self.orderings.values()):
            check_live(ordering)
        self.rescore = rescore
        self.revisit_share = None if revisit_share is None else validation.share(revisit_share, "revisit_share")
        self.kept: list[str] = []  # what was asked for, and does not hold for a crawl that is there
        self.clock, self.sync_s = clock, sync_s
        self.trusted = trusted()  # crawls may be opened in another thread
        self._alone = threading.RLock()  # while a crawl is started or deleted, or settings change
        self._left = threading.Condition(self._alone)
        self._leaving: set[str] = set()  # crawls that are being deleted
        max_open = max(1, file_limit() // 2 // FILES) if max_open is None else max_open
        self._pool = CrawlPool(self._recovered, self._check_written, max_open)
        self._reopener = Reopener(self._pool.reopen)
        self._lock = self._entered()
        try:
            stored = self._read()
            self._active = bool(stored.get("active", True))
            self.politeness = politeness or Politeness(**stored.get("politeness", POLITE.json()))
            self._write()
            self._open_all()
        except BaseException:
            self.close()
            raise

    # What is there ----------------------------------------------------------------------------------------------------------
    def ids(self) -> list[str]:
        """The IDs of all crawls that are served, in alphabetical order. It waits for nobody."""
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

    def summary(self, given: str) -> Summary | None:
        """What was known of a crawl when it was closed because it was idle; None if it is open, or not there."""
        return self._pool.summary(crawl_id(given))

    def folder_of(self, given: str) -> Path | None:
        """The directory of a crawl, be it open or not; None if there is none."""
        entry = self._pool.find(self._key(crawl_id(given)))
        if entry is not None and entry.reason:
            with self.use(given):  # it is whole again, or it is said why not
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
        """Whether a crawl could not be opened, or cannot be written. It waits for nobody."""
        unwritten = self._pool.unwritten()
        for name in unwritten:
            self._reopener.add(name)
        return bool(unwritten or self.broken)

    def made(self, given: str = DEFAULT, policy: Policy | str | None = None) -> Crawl:
        """The crawl of this ID. It is started if it is not there: with this ordering, or the one that is set for the ID."""
        with self.use_or_start(given, policy) as crawl:
            return crawl

    def _start(self, name: str, policy: Policy | str | None) -> None:
        with self._alone:
            self._left.wait_for(lambda: name not in self._leaving)
            self._check_open()
            if self._pool.find(self._key(name)) is not None:
                return
            if len(self._pool) >= self.most:
                raise TooMany(f"there are {self.most:,} crawls, as many as there may be; delete one, or use one of them")
            ordering = as_policy(policy) if policy is not None else self.orderings.get(name, self.policy)
            self._pool.make_room()
            self._pool.add(name, self.folder / directory_of(name), self._begun(name, ordering))
            logger.info("crawl %r begins with %s", name, ordering.spec())

    def _key(self, name: str) -> str:
        """How the pool has a crawl: a broken one, whose ID could not be read, by that of its directory."""
        if self._pool.find(name) is not None:
            return name
        directory = unquote(directory_of(name))
        return name if self._pool.find(directory) is None else directory

    def _begun(self, name: str, ordering: Policy) -> Crawl:
        folder = self.folder / directory_of(name)
        try:
            return Crawl(
                ordering,
                folder,
                politeness=self.politeness,
                revisit_share=self.revisit_share,
                notes={"crawl_id": name},
                clock=self.clock,
                sync_s=self.sync_s,
                ranking=BACKGROUND,
            )
        except OSError as error:
            raise StorageError(f"{folder}: a crawl cannot be begun there ({error.strerror or error})") from None

    @contextmanager
    def put_into(self, given: str = DEFAULT) -> Iterator[Crawl]:
        """The crawl of this ID, for events that share a commit. If it was deleted just before, they go to a new one."""
        with ExitStack() as block:
            while True:
                with ExitStack() as attempt, suppress(CrawlClosed, UnknownCrawl):
                    self._check_open()
                    crawl = attempt.enter_context(self.use_or_start(given))
                    attempt.enter_context(crawl.together())
                    block.push(attempt.pop_all())
                    break
            yield crawl

    def all_orderings(self) -> list[Policy]:
        """Those of crawls that are there, and of those that may come."""
        return [self.policy, *self.orderings.values(), *self._pool.policies()]

    # What is done to them ---------------------------------------------------------------------------------------------------
    def delete(self, given: str = DEFAULT) -> int:
        """Forget a crawl, and remove its directory. Returns how many of its pages were not done with."""
        name = self._key(crawl_id(given))
        with self._alone:
            entry = self._pool.find(name)
            if entry is None or entry.reason:
                self.get(given)
                entry = self._pool.find(name)
            assert entry is not None  # or ``get`` has said why not
            self._pool.withdraw(entry)
            self._leaving.add(name)
        # Renamed first, which is done or not: what dies half-way through a removal is removed by the next start.
        beside = self.folder / f"{DELETED}{secrets.token_hex(8)}"
        try:
            active = self._pool.abandon(entry)
            os.rename(entry.folder, beside)
        finally:
            with self._alone:
                self._leaving.discard(name)
                self._left.notify_all()
        shutil.rmtree(beside, ignore_errors=True)
        logger.info("crawl %r is deleted", name)
        return active

    @property
    def active(self) -> bool:
        """Whether the service hands out pages. It takes them in, and answers questions, all the same."""
        return self._active

    @active.setter
    def active(self, state: bool) -> None:
        with self._alone:
            self._check_open()
            if state != self._active:
                self._active = state
                self._write()
                logger.info("the service %s", "hands out pages again" if state else "is paused: it hands out nothing")

    def set_politeness(self, politeness: Politeness) -> None:
        """This politeness holds for crawls to come. (``Crawl.behave`` is for one that is there.)"""
        with self._alone:
            self._check_open()
            self.politeness = politeness
            self._write()

    def delay(self, delay_s: float) -> None:
        """So many seconds between two answers from one queue, in all crawls, there and to come; queues keep their own."""
        self.set_politeness(replace(self.politeness, delay_s=delay_s))
        for name in self.ids():
            with self.use(name) as crawl:
                if crawl is not None:
                    crawl.control.set_politeness(replace(crawl.state.politeness, delay_s=delay_s))

    def close(self, max_s: float = CLOSING_S) -> None:
        """Let all crawls and the folder go. Snapshots that take longer are given up: the journals have it all."""
        until = time.monotonic() + max_s
        self._reopener.close()
        with self._alone:
            try:
                self._pool.close(until)
            finally:
                if self._lock >= 0:
                    os.close(self._lock)
                    self._lock = -1

    def __enter__(self) -> Crawls:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------------------------------
    def _entered(self) -> int:
        if (self.folder / FILE).exists():
            raise StorageError(
                f"{self.folder}: holds one crawl, but a service needs a folder of many; "
                f"move the crawl one level down, to {self.folder}/{DEFAULT}, or give another folder"
            )
        try:
            self.folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            foreign = [path.name for path in self.folder.iterdir() if path.name not in (LOCK, SETTINGS)]
            if foreign and not (self.folder / SETTINGS).exists() and not all(map(self._is_crawl, foreign)):
                raise StorageError(f"{self.folder}: is not empty (it contains {sorted(foreign)[0]}); give a new folder")
            busy = f"{self.folder}: another service is at work on this folder; stop it, or give another"
            return locked(self.folder / LOCK, busy)
        except OSError as error:
            raise StorageError(f"{self.folder}: cannot be written ({error.strerror or error}); give another folder") from None

    def _is_crawl(self, name: str) -> bool:
        return (self.folder / name / FILE).is_file()

    def _read(self) -> dict[str, Any]:
        path = self.folder / SETTINGS
        if not path.exists():
            return {}
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                raise ValueError("of another format")
            version = int(stored["version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{path}: cannot be read ({error}); restore it, or remove it to continue with defaults"
            ) from None
        if version > VERSION:
            raise StorageError(
                f"{path}: written by a newer frontrank (format {version}, this one reads up to {VERSION}); use that version"
            )
        return dict(stored)

    def _write(self) -> None:
        stored = {
            "format": FORMAT,
            "version": VERSION,
            "active": self._active,
            "policy": to_data(self.policy),
            "politeness": self.politeness.json(),
        }
        try:
            path = self.folder / SETTINGS
            with replaced(path, durable=True) as beside, open(beside, "w", encoding="utf-8", opener=private) as file:
                json.dump(stored, file, indent=1)
        except OSError as error:
            kind = DiskFull if is_disk_full(error) else StorageError
            raise kind(f"{self.folder / SETTINGS}: cannot be written ({error.strerror or error})") from None

    def _open_all(self) -> None:
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith(DELETED):
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                self._open(path)

    def _open(self, path: Path) -> None:
        """Whatever is wrong with a crawl, the others are served."""
        try:
            held = {entry.name for entry in path.iterdir()}
            if FILE not in held:
                if held <= UNBORN:
                    shutil.rmtree(path)
                return
            self._pool.make_room()
            crawl = self._recovered(path)
        except Exception as error:
            self._pool.add_broken(unquote(path.name), path, error)
            return
        name = _id_of(crawl.notes, path)
        if self._pool.find(name) is None:
            self._pool.add(name, path, crawl)
            wanted = self._wanted(name)
            if wanted is not None and crawl.state.policy != wanted:
                self.kept.append(f"crawl {name!r} keeps {crawl.state.policy.spec()}; --rescore would give it {wanted.spec()}")
            return
        crawl.abandon()
        other = unquote(path.name) if self._pool.find(unquote(path.name)) is None else path.name + "~"  # in no ID's directory
        self._pool.add_broken(other, path, StorageError(f"it is a second crawl of ID {name!r}; move one of them elsewhere"))

    def _wanted(self, name: str) -> Policy | None:
        return self.orderings.get(name, self.policy if self._for_all else None)

    def _check_written(self, name: str, crawl: Crawl) -> None:
        """What is in memory of a crawl that cannot be written is more than what is stored, so nobody may see it."""
        if crawl.inspect.broken:
            self._reopener.add(name)
            raise (DiskFull if crawl.inspect.disk_full else StorageError)(crawl.inspect.broken)

    def _recovered(self, path: Path) -> Crawl:
        """A crawl that is there, with the ordering that it has or, if that is asked for, the one that is given for it."""
        log = Journal.open(path, sync_s=self.sync_s)
        try:
            wanted = self._wanted(_id_of(log.notes, path))
            policy = wanted if self.rescore else None
            with trusting(self.trusted):
                crawl = Crawl.recover(log, policy, rescore=self.rescore, clock=self.clock, ranking=BACKGROUND, keep_leases=True)
            if self.revisit_share is not None and crawl.control.revisit_share != self.revisit_share:
                crawl.control.share_revisits(self.revisit_share)
        except BaseException:
            log.close()
            raise
        return crawl

    def _check_open(self) -> None:
        if self._lock < 0:
            raise StorageError(f"{self.folder}: this service is closed; open it again to continue")


def crawl_id(given: str) -> str:
    """An ID as it is kept: blank is "DEFAULT".

    >>> crawl_id(""), crawl_id("news")
    ('DEFAULT', 'news')
    """
    name = given if given.strip() else DEFAULT
    if len(name) > MAX_ID_LENGTH:
        raise InputError(f"the ID of a crawl must have at most {MAX_ID_LENGTH:,} characters, got {len(name):,}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"the ID of a crawl must be valid Unicode, got {name!r}") from None
    return name


def _id_of(notes: Mapping[str, Any], path: Path) -> str:
    """The ID of the crawl in a directory: noted in it, unless it was moved there from elsewhere."""
    return crawl_id(str(notes.get("crawl_id", unquote(path.name))))


def directory_of(name: str) -> str:
    """The name of the directory of a crawl's ID. Long ones end in a digest.

    >>> directory_of("news/sport"), directory_of(".."), directory_of("Ü")
    ('news%2Fsport', '%2E%2E', '%C3%9C')
    """
    coded = quote(name, safe="").replace(".", "%2E").replace("~", "%7E")
    if len(coded) <= MAX_NAME_LENGTH:
        return coded
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{coded[: MAX_NAME_LENGTH - len(digest) - 1]}~{digest}"
