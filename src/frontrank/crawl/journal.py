"""The journal of a live crawl: what happened, in order, in one SQLite file that survives what the machine does not.

    DIR/trace.db    url(id, url, key)             one row a page, in the order in which pages became known
                    event(seq, kind, page, ...)   one row an event; the columns of a fetched page say what it held
                    payload(page, data)           what an integration keeps with a page until it is settled
                    meta(key, value)              format version, ordering, politeness, notes
    DIR/lock        held by the one process that writes

Both tables only grow. There is no index beside the row numbers: the order of pages lives in memory, and is made again by
replaying the events. SQLite runs in WAL mode. What was committed survives a killed process at once; a thread hands it to
the disk once in ``sync_s`` seconds, and after that, or after ``sync()``, it survives a power cut too.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from frontrank.errors import InputError, StorageError

VERSION = 1
FILE = "trace.db"
SEED, TAKE, FETCHED, FAILED, RETRY, EXPIRED, RESCORE, HOST, BLOCK, POLICY, PRIORITY = range(1, 12)
KINDS = {
    SEED: "seed",
    TAKE: "take",
    FETCHED: "fetched",
    FAILED: "failed",
    RETRY: "retry",
    EXPIRED: "expired",
    RESCORE: "rescore",
    HOST: "host",
    BLOCK: "block",
    POLICY: "policy",
    PRIORITY: "priority",
}
SCHEMA = """
    CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
    CREATE TABLE url(id INTEGER PRIMARY KEY, url TEXT NOT NULL, key INTEGER NOT NULL);
    CREATE TABLE event(seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, page INTEGER NOT NULL, time REAL NOT NULL,
        status INTEGER, links BLOB, anchors TEXT, title TEXT, impact REAL, file TEXT, start INTEGER, length INTEGER,
        until REAL, note TEXT);
    CREATE TABLE payload(page INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE body(page INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""
COLUMNS = "seq, kind, page, time, status, links, anchors, title, impact, file, start, length, until, note"


class Event(NamedTuple):
    """One row of the journal. links: int32, little-endian, of a fetched page; anchors: one a line, beside them."""

    seq: int
    kind: int
    page: int
    time: float
    status: int | None = None
    links: bytes | None = None
    anchors: str | None = None
    title: str | None = None
    impact: float | None = None
    file: str | None = None
    start: int | None = None
    length: int | None = None
    until: float | None = None
    note: str | None = None


class Memory:
    """A journal that remembers names and payloads, and forgets events: for crawls that need not survive."""

    seq = 0

    def __init__(self) -> None:
        self.names: list[str] = []
        self.payloads: dict[int, bytes] = {}
        self.bodies: dict[int, str] = {}
        self.notes: dict[str, Any] = {}

    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None:
        self.names.extend(urls)

    def add(self, kind: int, page: int, time: float, **columns: Any) -> None:
        self.seq += 1

    def add_takes(self, pages: Sequence[int], time: float) -> None:
        self.seq += len(pages)

    def url(self, page: int) -> str:
        return self.names[page]

    def attach(self, page: int, payload: bytes) -> None:
        self.payloads[page] = payload

    def attached(self, page: int) -> bytes | None:
        return self.payloads.get(page)

    def detach(self, page: int) -> None:
        self.payloads.pop(page, None)

    def has_payloads(self) -> bool:
        return False

    def keep_text(self, page: int, text: str) -> None:
        self.bodies[page] = text

    def texts(self, pages: Iterable[int]) -> list[str]:
        return [self.bodies.get(page, "") for page in pages]

    def note(self, key: str, value: Any) -> None:
        self.notes[key] = value

    def acknowledge(self) -> None: ...
    def commit(self) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...


class Journal:
    """The journal in a directory: one writer, any number of readers."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: int | None, group: int, sync_s: float) -> None:
        self.folder = folder
        self.db = connection
        self.group = group
        self.sync_s = sync_s
        self.broken = ""
        self._lock = lock
        self._pending = 0  # events since the last commit
        self._inside = False  # a transaction is open
        self._unsynced = threading.Event()
        self._closing = threading.Event()
        self._wal = -1
        self.before_sync: Callable[[], None] = lambda: None  # files that events point to must be on the disk before them
        self._syncer: threading.Thread | None = None
        self.seq: int = self.db.execute("SELECT max(seq) FROM event").fetchone()[0] or 0
        self.notes: dict[str, Any] = {key: json.loads(value) for key, value in self.db.execute("SELECT key, value FROM meta")}

    @classmethod
    def create(cls, folder: Path, notes: dict[str, Any], group: int = 1, sync_s: float = 1.0) -> Journal:
        """Start a journal in a directory that is new, or empty."""
        with _sentences(folder, "written"):
            folder.mkdir(parents=True, exist_ok=True)
            held = sorted(entry.name for entry in folder.iterdir() if entry.name != "lock")
            if FILE in held:
                raise StorageError(f"{folder}: holds a crawl already; resume it, or give another directory")
            if held:
                raise StorageError(f"{folder}: is not empty (it holds {held[0]}); give a new directory for the crawl")
            lock = _locked(folder)
            beside = folder / (FILE + ".new")
            beside.unlink(missing_ok=True)
            db = sqlite3.connect(beside, isolation_level=None)
            db.executescript(SCHEMA)
            stored = {"format": "frontrank-crawl", "version": VERSION, **notes}
            db.executemany("INSERT INTO meta VALUES(?, ?)", [(key, json.dumps(value)) for key, value in stored.items()])
            db.close()
            os.replace(beside, folder / FILE)
            return cls(folder, _connected(folder), lock, group, sync_s)

    @classmethod
    def open(cls, folder: Path, group: int = 1, sync_s: float = 1.0, read_only: bool = False) -> Journal:
        """Go on with the journal of a directory, or only look at it."""
        if not (folder / FILE).is_file():
            raise StorageError(f"{folder}: no crawl is here ({FILE} is missing); start one, or name the directory of one")
        with _sentences(folder, "read" if read_only else "written"):
            lock = None if read_only else _locked(folder)
            try:
                db = _connected(folder, read_only)
                made = cls(folder, db, lock, group, sync_s)
                if made.notes.get("format") != "frontrank-crawl":
                    raise StorageError(f"{folder}/{FILE}: not the trace of a crawl; name the directory of one")
                if made.notes["version"] > VERSION:
                    raise StorageError(
                        f"{folder}/{FILE}: written by a newer frontrank (format {made.notes['version']}, this one reads up to "
                        f"{VERSION}); use that version to go on with it"
                    )
            except BaseException:
                if lock is not None:
                    os.close(lock)
                raise
            return made

    @property
    def writable(self) -> bool:
        return self._lock is not None

    # Writing ------------------------------------------------------------------------------------------------------------
    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None:
        rows = zip(range(first, first + len(urls)), map(storable, urls), keys, strict=True)
        self._write("INSERT INTO url VALUES(?, ?, ?)", rows)

    def add(self, kind: int, page: int, time: float, **columns: Any) -> None:
        """An event, with further columns of the table."""
        self.seq += 1
        self._write(_insert(tuple(columns)), ((self.seq, kind, page, time, *columns.values()),))
        self._pending += 1

    def add_takes(self, pages: Sequence[int], time: float) -> None:
        first = self.seq + 1
        self.seq += len(pages)
        self._write(_insert(()), [(first + i, TAKE, page, time) for i, page in enumerate(pages)])
        self._pending += len(pages)

    def attach(self, page: int, payload: bytes) -> None:
        self._write("INSERT OR REPLACE INTO payload VALUES(?, ?)", ((page, payload),))

    def detach(self, page: int) -> None:
        self._write("DELETE FROM payload WHERE page = ?", ((page,),))

    def keep_text(self, page: int, text: str) -> None:
        self._write("INSERT OR REPLACE INTO body VALUES(?, ?)", ((page, storable(text)),))

    def note(self, key: str, value: Any) -> None:
        self.notes[key] = value
        self._write("INSERT OR REPLACE INTO meta VALUES(?, ?)", ((key, json.dumps(value)),))
        self.commit()

    def acknowledge(self) -> None:
        """The end of an event: commit if the group is full."""
        if self._pending >= self.group:
            self.commit()

    def commit(self) -> None:
        """All events so far survive this process."""
        if self.broken:
            raise StorageError(self.broken)
        if not self._inside:
            return
        try:
            self.db.execute("COMMIT")
            self._inside = False
            self._pending = 0
            if self.sync_s > 0:
                self._sync_soon()
            else:
                self._sync_wal()
        except (sqlite3.Error, OSError) as error:
            self._break(error)

    def sync(self) -> None:
        """All events so far survive a power cut."""
        self.commit()
        self._unsynced.clear()
        try:
            self._sync_wal()
        except OSError as error:
            self._break(error)

    def close(self) -> None:
        if self._closing.is_set():
            return
        try:
            if not self.broken and self._lock is not None:
                self.sync()
        finally:
            self._closing.set()
            self._unsynced.set()
            if self._syncer is not None:
                self._syncer.join()
            if self._wal >= 0:
                os.close(self._wal)
                self._wal = -1
            self.db.close()
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None
            self.broken = self.broken or f"{self.folder}: this crawl is closed; recover it to go on"

    # Reading ------------------------------------------------------------------------------------------------------------
    def url(self, page: int) -> str:
        with _sentences(self.folder, "read"):
            found: tuple[str] = self.db.execute("SELECT url FROM url WHERE id = ?", (page,)).fetchone()
        return found[0]

    def urls(self) -> Iterator[tuple[str, int]]:
        """The URL and the key of every page."""
        for urls, keys in self.urls_from(0, 1000):
            yield from zip(urls, keys, strict=True)

    def events(self) -> Iterator[Event]:
        for some in self.events_after(0, 1000):
            yield from some

    def named_events(self) -> Iterator[tuple[Event, str | None]]:
        """Every event with the URL of its page."""
        with _sentences(self.folder, "read"):
            query = f"SELECT {COLUMNS}, url FROM event LEFT JOIN url ON url.id = event.page ORDER BY seq"
            for row in self.db.execute(query):
                yield Event._make(row[:-1]), row[-1]

    def reasons(self) -> dict[str, int]:
        """How many pages failed for good, by reason."""
        query = "SELECT note, count(*) FROM event WHERE kind = ? GROUP BY note"
        with _sentences(self.folder, "read"):
            return {reason or "failed": count for reason, count in self.db.execute(query, (FAILED,))}

    def urls_from(self, first: int, batch: int) -> Iterator[tuple[list[str], list[int]]]:
        """The URLs and the keys of all pages from this one on, so many at a time."""
        with _sentences(self.folder, "read"):
            rows = self.db.execute("SELECT url, key FROM url WHERE id >= ? ORDER BY id", (first,))
            while some := rows.fetchmany(batch):
                urls, keys = zip(*some, strict=True)
                yield list(urls), list(keys)

    def events_after(self, seq: int, batch: int) -> Iterator[list[Event]]:
        with _sentences(self.folder, "read"):
            rows = self.db.execute(f"SELECT {COLUMNS} FROM event WHERE seq > ? ORDER BY seq", (seq,))
            while some := rows.fetchmany(batch):
                yield list(map(Event._make, some))

    def stamp(self, seq: int) -> str:
        """What tells an event from another that later bore the same number, after a power cut took back the first."""
        with _sentences(self.folder, "read"):
            row = self.db.execute("SELECT kind, page, time FROM event WHERE seq = ?", (seq,)).fetchone()
        return repr(row)

    def attached(self, page: int) -> bytes | None:
        found = self.db.execute("SELECT data FROM payload WHERE page = ?", (page,)).fetchone()
        return found[0] if found else None

    def has_payloads(self) -> bool:
        return self.db.execute("SELECT 1 FROM payload LIMIT 1").fetchone() is not None

    def has_texts(self) -> bool:
        return self.db.execute("SELECT 1 FROM body LIMIT 1").fetchone() is not None

    def texts(self, pages: Iterable[int]) -> list[str]:
        found = (self.db.execute("SELECT text FROM body WHERE page = ?", (page,)).fetchone() for page in pages)
        return [row[0] if row else "" for row in found]

    # --------------------------------------------------------------------------------------------------------------------
    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if self.broken:
            raise StorageError(self.broken)
        try:
            if not self._inside:
                self.db.execute("BEGIN")
                self._inside = True
            self.db.executemany(statement, rows)
        except sqlite3.Error as error:
            self._break(error)

    def _break(self, error: Exception) -> NoReturn:
        self.broken = (
            f"{self.folder}: the trace cannot be written ({error}); what was acknowledged before is safe: "
            f"mend this, then resume the crawl"
        )
        raise StorageError(self.broken) from None

    def _sync_wal(self) -> None:
        self.before_sync()
        if self._wal < 0:
            self._wal = os.open(self.folder / (FILE + "-wal"), os.O_RDONLY)
        os.fsync(self._wal)

    def _sync_soon(self) -> None:
        self._unsynced.set()
        if self._syncer is None:
            self._syncer = threading.Thread(target=self._sync_now_and_then, name="frontrank-sync", daemon=True)
            self._syncer.start()

    def _sync_now_and_then(self) -> None:
        while not self._closing.wait(self.sync_s):
            self._unsynced.wait()
            if self._closing.is_set():
                return
            self._unsynced.clear()
            try:
                self._sync_wal()
            except (OSError, InputError) as error:
                self.broken = (
                    f"{self.folder}: the trace cannot be handed to the disk ({error}); mend this, then resume the crawl"
                )
                return


@cache
def _insert(columns: tuple[str, ...]) -> str:
    names = ("seq", "kind", "page", "time", *columns)
    return f"INSERT INTO event({', '.join(names)}) VALUES({', '.join('?' * len(names))})"


def written(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def read(text: str | None) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(text or "{}")
    return held


def storable(text: str) -> str:
    """SQLite keeps no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _connected(folder: Path, read_only: bool = False) -> sqlite3.Connection:
    where = folder.absolute().as_uri() + "/" + FILE + ("?mode=ro" if read_only else "?mode=rw")
    db = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
    try:
        if read_only:
            db.execute("BEGIN")  # one moment of the crawl, whatever is written meanwhile
        db.execute("SELECT count(*) FROM meta").fetchone()  # a file that is none of ours is not touched
        if not read_only:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")  # _sync_wal does the rest
            db.execute("PRAGMA wal_autocheckpoint = 4000")
    except BaseException:
        db.close()
        raise
    return db


def _locked(folder: Path) -> int:
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StorageError(f"{folder}: another process is at work on this crawl; stop it first, or wait for its end") from None
    return lock


@contextmanager
def _sentences(folder: Path, doing: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
            raise StorageError(f"{folder}: this crawl is closed; recover it to go on") from None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise StorageError(f"{folder}: the trace of the crawl cannot be {doing} ({reason}); mend it and try again") from None
