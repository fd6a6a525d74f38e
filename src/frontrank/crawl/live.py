"""A crawl at work, below its verbs: the lock, the clock, what an event does, and when it is safe."""

from __future__ import annotations

import heapq
import json
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from frontrank.crawl import events, given, recovery
from frontrank.crawl.drivers import driver_of
from frontrank.crawl.events import Event
from frontrank.crawl.log import Log
from frontrank.crawl.pages import Known
from frontrank.crawl.ranking import PART, Ranking
from frontrank.crawl.rules import Rule, Rules
from frontrank.crawl.searchers import Searchers
from frontrank.crawl.told import Told
from frontrank.errors import InputError
from frontrank.frontiers.frontier import LEASED, Frontier
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array, lazy
from frontrank.orderings.policy import Policy, never
from frontrank.pages.scoring import Scoring
from frontrank.web.view import Workload

SNAPSHOT_WORK = 50_000  # rows and new pages between two snapshots, at least, and a share of what is known
SNAPSHOT_SHARE = 16
SNAPSHOT_S, SNAPSHOT_ROWS = 300.0, 1_000  # or this time, if there are so many rows to save
SNAPSHOT_PAUSE_S = 0.2  # between two attempts: a snapshot may still be on its way
SCORERS = 2  # processes, for a scorer that is not built in
F = TypeVar("F", bound=Callable[..., Any])


def alone(method: F) -> F:
    """One thread at a time."""

    @wraps(method)
    def call(self: Live, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return cast(F, call)


class Live(Known):
    """The state of a live crawl, and what changes it: events."""

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
        frontier: Callable[[Politeness], Frontier] = PoliteFrontier,
    ) -> None:
        super().__init__(policy, log, politeness, capacity, truth, frontier)
        self._lock = threading.RLock()
        self.clock = clock
        self.shift = 0.0
        self.order = array("i")  # pages in the order in which they were settled
        self.failed_count = 0
        self.reopened: set[int] = set()  # pages that had failed, and wait again
        self.revisits = 0  # pages that arrived again
        self.leases: dict[int, float] = {}  # page -> when the lease ends
        self._lease_ends: list[tuple[float, int]] = []  # a heap; some of them hold no more
        self.pending = Told()
        self.links_given_up = 0  # that were told of pages which never arrived
        self.rules = Rules()
        self.held_up: set[int] = set()  # pages that wait because their families may not go
        self.paused = False
        self.revisit_share: float | None = log.notes.get("revisit_share")
        self._listening = False  # to what other processes say
        self._ended = threading.Event()
        self._drawn = [0, 0]  # pages taken by this process: in all, revisits
        self.attempts: dict[int, int] = {}
        self._held = 0  # how many blocks of events that share a commit are open
        self.ranking = Ranking(self, ranking)
        self.replaying = False
        self.resumed = False  # another process was at work on it before
        self.scoring = {scorer: Scoring(scorer, SCORERS) for scorer in policy.scorers()}
        asked = self.needs & {"queries", "impact"}
        self.impact_by: str = log.notes.get("impact_by", "")  # whether views or clicks count; else what is told first
        self.searchers = Searchers(workload) if workload is not None and asked else None
        self.snapshot_seq = self.snapshot_known = 0
        self.snapshot_time = time.monotonic()
        self.holds_payloads = log.has_payloads()
        self.keeps_payloads = bool(log.notes.get("keeps_payloads"))  # also those of pages that are done with
        done = policy.kernels()["done"]
        self._done = None if done is never else lazy(done)  # every take asks
        self.driver = driver_of(policy, self.frontier)

    @property
    def notes(self) -> dict[str, Any]:
        """Settings that whoever drives the crawl has stored with it."""
        return self.log.notes

    @alone
    def note(self, key: str, value: Any) -> None:
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            raise InputError(f"what is noted must be JSON, got {value!r}") from None
        self.log.note(events.storable(given.text(key, "the key of a note")), value)

    # What happens -----------------------------------------------------------------------------------------------------------
    def apply(self, event: Event) -> None:
        """What an event does: the same when it happens and when a log is read again."""
        self.now = max(self.now, event.time)
        event.apply(self)

    def _do(self, event: Event) -> None:
        """It is in the log before it is done; if it cannot be done, it is not kept: no log may fail when it is read again."""
        self.log.append(event.rows())
        try:
            self.apply(event)
        except Exception as error:
            why = f"the event {event.name!r} failed ({type(error).__name__}: {error}); recover the crawl to continue without it"
            self.log.broken = self.log.broken or why
            raise

    def _tick(self, now: float | None) -> float:
        """The time of an event. It never runs back: if the clock does, the gap is added from then on."""
        self._check_open()
        now = self.clock() if now is None else given.seconds(now, "now must be")
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

    @alone
    def _rank_part(self) -> bool:
        """Whether there is more to do."""
        ranking = self.ranking
        if not ranking.under_way or self.log.broken:
            return False
        if ranking.left:
            self._do(events.RankingHeld(self._tick(None), ranking.held, min(PART, ranking.left)))
        else:
            self._do(events.RankingEnded(self._tick(None), ranking.good))
        self.log.commit()
        return ranking.under_way

    def done(self) -> bool:
        """The ordering's own stopping rule holds."""
        return self._done is not None and bool(self._done.call(self.state))

    def _waits_for_ranking(self) -> bool:
        return self.ranking.under_way and not self.leases

    def _acknowledge(self) -> None:
        if not self._held:
            self.log.acknowledge()
        rows = self.log.seq - self.snapshot_seq
        if rows < SNAPSHOT_ROWS:
            return
        work = rows + self.known - self.snapshot_known
        since = time.monotonic() - self.snapshot_time
        if since >= SNAPSHOT_S or (work >= max(SNAPSHOT_WORK, self.known // SNAPSHOT_SHARE) and since >= SNAPSHOT_PAUSE_S):
            recovery.snapshot(self, wait=False)

    @contextmanager
    def together(self) -> Iterator[None]:
        """All events inside share one commit, and are acknowledged by it. No other thread comes between them."""
        with self._lock:
            self._check_open()
            self._held += 1
            try:
                yield
            finally:
                self._held -= 1
                if not self._held:
                    self.log.commit()

    def _lease(self, page: int, until: float) -> None:
        self.leases[page] = until
        if not self.replaying:
            heapq.heappush(self._lease_ends, (until, page))

    def restore_leases(self) -> None:
        """Make the order of leases again, from the leases themselves."""
        self._lease_ends = sorted((until, page) for page, until in self.leases.items())

    def _expire_due(self, now: float) -> None:
        while self._lease_ends and self._lease_ends[0][0] <= now:
            until, page = heapq.heappop(self._lease_ends)
            if self.leases.get(page) == until:
                self._do(events.Expired(now, page))

    def _check_leased(self, page: int) -> None:
        if self.frontier.mark(page) != LEASED:
            raise InputError(f"page {self.url(page)!r} was settled, but it is not leased; take it first, and settle it once")

    # What events do ---------------------------------------------------------------------------------------------------------
    def _plant(self, pages: Array, weight: float) -> None:
        self._out_for(len(pages))
        self.driver.plant(self, pages, weight)

    def _arrived(self, page: int) -> bool:
        """Whether a page has arrived before, with links."""
        return bool(self.state.fetched[page]) and self.links.stop[page] > self.links.start[page]

    def _settle(self, page: int) -> None:
        """A page is done with for the first time."""
        self._leave(page)
        if not self.state.fetched[page]:
            self.order.append(page)
        self.driver.arrive(self, page)

    def _reopen(self, page: int) -> None:
        """A page that has failed is to be tried again: it counts as waiting until it is settled anew."""
        if page not in self.reopened:
            self.reopened.add(page)
            self.failed_count -= 1

    def _close(self, page: int) -> bool:
        """A page is settled. Whether it had been reopened."""
        if page not in self.reopened:
            return False
        self.reopened.discard(page)
        return True

    def _settle_again(self, page: int, links_changed: bool) -> None:
        """A page that had arrived before is done with once more."""
        self._leave(page)
        self.frontier.settle(page)
        if links_changed:
            self.ranking.stale = True
            self.driver.arrive_again(self, page)

    def _meet(self, first: int, urls: Sequence[str], placed: Mapping[int, str]) -> None:
        super()._meet(first, urls, placed)
        if self.rules.boosting:
            for page, url in enumerate(urls, first):
                if priority := self.rules.priority(url):
                    self.frontier.prioritise(page, priority)

    def _count_taken(self, pages: Sequence[int], now: float) -> None:
        self.held_up.difference_update(pages)
        if self.rules.limiting:
            for page in pages:
                self.rules.take(self.log.url(page), now)

    def _rule(self, rule: Rule) -> None:
        before = self.rules.families.get(rule.pattern)
        self.rules.set(rule)
        family = self.rules.families.get(rule.pattern, before)  # one that ends is found by its text, and not compiled again
        if family is not None and self.replaying and rule.boost != (before.rule.boost if before else 0):
            # all names are known by now, also those of pages that came later
            self._boost_all(family.matches)

    def _join(self, name: str, group: str, asked: bool) -> None:
        host, into = self._host(name), self._host(group)  # they may make the frontier grow: before it is used
        self.joined[name] = group
        if self.host_page[into] < 0:
            self.host_page[into] = self.host_page[host]
        if host != into:
            self.frontier.join(host, into, asked)

    def _boost_all(self, matches: Callable[[str], Any]) -> None:
        page = 0
        for urls, _ in self.log.urls():
            for url in urls:
                if matches(url):
                    self.frontier.prioritise(page, self.rules.priority(url))
                page += 1

    def _leave(self, page: int) -> None:
        if self.holds_payloads and not self.replaying and not self.keeps_payloads:
            self.log.detach(page)
        self.leases.pop(page, None)
        self.attempts.pop(page, None)
        self.held_up.discard(page)
        self.pending.end(page)

    def _discovered(self, parent: int, pages: Array, anchors: Sequence[str]) -> None:
        """A page links to these; or, without one, somebody names them."""
        if parent < 0:
            self._plant(pages, 1.0)
            return
        self.driver.meet(self, parent, pages)
        if self.state.fetched[parent] and parent not in self.leases:
            self._late(parent, pages, anchors)
        else:
            self.pending.tell(parent, pages.tolist(), anchors)

    def _late(self, parent: int, pages: Array, anchors: Sequence[str]) -> None:
        """Links of a page that has arrived already. If it had none, they are its links; else they are further ones."""
        first = not self._arrived(parent)
        words = list(anchors or [""] * len(pages))
        if not first and self.keeps_links:
            begin, end = int(self.links.start[parent]), int(self.links.stop[parent])
            had = self.links.target[begin:end]
            further = ~np.isin(pages, had)
            if self.searchers is not None:
                words = self.searchers.anchors[begin:end] + [word for word, new in zip(words, further, strict=True) if new]
            pages, anchors = np.concatenate([had, pages[further]]), ()
        if self.searchers is not None:
            self.searchers.anchors.extend(words)
        self._note_links(parent, pages, anchors)
        self.ranking.stale = True
        (self.driver.arrive if first else self.driver.arrive_again)(self, parent)

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
        if self.scoring:
            self.policy.see_scores(self.state, page, event.scores)
        if self.worth.size and event.impact:
            self.worth[page] = event.impact

    def _ask(self, workload: Workload) -> None:
        if self.searchers is not None:
            self.searchers.ask(workload)
        elif self.needs & {"queries", "impact"}:
            self.searchers = Searchers(workload)
            self.searchers.anchors = [""] * self.used  # of links that are known so far: their words were not kept in memory

    def _value(self, page: int, clicks: float | None, views: float | None) -> None:
        self.impact_by = self.impact_by or ("clicks" if views is None else "views")
        counted = views if self.impact_by == "views" else clicks
        if self.worth.size and counted is not None:
            self.worth[page] = counted
