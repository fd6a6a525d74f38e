"""The table of operator verbs: what whoever runs a crawl may tell it while it runs.

Made from it: the commands ``frontrank boost``, ``limit``, ``block``, ``pause``, ``resume`` (``cli.control``); what a running
crawl accepts in its directory (``inbox``); the routes of the REST API and their OpenAPI (``service.http.actions``); tools of
``frontrank mcp --control``. ``AsyncCrawl`` awaits every method of a crawl, so a verb is there at once.

A new verb is its event, its row here and its test; a new parameter of one is a row of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from frontrank.errors import InputError
from frontrank.options import TEXT, TIME, WHOLE, Option

COMMAND, REST, MCP, INBOX = "command", "rest", "mcp", "inbox"
EVERYBODY = frozenset({COMMAND, REST, MCP, INBOX})
MAX_PAGES = 2**31 - 1  # as frontiers count them
MAX_S = 1e9
MAX_BOOST = 1_000_000
MAX_PATTERN_LENGTH, MAX_HOST_LENGTH = 1_000, 255


@dataclass(frozen=True)
class Parameter(Option):
    """An option that is a field of a request, too: ``field`` is its name there, and the parameter of the method."""

    needed: bool = False
    argument: bool = False  # a command takes it without a flag
    max_length: int = 0  # characters of a text
    format: str = ""  # of a text, as JSON schema names it


@dataclass(frozen=True)
class Verb:
    name: str  # of the REST operation
    method: str  # of a crawl
    event: str  # that it leaves in the log
    command: str  # frontrank COMMAND; several verbs may share one, and differ by their first parameter
    path: str  # of the REST route, below the crawl
    about: str
    brief: str  # in the list of commands
    outcome: Callable[[Mapping[str, Any]], str]  # what is said when it is done
    parameters: tuple[Parameter, ...] = ()
    adds_rule: bool = False
    for_all: bool = False  # a service does it for all its crawls, too
    callers: frozenset[str] = EVERYBODY
    arguments: Callable[[dict[str, Any], float], dict[str, Any]] = lambda given, now: given  # of the method

    @property
    def choices(self) -> tuple[Parameter, ...]:
        """The parameters of which one at least must be given."""
        return () if any(one.needed for one in self.parameters[1:]) else self.parameters[1:]

    def check(self, given: Mapping[str, Any], names: Callable[[Parameter], str]) -> None:
        """Refuse a call that would change nothing; ``names``: how the caller writes a parameter."""
        if self.choices and not any(given.get(one.field) is not None for one in self.choices):
            *some, last = map(names, self.choices)
            raise InputError(f"{self.command} needs at least one of {', '.join(some)} and {last}")


def _parameter(field: str, help: str, kind: str = WHOLE, name: str = "", **more: Any) -> Parameter:
    usual: dict[str, Any] = {"default": None, "metavar": "PAGES" if kind == WHOLE else "SECONDS"}
    usual |= {"maximum": MAX_PAGES if kind == WHOLE else MAX_S}
    return Parameter(field, name or field.replace("_", "-"), kind, help=help, **(usual | more))


HOST = _parameter(
    "host", "A host, or a queue.", TEXT, metavar="HOST", needed=True, argument=True, max_length=MAX_HOST_LENGTH, maximum=0
)
PATTERN = _parameter(
    "pattern",
    "All pages, on any host, whose URL matches this regular expression.",
    TEXT,
    metavar="REGEX",
    needed=True,
    max_length=MAX_PATTERN_LENGTH,
    format="regex",
    maximum=0,
)
DELAY = _parameter("delay_s", "Seconds between two requests; 0: none.", TIME, "delay")
BUDGET = _parameter("budget", "Pages that may be fetched, revisits too; 0: no limit.")
SECONDS = _parameter("seconds", "For how long, or 30m, 2h, 1d; 0 ends the block.", TIME, "for", default=3600.0, needed=True)
BY = _parameter(
    "by", "Larger is sooner; 0 ends the boost.", metavar="BY", needed=True, argument=True, minimum=-MAX_BOOST, maximum=MAX_BOOST
)


def _boosted(given: Mapping[str, Any]) -> str:
    after = "they go after all others" if given["by"] else "it is ended"
    return "pages that match go before all others" if given["by"] > 0 else after


def _blocked(given: Mapping[str, Any]) -> str:
    host, seconds = given["host"], given["seconds"]
    return f"nothing is taken from {host} for {seconds:g} s" if seconds else f"{host} may be asked again"


def _until(given: dict[str, Any], now: float) -> dict[str, Any]:
    """A moment, not a duration: a block that is applied a second time ends when it did."""
    return {"host": given["host"], "until": now + given["seconds"] if given["seconds"] else 0.0}


VERBS = (
    Verb(
        name="boost",
        method="boost",
        event="rule",
        command="boost",
        path="boost",
        about="Pages whose URL matches, known or to come, go before all others; below 0, after them. Boosts add up.",
        brief="Move pages whose URL matches to the front.",
        parameters=(PATTERN, BY),
        outcome=_boosted,
        adds_rule=True,
    ),
    Verb(
        name="limitHost",
        method="limit_host",
        event="host",
        command="limit",
        path="limits",
        about="Politeness towards one host; what is not given stays as it is.",
        brief="Limit hosts or URL patterns: budgets, delays.",
        parameters=(
            HOST,
            BUDGET,
            DELAY,
            _parameter("concurrency", "Requests in flight to the host; 0: no limit.", metavar="N"),
            _parameter("limit", "Pages that may be done with; 0: no limit."),
            _parameter("queue_cap", "Pages that may wait; further ones that are discovered are dropped; 0: no limit."),
        ),
        outcome=lambda given: f"{given['host']} has new limits",
    ),
    Verb(
        name="limitFamily",
        method="limit_pattern",
        event="rule",
        command="limit",
        path="families",
        about="A budget or a pace for all pages whose URL matches; what is not given stays as it is.",
        brief="Limit hosts or URL patterns: budgets, delays.",
        parameters=(PATTERN, BUDGET, DELAY),
        outcome=lambda given: "the pages that match have new limits",
        adds_rule=True,
    ),
    Verb(
        name="block",
        method="block_until",
        event="block",
        command="block",
        path="block",
        about="Fetch nothing from a host for that long.",
        brief="Fetch nothing from a host for a while.",
        parameters=(HOST, SECONDS),
        outcome=_blocked,
        arguments=_until,
    ),
    Verb(
        name="pause",
        method="pause",
        event="pause",
        command="pause",
        path="pause",
        about="Take no page until resumed.",
        brief="Pause a crawl until it is resumed.",
        outcome=lambda given: "paused: no page is taken until it is resumed",
        for_all=True,
    ),
    Verb(
        name="resume",
        method="resume",
        event="pause",
        command="resume",
        path="resume",
        about="Take pages again.",
        brief="Resume a paused crawl.",
        outcome=lambda given: "resumed",
        for_all=True,
    ),
)
FROM_FILES = ("ask", "impacts")  # what searchers do: their commands and routes read files, a running crawl accepts them, too


def verbs_for(caller: str) -> tuple[Verb, ...]:
    return tuple(verb for verb in VERBS if caller in verb.callers)


def methods() -> frozenset[str]:
    """What a running crawl accepts in its directory."""
    return frozenset({verb.method for verb in verbs_for(INBOX)} | {*FROM_FILES})
