"""A crawl as a service sees it: URLs that are told by whoever fetches, in queues that have names, with times to come.

A fetcher elsewhere says of each link that it found: this URL, found on that page. The links of a page lie ready until the page
itself is reported, then the ordering sees them together, as if the page had been fetched here. A page that is not known, or not
leased, may be reported all the same: whoever fetches knows best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from frontrank.crawl import events, status
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
    queues: int = 0
    active_queues: int = 0  # that have pages which are not completed

    @property
    def active(self) -> int:
        return self.waiting + self.scheduled + self.leased

    @property
    def known(self) -> int:
        return self.active + self.completed


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
        known, hosts = urls, None
        if queues is not None:
            hosts = [host_of(url) for url in urls]
            known = [name_of(*one) for one in zip(urls, queues, hosts, strict=True)]
        pages = self._pages(urls, names.fingerprints(known), queues, hosts)
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
        self._end_leases()
        host = self.find_host(name)
        counts = None if host < 0 else self._counted(self.frontier.hosts(host))
        return counts if counts and counts.known else None

    @alone
    def counts(self) -> QueueCounts:
        """The same for all queues together."""
        self._end_leases()
        return self._counted(self.frontier.hosts())

    @alone
    def queues(self, inactive: bool = False, now: float | None = None) -> list[str]:
        """The names of queues, in the order in which they became known; without ``inactive``, of those with pages to come
        that are not blocked."""
        self._end_leases(now)
        hosts = self.frontier.hosts()
        active = hosts["waiting"] + hosts["later"] + hosts["leased"]
        at = self.clock() if now is None else now
        shown = active + hosts["done"] > 0 if inactive else (active > 0) & (hosts["blocked"] < at + self.shift)
        return status.host_names(self, np.flatnonzero(shown).tolist())

    def _counted(self, hosts: Array) -> QueueCounts:
        active = hosts["waiting"] + hosts["later"] + hosts["leased"]
        pages = (int(hosts[name].sum()) for name in ("waiting", "later", "leased", "done"))
        waiting, scheduled, leased, completed = pages
        return QueueCounts(
            waiting, scheduled, leased, completed, int((active + hosts["done"] > 0).sum()), int((active > 0).sum())
        )

    def _end_leases(self, now: float | None = None) -> None:
        """Pages whose lease has run out wait again, also for whoever only looks."""
        if self._lease_ends and self.log.writable:
            self._expire_due(self._tick(now))
            self._acknowledge()

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
        self._end_leases()
        mark = self.frontier.mark(page)
        if mark in (LATER, LEASED):
            return self.frontier.due_at(page) if mark == LATER else self.leases.get(page, 0.0)
        return 0.0 if mark == WAITING else math.inf

    @alone
    def completed(self, page: int) -> bool:
        return self.frontier.mark(page) == GONE

    @alone
    def born(self, page: int) -> float:
        """When a page became known, to the second; 0 if nobody said."""
        return self.log.born_at(page)

    @alone
    def born_before(self, time: float) -> int:
        """How many pages, the first ones, became known before that time."""
        return self.log.born_before(time)

    # What is kept with pages ------------------------------------------------------------------------------------------------
    @alone
    def attach_all(self, payloads: Mapping[int, bytes]) -> None:
        """Keep something with each of these pages. It is acknowledged with the next event."""
        self.holds_payloads = self.holds_payloads or bool(payloads)
        self.log.attach_all(payloads)

    @alone
    def attached_all(self, pages: Sequence[int]) -> dict[int, bytes]:
        return self.log.attached_all(pages)
