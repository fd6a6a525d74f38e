"""As much of HTTP/1.1 (RFC 9112) as a server of known pages takes: GET and HEAD, keep-alive, pipelining.

A request that is not understood is refused with a status and the connection closed, since where the next one would
begin is unknown. A body is read and thrown away.
"""

from __future__ import annotations

import re
import time
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader
from email.utils import formatdate
from http import HTTPStatus
from typing import NamedTuple

MAX_HEAD = 65_536  # bytes of a request line and its headers
MAX_TARGET = 8_000
MAX_BODY = 1_048_576
REASONS = {status.value: status.phrase for status in HTTPStatus}
METHODS = frozenset({"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"})  # known, and not allowed
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)


class BadRequest(Exception):
    """A request that is answered with a status alone."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Request(NamedTuple):
    method: str
    url: str  # absolute
    proxied: bool  # it came in absolute form
    keep_alive: bool
    minor: int  # of HTTP/1.x


async def read_request(reader: StreamReader) -> Request | None:
    """The next request of a connection; None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except LimitOverrunError:
        raise BadRequest(431, f"the headers are larger than {MAX_HEAD:,} bytes") from None
    except IncompleteReadError as error:
        if error.partial.strip():
            raise BadRequest(400, "the request ends before its headers do") from None
        return None
    request, body = parse(head)
    if body:
        await reader.readexactly(body)
    return request


def parse(head: bytes) -> tuple[Request, int]:
    """A request and the length of its body.

    >>> parse(b"GET /x HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
    (Request(method='GET', url='http://a/x', proxied=False, keep_alive=True, minor=1), 0)
    """
    line, *fields = _decoded(head).lstrip("\r\n").removesuffix("\r\n\r\n").split("\r\n")
    method, target, minor = _request_line(line)
    host, connection, length = None, "", 0
    for field in fields:
        name, colon, value = field.partition(":")
        name = name.lower()
        if name == "host":
            if host is not None:
                raise BadRequest(400, "two Host headers")
            host = value.strip()
        elif name == "connection" or name == "proxy-connection":
            connection += "," + value.lower()
        elif name == "content-length":
            length = _length(value.strip())
        elif name == "transfer-encoding":
            raise BadRequest(501, "a request with a Transfer-Encoding is not understood")
        elif not colon or not TOKEN.fullmatch(name):
            raise BadRequest(400, "a header line is not of the form Name: value")
    proxied = not target.startswith("/")
    if not proxied and host is None and minor:
        raise BadRequest(400, "the Host header is missing")
    options = {option.strip() for option in connection.split(",")}
    keep = "close" not in options and (minor > 0 or "keep-alive" in options)
    url = target if proxied else f"http://{host or '127.0.0.1'}{target}"
    return Request(method, url, proxied, keep, minor), length


def _decoded(head: bytes) -> str:
    """URLs that were sent unescaped are UTF-8; any other bytes mean themselves."""
    try:
        return head.decode()
    except UnicodeDecodeError:
        return head.decode("latin-1")


def _request_line(line: str) -> tuple[str, str, int]:
    parts = line.split(" ")
    if len(parts) != 3 or not TOKEN.fullmatch(parts[0]) or not parts[2].startswith("HTTP/"):
        raise BadRequest(400, "the request line is not of the form GET /path HTTP/1.1")
    method, target, version = parts
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(505, "HTTP/1.1 and HTTP/1.0 are understood")
    if method not in ("GET", "HEAD"):
        raise BadRequest(405 if method in METHODS else 501, "GET and HEAD are understood")
    if len(target) > MAX_TARGET:
        raise BadRequest(414, f"the URL is longer than {MAX_TARGET:,} characters")
    if not target.startswith("/") and not target.lower().startswith(("http://", "https://")):
        raise BadRequest(400, "the request target is neither a path nor an http URL")
    return method, target, int(version[-1])


def _length(value: str) -> int:
    if not (value.isascii() and value.isdigit()):
        raise BadRequest(400, "Content-Length is not a number")
    if len(value) > 10 or int(value) > MAX_BODY:
        raise BadRequest(413, f"the body is larger than {MAX_BODY:,} bytes")
    return int(value)


class Clock:
    """The Date header, made once a second."""

    def __init__(self) -> None:
        self.second, self.date = 0, ""

    def __call__(self) -> str:
        second = int(time.time())
        if second != self.second:
            self.second, self.date = second, formatdate(second, usegmt=True)
        return self.date


def response(status: int, kind: str, body: bytes, date: str, headers: str = "", *, keep: bool, head: bool = False) -> bytes:
    """The bytes to send."""
    lines = (
        f"HTTP/1.1 {status} {REASONS[status]}\r\nDate: {date}\r\nServer: frontrank\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: {'keep-alive' if keep else 'close'}\r\n{headers}\r\n"
    ).encode("latin-1")
    return lines if head else lines + body
