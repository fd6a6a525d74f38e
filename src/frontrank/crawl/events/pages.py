"""What happens to pages: they are named, taken, they arrive or fail, they come back, they are forgotten."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from frontrank.crawl.events.event import Plain, Where, anchors_of, count_of, pages_of, storable, stored
from frontrank.crawl.log import Row
from frontrank.kernels.jit import Array
from frontrank.pages.scorers import Judged

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

METADATA = ""  # what a page says of itself, in the note of its row: no scorer has this name
UNCHANGED = 304  # the status of a page that came back as it was: its links are those it had


@dataclass(frozen=True, slots=True)
class Seeded(Plain):
    """Pages to start from; the weights of those seeded together add up to 1."""

    kind: ClassVar[int] = 1
    name: ClassVar[str] = "seed"
    time: float
    pages: Sequence[int]

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, page, self.time, status=len(self.pages)) for page in self.pages]

    def apply(self, state: CrawlState) -> None:
        state.plant(np.array(self.pages, np.int32), 1.0 / len(self.pages))


@dataclass(frozen=True, slots=True)
class Discovered:
    """A page links to these; or, without one, somebody names them. A page that has not arrived yet keeps its links for then."""

    kind: ClassVar[int] = 18
    name: ClassVar[str] = "discovered"
    time: float
    parent: int  # -1: none
    pages: Array
    anchors: Sequence[str] = ()  # beside the pages, or none

    @classmethod
    def of(cls, row: Row) -> Discovered:
        return cls(row.time, row.page, pages_of(row).astype(np.int32), anchors_of(row))

    def rows(self) -> list[Row]:
        anchors = storable("\n".join(self.anchors)) if any(self.anchors) else None
        return [Row(0, self.kind, self.parent, self.time, links=self.pages.tobytes(), anchors=anchors)]

    def apply(self, state: CrawlState) -> None:
        state.discover(self.parent, self.pages, self.anchors)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"links": count_of(row)}


@dataclass(frozen=True, slots=True)
class LinksReassigned:
    """Links of pages that have not arrived belong to another page; or, if ``to`` is -1, they are given up."""

    kind: ClassVar[int] = 27
    name: ClassVar[str] = "retold"
    time: float
    pages: Array
    to: int = -1

    @classmethod
    def of(cls, row: Row) -> LinksReassigned:
        return cls(row.time, pages_of(row), row.page)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, self.to, self.time, links=self.pages.astype("<i4").tobytes())]

    def apply(self, state: CrawlState) -> None:
        for page in self.pages.tolist():
            links = state.pending.pop(page)
            if self.to >= 0:
                state.pending.add(self.to, links, links.values())
            else:
                state.progress.links_given_up += len(links)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"pages": count_of(row)}


@dataclass(frozen=True, slots=True)
class Taken(Plain):
    """Pages are leased to whoever fetches them."""

    kind: ClassVar[int] = 2
    name: ClassVar[str] = "take"
    time: float
    pages: Sequence[int]
    until: float | None = None  # when the lease ends, if that is not the crawl's own rule

    @classmethod
    def of(cls, row: Row) -> Taken:
        return cls(row.time, (row.page,), row.until)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, page, self.time, until=self.until) for page in self.pages]

    def apply(self, state: CrawlState) -> None:
        until = self.time + state.politeness.lease_s if self.until is None else self.until
        lease = state.leases.add_unsorted if state.replaying else state.leases.add
        for page in self.pages:
            state.frontier.lease(page, self.time)
            lease(page, until)
        state.count_taken(self.pages, self.time)


@dataclass(frozen=True, slots=True)
class TakenTogether(Taken):
    """The same, as one row for all of them: a service hands out hundreds at once, and rows were half of what that cost."""

    kind: ClassVar[int] = 25

    @classmethod
    def of(cls, row: Row) -> TakenTogether:
        return cls(row.time, pages_of(row).tolist(), row.until)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, links=np.array(self.pages, "<i4").tobytes(), until=self.until)]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page arrived. ``text``: not of one that is read from a log, where it is stored apart."""

    kind: ClassVar[int] = 3
    name: ClassVar[str] = "fetched"
    time: float
    page: int
    links: Array  # distinct, without the page itself
    anchors: Sequence[str] = ()  # beside the links, or none
    title: str = ""
    text: str | None = None
    impact: float = 0.0
    status: int = 200
    where: Where | None = None
    scores: Mapping[str, Judged] = field(default_factory=dict)  # by scorer: what it says of the page, or why it says nothing
    again_at: float | None = None  # when the page is to be fetched again
    metadata: Mapping[str, Any] = field(default_factory=dict)  # what else is to be known of the page: "withheld", "canonical"

    @classmethod
    def of(cls, row: Row) -> Fetched:
        links, (scores, metadata) = pages_of(row), parts_of_note(row.note)
        values = (row.title or "", None, row.impact or 0.0, row.status or 200, None, scores, row.until, metadata)
        return cls(row.time, row.page, links, anchors_of(row), *values)

    def rows(self) -> list[Row]:
        anchors = storable("\n".join(self.anchors)) if any(self.anchors) else None
        values = (self.links.tobytes(), anchors, storable(self.title) or None, self.impact or None)
        parts = {**self.scores, METADATA: dict(self.metadata)} if self.metadata else self.scores
        note = json.dumps(parts) if parts else None
        row = Row(0, self.kind, self.page, self.time, self.status, *values, until=self.again_at, note=note)
        return [stored(row, self.where)]

    def apply(self, state: CrawlState) -> None:
        again, unchanged = state.has_arrived(self.page), self.status == UNCHANGED
        if not state.progress.close(self.page):
            state.progress.revisits += state.ordering.is_fetched(self.page)
        if not unchanged:
            state.see(self)
            state.put_links(self.page, self.links, self.anchors)
        if again or unchanged:
            state.settle_again(self.page, links_changed=not unchanged)
        else:
            state.settle(self.page)
        if self.again_at is not None:
            state.frontier.schedule(self.page, self.again_at, 0.0)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        scores, metadata = parts_of_note(row.note)
        shown = {name: values for name, values in (("scores", scores), ("metadata", metadata)) if values}
        title = {"title": row.title} if row.title else {}
        again = {} if row.until is None else {"again_at": row.until}
        return {"status": row.status, "links": count_of(row), **title, **shown, **again}


def parts_of_note(note: str | None) -> tuple[dict[str, Judged], dict[str, Any]]:
    """What the note of a fetched page holds: what scorers say of it, and its metadata.

    >>> parts_of_note('{"topic": 0.5, "": {"withheld": "noindex"}}'), parts_of_note(None)
    (({'topic': 0.5}, {'withheld': 'noindex'}), ({}, {}))
    """
    if not note:
        return {}, {}
    scores = json.loads(note)
    metadata = scores.pop(METADATA, {})
    return scores, metadata if isinstance(metadata, dict) else {}


@dataclass(frozen=True, slots=True)
class Failed:
    """A page will not arrive: it counts as fetched, and keeps no links."""

    kind: ClassVar[int] = 4
    name: ClassVar[str] = "failed"
    time: float
    page: int
    reason: str = "failed"
    where: Where | None = None

    @classmethod
    def of(cls, row: Row) -> Failed:
        return cls(row.time, row.page, row.note or "failed")

    def rows(self) -> list[Row]:
        return [stored(Row(0, self.kind, self.page, self.time, note=storable(self.reason)), self.where)]

    def apply(self, state: CrawlState) -> None:
        if state.progress.close(self.page):
            state.progress.fail(self.page)
        if state.ordering.is_fetched(self.page):  # it was there once: what it gave to others stays
            state.settle_again(self.page, links_changed=False)
        else:
            state.progress.fail(self.page)
            state.settle(self.page)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"reason": row.note}
