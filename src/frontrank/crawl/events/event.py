"""What every event of a live crawl has, and how its rows of the log are read.

    rows()      the event as rows of the log
    of(row)     a row of the log as the event
    apply(c)    what it does to a crawl: the same when it happens and when it is replayed
    show(row)   what ``frontrank trace`` prints of it

Everything that an event needs to be applied is in it: whoever makes one has checked it, so that no row of a log fails when it
is read again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from frontrank.crawl.log import Row
from frontrank.kernels.jit import Array

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

Where = tuple[str, int, int]  # WARC file, offset, length


class Event(Protocol):
    kind: ClassVar[int]
    name: ClassVar[str]

    @property
    def time(self) -> float: ...
    def rows(self) -> list[Row]: ...
    def apply(self, state: CrawlState) -> None: ...
    @staticmethod
    def show(row: Row) -> dict[str, Any]: ...


class Plain:
    """``frontrank trace`` prints no more of it than its page."""

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class Moment(Plain):
    """Something happened to the whole crawl, and there is nothing to tell of it but when."""

    kind: ClassVar[int]
    time: float

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(row.time)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time)]


@dataclass(frozen=True, slots=True)
class Noted:
    """Something was said that concerns no single page: it lies in the log as a note, and ``frontrank trace`` prints it so."""

    kind: ClassVar[int]
    time: float

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(row.time, **read_note(row))

    def content(self) -> dict[str, Any]:
        """What the note says: all fields but the time."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, note=json.dumps(self.content(), sort_keys=True))]

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return read_note(row)


def pages_of(row: Row) -> Array:
    """The numbers of pages that a row names beside its own: links, most of all."""
    return np.frombuffer(row.links or b"", "<i4")


def count_of(row: Row) -> int:
    return len(row.links or b"") // 4


def anchors_of(row: Row) -> list[str]:
    """The anchors beside the links of a row, if there are any."""
    return row.anchors.split("\n") if row.anchors else []


def read_note(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row.note or "{}")
    return found


def storable(text: str) -> str:
    """Stores keep no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def stored(row: Row, where: Where | None) -> Row:
    return row if where is None else row._replace(file=where[0], start=where[1], length=where[2])
