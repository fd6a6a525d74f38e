"""The operations that change a crawl or the service, one function each. They are called in threads, never in the event loop."""

from __future__ import annotations

import time
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from frontrank.errors import InputError, TooMany
from frontrank.pages.groups import MAX_HOST_LENGTH
from frontrank.service.http import shapes
from frontrank.service.http.operations import OF_CRAWL, Operation, Target, operation
from frontrank.service.http.params import Params
from frontrank.service.limits import MAX_URL_LENGTH

MAX_RULES = 1_000  # of a crawl: each is tried on every URL that is found
MAX_NAMED = 100  # pages that are not known, in an answer
MAX_PAGES = 2**31 - 1  # as frontiers count them
MAX_COUNT = 1e15
NOT_YET = "said; the process at work on the crawl has not acted on it yet, and will when it takes a page"

Host = Annotated[str, Meta(min_length=1, max_length=MAX_HOST_LENGTH, description="the name of a host, or of a queue")]
Pattern = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1_000,
        description="a regular expression, looked for in URLs",
        extra_json_schema={"format": "regex"},
    ),
]
Delay = Annotated[float, Meta(ge=0, le=86_400, description="seconds between two pages; 0: none")]
Budget = Annotated[int, Meta(ge=0, le=MAX_PAGES, description="pages to take in all, revisits too; 0: no limit")]


class Block(Params):
    host: Host
    seconds: Annotated[float, Meta(ge=0, le=1e9, description="for how long; 0 ends it")]


class HostLimits(Params):
    host: Host
    delay_s: Delay | None = None
    concurrency: Annotated[int, Meta(ge=0, le=10_000, description="pages in flight at once; 0: no limit")] | None = None
    budget: Budget | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_PAGES, description="pages to be done with; 0: no limit")] | None = None


class FamilyLimits(Params):
    pattern: Pattern
    budget: Budget | None = None
    delay_s: Delay | None = None


class Boost(Params):
    pattern: Pattern
    by: Annotated[int, Meta(ge=-1_000_000, le=1_000_000, description="larger is sooner; 0 ends it")]


class Query(Params):
    query: Annotated[str, Meta(min_length=1, max_length=1_000, description="what is asked")]
    frequency: Annotated[float, Meta(ge=0, le=MAX_COUNT, description="how often")] = 1.0


class Queries(Params):
    queries: Annotated[list[Query], Meta(min_length=1, max_length=1_000_000, description="queries and how often each is asked")]
    visibility: (
        Annotated[
            list[Annotated[float, Meta(ge=0, le=1)]],
            Meta(min_length=1, max_length=1_000, description="how much of the first, second, ... result searchers see"),
        ]
        | None
    ) = None


class Impact(Params):
    url: Annotated[str, Meta(min_length=1, max_length=MAX_URL_LENGTH, description="the URL of a page")]
    clicks: Annotated[float, Meta(ge=0, le=MAX_COUNT, description="how often it was chosen")] | None = None
    views: Annotated[float, Meta(ge=0, le=MAX_COUNT, description="how often it was shown")] | None = None


class Impacts(Params):
    pages: Annotated[list[Impact], Meta(min_length=1, max_length=100_000, description="pages, each with clicks, views or both")]


# Of the service -------------------------------------------------------------------------------------------------------------
def pause_all(target: Target) -> shapes.Done:
    """Hand out no page of any crawl until resumed."""
    target.reader.set_active(False)
    return _done(target, "the service is paused: no page of any crawl is handed out until it is resumed")


def resume_all(target: Target) -> shapes.Done:
    """Hand out pages again."""
    target.reader.set_active(True)
    return _done(target, "the service hands out pages again")


# Of a crawl -----------------------------------------------------------------------------------------------------------------
def block(target: Target, params: Block) -> shapes.Done:
    """Fetch nothing from a host for that long."""
    host, seconds = params.host, params.seconds
    applied = target.source.tell("block_until", host=host, until=time.time() + seconds if seconds else 0.0)
    done = f"nothing is taken from {host} for {seconds:g} s" if seconds else f"{host} may be asked again"
    return _done(target, done, applied)


def limit_host(target: Target, params: HostLimits) -> shapes.Done:
    """Politeness towards one host; what is not given stays as it is."""
    limits = _given(params)
    host = limits.pop("host")
    if not limits:
        raise InputError("at least one limit must be given: delay_s, concurrency, budget or limit")
    return _done(target, f"{host} has new limits", target.source.tell("limit_host", host=host, **limits))


def limit_family(target: Target, params: FamilyLimits) -> shapes.Done:
    """A budget or a pace for all pages whose URL matches; what is not given stays as it is."""
    _check_room(target, params.pattern)
    return _done(target, "the family has new limits", target.source.tell("limit_pattern", **msgspec.structs.asdict(params)))


def boost(target: Target, params: Boost) -> shapes.Done:
    """Pages whose URL matches, known or to come, go before all others; below 0, after them. Boosts of patterns add up."""
    _check_room(target, params.pattern)
    applied = target.source.tell("boost", pattern=params.pattern, by=params.by)
    after = "they go after all others" if params.by else "it is ended"
    return _done(target, "pages that match go before all others" if params.by > 0 else after, applied)


def set_queries(target: Target, params: Queries) -> shapes.Done:
    """What searchers ask from now on, instead of the queries before: later rankings go by it."""
    rows = params.queries
    workload = {"queries": [row.query for row in rows], "frequency": [row.frequency for row in rows]}
    seen = {} if params.visibility is None else {"visibility": params.visibility}
    return _done(target, f"later rankings go by {len(rows):,} queries", target.source.tell("ask", **workload, **seen))


def set_impacts(target: Target, params: Impacts) -> shapes.ImpactsDone:
    """What searchers made of pages so far, instead of what was reported before; unknown pages are named and skipped."""
    rows = params.pages
    applied = target.source.tell("impacts", told=[[row.url, row.clicks, row.views] for row in rows])
    unknown = target.source.ask("unknown_urls", [row.url for row in rows])
    done = _done(target, f"{len(rows) - len(unknown):,} pages have a new impact, {len(unknown):,} are not known", applied)
    return shapes.ImpactsDone(done=done.done, applied=applied, unknown=unknown[:MAX_NAMED], unknown_pages=len(unknown))


def pause(target: Target) -> shapes.Done:
    """Take no page until resumed."""
    return _done(target, "paused: no page is taken until it is resumed", target.source.tell("pause"))


def resume(target: Target) -> shapes.Done:
    """Take pages again."""
    applied = target.source.tell("resume")
    return _done(target, "resumed" if target.reader.active else "resumed, but the whole service is paused", applied)


def _given(params: Params) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(params).items() if value is not None}


def _check_room(target: Target, pattern: str) -> None:
    """Refuse a rule for which there is no room."""
    rules = target.source.ask("overview")["rules"]
    if len(rules) >= MAX_RULES and all(rule["pattern"] != pattern for rule in rules):
        raise TooMany(f"this crawl has {len(rules):,} rules, as many as it may; end one first")


def _done(target: Target, what: str, applied: bool = True) -> shapes.Done:
    target.reader.forget()
    return shapes.Done(done=what if applied else NOT_YET, applied=applied)


def _action(name: str, path: str, function: Any) -> Operation:
    return operation(name, "POST", f"{OF_CRAWL}/{path}", function)


ACTIONS = (
    _action("block", "block", block),
    _action("limitHost", "limits", limit_host),
    _action("limitFamily", "families", limit_family),
    _action("boost", "boost", boost),
    _action("ask", "queries", set_queries),
    _action("impacts", "impacts", set_impacts),
    _action("pause", "pause", pause),
    _action("resume", "resume", resume),
)
