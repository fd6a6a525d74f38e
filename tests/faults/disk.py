"""A disk that can be full, fail, or lose what was not synced: the calls of ``os`` and of SQLite go through ``Disk``.

The files are real ones, in memory. A process that is killed is a copy of them at that moment: whatever the old process still
does, it does to files that nobody reads any more. A power cut is a copy of what was synced, and of each later write a part:
none, all, the first ones, or some sectors of some. A file whose bytes were synced is taken to be in its directory, too, as on
the file systems in use.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import apsw

KILL, POWER, FULL, FAILS = "killed", "power cut", "disk full", "disk fails"
SECTOR = 512
SHARED = "-shm"  # SQLite's memory of a process: not on any disk
REAL = {
    name: getattr(os, name)
    for name in ("write", "fsync", "ftruncate", "truncate", "replace", "rename", "remove", "open", "mkdir")
}


class Disk:
    """The files below one directory, for one life of a process; at call number ``at`` of the system something happens."""

    def __init__(self, root: Path, random: Random, fault: str, at: int, end: Callable[[str], None]) -> None:
        self.root, self.random, self.fault, self.at, self.end = str(root), random, fault, at, end
        self.calls = 0
        self.refused = 0
        self.left = random.choice((1, 3, 10**9)) if fault in (FULL, FAILS) else 0  # calls that are refused
        self.over = False
        self.on_sync: Callable[[str], None] = lambda path: None
        self.on_pause: Callable[[], None] = lambda: None
        self._synced: dict[str, bytes] = {}
        self._writes: dict[str, list[tuple[int, bytes | None]]] = {}  # since then: at an offset, or cut off there

    def has(self, path: Any) -> bool:
        return not self.over and isinstance(path, str | Path) and str(path).startswith(self.root)

    def call(self, what: str, path: str) -> None:
        """A call of the system is about to be made: the process may end here, or the call be refused."""
        if self.over:
            return
        self.calls += 1
        if self.calls < self.at or not self.fault:
            return
        if self.fault in (KILL, POWER):
            self.over = True
            self.end(f"{self.fault} at {what} of {Path(path).name}")
        elif self.left and (what in ("write", "open", "mkdir") if self.fault == FULL else what in ("write", "sync", "read")):
            self.left -= 1
            self.refused += 1
            number = errno.ENOSPC if self.fault == FULL else errno.EIO
            raise OSError(number, os.strerror(number), path)

    # What a power cut leaves ------------------------------------------------------------------------------------------------
    def note_write(self, path: str, offset: int, data: bytes | None) -> None:
        """Called before the bytes are written, with ``None`` where a file is cut off."""
        if self.fault != POWER or self.over:
            return
        if path not in self._synced:
            self._synced[path] = _bytes_of(path)
        self._writes.setdefault(path, []).append((offset, data))

    def note_sync(self, path: str) -> None:
        if self.over:
            return
        self.on_sync(path)
        if self.fault == POWER and os.path.isfile(path):
            self._synced[path] = _bytes_of(path)
            self._writes.pop(path, None)

    def note_move(self, source: str, target: str) -> None:
        self._writes.pop(target, None)
        parts: tuple[dict[str, Any], ...] = (self._synced, self._writes)
        for part in parts:
            if source in part:
                part[target] = part.pop(source)

    def copy_to(self, target: Path) -> None:
        """What the next process finds."""
        shutil.copytree(self.root, target, ignore=lambda _, names: [name for name in names if name.endswith(SHARED)])
        if self.fault != POWER:
            return
        for path in sorted(self._writes):
            copy = target / Path(path).relative_to(self.root)
            if copy.exists():
                copy.write_bytes(self._torn(self._synced[path], self._writes[path]))

    def _torn(self, content: bytes, writes: Sequence[tuple[int, bytes | None]]) -> bytes:
        held, random = bytearray(content), self.random
        way = random.choice(("none", "all", "first", "some"))
        kept = {"none": 0, "all": len(writes)}.get(way, random.randint(0, len(writes)))
        for offset, data in writes[:kept] if way != "some" else writes:
            if data is None:
                del held[offset:]
                continue
            for begin, part in _sectors(offset, data):
                if way != "some" or random.random() < 0.5:
                    held.extend(bytes(max(0, begin - len(held))))
                    held[begin : begin + len(part)] = part
        return bytes(held)


def _sectors(offset: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    first = 0
    while first < len(data):
        last = min(len(data), first + SECTOR - (offset + first) % SECTOR)
        yield offset + first, data[first:last]
        first = last


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


# Python's calls -------------------------------------------------------------------------------------------------------------
current: Disk | None = None


def use(disk: Disk | None) -> None:
    global current
    current = disk


def _path_of(number: int) -> str:
    return os.readlink(f"/proc/self/fd/{number}")


def _write(number: int, data: Any) -> int:
    if current is not None and current.has(path := _path_of(number)):
        current.call("write", path)
        current.note_write(path, os.lseek(number, 0, os.SEEK_CUR), bytes(data))
    return int(REAL["write"](number, data))


def _fsync(number: int) -> None:
    if current is not None and current.has(path := _path_of(number)):
        current.call("sync", path)
        current.on_pause()
        current.note_sync(path)
        return
    REAL["fsync"](number)


def _ftruncate(number: int, length: int) -> None:
    if current is not None and current.has(path := _path_of(number)):
        current.call("truncate", path)
        current.note_write(path, length, None)
    REAL["ftruncate"](number, length)


def _truncate(path: Any, length: int) -> None:
    if current is not None and current.has(path):
        current.call("truncate", str(path))
        current.note_write(str(path), length, None)
    REAL["truncate"](path, length)


def _moved(name: str) -> Callable[..., None]:
    def move(source: Any, target: Any, **given: Any) -> None:
        if current is not None and current.has(source):
            current.call("rename", str(target))
            current.note_move(str(source), str(target))
        REAL[name](source, target, **given)

    return move


def _remove(path: Any, **given: Any) -> None:
    if current is not None and current.has(path):
        current.call("remove", str(path))
    REAL["remove"](path, **given)


def _open(path: Any, flags: int, mode: int = 0o777, **given: Any) -> int:
    if flags & os.O_CREAT and current is not None and current.has(path) and not os.path.exists(path):
        current.call("open", str(path))
        current.note_write(str(path), 0, b"")
    return int(REAL["open"](path, flags, mode, **given))


def _mkdir(path: Any, *given: Any, **more: Any) -> None:
    if current is not None and current.has(path) and not os.path.exists(path):
        current.call("mkdir", str(path))
    REAL["mkdir"](path, *given, **more)


class File(io.FileIO):
    """A file that Python writes."""

    def write(self, data: Any) -> int:
        path = str(self.name)
        if current is not None and current.has(path):
            current.call("write", path)
            current.note_write(path, self.tell(), bytes(data))
        return super().write(data) or 0


def open_file(path: Any, mode: str = "r", **given: Any) -> Any:
    return io.BufferedWriter(File(path, "w")) if mode == "wb" else open(path, mode, **given)


def patch(module: Any, **values: Any) -> None:
    """Have these names of a module mean something else."""
    for name, value in values.items():
        setattr(module, name, value)


def install() -> None:
    """Have Python's calls go through the disk, while there is one."""
    patch(os, write=_write, fsync=_fsync, ftruncate=_ftruncate, truncate=_truncate)
    os.replace, os.rename = _moved("replace"), _moved("rename")
    os.remove = os.unlink = _remove
    os.open, os.mkdir = _open, _mkdir
    told, unraisable = sys.excepthook, sys.unraisablehook  # what SQLite is told, it answers for
    sys.excepthook = lambda kind, error, trace: None if isinstance(error, apsw.Error) else told(kind, error, trace)
    sys.unraisablehook = lambda it: None if isinstance(it.exc_value, apsw.Error) else unraisable(it)


# SQLite's calls -------------------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def _as_sqlite(kind: type[Exception] = apsw.IOError) -> Iterator[None]:
    """A refusal as SQLite has it."""
    try:
        yield
    except OSError as error:
        raise (apsw.FullError if error.errno == errno.ENOSPC else kind)(error.strerror) from None


class SqliteFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int]) -> None:
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def _mine(self) -> Disk | None:
        return current if current is not None and current.has(self.path) else None

    def xRead(self, amount: int, offset: int) -> bytes:
        if (disk := self._mine()) is not None and disk.fault == FAILS:
            with _as_sqlite():
                disk.call("read", self.path)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        if (disk := self._mine()) is not None:
            with _as_sqlite():
                disk.call("write", self.path)
            disk.note_write(self.path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        if (disk := self._mine()) is not None:
            with _as_sqlite():
                disk.call("truncate", self.path)
            disk.note_write(self.path, size, None)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        if (disk := self._mine()) is not None:
            with _as_sqlite():
                disk.call("sync", self.path)
            disk.note_sync(self.path)
            return
        super().xSync(flags)


class Vfs(apsw.VFS):
    NAME = "faults"

    def __init__(self) -> None:
        super().__init__(self.NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return SqliteFile(name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        if current is not None and current.has(name):
            with _as_sqlite():
                current.call("remove", name)
        super().xDelete(name, sync)


class Connection:
    """What the journal uses of ``sqlite3.Connection``, on SQLite with the disk above."""

    def __init__(self, path: Any, uri: bool = False, **_: Any) -> None:
        where = str(path) if uri else f"file:{path}?mode=rwc"
        flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if where.endswith("mode=ro"):
            flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READONLY
        with _as_sqlite3():
            self.db = apsw.Connection(where, flags=flags, vfs=Vfs.NAME)

    def execute(self, statement: str, given: Sequence[Any] = ()) -> Cursor:
        return self.cursor().execute(statement, given)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> Cursor:
        return self.cursor().executemany(statement, rows)

    def executescript(self, script: str) -> None:
        self.cursor().execute(script).fetchall()

    def cursor(self) -> Cursor:
        with _as_sqlite3():
            return Cursor(self.db.cursor())

    def rollback(self) -> None:
        with _as_sqlite3():
            if not self.db.get_autocommit():
                self.db.execute("ROLLBACK")

    def close(self) -> None:
        with contextlib.suppress(apsw.Error):  # as SQLite has it: a checkpoint that fails at the end is left to the next one
            self.db.close(True)


class Cursor:
    def __init__(self, cursor: apsw.Cursor) -> None:
        self.cursor = cursor

    def execute(self, statement: str, given: Sequence[Any] = ()) -> Cursor:
        with _as_sqlite3():
            self.cursor.execute(statement, tuple(given))
        return self

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> Cursor:
        with _as_sqlite3():
            self.cursor.executemany(statement, (tuple(row) for row in rows))
        return self

    def fetchone(self) -> Any:
        with _as_sqlite3():
            return self.cursor.fetchone()

    def fetchall(self) -> list[Any]:
        with _as_sqlite3():
            return list(self.cursor.fetchall())

    def fetchmany(self, most: int) -> list[Any]:
        found: list[Any] = []
        while len(found) < most and (row := self.fetchone()) is not None:
            found.append(row)
        return found

    def __iter__(self) -> Iterator[Any]:
        while (row := self.fetchone()) is not None:
            yield row

    def close(self) -> None:
        self.cursor.close(True)


class _as_sqlite3:
    """Errors of one binding as those of the other. A class: it is entered for every row."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.") from None
        if isinstance(error, apsw.Error):
            raise sqlite3.OperationalError(str(error)) from None


class Sqlite:
    """What stands in for the module ``sqlite3`` in the journal."""

    connect = Connection

    def __getattr__(self, name: str) -> Any:
        return getattr(sqlite3, name)
