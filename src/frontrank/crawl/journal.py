"""The journal of a live crawl: its log in one SQLite file, which survives what the machine does not.

What was committed survives a killed process at once; a thread hands it to the disk once in ``sync_s`` seconds, and after that
it survives a power cut too. The same thread moves the log into the database file (a checkpoint). Tables: ``journal_file``.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakSet

from frontrank.crawl.events import storable
from frontrank.crawl.integrity import Witness, checksum, checksum_of, width_of, with_checksum, wrong_urls
from frontrank.crawl.journal_file import (
    FILE,
    FORMAT,
    UNBORN,
    UNCHECKED,
    VERSION,
    Sentences,
    check_crawl,
    checkpoint,
    connect,
    is_disk_full,
    is_locked,
    lock_folder,
    write_new,
)
from frontrank.crawl.journal_notes import add_checksums, check_end, read_notes
from frontrank.crawl.journal_reader import JournalReader
from frontrank.crawl.log import COLUMNS, Row, Snapshot
from frontrank.crawl.snapshots import Snapshots
from frontrank.errors import CrawlClosed, DiskFull, InputError, StorageError
from frontrank.kernels import hashtable
from frontrank.kernels.jit import Array
from frontrank.system.files import PRIVATE_FOLDER
from frontrank.system.portable import sync

__all__ = ["FILE", "UNBORN", "VERSION", "Journal", "check_crawl", "is_disk_full", "is_locked"]

INSERTS = [f"INSERT INTO event({', '.join(COLUMNS[:n])}, crc) VALUES({', '.join('?' * n)}, ?)" for n in range(len(COLUMNS) + 1)]
CHECKPOINT_BYTES = 16 * 2**20  # of the WAL
WITNESS_S = 0.01  # between two notes of how many events there are: each takes as long as a tenth of a commit

_journals: WeakSet[Journal] = WeakSet()  # of this process
_journals_lock = threading.Lock()  # threads of a service open crawls at the same time
logger = logging.getLogger("frontrank.crawl")


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
        self._reader = reader = JournalReader(folder, connection)
        self._committed = reader.seq
        self._witnessed = 0.0  # when the lock file was last told of a commit
        self.notes: dict[str, Any] = read_notes(folder, connection, reader.crc)
        unknown = (0, 0) if reader.crc == "crc" else (2**62, 2**62)
        reader.unchecked = tuple(self.notes.pop(UNCHECKED, unknown))
        self.rows, self.select, self.texts, self.names = reader.rows, reader.select, reader.texts, reader.names
        self.url, self.urls, self.find_urls, self.find_pages = reader.url, reader.urls, reader.find_urls, reader.find_pages
        self.queues, self.born_at, self.born_before = reader.queues, reader.born_at, reader.born_before
        self.attached, self.has_payloads, self.has_texts = reader.attached, reader.has_payloads, reader.has_texts

    @property
    def seq(self) -> int:
        return self._reader.seq

    @classmethod
    def create(cls, folder: Path, notes: dict[str, Any], group: int = 1, sync_s: float = 1.0) -> Journal:
        """Start a journal in a directory that is new, or empty."""
        if folder.is_file():
            raise StorageError(f"{folder}: is a file; give a new directory for the crawl")
        with Sentences(folder, "written"):
            folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            present = sorted({entry.name for entry in folder.iterdir()} - UNBORN)
            if FILE in present:
                raise StorageError(f"{folder}: already contains a crawl; resume it, or give another directory")
            if present:
                raise StorageError(f"{folder}: is not empty (it contains {present[0]}); give a new directory for the crawl")
            lock = _lock(folder)
            with ExitStack() as opened:
                opened.callback(os.close, lock)
                write_new(folder, {"format": FORMAT, "version": VERSION, **notes})
                db = opened.enter_context(closing(connect(folder, sync_s)))
                journal = cls(folder, db, lock, group, sync_s)
                opened.pop_all()  # they are the journal's now
            with _journals_lock:
                _journals.add(journal)
            return journal

    @classmethod
    def open(cls, folder: Path, group: int = 1, sync_s: float = 1.0, read_only: bool = False) -> Journal:
        """Go on with the journal of a directory, or only look at it."""
        check_crawl(folder)
        witness = Witness.read(folder / "lock")  # before the database: it may be running
        with Sentences(folder, "read" if read_only else "written"):
            lock = None if read_only else _lock(folder)
            with ExitStack() as opened:
                if lock is not None:
                    opened.callback(os.close, lock)
                db = opened.enter_context(closing(connect(folder, sync_s, read_only)))
                journal = cls(folder, db, lock, group, sync_s)
                check_end(folder, journal.seq, witness)
                if not read_only:
                    add_checksums(journal._reader, journal.notes)
                opened.pop_all()  # they are the journal's now
            with _journals_lock:
                _journals.add(journal)
            return journal

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
            own = [rows[place] for place in wrong_urls(kept, keys)]
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
            numbered = [with_checksum(seq, row, widest) for seq, row in enumerate(given, self.seq + 1)]
        reader = self._reader
        if reader.checked == reader.seq:
            reader.checked += len(numbered)
        reader.seq += len(numbered)
        self._pending += len(numbered)
        self._write(INSERTS[widest], numbered)

    def place(self, queues: Mapping[int, str]) -> None:
        self._reader.has_places = True
        self._put("place", ((page, storable(queue)) for page, queue in queues.items()))

    def born(self, first: int, time: float) -> None:
        self._put("born", ((first, float(time) + 0.0),))

    def attach(self, payloads: Mapping[int, bytes]) -> None:
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
            row = self.db.execute(f"SELECT kind, page, time, {self._reader.crc} FROM event WHERE seq = ?", (seq,)).fetchone()
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
        sync(self._wal)
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
                    checkpoint(self.folder, self._writing, self._closing.is_set)
            except (OSError, InputError, sqlite3.Error) as error:
                self.broken = (
                    f"{self.folder}: the trace cannot be handed to the disk ({error}); fix this, then resume the crawl"
                )
                self.disk_full = is_disk_full(error)
                return


def _lock(folder: Path) -> int:
    with _journals_lock:
        ours = {journal.folder.resolve() for journal in _journals if journal.writable}
    return lock_folder(folder, ours=folder.resolve() in ours)
