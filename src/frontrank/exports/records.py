"""Responses in the WARC files of a crawl, read by their place: one record is one gzip member."""

from __future__ import annotations

import os
import zlib
from collections import OrderedDict
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from frontrank.errors import SourceError
from frontrank.pages.warc_reader import MAX_BODY
from frontrank.pages.warc_records import GZIP

Place = tuple[str, int, int]  # file name, offset and length of a record
MAX_OPEN = 32  # files


class StoredResponse(NamedTuple):
    """A response as it was stored: header names are in lower case, the body is without its codings."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of this name; empty if there is none."""
        return next((value for key, value in self.headers if key == name), "")


class StoredRecords:
    """The records of one folder. A few of its files stay open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: OrderedDict[str, int] = OrderedDict()

    def raw(self, place: Place) -> bytes:
        """The record as it lies in its file; SourceError if it is not whole."""
        name, offset, length = place
        try:
            data = os.pread(self._file(name), length, offset)
        except (OSError, ValueError, OverflowError) as error:
            raise SourceError(f"{self.folder / name}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
        if len(data) < length:
            raise SourceError(f"{self.folder / name}: the record at byte {offset:,} is cut off")
        return data

    def response(self, place: Place) -> StoredResponse:
        """The response of a record; SourceError if it is damaged."""
        return self.unpacked(self.raw(place), place)

    def unpacked(self, data: bytes, place: Place) -> StoredResponse:
        """The response in the bytes of a record."""
        try:
            return unpack(data)
        except (zlib.error, ValueError, IndexError):
            raise SourceError(f"{self.folder / place[0]}: the record at byte {place[1]:,} is damaged") from None

    def _file(self, name: str) -> int:
        if (file := self._open.get(name)) is not None:
            self._open.move_to_end(name)
            return file
        if os.path.basename(name) != name:
            raise ValueError("the log names a file outside this folder")
        if len(self._open) >= MAX_OPEN:
            os.close(self._open.popitem(last=False)[1])
        self._open[name] = os.open(self.folder / name, os.O_RDONLY | os.O_CLOEXEC)
        return self._open[name]

    def __enter__(self) -> StoredRecords:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        while self._open:
            os.close(self._open.popitem()[1])


def unpack(data: bytes) -> StoredResponse:
    """The response in a record; zlib.error, ValueError or IndexError if there is none."""
    unpacker = zlib.decompressobj(GZIP)
    record = unpacker.decompress(data, MAX_BODY)
    if not unpacker.eof:
        raise ValueError("the gzip member does not end here")
    block = record.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
    head, _, body = block.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines)
    return StoredResponse(int(first.split(" ", 2)[1]), [(key.lower(), value.strip()) for key, _, value in fields], body)
