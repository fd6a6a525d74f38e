"""The priority that each page had when it was taken: the log is replayed in memory, one event at a time.

A log has no priorities, since writing them would cost every crawl; a replay restores them to the bit. Memory: as the crawl's
own, about 100 bytes for each known page. Cost: about 10 microseconds per event.
"""

from __future__ import annotations

import math

from frontrank.crawl import status
from frontrank.crawl.events import Fetched, Taken
from frontrank.crawl.log import Log, Row
from frontrank.crawl.ranking import INLINE
from frontrank.crawl.recovery import SMALL
from frontrank.crawl.replay import LogReplay, take_names
from frontrank.crawl.setup import CrawlSetup
from frontrank.crawl.state import CrawlState
from frontrank.crawl.stored import first_workload, stored_policy, stored_politeness
from frontrank.frontiers.frontier import BEYOND
from frontrank.orderings.ranker import UNRANKED


def waiting_priority(state: CrawlState, page: int) -> float | None:
    """The priority of a page that waits or is leased; None if the ordering has not ranked it, or an operator put it first."""
    key = state.frontier.key(page)
    if key <= UNRANKED or abs(key) >= BEYOND:
        return None
    value = status.priority(state, page)
    return value if math.isfinite(value) else None


class TakenPriorities(LogReplay):
    """Give it all rows of a log, in their order (``batch``); ``pop`` then has the priority of a fetched event."""

    def __init__(self, log: Log) -> None:
        setup = CrawlSetup(politeness=stored_politeness(log), workload=first_workload(log), capacity=SMALL, ranking=INLINE)
        state = CrawlState(stored_policy(log), log, setup)
        state.replaying = True
        take_names(state, log, None)
        super().__init__(state, log.notes, fused=False)
        self._of_taken: dict[int, float | None] = {}
        self._of_event: dict[int, float | None] = {}

    def _slow(self, row: Row) -> None:
        if row.kind == Taken.kind:
            self._of_taken[row.page] = waiting_priority(self.state, row.page)
        elif row.kind == Fetched.kind:
            self._of_event[row.seq] = self._of_taken.pop(row.page, None)
        super()._slow(row)

    def pop(self, event: int) -> float | None:
        """The priority of the page that arrived with this event."""
        return self._of_event.pop(event, None)
