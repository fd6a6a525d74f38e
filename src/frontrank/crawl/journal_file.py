"""The file of a journal: its tables, its lock, checkpoints, and errors of SQLite and the system as sentences.

    DIR/trace.db    url(id, url, key, crc)        one row per page, in the order in which pages became known
                    event(seq, kind, page, ...)   one row per event; the columns of a fetched page say what it had
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
again by replaying the events. SQLite runs in WAL mode.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

from frontrank.crawl.integrity import checksum
from frontrank.errors import CrawlClosed, DiskFull, StorageError
from frontrank.system.files import IMPORTED, locked, private, replaced

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
SYNCED = """
    PRAGMA synchronous = NORMAL;
    PRAGMA checkpoint_fullfsync = ON;
"""  # the second is for macOS (system/portable.py), and nothing elsewhere
TABLES = ("meta", "url", "event", "payload", "body", "place", "born")
FEW_FRAMES, PASSES = 250, 20  # a checkpoint goes on beside the crawl until so few frames are left, or for so many passes


def is_disk_full(error: BaseException | None) -> bool:
    """Whether SQLite or the system says that the disk, or the share of it that this user may fill, has no room left.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device")), is_disk_full(OSError(errno.EIO, "I/O error"))
    (True, False)
    """
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL


def write_new(folder: Path, notes: dict[str, Any]) -> None:
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


def connect(folder: Path, sync_s: float, read_only: bool = False) -> sqlite3.Connection:
    where = folder.absolute().as_uri() + "/" + FILE + ("?mode=ro" if read_only else "?mode=rw")
    db = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
    try:
        if read_only:
            db.execute("BEGIN")  # one moment of the crawl, whatever is written meanwhile
        db.execute("SELECT count(*) FROM meta").fetchone()  # a file that is none of ours is not touched
        if not read_only:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(LATER)
            db.executescript(SYNCED)  # _sync_wal does the rest
            db.execute(f"PRAGMA wal_autocheckpoint = {0 if sync_s > 0 else 4000}")  # the thread's work, if there is one
    except BaseException:
        db.close()
        raise
    return db


def checkpoint(folder: Path, writing: AbstractContextManager[Any], is_closing: Callable[[], bool]) -> None:
    """Move the WAL into the database, beside the crawl; its last few frames while nothing is written, so that it ends."""
    db = sqlite3.connect(folder / FILE, isolation_level=None)
    try:
        db.executescript(SYNCED)
        for _ in range(PASSES):
            _, frames, moved = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if frames - moved <= FEW_FRAMES or is_closing():
                break
        with writing:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    finally:
        db.close()


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
        os.close(lock_folder(folder, create=False))
    except StorageError:
        return True
    except OSError:
        return False
    return False


def lock_folder(folder: Path, create: bool = True, *, ours: bool = False) -> int:
    """The lock of a directory; ``ours``: this process has it already."""
    busy = "another process is at work on this crawl; stop it first, or wait for its end"
    if ours:
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
