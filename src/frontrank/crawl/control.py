"""Control of a crawl while it runs: priorities, budgets and paces of hosts and of families of pages, blocks, pauses.

Everything here is an event: it survives the process, and is told by ``frontrank trace``.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from frontrank.crawl import events, given, inbox
from frontrank.crawl.live import Live, alone
from frontrank.crawl.rules import MAX_WORK, Rule, tries
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, WAITING
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array
from frontrank.pages.patterns import Search, searcher

PART = 2_000  # pages that get a priority, or whose names are read, at once: 2 to 10 ms
YIELD_S = 0.001  # between two parts: a lock that is taken again at once is never free for others
PAUSED_S = 0.5  # a paused crawl looks again
MAX_PAGES = 2**31 - 1  # as frontiers count them: a larger limit is none
OVER_QUEUE_CAP = "over the host's queue cap"  # why a page was dropped
MAX_HELD = 10_000  # pages whose families may not go, in one call of take: about 0.2 s, once


class Control(Live):
    """What an operator says."""

    @alone
    def prioritise(self, page: int, priority: int, now: float | None = None) -> None:
        """Take this page before all that have none (or, below 0, after them): larger is sooner, among equals first come.

        The ordering has no say in it until the priority is 0 again; politeness has. A page that does not wait yet has its
        priority from the moment it does.
        """
        page = self.check_page(page)
        priority = given.whole(priority, "a priority", least=-given.MAX_WHOLE)
        self._do(events.Prioritised(self._tick(now), page, priority))
        self._acknowledge()

    @alone
    def prioritise_pages(self, pages: Sequence[int] | Array, priority: int, now: float | None = None) -> None:
        """The same for several pages, as one event."""
        pages = self.check_pages(pages)
        priority = given.whole(priority, "a priority", least=-given.MAX_WHOLE)
        if pages:
            self._do(events.PrioritisedAll(self._tick(now), np.array(pages, np.int32), priority))
        self._acknowledge()

    @alone
    def limit_host(
        self,
        host: str,
        *,
        delay_s: float | None = None,
        concurrency: int | None = None,
        budget: int | None = None,
        limit: int | None = None,
        queue_cap: int | None = None,
        at_least: bool = False,
        now: float | None = None,
    ) -> None:
        """Politeness towards one host or queue, such as the delay its robots.txt asks for.

        budget: how many of its pages may be taken, revisits too; limit: how many may be done with. 0 is any number.
        queue_cap: how many may wait. Pages that are linked to beyond that are dropped, with the reason ``OVER_QUEUE_CAP``; what
        waits already, seeds, retries and revisits wait all the same.
        at_least: a delay that is longer already stays, whoever set it.
        """
        given.text(host, "a host")
        if at_least and delay_s is not None:
            number = self.find_host(host)
            present = self.politeness.delay_s if number < 0 else float(self.frontier.hosts(number)["delay"][0])
            if present >= delay_s:
                delay_s = None
        limits = _checked(delay_s=delay_s, concurrency=concurrency, budget=budget, limit=limit, queue_cap=queue_cap)
        if at_least and not limits:
            return
        self._do(events.Limited(self._tick(now), host, limits))
        self._acknowledge()

    def _do(self, event: events.Event) -> None:
        """An event and, where hosts have a queue cap, the end of the pages that it put into full queues."""
        fresh = self._fresh_of_capped(event) if self.rules.hosts else {}
        super()._do(event)
        for host, pages in fresh.items():
            queued = [page for page in pages if self.frontier.mark(page) == WAITING]
            beyond = int(self.frontier.hosts(host)["waiting"][0]) - self._queue_caps[host]
            for page in queued[max(len(queued) - beyond, 0) :] if beyond > 0 else ():
                super()._do(events.Failed(event.time, page, OVER_QUEUE_CAP))

    @property
    def _queue_caps(self) -> dict[int, int]:
        """By the number of the queue, which is another one once a host has joined a group."""
        caps = ((host, one.limits.get("queue_cap", 0)) for host, one in self.rules.hosts.items())
        return {self.find_host(self._group(host)): cap for host, cap in caps if cap}

    def _fresh_of_capped(self, event: events.Event) -> dict[int, list[int]]:
        """Pages that an event links to and that do not wait yet, in order, by their hosts, if these have a queue cap."""
        if isinstance(event, events.Fetched):
            pages = event.links
        elif isinstance(event, events.Discovered) and event.parent >= 0:
            pages = event.pages
        else:  # seeds, retries and revisits always wait
            return {}
        marks, hosts = self.frontier.marks(pages), self.frontier.hosts_of(pages)
        is_new = (marks == ABSENT) | (marks == FORGOTTEN)
        return {host: pages[is_new & (hosts == host)].tolist() for host in self._queue_caps}

    @alone
    def pace_of(self, host: str) -> tuple[str, float]:
        """The queue in which pages of a host wait, and the seconds between two requests to that queue."""
        queue = self.group_of(self._group(host))
        number = self._queue_numbers.get(queue, -1)
        if number < 0 and (number := self.find_host(queue)) < 0:
            return queue, self.politeness.delay_s
        return queue, self.frontier.delays(np.array([number]))[0]

    @alone
    def delays_of(self, pages: Sequence[int]) -> list[float]:
        """For each of these pages, the seconds between two requests to its queue."""
        return self.frontier.delays(self.frontier.hosts_of(np.array(self.check_pages(pages), np.int64)))

    @alone
    def rest(self, host: str, seconds: float, now: float | None = None) -> None:
        """Take nothing from this host for so long, as its last request was sent later than its page was taken."""
        until = self._tick(now) + given.seconds(seconds, "a host must rest for")
        number = self.find_host(self._group(given.text(host, "a host")))
        if number < 0 or until > self.frontier.hosts(number)["ready_at"][0]:
            self._do(events.Rested(self.now, host, until))
            self._acknowledge()

    @alone
    def join(self, host: str, group: str, now: float | None = None) -> bool:
        """A host is part of a group from now on, such as all that have one address: they share pace, budgets and limits.

        Returns whether what is leased of the host may still be asked for now. If not, the group has been asked a moment ago,
        or has given all that it may: give the pages back.
        """
        host, group = given.text(host, "a host").lower(), given.text(group, "a group")
        at = self._tick(now)
        if host in self.joined:
            return True
        into = self.find_host(group)
        free = into in (-1, self.find_host(host)) or self.frontier.may_go(into, at)
        self._do(events.Joined(at, host, group, free))
        self._acknowledge()
        return free

    @alone
    def set_politeness(self, politeness: Politeness, now: float | None = None) -> None:
        """Other politeness from now on; what a host has of its own stays."""
        if given.politeness(politeness) != self.politeness:
            self._do(events.Behaved(self._tick(now), politeness))
            self._acknowledge()

    @alone
    def block(self, host: str, seconds: float, now: float | None = None, *, reason: str = "") -> None:
        """Take nothing from this host for so long, as its Retry-After asks. ``reason``: why, if it does not answer."""
        at = self._tick(now)
        number = self.find_host(self._group(given.text(host, "a host")))  # a call that may be refused makes no host known
        seconds = given.seconds(seconds, "a host must be blocked for", finite=False)
        until = at + seconds if number < 0 else max(at + seconds, self.frontier.blocked(number))
        self._block(at, host, until, given.text(reason, "a reason"))

    @alone
    def block_until(self, host: str, until: float, now: float | None = None) -> None:
        """Take nothing from this host before that time, whatever its block was before; a time that is past ends a block."""
        self._block(self._tick(now), host, until)

    def _block(self, at: float, host: str, until: float, reason: str = "") -> None:
        until = given.seconds(until, "a host must be blocked until", finite=False)
        self._do(events.Blocked(at, given.text(host, "a host"), until, reason=reason))
        self._acknowledge()

    @alone
    def pause(self, now: float | None = None) -> None:
        """Take nothing, until ``resume``."""
        if not self.paused:
            self._do(events.Paused(self._tick(now), True))
            self._acknowledge()

    @alone
    def resume(self, now: float | None = None) -> None:
        if self.paused:
            self._do(events.Paused(self._tick(now), False))
            self._acknowledge()

    def boost(self, pattern: str, by: int, now: float | None = None) -> int:
        """Pages whose URL matches go before all others (below 0: after them), those known and those to come.

        Boosts of several patterns add up; 0 ends that of a pattern. Returns how many known pages match. Others may call
        between, while their priorities change.
        """
        before = self.rules.families.get(given.text(pattern, "a pattern"))
        rule = replace(before.rule, boost=by) if before else Rule(pattern, boost=by)
        matches, found = self._set_rule(rule, now), 0
        if matches is None:
            return 0
        with self._lock:
            known = self.known
        first = 0
        while first < known:
            matching, first = self._boost_part(matches, first, min(first + PART, known), now)
            found += matching
            time.sleep(YIELD_S)
        with self._lock:
            self.log.commit()
        return found

    @alone
    def _boost_part(self, matches: Callable[[str], object], first: int, stop: int, now: float | None) -> tuple[int, int]:
        """How many pages match, and the first that was not looked at: many rules take their time."""
        urls = next(iter(self.log.urls(first, stop - first)), ([], []))[0]
        changed: dict[int, list[int]] = {}
        work = 0
        for page, url in enumerate(urls, first):
            if work >= MAX_WORK:
                stop = page
                break
            work += tries(url)
            if matches(url):
                work += len(self.rules.boosting) * tries(url)
                changed.setdefault(self.rules.priority(url), []).append(page)
        for priority, pages in changed.items():
            self._do(events.PrioritisedAll(self._tick(now), np.array(pages, np.int32), priority))
        self._acknowledge()
        return sum(map(len, changed.values())), stop

    def limit_pattern(
        self, pattern: str, *, budget: int | None = None, delay_s: float | None = None, now: float | None = None
    ) -> None:
        """A budget or a pace for all pages whose URL matches, whatever their hosts; 0 ends one."""
        before = self.rules.families.get(given.text(pattern, "a pattern"))
        if budget is None and delay_s is None:
            raise InputError("a family must be given a budget, a delay_s, or both, got neither")
        rule = before.rule if before else Rule(pattern)
        rule = rule if budget is None else replace(rule, budget=budget)
        self._set_rule(rule if delay_s is None else replace(rule, delay_s=delay_s), now)

    @alone
    def _set_rule(self, rule: Rule, now: float | None) -> Search | None:
        """What looks for the pages of the rule; None if it ends one that is not there. To end a rule compiles nothing."""
        before = self.rules.families.get(rule.pattern)
        if rule.says_nothing and before is None:
            return None
        matches = before.matches if before is not None else searcher(rule.pattern)  # refused now, if it may take for ever
        at = self._tick(now)
        self._do(events.Ruled(at, rule))
        for page in sorted(self.held_up):  # what held them up may be no more
            if matches(self.log.url(page)):
                self._do(events.Scheduled(at, page, at))
        self._acknowledge()
        return matches

    def _listen(self) -> None:
        """From the first page that is asked for on, heed what other processes say, beside the crawl: it may take a while."""
        if self.log.folder is not None and self.log.writable:
            said = (weakref.ref(self), self.log.folder, self._ended)
            threading.Thread(target=inbox.listen, args=said, name="frontrank-control", daemon=True).start()
        self._listening = True

    def _may_take(self, at: float) -> bool:
        """Whether pages are handed out at all, now that leases that have run out are back."""
        if not self._listening:
            self._listen()
        self._expire_due(at)
        self.rules.begin()
        return not (self.paused or self.done() or self._waits_for_ranking())

    def _taken(self, taken: list[int], at: float, until: float | None = None) -> list[int]:
        """Those of the pages just taken whose families let them go; the others wait on."""
        allowed = taken
        if self.rules.limiting:
            turns = self.rules.turns([url for url, _ in self.log.names(taken)], at)
            for page in taken:
                self.frontier.back(page)  # as they lie in the log: first those that wait, then those that go
            judged = list(zip(taken, turns, strict=False))  # the others stay where they are
            for page, turn in judged:
                if turn > at:
                    self._do(events.Held(at, page, turn))
            allowed = [page for page, turn in judged if turn <= at]
        if allowed:
            self._do((events.Taken if until is None else events.TakenTogether)(at, allowed, until))
        return allowed


def _checked(**limits: Any) -> dict[str, Any]:
    """What is given of these limits, if it can be."""
    said = {name: value.item() if isinstance(value, np.generic) else value for name, value in limits.items()}
    said = {name: value for name, value in said.items() if value is not None}
    Politeness(delay_s=said.get("delay_s", 0.0), per_host=said.get("concurrency", 0))
    for name in ("budget", "limit", "queue_cap"):
        Politeness(host_budget=said.get(name, 0))
    return {name: min(int(value), MAX_PAGES) if name != "delay_s" else float(value) for name, value in said.items()}
