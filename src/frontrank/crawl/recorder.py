"""Recorder: where events happen. Each is in the log before it is done, and is acknowledged when its call returns.

Time never runs back: if the clock does, the gap is added from then on. Snapshots are taken now and then, beside the crawl.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from frontrank.crawl import events, validation
from frontrank.crawl.events import Event
from frontrank.crawl.locking import locked
from frontrank.crawl.log import Log
from frontrank.crawl.needs import check_asked
from frontrank.crawl.queue_caps import OVER_QUEUE_CAP, capped_targets, over_cap
from frontrank.crawl.ranking import PART
from frontrank.crawl.saving import save_snapshot
from frontrank.crawl.state import CrawlState
from frontrank.errors import InputError
from frontrank.frontiers.frontier import LEASED
from frontrank.web.view import Workload

SNAPSHOT_WORK = 50_000  # rows and new pages between two snapshots, at least, and a share of what is known
SNAPSHOT_SHARE = 16
SNAPSHOT_S, SNAPSHOT_ROWS = 300.0, 1_000  # or this time, if there are so many rows to save
SNAPSHOT_PAUSE_S = 0.2  # between two attempts: a snapshot may still be on its way

DROPPED = (OVER_QUEUE_CAP,)  # why a crawl itself drops pages that nobody took


class Recorder:
    """Every event passes here: ``tick`` for its time, ``record``, then ``acknowledge``; with ``state.lock`` held."""

    def __init__(self, state: CrawlState, log: Log, clock: Callable[[], float]) -> None:
        self.state, self.log = state, log
        self.clock = validation.checked_clock(clock)
        self.shift = 0.0  # what the clock has run back
        self.ended = threading.Event()
        self._open_blocks = 0  # of events that share a commit
        self.snapshot_seq = self.snapshot_known = 0  # as the last snapshot has them
        self._snapshot_time = time.monotonic()
        state.ranking.finished = self.apply_ranking

    # Events ---------------------------------------------------------------------------------------------------------------
    def tick(self, now: float | None) -> float:
        """The time of an event that happens now."""
        self.state.check_open()
        now = self.clock() if now is None else validation.seconds(now, "now must be")
        progress = self.state.progress
        if now + self.shift < progress.now:
            self.shift = progress.now - now
        progress.now = now + self.shift
        return progress.now

    def from_now(self, seconds: float, now: float | None) -> float:
        return seconds + (self.clock() if now is None else validation.seconds(now, "now must be"))

    def now(self) -> float:
        """What time it is for the crawl: nothing may have happened in it for a while."""
        return max(self.state.progress.now, self.clock() + self.shift)

    def record(self, event: Event) -> None:
        """One event, and the end of the pages that it put into full queues."""
        targets = capped_targets(self.state, event) if self.state.rules.hosts else {}
        self._record(event)
        for page in over_cap(self.state, targets) if targets else ():
            self._record(events.Failed(event.time, page, OVER_QUEUE_CAP))

    def _record(self, event: Event) -> None:
        """If it cannot be done, it is not kept: no log may fail when it is read again."""
        self.log.append(event.rows())
        try:
            self.state.apply(event)
        except Exception as error:
            why = f"the event {event.name!r} failed ({type(error).__name__}: {error}); recover the crawl to continue without it"
            self.log.broken = self.log.broken or why
            raise

    def write(self, kind: Callable[..., Event], now: float | None, *values: Any) -> None:
        """One event that happens now, acknowledged."""
        self.record(kind(self.tick(now), *values))
        self.acknowledge()

    def acknowledge(self) -> None:
        """The end of a call: its events survive this process, unless others are to share their commit."""
        if not self._open_blocks:
            self.log.acknowledge()
        rows = self.log.seq - self.snapshot_seq
        if rows < SNAPSHOT_ROWS:
            return
        known = self.state.known
        work = rows + known - self.snapshot_known
        since = time.monotonic() - self._snapshot_time
        if since >= SNAPSHOT_S or (work >= max(SNAPSHOT_WORK, known // SNAPSHOT_SHARE) and since >= SNAPSHOT_PAUSE_S):
            self.snapshot(wait=False)

    def commit(self) -> None:
        """As ``acknowledge``, for a call whose result somebody acts on at once."""
        if not self._open_blocks:
            self.log.commit()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All events inside share one commit, and are acknowledged by it. No other thread comes between them."""
        with self.state.lock:
            self.state.check_open()
            self._open_blocks += 1
            try:
                yield
            finally:
                self._open_blocks -= 1
                if not self._open_blocks:
                    self.log.commit()

    def settled(self, at: float) -> None:
        """A page is done with: a ranking may follow."""
        if self.state.ranking.due():
            self.rank(at)
        self.acknowledge()

    def check_leased(self, page: int) -> None:
        if self.state.frontier.mark(page) != LEASED:
            raise InputError(
                f"page {self.log.url(page)!r} was settled, but it is not leased; take it first, and settle it once"
            )

    def end_leases(self, now: float) -> None:
        """Pages whose lease has run out wait again."""
        for page in self.state.leases.expired(now):
            self.record(events.Expired(now, page))

    def expire_leases(self, now: float | None = None) -> None:
        """The same for a call that only looks."""
        if self.state.leases.may_expire and self.log.writable:
            self.end_leases(self.tick(now))
            self.acknowledge()

    # Rankings ---------------------------------------------------------------------------------------------------------------
    def rank(self, at: float) -> None:
        self.record(events.RankingBegun(at) if self.state.ranking.background else events.Rescored(at))

    def apply_ranking(self) -> None:
        """A ranking that was made beside the crawl has ended: its priorities hold part by part, others may call between."""
        while self._apply_ranking_part():
            time.sleep(0.001)

    @locked
    def _apply_ranking_part(self) -> bool:
        """Whether there is more to do."""
        ranking = self.state.ranking
        if not ranking.under_way or self.log.broken:
            return False
        if ranking.left:
            self.record(events.RankingHeld(self.tick(None), ranking.applied, min(PART, ranking.left)))
        else:
            self.record(events.RankingEnded(self.tick(None), ranking.good))
        self.log.commit()
        return ranking.under_way

    def ask(self, workload: Workload, now: float | None = None) -> None:
        """Searchers ask these queries from now on."""
        if "workload" not in self.log.notes:
            check_asked(self.state.policy)
        if not len(validation.workload(workload)) or not np.any(np.asarray(workload.frequency) > 0):
            raise InputError("a workload must have at least one query with a frequency above 0, got none")
        self.write(events.WorkloadChanged, now, workload)

    # Notes, snapshots, the end ----------------------------------------------------------------------------------------------
    @locked
    def note(self, key: str, value: Any) -> None:
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            raise InputError(f"what is noted must be JSON, got {value!r}") from None
        self.log.note(events.storable(validation.text(key, "the key of a note")), value)

    def snapshot(self, wait: bool) -> None:
        self._snapshot_time = time.monotonic()
        if self.log.seq != self.snapshot_seq and save_snapshot(self.state, wait):
            self.mark_saved(self.log.seq)

    def mark_saved(self, seq: int) -> None:
        """A snapshot has all events up to this one."""
        self.snapshot_seq, self.snapshot_known = seq, self.state.known

    @locked
    def close(self, max_s: float | None) -> None:
        """Leave a snapshot, unless it takes longer than that, and let the log go."""
        try:
            usable = self.log.writable and not self.log.broken and (max_s is None or max_s > 0)
            if usable and self.log.seq - self.snapshot_seq >= SNAPSHOT_ROWS:
                self.snapshot(wait=max_s is None)
        finally:
            self.ended.set()
            end_snapshot = getattr(self.log, "end_snapshot", None)  # of logs that write them beside the crawl
            if max_s is not None and end_snapshot is not None:
                end_snapshot(max_s)
            self.log.close()
