"""Crawl: the same orderings, one event at a time, for a crawler that learns of pages as it goes.

    with Crawl("fpr", "my-crawl", politeness=Politeness(delay_s=1.0)) as crawl:
        crawl.seed(["https://example.org/"])
        while urls := crawl.take():
            for url in urls:
                crawl.fetched(url, links=[("https://example.org/a", "its anchor")])

    crawl = Crawl.recover("my-crawl")      # after any kind of end: everything acknowledged is there

Nothing is known but what the events said; state grows as pages are discovered. With one page in flight and no politeness the
order is exactly the one ``simulate`` gives. Without a directory, events live in memory.

Pages are named by URL, or by the number that ``take_pages``, ``lookup`` and ``intern`` give: whoever has it spares a lookup.
``crawl.control`` is for operators, ``crawl.inspect`` for whoever looks at it, ``crawl.queues`` for services.

An event is acknowledged when its call returns: it then survives the end of the process. With ``group=k`` up to k events
share a commit, and are acknowledged by it, by the next ``take``, or by ``commit()``. The disk has them ``sync_s`` seconds
later, or at ``sync()``. A page that was taken is leased: if it is not settled in time it waits again.
Every method may be called from any thread at any time (``locking``), and none is slow.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Unpack

import numpy as np

from frontrank.crawl import events, inbox, validation
from frontrank.crawl.arriving import Content, Link, Links, fetched_event, targets_of
from frontrank.crawl.control import Control
from frontrank.crawl.events import Where
from frontrank.crawl.inspect import Inspector
from frontrank.crawl.journal import Journal
from frontrank.crawl.locking import locked
from frontrank.crawl.log import Log
from frontrank.crawl.meaning import fresh_seeds, leased_page, parent_page, waiting_page
from frontrank.crawl.queues import Queues
from frontrank.crawl.recorder import Recorder
from frontrank.crawl.recovery import begin, recover
from frontrank.crawl.setup import CrawlSetup, NewCrawl, SetupOptions
from frontrank.crawl.taking import Taker
from frontrank.deprecated import members_of_before
from frontrank.frontiers.frontier import LEASED
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.kernels import hashtable as names
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy
from frontrank.orderings.stored import trusting
from frontrank.pages.groups import HOST, Groups
from frontrank.pages.scorers import Judged
from frontrank.pages.scoring import Scorers

__all__ = ["Crawl", "Link", "Where"]


@members_of_before
class Crawl:
    """A policy at work on pages that are named by the events: URLs, or any other text."""

    def __init__(
        self,
        policy: Policy | str,
        path: str | os.PathLike[str] | None = None,
        *,
        politeness: Politeness = FREE,
        capacity: int = 16,
        impact_by: str = "",
        revisit_share: float | None = None,
        queue_by: Groups = HOST,
        notes: Mapping[str, Any] | None = None,
        log: Log | None = None,
        **options: Unpack[SetupOptions],
    ) -> None:
        """``options``: the fields of ``CrawlSetup``, such as ``group`` and ``ranking``. ``log``: another than those shipped."""
        setup = CrawlSetup(politeness=validation.politeness(politeness), capacity=capacity, **options)
        new = NewCrawl(impact_by=impact_by, revisit_share=revisit_share, queue_by=queue_by, notes=notes)
        folder = None if path is None else validation.path(path)
        self._attach(begin(as_policy(policy), folder, log, setup, new))

    @classmethod
    def recover(
        cls,
        path: str | os.PathLike[str] | Log,
        policy: Policy | str | None = None,
        *,
        politeness: Politeness | None = None,
        rescore: bool = False,
        read_only: bool = False,
        keep_leases: bool = False,
        names_of: Crawl | None = None,
        trust: bool = False,
        **options: Unpack[SetupOptions],
    ) -> Crawl:
        """The crawl of a directory (or log), after its last acknowledged event; pages that were leased wait again.

        Another policy than the stored one is refused, unless ``rescore``: then it sees everything that happened.
        ``politeness`` and ``workload`` hold from now on. ``read_only`` looks at a crawl, which may be running, and changes
        nothing. ``keep_leases``: they belong to fetchers elsewhere. ``names_of``: a crawl of the same log, whose names need not
        be read again. ``trust``: load the code that the stored ordering names, if no installed package provides it.
        """
        setup = CrawlSetup(politeness=politeness, **options)
        is_path = isinstance(path, str | os.PathLike) or not hasattr(path, "add_urls")
        wanted = None if policy is None else as_policy(policy)
        log: Any = Journal.open(validation.path(path), setup.group, setup.sync_s, read_only) if is_path else path
        with trusting(trust):
            others = None if names_of is None else names_of.state
            how = {"rescore": rescore, "read_only": read_only, "keep_leases": keep_leases, "names_of": others}
            recorder = recover(log, wanted, setup, **how)
        crawl = cls.__new__(cls)
        crawl._attach(recorder, resumed=not read_only)
        return crawl

    def _attach(self, recorder: Recorder, resumed: bool = False) -> None:
        self._recorder, self.state = recorder, recorder.state
        self._taker = Taker(self.state, recorder, recorder.log.notes.get("revisit_share"))
        self.control = Control(self.state, recorder, self._taker)
        self.inspect = Inspector(self.state, recorder, resumed)
        self.queues = Queues(self.state, recorder, self._taker)
        self.scorers = Scorers(self.state.policy.scorers())
        self._listens = False  # to what other processes tell it

    # Which page is meant ----------------------------------------------------------------------------------------------------
    @locked
    def lookup(self, url: str, queue: str | None = None, *, key: int | None = None) -> int:
        """The number of the page of this URL, -1 if it is not known; of several, the one that is leased, else one that waits.
        ``queue``: the page in this queue alone. ``key``: the page that was interned with it."""
        if key is not None:
            return self.state.pages.find(key)
        return self.state.lookup(url, queue)

    @locked
    def intern(self, url: str, key: int | None = None) -> int:
        """The number of a page, which is known from now on; it waits once it is seeded or linked to.

        ``key``: a fingerprint, of a page that is known by more than its URL.
        """
        keys = None if key is None else np.array([names.signed(key)], np.int64)
        return int(self.state.intern([validation.url(url, "a page")], keys)[0])

    @locked
    def url(self, page: int) -> str:
        return self.state.log.url(self.state.pages.check(page))

    # Events -----------------------------------------------------------------------------------------------------------------
    @locked
    def seed(self, pages: str | Iterable[str | int], now: float | None = None) -> None:
        """Start from these pages; the weights of one call's seeds add up to 1."""
        fresh, at = fresh_seeds(self.state, pages), self._recorder.tick(now)
        if fresh:
            self._recorder.record(events.Seeded(at, fresh))
        self._recorder.acknowledge()

    @locked
    def take(self, n: int = 1, now: float | None = None) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none may go now."""
        taken, tried = self._take(n, now)
        urls = [self.state.log.url(page) for page in taken]  # after the commit each would be a transaction
        if tried:
            self._recorder.commit()
        return urls

    @locked
    def take_pages(self, n: int = 1, now: float | None = None) -> list[int]:
        """The same by number."""
        taken, tried = self._take(n, now)
        if tried:
            self._recorder.commit()
        return taken

    def _take(self, n: int, now: float | None) -> tuple[list[int], int]:
        if not self._listens:
            self._listens = True
            inbox.start_listening(self, self._recorder.ended)
        return self._taker.take(validation.whole(n, "n", of=" of pages"), self._recorder.tick(now))

    def fetched(
        self,
        page: str | int,
        links: Links | None = (),
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        anchors: Sequence[str] | None = None,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
        scores: Mapping[str, Judged] | None = None,
        again_at: float | None = None,
        again_after: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        any_state: bool = False,
    ) -> None:
        """A taken page has arrived, with these links (each a URL, or a URL and its anchor), this text and this impact.

        ``links`` may be numbers of pages, too, with ``anchors`` beside them; None: those that ``discover`` had of the page.
        ``scores``: what ``self.scores`` said of it; if it was not asked, it is now. {}: there is nothing to judge.
        ``again_at``, or ``again_after`` so many seconds: when the page is to be fetched again; if it arrives then with status
        304, it is as it was, and keeps its links. ``metadata``: what else is stored with the page (JSON); ``withheld`` says why
        nothing may be made of its text, ``canonical`` which URL it calls its own. ``any_state``: it need not be leased.
        """
        if scores is None:
            url = self.url(page) if isinstance(page, int | np.integer) else validation.url(page, "a page")
            scores = self.scores(url, title, text)
        if again_after is not None:
            again_at = self._recorder.from_now(validation.seconds(again_after, "a page must be fetched again after"), now)
        with self.state.lock:  # not while a scorer judges
            number = leased_page(self.state, page)
            targets, words = (None, None) if links is None else targets_of(self.state, links, anchors)
            content = Content(title, text, impact, status, where, scores, again_at, validation.metadata(metadata)).checked()
            at = self._recorder.tick(now)
            if not any_state:
                self._recorder.check_leased(number)
            self._recorder.record(fetched_event(self.state, number, targets, words, content, at))
            self._recorder.settled(at)

    @locked
    def failed(
        self,
        page: str | int,
        reason: str = "failed",
        *,
        retry: bool = False,
        retry_s: float | None = None,
        where: Where | None = None,
        now: float | None = None,
        attempted: bool = True,
    ) -> bool:
        """A taken page did not arrive. True if it will be tried again; else it counts as fetched, and keeps no links.

        ``attempted=False``: it is no fault of the page, which waits again and has as many attempts left as before.
        """
        number = leased_page(self.state, page)
        reason, where = validation.text(reason, "a reason"), validation.where(where)
        if retry_s is not None:
            retry_s = validation.seconds(retry_s, "a page must be tried again after")
        at, politeness = self._recorder.tick(now), self.state.politeness
        self._recorder.check_leased(number)
        attempt = self.state.leases.attempts.get(number, 0) + bool(attempted)
        if retry and (attempt <= politeness.retries or not attempted):
            due = at + (politeness.pause(max(attempt, 1)) if retry_s is None else retry_s)
            self._recorder.record(events.Retried(at, number, attempt, due, reason, where))
            self._recorder.acknowledge()
            return True
        self._recorder.record(events.Failed(at, number, reason, where))
        self._recorder.settled(at)
        return False

    @locked
    def drop(self, page: str | int, reason: str = "dropped", now: float | None = None) -> None:
        """A waiting page will never be asked for: rules that were set later exclude it. It counts as failed."""
        number = waiting_page(self.state, page)
        reason, at = validation.text(reason, "a reason"), self._recorder.tick(now)
        self._recorder.record(events.Failed(at, number, reason))
        self._recorder.settled(at)

    @locked
    def give_back(self, pages: Sequence[int], now: float | None = None) -> None:
        """Pages that were taken wait again at once, where they were: whoever had them is gone. Others are left alone."""
        numbers = self.state.pages.check_all(pages)
        at = self._recorder.tick(now)
        for page in numbers:
            if self.state.frontier.mark(page) == LEASED:
                self._recorder.record(events.Expired(at, page))
        self._recorder.acknowledge()

    @locked
    def discover(
        self,
        urls: Sequence[str],
        parent: str | None = None,
        anchors: Sequence[str] = (),
        queues: Sequence[str | None] | None = None,
        now: float | None = None,
    ) -> list[bool]:
        """As ``queues.discover``, with the parent by its URL. True for each of the URLs that was not known before."""
        page = -1 if parent is None else parent_page(self.state, parent)
        fresh: list[bool] = self.queues.discover(urls, page, anchors, queues, now)[1].tolist()
        return fresh

    def scores(self, url: str, title: str, text: str) -> dict[str, Judged]:
        """What the ordering's scorers say of a page, for ``fetched``. It may take seconds, and holds up nobody else."""
        return self.scorers.judge(url, title, text)

    # What is kept beside ----------------------------------------------------------------------------------------------------
    @locked
    def attach(self, payloads: Mapping[int, bytes]) -> None:
        """Keep something with each of these pages until it is settled. It is acknowledged with the next event."""
        payloads = validation.payloads(payloads)
        self.state.payloads.attach(dict(zip(self.state.pages.check_all(list(payloads)), payloads.values(), strict=True)))

    @locked
    def attached(self, pages: Sequence[int]) -> dict[int, bytes]:
        """What is kept with those of these pages that anything is kept with."""
        return self.state.payloads.of(self.state.pages.check_all(pages))

    @property
    def notes(self) -> dict[str, Any]:
        """Settings that whoever drives the crawl has stored with it."""
        return self.state.log.notes

    def note(self, key: str, value: Any) -> None:
        """Store a value (JSON) under a key, for good."""
        self._recorder.note(key, value)

    # When, and until when ---------------------------------------------------------------------------------------------------
    @locked
    def next_at(self) -> float | None:
        """When a page may next be taken; None if time alone brings none."""
        return self._taker.next_at()

    # What is safe, and the end --------------------------------------------------------------------------------------------
    def together(self) -> AbstractContextManager[None]:
        """All events inside share one commit, and are acknowledged by it. No other thread comes between them."""
        return self._recorder.together()

    @locked
    def commit(self) -> None:
        """All events so far survive this process."""
        self.state.log.commit()

    @locked
    def sync(self) -> None:
        """All events so far survive a power cut."""
        self.state.log.sync()

    @locked
    def snapshot(self, wait: bool = True) -> None:
        """Save the arrays of the crawl, so that the next start is quick; without ``wait``, beside the crawl."""
        self._recorder.snapshot(wait)

    def close(self, max_s: float | None = None) -> None:
        """Leave a snapshot, so that the next start is quick, and let the directory go. One that takes longer is given up."""
        self._recorder.close(max_s)
        self.scorers.close()

    def abandon(self) -> None:
        """Let the directory go as it is, without a snapshot: as quickly as the end of the process would."""
        self.close(0.0)

    def __enter__(self) -> Crawl:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
