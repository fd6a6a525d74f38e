"""Text files in: lines, plain or gzip (recognised by the first two bytes); whatever is wrong with them is a SourceError."""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from frontrank.errors import SourceError

GZIP_MAGIC = b"\x1f\x8b"
MAX_LINE = 64 * 2**20  # bytes


def is_gzip(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == GZIP_MAGIC


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a text file, unpacked if it is gzip, without a byte order mark."""
    try:
        with open(path, "rb") as file:
            magic = file.read(2)
            file.seek(0)
            if magic == GZIP_MAGIC:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    _skip_mark(unpacked)
                    yield unpacked  # type: ignore[misc]
            else:
                _skip_mark(file)
                yield file
    except EOFError:
        raise SourceError(f"{path}: the gzip stream ends early; the file is truncated, fetch it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}: the gzip stream is damaged ({error}); fetch the file again") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None


def _skip_mark(file: io.BufferedReader | gzip.GzipFile) -> None:
    """Some editors, and spreadsheets, begin a text file with a byte order mark."""
    if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))


def chunks(path: str, size: int) -> Iterator[bytes]:
    """The file in pieces of about size bytes, each of whole lines."""
    with opened(path) as file:
        rest = b""
        while piece := file.read(size):
            cut = piece.rfind(b"\n") + 1
            if cut:
                yield rest + piece[:cut]
                rest = piece[cut:]
            else:
                rest += piece
                if len(rest) > MAX_LINE:
                    raise SourceError(f"{path}: a line is longer than {MAX_LINE:,} bytes; expected a text file")
        if rest:
            yield rest


def read_lines(path: str) -> list[str]:
    """All lines of a UTF-8 text file, without their ends."""
    with opened(path) as file:
        data = file.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{path}, line {line}: not UTF-8 text") from None
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
