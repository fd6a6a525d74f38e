"""A log in memory: for crawls that need not survive their process.

It forgets rows unless it is asked to keep them: a crawl in memory has no use for them, and they would be most of its size.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from frontrank.crawl.log import Row, Snapshot
from frontrank.kernels.jit import Array


class MemoryLog:
    folder = None
    writable = True

    def __init__(self, keep: bool = True) -> None:
        self.seq = 0
        self.notes: dict[str, Any] = {}
        self.broken = ""
        self.before_sync: Callable[[], None] = lambda: None  # never: no disk has its rows
        self.keep = keep
        self._rows: list[Row] = []
        self._urls: list[str] = []
        self._keys: list[int] = []
        self._queues: dict[int, str] = {}
        self._born: list[tuple[int, float]] = []
        self._payloads: dict[int, bytes] = {}
        self._texts: dict[int, str] = {}
        self._snapshot: Snapshot | None = None

    def append(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.seq += 1
            if self.keep:
                self._rows.append(row._replace(seq=self.seq))

    def rows(self, after: int = 0, batch: int = 1000) -> Iterator[list[Row]]:
        for begin in range(after, len(self._rows), batch):
            yield self._rows[begin : begin + batch]

    def select(self, columns: Sequence[str], kinds: Collection[int], after: int = 0) -> Iterator[tuple[Any, ...]]:
        return (tuple(getattr(row, name) for name in columns) for row in self._rows[after:] if row.kind in kinds)

    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None:
        self._urls.extend(urls)
        if self.keep:
            self._keys.extend(keys)

    def url(self, page: int) -> str:
        return self._urls[page]

    def urls(self, first: int = 0, batch: int = 1000) -> Iterator[tuple[list[str], list[int]]]:
        for begin in range(first, len(self._urls), batch):
            yield self._urls[begin : begin + batch], self._keys[begin : begin + batch]

    def find_urls(self, text: str, first: int = 0, max_urls: int = 100) -> list[tuple[int, str]]:
        wanted = _lower(text)
        found = ((page, self._urls[page]) for page in range(first, len(self._urls)))
        return list(islice((one for one in found if wanted in _lower(one[1])), max_urls))

    def find_pages(self, text: str, first: int, stop: int, ignore_case: bool) -> list[int]:
        cased = _lower if ignore_case else str
        wanted = cased(text)
        return [page for page, url in enumerate(self._urls[first:stop], first) if wanted in cased(url)]

    def names(self, pages: Sequence[int]) -> list[tuple[str, str | None]]:
        return [(self._urls[page], self._queues.get(page)) for page in pages]

    def place(self, queues: Mapping[int, str]) -> None:
        self._queues |= queues

    def queues(self, first: int, stop: int) -> dict[int, str]:
        pages = range(first, stop) if stop - first < len(self._queues) else self._queues
        return {page: self._queues[page] for page in pages if first <= page < stop and page in self._queues}

    def born(self, first: int, time: float) -> None:
        self._born.append((first, time))

    def born_at(self, page: int) -> float:
        at = bisect_right(self._born, page, key=lambda one: one[0])
        return self._born[at - 1][1] if at else 0.0

    def born_before(self, time: float) -> int:
        at = bisect_left(self._born, time, key=lambda one: one[1])
        return self._born[at][0] if at < len(self._born) else len(self._urls)

    def attach(self, payloads: Mapping[int, bytes]) -> None:
        self._payloads |= payloads

    def attached(self, pages: Sequence[int]) -> dict[int, bytes]:
        return {page: self._payloads[page] for page in pages if page in self._payloads}

    def detach(self, page: int) -> None:
        self._payloads.pop(page, None)

    def has_payloads(self) -> bool:
        return bool(self._payloads)

    def keep_text(self, page: int, text: str) -> None:
        self._texts[page] = text

    def texts(self, pages: Iterable[int]) -> list[str]:
        return [self._texts.get(page, "") for page in pages]

    def note(self, key: str, value: Any) -> None:
        self.notes[key] = value

    def acknowledge(self) -> None: ...
    def commit(self) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None:
        self.broken = ""  # it may be used again

    def save_snapshot(self, head: dict[str, Any], arrays: dict[str, Array], wait: bool = True) -> bool:
        if self.keep:
            self._snapshot = dict(head), {name: np.array(array) for name, array in arrays.items()}
        return True

    def snapshots(self) -> Iterator[Snapshot]:
        if self._snapshot is not None:
            head, arrays = self._snapshot
            yield dict(head), {name: np.array(array) for name, array in arrays.items()}


def _lower(text: str) -> str:
    """As SQLite does it: the letters A to Z alone."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)
