"""Crawl: the same orderings, one event at a time, for a crawler that learns of pages as it goes.

    with Crawl("fpr", "my-crawl", politeness=Politeness(delay_s=1.0)) as crawl:
        crawl.seed(["https://example.org/"])
        while urls := crawl.take():
            for url in urls:
                crawl.fetched(url, links=[("https://example.org/a", "its anchor")])

    crawl = Crawl.recover("my-crawl")      # after any kind of end: everything acknowledged is there

Nothing is known but what the events said; state grows as pages are discovered. With one page in flight and no politeness the
order is exactly the one ``simulate`` gives. Without a directory, events live in memory.

An event is acknowledged when its call returns: it then survives the end of the process. With ``group=k`` up to k events
share a commit, and are acknowledged by it, by the next ``take``, or by ``commit()``. The disk has them ``sync_s`` seconds
later, or at ``sync()``. A page that was taken is leased: if it is not settled in time it waits again.

Threads: every method may be called from any thread at any time; a lock lets one in at a time. No two calls of ``take`` give
the same page. Nothing slow happens inside a call: arrays grow where they lie, snapshots are written by a child process,
the disk is a thread's work, and so are rankings with ``ranking="background"``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, cast

from frontrank.crawl import events, given, recovery
from frontrank.crawl.events import Where
from frontrank.crawl.journal import Journal
from frontrank.crawl.live import SNAPSHOT_ROWS, alone
from frontrank.crawl.log import Log
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.needs import check_live
from frontrank.crawl.numbered import checked_share
from frontrank.crawl.ranking import BACKGROUND, INLINE
from frontrank.crawl.shown import Shown
from frontrank.deprecated import members_of_before
from frontrank.errors import InputError
from frontrank.frontiers.frontier import LATER, WAITING, Frontier
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import to_data, trusting
from frontrank.pages.groups import DOMAIN, HOST, IP, Groups
from frontrank.pages.scorers import Judged
from frontrank.web.view import Workload, workload_notes
from frontrank.web.web import IMPACTS

__all__ = ["Crawl", "Link", "Where"]

Link = str | tuple[str, str]
MAX_S = 10_000_000.0  # between two times at which the disk has everything; threads cannot wait for centuries


@members_of_before
class Crawl(Shown):
    """A policy at work on pages that are named by the events: URLs, or any other text."""

    def __init__(
        self,
        policy: Policy | str,
        path: str | os.PathLike[str] | None = None,
        *,
        politeness: Politeness = FREE,
        capacity: int = 16,
        truth: Callable[[str], float] | None = None,
        workload: Workload | None = None,
        impact_by: str = "",
        revisit_share: float | None = None,
        queue_by: Groups = HOST,
        notes: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
        group: int = 1,
        sync_s: float = 1.0,
        ranking: str = INLINE,
        log: Log | None = None,
        frontier: Callable[[Politeness], Frontier] = PoliteFrontier,
    ) -> None:
        """``log`` and ``frontier``: others than those that are shipped. A frontier is made by calling what is given with the
        politeness; one of your own is given again to ``recover``.
        """
        policy = as_policy(policy)
        clock = given.clock(clock)
        given.politeness(politeness)
        given.whole(capacity, "capacity", least=1, of=" of pages")
        _check_ways(group, sync_s, ranking, truth, frontier)
        where = None if path is None else given.path(path)
        if workload is not None:
            given.workload(workload)
        if not (isinstance(queue_by, Mapping) or (isinstance(queue_by, str) and queue_by in (HOST, DOMAIN, IP))):
            raise InputError(f"queue_by must be {HOST}, {DOMAIN}, {IP}, or the group of each host, got {queue_by!r}")
        if notes is not None and not isinstance(notes, Mapping):
            raise InputError(f"notes must be a mapping from keys to what JSON can hold, got {notes!r}")
        check_live(policy, queries=workload is not None, truth=truth is not None)
        if not isinstance(impact_by, str) or impact_by not in ("", *IMPACTS):
            raise InputError(f"impact_by must be views or clicks, got {impact_by!r}")
        stored = {**(notes or {}), "policy": to_data(policy), "politeness": politeness.json()}
        stored["started"] = clock()
        if workload is not None:
            stored["workload"] = workload_notes(workload)
        if impact_by:
            stored["impact_by"] = impact_by
        if queue_by != HOST:
            stored["queue_by"] = queue_by
        if revisit_share is not None:
            stored["revisit_share"] = checked_share(revisit_share)
        if log is not None:
            for key, value in stored.items():
                log.note(key, value)
        elif where is None:
            log = MemoryLog(keep=False)
            log.notes.update(stored)
        else:
            log = Journal.create(where, stored, group, sync_s)
        self._begin(policy, log, politeness, capacity, truth, workload, clock, ranking, frontier)

    @classmethod
    def recover(
        cls,
        path: str | os.PathLike[str] | Log,
        policy: Policy | str | None = None,
        *,
        rescore: bool = False,
        read_only: bool = False,
        politeness: Politeness | None = None,
        truth: Callable[[str], float] | None = None,
        clock: Callable[[], float] = time.time,
        group: int = 1,
        sync_s: float = 1.0,
        ranking: str = INLINE,
        keep_leases: bool = False,
        frontier: Callable[[Politeness], Frontier] = PoliteFrontier,
        workload: Workload | None = None,
        names_of: Crawl | None = None,
        trust: bool = False,
    ) -> Crawl:
        """The crawl of a directory (or log), as it was after its last acknowledged event; leases of the dead process return.

        Another policy than the one it was crawled with is refused, unless ``rescore``: then its state is built by letting
        it see everything that happened. ``politeness`` holds from now on, if it is given. ``read_only`` looks at a crawl,
        which may be running, and changes nothing. ``keep_leases``: they belong to fetchers elsewhere, and hold until they end.
        ``workload``: what searchers ask from now on; another policy may need queries that the crawl was started without.
        ``names_of``: a crawl of the same log, whose names need not be read again. ``trust``: load the code that the stored
        ordering names; not needed for one that is part of frontrank or of an installed plug-in, nor for the policy given here.
        """
        clock = given.clock(clock)
        _check_ways(group, sync_s, ranking, truth, frontier)
        if politeness is not None:
            given.politeness(politeness)
        if workload is not None:
            given.workload(workload)
        own = isinstance(path, str | os.PathLike) or not hasattr(path, "add_urls")
        log = Journal.open(given.path(path), group, sync_s, read_only) if own else cast(Log, path)
        try:
            crawl = cls.__new__(cls)
            wanted = None if policy is None else as_policy(policy)
            how = (rescore, truth, clock, read_only, ranking, keep_leases, frontier, workload, names_of)
            with trusting(trust):
                recovery.restore(crawl, log, wanted, *how)
            if workload is not None:
                crawl.ask(workload)
            if politeness is not None and politeness != crawl.politeness:
                crawl._do(events.Behaved(crawl._tick(None), politeness))
                log.commit()
        except BaseException:
            log.broken = log.broken or "recovery failed"
            log.close()
            raise
        return crawl

    # Events by URL --------------------------------------------------------------------------------------------------------
    @alone
    def seed(self, urls: str | Iterable[str], now: float | None = None) -> None:
        """Start from these pages; the weights of one call's seeds add up to 1."""
        seeds = given.urls(urls, "a seed")
        if not seeds:
            raise InputError("there must be at least one seed to start from, got none")
        self.seed_pages(self._pages(seeds, names.fingerprints(seeds)).tolist(), now)

    @alone
    def take(self, n: int = 1, now: float | None = None) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none may go now."""
        taken, tried = self._take(n, now)
        urls = [self.log.url(page) for page in taken]  # before the commit: after it each would be a transaction of its own
        if tried and not self._held:
            self.log.commit()
        return urls

    def fetched(
        self,
        url: str,
        links: Iterable[Link] | None = (),
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
        scores: Mapping[str, Judged] | None = None,
        again_at: float | None = None,
        again_after: float | None = None,
    ) -> None:
        """A taken page has arrived, with these links (each a URL, or a URL and its anchor), this text and this impact.

        ``links=None``: those that ``discover`` was told of the page. ``scores``: what ``self.scores`` said of it; if it was not
        asked, it is now. {}: there is nothing to judge. ``again_at``, or ``again_after`` so many seconds: when the page is to
        be fetched again; if it arrives then with status 304, it is as it was, and keeps its links.
        """
        judged = self.scores(url, title, text) if scores is None else scores
        if again_after is not None:
            wait = given.seconds(again_after, "a page must be fetched again after")
            again_at = (self.clock() if now is None else given.seconds(now, "now must be")) + wait
        with self._lock:  # not while a scorer judges
            page = self._of(url)
            pages: Array | None = None
            anchors: list[str] | None = None
            if links is not None:
                targets, anchors = _apart(links)
                pages = self._pages(targets, names.fingerprints(targets))
            self._fetched_page(page, pages, anchors, (title, text, impact), status, where, now, judged, again_at)

    @alone
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

    @alone
    def drop(self, url: str, reason: str = "dropped", now: float | None = None) -> None:
        """A waiting page will never be asked for: rules that were set later exclude it. It counts as failed."""
        given.url(url, "a page")
        waits = (page for page in self.pages_named(url) if self.frontier.mark(page) in (WAITING, LATER))
        page = next(waits, self.find_page(url))
        if page < 0:
            raise InputError(f"page {url!r} cannot be dropped: this crawl does not know it")
        self.drop_page(page, reason, now)

    @alone
    def retry_failed(self, reason: str = "", *, but: Collection[str] = (), now: float | None = None) -> int:
        """Pages that failed for this reason (or one that begins so), and never came, wait again; returns how many.

        ``but``: not those that failed for one of these. They have all their attempts, and no longer count as failed.
        """
        given.text(reason, "a reason")
        at = self._tick(now)
        failed = ((page, why) for page, why in self.history.failed().items() if why.startswith(reason) and why not in but)
        found = [page for page, _ in failed if self.completed(page)]
        for page in found:
            self._do(events.Scheduled(at, page, at, reopened=True))
        self._acknowledge()
        return len(found)

    def _of(self, url: str) -> int:
        page = self.find_page(given.url(url, "a page"))
        if page < 0:
            raise InputError(f"page {url!r} was settled, but it is not leased; take it first, and settle it once")
        return page

    # What is safe, and the end --------------------------------------------------------------------------------------------
    @alone
    def commit(self) -> None:
        """All events so far survive this process."""
        self.log.commit()

    @alone
    def sync(self) -> None:
        """All events so far survive a power cut."""
        self.log.sync()

    @alone
    def snapshot(self, wait: bool = True) -> None:
        """Save the arrays of the crawl, so that the next start is quick; without ``wait``, beside the crawl."""
        recovery.snapshot(self, wait)

    @alone
    def close(self, max_s: float | None = None) -> None:
        """Leave a snapshot, so that the next start is quick, and let the directory go. One that takes longer is given up."""
        try:
            usable = self.log.writable and not self.log.broken and (max_s is None or max_s > 0)
            if usable and self.log.seq - self.snapshot_seq >= SNAPSHOT_ROWS:
                recovery.snapshot(self, wait=max_s is None)
        finally:
            self._let_go(max_s)

    @alone
    def abandon(self) -> None:
        """Let the directory go as it is, without a snapshot: as quickly as the end of the process would."""
        self._let_go(0.0)

    def _let_go(self, snapshot_s: float | None) -> None:
        self._ended.set()
        end_snapshot = getattr(self.log, "end_snapshot", None)  # of logs that write them beside the crawl
        if snapshot_s is not None and end_snapshot is not None:
            end_snapshot(snapshot_s)
        self.log.close()
        for scoring in self.scoring.values():
            scoring.close()

    def __enter__(self) -> Crawl:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _apart(links: Iterable[Link]) -> tuple[list[str], list[str] | None]:
    """The URLs of links, and their anchors, if any has one."""
    if not isinstance(links, Iterable):
        raise InputError(f"links must be URLs, or URLs and their anchors, got {links!r}")
    found = [links] if isinstance(links, str) else list(links)
    if set(map(type, found)) <= {str}:  # most crawls have no anchors to tell: 3 us a page
        return found, None  # type: ignore[return-value]
    pairs = [(link, "") if isinstance(link, str) else link for link in found]
    for pair in pairs:
        if not (isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise InputError(f"a link must be a URL, or a URL and its anchor, got {pair!r}")
    return [target for target, _ in pairs], [anchor for _, anchor in pairs]


def _check_ways(group: int, sync_s: float, ranking: str, truth: Any, frontier: Any) -> None:
    """How it is run: said before there is a directory."""
    if truth is not None:
        given.function(truth, "truth", "which gives the importance of a URL")
    given.function(frontier, "frontier", "which makes one for a Politeness")
    if not (isinstance(group, int) and group >= 1):
        raise InputError(f"group must be a whole number of events from 1, got {group!r}")
    if not (isinstance(sync_s, int | float) and 0 <= sync_s <= MAX_S):
        raise InputError(f"sync_s must be a number of seconds from 0, got {sync_s!r}")
    if not isinstance(ranking, str) or ranking not in (INLINE, BACKGROUND):
        raise InputError(f"ranking must be {INLINE!r} or {BACKGROUND!r}, got {ranking!r}")
