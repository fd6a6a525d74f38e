"""The events of a live crawl: one class each, with all that belongs to it.

    rows()      the event as rows of the log
    of(row)     a row of the log as the event
    apply(c)    what it does to a crawl: the same when it happens and when it is replayed
    show(row)   what ``frontrank trace`` prints of it

A new kind of event is a class here and an entry in ``KINDS``. Everything that an event needs to be applied is in it: whoever
makes one has checked it, so that no row of a log fails when it is read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from frontrank.crawl.log import Row
from frontrank.crawl.rules import Rule
from frontrank.errors import StorageError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import UNRANKED
from frontrank.pages.scorers import Judged
from frontrank.web.view import Workload, workload_from, workload_notes

if TYPE_CHECKING:
    from frontrank.crawl.live import Live

Where = tuple[str, int, int]  # WARC file, offset, length
UNCHANGED = 304  # the status of a page that came back as it was: its links are those it had
OLD_LIMITS = {"at_once": "concurrency"}  # as format 1 wrote them


class Event(Protocol):
    kind: ClassVar[int]
    name: ClassVar[str]

    @property
    def time(self) -> float: ...
    def rows(self) -> list[Row]: ...
    def apply(self, crawl: Live) -> None: ...
    @staticmethod
    def show(row: Row) -> dict[str, Any]: ...


class _Plain:
    """``frontrank trace`` prints no more of it than its page."""

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class _Moment(_Plain):
    """Something happened to the whole crawl, and there is nothing to tell of it but when."""

    kind: ClassVar[int]
    time: float

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(row.time)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time)]


@dataclass(frozen=True, slots=True)
class Seeded(_Plain):
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
class Taken(_Plain):
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
        return [_stored(row, self.where)]

    def apply(self, crawl: Live) -> None:
        again, unchanged = crawl._arrived(self.page), self.status == UNCHANGED
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
        return [_stored(Row(0, self.kind, self.page, self.time, note=storable(self.reason)), self.where)]

    def apply(self, crawl: Live) -> None:
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
        return cls(row.time, row.page, row.status or 1, row.until or row.time, row.note or "failed")

    def rows(self) -> list[Row]:
        row = Row(0, self.kind, self.page, self.time, status=self.attempt, until=self.until, note=storable(self.reason))
        return [_stored(row, self.where)]

    def apply(self, crawl: Live) -> None:
        crawl.leases.pop(self.page, None)
        crawl.attempts[self.page] = self.attempt
        crawl.frontier.later(self.page, self.until)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"reason": row.note, "attempt": row.status, "again_at": row.until}


@dataclass(frozen=True, slots=True)
class Expired(_Plain):
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
class Rescored(_Moment):
    """Everything that waits is ranked anew, at once."""

    kind: ClassVar[int] = 7
    name: ClassVar[str] = "rescore"

    def apply(self, crawl: Live) -> None:
        crawl.ranking.now()


@dataclass(frozen=True, slots=True)
class Limited:
    """One host has limits of its own from now on."""

    kind: ClassVar[int] = 8
    name: ClassVar[str] = "host"
    time: float
    host: str
    limits: dict[str, Any]  # of delay_s, concurrency, budget

    @classmethod
    def of(cls, row: Row) -> Limited:
        limits = {OLD_LIMITS.get(key, key): value for key, value in read_note(row).items()}
        return cls(row.time, limits.pop("host"), limits)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, note=json.dumps({"host": self.host, **self.limits}, sort_keys=True))]

    def apply(self, crawl: Live) -> None:
        host = crawl._host(self.host)  # a new host makes the frontier grow: first its number, then the frontier
        crawl.frontier.limit(host, **self.limits)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        limits = Limited.of(row)
        return {"host": limits.host, **limits.limits}


@dataclass(frozen=True, slots=True)
class Blocked:
    """Nothing is taken from a host before a given time."""

    kind: ClassVar[int] = 9
    name: ClassVar[str] = "block"
    time: float
    host: str
    until: float
    exact: bool = True  # what was said before holds no more; in older logs the latest time that was ever said holds

    @classmethod
    def of(cls, row: Row) -> Blocked:
        return cls(row.time, row.note or "", row.time if row.until is None else row.until, bool(row.status))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=int(self.exact), until=self.until, note=storable(self.host))]

    def apply(self, crawl: Live) -> None:
        host = crawl._host(self.host)
        crawl.frontier.block(host, self.until if self.exact else max(self.until, crawl.frontier.blocked(host)))

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"host": row.note, "until": row.until}


@dataclass(frozen=True, slots=True)
class Reordered:
    """Another ordering from now on. It has seen all that came before, so replaying it changes nothing."""

    kind: ClassVar[int] = 10
    name: ClassVar[str] = "policy"
    time: float
    policy: str

    @classmethod
    def of(cls, row: Row) -> Reordered:
        return cls(row.time, row.note or "")

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, note=storable(self.policy))]

    def apply(self, crawl: Live) -> None: ...

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"policy": row.note}


@dataclass(frozen=True, slots=True)
class Prioritised:
    """A page goes before (or, below 0, after) all that have no priority; 0 gives it back to the ordering."""

    kind: ClassVar[int] = 11
    name: ClassVar[str] = "priority"
    time: float
    page: int
    priority: int

    @classmethod
    def of(cls, row: Row) -> Prioritised:
        return cls(row.time, row.page, row.status or 0)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, self.page, self.time, status=self.priority)]

    def apply(self, crawl: Live) -> None:
        crawl.frontier.prioritise(self.page, self.priority)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"priority": row.status}


@dataclass(frozen=True, slots=True)
class Behaved:
    """Other politeness from now on; hosts that have limits of their own keep those."""

    kind: ClassVar[int] = 12
    name: ClassVar[str] = "politeness"
    time: float
    politeness: Politeness

    @classmethod
    def of(cls, row: Row) -> Behaved:
        return cls(row.time, Politeness(**read_note(row)))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, note=json.dumps(self.politeness.json(), sort_keys=True))]

    def apply(self, crawl: Live) -> None:
        before, crawl.politeness = crawl.politeness, self.politeness
        crawl.frontier.behave(before, self.politeness)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return read_note(row)


@dataclass(frozen=True, slots=True)
class RankingBegun(_Moment):
    """A ranking of all that is known at this moment is under way; the crawl goes on meanwhile."""

    kind: ClassVar[int] = 13
    name: ClassVar[str] = "ranking"

    def apply(self, crawl: Live) -> None:
        crawl.ranking.begin()


@dataclass(frozen=True, slots=True)
class RankingHeld:
    """A part of the pages has the priorities of the ranking that is under way."""

    kind: ClassVar[int] = 15
    name: ClassVar[str] = "ranked-part"
    time: float
    first: int  # in the order of discovery
    count: int

    @classmethod
    def of(cls, row: Row) -> RankingHeld:
        return cls(row.time, row.status or 0, int(row.note or 0))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=self.first, note=str(self.count))]

    def apply(self, crawl: Live) -> None:
        crawl.ranking.hold(self.first, self.count)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"first": row.status, "pages": int(row.note or 0)}


@dataclass(frozen=True, slots=True)
class RankingEnded:
    """The ranking that was under way holds from now on; or it failed, and the priorities stay."""

    kind: ClassVar[int] = 14
    name: ClassVar[str] = "ranked"
    time: float
    good: bool = True

    @classmethod
    def of(cls, row: Row) -> RankingEnded:
        return cls(row.time, bool(row.status))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=int(self.good))]

    def apply(self, crawl: Live) -> None:
        crawl.ranking.end()

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"good": bool(row.status)}


@dataclass(frozen=True, slots=True)
class Valued:
    """What searchers made of a page since: how often they chose it, were shown it, or both. It need not be fetched yet."""

    kind: ClassVar[int] = 16
    name: ClassVar[str] = "impact"
    time: float
    page: int
    clicks: float | None = None
    views: float | None = None

    @classmethod
    def of(cls, row: Row) -> Valued:
        return cls(row.time, row.page, **read_note(row))

    def rows(self) -> list[Row]:
        told = {name: value for name, value in (("clicks", self.clicks), ("views", self.views)) if value is not None}
        return [Row(0, self.kind, self.page, self.time, note=json.dumps(told))]

    def apply(self, crawl: Live) -> None:
        crawl._value(self.page, self.clicks, self.views)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return read_note(row)


@dataclass(frozen=True, slots=True)
class Asked:
    """Searchers ask other queries from now on: what later rankings go by."""

    kind: ClassVar[int] = 17
    name: ClassVar[str] = "queries"
    time: float
    workload: Workload

    @classmethod
    def of(cls, row: Row) -> Asked:
        return cls(row.time, workload_from(read_note(row)))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, note=json.dumps(workload_notes(self.workload)))]

    def apply(self, crawl: Live) -> None:
        if crawl.searchers is not None:
            crawl.searchers.ask(self.workload)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"queries": len(read_note(row)["queries"])}


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
class Scheduled:
    """A page waits, again or at first, from a given time on; infinity: until it is scheduled anew."""

    kind: ClassVar[int] = 19
    name: ClassVar[str] = "schedule"
    time: float
    page: int
    until: float

    @classmethod
    def of(cls, row: Row) -> Self:
        return cls(row.time, row.page, np.inf if row.until is None else row.until)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, self.page, self.time, until=None if self.until == np.inf else self.until)]

    def apply(self, crawl: Live) -> None:
        crawl.leases.pop(self.page, None)
        ranked = crawl.frontier.mark(self.page) not in (ABSENT, FORGOTTEN)
        crawl.frontier.schedule(self.page, self.until, unranked_at(self.until))
        if ranked and not crawl.state.fetched[self.page]:
            crawl.frontier.rekey(self.page, dated(crawl.frontier.key(self.page), self.until))

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
    """It was a page's turn, but its family may not go yet: it waits until then. Its host rests as if it had gone."""

    kind: ClassVar[int] = 24
    name: ClassVar[str] = "held"

    def apply(self, crawl: Live) -> None:
        crawl.frontier.lease(self.page, self.time)
        crawl.frontier.schedule(self.page, self.until, 0.0)


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
            crawl._leave(page)
            crawl.frontier.forget(page)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"pages": count_of(row)}


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing is taken, until this is said with False."""

    kind: ClassVar[int] = 21
    name: ClassVar[str] = "pause"
    time: float
    paused: bool

    @classmethod
    def of(cls, row: Row) -> Paused:
        return cls(row.time, bool(row.status))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=int(self.paused))]

    def apply(self, crawl: Live) -> None:
        crawl.paused = self.paused

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"paused": bool(row.status)}


@dataclass(frozen=True, slots=True)
class Ruled:
    """A rule for all pages whose URL matches a pattern, known and to come; without anything to say, it ends."""

    kind: ClassVar[int] = 22
    name: ClassVar[str] = "rule"
    time: float
    rule: Rule

    @classmethod
    def of(cls, row: Row) -> Ruled:
        return cls(row.time, Rule(**read_note(row)))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, note=json.dumps(self.rule.json(), sort_keys=True))]

    def apply(self, crawl: Live) -> None:
        crawl._rule(self.rule)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return read_note(row)


@dataclass(frozen=True, slots=True)
class PrioritisedAll:
    """These pages have this priority: what the rules that match them add up to."""

    kind: ClassVar[int] = 23
    name: ClassVar[str] = "boosted"
    time: float
    pages: Array
    priority: int

    @classmethod
    def of(cls, row: Row) -> PrioritisedAll:
        return cls(row.time, pages_of(row), row.status or 0)

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=self.priority, links=self.pages.astype("<i4").tobytes())]

    def apply(self, crawl: Live) -> None:
        for page in self.pages.tolist():
            crawl.frontier.prioritise(page, self.priority)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"priority": row.status, "pages": count_of(row)}


@dataclass(frozen=True, slots=True)
class Joined:
    """A host is part of a group from now on: they have one pace and one budget."""

    kind: ClassVar[int] = 26
    name: ClassVar[str] = "join"
    time: float
    host: str
    group: str
    asked: bool  # the group rests for what was asked of the host

    @classmethod
    def of(cls, row: Row) -> Joined:
        return cls(row.time, **read_note(row))

    def rows(self) -> list[Row]:
        said = {"host": self.host, "group": self.group, "asked": self.asked}
        return [Row(0, self.kind, -1, self.time, note=json.dumps(said, sort_keys=True))]

    def apply(self, crawl: Live) -> None:
        crawl._join(self.host, self.group, self.asked)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return read_note(row)


_ONE_ROW = (Taken, Fetched, Failed, Retried, Expired, Rescored, Limited, Blocked, Reordered, Prioritised, Behaved)
_LATER = (Discovered, Scheduled, Held, Forgotten, Paused, Ruled, PrioritisedAll, Joined)
_ALL = (Seeded, *_ONE_ROW, RankingBegun, RankingEnded, RankingHeld, Valued, Asked, *_LATER)
KINDS: dict[int, Any] = {event.kind: event for event in (*_ALL, TakenTogether)}
NAMES = {event.name: event.kind for event in _ALL}


def apart(rows: list[Row]) -> list[Row]:
    """The same with a row for each page that was taken."""
    if not any(row.kind == TakenTogether.kind for row in rows):
        return rows
    found: list[Row] = []
    for row in rows:
        if row.kind == TakenTogether.kind:
            pages = pages_of(row).tolist()
            found += [Row(row.seq, Taken.kind, page, row.time, until=row.until) for page in pages]
        else:
            found.append(row)
    return found


def read_events(rows: Iterable[Row]) -> Iterator[Event]:
    """Rows of a log as events: pages that were seeded together are one."""
    seeds: list[int] = []
    for row in rows:
        if row.kind == Seeded.kind:
            seeds.append(row.page)
            if len(seeds) == row.status:
                yield Seeded(row.time, seeds)
                seeds = []
        else:
            yield kind_of(row).of(row)


def kind_of(row: Row) -> Any:
    if row.kind not in KINDS:
        raise StorageError(f"event {row.seq} is of kind {row.kind}, which this frontrank does not know; use a newer one")
    return KINDS[row.kind]


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


def _stored(row: Row, where: Where | None) -> Row:
    return row if where is None else row._replace(file=where[0], start=where[1], length=where[2])
