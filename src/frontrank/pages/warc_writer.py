"""The WARC files of a crawl: its records (``warc_records``), appended whole or not at all.

    crawl-00000.warc.gz     warcinfo, then for each page: request, response; a new file when one has grown past max_bytes

The request comes before its response, since a crawl's trace knows where responses end: whatever follows the last one it
knows was torn, and ``resume`` cuts it off. When ``write`` returns, the system has every record; ``sync`` puts it on disk.
One thread writes; any thread may sync at any time, without holding up the writer.
"""

from __future__ import annotations

import os
import re
import threading
import zlib
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Unpack

from frontrank.errors import InputError, SourceError
from frontrank.pages.warc_records import GZIP, Details, Header, RecordFields, date_of, new_id, pack_record, records
from frontrank.system.files import append_whole
from frontrank.system.portable import sync

Where = tuple[str, int, int]  # file name, offset and length of a record


class Warc:
    """The WARC files of one crawl, written one record after another.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Warc(folder) as warc:
    ...     where = warc.write("http://example.org/", 200, [("Content-Type", "text/html")], b"<title>Hello</title>")
    ...     read(folder, where)
    (200, [('Content-Type', 'text/html')], b'<title>Hello</title>')
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        prefix: str = "crawl",
        max_bytes: int = 10**9,
        software: str | None = None,
        first: int | None = None,
    ) -> None:
        """Write into this folder, beginning with the file of number ``first`` (by default the one after the last)."""
        self.folder, self.prefix, self.max_bytes = os.fspath(folder), prefix, max_bytes
        self.software = software or f"frontrank/{_version()}"
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            self.number = 1 + max(_numbers(os.listdir(self.folder), prefix), default=-1) if first is None else first
        except OSError as error:
            raise InputError(f"{self.folder}: cannot store WARC files ({error.strerror or error})") from None
        self.name = ""
        self.end = 0  # of the last whole record in the current file
        self._info = b""
        self._file = -1
        self._lock = threading.Lock()  # of _file: whoever opens, closes or copies it

    @classmethod
    def resume(
        cls, folder: str | os.PathLike[str], ends: Mapping[str, int], prefix: str = "crawl", max_bytes: int = 10**9
    ) -> Warc:
        """Continue in a new file, after cutting off what the crawl does not know.

        ``ends`` says for each file where the last response ends that the crawl's trace knows. What follows it is cut off; a
        file of the crawl of which the trace knows nothing is removed; one that no longer exists is not missed.
        """
        where = os.fspath(folder)
        try:
            files = [name for name in sorted(os.listdir(where)) if _numbers([name], prefix)] if os.path.isdir(where) else []
            for name in files:
                _cut(os.path.join(where, name), ends.get(name, 0))
        except OSError as error:
            raise InputError(f"{error.filename or where}: cannot be cut to its known records ({error.strerror})") from None
        return cls(where, prefix, max_bytes, first=1 + max(_numbers([*files, *ends], prefix), default=-1))

    def write(self, url: str, status: int, headers: Iterable[Header], body: bytes, **details: Unpack[Details]) -> Where:
        """Append a response, and the request if its headers are given (``details``: see ``records``). Returns where the
        response is."""
        return self.append(*records(url, status, headers, body, info=self.info(), **details))

    def info(self) -> bytes:
        """The id of the warcinfo record that the next records refer to."""
        if self._file < 0 or self.end >= self.max_bytes:
            self._open_next()
        return self._info

    def append(self, request: bytes, response: bytes) -> Where:
        """Append records made by ``records``. Returns where the response is."""
        self.info()
        begin = self.end + len(request)
        self._append(request + response)
        return self.name, begin, len(response)

    def sync(self) -> None:
        """Whatever was written is on disk when this returns."""
        with self._lock:
            if self._file < 0:
                return
            name, copy = self.name, os.dup(self._file)  # a copy, as the writer may open the next file meanwhile
        try:
            self._put_on_disk(copy, name)
        finally:
            os.close(copy)

    def close(self) -> None:
        with self._lock:  # a sync that begins now must not return before this file is on disk
            file, self._file = self._file, -1
            if file >= 0:
                try:
                    self._put_on_disk(file, self.name)
                finally:
                    os.close(file)

    def _put_on_disk(self, file: int, name: str) -> None:
        try:
            sync(file)
        except OSError as error:
            raise self._write_error(error, name) from None

    def __enter__(self) -> Warc:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _open_next(self) -> None:
        self.close()
        name = f"{self.prefix}-{self.number:05d}.warc.gz"
        path = os.path.join(self.folder, name)
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._write_error(error, name) from None
        with self._lock:
            self.name, self.end, self._file = name, 0, file
        self._info = new_id()
        fields = f"software: {self.software}\r\nformat: WARC File Format 1.1\r\n".encode()
        about = [(b"WARC-Filename", self.name.encode())]
        try:
            record = RecordFields(b"warcinfo", self._info, date_of(None), about)
            self._append(pack_record(record, b"application/warc-fields", b"", fields))
            _sync_folder(self.folder)
        except InputError:
            with self._lock:
                os.close(self._file)
                self._file = -1
            os.remove(path)
            raise
        self.number += 1

    def _append(self, data: bytes) -> None:
        try:
            append_whole(self._file, data, self.end)
        except OSError as error:
            raise self._write_error(error, self.name) from None
        self.end += len(data)

    def _write_error(self, error: OSError, name: str) -> InputError:
        path = os.path.join(self.folder, name)
        return InputError(
            f"{path}: cannot be written ({error.strerror or error}); make room or choose another place, then resume"
        )


def read(folder: str | os.PathLike[str], where: Where) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body of the response at this place."""
    name, offset, length = where
    path = os.path.join(os.fspath(folder), name)
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(length)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    try:
        block = zlib.decompress(data, GZIP).partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
        head, _, body = block.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        status = int(first.split(" ", 2)[1])
    except (zlib.error, ValueError, IndexError):
        raise SourceError(f"{path}: no response record at offset {offset}, length {length}") from None
    return status, [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines)], body


def _sync_folder(folder: str) -> None:
    """A new file's name is on disk only when its folder is."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        sync(opened)
    except OSError:
        pass  # some file systems cannot, and need not
    finally:
        os.close(opened)


def _cut(path: str, end: int) -> None:
    size = os.path.getsize(path)
    if end == 0:
        os.remove(path)
    elif size < end:
        raise InputError(
            f"{path}: has {size:,} bytes, but the crawl knows a record in it that ends at {end:,}; "
            "restore the whole file, or move it away to continue without it"
        )
    elif size > end:
        os.truncate(path, end)


def _numbers(names: Iterable[str], prefix: str) -> list[int]:
    known = re.compile(rf"{re.escape(prefix)}-(\d{{5,}})\.warc\.gz")
    return [int(found[1]) for name in names if (found := known.fullmatch(name))]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("frontrank")
    except PackageNotFoundError:
        return "unknown"
