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

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from frontrank.crawl import events, recovery, status
from frontrank.crawl.control import MOST_HELD, PAUSED_S
from frontrank.crawl.events import Where
from frontrank.crawl.history import History
from frontrank.crawl.journal import Journal
from frontrank.crawl.live import SNAPSHOT_ROWS, alone
from frontrank.crawl.log import Log
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.needs import check_asked, check_live
from frontrank.crawl.queues import Queues
from frontrank.crawl.ranking import INLINE
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, LATER, LEASED, WAITING, Frontier
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import to_data
from frontrank.pages.groups import HOST, Groups
from frontrank.pages.scorers import Judged
from frontrank.pages.urls import canonical
from frontrank.web.view import Workload, workload_notes
from frontrank.web.web import IMPACTS

__all__ = ["Crawl", "Link", "Where"]

logger = logging.getLogger("frontrank.crawl")

Link = str | tuple[str, str]
SOON_S = 0.02  # a take that waits for a ranking looks again


class Crawl(Queues):
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
        if not isinstance(politeness, Politeness):
            raise InputError(f"politeness must be a Politeness, such as Politeness(delay_s=1.0), got {politeness!r}")
        _check_commits(group, sync_s)
        check_live(policy, queries=workload is not None, truth=truth is not None)
        if impact_by not in ("", *IMPACTS):
            raise InputError(f"impact_by must be views or clicks, got {impact_by!r}")
        stored = {**(notes or {}), "policy": to_data(policy), "politeness": politeness.json(), "started": clock()}
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
        elif path is None:
            log = MemoryLog(keep=False)
            log.notes.update(stored)
        else:
            log = Journal.create(Path(path), stored, group, sync_s)
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
    ) -> Crawl:
        """The crawl of a directory (or log), as it was after its last acknowledged event; leases of the dead process return.

        Another policy than the one it was crawled with is refused, unless ``rescore``: then its state is built by letting
        it see everything that happened. ``politeness`` holds from now on, if it is given. ``read_only`` looks at a crawl,
        which may be running, and changes nothing. ``keep_leases``: they belong to fetchers elsewhere, and hold until they end.
        ``workload``: what searchers ask from now on; another policy may need queries that the crawl was started without.
        ``names_of``: a crawl of the same log, whose names need not be read again.
        """
        _check_commits(group, sync_s)
        log = Journal.open(Path(path), group, sync_s, read_only) if isinstance(path, str | os.PathLike) else path
        try:
            crawl = cls.__new__(cls)
            wanted = None if policy is None else as_policy(policy)
            how = (rescore, truth, clock, read_only, ranking, keep_leases, frontier, workload, names_of)
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

    # What is known --------------------------------------------------------------------------------------------------------
    @property
    @alone
    def waiting(self) -> int:
        """Pages that wait to be taken, now or when a retry is due."""
        return self.frontier.counts.waiting

    @property
    def leased(self) -> int:
        return len(self.leases)

    @property
    def fetched_count(self) -> int:
        return len(self.order) - self.failed_count

    @property
    def folder(self) -> Path | None:
        """The directory of a durable crawl."""
        return self.log.folder

    @property
    def broken(self) -> str:
        """Why nothing can be stored any more; empty if all is well."""
        return self.log.broken

    @property
    def notes(self) -> dict[str, Any]:
        """Settings that whoever drives the crawl has stored with it."""
        return self.log.notes

    @alone
    def note(self, key: str, value: Any) -> None:
        self.log.note(key, value)

    @alone
    def find(self, url: str, key: int | None = None) -> int:
        return super().find(url, key)

    @alone
    def page(self, url: str, key: int | None = None) -> int:
        return super().page(url, key)

    @alone
    def url(self, page: int) -> str:
        return super().url(page)

    @alone
    def mark(self, page: int) -> int:
        """Where a page stands: ABSENT, WAITING, LEASED, LATER or GONE of ``frontiers.frontier``."""
        return self.frontier.mark(page)

    @alone
    def waiting_pages(self) -> list[int]:
        """All pages that wait, for their turn or for a retry, in the order of their numbers."""
        return [page for page in range(self.known) if self.frontier.mark(page) in (WAITING, LATER)]

    @alone
    def attach(self, page: int, payload: bytes) -> None:
        """Keep something with a page until it is settled. It is acknowledged with the next event."""
        self.holds_payloads = True
        self.log.attach(page, payload)

    @alone
    def attached(self, page: int) -> bytes | None:
        return self.log.attached(page)

    @alone
    def next_at(self) -> float | None:
        """When a page may next be taken; None if time alone brings none."""
        if self.done():
            return None
        first = self.frontier.next_at()
        if first == np.inf:
            return None
        if self._waits_for_ranking() or self.paused:
            return self.clock() + (PAUSED_S if self.paused else SOON_S)
        return max(first - self.shift, 0.0)

    @alone
    def gauges(self) -> dict[str, float]:
        return self.policy.gauges(self.state)

    @property
    def history(self) -> History:
        """What happened so far, counted: for reports."""
        return History(self)

    def before_sync(self, call: Callable[[], None]) -> None:
        """Have this called before events reach the disk: files that they point to must be there first."""
        self.log.before_sync = call

    # What a person asks ---------------------------------------------------------------------------------------------------
    @alone
    def status(self) -> dict[str, Any]:
        """How far it is: pages fetched, waiting, leased, failed by reason, hosts, the next pages in their order."""
        return status.of(self)

    @alone
    def overview(self) -> dict[str, Any]:
        """The same but for failures by reason and the next pages, at a price that does not grow with the crawl's past."""
        return status.overview(self)

    @alone
    def score_distribution(self, bins: int = 40) -> dict[str, Any]:
        """How the priorities of waiting pages are distributed; of many pages, some are looked at."""
        return status.scores(self, bins)

    @alone
    def coverage(self) -> dict[str, Any]:
        """How much of what is known was fetched: pages, hosts, and pages by their depth."""
        return status.coverage(self)

    @alone
    def next(self, n: int = 20) -> list[dict[str, Any]]:
        """The next pages by priority: url, queue, priority, depth."""
        return status.upcoming(self, n)

    @alone
    def pages_shown(self, pages: Sequence[int]) -> list[dict[str, Any]]:
        """Where these pages stand: url, queue, state, due, priority of those that wait, depth. Not forgotten ones."""
        return status.pages(self, pages)

    @alone
    def hosts(self) -> list[dict[str, Any]]:
        """What is known of each host: name, pages waiting, leased and taken, limits, when it may be asked again."""
        return status.hosts(self)

    @alone
    def busiest_hosts(self, n: int) -> list[dict[str, Any]]:
        """The hosts with most pages in flight and waiting, without looking at all pages: for a screen."""
        return status.busiest(self, n)

    @alone
    def explain(self, url: str, queue: str | None = None) -> dict[str, Any]:
        """Why a page stands where it stands: its place, and which fetched pages gave which part of its priority.

        ``queue``: which page of the URL, if it waits in several queues.
        """
        from frontrank.crawl.explain import explain

        return explain(self, url, queue)

    # Events by URL --------------------------------------------------------------------------------------------------------
    @alone
    def seed(self, urls: str | Iterable[str], now: float | None = None) -> None:
        """Start from these pages; the weights of one call's seeds add up to 1."""
        given = _named(list(urls) if isinstance(urls, Iterable) and not isinstance(urls, str) else [urls], "a seed")
        if not given:
            raise InputError("there must be at least one seed to start from, got none")
        self.seed_pages(self._pages(given, names.fingerprints(given)).tolist(), now)

    @alone
    def take(self, n: int = 1, now: float | None = None) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none may go now."""
        taken, tried = self._take(n, now)
        urls = [self.log.url(page) for page in taken]  # before the commit: after it each would be a transaction of its own
        if tried and not self._held:
            self.log.commit()
        return urls

    def scores(self, url: str, title: str, text: str) -> dict[str, Judged]:
        """What the ordering's scorers say of a page, for ``fetched``. It may take seconds, and holds up nobody else."""
        return {scorer: scoring.page(url, title, text) for scorer, scoring in self.scoring.items()}

    def scores_at_once(self, url: str, title: str, text: str) -> dict[str, Judged] | None:
        """The same, if it cannot take long."""
        found = {scorer: scoring.at_once(url, title, text) for scorer, scoring in self.scoring.items()}
        judged = {scorer: value for scorer, value in found.items() if value is not None}
        return judged if len(judged) == len(found) else None

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
            again_at = (self.clock() if now is None else now) + again_after
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
        waits = (page for page in self.pages_named(url) if self.frontier.mark(page) in (WAITING, LATER))
        page = next(waits, self.find_page(url))
        if page < 0:
            raise InputError(f"page {url!r} cannot be dropped: this crawl does not know it")
        self.drop_page(page, reason, now)

    @alone
    def impact(self, url: str, *, clicks: float | None = None, views: float | None = None, now: float | None = None) -> None:
        """What searchers made of a page so far: how often they chose it (clicks), were shown it (views), or both.

        It holds from the next ranking on, and replaces what was told of the page before. A page that waits may be told of
        too: it counts once the page is fetched. A crawl goes by views or by clicks (``impact_by``), or else by what it is
        told first, views before clicks.
        """
        page = self.find_page(url)
        if page < 0:
            raise InputError(f"page {url!r} cannot be given an impact: this crawl does not know it")
        self._check_impact(url, clicks, views)
        told = {"clicks": clicks, "views": views}
        self._do(events.Valued(self._tick(now), page, **{k: None if v is None else float(v) for k, v in told.items()}))
        self._acknowledge()

    @alone
    def impacts(self, told: Iterable[Sequence[Any]], now: float | None = None) -> list[str]:
        """The same for many pages: rows of URL, clicks and views, None for what is not known. Returns unknown pages."""
        rows = [(self._known_as(url), url, clicks, views) for url, clicks, views in told]
        for _, url, clicks, views in rows:
            self._check_impact(url, clicks, views)
        with self.together():
            for page, _, clicks, views in rows:
                if page >= 0:
                    self.impact(self.log.url(page), clicks=clicks, views=views, now=now)
        unknown = [url for page, url, _, _ in rows if page < 0]
        if unknown:
            named = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
            logger.warning("%d of %d pages with an impact are not known to this crawl: %s", len(unknown), len(rows), named)
        return unknown

    @alone
    def unknown_urls(self, urls: Iterable[str]) -> list[str]:
        """Those of which this crawl has never heard."""
        return [url for url in urls if self._known_as(url) < 0]

    def _known_as(self, url: str) -> int:
        """The number of a page by its URL as it is given, or else by its canonical form."""
        page = self.find(url)
        return page if page >= 0 else self.find(canonical(url))

    def _check_impact(self, url: str, clicks: float | None, views: float | None) -> None:
        for name, value in (("clicks", clicks), ("views", views)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} of page {url!r} must be a finite number from 0, got {value}")
        given = [name for name, value in (("views", views), ("clicks", clicks)) if value is not None]
        if not given:
            raise InputError(f"page {url!r} must be given clicks, views or both, got neither")
        if self.impact_by and self.impact_by not in given:
            raise InputError(
                f"this crawl goes by {self.impact_by}, but {given[0]} were given for page {url!r}; give {self.impact_by} too, "
                f"or start the crawl with impact_by={given[0]!r}"
            )

    @alone
    def ask(self, workload: Workload, now: float | None = None) -> None:
        """Searchers ask these queries from now on: what later rankings go by, in place of those before.

        If there were none before, the search engine behind the crawl knows the pages fetched so far by their URLs alone.
        """
        if "workload" not in self.notes:
            check_asked(self.policy)
        if not len(workload) or not np.any(np.asarray(workload.frequency) > 0):
            raise InputError("a workload must have at least one query with a frequency above 0, got none")
        self._do(events.Asked(self._tick(now), workload))
        self._acknowledge()

    def _of(self, url: str) -> int:
        page = self.find_page(*_named([url], "a page"))
        if page < 0:
            raise InputError(f"page {url!r} was settled, but it is not leased; take it first, and settle it once")
        return page

    # Events by page number ------------------------------------------------------------------------------------------------
    @alone
    def seed_pages(self, pages: Sequence[int], now: float | None = None) -> None:
        self.check_known(pages)
        at = self._tick(now)
        fresh = [page for page in dict.fromkeys(pages) if self.frontier.mark(page) in (ABSENT, WAITING, FORGOTTEN)]
        if fresh:
            self._do(events.Seeded(at, fresh))
        self._acknowledge()

    @alone
    def take_pages(self, n: int = 1, now: float | None = None) -> list[int]:
        taken, tried = self._take(n, now)
        if tried and not self._held:
            self.log.commit()
        return taken

    def _take(self, n: int, now: float | None) -> tuple[list[int], int]:
        """Pages that may go, and how many were looked at: if any were, there is something to commit."""
        if not isinstance(n, int | np.integer):
            raise InputError(f"n must be a whole number of pages, got {n!r}")
        at = self._tick(now)
        if not self._may_take(at):
            return [], 0
        allowed: list[int] = []
        tried = 0
        while len(allowed) < n and tried < n + MOST_HELD and (taken := self._draw(n - len(allowed), at)):
            tried += len(taken)
            allowed += self._taken(taken, at)
        return allowed, tried

    def _draw(self, n: int, at: float) -> list[int]:
        """The best pages; with a share for revisits, so many of all that are taken are those that are due for longest."""
        share, drawn = self.revisit_share, self._drawn
        if share is None:
            return self.frontier.take(n, at)
        self.frontier.release(at, self.state.fetched)
        taken: list[int] = []
        while len(taken) < n:
            owed = drawn[1] < share * (drawn[0] + 1)
            page = self.frontier.take_returning(at) if owed else -1
            if page < 0:
                page = (self.frontier.pop(at) or [-1])[0]
            if page < 0 and not owed:
                page = self.frontier.take_returning(at)
            if page < 0:
                break
            drawn[0] += 1
            drawn[1] += int(self.state.fetched[page])
            taken.append(page)
        return taken

    def share_revisits(self, share: float | None) -> None:
        """Give revisits that are due this share of what is taken, if there is enough of both; None: the ordering decides."""
        self.note("revisit_share", None if share is None else checked_share(share))
        self.revisit_share = share

    @alone
    def fetched_page(
        self,
        page: int,
        targets: Sequence[int] | None,
        anchors: Sequence[str] | None = None,
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
        scores: Mapping[str, Judged] | None = None,
        again_at: float | None = None,
        any_state: bool = False,
    ) -> None:
        """``targets=None``: the links that ``discover`` was told of the page. ``any_state``: it need not be leased."""
        self.check_known([page, *(targets if targets is not None else ())])
        judged = self.scores(self.url(page), title, text) if scores is None else scores
        said = (title, text, impact)
        self._fetched_page(page, targets, anchors, said, status, where, now, judged, again_at, any_state)

    def _fetched_page(
        self,
        page: int,
        targets: Sequence[int] | Array | None,
        anchors: Sequence[str] | None,
        said: tuple[str, str, float],
        status: int,
        where: Where | None,
        now: float | None,
        scores: Mapping[str, Judged],
        again_at: float | None,
        any_state: bool = False,
    ) -> None:
        title, text, impact = said
        if again_at is not None and not math.isfinite(again_at):
            raise InputError(f"a page must be fetched again at a time in seconds, got {again_at}")
        if not (math.isfinite(impact) and impact >= 0):
            raise InputError(f"the impact of a page must be a finite number from 0, got {impact}")
        at = self._tick(now)
        if not any_state:
            self._check_leased(page)
        if targets is None:
            told = self.pending.get(page, {})
            targets, anchors = list(told), list(told.values())
        links, words = _distinct(page, targets, anchors)
        if text and self.keeps_texts:
            self.log.keep_text(page, text)
        self._do(events.Fetched(at, page, links, words, title, text, float(impact), status, where, scores, again_at))
        self._settled(at)

    @alone
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
        self.check_known([page])
        at = self._tick(now)
        self._check_leased(page)
        attempt = self.attempts.get(page, 0) + 1
        if retry and attempt <= self.politeness.retries:
            due = at + (self.politeness.pause(attempt) if retry_s is None else retry_s)
            self._do(events.Retried(at, page, attempt, due, reason, where))
            self._acknowledge()
            return True
        self._do(events.Failed(at, page, reason, where))
        self._settled(at)
        return False

    @alone
    def give_back(self, pages: Sequence[int], now: float | None = None) -> None:
        """Pages that were taken wait again at once, where they stood: whoever had them is gone. Others are left alone."""
        self.check_known(pages)
        at = self._tick(now)
        for page in pages:
            if self.frontier.mark(page) == LEASED:
                self._do(events.Expired(at, page))
        self._acknowledge()

    @alone
    def drop_page(self, page: int, reason: str = "dropped", now: float | None = None) -> None:
        self.check_known([page])
        if self.frontier.mark(page) not in (WAITING, LATER):
            raise InputError(f"page {self.url(page)!r} cannot be dropped: it is not waiting")
        at = self._tick(now)
        self._do(events.Failed(at, page, reason))
        self._settled(at)

    @alone
    def rescore(self, now: float | None = None) -> None:
        """Rank everything that waits anew, now. Orderings that are always up to date have nothing to do."""
        if self.policy.interval() and not self.ranking.under_way:
            self._rank(self._tick(now))
            self._acknowledge()

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
    def close(self) -> None:
        """Leave a snapshot, so that the next start is quick, and let the directory go."""
        try:
            usable = self.log.writable and not self.log.broken
            if usable and self.log.seq - self.snapshot_seq >= SNAPSHOT_ROWS:
                recovery.snapshot(self)
        finally:
            self._let_go()

    @alone
    def abandon(self) -> None:
        """Let the directory go as it is, without a snapshot: as quickly as the end of the process would."""
        self._let_go()

    def _let_go(self) -> None:
        self._ended.set()
        self.log.close()
        for scoring in self.scoring.values():
            scoring.close()

    def __enter__(self) -> Crawl:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def checked_share(share: float) -> float:
    if not (isinstance(share, int | float) and 0 <= share <= 1):
        raise InputError(f"revisit_share must be a share from 0 to 1, got {share!r}")
    return float(share)


def _apart(links: Iterable[Link]) -> tuple[list[str], list[str] | None]:
    """The URLs of links, and their anchors, if any has one."""
    given = [links] if isinstance(links, str) else list(links)
    if set(map(type, given)) <= {str}:  # most crawls have no anchors to tell: 3 us a page
        return given, None  # type: ignore[return-value]
    pairs = [(link, "") if isinstance(link, str) else link for link in given]
    for pair in pairs:
        if not (isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise InputError(f"a link must be a URL, or a URL and its anchor, got {pair!r}")
    return [target for target, _ in pairs], [anchor for _, anchor in pairs]


def _check_commits(group: int, sync_s: float) -> None:
    if not (isinstance(group, int) and group >= 1):
        raise InputError(f"group must be a whole number of events from 1, got {group!r}")
    if not sync_s >= 0:
        raise InputError(f"sync_s must be a number of seconds from 0, got {sync_s!r}")


def _named(urls: list[str], what: str) -> list[str]:
    """The same URLs: names, none of them empty."""
    for url in urls:
        if not isinstance(url, str) or not url:
            raise InputError(f"{what} must be a URL, got {url!r}")
    return urls


def _distinct(page: int, targets: Sequence[int] | Array, anchors: Sequence[str] | None) -> tuple[Array, list[str]]:
    """The targets without repetitions and without the page itself; anchors of one target are joined."""
    given = targets.tolist() if isinstance(targets, np.ndarray) else targets
    if anchors is None or not any(anchors):
        distinct = dict.fromkeys(given)
        distinct.pop(page, None)
        if isinstance(targets, np.ndarray) and len(distinct) == len(given):
            return targets, []
        return np.array(list(distinct), "<i4"), []
    words: dict[int, str] = {}
    for target, anchor in zip(given, anchors, strict=True):
        if target != page:
            words[target] = f"{words[target]} {anchor}".strip() if target in words else anchor
    return np.array(list(words), "<i4"), [" ".join(anchor.split("\n")) for anchor in words.values()]
