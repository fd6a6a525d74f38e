"""Reading WARC files (ISO 28500), plain or gzip: one record after another, damage named by its place."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple, cast

from frontrank.errors import SourceError
from frontrank.pages.codings import DECODERS
from frontrank.system.text_files import GZIP_MAGIC, is_gzip

NAMES = (".warc", ".warc.gz", ".wat", ".wat.gz")


MAGIC = b"WARC/"


MAX_BODY = 64 * 2**20  # bytes of a record that are looked at


MAX_HEAD_LENGTH = 2**16


class Record(NamedTuple):
    """One record of a WARC file; names of its headers in lower case."""

    head: dict[str, str]
    block: bytes


def is_warc(path: str) -> bool:
    """Whether a file is called WARC or WAT, or begins like one."""
    if path.lower().endswith(NAMES):
        return True
    try:
        with gzip.open(path) if is_gzip(path) else open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, EOFError, zlib.error):
        return False


def find(folder: str) -> list[str]:
    """The WARC and WAT files in a directory, by name."""
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.lower().endswith(NAMES))
    except OSError as error:
        raise SourceError(f"{folder}: cannot be read ({error.strerror or error})") from None


def records(path: str) -> Iterator[Record]:
    """The records of a file, plain or gzip; blocks are cut at 64 MiB."""
    number = 0
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == GZIP_MAGIC
            raw.seek(0)
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw) if packed else raw)
            while True:
                number += 1
                begin = file.tell()
                record = _next(file, f"{path}, record {number} (byte {begin:,}{' unpacked' if packed else ''})")
                if record is None:
                    return
                yield record
    except EOFError:
        raise SourceError(
            f"{path}, at record {number}: the gzip stream ends early; the file is truncated, fetch it again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}, at record {number}: the gzip stream is damaged ({error}); fetch the file again") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None


def _next(file: IO[bytes], at: str) -> Record | None:
    """The record that begins here, or None at the end of the file. ``at`` names the place in messages."""
    line = file.readline(MAX_HEAD_LENGTH)
    while line in (b"\r\n", b"\n"):
        line = file.readline(MAX_HEAD_LENGTH)
    if not line:
        return None
    if not line.startswith(MAGIC):
        raise SourceError(
            f"{at}: begins with {line[:20]!r}, expected WARC/1.0 or WARC/1.1; this is not a WARC file, or it is damaged"
        )
    head: dict[str, str] = {}
    size = 0
    while (line := file.readline(MAX_HEAD_LENGTH)) not in (b"\r\n", b"\n"):
        size += len(line)
        if not line.endswith(b"\n") or size > MAX_HEAD_LENGTH:
            raise SourceError(f"{at}: its headers do not end; the file is truncated or damaged, fetch it again")
        name, _, value = line.decode("utf-8", "replace").partition(":")
        head[name.strip().lower()] = value.strip()
    length = head.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise SourceError(f"{at}: Content-Length is {length[:40]!r}, expected a number of bytes")
    return Record(head, _block(file, int(length), at))


def _block(file: IO[bytes], length: int, at: str) -> bytes:
    block = file.read(min(length, MAX_BODY))
    left = length - len(block)
    while left and (piece := file.read(min(left, 2**20))):
        left -= len(piece)
    if left:
        raise SourceError(f"{at}: {length:,} bytes announced, {length - left:,} there; the file is truncated, fetch it again")
    return block


def decoded(body: bytes, head: dict[str, str]) -> bytes:
    """The body without its transfer and content encodings; as it is where it was kept decoded, or is damaged."""
    if "chunked" in head.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    encoding = head.get("content-encoding", "").lower().removeprefix("x-")
    return _unpacked(body, encoding) if encoding in DECODERS else body


def _unpacked(body: bytes, encoding: str) -> bytes:
    found = bytearray()
    try:
        for piece in DECODERS[encoding](body):
            found += piece
            if len(found) >= MAX_BODY:
                break
    except Exception:  # each library has its own; what came before counts
        pass
    return bytes(found[:MAX_BODY]) or body


def _unchunked(body: bytes) -> bytes:
    pieces, at = [], 0
    while (end := body.find(b"\r\n", at)) >= 0:
        try:
            size = int(body[at:end].partition(b";")[0], 16)
        except ValueError:
            return body  # kept decoded, with its header as it came
        if size <= 0:
            break
        pieces.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(pieces) or body
