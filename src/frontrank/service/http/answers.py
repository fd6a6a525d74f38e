"""The operations of the HTTP side, one function each: what is asked of which crawl, and what is answered.

They are called in threads, never in the event loop. ``priority`` is None where a page has none of the ordering's: its
``standing`` says whether it is not ranked yet, or goes before or after all that are.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from frontrank import __version__
from frontrank.crawl.kernels import UNLINKED
from frontrank.errors import InputError, StorageError, TooMany, UnknownCrawl
from frontrank.fetching.crawler.job import asked_for
from frontrank.fetching.crawler.pace import time_left
from frontrank.frontiers.frontier import BEYOND
from frontrank.orderings.ranker import UNRANKED
from frontrank.orderings.registry import describe
from frontrank.service.http import past, replays, shapes
from frontrank.service.http.desk import Desk, Source
from frontrank.service.refusals import reason_for

STATUS_S, HOSTS_S, WHOLE_S, COMPARED_S = 1.0, 2.0, 5.0, 60.0  # how long answers are kept
FOREVER_S = 1e12
MAX_RULES = 1_000  # of a crawl: each is tried on every URL that is found
MAX_NAMED = 100  # pages that are not known, in an answer
NOT_YET = "said; the process at work on the crawl has not acted on it yet, and will when it takes a page"
NOTHING: dict[str, Any] = {"pages_per_s": {"lately": 0.0, "overall": 0.0}, "reasons": {}, "complete": True}


class NotKnown(InputError):
    """A page that the crawl has never heard of."""


@dataclass(frozen=True)
class Asked:
    """One question: of which crawl, and with which fields."""

    desk: Desk
    crawl: str
    given: dict[str, Any]

    @property
    def source(self) -> Source:
        return self.desk.source(self.crawl)

    def folder(self) -> str:
        folder = self.source.folder
        if folder is None:
            raise InputError("this crawl has no directory, so nothing is known of its past; crawl into a directory")
        return folder


# Of the service -----------------------------------------------------------------------------------------------------------
def crawls(asked: Asked) -> shapes.CrawlList:
    made: list[shapes.Listed] = []
    broken: dict[str, str] = {}
    for name in asked.desk.ids():
        try:
            told = {**asked.desk.source(name).overview(), "id": name}  # not its past: this is asked for often
            made.append(cast(shapes.Listed, {key: told[key] for key in shapes.Listed.__annotations__}))
        except UnknownCrawl:  # it was deleted a moment ago
            pass
        except StorageError as error:
            broken[name] = reason_for(error)
    broken |= asked.desk.broken()
    rows: list[shapes.Broken] = [{"id": name, "reason": reason} for name, reason in sorted(broken.items())]
    return {"version": __version__, "active": asked.desk.active, "crawls": made, "broken": rows}


def pause_all(asked: Asked) -> shapes.Done:
    asked.desk.set_active(False)
    return _done(asked, "the service is paused: no page of any crawl is handed out until it is resumed")


def resume_all(asked: Asked) -> shapes.Done:
    asked.desk.set_active(True)
    return _done(asked, "the service hands out pages again")


def orderings(asked: Asked) -> shapes.Orderings:
    known = replays.open_orderings().items()
    return {"orderings": [{"name": name, "description": describe(one)["description"]} for name, one in known]}


# Of a crawl ---------------------------------------------------------------------------------------------------------------
def status(asked: Asked) -> shapes.Status:
    return status_of(asked.desk, asked.crawl)


def statuses(desk: Desk) -> list[shapes.Status]:
    """Of all crawls that are there."""
    made: list[shapes.Status] = []
    for name in desk.ids():
        with suppress(UnknownCrawl, StorageError):
            made.append(status_of(desk, name))
    return made


def status_of(desk: Desk, name: str) -> shapes.Status:
    return desk.kept((name, "status"), STATUS_S, lambda: _status(desk, desk.source(name)))


def _status(desk: Desk, source: Source) -> shapes.Status:
    told: dict[str, Any] = source.overview()
    running = source.running()
    now = time.time() if running else None
    happened = NOTHING if source.folder is None else desk.past.call(past.summary, source.folder, now)
    notes = source.notes()
    budget = int(notes.get("options", {}).get("budget", 0) or 0)
    asked = asked_for(told["fetched"], told["revisits"], happened["reasons"] or {"failed": told["failed"]})
    rate = happened["pages_per_s"]
    ahead = budget - asked if budget else told["waiting"] - told["scheduled"]  # those that come later wait for their time
    left = time_left(ahead, rate["lately"]) if running else None
    made = {
        **told,
        "id": source.name,
        "running": running,
        "active": desk.active,
        "as_of": source.as_of(),
        "pages_per_s": rate,
        "budget": budget or None,
        "asked": asked,
        "left_s": left,
        "left_until": None if left is None else "budget spent" if budget else "frontier empty",
    }
    return cast(shapes.Status, {key: made[key] for key in shapes.Status.__annotations__})


def next_pages(asked: Asked) -> shapes.Next:
    source = asked.source
    pages = [_standing(page) for page in source.ask("next", asked.given["n"])]
    told = status_of(asked.desk, asked.crawl)
    return {"policy": told["policy"], "waiting": told["waiting"], "pages": cast(list[shapes.Waiting], pages)}


def hosts(asked: Asked) -> shapes.Hosts:
    told = status_of(asked.desk, asked.crawl)
    now = time.time()
    made: list[shapes.Host] = []
    for row in asked.source.ask("busiest_hosts", asked.given["n"]):
        kept = ("host", "waiting", "leased", "later", "done", "taken", "concurrency", "budget", "limit")
        waits = {"rests_s": _until(row["ready_at"], now), "blocked_s": _until(row["blocked"], now)}
        made.append(cast(shapes.Host, {key: row[key] for key in kept} | {"delay_s": row["delay"]} | waits))
    return {"known": told["hosts"]["known"], "hosts": made}


def _until(moment: float, now: float) -> float:
    return min(max(moment - now, 0.0), FOREVER_S)


def explain(asked: Asked) -> shapes.Explained:
    told = asked.desk.slowly(asked.source, replays.explain, asked.folder(), asked.given["url"], asked.given["queue"] or None)
    if told is None:
        raise NotKnown("this crawl does not know the page; give a URL that it was seeded with, or that a fetched page links to")
    made = {"place": None, "further_links": 0.0, **_standing(told)}
    if made["standing"] != "ranked":
        made["other"] = 0.0
    return cast(shapes.Explained, {key: made[key] for key in shapes.Explained.__annotations__})


def search(asked: Asked) -> shapes.Search:
    given = asked.given
    found = asked.desk.searching.call(past.search, asked.folder(), given["text"], 0, given["n"] + 1)
    source = asked.source
    rows = source.ask("pages_shown", [page for page, _ in found[: given["n"]]])
    return {"pages": cast(list[shapes.Found], [_standing(row) for row in rows]), "more": len(found) > given["n"]}


def errors(asked: Asked) -> shapes.Errors:
    return asked.desk.past.call(past.errors, asked.folder())


def history(asked: Asked) -> shapes.Series:
    return asked.desk.past.call(past.series, asked.folder(), asked.given["points"])


def families(asked: Asked) -> shapes.Families:
    return asked.desk.past.call(past.families, asked.folder(), asked.given["n"])


def scores(asked: Asked) -> shapes.Scores:
    return cast(shapes.Scores, asked.source.ask("score_distribution", asked.given["bins"]))


def coverage(asked: Asked) -> shapes.Coverage:
    return cast(shapes.Coverage, asked.source.ask("coverage"))


def compare(asked: Asked) -> shapes.Compared:
    given = asked.given
    replays.ordering(given["policy"])  # refused at once, not after a replay
    return asked.desk.slowly(asked.source, replays.compare, asked.folder(), given["policy"], given["n"])


def simulate(asked: Asked) -> dict[str, Any]:
    specs = asked.given["policies"].split()
    if not 1 <= len(specs) <= replays.MAX_TRIED:
        raise InputError(f"policies must name 1 to {replays.MAX_TRIED} orderings, got {len(specs)}")
    for spec in specs:
        replays.ordering(spec)
    return asked.desk.slowly(asked.source, replays.simulate, asked.folder(), specs, asked.given["budget"])


def recommend(asked: Asked) -> dict[str, Any]:
    replays.wish(asked.given["for"])
    return asked.desk.slowly(asked.source, replays.recommend, asked.folder(), asked.given["for"])


def _standing(row: dict[str, Any]) -> dict[str, Any]:
    """The same row with a priority that means something, or None and why."""
    key = row["priority"]
    standing = "ranked"
    if key is None:
        standing = "settled"
    elif key >= BEYOND:
        standing = "before all"
    elif key <= -BEYOND:
        standing = "after all"
    elif key <= UNRANKED:
        standing = "not ranked yet"
    depth = None if row["depth"] == UNLINKED else row["depth"]
    return {**row, "priority": key if standing == "ranked" else None, "standing": standing, "depth": depth}


# Actions ------------------------------------------------------------------------------------------------------------------
def block(asked: Asked) -> shapes.Done:
    host, seconds = asked.given["host"], asked.given["seconds"]
    applied = asked.source.tell("block_until", name=host, until=time.time() + seconds if seconds else 0.0)
    return _done(asked, f"nothing is taken from {host} for {seconds:g} s" if seconds else f"{host} may be asked again", applied)


def limit_host(asked: Asked) -> shapes.Done:
    given = {name: value for name, value in asked.given.items() if name != "host" and value is not None}
    if not given:
        raise InputError("at least one limit must be given: delay_s, concurrency, budget or limit")
    return _done(asked, f"{asked.given['host']} has new limits", asked.source.tell("host", name=asked.given["host"], **given))


def _given(asked: Asked, *names: str) -> dict[str, Any]:
    return {name: asked.given[name] for name in names if asked.given[name] is not None}


def ask(asked: Asked) -> shapes.Done:
    rows, seen = asked.given["queries"], asked.given["visibility"]
    told = {"queries": [row["query"] for row in rows], "frequency": [row["frequency"] for row in rows]}
    applied = asked.source.tell("ask", **told, **({} if seen is None else {"visibility": seen}))
    return _done(asked, f"later rankings go by {len(rows):,} queries", applied)


def impacts(asked: Asked) -> shapes.Valued:
    rows = asked.given["pages"]
    applied = asked.source.tell("impacts", told=[[row["url"], row["clicks"], row["views"]] for row in rows])
    unknown = asked.source.ask("unknown_urls", [row["url"] for row in rows])
    said = _done(asked, f"{len(rows) - len(unknown):,} pages have a new impact, {len(unknown):,} are not known", applied)
    return {**said, "unknown": unknown[:MAX_NAMED], "unknown_pages": len(unknown)}


def pause(asked: Asked) -> shapes.Done:
    return _done(asked, "paused: no page is taken until it is resumed", asked.source.tell("pause"))


def resume(asked: Asked) -> shapes.Done:
    applied = asked.source.tell("resume")
    return _done(asked, "resumed" if asked.desk.active else "resumed, but the whole service is paused", applied)


def boost(asked: Asked) -> shapes.Done:
    pattern, by = asked.given["pattern"], asked.given["by"]
    _check_rules(asked, pattern)
    applied = asked.source.tell("boost", pattern=pattern, by=by)
    done = "pages that match go before all others" if by > 0 else "they go after all others" if by else "it is ended"
    return _done(asked, done, applied)


def limit_family(asked: Asked) -> shapes.Done:
    given = asked.given
    _check_rules(asked, given["pattern"])
    applied = asked.source.tell("limit_family", pattern=given["pattern"], budget=given["budget"], delay_s=given["delay_s"])
    return _done(asked, "the family has new limits", applied)


def _check_rules(asked: Asked, pattern: str) -> None:
    """Refuse a rule for which there is no room."""
    held = asked.source.ask("overview")["rules"]
    if len(held) >= MAX_RULES and all(rule["pattern"] != pattern for rule in held):
        raise TooMany(f"this crawl has {len(held):,} rules, as many as it may; end one first")


def _done(asked: Asked, what: str, applied: bool = True) -> shapes.Done:
    asked.desk.forget()
    return {"done": what if applied else NOT_YET, "applied": applied}
