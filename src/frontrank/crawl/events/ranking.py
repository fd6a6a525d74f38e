"""Rankings of all that waits, and what searchers say: their queries, and what they made of pages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from frontrank.crawl.events.event import Moment, Noted, read_note
from frontrank.crawl.log import Row
from frontrank.web.view import Workload, workload_from, workload_notes

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState


@dataclass(frozen=True, slots=True)
class Rescored(Moment):
    """Everything that waits is ranked anew, at once."""

    kind: ClassVar[int] = 7
    name: ClassVar[str] = "rescore"

    def apply(self, state: CrawlState) -> None:
        state.ranking.now()


@dataclass(frozen=True, slots=True)
class RankingBegun(Moment):
    """A ranking of all that is known at this moment is under way; the crawl goes on meanwhile."""

    kind: ClassVar[int] = 13
    name: ClassVar[str] = "ranking"

    def apply(self, state: CrawlState) -> None:
        state.ranking.begin()


@dataclass(frozen=True, slots=True)
class RankingHeld:
    """A part of the pages has the priorities of the ranking that is under way."""

    kind: ClassVar[int] = 15
    name: ClassVar[str] = "ranked-part"
    time: float
    first: int  # in the order of discovery
    count: int

    @classmethod
    def of(cls, row: Row) -> RankingHeld:
        return cls(row.time, row.status or 0, int(row.note or 0))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=self.first, note=str(self.count))]

    def apply(self, state: CrawlState) -> None:
        state.ranking.apply_part(self.first, self.count)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"first": row.status, "pages": int(row.note or 0)}


@dataclass(frozen=True, slots=True)
class RankingEnded:
    """The ranking that was under way holds from now on; or it failed, and the priorities stay."""

    kind: ClassVar[int] = 14
    name: ClassVar[str] = "ranked"
    time: float
    good: bool = True

    @classmethod
    def of(cls, row: Row) -> RankingEnded:
        return cls(row.time, bool(row.status))

    def rows(self) -> list[Row]:
        return [Row(0, self.kind, -1, self.time, status=int(self.good))]

    def apply(self, state: CrawlState) -> None:
        state.ranking.end()

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"good": bool(row.status)}


@dataclass(frozen=True, slots=True)
class ImpactReported:
    """What searchers made of a page since: how often they chose it, were shown it, or both. It need not be fetched yet."""

    kind: ClassVar[int] = 16
    name: ClassVar[str] = "impact"
    time: float
    page: int
    clicks: float | None = None
    views: float | None = None

    @classmethod
    def of(cls, row: Row) -> ImpactReported:
        return cls(row.time, row.page, **read_note(row))

    def rows(self) -> list[Row]:
        reported = {name: value for name, value in (("clicks", self.clicks), ("views", self.views)) if value is not None}
        return [Row(0, self.kind, self.page, self.time, note=json.dumps(reported))]

    def apply(self, state: CrawlState) -> None:
        state.demand.report(self.page, self.clicks, self.views)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return read_note(row)


@dataclass(frozen=True, slots=True)
class WorkloadChanged(Noted):
    """Searchers ask other queries from now on: what later rankings go by."""

    kind: ClassVar[int] = 17
    name: ClassVar[str] = "queries"
    workload: Workload

    @classmethod
    def of(cls, row: Row) -> WorkloadChanged:
        return cls(row.time, workload_from(read_note(row)))

    def content(self) -> dict[str, Any]:
        return workload_notes(self.workload)

    def apply(self, state: CrawlState) -> None:
        state.demand.ask(self.workload, state.links.used)

    @staticmethod
    def show(row: Row) -> dict[str, Any]:
        return {"queries": len(read_note(row)["queries"])}
