"""URLs and hosts of a web directory, written as they come: pages.parquet, hosts.npy, hosts.parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from frontrank.sources.names import Hosts
from frontrank.sources.web_directory import StringsFile
from frontrank.web.files import NpyFile
from frontrank.web.strings import Packed

ROWS = 2**17  # of a row group: what comes in smaller pieces is gathered


class UrlFiles:
    """URLs in order of their pages; their hosts are numbered in order of first appearance."""

    def __init__(self, where: Path, salt: int = 0) -> None:
        self._known = Hosts(salt)
        self._urls = StringsFile(where, "pages", ["url"])
        self._names = StringsFile(where, "hosts", ["host"])
        self._numbers = NpyFile(where / "hosts.npy", np.int32)
        self._waiting: list[Packed] = []
        self._held = 0
        self.pages = 0

    @property
    def hosts(self) -> int:
        return len(self._known.names)

    def append(self, urls: Packed) -> None:
        self._waiting.append(urls)
        self._held += urls.size
        self.pages += urls.size
        if self._held >= ROWS:
            self._flush()

    def _flush(self) -> None:
        urls = Packed.joined(self._waiting)
        self._waiting, self._held = [], 0
        if urls.size:
            numbers, fresh = self._known.numbers(urls)
            self._urls.append(urls)
            self._numbers.append(numbers)
            if fresh.size:
                self._names.append(fresh)

    def __enter__(self) -> UrlFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._urls.__exit__()
            self._names.__exit__()
            self._numbers.__exit__(kind, None, None)
