"""A crawl at work: what its fetch loop and its display share, and why it ends.

What was not followed is counted by reason. Counts are stored with the crawl every few seconds: after a kill those of the
last seconds are missing. Everything else that is told about a crawl comes from its journal, and is exact.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from frontrank.errors import FrontrankError, StorageError
from frontrank.fetching.counting import requested_pages
from frontrank.fetching.crawler.seeds import Seeds
from frontrank.fetching.crawler.traps import Traps
from frontrank.fetching.end_reason import EndReason
from frontrank.fetching.host_trouble import HostTrouble
from frontrank.kernels.compiling import compiling_s
from frontrank.simulation.plan import Stop

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.exports.live import LiveExport
    from frontrank.fetching.crawler.options import Options
    from frontrank.pages.warc_writer import Warc

logger = logging.getLogger("frontrank.fetching.crawler")

NOTED_EVERY_S = 5.0
WORKED = "worked_s"  # a note: for how long the crawl has been at work, in all runs together


class Job:
    def __init__(self, crawl: Crawl, options: Options, warc: Warc | None, export: LiveExport | None = None) -> None:
        self.crawl, self.options, self.warc, self.export = crawl, options, warc, export
        self.counts: Counter[str] = Counter(crawl.notes.get("counts", {}))
        self.failures: Counter[str] = crawl.inspect.history.reasons()
        self.begun, self.compiled_before = time.monotonic(), compiling_s()
        self.trouble = HostTrouble(lambda: crawl.state.politeness, has_answered=self._has_answered)
        self.settled_before = self.settled
        self.worked_before = float(crawl.notes.get(WORKED, 0.0))
        self.reading = options.sitemaps and "sitemaps" not in crawl.notes  # sitemaps
        self.on_hold = self.reading  # nothing is taken yet: the hosts whose sitemaps come first are not known
        self.ended: EndReason | None = None  # why no more pages are taken
        self.error: BaseException | None = None
        self.closed = False  # nothing is settled any more
        self.closers: list[Callable[[], None]] = []  # what is to be closed at the end, however it comes
        self.abandon: Callable[[], None] = lambda: None  # ends it without waiting for the pages in flight
        self.wake: Callable[[], None] = lambda: None  # has the fetch loop ask for the next page
        self.stop = Stop(until=options.until)
        self.seeds = Seeds(crawl, options)
        self.traps = Traps(crawl, options)
        self._noted = self.begun
        self._taken_at = -math.inf  # when a page was last taken

    def _has_answered(self, host: str) -> bool:
        number = self.crawl.inspect.host_number(host)
        return number >= 0 and bool(self.crawl.state.frontier.hosts(number)["done"][0])

    def begin(self) -> None:
        """The time of this run counts from here: what was loaded before is not the crawl's."""
        self.begun, self.compiled_before = time.monotonic(), compiling_s()

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.begun

    @property
    def fetching_s(self) -> float:
        """The time of this run without that for compiling: what a pace is reckoned by."""
        return max(0.0, self.elapsed_s - (compiling_s() - self.compiled_before))

    @property
    def settled(self) -> int:
        """Pages settled, revisits too."""
        return len(self.crawl.state.progress.order) - len(self.crawl.state.progress.reopened) + self.crawl.inspect.revisits

    @property
    def asked(self) -> int:
        """Pages settled that were asked for, revisits too: what the budget counts."""
        return requested_pages(self.crawl.inspect.fetched_count, self.crawl.inspect.revisits, self.failures)

    def may_take(self) -> bool:
        """Whether another page may be taken; if not now or ever, the reason is kept."""
        if self.ended or self.on_hold:
            return False
        crawl, options = self.crawl, self.options
        if options.budget and self.asked + crawl.inspect.leased >= options.budget:
            if self.asked >= options.budget:
                self.end(EndReason.BUDGET)
            return False
        if crawl.inspect.done() or self.stop.holds(crawl.inspect.gauges):
            self.end(EndReason.RULE)
        elif options.time_s and self.elapsed_s >= options.time_s:
            self.end(EndReason.TIME)
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
        pages = self.seeds.take(self.room(), left)
        if pages:
            self._taken_at = time.monotonic()
        return pages

    def next_at(self) -> float | None:
        """When another page may be taken; None if none ever may."""
        return self.crawl.next_at() if self.seeds.next_at is None else self.seeds.next_at

    def wait_s(self) -> float:
        """How long the next page still waits for the one before it: with a goal, best first goes before fast.

        Were pages of other hosts taken while the best one's host rests, a small budget would be spent on them.
        """
        if not self.options.one_by_one:
            return 0.0
        return math.inf if self.crawl.inspect.leased else max(0.0, self._taken_at + self.options.delay - time.monotonic())

    def has_work(self) -> bool:
        """Whether pages are in flight, or one may be taken now or later."""
        if self.error is not None:
            return False
        if self.crawl.inspect.leased or (self.reading and not self.ended):
            return True
        return self.may_take() and self.crawl.next_at() is not None

    def end(self, reason: EndReason) -> None:
        """Take no more pages; those in flight still arrive."""
        self.ended = self.ended or reason
        self.on_hold = False
        self.wake()

    def fail(self, error: BaseException) -> None:
        """End: nothing can be stored any more, or there is a defect, and to continue might be in a wrong order."""
        if isinstance(error, OSError):
            error = StorageError(f"the crawl cannot be stored ({error.strerror or error}); fix this, then resume it")
        elif not isinstance(error, FrontrankError):
            logger.error("a page cannot be handled", exc_info=error, extra={"job": self})
        self.error = self.error or error
        self.end(EndReason.FAILED)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Whatever goes wrong ends the crawl."""
        try:
            yield
        except Exception as error:
            self.fail(error)

    def record_failure(self, reason: str) -> None:
        """A page failed for good."""
        self.failures[reason] += 1

    def count(self, reason: str, times: int = 1) -> None:
        """A link was not followed."""
        self.counts[reason] += times

    def sync_files(self) -> None:
        """What events refer to is on the disk before they are."""
        for file in (self.warc, self.export):
            if file is not None:
                file.sync()

    def close_files(self) -> None:
        for file in (self.warc, self.export):
            if file is not None:
                file.close()

    def note(self, now: bool = False) -> None:
        """Store the counts, if it was not done just now."""
        if now or time.monotonic() - self._noted >= NOTED_EVERY_S:
            self._noted = time.monotonic()
            self.crawl.note("counts", dict(self.counts))
            self.crawl.note(WORKED, self.worked_before + self.elapsed_s)
