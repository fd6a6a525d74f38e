"""Seeds first: what the user named is fetched before what was discovered, within politeness and budget.

A seed has a priority in the frontier above all boosts, so it goes as soon as its host may be asked. This is an event, and
survives the process. Meanwhile pages of other hosts may go, but never into what the budget must keep for the seeds that
still wait. Nothing is kept for a seed that cannot go within ``MAX_WAIT_S``: its host is down, blocked, or has spent its budget.
What a seed redirects to stands in for it. URLs from sitemaps are no seeds in this sense.

A page settled is no seed any more: when it is fetched again, its ordering says when. The ordering itself sees seeds as ever.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from frontrank.frontiers.frontier import BEYOND, GONE, LATER, WAITING, key_of

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.crawler.options import Options
    from frontrank.kernels.jit import Array

PRIORITY = 2_000_000_000  # above what the boosts of 1,000 rules add up to
MAX_WAIT_S = 300.0  # of a seed for which budget is kept
SAMPLE = 10_000  # seeds that are looked at to see for how many budget is kept


class Seeds:
    """The seeds of one crawl that are still to be fetched."""

    def __init__(self, crawl: Crawl, options: Options) -> None:
        self.crawl, self.options = crawl, options
        self.next_at: float | None = None  # what is left of the budget is kept for seeds: when the first of them may go
        self._apply()
        pages = self._prioritised(np.arange(crawl.inspect.known, dtype=np.int32))
        self.open = dict.fromkeys(pages.tolist())  # an ordered set

    def _apply(self) -> None:
        """Give the seeds their priority, or end it, if this was not done before."""
        crawl, frontier = self.crawl, self.crawl.state.frontier
        pages = np.array([page for page in map(crawl.lookup, self.options.seeds) if page >= 0], np.int32)
        pages = pages[frontier.marks(pages) != GONE]
        if self.options.seeds_first:  # a priority that somebody has set stays
            crawl.control.prioritise_pages(pages[np.abs(frontier.keys(pages)) < BEYOND], PRIORITY)
        else:
            crawl.control.prioritise_pages(self._prioritised(np.arange(crawl.inspect.known, dtype=np.int32)), 0)

    def _prioritised(self, pages: Array) -> Array:
        """Those of these pages that go as seeds and are not done with."""
        frontier = self.crawl.state.frontier
        first = frontier.keys(pages) == key_of(PRIORITY)
        found: Array = pages[first & (frontier.marks(pages) != GONE)]
        return found

    def take(self, room: int, left: float) -> list[int]:
        """Take up to ``room`` pages; the budget has ``left`` more: seeds first, and others as far as no seed goes short."""
        crawl = self.crawl
        self.next_at = None
        if left - len(self.open) >= room:
            return crawl.take_pages(room)
        taken = crawl.queues.take_prioritised(room, PRIORITY)
        if len(taken) < room:
            now = crawl.inspect.now()
            waiting, at = self._waiting(now)
            spare = left - len(taken) - waiting
            if spare > 0:
                taken += crawl.take_pages(int(min(room - len(taken), spare)))
            else:  # a seed whose time has come waits for a page of its host to arrive
                self.next_at = at - crawl.inspect.shift if at > now else math.inf
        return taken

    def _waiting(self, now: float) -> tuple[int, float]:
        """How many seeds wait that can go soon (of very many, as a sample has it), and when the first of them can."""
        sample = np.fromiter(islice(self.open, SAMPLE), np.int32)
        times = self._free_at(sample)
        soon = times <= now + MAX_WAIT_S
        return math.ceil(soon.sum() * len(self.open) / max(sample.size, 1)), float(times[soon].min(initial=math.inf))

    def _free_at(self, pages: Array) -> Array:
        """When each of these may go, as far as time alone decides; infinity: it is leased, or its host has spent its budget."""
        frontier = self.crawl.state.frontier
        marks, own, hosts = frontier.marks(pages), frontier.hosts_of(pages), frontier.hosts()
        free = np.maximum(hosts["ready_at"], hosts["blocked"])
        for bound, used in (("budget", "taken"), ("limit", "done")):
            free[(hosts[bound] > 0) & (hosts[used] >= hosts[bound])] = math.inf
        times = np.where(np.isin(marks, (WAITING, LATER)), free[own], math.inf)
        for place in np.flatnonzero(marks == LATER).tolist():
            times[place] = max(times[place], frontier.due_at(int(pages[place])))
        return times

    def settled(self, page: int) -> None:
        """A page arrived, or did not; one that will be tried again is still to be fetched."""
        if page in self.open and self.crawl.state.ordering.is_fetched(page):
            del self.open[page]
            if self.options.revisit:
                self.crawl.control.prioritise(page, 0)

    def redirected(self, page: int, target: int) -> None:
        """Where a seed leads is fetched in its place."""
        if page in self.open and self.crawl.state.frontier.mark(target) != GONE and target not in self.open:
            self.open[target] = None
            self.crawl.control.prioritise(target, PRIORITY)
