"""Files that are whole or not there.

``check_target`` says before the work whether a result can be written at all; ``written_beside`` writes it after the work, next
to its target, and renames it, so that a reader finds the old one or the new one, whole, and never a part (``replaced``: the
same for callers with sentences of their own, and through power cuts).
``digest`` tells a damaged file from a whole one. ``locked`` keeps other processes away. ``NpyFile`` writes an array of unknown
length piece by piece.
"""

from __future__ import annotations

import fcntl
import io
import mmap
import os
import resource
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from frontrank.errors import InputError, StorageError
from frontrank.system.portable import sync

MAX_FILES = 2**20  # more are never open; some systems allow a billion, and closing all of them would take minutes
SAFE_FILES = 10_240  # macOS allows as many to everybody (OPEN_MAX)
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700  # of crawls: pages that were fetched with somebody's rights are not for everybody
DIGESTED = 64 * 2**20  # bytes at a time
IMPORTED = "crawl.json"  # in a directory with this file is an imported crawl: a web, and no events
Where = str | os.PathLike[str]
Progress = Callable[[str], None]  # is told in a few words what is being done


def locked(path: Path, busy: str, create: bool = True) -> int:
    """A descriptor that holds the lock of this file for as long as it is open; StorageError(busy) if another process has it."""
    lock = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), PRIVATE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StorageError(busy) from None
    return lock


def file_limit() -> int:
    """How many files this process may have open at once."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_FILES if soft == resource.RLIM_INFINITY else min(soft, MAX_FILES)


def raise_file_limit() -> int:
    """Let this process, and those that it starts, have as many files open as an ordinary user may; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        for asked in (wanted, min(wanted, SAFE_FILES)):
            with suppress(OSError, ValueError):  # macOS names no limit, and refuses what is above its own
                resource.setrlimit(resource.RLIMIT_NOFILE, (asked, hard))
                break
    return file_limit()


def private(path: str, flags: int) -> int:
    """How ``open`` makes a file of a crawl (its ``opener``): for its owner alone, whatever the umask."""
    return os.open(path, flags | os.O_CLOEXEC, PRIVATE)


def append_whole(file: int, data: bytes, end: int) -> None:
    """Append all of this to an open file that ends there, or nothing: what a full disk took of it is cut off again."""
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        os.ftruncate(file, end)
        os.lseek(file, end, os.SEEK_SET)
        raise


def digest(path: Where, spans: Iterable[tuple[int, int]] | None = None) -> str:
    """CRC-32 of a file, or of these parts of it (offset and length), as eight hexadecimal digits: 4 GB/s, no copy."""
    found = 0
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
                for begin, length in [(0, size)] if spans is None else spans:
                    for at in range(begin, begin + length, DIGESTED):
                        with data[at : min(at + DIGESTED, begin + length)] as part:
                            found = zlib.crc32(part, found)
    return f"{found:08x}"


def check_target(path: Where, ours: Callable[[Path], bool] | None = None, holds: str = "") -> None:
    """Raise InputError if a result cannot be written at the path: to be checked before the work, not after.

    The result is a file; or, with ``ours``, a directory: one that is there already may be replaced if it is empty or ours.
    ``holds`` says for people what such a directory holds.
    """
    target = Path(os.path.normpath(path))
    folder = target.absolute().parent
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:  # pyarrow would fail on it, and so would a page that names it
        raise InputError(f"{str(target)!a} cannot be written: its name is not UTF-8; give another path") from None
    if not folder.is_dir():
        raise InputError(f"{target} cannot be written: there is no directory {folder}; create it first")
    device = ours is None and os.path.lexists(target) and not (target.is_file() or target.is_dir())
    if device:  # renaming onto /dev/null would replace it
        raise InputError(f"{target} cannot be written: it is not a regular file; give another path")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{target} cannot be written: the directory {folder} is read-only")
    if not os.path.lexists(target):
        return
    if ours is None:
        if target.is_dir():
            raise InputError(f"{target} cannot be written: it is a directory; give a file name")
    elif not target.is_dir() or target.is_symlink():
        raise InputError(f"{target} cannot be written: it exists and is not a directory; give another path")
    elif any(target.iterdir()) and not ours(target):
        raise InputError(f"{target} exists and does not hold {holds}; give another path")


@contextmanager
def written_beside(path: Where) -> Iterator[Path]:
    """A place beside ``path`` where the block writes a file or a directory, renamed to ``path`` when the block ends.

    A block that fails or is interrupted leaves ``path`` as it was, and nothing behind. What cannot be written is an InputError.
    """
    try:
        with replaced(path) as beside:
            yield beside
    except OSError as error:
        # numpy's own "3 requested and 1 written" has no error number
        raise _NotWritten(path, error.strerror or f"{error}; is the disk full?") from None
    except _NotWritten as error:  # a file of the directory that was to be: nobody knows where that lay meanwhile
        raise _NotWritten(path, error.why) from None


class _NotWritten(InputError):
    def __init__(self, path: Where, why: str) -> None:
        super().__init__(f"{os.path.normpath(path)} cannot be written: {why}")
        self.why = why


@contextmanager
def replaced(path: Where, durable: bool = False, beside: Path | None = None) -> Iterator[Path]:
    """The same, with the system's own errors. ``durable``: a power cut, too, leaves a file as it was or as it is now.

    ``beside``: where to write, if others must know the name of what a killed process leaves.
    """
    target = Path(os.path.normpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}") if beside is None else beside
    try:
        yield beside
        if durable:
            _hand_to_disk(beside)
        _exchange(beside, target)
        if durable:
            _hand_to_disk(target.parent)
    finally:
        _remove(beside)


def _hand_to_disk(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        sync(number)
    finally:
        os.close(number)


def _exchange(new: Path, target: Path) -> None:
    if not (new.is_dir() and target.is_dir()):
        new.replace(target)
        return
    before = new.with_name(f"{new.name}.before")  # a directory with files in it cannot be renamed over
    target.rename(before)
    try:
        new.rename(target)
    except BaseException:
        before.rename(target)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class NpyFile:
    """A one-dimensional .npy array, written piece by piece; its header is right when the block ends.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.npy"
    >>> with NpyFile(path, np.int32) as file:
    ...     file.append(np.arange(2))
    ...     file.append(np.arange(3))
    >>> np.load(path).tolist()
    [0, 1, 0, 1, 2]
    """

    def __init__(self, path: Where, dtype: Any) -> None:
        self.size = 0
        self._dtype = np.dtype(dtype)
        self._file = open(path, "wb")  # noqa: SIM115
        self._file.write(self._header())

    def append(self, array: np.ndarray[Any, Any]) -> None:
        # tofile would only count what is missing on a full disk; this has the reason
        self._file.write(np.ascontiguousarray(array, self._dtype).data)
        self.size += array.size

    def _header(self) -> bytes:
        says = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.size,)}
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, says)
        return header.getvalue()  # padded, so that its length does not depend on the number

    def __enter__(self) -> NpyFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._file.seek(0)
                self._file.write(self._header())
        finally:
            self._file.close()
