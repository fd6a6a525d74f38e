"""The journal of a live crawl: its log in one SQLite file, which survives what the machine does not.

    DIR/trace.db    url(id, url, key)             one row a page, in the order in which pages became known
                    event(seq, kind, page, ...)   one row an event; the columns of a fetched page say what it had
                    place(page, queue)            of pages whose queue is not their host
                    born(first, time)             when pages became known, from the first of each second on
                    payload(page, data)           what an integration keeps with a page until it is settled
                    body(page, text)              the text of a fetched page, where an ordering reads texts
                    meta(key, value)              format version, ordering, politeness, notes
    DIR/lock        locked by the one process that writes
    DIR/snapshots   see ``snapshots``

Tables url and event only grow. There is no index beside the row numbers: the order of pages lives in memory, and is made
again by replaying the events. SQLite runs in WAL mode. What was committed survives a killed process at once; a thread
hands it to the disk once in ``sync_s`` seconds, and after that, or after ``sync()``, it survives a power cut too. The same
thread moves the log into the database file (a checkpoint), so that no commit has to wait for it.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn
from weakref import WeakSet

from frontrank.crawl.events import storable
from frontrank.crawl.log import COLUMNS, Row, Snapshot
from frontrank.crawl.snapshots import Snapshots
from frontrank.errors import CrawlClosed, DiskFull, InputError, StorageError
from frontrank.kernels.jit import Array
from frontrank.web.files import IMPORTED, PRIVATE_FOLDER, locked, private, replaced

VERSION = 2  # 1: orderings as specifications, politeness as "manners", rankings that follow from counting
FORMAT = "frontrank-crawl"
FILE = "trace.db"
NEW = FILE + ".new"
UNBORN = {"lock", NEW, NEW + "-journal"}  # what a crawl leaves whose process died while it was created
SCHEMA = """
    CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
    CREATE TABLE url(id INTEGER PRIMARY KEY, url TEXT NOT NULL, key INTEGER NOT NULL);
    CREATE TABLE event(seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, page INTEGER NOT NULL, time REAL NOT NULL,
        status INTEGER, links BLOB, anchors TEXT, title TEXT, impact REAL, file TEXT, start INTEGER, length INTEGER,
        until REAL, note TEXT);
    CREATE TABLE payload(page INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE body(page INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""
LATER = """
    CREATE TABLE IF NOT EXISTS place(page INTEGER PRIMARY KEY, queue TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS born(first INTEGER PRIMARY KEY, time REAL NOT NULL);
"""  # tables that a directory of an earlier version lacks
INSERTS = [f"INSERT INTO event({', '.join(COLUMNS[:n])}) VALUES({', '.join('?' * n)})" for n in range(len(COLUMNS) + 1)]
MOST_ASKED = 500  # rows asked for at once
CHECKPOINT_BYTES = 16 * 2**20  # of the WAL
FEW_FRAMES, PASSES = 250, 20  # a checkpoint goes on beside the crawl until so few frames are left, or for so many passes


_journals: WeakSet[Journal] = WeakSet()  # of this process


def is_disk_full(error: BaseException | None) -> bool:
    """Whether SQLite or the system says that the disk, or the share of it that this user may fill, has no room left.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device")), is_disk_full(OSError(errno.EIO, "I/O error"))
    (True, False)
    """
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL


class Journal:
    """The log in a directory: one writer, any number of readers."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: int | None, group: int, sync_s: float) -> None:
        self.folder = folder
        self.db = connection
        self._cursor = connection.cursor()  # for all that is written: making one takes as long as a row
        self.group = group
        self.sync_s = sync_s
        self.broken = ""
        self.disk_full = False  # that is why it is broken
        self.files = Snapshots(folder, () if lock is None else (lock,))
        self._lock = lock
        self._writing = threading.RLock()  # a transaction, or the end of a checkpoint
        self._pending = 0  # rows since the last commit
        self._inside = False  # a transaction is open
        self._unsynced = threading.Event()
        self._closing = threading.Event()
        self._wal = -1
        self.before_sync: Callable[[], None] = lambda: None  # files that events point to must be on the disk before them
        self._syncer: threading.Thread | None = None
        self.seq: int = self.db.execute("SELECT max(seq) FROM event").fetchone()[0] or 0
        self._places = any(self.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'place'")) and any(
            self.db.execute("SELECT 1 FROM place LIMIT 1")
        )
        self.notes: dict[str, Any] = {key: json.loads(value) for key, value in self.db.execute("SELECT key, value FROM meta")}

    @classmethod
    def create(cls, folder: Path, notes: dict[str, Any], group: int = 1, sync_s: float = 1.0) -> Journal:
        """Start a journal in a directory that is new, or empty."""
        if folder.is_file():
            raise StorageError(f"{folder}: is a file; give a new directory for the crawl")
        with Sentences(folder, "written"):
            folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            held = sorted({entry.name for entry in folder.iterdir()} - UNBORN)
            if FILE in held:
                raise StorageError(f"{folder}: already contains a crawl; resume it, or give another directory")
            if held:
                raise StorageError(f"{folder}: is not empty (it contains {held[0]}); give a new directory for the crawl")
            lock = _locked(folder)
            for left in (NEW, NEW + "-journal"):
                (folder / left).unlink(missing_ok=True)
            with replaced(folder / FILE, durable=True, beside=folder / NEW) as beside:
                os.close(private(str(beside), os.O_CREAT | os.O_EXCL))  # its WAL has the same rights
                db = sqlite3.connect(beside, isolation_level=None)
                db.executescript(SCHEMA + LATER)
                stored = {"format": FORMAT, "version": VERSION, **notes}
                db.executemany("INSERT INTO meta VALUES(?, ?)", [(key, json.dumps(value)) for key, value in stored.items()])
                db.close()
            made = cls(folder, _connected(folder, sync_s), lock, group, sync_s)
            _journals.add(made)
            return made

    @classmethod
    def open(cls, folder: Path, group: int = 1, sync_s: float = 1.0, read_only: bool = False) -> Journal:
        """Go on with the journal of a directory, or only look at it."""
        check_crawl(folder)
        with Sentences(folder, "read" if read_only else "written"):
            lock = None if read_only else _locked(folder)
            with ExitStack() as held:
                if lock is not None:
                    held.callback(os.close, lock)
                db = held.enter_context(closing(_connected(folder, sync_s, read_only)))
                made = cls(folder, db, lock, group, sync_s)
                if made.notes.get("format") != FORMAT:
                    raise StorageError(f"{folder}/{FILE}: not the trace of a crawl; name the directory of one")
                if made.notes["version"] > VERSION:
                    raise StorageError(
                        f"{folder}/{FILE}: written by a newer frontrank (format {made.notes['version']}, this one reads up to "
                        f"{VERSION}); use that version"
                    )
                held.pop_all()  # they are the journal's now
            _journals.add(made)
            return made

    @property
    def writable(self) -> bool:
        return self._lock is not None

    # Writing ------------------------------------------------------------------------------------------------------------
    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None:
        kept = urls if all(map(str.isascii, urls)) else map(storable, urls)
        rows = zip(range(first, first + len(urls)), kept, keys, strict=True)
        self._write("INSERT INTO url VALUES(?, ?, ?)", rows)

    def append(self, rows: Iterable[Row]) -> None:
        given = list(rows)
        if not given:
            return
        width = max(map(_width, given)) if len(given) > 1 else _width(given[0])
        numbered = [(seq, *row[1:width]) for seq, row in enumerate(given, self.seq + 1)]
        self.seq += len(numbered)
        self._pending += len(numbered)
        self._write(INSERTS[width], numbered)

    def place(self, queues: Mapping[int, str]) -> None:
        self._places = True
        self._write("INSERT OR REPLACE INTO place VALUES(?, ?)", ((page, storable(queue)) for page, queue in queues.items()))

    def born(self, first: int, time: float) -> None:
        self._write("INSERT OR REPLACE INTO born VALUES(?, ?)", ((first, time),))

    def attach(self, page: int, payload: bytes) -> None:
        self._write("INSERT OR REPLACE INTO payload VALUES(?, ?)", ((page, payload),))

    def attach_all(self, payloads: Mapping[int, bytes]) -> None:
        self._write("INSERT OR REPLACE INTO payload VALUES(?, ?)", payloads.items())

    def detach(self, page: int) -> None:
        self._write("DELETE FROM payload WHERE page = ?", ((page,),))

    def keep_text(self, page: int, text: str) -> None:
        self._write("INSERT OR REPLACE INTO body VALUES(?, ?)", ((page, storable(text)),))

    def note(self, key: str, value: Any) -> None:
        self.notes[key] = value
        self._write("INSERT OR REPLACE INTO meta VALUES(?, ?)", ((key, json.dumps(value)),))
        self.commit()

    def acknowledge(self) -> None:
        if self._pending >= self.group:
            self.commit()

    def commit(self) -> None:
        self._check_intact()
        if not self._inside:
            return
        try:
            with self._writing:
                self._cursor.execute("COMMIT")
            self._inside = False
            self._pending = 0
            if self.sync_s > 0:
                self._sync_soon()
            else:
                self._sync_wal()
        except (sqlite3.Error, OSError) as error:
            self._break(error)

    def sync(self) -> None:
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
            self.files.close()
            if self._wal >= 0:
                os.close(self._wal)
                self._wal = -1
            self._undo()
            self._cursor.close()
            self.db.close()
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None
            self.broken = self.broken or f"{self.folder}: this crawl is closed; recover it to continue"

    # Reading ------------------------------------------------------------------------------------------------------------
    def rows(self, after: int = 0, batch: int = 1000) -> Iterator[list[Row]]:
        with Sentences(self.folder, "read"):
            found = self.db.execute(f"SELECT {', '.join(COLUMNS)} FROM event WHERE seq > ? ORDER BY seq", (after,))
            while some := found.fetchmany(batch):
                yield list(map(Row._make, some))

    def select(self, columns: Sequence[str], kinds: Collection[int], after: int = 0) -> Iterator[tuple[Any, ...]]:
        assert set(columns) <= set(COLUMNS)
        marks = ", ".join("?" * len(kinds))
        with Sentences(self.folder, "read"):
            query = f"SELECT {', '.join(columns)} FROM event WHERE seq > ? AND kind IN ({marks}) ORDER BY seq"
            yield from self.db.execute(query, (after, *kinds))

    def url(self, page: int) -> str:
        with Sentences(self.folder, "read"):
            found: tuple[str] = self.db.execute("SELECT url FROM url WHERE id = ?", (page,)).fetchone()
        return found[0]

    def urls(self, first: int = 0, batch: int = 1000) -> Iterator[tuple[list[str], list[int]]]:
        with Sentences(self.folder, "read"):
            rows = self.db.execute("SELECT url, key FROM url WHERE id >= ? ORDER BY id", (first,))
            while some := rows.fetchmany(batch):
                urls, keys = zip(*some, strict=True)
                yield list(urls), list(keys)

    def find_urls(self, text: str, first: int = 0, most: int = 100) -> list[tuple[int, str]]:
        query = "SELECT id, url FROM url WHERE id >= ? AND instr(lower(url), lower(?)) ORDER BY id LIMIT ?"
        with Sentences(self.folder, "read"):
            return list(self.db.execute(query, (first, storable(text), most)))

    def names(self, pages: Sequence[int]) -> list[tuple[str, str | None]]:
        asked = "url, queue FROM url LEFT JOIN place ON page = id" if self._places else "url, NULL FROM url"
        found = {page: (url, queue) for page, url, queue in self._among(f"SELECT id, {asked} WHERE id", pages)}
        return [found[page] for page in pages]

    def attached_all(self, pages: Sequence[int]) -> dict[int, bytes]:
        return dict(self._among("SELECT page, data FROM payload WHERE page", pages))

    def _among(self, query: str, pages: Sequence[int]) -> Iterator[Any]:
        with Sentences(self.folder, "read"):
            for begin in range(0, len(pages), MOST_ASKED):
                some = pages[begin : begin + MOST_ASKED]
                yield from self.db.execute(f"{query} IN ({', '.join('?' * len(some))})", some)

    def queues(self, first: int, stop: int) -> dict[int, str]:
        if not self._places:
            return {}
        with Sentences(self.folder, "read"):
            return dict(self.db.execute("SELECT page, queue FROM place WHERE page >= ? AND page < ?", (first, stop)))

    def born_at(self, page: int) -> float:
        with Sentences(self.folder, "read"):
            found = self.db.execute("SELECT time FROM born WHERE first <= ? ORDER BY first DESC LIMIT 1", (page,)).fetchone()
        return float(found[0]) if found else 0.0

    def born_before(self, time: float) -> int:
        with Sentences(self.folder, "read"):
            first = self.db.execute("SELECT min(first) FROM born WHERE time >= ?", (time,)).fetchone()[0]
            return int(self.db.execute("SELECT count(*) FROM url").fetchone()[0] if first is None else first)

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

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save_snapshot(self, head: dict[str, Any], arrays: dict[str, Array], wait: bool = True) -> bool:
        if not wait and self.files.busy():
            return False
        self.commit()
        self.files.save({**head, "stamp": self._stamp(head["seq"])}, arrays, wait)
        return True

    def end_snapshot(self, patience_s: float) -> None:
        """Wait so long for a snapshot that is being written; then give it up."""
        self.files.close(patience_s)

    def snapshots(self) -> Iterator[Snapshot]:
        for head, arrays in self.files.load():
            if head["seq"] <= self.seq and head["stamp"] == self._stamp(head["seq"]):
                yield head, arrays

    def _stamp(self, seq: int) -> str:
        """What tells an event from another that later bore the same number, after a power cut took back the first."""
        with Sentences(self.folder, "read"):
            row = self.db.execute("SELECT kind, page, time FROM event WHERE seq = ?", (seq,)).fetchone()
        return repr(row)

    # --------------------------------------------------------------------------------------------------------------------
    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self._check_intact()
        try:
            with self._writing:
                if not self._inside:
                    self._cursor.execute("BEGIN")
                    self._inside = True
                self._cursor.executemany(statement, rows)
        except sqlite3.Error as error:
            self._break(error)

    def _break(self, error: Exception) -> NoReturn:
        self.broken = (
            f"{self.folder}: the trace cannot be written ({error}); what was acknowledged before is safe: "
            f"fix this, then resume the crawl"
        )
        self.disk_full = is_disk_full(error)
        self._undo()
        raise self.refusal(self.broken) from None

    def _check_intact(self) -> None:
        if self.broken:
            raise self.refusal(self.broken)

    @property
    def refusal(self) -> type[StorageError]:
        """Of what kind it is that nothing can be stored any more."""
        return CrawlClosed if self._closing.is_set() else DiskFull if self.disk_full else StorageError

    def _undo(self) -> None:
        """Take back what is not committed: a transaction that stays open would lock the file for whoever recovers the crawl."""
        with self._writing, suppress(sqlite3.Error):
            self.db.rollback()
        self._inside = False

    # The disk ------------------------------------------------------------------------------------------------------------
    def _sync_wal(self) -> None:
        self.before_sync()
        if self._wal < 0:
            self._wal = os.open(self.folder / (FILE + "-wal"), os.O_RDONLY)
        os.fsync(self._wal)

    def _sync_soon(self) -> None:
        if not self._unsynced.is_set():  # else what was just committed goes with what was before
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
                if os.fstat(self._wal).st_size > CHECKPOINT_BYTES:
                    self._checkpoint()
            except (OSError, InputError, sqlite3.Error) as error:
                self.broken = (
                    f"{self.folder}: the trace cannot be handed to the disk ({error}); fix this, then resume the crawl"
                )
                self.disk_full = is_disk_full(error)
                return

    def _checkpoint(self) -> None:
        """Move the WAL into the database, beside the crawl; its last few frames while nothing is written, so that it ends."""
        db = sqlite3.connect(self.folder / FILE, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            for _ in range(PASSES):
                _, frames, moved = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if frames - moved <= FEW_FRAMES or self._closing.is_set():
                    break
            with self._writing:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        finally:
            db.close()


def _connected(folder: Path, sync_s: float, read_only: bool = False) -> sqlite3.Connection:
    where = folder.absolute().as_uri() + "/" + FILE + ("?mode=ro" if read_only else "?mode=rw")
    db = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
    try:
        if read_only:
            db.execute("BEGIN")  # one moment of the crawl, whatever is written meanwhile
        db.execute("SELECT count(*) FROM meta").fetchone()  # a file that is none of ours is not touched
        if not read_only:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(LATER)
            db.execute("PRAGMA synchronous = NORMAL")  # _sync_wal does the rest
            db.execute(f"PRAGMA wal_autocheckpoint = {0 if sync_s > 0 else 4000}")  # the thread's work, if there is one
    except BaseException:
        db.close()
        raise
    return db


def _width(row: Row) -> int:
    """How many columns of a row are to be written: those at its end that say nothing took half the time of all."""
    width = len(row)
    while row[width - 1] is None:
        width -= 1
    return width


def check_crawl(folder: Path) -> None:
    """Raise StorageError if a directory does not hold a crawl."""
    if not (folder / FILE).is_file():
        if (folder / IMPORTED).is_file():
            raise StorageError(f"{folder}: an imported crawl, of which no events are known; use rank, explain or evaluate")
        why = f"{FILE} is missing" if folder.is_dir() else "it is a file" if folder.exists() else "there is no such directory"
        raise StorageError(f"{folder}: not a crawl ({why}); start one, or name the directory of one")


def is_locked(folder: Path) -> bool:
    """Whether a process is at work on the crawl of this directory."""
    try:
        os.close(_locked(folder, create=False))
    except StorageError:
        return True
    except OSError:
        return False
    return False


def _locked(folder: Path, create: bool = True) -> int:
    busy = "another process is at work on this crawl; stop it first, or wait for its end"
    if any(other.writable and other.folder.resolve() == folder.resolve() for other in _journals):
        busy = "this process has this crawl open already; close it first"
    return locked(folder / "lock", f"{folder}: {busy}", create)


class Sentences:
    """What SQLite and the system say, as sentences. A class: a generator costs more than the query of one URL."""

    __slots__ = ("doing", "folder")

    def __init__(self, folder: Path, doing: str) -> None:
        self.folder, self.doing = folder, doing

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not isinstance(error, sqlite3.Error | OSError):
            return
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
            raise CrawlClosed(f"{self.folder}: this crawl is closed; recover it to continue") from None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise (DiskFull if is_disk_full(error) else StorageError)(
            f"{self.folder}: the trace of the crawl cannot be {self.doing} ({reason}); fix this and try again"
        ) from None
