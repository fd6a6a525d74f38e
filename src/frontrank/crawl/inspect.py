"""What can be known of a crawl, and what a person asks of it. Nothing here is an event."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.crawl import status, validation
from frontrank.crawl.history import History
from frontrank.crawl.impacts import known_as
from frontrank.crawl.locking import locked
from frontrank.crawl.recorder import Recorder
from frontrank.crawl.state import CrawlState
from frontrank.frontiers.frontier import GONE, LATER, LEASED, WAITING


class Inspector:
    """``crawl.inspect``: a crawl as it is looked at."""

    def __init__(self, state: CrawlState, recorder: Recorder, resumed: bool = False) -> None:
        self.state, self._recorder = state, recorder
        self.resumed = resumed  # another process was at work on it before

    # Counts -----------------------------------------------------------------------------------------------------------------
    @property
    def known(self) -> int:
        """Pages whose name is known."""
        return self.state.known

    @property
    @locked
    def waiting(self) -> int:
        """Pages that wait to be taken, now or when a retry is due."""
        return self.state.frontier.counts.waiting

    @property
    def leased(self) -> int:
        return len(self.state.leases)

    @property
    def fetched_count(self) -> int:
        return self.state.progress.fetched

    @property
    def failed_count(self) -> int:
        return self.state.progress.failed

    @property
    def revisits(self) -> int:
        """Pages that arrived again."""
        return self.state.progress.revisits

    @property
    def unsaved(self) -> int:
        """Pages that became known since the last snapshot."""
        return self.state.known - (self._recorder.snapshot_known if self._recorder.snapshot_seq else 0)

    # Where it is and what it uses -------------------------------------------------------------------------------------------
    @property
    def folder(self) -> Path | None:
        """The directory of a durable crawl."""
        return self.state.log.folder

    @property
    def broken(self) -> str:
        """Why nothing can be stored any more; empty if all is well."""
        return self.state.log.broken

    @property
    def disk_full(self) -> bool:
        """Whether nothing can be stored because the disk has no room."""
        return bool(getattr(self.state.log, "disk_full", False))

    @property
    def reads_texts(self) -> bool:
        """Whether ``fetched`` has a use for titles and texts."""
        return self.state.reads_texts or self.state.ordering.has_scorers

    @property
    def snapshot_seq(self) -> int:
        """The last event that a snapshot has."""
        return self._recorder.snapshot_seq

    def now(self) -> float:
        """What time it is for the crawl."""
        return self.clock() + self.shift

    def clock(self) -> float:
        return self._recorder.clock()

    @property
    def shift(self) -> float:
        """By how much the crawl's time is ahead of the clock, which ran back."""
        return self._recorder.shift

    @property
    def history(self) -> History:
        """What happened so far, counted: for reports."""
        return History(self.state)

    def done(self) -> bool:
        """The ordering's own stopping rule holds."""
        return self.state.ordering.done()

    @locked
    def gauges(self) -> dict[str, float]:
        """What the ordering measures of itself, such as the share of PageRank that is covered."""
        return self.state.policy.gauges(self.state.ordering.columns)

    # One page ---------------------------------------------------------------------------------------------------------------
    @locked
    def mark(self, page: int) -> int:
        """Where a page is in its life: ABSENT, WAITING, LEASED, LATER or GONE of ``frontiers.frontier``."""
        return self.state.frontier.mark(self.state.pages.check(page))

    @locked
    def depth(self, page: int) -> int:
        """How many links lie between a seed and this page, on the way it was first discovered."""
        return int(self.state.pages.depths[self.state.pages.check(page)])

    @locked
    def completed(self, page: int) -> bool:
        return self.state.frontier.mark(self.state.pages.check(page)) == GONE

    @locked
    def due(self, page: int) -> float:
        """From when on a page may be taken: 0 if it waits, a time if it is scheduled or leased, infinity if it is done with."""
        self._recorder.expire_leases()
        mark = self.state.frontier.mark(page := self.state.pages.check(page))
        if mark in (LATER, LEASED):
            return self.state.frontier.due_at(page) if mark == LATER else self.state.leases.get(page, 0.0)
        return 0.0 if mark == WAITING else math.inf

    @locked
    def discovered_at(self, page: int) -> float:
        """When a page became known, to the second; 0 if the log does not say."""
        return self.state.log.born_at(self.state.pages.check(page))

    @locked
    def discovered_before(self, time: float) -> int:
        """How many pages, the first ones, became known before that time."""
        return self.state.log.born_before(validation.seconds(time, "pages must be counted before", finite=False))

    @locked
    def waiting_pages(self) -> list[int]:
        """All pages that wait, for their turn or for a retry, in the order of their numbers."""
        marks = self.state.frontier.marks(slice(0, self.state.known))
        return [int(page) for page in np.flatnonzero((marks == WAITING) | (marks == LATER))]

    @locked
    def unknown_urls(self, urls: Iterable[str]) -> list[str]:
        """Those that this crawl does not know."""
        return [url for url in validation.urls(urls, "a page") if known_as(self.state, url) < 0]

    # Hosts ------------------------------------------------------------------------------------------------------------------
    @locked
    def host_number(self, name: str) -> int:
        """The number of a host or queue, -1 if it is not known."""
        return self.state.hosts.find(name)

    @locked
    def group_of(self, name: str) -> str:
        """The queue in which the pages of a host or queue wait: that of its group, or its own."""
        return self.state.hosts.group_of(name)

    @locked
    def pace_of(self, host: str) -> tuple[str, float]:
        """The queue in which pages of a host wait, and the seconds between two requests to that queue."""
        hosts = self.state.hosts
        queue = hosts.group_of(hosts.grouped(host))
        number = hosts.find_cached(queue)
        if number < 0:
            return queue, self.state.politeness.delay_s
        return queue, self.state.frontier.delays(np.array([number]))[0]

    @locked
    def delays_of(self, pages: Sequence[int]) -> list[float]:
        """For each of these pages, the seconds between two requests to its queue."""
        numbers = np.array(self.state.pages.check_all(pages), np.int64)
        return self.state.frontier.delays(self.state.frontier.hosts_of(numbers))

    # What a person asks ---------------------------------------------------------------------------------------------------
    @locked
    def status(self) -> dict[str, Any]:
        """How far it is: pages fetched, waiting, leased, failed by reason, hosts, the next pages in their order."""
        return status.of(self.state, self._recorder.now())

    @locked
    def overview(self) -> dict[str, Any]:
        """The same but for failures by reason and the next pages, at a price that does not grow with the crawl's past."""
        return status.overview(self.state, self._recorder.now())

    @locked
    def score_distribution(self, bins: int = 40) -> dict[str, Any]:
        """How the priorities of waiting pages are distributed; of many pages, some are looked at."""
        return status.scores(self.state, validation.whole(bins, "bins", minimum=1))

    @locked
    def coverage(self) -> dict[str, Any]:
        """How much of what is known was fetched: pages, hosts, and pages by their depth."""
        return status.coverage(self.state)

    @locked
    def next(self, n: int = 20) -> list[dict[str, Any]]:
        """The next pages by priority: url, queue, priority, depth."""
        return status.upcoming(self.state, validation.whole(n, "n", of=" of pages"))

    @locked
    def pages(self, pages: Sequence[int]) -> list[dict[str, Any]]:
        """Where these pages are: url, queue, state, due, priority of those that wait, depth. Not forgotten ones."""
        return status.pages(self.state, self.state.pages.check_all(pages))

    @locked
    def hosts(self) -> list[dict[str, Any]]:
        """What is known of each host: name, pages waiting, leased and taken, limits, when it may be asked again."""
        return status.hosts(self.state)

    @locked
    def busiest_hosts(self, n: int) -> list[dict[str, Any]]:
        """The hosts with most pages in flight and waiting, without looking at all pages: for a screen."""
        return status.busiest(self.state, validation.whole(n, "n", of=" of hosts"))

    @locked
    def explain(self, url: str, queue: str | None = None) -> dict[str, Any]:
        """Why a page has its place in the order, and which fetched pages gave which part of its priority.

        ``queue``: which page of the URL, if it waits in several queues.
        """
        from frontrank.crawl.explain import explain

        return explain(self.state, url, queue)
