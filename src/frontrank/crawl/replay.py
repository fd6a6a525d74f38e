"""Replay: the events of a log, applied to a state again.

It is a loop over ``CrawlState.apply``. Stretches of the most frequent events run as one kernel over many rows, which is an
optimisation of the same: both restore, bit for bit, what the crawl had: columns of the ordering, priorities, which pages wait
or are leased, delays of hosts, attempts and retries.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from frontrank.crawl import events
from frontrank.crawl.drivers import Fused
from frontrank.crawl.events import Expired, Failed, Fetched, Rescored, Retried, Taken
from frontrank.crawl.integrity import check_rows, columns_of
from frontrank.crawl.journal import VERSION
from frontrank.crawl.log import Log, Row
from frontrank.crawl.state import CrawlState
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy

BATCH = 20_000  # rows applied together, URLs read together
QUICK = (Taken.kind, Fetched.kind, Failed.kind, Retried.kind, Expired.kind)  # what the kernel applies
_paused, _pausing = 0, threading.Lock()  # replays under way without collections: threads of a service open crawls at once
COUNTLESS = 2  # the first format in which each ranking is a row
COUNTED = "rankings_by_count_until"  # a note: format 1 has no rows for rankings, they follow from counting


@contextmanager
def no_collections() -> Iterator[None]:
    """Millions of rows come and go, none in a cycle: looking for cycles among them takes a quarter of the time."""
    global _paused
    with _pausing:
        if gc.isenabled() or _paused:  # else somebody else has turned it off, and it stays so
            _paused += 1
        counted = _paused > 0
        gc.disable()
    try:
        yield
    finally:
        with _pausing:
            _paused -= counted
            if counted and not _paused:
                gc.enable()


def replay(state: CrawlState, log: Log, after: int = 0, fused: bool = True, names_of: CrawlState | None = None) -> None:
    """Apply all events after this row; without ``fused``, one by one."""
    take_names(state, log, names_of)
    player = LogReplay(state, log.notes, fused)
    for rows in log.rows(after, BATCH):
        player.batch(rows)
    state.leases.sort()


def replay_names(state: CrawlState, log: Log) -> None:
    """Number all pages that became known since."""
    for urls, keys in log.urls(state.known, BATCH):
        first = state.known
        state.add_pages(state.pages.intern_stored(urls, np.array(keys, np.int64), log.queues(first, first + len(urls))))


def take_names(state: CrawlState, log: Log, other: CrawlState | None) -> None:
    """Number all pages as another crawl of the same log has them: reading their names is most of what a replay costs.

    Orderings that read URLs, and pages in queues of their own, need the names all the same.
    """
    needed = state.needs | state.policy.optional_needs()
    plain = not needed & {"urls", "truth"} and type(state.policy).see_pages is Policy.see_pages
    if other is not None and plain and not (state.known or other.hosts.joined or other.log.queues(0, other.known)):
        queues = other.frontier.hosts_of(slice(0, other.known))
        state.pages.copy_names(other.pages)
        state.make_room()
        state.frontier.place(0, queues)
        if "hosts" in needed:
            state.ordering.columns.host[: state.known] = queues
    replay_names(state, log)


class LogReplay:
    """Stretches of rows that the kernel applies, and between them what needs Python."""

    def __init__(self, state: CrawlState, notes: dict[str, Any], fused: bool) -> None:
        self.state = state
        driver = state.driver
        self.fused = driver if fused and isinstance(driver, Fused) and not state.policy.stepwise() else None
        self.interval = state.policy.interval()
        self.counted = notes.get(COUNTED, 0) if notes.get("version", VERSION) >= COUNTLESS else np.inf
        self.seeds: list[Row] = []

    def batch(self, rows: list[Row]) -> None:
        """Apply these rows: the kernel's in stretches that end where Python is needed, or a ranking follows by counting."""
        columns = check_rows(self.state.log.folder or "the log", rows, self.state.known)
        if (single := events.apart(rows)) is not rows:
            rows, columns = single, columns_of(single)
        kinds, pages, times = columns[0], columns[1].astype(np.int32), columns[2]
        ranks = self._ranks(rows, kinds)
        slow = ~np.isin(kinds, QUICK) | self._again(rows, kinds, pages) if self.fused else np.ones(len(rows), bool)
        begin = 0
        for end in np.flatnonzero(ranks | slow).tolist():
            stop = end if slow[end] else end + 1
            self._stretch(rows[begin:stop], kinds[begin:stop], pages[begin:stop], times[begin:stop])
            if slow[end]:
                self._slow(rows[end])
            if ranks[end]:
                self.state.apply(Rescored(rows[end].time))
            begin = end + 1
        self._stretch(rows[begin:], kinds[begin:], pages[begin:], times[begin:])
        progress = self.state.progress
        progress.now = max(progress.now, rows[-1].time)

    def _again(self, rows: list[Row], kinds: Array, all_pages: Array) -> Array:
        """Pages that were there before or will be again, and all while rules count what is taken: one by one."""
        settles = np.flatnonzero((kinds == Fetched.kind) | (kinds == Failed.kind))
        pages = all_pages[settles]
        found = np.zeros(len(rows), bool)
        if self.state.rules or events.RuleSet.kind in kinds:
            found[:] = True
        elif len(pages):
            _, first = np.unique(pages, return_index=True)
            later = np.ones(len(pages), bool)
            later[first] = False
            later |= self.state.ordering.columns.fetched[pages] > 0
            found[settles] = later
            found[[place for place in settles.tolist() if rows[place].until is not None]] = True
        return found

    def _ranks(self, rows: list[Row], kinds: Array) -> Array:
        """After which rows a ranking follows although no row says so."""
        settles = (kinds == Fetched.kind) | (kinds == Failed.kind)
        if not self.interval or rows[0].seq > self.counted:
            return np.zeros(len(rows), bool)
        settled = len(self.state.progress.order) + np.cumsum(settles)
        early = np.array([row.seq for row in rows]) <= self.counted
        return np.asarray(settles & early & (settled % self.interval == 0))

    def _slow(self, row: Row) -> None:
        self.seeds.append(row)
        for event in events.read_events(self.seeds):
            if not (isinstance(event, Rescored) and not self.interval):
                self.state.apply(event)
            self.seeds = []
        if row.kind != events.Seeded.kind:
            self.seeds = []

    def _stretch(self, rows: list[Row], kinds: Array, pages: Array, times: Array) -> None:
        if not rows:
            return
        fused = self.fused
        assert fused is not None
        fetched = np.flatnonzero(kinds == Fetched.kind)
        self._see_all([rows[place] for place in fetched.tolist()], pages[fetched])
        self._remember(fused.frontier, rows, kinds, pages)
        fused.replay(self.state, kinds, pages, times)

    def _see_all(self, fetched: list[Row], pages: Array) -> None:
        """What the fetched pages had."""
        state = self.state
        blobs = [row.links or b"" for row in fetched]
        targets = np.frombuffer(b"".join(blobs), "<i4")
        lengths = np.array([len(blob) // 4 for blob in blobs], np.int64)
        state.ordering.expect(len(targets), int(lengths.max(initial=0)))
        values: list[float] = []
        if state.links.reads_anchors:
            words = [word for row, length in zip(fetched, lengths.tolist(), strict=True) for word in _anchors(row, length)]
            values = [state.policy.anchor_value(word) for word in words]
        state.links.put_all(pages, lengths, targets, values)
        if state.demand.searchers is not None:
            for row, length in zip(fetched, lengths.tolist(), strict=True):
                state.demand.searchers.note(row.page, row.title or "", _anchors(row, length), length)
        if "texts" in state.needs:
            for row, text in zip(fetched, state.log.texts(pages.tolist()), strict=True):
                state.ordering.see_text(row.page, row.title or "", text)
        if "scores" in state.needs:
            for row in fetched:
                state.ordering.see_scores(row.page, events.parts_of_note(row.note)[0])
        if state.demand.impacts.size:
            for row in fetched:
                state.demand.see_impact(row.page, row.impact or None)

    def _remember(self, frontier: PoliteFrontier, rows: list[Row], kinds: Array, pages: Array) -> None:
        """Leases, attempts, retries and the order, as these rows leave them."""
        state, leases = self.state, self.state.leases
        for place in np.flatnonzero(kinds == Retried.kind).tolist():
            event = Retried.of(rows[place])
            leases.attempts[event.page] = event.attempt
            frontier.due.put(event.page, event.until)
        _, back = np.unique(pages[::-1], return_index=True)
        last = len(rows) - 1 - back  # of each page
        if frontier.is_timed:
            for page in pages[last[kinds[last] != Retried.kind]].tolist():
                frontier.undue(page)
        leases.end_all(pages)
        for place in np.sort(last[kinds[last] == Taken.kind]).tolist():
            row = rows[place]
            leases.add_unsorted(row.page, row.time + state.politeness.lease_s if row.until is None else row.until)
        settled = (kinds == Fetched.kind) | (kinds == Failed.kind)
        state.progress.settle_all(pages[settled], int((kinds == Failed.kind).sum()))
        if leases.attempts or state.pending:
            for page in pages[settled].tolist():
                leases.attempts.pop(page, None)
                state.pending.pop(page)


def _anchors(row: Row, length: int) -> list[str]:
    return events.anchors_of(row) or [""] * length
