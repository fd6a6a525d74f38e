"""Crawl: the same orderings, one event at a time, for a crawler that learns of pages as it goes.

    with Crawl(parse("fpr"), "my-crawl", politeness=Politeness(delay_s=1.0)) as crawl:
        crawl.seed(["https://example.org/"])
        while urls := crawl.take():
            for url in urls:
                crawl.fetched(url, links=[("https://example.org/a", "its anchor")])

    crawl = Crawl.recover("my-crawl")      # after any kind of end: everything acknowledged is there

Nothing is known but what the events told; state grows as pages are discovered. With one page in flight and no politeness the
order is exactly the one ``simulate`` gives. Without a directory, events live in memory.

An event is acknowledged when its call returns: it then survives the end of the process. With ``group=k`` up to k events
share a commit, and are acknowledged by it, by the next ``take``, or by ``commit()``. The disk has them ``sync_s`` seconds
later, or at ``sync()``. A page that was taken is leased: if it is not settled in time it waits again.
"""

from __future__ import annotations

import heapq
import os
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from frontrank.crawl import journal as log
from frontrank.crawl.journal import Journal, Memory
from frontrank.crawl.kernels import arrive, put_out, take_some
from frontrank.crawl.pages import Known
from frontrank.crawl.recovery import restore, snapshot
from frontrank.crawl.searchers import Searches
from frontrank.errors import InputError
from frontrank.frontiers import polite
from frontrank.frontiers.polite import PUTS
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import compiled
from frontrank.orderings.policy import Policy
from frontrank.web.view import CrawlView, Workload, workload_notes

Link = str | tuple[str, str]
Where = tuple[str, int, int]  # WARC file, offset, length
SNAPSHOT_EVENTS = 100_000  # at least so many events, and half the known pages, between two snapshots


class Crawl(Known):
    """A policy at work on pages that are named by the events: URLs, or any other text."""

    def __init__(
        self,
        policy: Policy,
        path: str | os.PathLike[str] | None = None,
        *,
        politeness: Politeness = FREE,
        capacity: int = 16,
        truth: Callable[[str], float] | None = None,
        workload: Workload | None = None,
        notes: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
        group: int = 1,
        sync_s: float = 1.0,
    ) -> None:
        journal: Journal | Memory = Memory()
        if path is not None:
            stored = {**(notes or {}), "policy": policy.spec(), "politeness": politeness.json(), "started": clock()}
            if workload is not None:
                stored["workload"] = workload_notes(workload)
            check_live(policy, workload)
            journal = Journal.create(Path(path), stored, group, sync_s)
        self._begin(policy, journal, politeness, capacity, truth, workload, clock)

    @classmethod
    def recover(
        cls,
        path: str | os.PathLike[str],
        policy: Policy | None = None,
        *,
        rescore: bool = False,
        read_only: bool = False,
        politeness: Politeness | None = None,
        truth: Callable[[str], float] | None = None,
        clock: Callable[[], float] = time.time,
        group: int = 1,
        sync_s: float = 1.0,
    ) -> Crawl:
        """The crawl of a directory, as it was after its last acknowledged event; leases of the dead process are returned.

        Another policy than the one it was crawled with is refused, unless ``rescore``: then its state is built by letting
        it see everything that happened. ``politeness`` hold from now on, if they are given. ``read_only`` looks at a crawl,
        which may be running, and changes nothing.
        """
        journal = Journal.open(Path(path), group, sync_s, read_only)
        try:
            crawl = cls.__new__(cls)
            restore(crawl, journal, policy, rescore, truth, clock, read_only)
            if politeness is not None and politeness != crawl.politeness:
                crawl._behave(politeness)
        except BaseException:
            journal.broken = journal.broken or "recovery failed"
            journal.close()
            raise
        return crawl

    def _begin(
        self,
        policy: Policy,
        journal: Journal | Memory,
        politeness: Politeness,
        capacity: int,
        truth: Callable[[str], float] | None,
        workload: Workload | None,
        clock: Callable[[], float],
    ) -> None:
        check_live(policy, workload)
        super().__init__(policy, journal, politeness, capacity, truth)
        self.clock = clock
        self.now = self.shift = 0.0
        self.order = array("i")  # pages in the order in which they were settled
        self.failed_count = 0
        self.leases: dict[int, float] = {}  # page -> when the lease ends, in the order of taking
        self.retries: list[tuple[float, int]] = []  # a heap: when, page
        self.attempts: dict[int, int] = {}
        self.view = CrawlView()
        self.viewed = 0
        asked = self.needs & {"queries", "impact"}
        self.searches = Searches(workload) if workload is not None and asked else None
        self.snapshot_seq = 0
        self.holds_payloads = journal.has_payloads()
        self._link_kernels()

    def _link_kernels(self) -> None:
        kernels = self.policy.kernels()
        putter = PUTS[self.policy.queue]
        self._on_seed, self._on_start, self._done = (compiled(kernels[event]) for event in ("on_seed", "on_start", "done"))
        self._put, self._put_out = compiled(putter), compiled(put_out, put=putter)
        self._arrive = compiled(arrive, put=putter, on_fetch=kernels["on_fetch"])
        self._take, self._back, self._later = compiled(take_some), compiled(polite.back), compiled(polite.later)

    # What is known --------------------------------------------------------------------------------------------------------
    @property
    def waiting(self) -> int:
        """Pages that wait to be taken, now or when a retry is due."""
        return polite.waiting(self.queue) + sum(1 for _, page in self.retries if self.queue.mark[page] == polite.LATER)

    @property
    def leased(self) -> int:
        return len(self.leases)

    @property
    def fetched_count(self) -> int:
        return len(self.order) - self.failed_count

    @property
    def notes(self) -> dict[str, Any]:
        """Settings that whoever drives the crawl has stored with it."""
        return self.journal.notes

    def note(self, key: str, value: Any) -> None:
        self.journal.note(key, value)

    def mark(self, page: int) -> int:
        return int(self.queue.mark[page])

    def attach(self, page: int, payload: bytes) -> None:
        """Keep something with a page until it is settled. It is acknowledged with the next event."""
        self.holds_payloads = True
        self.journal.attach(page, payload)

    def attached(self, page: int) -> bytes | None:
        return self.journal.attached(page)

    def next_at(self) -> float | None:
        """When a page may next be taken; None if time alone brings none."""
        if self.done():
            return None
        first = float(compiled(polite.next_at)(self.queue))
        if self.retries:
            first = min(first, self.retries[0][0])
        return None if first == np.inf else max(first - self.shift, 0.0)

    def gauges(self) -> dict[str, float]:
        return self.policy.gauges(self.state)

    def done(self) -> bool:
        """The ordering's own stopping rule holds."""
        return bool(self._done(self.state))

    # Events by URL --------------------------------------------------------------------------------------------------------
    def seed(self, urls: Iterable[str], now: float | None = None) -> None:
        """Start from these pages; the weights of one call's seeds add up to 1."""
        given = list(urls)
        if not given:
            raise InputError("no seeds given, at least one page to start from expected")
        self.seed_pages(self._pages(given, names.fingerprints(given)).tolist(), now)

    def take(self, n: int = 1, now: float | None = None) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none may go now."""
        return [self.journal.url(page) for page in self.take_pages(n, now)]

    def fetched(
        self,
        url: str,
        links: Iterable[Link] = (),
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
    ) -> None:
        """A taken page has arrived, with these links (each a URL, or a URL and its anchor), this text and this impact."""
        page = self._of(url)
        targets: list[str] = []
        anchors: list[str] = []
        for link in links:
            target, anchor = (link, "") if isinstance(link, str) else link
            targets.append(target)
            anchors.append(anchor)
        pages = self._pages(targets, names.fingerprints(targets)).tolist()
        self.fetched_page(page, pages, anchors, title, text, impact, status=status, where=where, now=now)

    def failed(
        self,
        url: str,
        reason: str = "failed",
        *,
        retry: bool = False,
        retry_s: float | None = None,
        where: Where | None = None,
        now: float | None = None,
    ) -> bool:
        """A taken page did not arrive. True if it will be tried again; else it counts as fetched, and keeps no links."""
        return self.failed_page(self._of(url), reason, retry=retry, retry_s=retry_s, where=where, now=now)

    def drop(self, url: str, reason: str = "dropped", now: float | None = None) -> None:
        """A waiting page will never be asked for: rules that were set later exclude it. It counts as failed."""
        page = self.find(url)
        if page < 0:
            raise InputError(f"page {url!r} cannot be dropped: this crawl does not know it")
        self.drop_page(page, reason, now)

    def _of(self, url: str) -> int:
        page = self.find(url)
        if page < 0:
            raise InputError(f"page {url!r} was settled, but it is not one that was taken and is still open")
        return page

    # Events by page number ------------------------------------------------------------------------------------------------
    def seed_pages(self, pages: Sequence[int], now: float | None = None) -> None:
        at = self._tick(now)
        mark = self.queue.mark
        pages = [page for page in dict.fromkeys(pages) if mark[page] in (polite.ABSENT, polite.WAITING)]
        for page in pages:
            self.journal.add(log.SEED, page, at, status=len(pages))
        self._plant(pages)
        self._acknowledge()

    def take_pages(self, n: int = 1, now: float | None = None) -> list[int]:
        at = self._tick(now)
        self._return_due(at)
        if self.done():
            return []
        pages = np.empty(n, np.int32)
        taken: list[int] = pages[: self._take(self.queue, at, pages)].tolist()
        if taken:
            self.journal.add_takes(taken, at)
            until = at + self.politeness.lease_s
            for page in taken:
                self.leases[page] = until
            self.journal.commit()
        return taken

    def fetched_page(
        self,
        page: int,
        targets: Sequence[int],
        anchors: Sequence[str] | None = None,
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
    ) -> None:
        at = self._tick(now)
        self._end_lease(page)
        distinct, words = _distinct(page, targets, anchors)
        columns: dict[str, Any] = {"status": status, "links": np.array(distinct, "<i4").tobytes()}
        if any(words):
            columns["anchors"] = log.storable("\n".join(words))
        if title:
            columns["title"] = log.storable(title)
        if impact:
            columns["impact"] = impact
        if where is not None:
            columns["file"], columns["start"], columns["length"] = where
        self.journal.add(log.FETCHED, page, at, **columns)
        if text and self.keeps_texts:
            self.journal.keep_text(page, text)
        self._note_links(page, distinct, words)
        if self.searches is not None:
            self.searches.note(page, title, words, len(distinct))
        self._see(page, title, text, impact)
        self._settle_page(page)

    def failed_page(
        self,
        page: int,
        reason: str = "failed",
        *,
        retry: bool = False,
        retry_s: float | None = None,
        where: Where | None = None,
        now: float | None = None,
    ) -> bool:
        at = self._tick(now)
        self._end_lease(page)
        attempt = self.attempts.get(page, 0) + 1
        kept = {} if where is None else dict(zip(("file", "start", "length"), where, strict=True))
        if retry and attempt <= self.politeness.retries:
            due = at + (self.politeness.pause(attempt) if retry_s is None else retry_s)
            self.journal.add(log.RETRY, page, at, status=attempt, until=due, note=reason, **kept)
            self._try_later(page, attempt, due)
            self._later(self.queue, page)
            self._acknowledge()
            return True
        self.journal.add(log.FAILED, page, at, note=reason, **kept)
        self.failed_count += 1
        self._settle_page(page)
        return False

    def prioritise(self, page: int, priority: int, now: float | None = None) -> None:
        """Take this page before all that have none (or, below 0, after them): larger is sooner, among equals first come.

        The ordering has no say in it until the priority is 0 again; politeness has. A page that does not wait yet has its
        priority from the moment it does.
        """
        self.journal.add(log.PRIORITY, page, self._tick(now), status=priority)
        self._prioritise(page, priority)
        self._acknowledge()

    def drop_page(self, page: int, reason: str = "dropped", now: float | None = None) -> None:
        if self.queue.mark[page] not in (polite.WAITING, polite.LATER):
            raise InputError(f"page {self.url(page)!r} cannot be dropped: it is not waiting")
        self.journal.add(log.FAILED, page, self._tick(now), note=reason)
        self.failed_count += 1
        self._settle_page(page)

    def rescore(self, now: float | None = None) -> None:
        """Rank everything that waits anew, now. Orderings that are always up to date have nothing to do."""
        if self.policy.interval():
            self.journal.add(log.RESCORE, -1, self._tick(now))
            self._rank()
            self._acknowledge()

    def host(
        self,
        name: str,
        *,
        delay_s: float | None = None,
        concurrency: int | None = None,
        budget: int | None = None,
        now: float | None = None,
    ) -> None:
        """Politeness of one host, such as the delay its robots.txt asks for."""
        given = {"delay_s": delay_s, "concurrency": concurrency, "budget": budget}
        wanted = {key: value for key, value in given.items() if value is not None}
        Politeness(delay_s=delay_s or 0.0, per_host=concurrency or 0, host_budget=budget or 0)  # checks the numbers
        self.journal.add(log.HOST, -1, self._tick(now), note=log.written({"host": name, **wanted}))
        self._limit(name, wanted)
        self._acknowledge()

    def block(self, name: str, seconds: float, now: float | None = None) -> None:
        """Take nothing from this host for so long, as its Retry-After asks."""
        at = self._tick(now)
        self.journal.add(log.BLOCK, -1, at, until=at + seconds, note=name)
        compiled(polite.block)(self.queue, self._host(name), at + seconds)
        self._acknowledge()

    def commit(self) -> None:
        """All events so far survive this process."""
        self.journal.commit()

    def sync(self) -> None:
        """All events so far survive a power cut."""
        self.journal.sync()

    def close(self) -> None:
        """Leave a snapshot, so that the next start is quick, and let the directory go."""
        try:
            if isinstance(self.journal, Journal) and not self.journal.broken and self.journal.writable:
                snapshot(self, least=1000)
        finally:
            self.journal.close()

    def __enter__(self) -> Crawl:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # What events do (also when they are replayed) -------------------------------------------------------------------------
    def _tick(self, now: float | None) -> float:
        """The time of an event. It never runs back: if the clock does, the gap is added from then on."""
        now = self.clock() if now is None else now
        if now + self.shift < self.now:
            self.shift = self.now - now
        self.now = now + self.shift
        return self.now

    def _plant(self, pages: Sequence[int]) -> None:
        if self.searches is not None:
            self.searches.seeds.extend(pages)
        for page in pages:
            self.depths[page] = 0
            self._put(self.queue, page, self._on_seed(self.state, page, 1.0 / len(pages)))
        if pages:
            self._put_out(self.queue, self.out, self._on_start(self.state, self.out))

    def _end_lease(self, page: int) -> None:
        if self.leases.pop(page, None) is None:
            raise InputError(f"page {self.url(page)!r} was settled, but it is not one that was taken and is still open")

    def _settle_page(self, page: int) -> None:
        self.attempts.pop(page, None)
        if self.holds_payloads:
            self.journal.detach(page)
        self._arrive(self.state, self.queue, self.links, self.depths, page, self.out)
        self.order.append(page)
        interval = self.policy.interval()
        if interval and len(self.order) % interval == 0:
            self._rank()
        self._acknowledge()

    def _acknowledge(self) -> None:
        self.journal.acknowledge()
        events = self.journal.seq - self.snapshot_seq
        if events >= SNAPSHOT_EVENTS and 2 * events >= self.known and isinstance(self.journal, Journal):
            snapshot(self)

    def _return_due(self, now: float) -> None:
        while self.leases:
            page = next(iter(self.leases))
            if self.leases[page] > now:
                break
            self._expire(page, now)
        while self.retries and self.retries[0][0] <= now:
            page = heapq.heappop(self.retries)[1]
            if self.queue.mark[page] == polite.LATER:
                self._back(self.queue, page)

    def _expire(self, page: int, now: float) -> None:
        del self.leases[page]
        self.journal.add(log.EXPIRED, page, now)
        self._back(self.queue, page)

    def _try_later(self, page: int, attempt: int, due: float) -> None:
        self.attempts[page] = attempt
        heapq.heappush(self.retries, (due, page))

    @property
    def keeps_texts(self) -> bool:
        return "texts" in self.needs or self.searches is not None

    def _see(self, page: int, title: str, text: str, impact: float) -> None:
        self.policy.see_text(self.state, page, title, text)
        if self.impact.size:
            self.impact[page] = impact

    def _behave(self, politeness: Politeness) -> None:
        """Other politeness, from now on; hosts that have some of their own keep those."""
        old, self.politeness = self.politeness, politeness
        self.journal.note("politeness", politeness.json())
        now = (politeness.delay_s, politeness.per_host, politeness.host_budget)
        before = (old.delay_s, old.per_host, old.host_budget)
        limit = compiled(polite.limit)
        for host in range(int(self.host_table.counts[0])):
            held = self.queue.hosts[host]
            own = (float(held["delay"]), int(held["concurrency"]), int(held["budget"]))
            limit(self.queue, host, *(new if mine == was else mine for new, mine, was in zip(now, own, before, strict=True)))
        self.queue.counts[polite.IN_FLIGHT] = politeness.in_flight
        for name, value in zip(("delay", "concurrency", "budget"), now, strict=True):
            self.queue.politeness[name] = value
            self.queue.hosts[name][int(self.host_table.counts[0]) :] = value

    def _prioritise(self, page: int, priority: int) -> None:
        compiled(polite.prioritise)(self.queue, page, polite.key_of(priority))

    def _limit(self, name: str, wanted: dict[str, Any]) -> None:
        values = (wanted.get("delay_s", -1.0), wanted.get("concurrency", -1), wanted.get("budget", -1))
        compiled(polite.limit)(self.queue, self._host(name), *values)

    def _rank(self) -> None:
        if "history" in self.needs:
            self.view.remember()
        fetched = np.array(self.order[self.viewed :], np.int32)
        self.view.extend(self.links, fetched, polite.discovered(self.queue), self.queue.node["seq"])
        self.viewed = len(self.order)
        if self.searches is not None:
            self.view.search, self.view.impact = self.searches.look(self, np.array(self.order, np.int32))
        elif self.impact.size:
            self.view.impact = self.impact[self.view.pages]
        compiled(polite.put_all)(self.queue, self.view.pages, self.policy.rescore(self.state, self.view))


def check_live(policy: Policy, workload: Workload | None) -> None:
    if "queries" in policy.needs() and workload is None:
        raise InputError(
            f"{policy.spec()} is driven by queries and none are given; give a workload (--queries FILE), or another ordering"
        )


def _distinct(page: int, targets: Sequence[int], anchors: Sequence[str] | None) -> tuple[list[int], list[str]]:
    """The targets without repetitions and without the page itself; anchors of one target are joined."""
    if anchors is None or not any(anchors):
        distinct = dict.fromkeys(targets)
        distinct.pop(page, None)
        return list(distinct), []
    words: dict[int, str] = {}
    for target, anchor in zip(targets, anchors, strict=True):
        if target != page:
            words[target] = f"{words[target]} {anchor}".strip() if target in words else anchor
    return list(words), [" ".join(anchor.split("\n")) for anchor in words.values()]
