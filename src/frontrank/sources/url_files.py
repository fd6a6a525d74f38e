"""URLs and hosts of a web directory, as they come: lines of text in; pages.parquet, hosts.npy and hosts.parquet out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.names import HostTable
from frontrank.sources.web_directory import StringsFile
from frontrank.system.files import NpyFile
from frontrank.system.text_files import chunks
from frontrank.web.strings import Packed

CHUNK = 8 * 2**20
NEWLINE, RETURN = 10, 13
ROWS = 2**17  # of a row group: what comes in smaller pieces is gathered


class HostFiles:
    """hosts.npy and hosts.parquet: hosts are numbered in order of first appearance."""

    def __init__(self, where: Path, salt: int = 0) -> None:
        self._known = HostTable(salt)
        self._names = StringsFile(where, "hosts", ["host"])
        self._numbers = NpyFile(where / "hosts.npy", np.int32)

    @property
    def count(self) -> int:
        return len(self._known.names)

    def append(self, urls: Packed) -> None:
        """The hosts of these URLs."""
        self._write(*self._known.numbers(urls))

    def append_names(self, hosts: Packed) -> None:
        """Hosts by name."""
        self._write(*self._known.of_names(hosts))

    def _write(self, numbers: Array, fresh: Packed) -> None:
        self._numbers.append(numbers)
        if fresh.size:
            self._names.append(fresh)

    def __enter__(self) -> HostFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._names.__exit__(kind, error, trace)
        self._numbers.__exit__(kind, error, trace)


class UrlFiles:
    """pages.parquet beside the files of hosts: URLs in order of their pages, and the hosts that they name or are given."""

    def __init__(self, where: Path, salt: int = 0) -> None:
        self._hosts = HostFiles(where, salt)
        self._urls = StringsFile(where, "pages", ["url"])
        self._waiting: list[Packed] = []
        self._names: list[Packed] = []
        self.pages = 0

    @property
    def hosts(self) -> int:
        return self._hosts.count

    def append(self, urls: Packed, hosts: Packed | None = None) -> None:
        self._waiting.append(urls)
        if hosts is not None:
            self._names.append(hosts)
        self.pages += urls.size
        if sum(part.size for part in self._waiting) >= ROWS:
            self._flush()

    def _flush(self) -> None:
        urls, hosts = Packed.joined(self._waiting), Packed.joined(self._names)
        self._waiting, self._names = [], []
        if urls.size:
            self._urls.append(urls)
            if hosts.size:
                self._hosts.append_names(hosts)
            else:
                self._hosts.append(urls)

    def __enter__(self) -> UrlFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._urls.__exit__(kind, error, trace)
            self._hosts.__exit__(kind, error, trace)


def packed_lines(path: str, chunk: int = CHUNK) -> Iterator[Packed]:
    """All lines of a UTF-8 text file, without their ends, piece by piece."""
    lines = 0
    for data in chunks(path, chunk):
        check_text(path, data, lines)
        bytes_ = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(bytes_ == NEWLINE)
        begins = np.concatenate([[0], ends + 1])
        ends -= (ends > begins[:-1]) & (bytes_[ends - 1] == RETURN)
        if begins[-1] < bytes_.size:  # the last line has no end
            ends = np.append(ends, bytes_.size)
        yield Packed.picked(bytes_, begins[: ends.size], ends)
        lines += ends.size


def check_text(path: str, data: bytes, lines: int) -> None:
    """Raise SourceError at the first line that is not UTF-8; so many lines came before these."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + lines + 1
        raise SourceError(f"{path}, line {line}: not UTF-8 text") from None
