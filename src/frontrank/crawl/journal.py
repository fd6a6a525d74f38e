"""The journal of a live crawl: its log in one SQLite file, which survives what the machine does not.

    DIR/trace.db    url(id, url, key, crc)        one row a page, in the order in which pages became known
                    event(seq, kind, page, ...)   one row an event; the columns of a fetched page say what it had
                    place(page, queue)            of pages whose queue is not their host
                    born(first, time)             when pages became known, from the first of each second on
                    payload(page, data)           what an integration keeps with a page until it is settled
                    body(page, text)              the text of a fetched page, where an ordering reads texts
                    meta(key, value)              format version, ordering, politeness, notes
    DIR/lock        locked by the one process that writes; how many events there are (``integrity``)
    DIR/snapshots   see ``snapshots``

Every table has a column ``crc``: a checksum of the row (``integrity``), which is compared when the row is read. The key of a
URL is one too, so its row has another only where the key is not made of the URL.

Tables url and event only grow. There is no index beside the row numbers: the order of pages lives in memory, and is made
again by replaying the events. SQLite runs in WAL mode. What was committed survives a killed process at once; a thread
hands it to the disk once in ``sync_s`` seconds, and after that, or after ``sync()``, it survives a power cut too. The same
thread moves the log into the database file (a checkpoint), so that no commit has to wait for it.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn
from weakref import WeakSet

from frontrank.crawl import integrity
from frontrank.crawl.events import storable
from frontrank.crawl.integrity import RESTORE, Witness, checksum, checksum_of, width_of
from frontrank.crawl.log import COLUMNS, Row, Snapshot
from frontrank.crawl.snapshots import Snapshots
from frontrank.errors import CrawlClosed, DiskFull, InputError, StorageError
from frontrank.kernels import hashtable
from frontrank.kernels.jit import Array
from frontrank.system.files import IMPORTED, PRIVATE_FOLDER, locked, private, replaced

VERSION = 3  # 2: no checksums. 1: orderings as specifications, politeness as "manners", rankings that follow from counting
UNCHECKED = "unchecked"  # a note, if rows of earlier versions are there: how many events and URLs have no checksums
FORMAT = "frontrank-crawl"
FILE = "trace.db"
NEW = FILE + ".new"
BESIDE = [NEW + end for end in ("", "-journal", "-wal", "-shm")]
UNBORN = {"lock", *BESIDE}  # what a crawl leaves whose process died while it was created
SCHEMA = """
    CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT, crc INTEGER) WITHOUT ROWID;
    CREATE TABLE url(id INTEGER PRIMARY KEY, url TEXT NOT NULL, key INTEGER NOT NULL, crc INTEGER);
    CREATE TABLE event(seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, page INTEGER NOT NULL, time REAL NOT NULL,
        status INTEGER, links BLOB, anchors TEXT, title TEXT, impact REAL, file TEXT, start INTEGER, length INTEGER,
        until REAL, note TEXT, crc INTEGER);
    CREATE TABLE payload(page INTEGER PRIMARY KEY, data BLOB NOT NULL, crc INTEGER);
    CREATE TABLE body(page INTEGER PRIMARY KEY, text TEXT NOT NULL, crc INTEGER);
"""
LATER = """
    CREATE TABLE IF NOT EXISTS place(page INTEGER PRIMARY KEY, queue TEXT NOT NULL, crc INTEGER);
    CREATE TABLE IF NOT EXISTS born(first INTEGER PRIMARY KEY, time REAL NOT NULL, crc INTEGER);
"""  # tables that a directory of an earlier version lacks
TABLES = ("meta", "url", "event", "payload", "body", "place", "born")
INSERTS = [f"INSERT INTO event({', '.join(COLUMNS[:n])}, crc) VALUES({', '.join('?' * n)}, ?)" for n in range(len(COLUMNS) + 1)]
MAX_ASKED = 500  # rows asked for at once
CHECKPOINT_BYTES = 16 * 2**20  # of the WAL
WITNESS_S = 0.01  # between two notes of how many events there are: each takes as long as a tenth of a commit
FEW_FRAMES, PASSES = 250, 20  # a checkpoint goes on beside the crawl until so few frames are left, or for so many passes


_journals: WeakSet[Journal] = WeakSet()  # of this process
logger = logging.getLogger("frontrank.crawl")
_journals_lock = threading.Lock()  # threads of a service open crawls at the same time


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
        self._witness = None if lock is None else Witness(lock)
        self.seq: int = self.db.execute("SELECT max(seq) FROM event").fetchone()[0] or 0
        self._committed = self.seq
        self._witnessed = 0.0  # when the lock file was last told of a commit
        self._checked = 0  # the rows up to this one are known to be whole
        tables = {name for (name,) in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self._places = "place" in tables and any(self.db.execute("SELECT 1 FROM place LIMIT 1"))
        self._born = "born" in tables
        columns = {name for (name,) in self.db.execute("SELECT name FROM pragma_table_info('meta')")}
        self._crc = "crc" if "crc" in columns else "NULL"
        self.notes: dict[str, Any] = self._read_notes()
        # how many events and URLs have no checksums, and whether any table has rows without
        self._unchecked: tuple[int, int] = tuple(self.notes.pop(UNCHECKED, (0, 0) if self._crc == "crc" else (2**62, 2**62)))

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
            with ExitStack() as held_open:
                held_open.callback(os.close, lock)
                _write_new(folder, {"format": FORMAT, "version": VERSION, **notes})
                db = held_open.enter_context(closing(_connected(folder, sync_s)))
                made = cls(folder, db, lock, group, sync_s)
                held_open.pop_all()  # they are the journal's now
            with _journals_lock:
                _journals.add(made)
            return made

    @classmethod
    def open(cls, folder: Path, group: int = 1, sync_s: float = 1.0, read_only: bool = False) -> Journal:
        """Go on with the journal of a directory, or only look at it."""
        check_crawl(folder)
        witness = Witness.read(folder / "lock")  # before the database: it may be running
        with Sentences(folder, "read" if read_only else "written"):
            lock = None if read_only else _locked(folder)
            with ExitStack() as held:
                if lock is not None:
                    held.callback(os.close, lock)
                db = held.enter_context(closing(_connected(folder, sync_s, read_only)))
                made = cls(folder, db, lock, group, sync_s)
                made._check_end(witness)
                if not read_only:
                    made._add_checksums()
                held.pop_all()  # they are the journal's now
            with _journals_lock:
                _journals.add(made)
            return made

    def _read_notes(self) -> dict[str, Any]:
        rows = self.db.execute(f"SELECT key, value, {self._crc} FROM meta").fetchall()
        format_of = {key: value for key, value, _ in rows}
        if format_of.get("format") != json.dumps(FORMAT):
            raise StorageError(f"{self.folder}/{FILE}: not the trace of a crawl; name the directory of one")
        self._check_format(format_of.get("version"))
        unchecked = self._crc == "NULL" or UNCHECKED in format_of
        for key, value, crc in rows:
            if crc != checksum((key, value)) and not (crc is None and unchecked):
                raise StorageError(f"{self.folder}/{FILE}: the note {key!r} is damaged, its checksum does not match; {RESTORE}")
        try:
            return {key: json.loads(value) for key, value, _ in rows}
        except (TypeError, ValueError):
            raise StorageError(f"{self.folder}/{FILE}: its notes are no JSON; {RESTORE}") from None

    def _check_format(self, stored: Any) -> None:
        """A newer format may have other checksums, so this comes first."""
        try:
            version = int(stored)
        except (TypeError, ValueError):
            raise StorageError(f"{self.folder}/{FILE}: its format is {stored!r}, expected a number; {RESTORE}") from None
        if version > VERSION:
            raise StorageError(
                f"{self.folder}/{FILE}: written by a newer frontrank (format {version}, this one reads up to "
                f"{VERSION}); use that version"
            )
        if version >= 3 and self._crc == "NULL":
            raise StorageError(f"{self.folder}/{FILE}: its tables have no checksums, which format {version} has; {RESTORE}")

    def _check_end(self, witness: tuple[int, int] | None) -> None:
        """SQLite drops the damaged end of a write-ahead log without a word."""
        if witness is None:
            logger.warning(
                "%s/lock: is damaged, so nothing says how many events there were; if %s-wal is damaged too, the newest events "
                "are lost: the crawl is as it was after event %s",
                self.folder,
                FILE,
                f"{self.seq:,}",
            )
            return
        committed, synced = witness
        if self.seq >= committed:
            return
        ends = f"{self.folder}/{FILE}: ends with event {self.seq:,}, but {committed:,} were committed"
        if self.seq < synced:
            raise StorageError(
                f"{ends}, and {synced:,} of them were on the disk: {FILE} or {FILE}-wal is damaged or of another time. "
                "Restore the directory from a copy; or, to continue with the "
                f"{self.seq:,} events that are left, remove {self.folder}/lock"
            )
        logger.warning(
            "%s: the newest %s are lost (%s-wal is damaged, or the machine stopped before they were on the disk); "
            "the crawl is as it was after event %s",
            ends,
            f"{committed - self.seq:,} events",
            FILE,
            f"{self.seq:,}",
        )

    def _add_checksums(self) -> None:
        """To the tables of an earlier version: rows from now on have them."""
        if self._crc == "crc":
            return
        pages = self.db.execute("SELECT max(id) + 1 FROM url").fetchone()[0] or 0
        self.db.execute("BEGIN")
        for table in TABLES:
            if not any(self.db.execute(f"SELECT 1 FROM pragma_table_info('{table}') WHERE name = 'crc'")):
                self.db.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER")
        self._crc, self._unchecked = "crc", (self.seq, pages)
        said = {UNCHECKED: list(self._unchecked)} | ({"version": VERSION} if self.notes["version"] == 2 else {})
        rows = [(key, json.dumps(value)) for key, value in said.items()]
        self.db.executemany("INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", [(*row, checksum(row)) for row in rows])
        self.db.execute("COMMIT")
        self.notes["version"] = VERSION if self.notes["version"] == 2 else self.notes["version"]

    @property
    def writable(self) -> bool:
        return self._lock is not None

    # Writing ------------------------------------------------------------------------------------------------------------
    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None:
        kept = urls if all(map(str.isascii, urls)) else list(map(storable, urls))
        self._write(
            "INSERT INTO url(id, url, key) VALUES(?, ?, ?)", zip(range(first, first + len(urls)), kept, keys, strict=True)
        )
        if kept is not urls or (kept and hashtable.fingerprint(kept[0]) != keys[0]):  # of another kind
            rows = list(zip(range(first, first + len(urls)), kept, keys, strict=True))
            own = [rows[place] for place in integrity.wrong_urls(kept, keys)]
            self._write("UPDATE url SET crc = ? WHERE id = ?", [(checksum(row), row[0]) for row in own])

    def append(self, rows: Iterable[Row]) -> None:
        given = list(rows)
        if not given:
            return
        if len(given) == 1:
            widest = width_of(given[0])
            values = (self.seq + 1, *given[0][1:widest])
            numbered = [(*values, checksum_of(values))]
        else:
            widest = max(map(width_of, given))
            numbered = [_with_checksum(seq, row, widest) for seq, row in enumerate(given, self.seq + 1)]
        if self._checked == self.seq:
            self._checked += len(numbered)
        self.seq += len(numbered)
        self._pending += len(numbered)
        self._write(INSERTS[widest], numbered)

    def place(self, queues: Mapping[int, str]) -> None:
        self._places = True
        self._put("place", ((page, storable(queue)) for page, queue in queues.items()))

    def born(self, first: int, time: float) -> None:
        self._put("born", ((first, float(time) + 0.0),))

    def attach(self, page: int, payload: bytes) -> None:
        self._put("payload", ((page, payload),))

    def attach_all(self, payloads: Mapping[int, bytes]) -> None:
        self._put("payload", payloads.items())

    def detach(self, page: int) -> None:
        self._write("DELETE FROM payload WHERE page = ?", ((page,),))

    def keep_text(self, page: int, text: str) -> None:
        self._put("body", ((page, storable(text)),))

    def note(self, key: str, value: Any) -> None:
        self.notes[key] = value
        self._put("meta", ((key, json.dumps(value)),))
        self.commit()

    def _put(self, table: str, rows: Iterable[tuple[Any, Any]]) -> None:
        self._write(f"INSERT OR REPLACE INTO {table} VALUES(?, ?, ?)", ((*row, checksum(row)) for row in rows))

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
            self._committed = self.seq
            if (now := time.monotonic()) - self._witnessed > WITNESS_S and self._witness is not None:
                self._witnessed = now
                self._witness.committed(self.seq)
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
        """Every row is compared with its checksum. Its numbers are for the reader to check (``integrity.check_rows``)."""
        file = self.folder / FILE
        with Sentences(self.folder, "read"):
            end = self.seq
            query = f"SELECT {', '.join(COLUMNS)}, {self._crc} FROM event WHERE seq > ? ORDER BY seq"
            found = self.db.execute(query, (after,))
            first = after
            while some := found.fetchmany(batch):
                integrity.check_checksums(file, some, after, self._unchecked[0])
                rows = [Row._make(row[:-1]) for row in some]
                after += len(rows)
                if first <= self._checked:
                    self._checked = max(self._checked, after)
                yield rows
            if after < end:
                raise StorageError(f"{file}: the events after {after:,} cannot be found; {RESTORE}")

    def select(self, columns: Sequence[str], kinds: Collection[int], after: int = 0) -> Iterator[tuple[Any, ...]]:
        assert set(columns) <= set(COLUMNS)
        if self._checked < self.seq:  # once: a row may be damaged where it says of which kind it is
            for _ in self.rows(self._checked):
                pass
        marks = ", ".join("?" * len(kinds))
        with Sentences(self.folder, "read"):
            query = f"SELECT {', '.join(columns)} FROM event WHERE seq > ? AND kind IN ({marks}) ORDER BY seq"
            yield from self.db.execute(query, (after, *kinds))

    def url(self, page: int) -> str:
        with Sentences(self.folder, "read"):
            row = self.db.execute("SELECT url, key FROM url WHERE id = ?", (page,)).fetchone()
        if row is not None and hashtable.fingerprint(row[0]) == row[1]:
            url: str = row[0]
            return url
        return self.names([page])[0][0]  # its key is of another kind, or it is damaged

    def urls(self, first: int = 0, batch: int = 1000) -> Iterator[tuple[list[str], list[int]]]:
        """Every URL is compared with its key, which is a fingerprint of it."""
        with Sentences(self.folder, "read"):
            last = self.db.execute("SELECT max(id) FROM url").fetchone()[0]
            rows = self.db.execute(f"SELECT id, url, key, {self._crc} FROM url WHERE id >= ? ORDER BY id", (first,))
            while some := rows.fetchmany(batch):
                numbers, urls, keys, _ = zip(*some, strict=True)
                if numbers != tuple(range(first, first + len(some))):
                    missing = next(page for page, number in enumerate(numbers, first) if page != number)
                    raise StorageError(f"{self.folder}/{FILE}: the URL of page {missing:,} is missing; {RESTORE}")
                self._check_named([some[place] for place in integrity.wrong_urls(urls, keys)])
                first += len(some)
                yield list(urls), list(keys)
            if last is not None and first <= last:
                raise StorageError(f"{self.folder}/{FILE}: the URLs after page {first - 1:,} cannot be found; {RESTORE}")

    def _check_named(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Of pages whose key is not their URL's: it is that of the URL in its queue, or there is a checksum."""
        own = [row for row in rows if row[3] != checksum(row[:3]) and not (row[3] is None and row[0] < self._unchecked[1])]
        if not own:
            return
        queues = self._queues_of([row[0] for row in own])
        for page, url, key, crc in own:
            if crc is not None or page not in queues or hashtable.fingerprint(f"{queues[page]}\0{url}") != key:
                why = f"the URL of page {page:,} is damaged, its key is not its fingerprint: {url!r}"
                raise StorageError(f"{self.folder}/{FILE}: {why}; {RESTORE}")

    def find_urls(self, text: str, first: int = 0, most: int = 100) -> list[tuple[int, str]]:
        query = "SELECT id FROM url WHERE id >= ? AND instr(lower(url), lower(?)) ORDER BY id LIMIT ?"
        with Sentences(self.folder, "read"):
            pages = [page for (page,) in self.db.execute(query, (first, storable(text), most))]
        return [(page, url) for page, (url, _) in zip(pages, self.names(pages), strict=True)]

    def names(self, pages: Sequence[int]) -> list[tuple[str, str | None]]:
        rows = {row[0]: row for row in self._among(f"SELECT id, url, key, {self._crc} FROM url WHERE id", pages)}
        missing = next((page for page in pages if page not in rows), None)
        if missing is not None:
            raise StorageError(f"{self.folder}/{FILE}: the URL of page {missing:,} is missing; {RESTORE}")
        found = list(rows.values())
        self._check_named([found[at] for at in integrity.wrong_urls([row[1] for row in found], [row[2] for row in found])])
        queues = self._queues_of(pages)
        return [(rows[page][1], queues.get(page)) for page in pages]

    def attached_all(self, pages: Sequence[int]) -> dict[int, bytes]:
        return self._whole("payload", self._among(f"SELECT page, data, {self._crc} FROM payload WHERE page", pages))

    def _among(self, query: str, pages: Sequence[int]) -> Iterator[Any]:
        with Sentences(self.folder, "read"):
            for begin in range(0, len(pages), MAX_ASKED):
                some = pages[begin : begin + MAX_ASKED]
                yield from self.db.execute(f"{query} IN ({', '.join('?' * len(some))})", some)

    def _whole(self, table: str, rows: Iterable[tuple[Any, Any, int | None]]) -> dict[Any, Any]:
        """By page what a table holds of it, each compared with its checksum."""
        found = {}
        with Sentences(self.folder, "read"):
            for number, value, crc in rows:
                if crc != checksum((number, value)) and not (crc is None and any(self._unchecked)):
                    why = f"row {number:,} of table {table} is damaged, its checksum does not match"
                    raise StorageError(f"{self.folder}/{FILE}: {why}; {RESTORE}")
                found[number] = value
        return found

    def _queues_of(self, pages: Sequence[int]) -> dict[int, str]:
        if not self._places:
            return {}
        return self._whole("place", self._among(f"SELECT page, queue, {self._crc} FROM place WHERE page", pages))

    def queues(self, first: int, stop: int) -> dict[int, str]:
        if not self._places:
            return {}
        query = f"SELECT page, queue, {self._crc} FROM place WHERE page >= ? AND page < ?"
        with Sentences(self.folder, "read"):
            return self._whole("place", self.db.execute(query, (first, stop)))

    def born_at(self, page: int) -> float:
        if not self._born:
            return 0.0
        query = f"SELECT first, time, {self._crc} FROM born WHERE first <= ? ORDER BY first DESC LIMIT 1"
        with Sentences(self.folder, "read"):
            found = self._whole("born", self.db.execute(query, (page,)))
        return float(next(iter(found.values()), 0.0))

    def born_before(self, time: float) -> int:
        if not self._born:
            return self._known()
        query = f"SELECT first, time, {self._crc} FROM born WHERE time >= ? ORDER BY first LIMIT 1"
        with Sentences(self.folder, "read"):
            found = self._whole("born", self.db.execute(query, (time,)))
            return next(iter(found), self._known())

    def _known(self) -> int:
        return int(self.db.execute("SELECT count(*) FROM url").fetchone()[0])

    def attached(self, page: int) -> bytes | None:
        query = f"SELECT page, data, {self._crc} FROM payload WHERE page = ?"
        with Sentences(self.folder, "read"):
            return self._whole("payload", self.db.execute(query, (page,))).get(page)

    def has_payloads(self) -> bool:
        with Sentences(self.folder, "read"):
            return self.db.execute("SELECT 1 FROM payload LIMIT 1").fetchone() is not None

    def has_texts(self) -> bool:
        with Sentences(self.folder, "read"):
            return self.db.execute("SELECT 1 FROM body LIMIT 1").fetchone() is not None

    def texts(self, pages: Iterable[int]) -> list[str]:
        query = f"SELECT page, text, {self._crc} FROM body WHERE page = ?"
        with Sentences(self.folder, "read"):
            return [self._whole("body", self.db.execute(query, (page,))).get(page, "") for page in pages]

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
            if 0 < head["seq"] <= self.seq and head.get("stamp") == self._stamp(head["seq"]):
                yield head, arrays

    def _stamp(self, seq: int) -> str:
        """What tells an event from another that later bore the same number, after a power cut took back the first."""
        with Sentences(self.folder, "read"):
            row = self.db.execute(f"SELECT kind, page, time, {self._crc} FROM event WHERE seq = ?", (seq,)).fetchone()
        return repr(row)

    # --------------------------------------------------------------------------------------------------------------------
    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if self.broken:
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
        seq = self._committed
        self.before_sync()
        if self._wal < 0:
            self._wal = os.open(self.folder / (FILE + "-wal"), os.O_RDONLY)
        os.fsync(self._wal)
        if self._witness is not None:
            self._witness.committed(seq)
            self._witness.synced(seq)

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


def _write_new(folder: Path, notes: dict[str, Any]) -> None:
    """The database of a crawl that begins: there is none, or a whole one."""
    for left in BESIDE:
        (folder / left).unlink(missing_ok=True)
    with replaced(folder / FILE, durable=True, beside=folder / NEW) as beside:
        os.close(private(str(beside), os.O_CREAT | os.O_EXCL))  # its WAL has the same rights
        db = sqlite3.connect(beside, isolation_level=None)
        db.executescript(SCHEMA + LATER)
        rows = [(key, json.dumps(value)) for key, value in notes.items()]
        db.executemany("INSERT INTO meta VALUES(?, ?, ?)", [(*row, checksum(row)) for row in rows])
        db.execute("PRAGMA journal_mode = WAL")  # here: a kill amid that would leave a file that no reader can open
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


def _with_checksum(seq: int, row: Row, widest: int) -> tuple[Any, ...]:
    width = width_of(row)
    values = (seq, *row[1:width])
    return (*values, checksum_of(values)) if width == widest else (*values, *(None,) * (widest - width), checksum_of(values))


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
    with _journals_lock:
        ours = [other.folder for other in _journals if other.writable]
    if folder.resolve() in [other.resolve() for other in ours]:
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
        reason = getattr(error, "strerror", None) or str(error).partition(" with text ")[0]  # SQLite quotes what is damaged
        raise (DiskFull if is_disk_full(error) else StorageError)(
            f"{self.folder}: the trace of the crawl cannot be {self.doing} ({reason}); fix this and try again"
        ) from None
