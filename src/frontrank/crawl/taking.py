"""Which pages are handed out: those that the frontier draws, of families that may go, with the share that is set for revisits.

From the first page that is asked for on, a crawl in a directory also listens to what other processes tell it (``inbox``).
"""

from __future__ import annotations

import math

import numpy as np

from frontrank.crawl import events
from frontrank.crawl.log import Log
from frontrank.crawl.recorder import Recorder
from frontrank.crawl.state import CrawlState
from frontrank.frontiers.polite_frontier import MAX_TAKEN

SOON_S, PAUSED_S = 0.02, 0.5  # a take that waits for a ranking, or for the end of a pause, looks again
MAX_DEFERRED = 10_000  # pages whose families may not go, in one call of take: about 0.2 s, once


class Taker:
    """All calls hold the lock of the state."""

    def __init__(self, state: CrawlState, recorder: Recorder, revisit_share: float | None) -> None:
        self._state, self._recorder = state, recorder
        self._log: Log = recorder.log
        self.revisit_share = revisit_share
        self._drawn = self._revisits = 0  # pages taken by this process

    def may_take(self, at: float) -> bool:
        """Whether pages are handed out at all, now that leases that have run out are back."""
        state = self._state
        self._recorder.end_leases(at)
        state.rules.begin()
        return not (state.progress.paused or state.ordering.done() or self.waits_for_ranking())

    def waits_for_ranking(self) -> bool:
        return self._state.ranking.under_way and not self._state.leases

    def next_at(self) -> float | None:
        """When a page may next be taken; None if time alone brings none."""
        state = self._state
        first = math.inf if state.ordering.done() else state.frontier.next_at()
        if first == math.inf:
            return None
        paused = state.progress.paused
        if paused or self.waits_for_ranking():
            return self._recorder.clock() + (PAUSED_S if paused else SOON_S)
        return max(first - self._recorder.shift, 0.0)

    def take(self, n: int, at: float) -> tuple[list[int], int]:
        """Pages that may go, and how many were looked at: if any were, there is something to commit."""
        if not self.may_take(at):
            return [], 0
        allowed: list[int] = []
        tried = 0
        while len(allowed) < n and tried < n + MAX_DEFERRED and (drawn := self._draw(n - len(allowed), at)):
            tried += len(drawn)
            allowed += self.lease(drawn, at)
            if self._state.rules.is_spent:
                break
        return allowed, tried

    def take_prioritised(self, n: int, priority: int, at: float) -> tuple[list[int], int]:
        """The same, of pages with at least this priority alone."""
        if not self.may_take(at):
            return [], 0
        frontier = self._state.frontier
        frontier.release(at, None if self.revisit_share is None else self._state.ordering.columns.fetched)
        drawn = frontier.pop_prioritised(at, priority, n)
        return self.lease(drawn, at), len(drawn)

    def _draw(self, n: int, at: float) -> list[int]:
        """The best pages; with a share for revisits, so many of all that are taken are those that are due for longest."""
        frontier, fetched = self._state.frontier, self._state.ordering.columns.fetched
        if self.revisit_share is None:
            return frontier.take(n, at)
        frontier.release(at, fetched)
        drawn: list[int] = []
        while len(drawn) < n:
            owed = self._owes_revisits()
            page = frontier.take_returning(at) if owed else -1
            if page < 0:
                page = (frontier.pop(at) or [-1])[0]
            if page < 0 and not owed:
                page = frontier.take_returning(at)
            if page < 0:
                break
            self._drawn += 1
            self._revisits += int(fetched[page])
            drawn.append(page)
        return drawn

    def _owes_revisits(self) -> bool:
        assert self.revisit_share is not None
        return self._revisits < self.revisit_share * (self._drawn + 1)

    def lease(self, drawn: list[int], at: float, until: float | None = None) -> list[int]:
        """Those of the pages just drawn whose families let them go; the others wait on."""
        state, allowed = self._state, drawn
        if state.rules.limiting:
            turns = state.rules.turns([url for url, _ in self._log.names(drawn)], at)
            for page in drawn:
                state.frontier.back(page)  # as they lie in the log: first those that wait, then those that go
            judged = list(zip(drawn, turns, strict=False))  # the others stay where they are
            for page, turn in judged:
                if turn > at:
                    self._recorder.record(events.Deferred(at, page, turn))
            allowed = [page for page, turn in judged if turn <= at]
        if allowed:
            self._recorder.record((events.Taken if until is None else events.TakenTogether)(at, allowed, until))
        return allowed

    # Queue by queue ---------------------------------------------------------------------------------------------------------
    def take_queues(self, at: float, queues: int, per_queue: int, host: int, until: float | None) -> list[int]:
        """Pages of up to so many queues. Where families hold pages up, their queues are asked for the next ones: they have
        not been asked for anything."""
        frontier, rules = self._state.frontier, self._state.rules
        allowed: list[int] = []
        gave: set[int] = set()
        tried = 0
        while tried <= MAX_DEFERRED and not 0 < queues <= len(gave):
            drawn = self._draw_queues(at, queues - len(gave) if queues else 0, per_queue, host)
            if not rules.limiting:
                return self.lease(drawn, at, until)
            host_of = dict(zip(drawn, frontier.hosts_of(np.array(drawn, np.int64)).tolist(), strict=True))
            fresh = [page for page in drawn if host_of[page] not in gave]
            for page in drawn:
                if host_of[page] in gave:
                    frontier.back(page)  # a queue answers once
            some = self.lease(fresh, at, until)
            allowed += some
            gave.update(host_of[page] for page in some)
            tried += len(fresh)
            if len(some) == len(fresh) or rules.is_spent:
                break
        return allowed

    def _draw_queues(self, at: float, queues: int, per_queue: int, host: int) -> list[int]:
        """Pages of queues that may be asked now; with a share for revisits, one queue after the other."""
        frontier, fetched = self._state.frontier, self._state.ordering.columns.fetched
        if self.revisit_share is None:
            return frontier.take_queues(at, queues, per_queue, host)
        frontier.release(at, fetched)
        drawn: list[int] = []
        asked = 0
        while (asked == 0 if host >= 0 else not 0 < queues <= asked) and len(drawn) < MAX_TAKEN:
            owed = self._owes_revisits()
            some = frontier.take_returning_queue(at, per_queue, host) if owed else []
            some = some or frontier.pop_queues(at, 1, per_queue, host)
            if not some and not owed:
                some = frontier.take_returning_queue(at, per_queue, host)
            if not some:
                break
            asked += 1
            self._drawn += len(some)
            self._revisits += int(fetched[some].sum())
            drawn += some
        return drawn
