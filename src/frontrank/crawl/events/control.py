"""What operators say, and what hosts ask for: limits, blocks, priorities, rules, another ordering."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from frontrank.crawl.events.event import Noted, count_of, pages_of, read_note, storable
from frontrank.crawl.log import Row
from frontrank.crawl.rules import Rule
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

FRONTIER_LIMITS = ("delay_s", "concurrency", "budget", "limit")  # of hosts; all others ``Rules`` keep
OLD_LIMITS = {"at_once": "concurrency"}  # as format 1 wrote them


@dataclass(frozen=True, slots=True)
class Limited(Noted):
    """One host has limits of its own from now on."""

    kind: ClassVar[int] = 8
    name: ClassVar[str] = "host"
    host: str
    limits: dict[str, Any]  # by the parameters of ``limit_host``

    @classmethod
    def of(cls, row: Row) -> Limited:
        limits = {OLD_LIMITS.get(key, key): value for key, value in read_note(row).items()}
        return cls(row.time, limits.pop("host"), limits)

    def content(self) -> dict[str, Any]:
        return {"host": self.host, **self.limits}

    def apply(self, state: CrawlState) -> None:
        host = state.intern_host(self.host)  # a new host makes the frontier grow: first its number, then the frontier
        state.frontier.limit(host, **{name: value for name, value in self.limits.items() if name in FRONTIER_LIMITS})
        if beside := {name: int(value) for name, value in self.limits.items() if name not in FRONTIER_LIMITS}:
            state.rules.limit_host(self.host.lower(), host, beside)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return Limited.of(row).content()


@dataclass(frozen=True, slots=True)
class Blocked:
    """Nothing is taken from a host before a given time."""

    kind: ClassVar[int] = 9
    name: ClassVar[str] = "block"
    time: float
    host: str
    until: float
    exact: bool = True  # it replaces the block before; in older logs the latest of all times holds
    reason: str = ""  # of a host that does not answer

    @classmethod
    def of(cls, row: Row) -> Blocked:
        until = row.time if row.until is None else row.until
        return cls(row.time, row.note or "", until, bool(row.status), row.title or "")

    def rows(self) -> list[Row]:
        reason, host = storable(self.reason) or None, storable(self.host)
        return [Row(0, self.kind, -1, self.time, int(self.exact), title=reason, until=self.until, note=host)]

    def apply(self, state: CrawlState) -> None:
        host = state.intern_host(self.host)
        state.frontier.block(host, self.until if self.exact else max(self.until, state.frontier.blocked(host)))

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        reason = {"reason": row.title} if row.title else {}
        return {"host": row.note, "until": None if row.until == math.inf else row.until, **reason}


@dataclass(frozen=True, slots=True)
class Rested(Blocked):
    """The delay of a host begins later than it was thought to: its last request was sent later than its page was taken."""

    kind: ClassVar[int] = 33
    name: ClassVar[str] = "rest"

    def apply(self, state: CrawlState) -> None:
        state.frontier.rest(state.intern_host(self.host), self.until)


@dataclass(frozen=True, slots=True)
class Joined(Noted):
    """A host shares pace and budget with all others of a group from now on, such as those at one address."""

    kind: ClassVar[int] = 26
    name: ClassVar[str] = "join"
    host: str
    group: str
    asked: bool  # the group rests for what was asked of the host

    def apply(self, state: CrawlState) -> None:
        state.join(self.host, self.group, self.asked)


@dataclass(frozen=True, slots=True)
class Grouped(Noted):
    """Hosts were made one group while the crawl ran, as frontrank 0.1 could: each stands by itself now, with its own limits."""

    kind: ClassVar[int] = 28
    name: ClassVar[str] = "group"
    group: str
    by: str
    hosts: list[str]

    def apply(self, state: CrawlState) -> None: ...


@dataclass(frozen=True, slots=True)
class Ungrouped(Noted):
    """Such a group was dissolved."""

    kind: ClassVar[int] = 29
    name: ClassVar[str] = "ungroup"
    group: str
    hosts: list[str]

    def apply(self, state: CrawlState) -> None: ...


@dataclass(frozen=True, slots=True)
class PolitenessChanged(Noted):
    """Other politeness from now on; hosts that have limits of their own keep those."""

    kind: ClassVar[int] = 12
    name: ClassVar[str] = "politeness"
    politeness: Politeness

    @classmethod
    def of(cls, row: Row) -> PolitenessChanged:
        return cls(row.time, Politeness(**read_note(row)))

    def content(self) -> dict[str, Any]:
        return self.politeness.json()

    def apply(self, state: CrawlState) -> None:
        before, state.politeness = state.politeness, self.politeness
        state.frontier.behave(before, self.politeness)


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

    def apply(self, state: CrawlState) -> None: ...

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

    def apply(self, state: CrawlState) -> None:
        state.frontier.prioritise(self.page, self.priority)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"priority": row.status}


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

    def apply(self, state: CrawlState) -> None:
        for page in self.pages.tolist():
            state.frontier.prioritise(page, self.priority)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"priority": row.status, "pages": count_of(row)}


@dataclass(frozen=True, slots=True)
class RuleSet(Noted):
    """A rule for all pages whose URL matches a pattern, known and to come; without anything to say, it ends."""

    kind: ClassVar[int] = 22
    name: ClassVar[str] = "rule"
    rule: Rule

    @classmethod
    def of(cls, row: Row) -> RuleSet:
        return cls(row.time, Rule(**read_note(row)))

    def content(self) -> dict[str, Any]:
        return self.rule.json()

    def apply(self, state: CrawlState) -> None:
        state.set_rule(self.rule)


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

    def apply(self, state: CrawlState) -> None:
        state.progress.paused = self.paused

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"paused": bool(row.status)}
