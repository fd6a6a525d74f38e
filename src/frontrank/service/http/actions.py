"""The operations that change a crawl or the service. They are called in threads, never in the event loop.

Those of operators are made from the table of verbs.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from frontrank.crawl.verbs import REST, Parameter, Verb, verbs_for
from frontrank.errors import TooMany
from frontrank.options import TEXT, WHOLE
from frontrank.service.http import shapes
from frontrank.service.http.operations import OF_CRAWL, Operation, Target, operation
from frontrank.service.http.params import Params
from frontrank.service.limits import MAX_URL_LENGTH

MAX_RULES = 1_000  # of a crawl: each is tried on every URL that is found
MAX_NAMED = 100  # pages that are not known, in an answer
MAX_COUNT = 1e15
NOT_YET = "noted; the process at work on the crawl has not acted on it yet, and will when it takes a page"


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
def set_queries(target: Target, params: Queries) -> shapes.Done:
    """What searchers ask from now on, instead of the queries before: later rankings go by it."""
    rows = params.queries
    workload = {"queries": [row.query for row in rows], "frequency": [row.frequency for row in rows]}
    seen = {} if params.visibility is None else {"visibility": params.visibility}
    return _done(target, f"later rankings go by {len(rows):,} queries", target.source.tell("ask", **workload, **seen))


def set_impacts(target: Target, params: Impacts) -> shapes.ImpactsDone:
    """What searchers made of pages so far, instead of what was reported before; unknown pages are named and skipped."""
    rows = params.pages
    applied = target.source.tell("impacts", rows=[[row.url, row.clicks, row.views] for row in rows])
    unknown = target.source.ask("unknown_urls", [row.url for row in rows])
    done = _done(target, f"{len(rows) - len(unknown):,} pages have a new impact, {len(unknown):,} are not known", applied)
    return shapes.ImpactsDone(done=done.done, applied=applied, unknown=unknown[:MAX_NAMED], unknown_pages=len(unknown))


def _params_of(verb: Verb) -> type[Params]:
    """The struct of a verb's parameters: their names, limits and descriptions are those of the table."""
    fields = [(one.field, _type_of(one)) if one.needed else (one.field, _type_of(one) | None, None) for one in verb.parameters]
    name = verb.name[0].upper() + verb.name[1:]
    struct: Any = msgspec.defstruct(name, fields, bases=(Params,), module=__name__, kw_only=True)
    return cast(type[Params], struct)


def _type_of(one: Parameter) -> Any:
    if one.kind == TEXT:
        about = Meta(min_length=1, max_length=one.max_length, description=one.help, extra_json_schema=_format(one))
        return Annotated[str, about]
    kind = int if one.kind == WHOLE else float
    return Annotated[kind, Meta(ge=kind(one.minimum), le=kind(one.maximum), description=one.help)]


def _format(one: Parameter) -> dict[str, Any] | None:
    return {"format": one.format} if one.format else None


def _operation_of(verb: Verb) -> Operation:
    """The route of a verb of the table."""

    def answer(target: Target, params: Any) -> shapes.Done:
        given = {name: value for name, value in msgspec.structs.asdict(params).items() if value is not None}
        verb.check(given, lambda one: one.field)
        if verb.adds_rule:
            _check_room(target, given["pattern"])
        applied = target.source.tell(verb.method, **verb.arguments(given, time.time()))
        done = verb.outcome(given)
        if verb.method == "resume" and not target.reader.active:
            done += ", but the whole service is paused"
        return _done(target, done, applied)

    return Operation(verb.name, "POST", f"{OF_CRAWL}/{verb.path}", verb.about, answer, _params_of(verb), shapes.Done, verb=verb)


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
    *map(_operation_of, verbs_for(REST)),
    _action("ask", "queries", set_queries),
    _action("impacts", "impacts", set_impacts),
)
