"""What answers look like: one type each, from which the JSON and its schema are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec


class ApiObject(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An object with exactly these fields."""


A = TypeVar("A", bound=ApiObject)


def shaped(kind: type[A], row: Mapping[str, Any]) -> A:
    """An answer from a row, which may have further fields."""
    return msgspec.convert({name: row[name] for name in kind.__struct_encode_fields__}, kind)


class Error(ApiObject):
    error: str


class Done(ApiObject):
    done: str
    applied: bool


class Health(ApiObject):
    status: str
    version: str
    crawls: int


class CrawlInfo(ApiObject):
    id: str
    policy: str
    known: int
    fetched: int
    failed: int
    waiting: int
    leased: int
    paused: bool


class Broken(ApiObject):
    id: str
    reason: str


class CrawlList(ApiObject):
    version: str
    active: bool
    crawls: list[CrawlInfo]
    broken: list[Broken]


class HostCounts(ApiObject):
    known: int
    with_waiting: int
    in_flight: int
    budget_spent: int
    resting: int


class Rate(ApiObject):
    lately: float
    overall: float


class RuleInfo(ApiObject):
    pattern: str
    boost: int
    budget: int
    delay_s: float
    taken: int


class ImpactsDone(Done):
    unknown: list[str]
    unknown_pages: int


class HostLimitsInfo(ApiObject):
    host: str
    limits: dict[str, int]


class CrawlStatus(CrawlInfo):
    scheduled: int
    revisits: int
    links_given_up: int
    active: bool
    running: bool
    pages_per_s: Rate
    budget: int | None
    asked: int
    left_s: float | None
    left_until: str | None
    hosts: HostCounts
    rules: list[RuleInfo]
    limits: list[HostLimitsInfo]
    gauges: dict[str, float]
    rankings_failed: int
    events: int
    started: float | None
    last_event: float | None
    as_of: float


class Waiting(ApiObject):
    url: str
    queue: str
    priority: float | None
    standing: str
    depth: int | None


class FoundPage(Waiting):
    state: str
    due: float | None


class Next(ApiObject):
    policy: str
    waiting: int
    pages: list[Waiting]


class HostInfo(ApiObject):
    host: str
    waiting: int
    leased: int
    taken: int
    concurrency: int
    budget: int
    limit: int
    later: int
    done: int
    delay_s: float
    rests_s: float
    blocked_s: float


class HostsInfo(ApiObject):
    known: int
    hosts: list[HostInfo]


class Link(ApiObject):
    url: str
    part: float


class Start(ApiObject):
    url: str
    kind: str
    part: float


class Started(ApiObject):
    pages: int
    part: float


class Explained(FoundPage):
    policy: str
    place: int | None
    links: list[Link]
    links_known: int
    further_links: float
    other: float
    starts: list[Start]
    started: dict[str, Started]
    counted: str


class Search(ApiObject):
    pages: list[FoundPage]
    more: bool


class Reason(ApiObject):
    reason: str
    pages: int


class FailureInfo(ApiObject):
    time: float
    url: str
    reason: str


class Errors(ApiObject):
    failed: int
    retries: int
    reasons: list[Reason]
    statuses: list[Reason]
    last: list[FailureInfo]
    complete: bool


class Point(ApiObject):
    time: float
    fetched: int
    failed: int


class History(ApiObject):
    bucket_s: float
    fetched: int
    failed: int
    points: list[Point]
    complete: bool


class FamilyInfo(ApiObject):
    pattern: str
    known: int
    settled: int
    share: float
    possible_trap: bool
    regex: str


class Families(ApiObject):
    patterns: int
    families: list[FamilyInfo]
    complete: bool


class Bin(ApiObject):
    from_: float = msgspec.field(name="from")
    to: float
    pages: int


class Quantile(ApiObject):
    share: float
    priority: float


class Scores(ApiObject):
    waiting: int
    sampled: int
    prioritised: int
    unranked: int
    scale: str
    bins: list[Bin]
    quantiles: list[Quantile]


class Depth(ApiObject):
    depth: int
    known: int
    settled: int


class Coverage(ApiObject):
    known: int
    settled: int
    hosts: int
    hosts_asked: int
    deepest: int
    by_depth: list[Depth]


class Moved(ApiObject):
    url: str
    place: int | None
    place_before: int | None


class Compared(ApiObject):
    policy: str
    policy_before: str
    pages: int
    shared: int
    head: list[Moved]
    leaving: list[Moved]


class Ordering(ApiObject):
    name: str
    description: str


class Orderings(ApiObject):
    orderings: list[Ordering]
