"""A response as its bytes come: ``Incoming.feed`` takes them, and says when it is whole, or raises NotFetched.

    head          MAX_HEAD_BYTES bytes for status lines and headers together, interim (1xx) responses included, as in Chrome.
                  Lines end with CR LF or LF; a line without a colon, or with blanks in its name, is skipped; a NUL in a
                  name, or a continuation of nothing, is no HTTP
    body          as long as Content-Length says, or in chunks, or up to the end of the connection. A response with two
                  lengths, a length that is not a number, or a transfer coding other than chunked is no HTTP
    size          over ``max_bytes`` it is too large, as soon as that is known; with ``truncate`` it ends there
    its end       before the whole body came it is cut short; with ``cut`` what came is the body

Bytes that follow the response are no part of it, and the connection is not used again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from frontrank.fetching.failures import NotFetched, bad, cut_short, lost, too_large

MAX_HEAD_BYTES = 256 * 1024
MAX_LINE_BYTES = 1024  # of a chunk's size, with its extensions
_END = re.compile(rb"\r?\n\r?\n")
_LINE = re.compile(rb"\r?\n")
_STATUS = re.compile(rb"(HTTP/1\.[0-9]) +([1-9][0-9][0-9])(?: .*)?", re.DOTALL)
_NAME = re.compile(rb"[^\s\0:]+")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}")
NO_BODY = (204, 304)

Headers = list[tuple[bytes, bytes]]


@dataclass(slots=True)
class Response:
    """What a server answered. ``body`` is without transfer coding; content codings are the caller's to undo."""

    url: str
    status: int
    headers: Headers
    body: bytes
    protocol: str = "HTTP/1.1"
    address: str | None = None  # of the server
    asked: Headers = field(default_factory=list)  # the headers of the request

    def header(self, name: bytes) -> bytes | None:
        """The first header of this name, given in lower case."""
        return first(self.headers, name)


def first(headers: Headers, name: bytes) -> bytes | None:
    """
    >>> first([(b"A", b"1"), (b"Content-Type", b"text/html")], b"content-type")
    b'text/html'
    """
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value
    return None


def every(headers: Headers, name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


class Incoming:
    """One response on its way.

    >>> coming = Incoming(max_bytes=100)
    >>> coming.feed(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\npa"), coming.feed(b"ge")
    (False, True)
    >>> coming.status, coming.body, coming.reusable
    (200, b'page', True)
    """

    def __init__(self, max_bytes: int = 0, truncate: bool = False, sink: Callable[[bytes], object] | None = None) -> None:
        self.max_bytes, self.truncate = max_bytes, truncate
        self.sink = sink  # gets the body piece by piece; it is not kept here then
        self.status = 0
        self.protocol = ""
        self.headers: Headers = []
        self.body = b""
        self.reusable = False  # the connection, when the response is whole
        self.begun = False  # bytes have come
        self._buffer = b""
        self._head = 0  # bytes of heads so far
        self._pieces: list[bytes] = []
        self._size = 0
        self._left = -1  # bytes of the body, or of the chunk, that are still to come; -1: up to the end
        self._state = self._in_head

    def feed(self, data: bytes) -> bool:
        """More bytes; whether the response is whole."""
        self.begun = True
        self._buffer = self._buffer + data if self._buffer else data
        while self._state():
            pass
        return self._state == self._done

    def end(self) -> None:
        """No more bytes will come: the response is whole, or NotFetched says what is missing."""
        if self._state == self._done:
            return
        if self._state == self._in_head:
            raise lost()
        if self._left >= 0 and not self.truncate:
            raise cut_short()
        self._finish(reusable=False)

    # States: each takes what it can from _buffer, and says whether there is more to do ---------------------------------------
    def _in_head(self) -> bool:
        found = _END.search(self._buffer, 0, MAX_HEAD_BYTES)
        if found is None:
            if self._head + len(self._buffer) > MAX_HEAD_BYTES:
                raise NotFetched("headers too large", False)
            return False
        head, self._buffer = self._buffer[: found.start()], self._buffer[found.end() :]
        self._head += found.end()
        if self._head > MAX_HEAD_BYTES:
            raise NotFetched("headers too large", False)
        self._read_head(head)
        if 100 <= self.status < 200:
            return bool(self._buffer)  # an interim response: the real one follows
        self._frame()
        return True

    def _read_head(self, head: bytes) -> None:
        line, *lines = _LINE.split(head.lstrip(b"\r\n"))
        found = _STATUS.fullmatch(line)
        if found is None:
            raise bad(repr(line[:60]))
        self.protocol, self.status = found[1].decode(), int(found[2])
        headers: Headers = []
        for line in lines:
            if line[:1] in (b" ", b"\t"):
                if not headers:
                    raise bad("a folded first header")
                name, value = headers[-1]
                headers[-1] = (name, value + b" " + line.strip())
                continue
            name, colon, value = line.partition(b":")
            name = name.rstrip()
            if b"\0" in name:
                raise bad("NUL in the name of a header")
            if colon and _NAME.fullmatch(name):
                headers.append((name, value.strip()))
        self.headers = headers

    def _frame(self) -> None:
        """How the body is delimited."""
        codings = b",".join(every(self.headers, b"transfer-encoding")).lower().replace(b" ", b"")
        lengths = {part.strip() for value in every(self.headers, b"content-length") for part in value.split(b",")}
        stays = self.protocol == "HTTP/1.1" and b"close" not in b",".join(every(self.headers, b"connection")).lower()
        self._reusable = stays
        if self.status in NO_BODY:
            self._finish(stays)
        elif codings not in (b"", b"identity"):
            if codings != b"chunked":
                raise bad(f"transfer coding {codings[:40]!r}")
            self._left, self._state = 0, self._in_size
        elif lengths:
            length = lengths.pop()
            if lengths or not _LENGTH.fullmatch(length):
                raise bad(f"Content-Length {length[:40]!r}")
            self._left, self._state = int(length), self._in_body
            if self.max_bytes and self._left > self.max_bytes and not self.truncate:
                raise too_large(f"{self._left} bytes")
        else:
            self._left, self._reusable, self._state = -1, False, self._in_body

    def _in_body(self) -> bool:
        """Content-Length, or up to the end of the connection."""
        data, self._buffer = self._buffer, b""
        if 0 <= self._left < len(data):
            data, self._reusable = data[: self._left], False
        if self._left >= 0:
            self._left -= len(data)
        self._keep(data)
        if self._left == 0 and self._state != self._done:
            self._finish(self._reusable)
        return False

    def _in_size(self) -> bool:
        """The line before a chunk."""
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline or len(line) > MAX_LINE_BYTES:
            if len(line) > MAX_LINE_BYTES:
                raise cut_short()
            return False
        size = line.partition(b";")[0].strip()
        if not _SIZE.fullmatch(size):
            if self.truncate:
                self._finish(reusable=False)
                return False
            raise cut_short()
        self._buffer, self._left = rest, int(size, 16)
        self._state = self._in_chunk if self._left else self._in_trailer
        return True

    def _in_chunk(self) -> bool:
        if self._left:
            data, self._buffer = self._buffer[: self._left], self._buffer[self._left :]
            self._left -= len(data)
            self._keep(data)
            if self._left or self._state == self._done:
                return False
        if self._buffer[:2] == b"\r\n":
            self._buffer = self._buffer[2:]
        elif self._buffer[:1] == b"\n":
            self._buffer = self._buffer[1:]
        elif len(self._buffer) < 2 and b"\r\n".startswith(self._buffer):
            return False
        else:
            raise cut_short()
        self._state = self._in_size
        return True

    def _in_trailer(self) -> bool:
        """Headers after the last chunk, of which none is used."""
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            if self._head + len(line) > MAX_HEAD_BYTES:
                raise NotFetched("headers too large", False)
            return False
        self._head += len(line)
        self._buffer = rest
        if line.strip():
            return True
        self._finish(self._reusable and not rest)
        return False

    def _done(self) -> bool:
        return False

    # Ends --------------------------------------------------------------------------------------------------------------------
    def _keep(self, data: bytes) -> None:
        if self.sink is None:
            self._pieces.append(data)
        elif data:
            self.sink(data[: max(self.max_bytes - self._size, 0)] if self.max_bytes else data)
        self._size += len(data)
        if self.max_bytes and self._size > self.max_bytes:
            if not self.truncate:
                raise too_large(f"more than {self.max_bytes} bytes")
            self._finish(reusable=False)

    def _finish(self, reusable: bool) -> None:
        whole = b"".join(self._pieces) if len(self._pieces) != 1 else self._pieces[0]
        self.body = whole[: self.max_bytes] if self.truncate and self.max_bytes else whole
        self.reusable = reusable and not self._buffer
        self._pieces, self._buffer, self._state = [], b"", self._done
