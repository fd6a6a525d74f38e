"""One run: a seed, a directory, and lives of a process in it, each but the last one ended by a fault."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import random as any_random
import secrets
import shutil
import sys
import tempfile
import threading
import uuid
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

from frontrank.crawl import crawl as crawls
from frontrank.crawl import inbox, journal, journal_file, recovery, snapshots
from frontrank.crawl.crawl import Crawl
from frontrank.errors import FrontrankError, StorageError
from frontrank.fetching import parsing
from frontrank.fetching.crawler import run
from tests.faults import clock as clocks
from tests.faults import disk as disks
from tests.faults.clock import Clock
from tests.faults.disk import FAILS, FULL, KILL, POWER, Disk
from tests.faults.ledger import Ledger, WatchedJournal
from tests.faults.network import Loop, Network
from tests.faults.threads import Threads

FAULTS = (KILL, KILL, POWER, POWER, FULL, FAILS, "")
LAST = 60  # events that are shown of a failure
ROOM = Path("/dev/shm") if os.path.isdir("/dev/shm") else Path(tempfile.gettempdir())

logger = logging.getLogger("frontrank")


class Violation(Exception):
    """A rule does not hold."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        self.rule = rule


class InlineWorkers:
    """Worker processes of a parser, without processes: the call is made at once."""

    def __init__(self, *given: Any, **more: Any) -> None: ...

    async def call(self, function: Callable[..., Any], *given: Any) -> Any:
        await asyncio.sleep(0.001)
        return function(*given)

    def close(self) -> None: ...


def install() -> None:
    """Put the simulation beneath frontrank, once in a process."""
    disks.install()
    for module in (journal, journal_file):
        disks.patch(module, sqlite3=disks.Sqlite())
    disks.patch(snapshots, open=disks.open_file)
    snapshots.Snapshots._fork = lambda self, head, arrays: snapshots._write(self.folder, head, arrays)  # type: ignore[method-assign]
    for module in (crawls, recovery, run):
        disks.patch(module, Journal=WatchedJournal)
    disks.patch(parsing, Workers=InlineWorkers)
    inbox.LOOK_S = 30.0
    run.WATCHED_EVERY_S = 30.0
    for name in ("frontrank", "asyncio"):
        logging.getLogger(name).propagate = False
        logging.getLogger(name).addHandler(logging.NullHandler())
    Vfs.append(disks.Vfs())
    PATCHED.extend(found for name, found in sorted(sys.modules.items()) if _has_threads(name, found))


def _has_threads(name: str, module: Any) -> bool:
    return name.startswith("frontrank.") and getattr(module, "threading", None) is threading


Vfs: list[Any] = []  # kept: SQLite knows it by name
PATCHED: list[Any] = []  # modules with threads


class Simulation:
    """What all scenarios have in common."""

    def __init__(self, seed: int, show: bool = False) -> None:
        self.seed, self.show = seed, show
        self.random = Random(seed)
        any_random.seed(seed)
        ids = Random(seed)
        uuid.uuid4 = lambda: uuid.UUID(int=ids.getrandbits(128), version=4)
        secrets.token_hex = lambda nbytes=8: f"{ids.getrandbits(8 * (nbytes or 8)):0{2 * (nbytes or 8)}x}"
        self.clock = Clock()
        self.network = Network(Random(self.random.random()))
        self.violations: list[Violation] = []
        self.last: deque[str] = deque(maxlen=LAST)
        self.digest = hashlib.blake2b(digest_size=8)
        self.folder = ROOM / f"frontrank-faults-{os.getpid()}"
        self.lives = 0
        self.dead = False
        self.loop: Loop
        self.disk: Disk

    def log(self, what: str, *said: Any) -> None:
        """Something happened: part of the digest by which two runs of a seed are compared."""
        if self.dead:
            return
        line = f"{self.clock.now:.6f} {what} {' '.join(map(str, said))}".replace(str(self.folder), "")
        self.digest.update(line.encode())
        self.last.append(line[:300])
        if self.show:
            print(line[:300])

    def fail(self, rule: str, text: str) -> None:
        if self.dead:
            return
        self.violations.append(Violation(rule, f"at {self.clock.now:.3f} s: {text}"))
        self.log("VIOLATION", rule, text)

    @property
    def root(self) -> Path:
        return self.folder / f"life{self.lives}"

    def end_process(self, why: str) -> None:
        """The process is gone at this moment."""
        self.log("the process ends:", why)
        self.disk.copy_to(self.folder / f"life{self.lives + 1}")
        self._set_dead(True)
        self.loop.ended = True

    def _set_dead(self, dead: bool) -> None:
        """Nothing is noted of what a process does that is gone."""
        self.dead = dead
        for ledger in WatchedJournal.ledgers.values():
            ledger.frozen = dead

    # A life -----------------------------------------------------------------------------------------------------------------
    def live(self, main: Callable[[], Coroutine[Any, Any, None]], fault: str) -> bool:
        """One life of the process; whether it came to its end by itself."""
        random = self.random
        at = int(2 ** (random.uniform(0, 5) if random.random() < 0.2 else random.uniform(5, 11)))
        self._set_dead(False)
        self.disk = Disk(self.root, Random(random.random()), fault, at, self.end_process)
        threads = Threads(self.clock, Random(random.random()))
        self.loop = loop = Loop(self.clock, threads, self.network)
        self.disk.on_pause = threads.pause
        for module in PATCHED:
            module.threading = threads.module
        disks.use(self.disk)
        self.log("life", self.lives, fault or "no fault", at if fault else "")
        asyncio.set_event_loop(loop)
        task = loop.create_task(main())
        task.add_done_callback(loop.stop_for)
        try:
            loop.run_forever()
        finally:
            killed = self.dead
            self.disk.over = True
            self._set_dead(True)
            task.remove_done_callback(loop.stop_for)
            self._clear(loop, threads)
        self._set_dead(False)
        for died in [] if killed else threads.died:
            refused = isinstance(died, StorageError) and "cannot be written" in str(died)
            self.fail("threads on a disk that refuses" if refused else "threads", f"a thread ended with {died!r}")
        if self.violations:
            return False
        if not killed:
            if (error := task.exception()) is not None:
                raise error
            shutil.copytree(self.root, self.folder / f"life{self.lives + 1}")
        self.lives += 1
        return not killed

    def _clear(self, loop: Loop, threads: Threads) -> None:
        """What is left of a process that has ended: it does no more than close its files, which nobody reads any more."""
        for one in WatchedJournal.all:
            one.ledger = None
            one.broken = one.broken or "the process is gone"
        WatchedJournal.all.clear()
        loop.ended, loop.turns, loop.on_turn = False, 0, lambda: None
        left = asyncio.all_tasks(loop)
        for task in sorted(left, key=hash):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        for task in left:
            if not task.cancelled():
                task.exception()  # is asked for, and so not told
        threads.end_all()
        loop.close()
        disks.use(None)

    # What must hold after it ------------------------------------------------------------------------------------------------
    def check_directory(self, folder: Path, ledger: Ledger, lost_power: bool) -> None:
        """A process left it so: nothing that was safe is lost, and snapshots and the journal alone restore the same."""
        if not (folder / journal.FILE).exists():
            if ledger.synced if lost_power else ledger.acknowledged:
                self.fail("acknowledged", f"{folder.name} has no journal any more")
            return
        copy = self.folder / "looked-at"
        shutil.copytree(folder, copy)
        try:
            with Crawl.recover(copy, read_only=True, clock=self.clock.time) as crawl:
                ledger.check_recovered(crawl.state.log, lost_power)
                now = crawl.state.progress.now  # a snapshot may be younger than the last event
                found = facts(crawl, now)
            shutil.rmtree(copy / snapshots.FOLDER, ignore_errors=True)
            with Crawl.recover(copy, read_only=True, clock=self.clock.time) as crawl:
                self.compare(found, facts(crawl, now), "with and without its snapshots")
        except FrontrankError as error:
            self.fail("recovered", f"{folder.name} cannot be recovered: {error}")
        finally:
            shutil.rmtree(copy)

    def check_live(self, crawl: Crawl) -> None:
        """A crawl at work is what its journal says."""
        assert crawl.inspect.folder is not None
        copy = self.folder / "looked-at"
        shutil.copytree(
            crawl.inspect.folder, copy, ignore=lambda _, names: [name for name in names if name.endswith(disks.SHARED)]
        )
        self.disk.over, over = True, self.disk.over
        try:
            with Crawl.recover(copy, read_only=True, clock=self.clock.time) as again:
                now = max(crawl.state.progress.now, crawl.inspect.clock() + crawl.inspect.shift)
                self.compare(facts(crawl, now), facts(again, now), "live and recovered")
        finally:
            self.disk.over = over
            shutil.rmtree(copy)

    def compare(self, one: dict[str, Any], other: dict[str, Any], which: str) -> None:
        for name, value in one.items():
            if name == "state":  # what lies behind the last host or page is room to grow
                value, other[name] = map(
                    list, zip(*(shortened(*pair) for pair in zip(value, other[name], strict=True)), strict=True)
                )
            if value != other[name]:
                self.fail("recovered", f"{which}, {name} differs: {difference(value, other[name])}")
                return

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        WatchedJournal.ledgers.clear()
        clocks.use(None)


def shortened(one: list[Any], other: list[Any]) -> tuple[list[Any], list[Any]]:
    length = min(len(one), len(other))
    return one[:length], other[:length]


def difference(one: Any, other: Any) -> str:
    """Where two values of the same form part."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        place = next(place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        return f"[{place}] {difference(one[place], other[place])}"
    return f"{str(one)[:300]} and {str(other)[:300]}"


def facts(crawl: Crawl, now: float) -> dict[str, Any]:
    """Everything that a crawl is."""
    known = crawl.inspect.known
    frontier: Any = crawl.state.frontier
    frontier.take(0, now)  # retries that are due wait again; a take without a page is no event
    marks = frontier.marks(slice(0, known))
    return {
        "seq": crawl.state.log.seq,
        "known": known,
        "order": list(crawl.state.progress.order),
        "leases": sorted(crawl.state.leases.items()),
        "attempts": sorted(crawl.state.leases.attempts.items()),
        "counts": (
            crawl.inspect.failed_count,
            crawl.inspect.revisits,
            crawl.state.progress.links_given_up,
            crawl.state.progress.paused,
        ),
        "hosts": frontier.hosts().tolist(),
        "marks": marks.tolist(),
        "keys": frontier.keys(slice(0, known)).tolist(),
        "next": frontier.best(known).tolist(),
        "due": [frontier.due_at(page) for page in range(known)],
        "depths": crawl.state.pages.depths[:known].tolist(),
        "pending": sorted((page, sorted(links.items())) for page, links in crawl.state.pending.items()),
        "rules": crawl.state.rules.save()[0],
        "held up": sorted(crawl.state.rules.held_up),
        "state": [leaf[:known].tolist() for leaf in snapshots.leaves(crawl.state.ordering.columns)],
        "gauges": crawl.inspect.gauges(),
    }
