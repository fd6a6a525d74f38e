"""A crawl as a service sees it: URLs that are told by whoever fetches, in queues that have names, with times to come.

A fetcher elsewhere says of each link that it found: this URL, found on that page. The links of a page lie ready until the page
itself is reported, then the ordering sees them together, as if the page had been fetched here. A page that is not known, or not
leased, may be reported all the same: whoever fetches knows best.

A page is known by its URL and its queue. Links name the page on which they were found by its URL alone: it is looked for in all
queues, and what was told of a URL belongs to whichever page of it is reported first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl import events, given, status
from frontrank.crawl.control import MAX_HELD, Control
from frontrank.crawl.live import alone
from frontrank.crawl.pages import name_of, queue_of
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED, WAITING
from frontrank.frontiers.polite_frontier import MAX_TAKEN
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


STANDING = {LEASED: 2, WAITING: 1, LATER: 1, GONE: 1, ABSENT: 0, FORGOTTEN: 0}  # of several pages of a URL, which is meant


class Queues(Control):
    """What fetchers elsewhere say, and ask for."""

    # Which page is meant ----------------------------------------------------------------------------------------------------
    @alone
    def pages_named(self, url: str) -> list[int]:
        """All pages of this URL: the one in its host's queue first, then those in queues of their own, the last named first."""
        page = self.find(url)
        own = [page] if page >= 0 else []
        return own + self.elsewhere.find(names.fingerprint(url)) if len(self.elsewhere) else own

    @alone
    def find_page(self, url: str, queue: str | None = None) -> int:
        """The page of this URL in this queue; without one, whatever its queue: the one that is out, else one that is there.

        -1 if there is none.
        """
        if queue is not None:
            page = self.number(url, queue)
            if page >= 0:
                return page
            for page in self.pages_named(url):  # those of a group of hosts are known by another name
                named = self.names([page])[0][1]
                if queue in (named, self.group_of(named)):
                    return page
            return -1
        if not self.elsewhere:
            return Control.find(self, url)
        found = self.pages_named(url)
        return max(found, key=lambda page: STANDING[self.frontier.mark(page)], default=-1)

    @alone
    def parent_page(self, url: str) -> int:
        """The page on which links were found; if nobody has named it yet, it is known from now on."""
        page = self.find_page(url)
        return page if page >= 0 else self.page(url)

    # What is told -----------------------------------------------------------------------------------------------------------
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
        page = -1 if parent is None else self.parent_page(given.url(parent, "a parent"))
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
        urls = given.urls(urls, "a link")
        anchors = given.texts(anchors, "an anchor")
        if not isinstance(parent, int) or parent != -1:
            parent = self.check_page(parent)
        if anchors and len(anchors) != len(urls):
            raise InputError(f"there must be one anchor for each of {len(urls)} URLs, got {len(anchors)}")
        at = self._tick(now)
        known, hosts = urls, None
        if queues is not None:
            queues = _queues(queues, len(urls))
            hosts = [host_of(url) for url in urls]
            known = [name_of(*one) for one in zip(urls, queues, hosts, strict=True)]
        pages = self._pages(urls, names.fingerprints(known), queues, hosts)
        marks = self.frontier.marks(pages)
        fresh = (marks == ABSENT) | (marks == FORGOTTEN)
        if len(set(pages.tolist())) < len(pages):
            again = np.ones(len(pages), bool)
            again[np.unique(pages, return_index=True)[1]] = False
            fresh &= ~again
        told = fresh if parent < 0 else pages != parent
        if told.any():
            words = [anchor for anchor, one in zip(anchors, told.tolist(), strict=True) if one] if anchors else ()
            self._do(events.Discovered(at, parent, pages[told], [" ".join(word.split("\n")) for word in words]))
            if excess := self.pending.excess(self.leases):
                self._do(events.Retold(at, np.array(excess, np.int32)))
        self._acknowledge()
        return pages, fresh

    # What is reported -------------------------------------------------------------------------------------------------------
    @alone
    def report_page(self, page: int, *, status: int = 200, again_at: float | None = None, now: float | None = None) -> None:
        """A page was fetched elsewhere, leased or not; its links are those that ``discover`` was told of its URL.

        304 is for a page that was fetched before, and is as it was; of another one it says nothing.
        """
        if again_at is not None:
            again_at = given.seconds(again_at, "a page must be fetched again at")
        page = self.check_page(page)
        status, at = given.whole(status, "the status of a page"), self._tick(now)
        self._gather(page, at)
        links = {target: words for target, words in self.pending.get(page, {}).items() if target != page}
        targets, words = np.array(list(links), "<i4"), list(links.values()) if any(links.values()) else []
        known = status != events.UNCHANGED or bool(self.state.fetched[page])
        self._do(events.Fetched(at, page, targets, words, text="", status=status if known else 200, again_at=again_at))
        self._settled(at)

    @alone
    def report_failure(self, page: int, reason: str, *, again_at: float | None = None, now: float | None = None) -> None:
        """A page did not arrive elsewhere, leased or not: it failed for good, or is tried again at a time."""
        page = self.check_page(page)
        reason, at = given.text(reason, "a reason"), self._tick(now)
        if again_at is not None:
            again_at = given.seconds(again_at, "a page must be tried again at", finite=False)
        if again_at is None:
            self._do(events.Failed(at, page, reason))
            self._settled(at)
        elif self.frontier.mark(page) == LEASED:
            self._do(events.Retried(at, page, self.attempts.get(page, 0) + 1, again_at, reason))
            self._acknowledge()
        else:
            self.schedule_page(page, again_at, now)

    @alone
    def links_told(self, url: str) -> bool:
        """Whether somebody has told of links that were found on a page of this URL, which has not arrived."""
        return bool(self.pending) and any(page in self.pending for page in self.pages_named(url))

    def _gather(self, page: int, at: float) -> None:
        """What was told of other pages of the same URL is this one's."""
        if len(self.elsewhere):
            others = [one for one in self.pages_named(self.log.url(page)) if one != page and one in self.pending]
            if others:
                self._do(events.Retold(at, np.array(others, np.int32), page))

    @alone
    def schedule_page(self, page: int, at: float, now: float | None = None) -> None:
        """A page waits, again or at first, from this time on; infinity: until it is scheduled anew. No lease of it holds on."""
        at = given.seconds(at, "a page must be scheduled for", finite=False)
        page = self.check_page(page)
        self._do(events.Scheduled(self._tick(now), page, at))
        self._acknowledge()

    @alone
    def forget_pages(self, pages: Iterable[int], now: float | None = None) -> int:
        """As if these pages had never been heard of: they may be discovered anew. Returns how many there were."""
        pages = self.check_pages(pages)
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
        over. ``queue``: of this one alone. They are leased for ``lease_s`` seconds. With a share for revisits, what is taken of
        one queue at a time are either revisits, those due for longest first, or other pages.
        """
        at = self._tick(now)
        queues, per_queue = given.whole(queues, "queues"), given.whole(per_queue, "per_queue", of=" of pages")
        if lease_s is not None:
            lease_s = given.seconds(lease_s, "pages must be leased for")
        if not self._may_take(at):
            return []
        host = -1 if queue is None else self.find_host(queue)
        if queue is not None and host < 0:
            return []
        until = None if lease_s is None else at + lease_s
        seq = self.log.seq
        taken = self._taken_of_queues(at, queues, per_queue, host, until)
        if self.log.seq > seq and not self._held:
            self.log.commit()
        return taken

    def _taken_of_queues(self, at: float, queues: int, per_queue: int, host: int, until: float | None) -> list[int]:
        """Where families hold up pages, their queues are asked for the next ones: they have not been asked for anything."""
        allowed: list[int] = []
        gave: set[int] = set()
        tried = 0
        while tried <= MAX_HELD and not 0 < queues <= len(gave):
            drawn = self._draw_queues(at, queues - len(gave) if queues else 0, per_queue, host)
            if not self.rules.limiting:
                return self._taken(drawn, at, until)
            host_of = dict(zip(drawn, self.frontier.hosts_of(np.array(drawn, np.int64)).tolist(), strict=True))
            fresh = [page for page in drawn if host_of[page] not in gave]
            for page in drawn:
                if host_of[page] in gave:
                    self.frontier.back(page)  # a queue answers once
            some = self._taken(fresh, at, until)
            allowed += some
            gave.update(host_of[page] for page in some)
            tried += len(fresh)
            if len(some) == len(fresh) or self.rules.is_spent:
                break
        return allowed

    def _draw_queues(self, at: float, queues: int, per_queue: int, host: int) -> list[int]:
        """Pages of queues that may be asked now; with a share for revisits, one queue after the other."""
        share, counts, frontier = self.revisit_share, self._drawn, self.frontier
        if share is None:
            return frontier.take_queues(at, queues, per_queue, host)
        frontier.release(at, self.state.fetched)
        drawn: list[int] = []
        asked = 0
        while (asked == 0 if host >= 0 else not 0 < queues <= asked) and len(drawn) < MAX_TAKEN:
            owed = counts[1] < share * (counts[0] + 1)
            some = frontier.take_returning_queue(at, per_queue, host) if owed else []
            some = some or frontier.pop_queues(at, 1, per_queue, host)
            if not some and not owed:
                some = frontier.take_returning_queue(at, per_queue, host)
            if not some:
                break
            asked += 1
            counts[0] += len(some)
            counts[1] += int(self.state.fetched[some].sum())
            drawn += some
        return drawn

    # What is known of queues ------------------------------------------------------------------------------------------------
    @alone
    def queue_counts(self, name: str) -> QueueCounts | None:
        """How many pages of a queue wait, are scheduled, leased, completed; None if there is no such queue."""
        self._end_leases()
        host = self.find_host(name)
        if host >= 0 and self.group_of(name) != name:
            counts: QueueCounts | None = self._counted_part(name)
        else:
            counts = None if host < 0 else self._counted(self.frontier.hosts(host))
        return counts if counts and counts.known else None

    @alone
    def counts(self) -> QueueCounts:
        """The same for all queues together."""
        self._end_leases()
        return self._counted(self.frontier.hosts())

    @alone
    def queues(self, inactive: bool = False, now: float | None = None, *, start: int = 0, size: int | None = None) -> list[str]:
        """The names of queues, in the order in which they became known; without ``inactive``, of those with pages to come
        that are not blocked. ``start`` and ``size``: a part of them."""
        self._end_leases(now)
        hosts = self.frontier.hosts()
        active = hosts["waiting"] + hosts["later"] + hosts["leased"]
        at = self.clock() if now is None else given.seconds(now, "now must be")
        shown = active + hosts["done"] > 0 if inactive else (active > 0) & (hosts["blocked"] < at + self.shift)
        start = given.whole(start, "start")
        part = slice(start, None if size is None else start + given.whole(size, "size"))
        return status.host_names(self, np.flatnonzero(shown)[part].tolist())

    def _counted(self, hosts: Array) -> QueueCounts:
        active = hosts["waiting"] + hosts["later"] + hosts["leased"]
        pages = (int(hosts[name].sum()) for name in ("waiting", "later", "leased", "done"))
        waiting, scheduled, leased, completed = pages
        return QueueCounts(
            waiting, scheduled, leased, completed, int((active + hosts["done"] > 0).sum()), int((active > 0).sum())
        )

    def _counted_part(self, name: str) -> QueueCounts:
        """The pages of one host of a group."""
        marks = self.frontier.marks(self.pages_of(name)).tolist()
        waiting, scheduled, leased, completed = (marks.count(mark) for mark in (WAITING, LATER, LEASED, GONE))
        return QueueCounts(waiting, scheduled, leased, completed, int(bool(marks)), int(len(marks) > completed))

    def _end_leases(self, now: float | None = None) -> None:
        """Pages whose lease has run out wait again, also for whoever only looks."""
        if self._lease_ends and self.log.writable:
            self._expire_due(self._tick(now))
            self._acknowledge()

    @alone
    def names(self, pages: Sequence[int]) -> list[tuple[str, str]]:
        """URL and queue of each of these pages."""
        pages = self.check_pages(pages)
        return [(url, queue_of((url, queue))) for url, queue in self.log.names(pages)]

    @alone
    def pages_of(self, queue: str | None = None, first: int = 0, stop: int | None = None) -> Array:
        """The numbers of all pages that are known (of a queue), but for those that nobody has found or named yet.

        ``first`` and ``stop``: of these pages alone.
        """
        first, last = given.whole(first, "first"), self.known if stop is None else given.whole(stop, "stop")
        part = slice(first, min(last, self.known))
        marks, host = self.frontier.marks(part), -1 if queue is None else self.find_host(queue)
        there = (marks != ABSENT) & (marks != FORGOTTEN)
        if queue is not None:
            there &= self.frontier.hosts_of(part) == host
        pages = first + np.flatnonzero(there)
        if queue is not None and self.group_of(queue) != queue:  # one host of a group
            pages = pages[[named == queue for _, named in self.names(pages.tolist())]]
        return pages

    @alone
    def count_queues(self, pages: Sequence[int]) -> int:
        """How many queues these pages wait in; hosts of a group are one."""
        numbers = np.array(self.check_pages(pages), np.int64)
        return len(np.unique(self.frontier.hosts_of(numbers)))

    @alone
    def due(self, page: int) -> float:
        """From when on a page may be taken: 0 if it waits, a time if it is scheduled or leased, infinity if it is done with."""
        self._end_leases()
        page = self.check_page(page)
        mark = self.frontier.mark(page)
        if mark in (LATER, LEASED):
            return self.frontier.due_at(page) if mark == LATER else self.leases.get(page, 0.0)
        return 0.0 if mark == WAITING else math.inf

    @alone
    def completed(self, page: int) -> bool:
        page = self.check_page(page)
        return self.frontier.mark(page) == GONE

    @alone
    def born(self, page: int) -> float:
        """When a page became known, to the second; 0 if nobody said."""
        page = self.check_page(page)
        return self.log.born_at(page)

    @alone
    def born_before(self, time: float) -> int:
        """How many pages, the first ones, became known before that time."""
        return self.log.born_before(given.seconds(time, "pages must be counted before", finite=False))

    # What is kept with pages ------------------------------------------------------------------------------------------------
    @alone
    def attach_all(self, payloads: Mapping[int, bytes]) -> None:
        """Keep something with each of these pages. It is acknowledged with the next event."""
        if not isinstance(payloads, Mapping) or not all(isinstance(payload, bytes) for payload in payloads.values()):
            raise InputError(f"payloads must be a mapping from pages to bytes, got {payloads!r}")
        held = dict(zip(self.check_pages(list(payloads)), payloads.values(), strict=True))
        self.holds_payloads = self.holds_payloads or bool(held)
        self.log.attach_all(held)

    @alone
    def attached_all(self, pages: Sequence[int]) -> dict[int, bytes]:
        if not isinstance(pages, Iterable):
            raise InputError(f"pages must be numbers of pages, got {pages!r}")
        return self.log.attached_all([given.whole(page, "a page") for page in pages])


def _queues(queues: Any, count: int) -> list[str | None]:
    """A name for each of so many pages, or None for the host's."""
    found = list(queues) if isinstance(queues, Iterable) and not isinstance(queues, str) else [queues]
    if len(found) != count:
        raise InputError(f"there must be one queue for each of {count} URLs, got {len(found)}")
    for queue in found:
        if queue is not None:
            given.text(queue, "a queue")
    return found
