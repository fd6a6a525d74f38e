"""What answers look like: a type each, which type checkers hold the code to, and the JSON schema made of it."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict


class Error(TypedDict):
    error: str


class Done(TypedDict):
    done: str
    applied: bool


class Health(TypedDict):
    status: str
    version: str
    crawls: int


class Listed(TypedDict):
    id: str
    policy: str
    known: int
    fetched: int
    failed: int
    waiting: int
    leased: int
    paused: bool


class Broken(TypedDict):
    id: str
    reason: str


class CrawlList(TypedDict):
    version: str
    active: bool
    crawls: list[Listed]
    broken: list[Broken]


class HostCounts(TypedDict):
    known: int
    with_waiting: int
    in_flight: int
    budget_spent: int
    resting: int


class Rate(TypedDict):
    lately: float
    overall: float


class Rule(TypedDict):
    pattern: str
    boost: int
    budget: int
    delay_s: float
    taken: int


class Valued(TypedDict):
    done: str
    applied: bool
    unknown: list[str]
    unknown_pages: int


class Status(TypedDict):
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
    gauges: dict[str, float]
    rankings_failed: int
    events: int
    started: float | None
    last_event: float | None
    as_of: float


class Waiting(TypedDict):
    url: str
    queue: str
    priority: float | None
    standing: str
    depth: int | None


class Next(TypedDict):
    policy: str
    waiting: int
    pages: list[Waiting]


class Host(TypedDict):
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


class Hosts(TypedDict):
    known: int
    hosts: list[Host]


class Link(TypedDict):
    url: str
    part: float


class Explained(TypedDict):
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


class Found(TypedDict):
    url: str
    queue: str
    state: str
    due: float | None
    priority: float | None
    standing: str
    depth: int | None


class Search(TypedDict):
    pages: list[Found]
    more: bool


class Reason(TypedDict):
    reason: str
    pages: int


class Failure(TypedDict):
    time: float
    url: str
    reason: str


class Errors(TypedDict):
    failed: int
    retries: int
    reasons: list[Reason]
    statuses: list[Reason]
    last: list[Failure]
    complete: bool


class Point(TypedDict):
    time: float
    fetched: int
    failed: int


class Series(TypedDict):
    bucket_s: float
    fetched: int
    failed: int
    points: list[Point]
    complete: bool


class Family(TypedDict):
    pattern: str
    known: int
    settled: int
    share: float
    possible_trap: bool
    regex: str


class Families(TypedDict):
    patterns: int
    families: list[Family]
    complete: bool


class Bin(TypedDict("_Bin", {"from": float})):
    to: float
    pages: int


class Quantile(TypedDict):
    share: float
    priority: float


class Scores(TypedDict):
    waiting: int
    sampled: int
    prioritised: int
    unranked: int
    scale: str
    bins: list[Bin]
    quantiles: list[Quantile]


class Depth(TypedDict):
    depth: int
    known: int
    settled: int


class Coverage(TypedDict):
    known: int
    settled: int
    hosts: int
    hosts_asked: int
    deepest: int
    by_depth: list[Depth]


class Moved(TypedDict):
    url: str
    place: int | None
    place_before: int | None


class Compared(TypedDict):
    policy: str
    policy_before: str
    pages: int
    shared: int
    head: list[Moved]
    leaving: list[Moved]


class Ordering(TypedDict):
    name: str
    description: str


class Orderings(TypedDict):
    orderings: list[Ordering]


PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


def schema(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type; types of answers are referred to by name.

    >>> schema(int | None), schema(list[Link])
    ({'type': ['integer', 'null']}, {'type': 'array', 'items': {'$ref': '#/components/schemas/Link'}})
    """
    if kind in PLAIN:
        return dict(PLAIN[kind])
    if is_typeddict(kind):
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    parts = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        return {"type": [PLAIN[part]["type"] for part in parts]}
    if get_origin(kind) is list:
        return {"type": "array", "items": schema(parts[0])}
    return {"type": "object", "additionalProperties": schema(parts[1])}


def definition(kind: Any) -> dict[str, Any]:
    """The schema of a type of answers itself: an object with exactly these fields."""
    hints = get_type_hints(kind)
    return {
        "type": "object",
        "properties": {name: schema(hint) for name, hint in hints.items()},
        "required": sorted(hints),
        "additionalProperties": False,
    }


def definitions(kinds: Any) -> dict[str, Any]:
    """The schemas of these types, and of all that they refer to, by name."""
    made: dict[str, Any] = {}
    left = list(kinds)
    while left:
        kind = left.pop()
        if is_typeddict(kind):
            if kind.__name__ not in made:
                made[kind.__name__] = definition(kind)
                left += get_type_hints(kind).values()
        else:
            left += get_args(kind)
    return dict(sorted(made.items()))
