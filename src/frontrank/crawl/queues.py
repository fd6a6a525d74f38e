"""A crawl as a service sees it: URLs that fetchers elsewhere report, in queues that have names, with times to come.

A fetcher elsewhere says of each link that it found: this URL, found on that page. The links of a page are pending until the
page itself is reported, then the ordering sees them together, as if the page had been fetched here. A page that is not known,
or not leased, may be reported all the same: whoever fetches knows best.

A page is known by its URL and its queue. Links name the page on which they were found by its URL alone: it is looked for in all
queues, and the links of a URL belong to whichever page of it is reported first.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontrank.crawl import events, status, validation
from frontrank.crawl.locking import YIELD_S, locked
from frontrank.crawl.page_table import name_of
from frontrank.crawl.recorder import Recorder
from frontrank.crawl.state import CrawlState
from frontrank.crawl.taking import Taker
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED, WAITING
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of

NAMED_AT_ONCE, READ_AT_ONCE = 10_000, 2_000  # pages whose queues, and queues whose names are read: about 15 ms


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


class Queues:
    """``crawl.queues``: what a served frontier needs."""

    def __init__(self, state: CrawlState, recorder: Recorder, taker: Taker) -> None:
        self.state, self._recorder, self._taker = state, recorder, taker

    # What fetchers find -----------------------------------------------------------------------------------------------------
    @locked
    def discover(
        self,
        urls: Sequence[str],
        parent: int = -1,
        anchors: Sequence[str] = (),
        queues: Sequence[str | None] | None = None,
        now: float | None = None,
    ) -> tuple[Array, Array]:
        """A page links to these URLs; or, without a parent (-1), somebody names them. Their numbers, and which of them are new.

        They wait at once. Links of a page that has not arrived yet are ranked once it has; until then, what nobody else
        links to waits behind all that are ranked. ``queues``: the names of the queues they wait in, None for that of the host.
        """
        state = self.state
        urls = validation.urls(urls, "a link")
        anchors = validation.texts(anchors, "an anchor")
        if not isinstance(parent, int) or parent != -1:
            parent = state.pages.check(parent)
        if anchors and len(anchors) != len(urls):
            raise InputError(f"there must be one anchor for each of {len(urls)} URLs, got {len(anchors)}")
        at = self._recorder.tick(now)
        pages = self._intern(urls, queues)
        marks = state.frontier.marks(pages)
        fresh = (marks == ABSENT) | (marks == FORGOTTEN)
        if len(set(pages.tolist())) < len(pages):
            again = np.ones(len(pages), bool)
            again[np.unique(pages, return_index=True)[1]] = False
            fresh &= ~again
        linked = fresh if parent < 0 else pages != parent
        if linked.any():
            words = [anchor for anchor, one in zip(anchors, linked.tolist(), strict=True) if one] if anchors else ()
            words = [" ".join(word.split("\n")) for word in words]
            self._recorder.record(events.Discovered(at, parent, pages[linked], words))
            if excess := state.pending.excess(state.leases):
                self._recorder.record(events.LinksReassigned(at, np.array(excess, np.int32)))
        self._recorder.acknowledge()
        return pages, fresh

    def _intern(self, urls: Sequence[str], queues: Sequence[str | None] | None) -> Array:
        if queues is None:
            return self.state.intern(urls)
        queues = _checked_queues(queues, len(urls))
        hosts = [host_of(url) for url in urls]
        keys = names.fingerprints([name_of(*one) for one in zip(urls, queues, hosts, strict=True)])
        return self.state.intern(urls, keys, queues, hosts)

    @locked
    def pages_named(self, url: str) -> list[int]:
        """All pages of this URL: the one in its host's queue first, then those in queues of their own, the last named first."""
        return self.state.pages.named(url)

    @locked
    def has_pending_links(self, url: str) -> bool:
        """Whether links were found on a page of this URL, which has not arrived."""
        pending = self.state.pending
        return bool(pending) and any(page in pending for page in self.state.pages.named(url))

    # What fetchers report ---------------------------------------------------------------------------------------------------
    @locked
    def report(self, page: int, *, status: int = 200, again_at: float | None = None, now: float | None = None) -> None:
        """A page was fetched elsewhere, leased or not; its links are those that ``discover`` had of its URL.

        304 is for a page that was fetched before, and is as it was; of another one it says nothing.
        """
        if again_at is not None:
            again_at = validation.seconds(again_at, "a page must be fetched again at")
        page = self.state.pages.check(page)
        status, at = validation.whole(status, "the status of a page"), self._recorder.tick(now)
        self._gather_links(page, at)
        links = {target: words for target, words in self.state.pending.get(page, {}).items() if target != page}
        targets, words = np.array(list(links), "<i4"), list(links.values()) if any(links.values()) else []
        known = status != events.UNCHANGED or self.state.ordering.is_fetched(page)
        arrived = events.Fetched(at, page, targets, words, text="", status=status if known else 200, again_at=again_at)
        self._recorder.record(arrived)
        self._recorder.settled(at)

    def _gather_links(self, page: int, at: float) -> None:
        """The pending links of other pages of the same URL are this one's."""
        if len(self.state.pages.by_url):
            url = self.state.log.url(page)
            others = [one for one in self.state.pages.named(url) if one != page and one in self.state.pending]
            if others:
                self._recorder.record(events.LinksReassigned(at, np.array(others, np.int32), page))

    @locked
    def report_failure(self, page: int, reason: str, *, again_at: float | None = None, now: float | None = None) -> None:
        """A page did not arrive elsewhere, leased or not: it failed for good, or is tried again at a time."""
        page = self.state.pages.check(page)
        reason, at = validation.text(reason, "a reason"), self._recorder.tick(now)
        if again_at is not None:
            again_at = validation.seconds(again_at, "a page must be tried again at", finite=False)
        if again_at is None:
            self._recorder.record(events.Failed(at, page, reason))
            self._recorder.settled(at)
        elif self.state.frontier.mark(page) == LEASED:
            attempt = self.state.leases.attempts.get(page, 0) + 1
            self._recorder.record(events.Retried(at, page, attempt, again_at, reason))
            self._recorder.acknowledge()
        else:
            self.schedule(page, again_at, now)

    @locked
    def schedule(self, page: int, at: float, now: float | None = None) -> None:
        """A page waits, again or at first, from this time on; infinity: until it is scheduled anew. It is leased no longer."""
        at = validation.seconds(at, "a page must be scheduled for", finite=False)
        self._recorder.write(events.Scheduled, now, self.state.pages.check(page), at)

    @locked
    def forget(self, pages: Iterable[int], now: float | None = None) -> int:
        """As if these pages had never been heard of: they may be discovered anew. Returns how many there were."""
        state = self.state
        numbers = np.array(state.pages.check_all(pages), np.int32)
        found = numbers[~np.isin(state.frontier.marks(numbers), (ABSENT, FORGOTTEN))]
        if found.size:
            self._recorder.record(events.Forgotten(self._recorder.tick(now), found))
            state.payloads.forget(found.tolist())
        self._recorder.acknowledge()
        return len(found)

    # What fetchers take -----------------------------------------------------------------------------------------------------
    @locked
    def take(
        self,
        queues: int = 0,
        per_queue: int = 0,
        *,
        lease_s: float | None = None,
        queue: str | None = None,
        now: float | None = None,
    ) -> list[int]:
        """Pages of up to so many queues, up to so many of each, the queue with the best page first; 0 is any number.

        Several pages of one queue go as one request: its delay follows. A queue of which ``per_queue`` pages are leased is
        skipped. ``queue``: of this one alone. They are leased for ``lease_s`` seconds. With a share for revisits, what is
        taken of one queue at a time are either revisits, those due for longest first, or other pages.
        """
        at = self._recorder.tick(now)
        queues, per_queue = validation.whole(queues, "queues"), validation.whole(per_queue, "per_queue", of=" of pages")
        if lease_s is not None:
            lease_s = validation.seconds(lease_s, "pages must be leased for")
        if not self._taker.may_take(at):
            return []
        host = -1 if queue is None else self.state.hosts.find(queue)
        if queue is not None and host < 0:
            return []
        seq = self.state.log.seq
        taken = self._taker.take_queues(at, queues, per_queue, host, None if lease_s is None else at + lease_s)
        if self.state.log.seq > seq:
            self._recorder.commit()
        return taken

    @locked
    def take_prioritised(self, n: int, priority: int, now: float | None = None) -> list[int]:
        """As ``Crawl.take_pages``, but only pages with at least this priority."""
        n = validation.whole(n, "n", of=" of pages")
        priority = validation.whole(priority, "a priority", minimum=-validation.MAX_WHOLE)
        taken, drawn = self._taker.take_prioritised(n, priority, self._recorder.tick(now))
        if drawn:
            self._recorder.commit()
        return taken

    # What is known of queues ------------------------------------------------------------------------------------------------
    @locked
    def counts(self) -> QueueCounts:
        """How many pages wait, are scheduled, leased, completed, in all queues together."""
        self._recorder.expire_leases()
        return _counts(self.state.frontier.hosts())

    def counts_of(self, name: str) -> QueueCounts | None:
        """The same of one queue; None if there is no such queue."""
        with self.state.lock:
            self._recorder.expire_leases()
            host, grouped = self.state.hosts.find(name), self.state.hosts.group_of(name) != name
            counts = None if host < 0 or grouped else _counts(self.state.frontier.hosts(host))
        if host >= 0 and grouped:
            counts = self._counts_in_group(name)
        return counts if counts and counts.known else None

    def _counts_in_group(self, name: str) -> QueueCounts:
        """The pages of one host of a group, whose names say whose they are: in parts, between which others get to the crawl."""
        sums = np.zeros(256, np.int64)
        for first in range(0, self.state.known, NAMED_AT_ONCE):
            with self.state.lock:
                pages = self.pages(name, first, first + NAMED_AT_ONCE)
                sums += np.bincount(self.state.frontier.marks(pages), minlength=len(sums))
            time.sleep(YIELD_S)
        waiting, scheduled, leased, completed = (int(sums[mark]) for mark in (WAITING, LATER, LEASED, GONE))
        known = waiting + scheduled + leased + completed
        return QueueCounts(waiting, scheduled, leased, completed, int(known > 0), int(known > completed))

    def listed(self, inactive: bool = False, now: float | None = None, *, start: int = 0, size: int | None = None) -> list[str]:
        """The names of queues, in the order in which they became known; without ``inactive``, of those with pages to come
        that are not blocked. ``start`` and ``size``: a part of them."""
        start = validation.whole(start, "start")
        part = slice(start, None if size is None else start + validation.whole(size, "size"))
        with self.state.lock:
            self._recorder.expire_leases(now)
            hosts = self.state.frontier.hosts()
            active = hosts["waiting"] + hosts["later"] + hosts["leased"]
            at = self._recorder.clock() if now is None else validation.seconds(now, "now must be")
            open_now = hosts["blocked"] < at + self._recorder.shift
            shown = np.flatnonzero(active + hosts["done"] > 0 if inactive else (active > 0) & open_now)[part].tolist()
        found: list[str] = []
        for first in range(0, len(shown), READ_AT_ONCE):
            with self.state.lock:
                found += status.host_names(self.state, shown[first : first + READ_AT_ONCE])
            if len(found) < len(shown):
                time.sleep(YIELD_S)
        return found

    @locked
    def names(self, pages: Sequence[int]) -> list[tuple[str, str]]:
        """URL and queue of each of these pages."""
        return self.state.names(self.state.pages.check_all(pages))

    @locked
    def pages(self, queue: str | None = None, first: int = 0, stop: int | None = None) -> Array:
        """The numbers of all pages that are known (of a queue), but for those that nobody has found or named yet.

        ``first`` and ``stop``: of these pages alone.
        """
        state = self.state
        first, last = validation.whole(first, "first"), state.known if stop is None else validation.whole(stop, "stop")
        part = slice(first, min(last, state.known))
        marks = state.frontier.marks(part)
        there = (marks != ABSENT) & (marks != FORGOTTEN)
        if queue is not None:
            there &= state.frontier.hosts_of(part) == state.hosts.find(queue)
        pages = first + np.flatnonzero(there)
        if queue is not None and state.hosts.group_of(queue) != queue:  # one host of a group
            pages = pages[[named == queue for _, named in state.names(pages.tolist())]]
        return pages

    @locked
    def pages_containing(
        self, text: str, queue: str | None = None, first: int = 0, stop: int | None = None, *, ignore_case: bool = False
    ) -> Array:
        """As ``pages``, of those whose URL contains a text; ``ignore_case``: A to Z and a to z are the same."""
        validation.text(text, "a text that URLs contain")
        pages = self.pages(queue, first, stop)
        if not pages.size:
            return pages
        return pages[np.isin(pages, self.state.log.find_pages(text, int(pages[0]), int(pages[-1]) + 1, ignore_case))]

    @locked
    def count(self, pages: Sequence[int]) -> int:
        """How many queues these pages wait in; hosts of a group are one."""
        numbers = np.array(self.state.pages.check_all(pages), np.int64)
        return len(np.unique(self.state.frontier.hosts_of(numbers)))


def _counts(hosts: Array) -> QueueCounts:
    active = hosts["waiting"] + hosts["later"] + hosts["leased"]
    waiting, scheduled, leased, completed = (int(hosts[name].sum()) for name in ("waiting", "later", "leased", "done"))
    return QueueCounts(waiting, scheduled, leased, completed, int((active + hosts["done"] > 0).sum()), int((active > 0).sum()))


def _checked_queues(queues: Any, count: int) -> list[str | None]:
    """A name for each of so many pages, or None for the host's."""
    found = list(queues) if isinstance(queues, Iterable) and not isinstance(queues, str) else [queues]
    if len(found) != count:
        raise InputError(f"there must be one queue for each of {count} URLs, got {len(found)}")
    for queue in found:
        if queue is not None:
            validation.text(queue, "a queue")
    return found
