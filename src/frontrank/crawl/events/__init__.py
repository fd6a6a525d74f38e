"""The events of a live crawl: one class each, with all that belongs to it.

    event       what every event has
    pages       what happens to pages: seeded, discovered, taken, fetched, failed
    waiting     when pages wait: retries, schedules, leases that run out, pages that are forgotten
    control     what operators say, and what hosts ask for
    ranking     rankings of all that waits, and what searchers say

A new kind of event is a class in one of these, and an entry in ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from frontrank.crawl.events.control import (
    Blocked,
    Grouped,
    Joined,
    Limited,
    Paused,
    PolitenessChanged,
    Prioritised,
    PrioritisedAll,
    Reordered,
    Rested,
    RuleSet,
    Ungrouped,
)
from frontrank.crawl.events.event import Event, Where, anchors_of, count_of, pages_of, read_note, storable
from frontrank.crawl.events.pages import (
    UNCHANGED,
    Discovered,
    Failed,
    Fetched,
    LinksReassigned,
    Seeded,
    Taken,
    TakenTogether,
    parts_of_note,
)
from frontrank.crawl.events.ranking import ImpactReported, RankingBegun, RankingEnded, RankingHeld, Rescored, WorkloadChanged
from frontrank.crawl.events.waiting import Deferred, Expired, Forgotten, Retried, Scheduled
from frontrank.crawl.log import Row
from frontrank.errors import StorageError

__all__ = [
    "KINDS",
    "NAMES",
    "UNCHANGED",
    "Blocked",
    "Deferred",
    "Discovered",
    "Event",
    "Expired",
    "Failed",
    "Fetched",
    "Forgotten",
    "Grouped",
    "ImpactReported",
    "Joined",
    "Limited",
    "LinksReassigned",
    "Paused",
    "PolitenessChanged",
    "Prioritised",
    "PrioritisedAll",
    "RankingBegun",
    "RankingEnded",
    "RankingHeld",
    "Reordered",
    "Rescored",
    "Rested",
    "Retried",
    "RuleSet",
    "Scheduled",
    "Seeded",
    "Taken",
    "TakenTogether",
    "Ungrouped",
    "Where",
    "WorkloadChanged",
    "anchors_of",
    "apart",
    "count_of",
    "kind_of",
    "pages_of",
    "parts_of_note",
    "read_events",
    "read_note",
    "storable",
]

_PAGES = (Seeded, Discovered, LinksReassigned, Taken, Fetched, Failed, Retried, Expired, Scheduled, Deferred, Forgotten)
_CONTROL = (
    Limited,
    Blocked,
    Rested,
    Joined,
    Grouped,
    Ungrouped,
    PolitenessChanged,
    Reordered,
    Prioritised,
    PrioritisedAll,
    RuleSet,
    Paused,
)
_RANKING = (Rescored, RankingBegun, RankingHeld, RankingEnded, ImpactReported, WorkloadChanged)
_ALL = (*_PAGES, *_CONTROL, *_RANKING)
KINDS: dict[int, Any] = {event.kind: event for event in (*_ALL, TakenTogether)}
NAMES = {event.name: event.kind for event in _ALL}


def apart(rows: list[Row]) -> list[Row]:
    """The same with a row for each page that was taken."""
    if not any(row.kind == TakenTogether.kind for row in rows):
        return rows
    found: list[Row] = []
    for row in rows:
        if row.kind == TakenTogether.kind:
            pages = pages_of(row).tolist()
            found += [Row(row.seq, Taken.kind, page, row.time, until=row.until) for page in pages]
        else:
            found.append(row)
    return found


def read_events(rows: Iterable[Row]) -> Iterator[Event]:
    """Rows of a log as events: pages that were seeded together are one."""
    seeds: list[int] = []
    for row in rows:
        if row.kind == Seeded.kind:
            seeds.append(row.page)
            if len(seeds) == row.status:
                yield Seeded(row.time, seeds)
                seeds = []
        else:
            yield kind_of(row).of(row)


def kind_of(row: Row) -> Any:
    if row.kind not in KINDS:
        raise StorageError(f"event {row.seq} is of kind {row.kind}, which this frontrank does not know; use a newer one")
    return KINDS[row.kind]
