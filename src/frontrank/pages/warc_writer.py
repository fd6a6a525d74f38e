"""What came from the servers, as WARC files (WARC 1.1, ISO 28500): one gzip member a record, so that each can be read alone.

    crawl-00000.warc.gz     warcinfo, then for each page: request, response; a new file when one has grown past most_bytes

The body is kept as it was after transfer and content decoding. So that readers do not decode it again, the headers
Content-Encoding and Transfer-Encoding become X-Crawler-Content-Encoding and X-Crawler-Transfer-Encoding, and Content-Length
is the length of what is kept (a differing one stays as X-Crawler-Content-Length). All other headers stay as they came.
Digests are SHA-1 in base 32, of the block and of the payload.

A page that came back as it was is a *revisit* record: the head of the answer, and where its payload lies. Its profile says how
that is known: the server said so (304), or the payload has the same digest.

The request stands before its response, since a crawl's trace knows where responses end: whatever follows the last one it
knows was torn, and ``resume`` cuts it off. When ``write`` returns, the system has every record; ``sync`` puts it on disk.
One thread writes; any thread may sync at any time, without holding up the writer.

Cost: mostly deflate at its fastest level (a page of 10 kB in about 0.15 ms, 2 % larger than at the default level).
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import threading
import time
import uuid
import zlib
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import NamedTuple

from frontrank.errors import InputError, SourceError

Where = tuple[str, int, int]  # file name, offset and length of a record
Header = tuple[str | bytes, str | bytes]
GZIP = 31
LEVEL = 1
NOT_AS_KEPT = (b"content-encoding", b"transfer-encoding")
REASONS = {status.value: status.phrase for status in HTTPStatus}
NOT_MODIFIED = b"http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
TRUNCATIONS = ("length", "time", "disconnect", "unspecified")


class Original(NamedTuple):
    """The record that holds the payload which a revisit found unchanged."""

    record: str
    date: str
    payload: str  # its digest


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
        most_bytes: int = 10**9,
        software: str | None = None,
        first: int | None = None,
    ) -> None:
        """Write into this folder, from the file of this number (none: the one after those that are there)."""
        self.folder, self.prefix, self.most_bytes = os.fspath(folder), prefix, most_bytes
        self.software = software or f"frontrank/{_version()}"
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            self.number = 1 + max(_numbers(os.listdir(self.folder), prefix), default=-1) if first is None else first
        except OSError as error:
            raise InputError(f"{self.folder}: cannot hold WARC files ({error.strerror or error})") from None
        self.name = ""
        self.end = 0  # of the last whole record in the present file
        self._info = b""
        self._file = -1
        self._lock = threading.Lock()  # of _file: whoever opens, closes or copies it

    @classmethod
    def resume(
        cls, folder: str | os.PathLike[str], ends: Mapping[str, int], prefix: str = "crawl", most_bytes: int = 10**9
    ) -> Warc:
        """Go on in a new file, after whatever is not known was cut off.

        ``ends`` says for each file where the last response ends that the crawl's trace knows. What follows it is cut off; a
        file of the crawl in which nothing is known is removed; one that is not there any more is not missed.
        """
        where = os.fspath(folder)
        try:
            held = [name for name in sorted(os.listdir(where)) if _numbers([name], prefix)] if os.path.isdir(where) else []
            for name in held:
                _cut(os.path.join(where, name), ends.get(name, 0))
        except OSError as error:
            raise InputError(f"{error.filename or where}: cannot be cut to its known records ({error.strerror})") from None
        return cls(where, prefix, most_bytes, first=1 + max(_numbers([*held, *ends], prefix), default=-1))

    def write(
        self,
        url: str,
        status: int,
        headers: Iterable[Header],
        body: bytes,
        *,
        request_headers: Iterable[Header] | None = None,
        method: str = "GET",
        reason: str | None = None,
        protocol: str = "HTTP/1.1",
        address: str | None = None,
        truncated: str | None = None,
        now: float | None = None,
    ) -> Where:
        """Keep a response, and the request if its headers are given. Returns where the response lies.

        ``address`` is the server's IP address; ``truncated`` says why the body is cut off: "length" or "time".
        """
        made = records(
            url,
            status,
            headers,
            body,
            request_headers=request_headers,
            method=method,
            reason=reason,
            protocol=protocol,
            address=address,
            truncated=truncated,
            info=self.info(),
            now=now,
        )
        return self.append(*made)

    def info(self) -> bytes:
        """The id of the present file's own record, of which what is written next is a part."""
        if self._file < 0 or self.end >= self.most_bytes:
            self._open_next()
        return self._info

    def append(self, asked: bytes, answer: bytes) -> Where:
        """Keep records that were made elsewhere (``records``). Returns where the response lies."""
        self.info()
        begin = self.end + len(asked)
        self._append(asked + answer)
        return self.name, begin, len(answer)

    def sync(self) -> None:
        """Whatever was written is on disk when this returns."""
        with self._lock:
            if self._file < 0:
                return
            name, copy = self.name, os.dup(self._file)  # our own: the writer may go on to the next file meanwhile
        try:
            self._put_on_disk(copy, name)
        finally:
            os.close(copy)

    def close(self) -> None:
        with self._lock:  # a sync that begins now must not end before this file is on disk
            file, self._file = self._file, -1
            if file >= 0:
                try:
                    self._put_on_disk(file, self.name)
                finally:
                    os.close(file)

    def _put_on_disk(self, file: int, name: str) -> None:
        try:
            os.fsync(file)
        except OSError as error:
            raise self._refused(error, name) from None

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
            raise self._refused(error, name) from None
        with self._lock:
            self.name, self.end, self._file = name, 0, file
        self._info = new_id()
        fields = f"software: {self.software}\r\nformat: WARC File Format 1.1\r\n".encode()
        about = [(b"WARC-Filename", self.name.encode())]
        try:
            self._append(_record(b"warcinfo", self._info, date_of(None), about, b"application/warc-fields", b"", fields))
            _sync_folder(self.folder)
        except InputError:
            with self._lock:
                os.close(self._file)
                self._file = -1
            os.remove(path)
            raise
        self.number += 1

    def _append(self, data: bytes) -> None:
        """Write all of it or nothing: what a full disk took of a record is cut off again."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            os.ftruncate(self._file, self.end)
            os.lseek(self._file, self.end, os.SEEK_SET)
            raise self._refused(error, self.name) from None
        self.end += len(data)

    def _refused(self, error: OSError, name: str) -> InputError:
        path = os.path.join(self.folder, name)
        return InputError(
            f"{path}: cannot be written ({error.strerror or error}); make room or choose another place, then resume"
        )


def records(
    url: str,
    status: int,
    headers: Iterable[Header],
    body: bytes,
    *,
    request_headers: Iterable[Header] | None = None,
    method: str = "GET",
    reason: str | None = None,
    protocol: str = "HTTP/1.1",
    address: str | None = None,
    truncated: str | None = None,
    info: bytes = b"",
    now: float | None = None,
    record: bytes | None = None,
    unchanged: Original | None = None,
) -> tuple[bytes, bytes]:
    """The records of a request (empty if its headers are not given) and of its response, ready to be appended to a file.

    ``record``: the id of the response, a new one if not given. ``unchanged``: the payload is what it was in this record; the
    response becomes a revisit, without its payload.
    """
    if truncated is not None and truncated not in TRUNCATIONS:
        raise InputError(f"truncated is {truncated!r}, expected {', '.join(TRUNCATIONS)} or None")
    date, record = date_of(now), new_id() if record is None else record
    about = [(b"WARC-Target-URI", _line(url))]
    if info:
        about.append((b"WARC-Warcinfo-ID", info))
    if address:
        about.append((b"WARC-IP-Address", _line(address)))
    asked = b""
    if request_headers is not None:
        head = _http_head(f"{method} {_asked_for(url)} HTTP/1.1", request_headers)
        links = [*about, (b"WARC-Concurrent-To", record)]
        asked = _record(b"request", new_id(), date, links, b"application/http; msgtype=request", head, b"")
    phrase = REASONS.get(status, "") if reason is None else reason
    head = _http_head(f"{protocol} {status} {phrase}", _as_kept(headers, len(body)))
    if unchanged is not None:
        about += [
            (b"WARC-Profile", NOT_MODIFIED if status == 304 else IDENTICAL),
            (b"WARC-Refers-To", _line(unchanged.record)),
            (b"WARC-Refers-To-Target-URI", _line(url)),
            (b"WARC-Refers-To-Date", _line(unchanged.date)),
            (b"WARC-Payload-Digest", _line(unchanged.payload)),
        ]
        return asked, _record(b"revisit", record, date, about, b"application/http; msgtype=response", head, b"")
    if truncated is not None:
        about.append((b"WARC-Truncated", truncated.encode()))
    return asked, _record(b"response", record, date, about, b"application/http; msgtype=response", head, body)


def read(folder: str | os.PathLike[str], where: Where) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body of the response that lies there."""
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
        os.fsync(opened)
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


def _record(
    kind: bytes, record: bytes, date: bytes, about: list[tuple[bytes, bytes]], content_type: bytes, head: bytes, payload: bytes
) -> bytes:
    """One record as one gzip member; its block is head and payload."""
    block = head + payload
    fields = [
        (b"WARC-Type", kind),
        (b"WARC-Record-ID", record),
        (b"WARC-Date", date),
        *about,
        (b"WARC-Block-Digest", digest(block)),
        *([(b"WARC-Payload-Digest", digest(payload))] if kind == b"response" else []),
        (b"Content-Type", content_type),
        (b"Content-Length", b"%d" % len(block)),
    ]
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    return packer.compress(b"WARC/1.1\r\n%b\r\n%b\r\n\r\n" % (lines, block)) + packer.flush()


def _http_head(first: str, headers: Iterable[Header]) -> bytes:
    lines = (b"%b: %b\r\n" % (_line(key), _line(value)) for key, value in headers)
    return _line(first) + b"\r\n" + b"".join(lines) + b"\r\n"


def _as_kept(headers: Iterable[Header], length: int) -> list[Header]:
    """The headers of a body that was decoded and has this length."""
    kept: list[Header] = []
    for given, value in headers:
        name = _line(given)
        if name.lower() in NOT_AS_KEPT:
            kept.append((b"X-Crawler-" + name, value))
        elif name.lower() == b"content-length":
            if _line(value) != b"%d" % length:
                kept.append((b"X-Crawler-" + name, value))
            kept.append((name, b"%d" % length))
        else:
            kept.append((name, value))
    return kept


def _line(text: str | bytes) -> bytes:
    """A header's bytes; a line end in it would begin another header."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return data.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in data or b"\r" in data else data


def _asked_for(url: str) -> str:
    """What stands in the request line."""
    rest = url.partition("://")[2]
    at = min((place for place in (rest.find("/"), rest.find("?")) if place >= 0), default=len(rest))
    return rest[at:] if rest[at : at + 1] == "/" else f"/{rest[at:]}"


def digest(data: bytes) -> bytes:
    """SHA-1 in base 32, as WARC files have it."""
    return b"sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest())


def new_id() -> bytes:
    return f"<urn:uuid:{uuid.uuid4()}>".encode()


def date_of(now: float | None) -> bytes:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)).encode()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("frontrank")
    except PackageNotFoundError:
        return "unknown"
