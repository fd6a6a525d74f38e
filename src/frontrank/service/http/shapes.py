"""What answers look like: a type each, of which the JSON and its schema are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec


class Answer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An object with exactly these fields."""


A = TypeVar("A", bound=Answer)


def shaped(kind: type[A], row: Mapping[str, Any]) -> A:
    """The fields of a kind of answer, of a row that may have more."""
    return msgspec.convert({name: row[name] for name in kind.__struct_encode_fields__}, kind)


class Error(Answer):
    error: str


class Done(Answer):
    done: str
    applied: bool


class Health(Answer):
    status: str
    version: str
    crawls: int


class Listed(Answer):
    id: str
    policy: str
    known: int
    fetched: int
    failed: int
    waiting: int
    leased: int
    paused: bool


class Broken(Answer):
    id: str
    reason: str


class CrawlList(Answer):
    version: str
    active: bool
    crawls: list[Listed]
    broken: list[Broken]


class HostCounts(Answer):
    known: int
    with_waiting: int
    in_flight: int
    budget_spent: int
    resting: int


class Rate(Answer):
    lately: float
    overall: float


class Rule(Answer):
    pattern: str
    boost: int
    budget: int
    delay_s: float
    taken: int


class ImpactsDone(Answer):
    done: str
    applied: bool
    unknown: list[str]
    unknown_pages: int


class HostLimits(Answer):
    host: str
    limits: dict[str, int]


class Status(Answer):
    id: str
    policy: str
    known: int
    fetched: int
    failed: int
    waiting: int
    scheduled: int
    leased: int
    revisits: int
    links_given_up: int
    paused: bool
    active: bool
    running: bool
    pages_per_s: Rate
    budget: int | None
    asked: int
    left_s: float | None
    left_until: str | None
    hosts: HostCounts
    rules: list[Rule]
    limits: list[HostLimits]
    gauges: dict[str, float]
    rankings_failed: int
    events: int
    started: float | None
    last_event: float | None
    as_of: float


class Waiting(Answer):
    url: str
    queue: str
    priority: float | None
    standing: str
    depth: int | None


class Next(Answer):
    policy: str
    waiting: int
    pages: list[Waiting]


class Host(Answer):
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


class Hosts(Answer):
    known: int
    hosts: list[Host]


class Link(Answer):
    url: str
    part: float


class Explained(Answer):
    url: str
    queue: str
    policy: str
    state: str
    due: float | None
    place: int | None
    priority: float | None
    standing: str
    depth: int | None
    links: list[Link]
    links_known: int
    further_links: float
    other: float
    counted: str


class Found(Answer):
    url: str
    queue: str
    state: str
    due: float | None
    priority: float | None
    standing: str
    depth: int | None


class Search(Answer):
    pages: list[Found]
    more: bool


class Reason(Answer):
    reason: str
    pages: int


class Failure(Answer):
    time: float
    url: str
    reason: str


class Errors(Answer):
    failed: int
    retries: int
    reasons: list[Reason]
    statuses: list[Reason]
    last: list[Failure]
    complete: bool


class Point(Answer):
    time: float
    fetched: int
    failed: int


class Series(Answer):
    bucket_s: float
    fetched: int
    failed: int
    points: list[Point]
    complete: bool


class Family(Answer):
    pattern: str
    known: int
    settled: int
    share: float
    possible_trap: bool
    regex: str


class Families(Answer):
    patterns: int
    families: list[Family]
    complete: bool


class Bin(Answer):
    from_: float = msgspec.field(name="from")
    to: float
    pages: int


class Quantile(Answer):
    share: float
    priority: float


class Scores(Answer):
    waiting: int
    sampled: int
    prioritised: int
    unranked: int
    scale: str
    bins: list[Bin]
    quantiles: list[Quantile]


class Depth(Answer):
    depth: int
    known: int
    settled: int


class Coverage(Answer):
    known: int
    settled: int
    hosts: int
    hosts_asked: int
    deepest: int
    by_depth: list[Depth]


class Moved(Answer):
    url: str
    place: int | None
    place_before: int | None


class Compared(Answer):
    policy: str
    policy_before: str
    pages: int
    shared: int
    head: list[Moved]
    leaving: list[Moved]


class Ordering(Answer):
    name: str
    description: str


class Orderings(Answer):
    orderings: list[Ordering]
