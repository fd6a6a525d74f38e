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

import math
import os
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import numpy as np

from frontrank.crawl import events, recovery, status
from frontrank.crawl.events import Event, Where
from frontrank.crawl.history import History
from frontrank.crawl.journal import Journal
from frontrank.crawl.kernels import arrive, put_out
from frontrank.crawl.log import Log
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.pages import Known
from frontrank.crawl.ranking import BACKGROUND, INLINE, PART, Ranking
from frontrank.crawl.searchers import Searchers
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, LATER, LEASED, WAITING
from frontrank.frontiers.polite import PUTS
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import compiled
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import to_data
from frontrank.pages.scorers import Judged
from frontrank.pages.scoring import Scoring
from frontrank.web.view import Workload, workload_notes
from frontrank.web.web import IMPACTS

__all__ = ["Crawl", "Link", "Where", "check_live"]

Link = str | tuple[str, str]
SNAPSHOT_WORK = 50_000  # rows and new pages between two snapshots, at least, and a share of what is known
SNAPSHOT_SHARE = 16
SNAPSHOT_S, SNAPSHOT_ROWS = 300.0, 1_000  # or this time, if there are so many rows to save
SNAPSHOT_PAUSE_S = 0.2  # between two attempts: a snapshot may still be on its way
SCORERS = 2  # processes, for a scorer that is not built in
SOON_S = 0.02  # a take that waits for a ranking looks again
F = TypeVar("F", bound=Callable[..., Any])


def _alone(method: F) -> F:
    """One thread at a time."""

    @wraps(method)
    def call(self: Crawl, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return cast(F, call)


class Crawl(Known):
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
        notes: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
        group: int = 1,
        sync_s: float = 1.0,
        ranking: str = INLINE,
        log: Log | None = None,
    ) -> None:
        policy = as_policy(policy)
        check_live(policy, workload, truth)
        if impact_by not in ("", *IMPACTS):
            raise InputError(f"impact_by must be views or clicks, got {impact_by!r}")
        stored = {**(notes or {}), "policy": to_data(policy), "politeness": politeness.json(), "started": clock()}
        if workload is not None:
            stored["workload"] = workload_notes(workload)
        if impact_by:
            stored["impact_by"] = impact_by
        if log is not None:
            for key, value in stored.items():
                log.note(key, value)
        elif path is None:
            log = MemoryLog(keep=False)
            log.notes.update(stored)
        else:
            log = Journal.create(Path(path), stored, group, sync_s)
        self._begin(policy, log, politeness, capacity, truth, workload, clock, ranking)

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
    ) -> Crawl:
        """The crawl of a directory (or log), as it was after its last acknowledged event; leases of the dead process return.

        Another policy than the one it was crawled with is refused, unless ``rescore``: then its state is built by letting
        it see everything that happened. ``politeness`` holds from now on, if it is given. ``read_only`` looks at a crawl,
        which may be running, and changes nothing.
        """
        log = Journal.open(Path(path), group, sync_s, read_only) if isinstance(path, str | os.PathLike) else path
        try:
            crawl = cls.__new__(cls)
            wanted = None if policy is None else as_policy(policy)
            recovery.restore(crawl, log, wanted, rescore, truth, clock, read_only, ranking)
            if politeness is not None and politeness != crawl.politeness:
                crawl._do(events.Behaved(crawl._tick(None), politeness))
                log.commit()
        except BaseException:
            if isinstance(log, Journal):
                log.broken = log.broken or "recovery failed"
            log.close()
            raise
        return crawl

    def _begin(
        self,
        policy: Policy,
        log: Log,
        politeness: Politeness,
        capacity: int,
        truth: Callable[[str], float] | None,
        workload: Workload | None,
        clock: Callable[[], float],
        ranking: str,
    ) -> None:
        if ranking not in (INLINE, BACKGROUND):
            raise InputError(f"ranking must be {INLINE!r} or {BACKGROUND!r}, got {ranking!r}")
        super().__init__(policy, log, politeness, capacity, truth)
        self._lock = threading.RLock()
        self.clock = clock
        self.now = self.shift = 0.0
        self.order = array("i")  # pages in the order in which they were settled
        self.failed_count = 0
        self.leases: dict[int, float] = {}  # page -> when the lease ends, in the order of taking
        self.attempts: dict[int, int] = {}
        self.ranking = Ranking(self, ranking)
        self.replaying = False
        self.scoring = {scorer: Scoring(scorer, SCORERS) for scorer in policy.scorers()}
        asked = self.needs & {"queries", "impact"}
        self.impact_by: str = log.notes.get("impact_by", "")  # whether views or clicks count; else what is told first
        self.searchers = Searchers(workload) if workload is not None and asked else None
        self.snapshot_seq = self.snapshot_known = 0
        self.snapshot_time = time.monotonic()
        self.holds_payloads = log.has_payloads()
        self._link_kernels()

    def _link_kernels(self) -> None:
        kernels = self.policy.kernels()
        putter = PUTS[self.policy.queue]
        self._on_seed, self._on_start, self._done = (compiled(kernels[event]) for event in ("on_seed", "on_start", "done"))
        self._put_out = compiled(put_out, put=putter)
        self._arrive = compiled(arrive, put=putter, on_fetch=kernels["on_fetch"])

    # What is known --------------------------------------------------------------------------------------------------------
    @property
    @_alone
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
        return self.log.folder if isinstance(self.log, Journal) else None

    @property
    def broken(self) -> str:
        """Why nothing can be stored any more; empty if all is well."""
        return self.log.broken if isinstance(self.log, Journal) else ""

    @property
    def notes(self) -> dict[str, Any]:
        """Settings that whoever drives the crawl has stored with it."""
        return self.log.notes

    @_alone
    def note(self, key: str, value: Any) -> None:
        self.log.note(key, value)

    @_alone
    def find(self, url: str, key: int | None = None) -> int:
        return super().find(url, key)

    @_alone
    def page(self, url: str, key: int | None = None) -> int:
        return super().page(url, key)

    @_alone
    def url(self, page: int) -> str:
        return super().url(page)

    @_alone
    def mark(self, page: int) -> int:
        """Where a page stands: ABSENT, WAITING, LEASED, LATER or GONE of ``frontiers.frontier``."""
        return self.frontier.mark(page)

    @_alone
    def waiting_pages(self) -> list[int]:
        """All pages that wait, for their turn or for a retry, in the order of their numbers."""
        return [page for page in range(self.known) if self.frontier.mark(page) in (WAITING, LATER)]

    @_alone
    def attach(self, page: int, payload: bytes) -> None:
        """Keep something with a page until it is settled. It is acknowledged with the next event."""
        self.holds_payloads = True
        self.log.attach(page, payload)

    @_alone
    def attached(self, page: int) -> bytes | None:
        return self.log.attached(page)

    @_alone
    def next_at(self) -> float | None:
        """When a page may next be taken; None if time alone brings none."""
        if self.done():
            return None
        first = self.frontier.next_at()
        if first == np.inf:
            return None
        if self._waits_for_ranking():
            return self.clock() + SOON_S
        return max(first - self.shift, 0.0)

    @_alone
    def gauges(self) -> dict[str, float]:
        return self.policy.gauges(self.state)

    def done(self) -> bool:
        """The ordering's own stopping rule holds."""
        return bool(self._done(self.state))

    @property
    def history(self) -> History:
        """What happened so far, counted: for reports."""
        return History(self)

    def before_sync(self, call: Callable[[], None]) -> None:
        """Have this called before events reach the disk: files that they point to must be there first."""
        if isinstance(self.log, Journal):
            self.log.before_sync = call

    # What a person asks ---------------------------------------------------------------------------------------------------
    @_alone
    def status(self) -> dict[str, Any]:
        """How far it is: pages fetched, waiting, leased, failed by reason, hosts, the next pages in their order."""
        return status.of(self)

    @_alone
    def overview(self) -> dict[str, Any]:
        """The same but for failures by reason and the next pages, at a price that does not grow with the crawl's past."""
        return status.overview(self)

    @_alone
    def score_distribution(self, bins: int = 40) -> dict[str, Any]:
        """How the priorities of waiting pages are distributed; of many pages, some are looked at."""
        return status.scores(self, bins)

    @_alone
    def coverage(self) -> dict[str, Any]:
        """How much of what is known was fetched: pages, hosts, and pages by their depth."""
        return status.coverage(self)

    @_alone
    def next(self, n: int = 20) -> list[dict[str, Any]]:
        """The next pages by priority: url, priority, depth."""
        return status.upcoming(self, n)

    @_alone
    def pages_shown(self, pages: Sequence[int]) -> list[dict[str, Any]]:
        """Where these pages stand: url, state, priority of those that wait, depth."""
        return status.pages(self, pages)

    @_alone
    def hosts(self) -> list[dict[str, Any]]:
        """What is known of each host: name, pages waiting, leased and taken, limits, when it may be asked again."""
        return status.hosts(self)

    @_alone
    def busiest_hosts(self, n: int) -> list[dict[str, Any]]:
        """The hosts with most pages in flight and waiting, without looking at all pages: for a screen."""
        return status.busiest(self, n)

    @_alone
    def explain(self, url: str) -> dict[str, Any]:
        """Why a page stands where it stands: its place, and which fetched pages gave which part of its priority."""
        from frontrank.crawl.explain import explain

        return explain(self, url)

    # Events by URL --------------------------------------------------------------------------------------------------------
    @_alone
    def seed(self, urls: str | Iterable[str], now: float | None = None) -> None:
        """Start from these pages; the weights of one call's seeds add up to 1."""
        given = [urls] if isinstance(urls, str) else list(urls)
        if not given:
            raise InputError("there must be at least one seed to start from, got none")
        self.seed_pages(self._pages(given, names.fingerprints(given)).tolist(), now)

    @_alone
    def take(self, n: int = 1, now: float | None = None) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none may go now."""
        return [self.log.url(page) for page in self.take_pages(n, now)]

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
        links: Iterable[Link] = (),
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
        scores: Mapping[str, Judged] | None = None,
    ) -> None:
        """A taken page has arrived, with these links (each a URL, or a URL and its anchor), this text and this impact.

        ``scores``: what ``self.scores`` said of it; if it was not asked, it is now. {}: there is nothing to judge.
        """
        judged = self.scores(url, title, text) if scores is None else scores
        self._fetched(url, links, (title, text, impact), status, where, now, judged)

    @_alone
    def _fetched(
        self,
        url: str,
        links: Iterable[Link],
        said: tuple[str, str, float],
        status: int,
        where: Where | None,
        now: float | None,
        scores: Mapping[str, Judged],
    ) -> None:
        page = self._of(url)
        targets: list[str] = []
        anchors: list[str] = []
        for link in links:
            target, anchor = (link, "") if isinstance(link, str) else link
            targets.append(target)
            anchors.append(anchor)
        pages = self._pages(targets, names.fingerprints(targets)).tolist()
        self.fetched_page(page, pages, anchors, *said, status=status, where=where, now=now, scores=scores)

    @_alone
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

    @_alone
    def drop(self, url: str, reason: str = "dropped", now: float | None = None) -> None:
        """A waiting page will never be asked for: rules that were set later exclude it. It counts as failed."""
        page = self.find(url)
        if page < 0:
            raise InputError(f"page {url!r} cannot be dropped: this crawl does not know it")
        self.drop_page(page, reason, now)

    @_alone
    def impact(self, url: str, *, clicks: float | None = None, views: float | None = None, now: float | None = None) -> None:
        """What searchers made of a page so far: how often they chose it (clicks), were shown it (views), or both.

        It holds from the next ranking on, and replaces what was told of the page before. A page that waits may be told of
        too: it counts once the page is fetched. A crawl goes by views or by clicks (``impact_by``), or else by what it is
        told first, views before clicks.
        """
        page = self.find(url)
        if page < 0:
            raise InputError(f"page {url!r} cannot be given an impact: this crawl does not know it")
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
        told = {"clicks": clicks, "views": views}
        self._do(events.Valued(self._tick(now), page, **{k: None if v is None else float(v) for k, v in told.items()}))
        self._acknowledge()

    @_alone
    def ask(self, workload: Workload, now: float | None = None) -> None:
        """Searchers ask these queries from now on: what later rankings go by, in place of those before."""
        if "workload" not in self.notes:
            raise InputError("this crawl was started without queries, and none can come later; start it with workload=")
        if not len(workload) or not np.any(np.asarray(workload.frequency) > 0):
            raise InputError("a workload must have at least one query with a frequency above 0, got none")
        self._do(events.Asked(self._tick(now), workload))
        self._acknowledge()

    def _of(self, url: str) -> int:
        page = self.find(url)
        if page < 0:
            raise InputError(f"page {url!r} was settled, but it is not leased; take it first, and settle it once")
        return page

    # Events by page number ------------------------------------------------------------------------------------------------
    @_alone
    def seed_pages(self, pages: Sequence[int], now: float | None = None) -> None:
        at = self._tick(now)
        fresh = [page for page in dict.fromkeys(pages) if self.frontier.mark(page) in (ABSENT, WAITING)]
        if fresh:
            self._do(events.Seeded(at, fresh))
        self._acknowledge()

    @_alone
    def take_pages(self, n: int = 1, now: float | None = None) -> list[int]:
        at = self._tick(now)
        self._expire_due(at)
        if self.done() or self._waits_for_ranking():
            return []
        taken = self.frontier.take(n, at)
        if taken:
            self._do(events.Taken(at, taken))
            self.log.commit()
        return taken

    @_alone
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
        scores: Mapping[str, Judged] | None = None,
    ) -> None:
        judged = self.scores(self.url(page), title, text) if scores is None else scores
        at = self._tick(now)
        self._check_leased(page)
        distinct, words = _distinct(page, targets, anchors)
        if text and self.keeps_texts:
            self.log.keep_text(page, text)
        links = np.array(distinct, "<i4")
        self._do(events.Fetched(at, page, links, words, title, text, float(impact), status, where, judged))
        self._settled(at)

    @_alone
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

    @_alone
    def drop_page(self, page: int, reason: str = "dropped", now: float | None = None) -> None:
        if self.frontier.mark(page) not in (WAITING, LATER):
            raise InputError(f"page {self.url(page)!r} cannot be dropped: it is not waiting")
        at = self._tick(now)
        self._do(events.Failed(at, page, reason))
        self._settled(at)

    @_alone
    def rescore(self, now: float | None = None) -> None:
        """Rank everything that waits anew, now. Orderings that are always up to date have nothing to do."""
        if self.policy.interval() and not self.ranking.under_way:
            self._rank(self._tick(now))
            self._acknowledge()

    @_alone
    def prioritise(self, page: int, priority: int, now: float | None = None) -> None:
        """Take this page before all that have none (or, below 0, after them): larger is sooner, among equals first come.

        The ordering has no say in it until the priority is 0 again; politeness has. A page that does not wait yet has its
        priority from the moment it does.
        """
        self._do(events.Prioritised(self._tick(now), page, priority))
        self._acknowledge()

    @_alone
    def host(
        self,
        name: str,
        *,
        delay_s: float | None = None,
        concurrency: int | None = None,
        budget: int | None = None,
        now: float | None = None,
    ) -> None:
        """Politeness towards one host, such as the delay its robots.txt asks for."""
        given = {"delay_s": delay_s, "concurrency": concurrency, "budget": budget}
        Politeness(delay_s=delay_s or 0.0, per_host=concurrency or 0, host_budget=budget or 0)  # checks the numbers
        limits = {key: value for key, value in given.items() if value is not None}
        self._do(events.Limited(self._tick(now), name.lower(), limits))
        self._acknowledge()

    @_alone
    def block(self, name: str, seconds: float, now: float | None = None) -> None:
        """Take nothing from this host for so long, as its Retry-After asks."""
        at = self._tick(now)
        self._do(events.Blocked(at, name.lower(), at + seconds))
        self._acknowledge()

    @_alone
    def commit(self) -> None:
        """All events so far survive this process."""
        self.log.commit()

    @_alone
    def sync(self) -> None:
        """All events so far survive a power cut."""
        self.log.sync()

    @_alone
    def snapshot(self, wait: bool = True) -> None:
        """Save the arrays of the crawl, so that the next start is quick; without ``wait``, beside the crawl."""
        recovery.snapshot(self, wait)

    @_alone
    def close(self) -> None:
        """Leave a snapshot, so that the next start is quick, and let the directory go."""
        try:
            usable = not isinstance(self.log, Journal) or (not self.log.broken and self.log.writable)
            if usable and self.log.seq - self.snapshot_seq >= SNAPSHOT_ROWS:
                recovery.snapshot(self)
        finally:
            self._let_go()

    @_alone
    def abandon(self) -> None:
        """Let the directory go as it is, without a snapshot: as quickly as the end of the process would."""
        self._let_go()

    def _let_go(self) -> None:
        self.log.close()
        for scoring in self.scoring.values():
            scoring.close()

    def __enter__(self) -> Crawl:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # What happens -----------------------------------------------------------------------------------------------------------
    def apply(self, event: Event) -> None:
        """What an event does: the same when it happens and when a log is read again."""
        self.now = max(self.now, event.time)
        event.apply(self)

    def _do(self, event: Event) -> None:
        self.log.append(event.rows())
        self.apply(event)

    def _tick(self, now: float | None) -> float:
        """The time of an event. It never runs back: if the clock does, the gap is added from then on."""
        now = self.clock() if now is None else now
        if now + self.shift < self.now:
            self.shift = self.now - now
        self.now = now + self.shift
        return self.now

    def _settled(self, at: float) -> None:
        if self.ranking.due():
            self._rank(at)
        self._acknowledge()

    def _rank(self, at: float) -> None:
        self._do(events.RankingBegun(at) if self.ranking.background else events.Rescored(at))

    def _ranked(self) -> None:
        """A ranking that was made beside the crawl has ended: its priorities hold part by part, others may call between."""
        while self._rank_part():
            time.sleep(0.001)

    @_alone
    def _rank_part(self) -> bool:
        """Whether there is more to do."""
        ranking = self.ranking
        if not ranking.under_way or (isinstance(self.log, Journal) and self.log.broken):
            return False
        if ranking.left:
            self._do(events.RankingHeld(self._tick(None), ranking.held, min(PART, ranking.left)))
        else:
            self._do(events.RankingEnded(self._tick(None), ranking.good))
        self.log.commit()
        return ranking.under_way

    def _waits_for_ranking(self) -> bool:
        return self.ranking.under_way and not self.leases

    def _acknowledge(self) -> None:
        self.log.acknowledge()
        rows = self.log.seq - self.snapshot_seq
        work = rows + self.known - self.snapshot_known
        if rows < SNAPSHOT_ROWS:
            return
        since = time.monotonic() - self.snapshot_time
        if since >= SNAPSHOT_S or (work >= max(SNAPSHOT_WORK, self.known // SNAPSHOT_SHARE) and since >= SNAPSHOT_PAUSE_S):
            recovery.snapshot(self, wait=False)

    def _expire_due(self, now: float) -> None:
        while self.leases:
            page = next(iter(self.leases))
            if self.leases[page] > now:
                break
            self._do(events.Expired(now, page))

    def _check_leased(self, page: int) -> None:
        if self.frontier.mark(page) != LEASED:
            raise InputError(f"page {self.url(page)!r} was settled, but it is not leased; take it first, and settle it once")

    # What events do ---------------------------------------------------------------------------------------------------------
    def _plant(self, pages: Sequence[int]) -> None:
        for page in pages:
            self.depths[page] = 0
            self.frontier.put(page, self._on_seed(self.state, page, 1.0 / len(pages)))
        count = self._on_start(self.state, self.out)
        self._put_out(self.frontier.queue, self.out, count)

    def _settle(self, page: int) -> None:
        self.attempts.pop(page, None)
        if self.holds_payloads and not self.replaying:
            self.log.detach(page)
        self._arrive(self.state, self.frontier.queue, self.links, self.depths, page, self.out)
        self.order.append(page)

    @property
    def keeps_texts(self) -> bool:
        return "texts" in self.needs or self.searchers is not None

    @property
    def reads_texts(self) -> bool:
        """Whether ``fetched`` has a use for titles and texts."""
        return self.keeps_texts or bool(self.scoring)

    def _see(self, event: events.Fetched) -> None:
        page = event.page
        if self.searchers is not None:
            self.searchers.note(page, event.title, event.anchors, len(event.links))
        if "texts" in self.needs:
            text = self.log.texts([page])[0] if event.text is None else event.text
            self.policy.see_text(self.state, page, event.title, text)
        self.policy.see_scores(self.state, page, event.scores)
        if self.worth.size and event.impact:
            self.worth[page] = event.impact

    def _value(self, page: int, clicks: float | None, views: float | None) -> None:
        self.impact_by = self.impact_by or ("clicks" if views is None else "views")
        counted = views if self.impact_by == "views" else clicks
        if self.worth.size and counted is not None:
            self.worth[page] = counted


def check_live(policy: Policy, workload: Workload | None, truth: Callable[[str], float] | None) -> None:
    """Refuse an ordering that a live crawl cannot give what it needs."""
    if "queries" in policy.needs() and workload is None:
        raise InputError(
            f"{policy.spec()} is driven by queries and none are given; give a workload (--queries FILE), or another ordering"
        )
    if "truth" in policy.needs() and truth is None:
        raise InputError(
            f"{policy.spec()} goes by the true importance of pages, which only a simulation knows; give truth= "
            f"or another ordering"
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
