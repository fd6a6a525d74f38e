"""Log: where a live crawl keeps what happened. A crawl writes rows, and is made again by reading them.

A row is one event of one page, flat, as any store can hold it; what it means is known to ``events`` alone. Beside the rows a
log keeps the names of pages, notes of whoever drives the crawl, what is kept with a page, and snapshots that spare reading
all rows again. Two logs are here: ``journal.Journal`` (SQLite, in a directory) and ``memory_log.MemoryLog``. Another one
holds if ``frontrank.checks.LogContract`` holds for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from frontrank.kernels.jit import Array


class Row(NamedTuple):
    """One event of one page. links: int32, little-endian, of a fetched page; anchors: one per line, beside them."""

    seq: int
    kind: int
    page: int
    time: float
    status: int | None = None
    links: bytes | None = None
    anchors: str | None = None
    title: str | None = None
    impact: float | None = None
    file: str | None = None
    start: int | None = None
    length: int | None = None
    until: float | None = None
    note: str | None = None


COLUMNS = Row._fields
Snapshot = tuple[dict[str, Any], dict[str, Array]]  # head and arrays


class Log(Protocol):
    """What a crawl asks of the place where it keeps its history. One thread at a time calls it."""

    notes: dict[str, Any]
    broken: str  # why nothing can be stored any more; empty if all is well
    before_sync: Callable[[], None]  # is called before rows reach the disk: files that they point to must be there first

    @property
    def seq(self) -> int:
        """The number of the last row; the first is 1."""

    @property
    def folder(self) -> Path | None:
        """Its directory, if it has one: there other processes leave what they have to say (``inbox``)."""

    @property
    def writable(self) -> bool:
        """Whether rows can be added: a log may be open for reading alone."""

    # What happened
    def append(self, rows: Iterable[Row]) -> None:
        """Add rows; they are numbered on, whatever their seq says. They are safe after the next commit."""

    def rows(self, after: int = 0, batch: int = 1000) -> Iterator[list[Row]]:
        """All rows after this one, in their order, so many at a time."""

    def select(self, columns: Sequence[str], kinds: Collection[int], after: int = 0) -> Iterator[tuple[Any, ...]]:
        """Some columns of the rows of some kinds after this one, in their order."""

    # Names of pages, numbered from 0 as they become known
    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None: ...
    def url(self, page: int) -> str: ...
    def urls(self, first: int = 0, batch: int = 1000) -> Iterator[tuple[list[str], list[int]]]:
        """The URLs and the keys of all pages from this one on, so many at a time."""

    def find_urls(self, text: str, first: int = 0, max_urls: int = 100) -> list[tuple[int, str]]:
        """Number and URL of the first pages from this one on whose URL contains a text; A to Z and a to z are the same."""

    def find_pages(self, text: str, first: int, stop: int, ignore_case: bool) -> list[int]:
        """All pages from ``first`` to before ``stop`` whose URL contains a text, in their order; ``ignore_case``: A to Z and
        a to z are the same."""

    def names(self, pages: Sequence[int]) -> list[tuple[str, str | None]]:
        """URL and own queue, if it has one, of each of these pages."""

    # Which queue pages wait in, where that is not their host, and when pages became known
    def place(self, queues: Mapping[int, str]) -> None: ...
    def queues(self, first: int, stop: int) -> dict[int, str]:
        """The queues of those of these pages that have one of their own."""

    def born(self, first: int, time: float) -> None:
        """Pages from this one on became known at that time, or within a second after it."""

    def born_at(self, page: int) -> float:
        """When a page became known, to the second; 0 if nobody said."""

    def born_before(self, time: float) -> int:
        """How many pages, the first ones, became known before that time."""

    # What is kept beside: with a page until it is settled (payload), or for good (text)
    def attach(self, payloads: Mapping[int, bytes]) -> None: ...
    def attached(self, pages: Sequence[int]) -> dict[int, bytes]: ...
    def detach(self, page: int) -> None: ...
    def has_payloads(self) -> bool: ...
    def keep_text(self, page: int, text: str) -> None: ...
    def texts(self, pages: Iterable[int]) -> list[str]: ...
    def note(self, key: str, value: Any) -> None:
        """Store a value (JSON) under a key, for good."""

    # When it is safe
    def acknowledge(self) -> None:
        """The end of an event: commit if its group is full."""

    def commit(self) -> None:
        """All so far survives the end of this process."""

    def sync(self) -> None:
        """All so far survives a power cut."""

    def close(self) -> None: ...

    # Snapshots: (head, arrays) as they were after row head["seq"]
    def save_snapshot(self, head: dict[str, Any], arrays: dict[str, Array], wait: bool = True) -> bool:
        """Keep a snapshot; without ``wait`` it may be written while the crawl goes on. False if one still is."""

    def snapshots(self) -> Iterator[Snapshot]:
        """The good snapshots, newest first; none of rows that are not there (any more)."""
