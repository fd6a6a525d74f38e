"""A crawl at work: what the engine and the display share, and why it ends.

What was not followed is counted by reason. Counts are stored with the crawl every few seconds: after a kill those of the
last seconds are missing. Everything else that is told about a crawl comes from its journal, and is exact.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from frontrank.fetching.crawler.scope import OUT_OF_REACH
from frontrank.fetching.crawler.seeds import Seeds
from frontrank.fetching.crawler.traps import Traps
from frontrank.fetching.failures import NEVER_SENT
from frontrank.fetching.host_trouble import HostTrouble
from frontrank.pages.urls import host_of
from frontrank.simulation.plan import Stop

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.crawler.options import Options
    from frontrank.pages.warc_writer import Warc

NOTED_EVERY_S = 5.0
WORKED = "worked_s"  # a note: for how long the crawl has been at work, in all runs together
NOT_ASKED = (  # reasons for which a page was never asked for: they use up no budget
    *("robots.txt", "robots.txt unreachable", "private address", *NEVER_SENT),
    *("url too long", "bad url", "unsupported scheme", "not a URL"),
    *OUT_OF_REACH,
)

INTERRUPTED, BUDGET, TIME, RULE, EMPTY, FAILED = "interrupted", "budget", "time", "stopping rule", "frontier empty", "failed"
GIVEN_UP = "hosts given up"  # nothing else may be fetched: pages wait on hosts that do not answer


def asked_for(fetched: int, revisits: int, failures: Mapping[str, int]) -> int:
    """How many pages were asked for: those that came, or came back, and those that failed after they had been asked for."""
    return fetched + revisits + sum(count for reason, count in failures.items() if reason not in NOT_ASKED)


class Job:
    def __init__(self, crawl: Crawl, options: Options, warc: Warc | None) -> None:
        self.crawl, self.options, self.warc = crawl, options, warc
        self.counts: Counter[str] = Counter(crawl.notes.get("counts", {}))
        self.failures: Counter[str] = crawl.inspect.history.reasons()
        self.begun = time.monotonic()
        self.trouble = HostTrouble(lambda: crawl.state.politeness)
        self.settled_before = self.settled
        self.worked_before = float(crawl.notes.get(WORKED, 0.0))
        self.reading = options.sitemaps and "sitemaps" not in crawl.notes  # sitemaps
        self.held = self.reading  # nothing is taken yet: the hosts whose sitemaps come first are not known
        self.ended = ""  # why no more pages are taken
        self.error: Exception | None = None
        self.closed = False  # nothing is settled any more
        self.closers: list[Callable[[], None]] = []  # what is to be closed at the end, however it comes
        self.abandon: Callable[[], None] = lambda: None  # ends it without waiting for the pages that are out
        self.nudge: Callable[[], None] = lambda: None  # has the engine ask for the next page
        self.stop = Stop(until=options.until)
        self.seeds = Seeds(crawl, options)
        self.traps = Traps(crawl, options)
        self._noted = self.begun
        self._taken = -math.inf  # when the last page was taken

    def begin(self) -> None:
        """The time of this run counts from here: what was loaded before is not the crawl's."""
        self.begun = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.begun

    @property
    def settled(self) -> int:
        """Pages settled, revisits too."""
        return len(self.crawl.state.progress.order) - len(self.crawl.state.progress.reopened) + self.crawl.inspect.revisits

    @property
    def asked(self) -> int:
        """Pages settled that were asked for, revisits too: what the budget counts."""
        return asked_for(self.crawl.inspect.fetched_count, self.crawl.inspect.revisits, self.failures)

    def may_take(self) -> bool:
        """Whether another page may be taken; if not now or ever, the reason is kept."""
        if self.ended or self.held:
            return False
        crawl, options = self.crawl, self.options
        if options.budget and self.asked + crawl.inspect.leased >= options.budget:
            if self.asked >= options.budget:
                self.end(BUDGET)
            return False
        if crawl.inspect.done() or self.stop.holds(crawl.inspect.gauges):
            self.end(RULE)
        elif options.time_s and self.elapsed_s >= options.time_s:
            self.end(TIME)
        return not self.ended

    def room(self) -> int:
        """How many pages may be taken together."""
        if self.options.one_by_one:
            return 1
        room = self.options.in_flight - self.crawl.inspect.leased
        if self.options.budget:
            room = min(room, self.options.budget - self.asked - self.crawl.inspect.leased)
        return max(room, 1)

    def take(self) -> list[int]:
        """The next pages to fetch; ``may_take`` was asked."""
        left = self.options.budget - self.asked - self.crawl.inspect.leased if self.options.budget else math.inf
        return [page for page in self.seeds.take(self.room(), left) if not self._stands_back(page)]

    def _stands_back(self, page: int) -> bool:
        """Whether other pages of its host go first, as the host may be in trouble."""
        crawl = self.crawl
        host = crawl.inspect.group_of(host_of(crawl.url(page)))
        if (
            not self.trouble.has_failed(host, page)
            or not crawl.state.frontier.hosts(crawl.inspect.host_number(host))["waiting"][0]
        ):
            return False
        wait = self.trouble.stand_back_s(host, page)
        if wait:
            with crawl.together():
                crawl.give_back([page])
                crawl.queues.schedule(page, crawl.inspect.clock() + wait)
        return wait > 0

    def next_at(self) -> float | None:
        """When another page may be taken; None if none ever may."""
        return self.crawl.next_at() if self.seeds.next_at is None else self.seeds.next_at

    def page_settled(self, page: int) -> None:
        """A page arrived, or did not."""
        self.seeds.settled(page)

    def took(self) -> None:
        self._taken = time.monotonic()

    def wait_s(self) -> float:
        """How long the next page still waits for the one before it: with a goal, best first goes before fast.

        Were pages of other hosts taken while the best one's host rests, a small budget would be spent on them.
        """
        if not self.options.one_by_one:
            return 0.0
        return math.inf if self.crawl.inspect.leased else max(0.0, self._taken + self.options.delay - time.monotonic())

    def goes_on(self) -> bool:
        """Whether pages are out, or one may go now or later."""
        if self.error is not None:
            return False
        if self.crawl.inspect.leased or (self.reading and not self.ended):
            return True
        return self.may_take() and self.crawl.next_at() is not None

    def end(self, reason: str) -> None:
        """Take no more pages; those that are out still arrive."""
        self.ended = self.ended or reason
        self.held = False
        self.nudge()

    def fail(self, error: Exception) -> None:
        """The crawl cannot go on: nothing can be stored any more, or a part of it is broken."""
        self.error = self.error or error
        self.end(FAILED)

    def lost(self, reason: str) -> None:
        """A page failed for good."""
        self.failures[reason] += 1

    def count(self, reason: str, times: int = 1) -> None:
        """A link was not followed."""
        self.counts[reason] += times

    def note(self, now: bool = False) -> None:
        """Store the counts, if it was not done just now."""
        if now or time.monotonic() - self._noted >= NOTED_EVERY_S:
            self._noted = time.monotonic()
            self.crawl.note("counts", dict(self.counts))
            self.crawl.note(WORKED, self.worked_before + self.elapsed_s)
