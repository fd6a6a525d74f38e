"""When pages wait: for a retry, for a time, for their family, again after a lease, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from frontrank.crawl.events.event import Plain, Where, count_of, pages_of, storable, stored
from frontrank.crawl.log import Row
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import UNRANKED

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState


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

    def apply(self, state: CrawlState) -> None:
        state.leases.end(self.page)
        state.leases.attempts[self.page] = self.attempt
        state.frontier.later(self.page, self.until)

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

    def apply(self, state: CrawlState) -> None:
        state.leases.end(self.page)
        state.frontier.back(self.page)


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

    def apply(self, state: CrawlState) -> None:
        state.leases.end(self.page)
        state.rules.release((self.page,))
        if self.reopened:
            state.progress.reopen(self.page)
        ranked = state.frontier.mark(self.page) not in (ABSENT, FORGOTTEN)
        state.frontier.schedule(self.page, self.until, unranked_at(self.until))
        if ranked and not state.ordering.is_fetched(self.page):
            state.frontier.put(self.page, dated(state.frontier.own_key(self.page), self.until))

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
class Deferred(Scheduled):
    """It was a page's turn, but its family may not go yet: it waits until then. Its host may be asked for another page."""

    kind: ClassVar[int] = 24
    name: ClassVar[str] = "held"

    def apply(self, state: CrawlState) -> None:
        state.frontier.schedule(self.page, self.until, 0.0)
        state.frontier.rest(int(state.frontier.hosts_of(np.array([self.page]))[0]), self.time)
        state.rules.held_up.add(self.page)


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

    def apply(self, state: CrawlState) -> None:
        for page in self.pages.tolist():
            state.progress.failed += state.progress.close(page)
            state.release(page)
            state.frontier.forget(page)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"pages": count_of(row)}
