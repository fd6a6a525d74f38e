"""A crawl as a service sees it: URLs that are told by whoever fetches, in queues that have names, with times to come.

A fetcher elsewhere says of each link that it found: this URL, found on that page. The links of a page lie ready until the page
itself is reported, then the ordering sees them together, as if the page had been fetched here. A page that is not known, or not
leased, may be reported all the same: whoever fetches knows best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from frontrank.crawl import events
from frontrank.crawl.control import Control
from frontrank.crawl.live import alone
from frontrank.crawl.pages import name_of
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED, WAITING
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of


class QueueCounts(NamedTuple):
    """Pages of one queue, or of all."""

    waiting: int = 0
    scheduled: int = 0
    leased: int = 0
    completed: int = 0

    @property
    def active(self) -> int:
        return self.waiting + self.scheduled + self.leased


class Queues(Control):
    """What fetchers elsewhere say, and ask for."""

    @alone
    def discover(
        self,
        urls: Sequence[str],
        parent: str | None = None,
        anchors: Sequence[str] = (),
        queues: Sequence[str | None] | None = None,
        now: float | None = None,
    ) -> list[bool]:
        """A page links to these URLs; or, without a parent, somebody names them. True for each that was not known before.

        They wait at once. Links of a page that has not arrived yet are ranked once it has; until then, what nobody else
        links to waits behind all that are ranked. ``queues``: the names of the queues they wait in, None for that of the host.
        """
        page = -1 if parent is None else self.page(parent)
        fresh: list[bool] = self.discover_pages(urls, page, anchors, queues, now)[1].tolist()
        return fresh

    @alone
    def discover_pages(
        self,
        urls: Sequence[str],
        parent: int = -1,
        anchors: Sequence[str] = (),
        queues: Sequence[str | None] | None = None,
        now: float | None = None,
    ) -> tuple[Array, Array]:
        """The same by the number of the parent; returns the numbers of the pages, and which of them are new."""
        if anchors and len(anchors) != len(urls):
            raise InputError(f"there must be one anchor for each of {len(urls)} URLs, got {len(anchors)}")
        at = self._tick(now)
        known = urls if queues is None else [name_of(url, queue) for url, queue in zip(urls, queues, strict=True)]
        pages = self._pages(urls, names.fingerprints(known), queues)
        fresh = np.isin(self.frontier.marks(pages), (ABSENT, FORGOTTEN))
        _, first = np.unique(pages, return_index=True)
        if len(first) < len(pages):
            again = np.ones(len(pages), bool)
            again[first] = False
            fresh &= ~again
        told = fresh if parent < 0 else pages != parent
        if told.any():
            words = [anchor for anchor, one in zip(anchors, told.tolist(), strict=True) if one] if anchors else ()
            self._do(events.Discovered(at, parent, pages[told], [" ".join(word.split("\n")) for word in words]))
        self._acknowledge()
        return pages, fresh

    @alone
    def schedule_page(self, page: int, at: float, now: float | None = None) -> None:
        """A page waits, again or at first, from this time on; infinity: until it is scheduled anew. No lease of it holds on."""
        if math.isnan(at):
            raise InputError(f"a page must be scheduled for a time in seconds, got {at}")
        self._do(events.Scheduled(self._tick(now), page, at))
        self._acknowledge()

    @alone
    def forget_pages(self, pages: Iterable[int], now: float | None = None) -> int:
        """As if these pages had never been heard of: they may be discovered anew. Returns how many there were."""
        there = [page for page in pages if self.frontier.mark(page) not in (ABSENT, FORGOTTEN)]
        if there:
            self._do(events.Forgotten(self._tick(now), np.array(there, np.int32)))
            for page in there:
                self.log.detach(page)
        self._acknowledge()
        return len(there)

    @alone
    def take_queues(
        self,
        queues: int = 0,
        per_queue: int = 0,
        *,
        lease_s: float | None = None,
        queue: str | None = None,
        now: float | None = None,
    ) -> list[int]:
        """Pages of up to so many queues, up to so many of each, the queue with the best page first; 0 is any number.

        Several pages of one queue go as one request: its delay follows. A queue of which ``per_queue`` pages are out is passed
        over. ``queue``: of this one alone. They are leased for ``lease_s`` seconds.
        """
        at = self._tick(now)
        if not self._may_take(at):
            return []
        host = -1 if queue is None else self.find_host(queue)
        if queue is not None and host < 0:
            return []
        until = None if lease_s is None else at + lease_s
        taken = self._taken(self.frontier.take_queues(at, queues, per_queue, host), at, until)
        if taken and not self._held:
            self.log.commit()
        return taken

    # What is known of queues ------------------------------------------------------------------------------------------------
    @alone
    def queue_counts(self, name: str) -> QueueCounts | None:
        """How many pages of a queue wait, are scheduled, leased, completed; None if there is no such queue."""
        host = self.find_host(name)
        return None if host < 0 else self._counted(self.frontier.hosts(host))

    @alone
    def counts(self) -> QueueCounts:
        """The same for all queues together."""
        return self._counted(self.frontier.hosts())

    def _counted(self, hosts: Array) -> QueueCounts:
        return QueueCounts(*(int(hosts[name].sum()) for name in ("waiting", "later", "leased", "done")))

    @alone
    def queue_of(self, page: int) -> str:
        """The name of the queue that a page waits in."""
        return self.log.queues(page, page + 1).get(page) or host_of(self.log.url(page))

    @alone
    def names(self, pages: Sequence[int]) -> list[tuple[str, str]]:
        """URL and queue of each of these pages."""
        return [(url, queue or host_of(url)) for url, queue in self.log.names(pages)]

    @alone
    def pages_of(self, queue: str | None = None) -> Array:
        """The numbers of all pages that are known (of a queue), but for those that nobody has found or named yet."""
        marks, host = self.frontier.marks(slice(0, self.known)), -1 if queue is None else self.find_host(queue)
        there = (marks != ABSENT) & (marks != FORGOTTEN)
        if queue is not None:
            there &= self.frontier.hosts_of(slice(0, self.known)) == host
        return np.flatnonzero(there)

    @alone
    def due(self, page: int) -> float:
        """From when on a page may be taken: 0 if it waits, a time if it is scheduled or leased, infinity if it is done with."""
        mark = self.frontier.mark(page)
        if mark in (LATER, LEASED):
            return self.frontier.due.at(page) if mark == LATER else self.leases.get(page, 0.0)
        return 0.0 if mark == WAITING else math.inf

    @alone
    def completed(self, page: int) -> bool:
        return self.frontier.mark(page) == GONE
