"""The operations that read, one function each: what is asked of which crawl, and what is answered.

They are called in threads, never in the event loop. ``priority`` is null where the ordering gave none: ``standing``
says whether the page is not ranked yet, or goes before or after all that are.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from frontrank import __version__
from frontrank.crawl.kernels import UNLINKED
from frontrank.errors import InputError, StorageError, UnknownCrawl
from frontrank.fetching.counting import requested_pages, time_left
from frontrank.frontiers.frontier import BEYOND
from frontrank.orderings.ranker import UNRANKED
from frontrank.orderings.registry import describe
from frontrank.pages.groups import MAX_HOST_LENGTH
from frontrank.service.http import past, replays, shapes
from frontrank.service.http.operations import Target
from frontrank.service.http.params import Params
from frontrank.service.http.reader import CrawlReader, Source
from frontrank.service.http.shapes import shaped
from frontrank.service.limits import MAX_URL_LENGTH
from frontrank.service.refusals import reason_for

STATUS_S = 1.0  # how long a status is kept
FOREVER_S = 1e12
NO_PAST: dict[str, Any] = {"pages_per_s": {"lately": 0.0, "overall": 0.0}, "reasons": {}, "complete": True}
HOST_FIELDS = ("host", "waiting", "leased", "later", "done", "taken", "concurrency", "budget", "limit")


class NotKnown(InputError):
    """A page that the crawl has never heard of."""


# Parameters -----------------------------------------------------------------------------------------------------------------
class PageCount(Params):
    n: Annotated[int, Meta(ge=1, le=1_000, description="how many pages")] = 50


class HostCount(Params):
    n: Annotated[int, Meta(ge=1, le=1_000, description="how many hosts")] = 50


class StepCount(Params):
    points: Annotated[int, Meta(ge=1, le=1_000, description="at most so many steps")] = 200


class FamilyCount(Params):
    n: Annotated[int, Meta(ge=1, le=500, description="how many families")] = 30


class BinCount(Params):
    bins: Annotated[int, Meta(ge=1, le=200, description="how many bins")] = 40


class PageName(Params):
    url: Annotated[str, Meta(min_length=1, max_length=MAX_URL_LENGTH, description="the URL of a page that the crawl knows")]
    queue: Annotated[str, Meta(max_length=MAX_HOST_LENGTH, description="its queue; without it, whatever its queue")] | None = (
        None
    )


class SearchText(Params):
    text: Annotated[str, Meta(min_length=1, max_length=500, description="a part of a URL")]
    n: Annotated[int, Meta(ge=1, le=500, description="how many pages")] = 50


class OtherOrdering(Params):
    policy: Annotated[str, Meta(min_length=1, max_length=200, description="the other ordering, such as opic or fpr:m=100")]
    n: Annotated[int, Meta(ge=1, le=500, description="how many pages of the head")] = 50


class Trial(Params):
    policies: Annotated[str, Meta(max_length=500, description="orderings to try, with spaces between: surf opic fpr:m=100")] = (
        "bfs surf"
    )
    budget: Annotated[float, Meta(ge=0.001, le=1.0, description="share of the pages that each may fetch")] = 0.3


class PurposeText(Params):
    for_: Annotated[str, Meta(max_length=200, description="importance, coverage, votes or topic:WORDS")] = msgspec.field(
        name="for", default="importance"
    )


# Of the service -------------------------------------------------------------------------------------------------------------
def crawls(target: Target) -> shapes.CrawlList:
    """All crawls, and how far each is."""
    reader = target.reader
    listed: list[shapes.CrawlInfo] = []
    broken: dict[str, str] = {}
    for name in reader.ids():
        try:
            listed.append(
                shaped(shapes.CrawlInfo, {**reader.source(name).overview(), "id": name})
            )  # not its past: often asked for
        except UnknownCrawl:  # it was deleted a moment ago
            pass
        except StorageError as error:
            broken[name] = reason_for(error)
    broken |= reader.broken()
    rows = [shapes.Broken(id=name, reason=reason) for name, reason in sorted(broken.items())]
    return shapes.CrawlList(version=__version__, active=reader.active, crawls=listed, broken=rows)


def orderings(target: Target) -> shapes.Orderings:
    """The orderings that a crawl can be compared with."""
    known = replays.open_orderings().items()
    rows = [shapes.Ordering(name=name, description=describe(one)["description"]) for name, one in known]
    return shapes.Orderings(orderings=rows)


# Of a crawl -----------------------------------------------------------------------------------------------------------------
def status(target: Target) -> shapes.CrawlStatus:
    """How far a crawl is: pages by state, rate, time left, hosts, what its ordering measures."""
    return status_of(target.reader, target.crawl)


def statuses(reader: CrawlReader) -> list[shapes.CrawlStatus]:
    """Of all crawls that are there."""
    found: list[shapes.CrawlStatus] = []
    for name in reader.ids():
        with suppress(UnknownCrawl, StorageError):
            found.append(status_of(reader, name))
    return found


def status_of(reader: CrawlReader, name: str) -> shapes.CrawlStatus:
    return reader.cached((name, "status"), STATUS_S, lambda: _status(reader, reader.source(name)))


def _status(reader: CrawlReader, source: Source) -> shapes.CrawlStatus:
    overview: dict[str, Any] = source.overview()
    running = source.running()
    now = time.time() if running else None
    past_of = NO_PAST if source.folder is None else reader.past.call(past.summary, source.folder, now)
    budget = int(source.notes().get("options", {}).get("budget", 0) or 0)
    asked = requested_pages(overview["fetched"], overview["revisits"], past_of["reasons"] or {"failed": overview["failed"]})
    rate = past_of["pages_per_s"]
    ahead = budget - asked if budget else overview["waiting"] - overview["scheduled"]  # scheduled ones wait for their time
    left = time_left(ahead, rate["lately"]) if running else None
    return shaped(
        shapes.CrawlStatus,
        {
            **overview,
            "id": source.name,
            "running": running,
            "active": reader.active,
            "as_of": source.as_of(),
            "pages_per_s": rate,
            "budget": budget or None,
            "asked": asked,
            "left_s": left,
            "left_until": None if left is None else "budget spent" if budget else "frontier empty",
        },
    )


def next_pages(target: Target, params: PageCount) -> shapes.Next:
    """The next pages by priority, whatever politeness says."""
    pages = [shaped(shapes.Waiting, _standing(page)) for page in target.source.ask("next", params.n)]
    now = status(target)
    return shapes.Next(policy=now.policy, waiting=now.waiting, pages=pages)


def hosts(target: Target, params: HostCount) -> shapes.HostsInfo:
    """The hosts with most pages in flight and waiting, with their limits."""
    now = time.time()
    rows = [
        shapes.HostInfo(
            **{name: row[name] for name in HOST_FIELDS},
            delay_s=row["delay"],
            rests_s=_seconds_until(row["ready_at"], now),
            blocked_s=_seconds_until(row["blocked"], now),
        )
        for row in target.source.ask("busiest_hosts", params.n)
    ]
    return shapes.HostsInfo(known=status(target).hosts.known, hosts=rows)


def _seconds_until(moment: float, now: float) -> float:
    return min(max(moment - now, 0.0), FOREVER_S)


def explain(target: Target, params: PageName) -> shapes.Explained:
    """Why a page is where it is in the queue: how much each fetched page contributed to its priority. Replays the crawl."""
    found = target.reader.slowly(target.source, replays.explain, target.folder(), params.url, params.queue or None)
    if found is None:
        raise NotKnown("this crawl does not know the page; give a URL that it was seeded with, or that a fetched page links to")
    row = {"place": None, "further_links": 0.0, **_standing(found)}
    if row["standing"] != "ranked":
        row["other"] = 0.0
    return shaped(shapes.Explained, row)


def search(target: Target, params: SearchText) -> shapes.Search:
    """Known pages whose URL contains a text, in the order in which they became known."""
    found = target.reader.searching.call(past.search, target.folder(), params.text, 0, params.n + 1)
    rows = target.source.ask("pages", [page for page, _ in found[: params.n]])
    return shapes.Search(pages=[shaped(shapes.FoundPage, _standing(row)) for row in rows], more=len(found) > params.n)


def errors(target: Target) -> shapes.Errors:
    """Pages that failed for good, by reason; fetched pages by HTTP status; the last failures."""
    return target.reader.past.call(past.errors, target.folder())


def history(target: Target, params: StepCount) -> shapes.History:
    """Pages fetched and failed over time, in steps of equal length; steps without a page are omitted."""
    return target.reader.past.call(past.series, target.folder(), params.points)


def families(target: Target, params: FamilyCount) -> shapes.Families:
    """Families of URLs that are alike but for numbers and ids, largest first, and which of them may be traps."""
    return target.reader.past.call(past.families, target.folder(), params.n)


def scores(target: Target, params: BinCount) -> shapes.Scores:
    """How the priorities of waiting pages are distributed."""
    return shaped(shapes.Scores, target.source.ask("score_distribution", params.bins))


def coverage(target: Target) -> shapes.Coverage:
    """How much of what is known was fetched: pages, hosts, pages by depth."""
    return shaped(shapes.Coverage, target.source.ask("coverage"))


def compare(target: Target, params: OtherOrdering) -> shapes.Compared:
    """What another ordering would change at the head of the queue. Takes a replay of the crawl; nothing is changed."""
    replays.ordering(params.policy)  # refused at once, not after a replay
    return target.reader.slowly(target.source, replays.compare, target.folder(), params.policy, params.n)


def simulate(target: Target, params: Trial) -> dict[str, Any]:
    """Crawl what this crawl has fetched once more with other orderings: how soon does each find the important pages?"""
    specs = params.policies.split()
    if not 1 <= len(specs) <= replays.MAX_TRIED:
        raise InputError(f"policies must name 1 to {replays.MAX_TRIED} orderings, got {len(specs)}")
    for spec in specs:
        replays.ordering(spec)
    return target.reader.slowly(target.source, replays.simulate, target.folder(), specs, params.budget)


def recommend(target: Target, params: PurposeText) -> dict[str, Any]:
    """Which ordering to take for a crawl like this one: several are tried on what it has fetched."""
    replays.purpose_of(params.for_)
    return target.reader.slowly(target.source, replays.recommend, target.folder(), params.for_)


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
