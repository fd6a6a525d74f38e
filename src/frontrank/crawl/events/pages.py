"""What happens to pages: they are named, taken, they arrive or fail, they come back, they are forgotten."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from frontrank.crawl.events.event import Plain, Where, anchors_of, count_of, pages_of, read_note, storable, stored
from frontrank.crawl.log import Row
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import UNRANKED
from frontrank.pages.scorers import Judged

if TYPE_CHECKING:
    from frontrank.crawl.live import Live

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

    def apply(self, crawl: Live) -> None:
        crawl._plant(np.array(self.pages, np.int32), 1.0 / len(self.pages))


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

    def apply(self, crawl: Live) -> None:
        crawl._discovered(self.parent, self.pages, self.anchors)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"links": count_of(row)}


@dataclass(frozen=True, slots=True)
class Retold:
    """Links that were told of pages which have not arrived are those of another page; or, with none, they are given up."""

    kind: ClassVar[int] = 27
    name: ClassVar[str] = "retold"
    time: float
    pages: Array
    to: int = -1

    @classmethod
    def of(cls, row: Row) -> Retold:
        return cls(row.time, pages_of(row), row.page)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, self.to, self.time, links=self.pages.astype("<i4").tobytes())]

    def apply(self, crawl: Live) -> None:
        for page in self.pages.tolist():
            links = crawl.pending.end(page)
            if self.to >= 0:
                crawl.pending.tell(self.to, links, links.values())
            else:
                crawl.links_given_up += len(links)

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

    def apply(self, crawl: Live) -> None:
        until = self.time + crawl.politeness.lease_s if self.until is None else self.until
        for page in self.pages:
            crawl.frontier.lease(page, self.time)
            crawl._lease(page, until)
        crawl._count_taken(self.pages, self.time)


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
    """A page arrived. ``text`` is None when it is read from a log, where it lies apart."""

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

    @classmethod
    def of(cls, row: Row) -> Fetched:
        links = pages_of(row)
        said = (row.title or "", None, row.impact or 0.0, row.status or 200, None, read_note(row), row.until)
        return cls(row.time, row.page, links, anchors_of(row), *said)

    def rows(self) -> list[Row]:
        anchors = storable("\n".join(self.anchors)) if any(self.anchors) else None
        said = (self.links.tobytes(), anchors, storable(self.title) or None, self.impact or None)
        note = json.dumps(self.scores) if self.scores else None
        row = Row(0, self.kind, self.page, self.time, self.status, *said, until=self.again_at, note=note)
        return [stored(row, self.where)]

    def apply(self, crawl: Live) -> None:
        again, unchanged = crawl._arrived(self.page), self.status == UNCHANGED
        if not crawl._close(self.page):
            crawl.revisits += bool(crawl.state.fetched[self.page])
        if not unchanged:
            crawl._see(self)
            crawl._note_links(self.page, self.links, self.anchors)
        if again or unchanged:
            crawl._settle_again(self.page, links_changed=not unchanged)
        else:
            crawl._settle(self.page)
        if self.again_at is not None:
            crawl.frontier.schedule(self.page, self.again_at, 0.0)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        scores = {"scores": read_note(row)} if row.note else {}
        again = {} if row.until is None else {"again_at": row.until}
        return {"status": row.status, "links": count_of(row), **scores, **again}


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

    def apply(self, crawl: Live) -> None:
        if crawl._close(self.page):
            crawl.failed_count += 1
        if crawl.state.fetched[self.page]:  # it was there once: what it gave to others stays
            crawl._settle_again(self.page, links_changed=False)
        else:
            crawl.failed_count += 1
            crawl._settle(self.page)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"reason": row.note}


@dataclass(frozen=True, slots=True)
class Retried:
    """A page did not arrive, and waits again from a given time on."""

    kind: ClassVar[int] = 5
    name: ClassVar[str] = "retry"
    time: float
    page: int
    attempt: int
    until: float
    reason: str = "failed"
    where: Where | None = None

    @classmethod
    def of(cls, row: Row) -> Retried:
        attempt = 1 if row.status is None else row.status  # 0: none of the page's own was used up
        return cls(row.time, row.page, attempt, row.until or row.time, row.note or "failed")

    def rows(self) -> list[Row]:
        row = Row(0, self.kind, self.page, self.time, status=self.attempt, until=self.until, note=storable(self.reason))
        return [stored(row, self.where)]

    def apply(self, crawl: Live) -> None:
        crawl.leases.pop(self.page, None)
        crawl.attempts[self.page] = self.attempt
        crawl.frontier.later(self.page, self.until)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"reason": row.note, "attempt": row.status, "again_at": row.until}


@dataclass(frozen=True, slots=True)
class Expired(Plain):
    """A lease ran out: the page waits again, where it stood."""

    kind: ClassVar[int] = 6
    name: ClassVar[str] = "expired"
    time: float
    page: int

    @classmethod
    def of(cls, row: Row) -> Expired:
        return cls(row.time, row.page)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, self.page, self.time)]

    def apply(self, crawl: Live) -> None:
        crawl.leases.pop(self.page, None)
        crawl.frontier.back(self.page)


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A page waits, again or at first, from a given time on; infinity: until it is scheduled anew."""

    kind: ClassVar[int] = 19
    name: ClassVar[str] = "schedule"
    time: float
    page: int
    until: float
    reopened: bool = False  # it had failed for good, and no longer has

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(row.time, row.page, np.inf if row.until is None else row.until, bool(row.status))

    def rows(self) -> list[Row]:
        until = None if self.until == np.inf else self.until
        return [Row(0, self.kind, self.page, self.time, status=1 if self.reopened else None, until=until)]

    def apply(self, crawl: Live) -> None:
        crawl.leases.pop(self.page, None)
        crawl.held_up.discard(self.page)
        if self.reopened:
            crawl._reopen(self.page)
        ranked = crawl.frontier.mark(self.page) not in (ABSENT, FORGOTTEN)
        crawl.frontier.schedule(self.page, self.until, unranked_at(self.until))
        if ranked and not crawl.state.fetched[self.page]:
            crawl.frontier.put(self.page, dated(crawl.frontier.own_key(self.page), self.until))

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"at": row.until}


def unranked_at(time: float) -> float:
    """The key of a page that no ordering has ranked, by the time it is due: behind all that are ranked, the earliest first.

    >>> unranked_at(0.0) > unranked_at(1.7e9) > unranked_at(1.7e9 + 1) > unranked_at(np.inf) > -1e305
    True
    """
    return UNRANKED * (1.0 + min(max(time, 0.0) * 2.0**-40, 1.0))


def dated(key: float, time: float) -> float:
    """A key that differs from this one by less than anything an ordering means: among equals, the earliest time first.

    >>> dated(0.5, 1.7e9) > dated(0.5, 1.7e9 + 1) > 0.49999, dated(0.0, 1.7e9) > dated(0.0, 1.7e9 + 1) > -1e-9
    (True, True)
    >>> dated(-2.0, 1.7e9) > dated(-2.0, 1.7e9 + 1)
    True
    """
    part = min(max(time, 0.0), 2.0**34) * 2.0**-50
    return key - part * (abs(key) or 2.0**-20)


@dataclass(frozen=True, slots=True)
class Held(Scheduled):
    """It was a page's turn, but its family may not go yet: it waits until then. Its host may be asked for another page."""

    kind: ClassVar[int] = 24
    name: ClassVar[str] = "held"

    def apply(self, crawl: Live) -> None:
        crawl.frontier.schedule(self.page, self.until, 0.0)
        crawl.frontier.rest(int(crawl.frontier.hosts_of(np.array([self.page]))[0]), self.time)
        crawl.held_up.add(self.page)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """As if these pages had never been heard of: they may be discovered anew."""

    kind: ClassVar[int] = 20
    name: ClassVar[str] = "forget"
    time: float
    pages: Array

    @classmethod
    def of(cls, row: Row) -> Forgotten:
        return cls(row.time, pages_of(row))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, links=self.pages.astype("<i4").tobytes())]

    def apply(self, crawl: Live) -> None:
        for page in self.pages.tolist():
            crawl.failed_count += crawl._close(page)
            crawl._leave(page)
            crawl.frontier.forget(page)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"pages": count_of(row)}
