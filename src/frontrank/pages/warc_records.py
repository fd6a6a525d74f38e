"""WARC records (WARC 1.1, ISO 28500), each one gzip member, so that it can be read alone.

The body is stored as it was after transfer and content decoding. So that readers do not decode it again, the headers
Content-Encoding and Transfer-Encoding become X-Crawler-Content-Encoding and X-Crawler-Transfer-Encoding, and Content-Length
is the length of what is stored (a differing one stays as X-Crawler-Content-Length). All other headers stay as they came.
Digests are SHA-1 in base 32, of the block and of the payload.

An unchanged page is a *revisit* record: the head of the response, and where its payload is. Its profile says how that is
known: the server said so (304), or the payload has the same digest.

Cost: mostly deflate at its fastest level (a page of 10 kB in about 0.11 ms, 2 % larger than at the default level).
"""

from __future__ import annotations

import base64
import hashlib
import time
import uuid
import zlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import NamedTuple, TypedDict

from frontrank.errors import InputError

Header = tuple[str | bytes, str | bytes]
GZIP = 31
LEVEL = 1
DECODED = (b"content-encoding", b"transfer-encoding")  # headers that do not describe the stored body
REASONS = {status.value: status.phrase for status in HTTPStatus}
NOT_MODIFIED = b"http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL = b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
TRUNCATIONS = ("length", "time", "disconnect", "unspecified")


class Original(NamedTuple):
    """The record that has the payload which a revisit found unchanged."""

    record: str
    date: str
    payload: str  # its digest


class RecordFields(NamedTuple):
    """The WARC fields of a record, but for those that are made of its block."""

    kind: bytes
    id: bytes
    date: bytes
    about: list[tuple[bytes, bytes]]


class Details(TypedDict, total=False):
    """What else is known of a request and its response; see ``records``."""

    request_headers: Iterable[Header] | None
    method: str
    reason: str | None
    protocol: str
    address: str | None
    truncated: str | None
    now: float | None


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

    ``address`` is the server's IP address; ``truncated`` says why the body is cut off: "length" or "time".
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
    request = b""
    if request_headers is not None:
        head = _http_head(f"{method} {_request_target(url)} HTTP/1.1", request_headers)
        fields = RecordFields(b"request", new_id(), date, [*about, (b"WARC-Concurrent-To", record)])
        request = pack_record(fields, b"application/http; msgtype=request", head, b"")
    phrase = REASONS.get(status, "") if reason is None else reason
    head = _http_head(f"{protocol} {status} {phrase}", _stored_headers(headers, len(body)))
    kind = b"response"
    if unchanged is not None:
        kind, body = b"revisit", b""
        about += _revisit_fields(url, status, unchanged)
    elif truncated is not None:
        about.append((b"WARC-Truncated", truncated.encode()))
    fields = RecordFields(kind, record, date, about)
    return request, pack_record(fields, b"application/http; msgtype=response", head, body)


def _revisit_fields(url: str, status: int, original: Original) -> list[tuple[bytes, bytes]]:
    return [
        (b"WARC-Profile", NOT_MODIFIED if status == 304 else IDENTICAL),
        (b"WARC-Refers-To", _line(original.record)),
        (b"WARC-Refers-To-Target-URI", _line(url)),
        (b"WARC-Refers-To-Date", _line(original.date)),
        (b"WARC-Payload-Digest", _line(original.payload)),
    ]


def pack_record(fields: RecordFields, content_type: bytes, head: bytes, payload: bytes) -> bytes:
    """One record as one gzip member; its block is head and payload."""
    block = head + payload
    header = [
        (b"WARC-Type", fields.kind),
        (b"WARC-Record-ID", fields.id),
        (b"WARC-Date", fields.date),
        *fields.about,
        (b"WARC-Block-Digest", digest(block)),
        *([(b"WARC-Payload-Digest", digest(payload))] if fields.kind == b"response" else []),
        (b"Content-Type", content_type),
        (b"Content-Length", b"%d" % len(block)),
    ]
    lines = b"".join(b"%b: %b\r\n" % field for field in header)
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    return packer.compress(b"WARC/1.1\r\n%b\r\n%b\r\n\r\n" % (lines, block)) + packer.flush()


def _http_head(first: str, headers: Iterable[Header]) -> bytes:
    lines = (b"%b: %b\r\n" % (_line(key), _line(value)) for key, value in headers)
    return _line(first) + b"\r\n" + b"".join(lines) + b"\r\n"


def _stored_headers(headers: Iterable[Header], length: int) -> list[Header]:
    """The headers of a body that was decoded and has this length."""
    stored: list[Header] = []
    for key, value in headers:
        name = _line(key)
        if name.lower() in DECODED:
            stored.append((b"X-Crawler-" + name, value))
        elif name.lower() == b"content-length":
            if _line(value) != b"%d" % length:
                stored.append((b"X-Crawler-" + name, value))
            stored.append((name, b"%d" % length))
        else:
            stored.append((name, value))
    return stored


def _line(text: str | bytes) -> bytes:
    """A header's bytes; a line end in it would begin another header."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return data.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in data or b"\r" in data else data


def _request_target(url: str) -> str:
    """The path and query of a request line."""
    rest = url.partition("://")[2]
    at = min((place for place in (rest.find("/"), rest.find("?")) if place >= 0), default=len(rest))
    return rest[at:] if rest[at : at + 1] == "/" else f"/{rest[at:]}"


def digest(data: bytes) -> bytes:
    """SHA-1 in base 32, as WARC files write it."""
    return b"sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest())


def new_id() -> bytes:
    return f"<urn:uuid:{uuid.uuid4()}>".encode()


def date_of(now: float | None) -> bytes:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)).encode()
