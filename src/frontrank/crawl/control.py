"""Control of a crawl while it runs: priorities, budgets and delays of hosts and of families of pages, blocks, pauses, rankings,
and what searchers do.

Everything here is an event: it survives the process, and ``frontrank trace`` prints it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from frontrank.crawl import events, validation
from frontrank.crawl.history import History
from frontrank.crawl.impacts import check_impact, impact_rows, known_as
from frontrank.crawl.locking import YIELD_S, locked
from frontrank.crawl.recorder import Recorder
from frontrank.crawl.rules import MAX_WORK, Rule, tries
from frontrank.crawl.state import CrawlState
from frontrank.crawl.taking import Taker
from frontrank.errors import InputError
from frontrank.frontiers.frontier import GONE
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array
from frontrank.pages.patterns import Search, searcher
from frontrank.web.view import Workload

logger = logging.getLogger("frontrank.crawl")

PART = 2_000  # pages that get a priority, or whose names are read, at once: 2 to 10 ms
MAX_PAGES = 2**31 - 1  # as frontiers count them: a larger one is no limit


class Control:
    """``crawl.control``: what operators, integrations and searchers tell a crawl while it runs."""

    def __init__(self, state: CrawlState, recorder: Recorder, taker: Taker) -> None:
        self.state, self._recorder, self._taker = state, recorder, taker

    @property
    def politeness(self) -> Politeness:
        return self.state.politeness

    @property
    def revisit_share(self) -> float | None:
        """The share of what is taken that revisits are given; None: the ordering decides."""
        return self._taker.revisit_share

    # Priorities, politeness, blocks, pauses --------------------------------------------------------------------------------
    @locked
    def prioritise(self, page: int, priority: int, now: float | None = None) -> None:
        """Take this page before all that have none (or, below 0, after them): larger is sooner, among equals first come.

        Until the priority is 0 again the ordering does not count; politeness does. A page that does not wait yet has its
        priority from the moment it does.
        """
        page = self.state.pages.check(page)
        priority = validation.whole(priority, "a priority", minimum=-validation.MAX_WHOLE)
        self._recorder.write(events.Prioritised, now, page, priority)

    @locked
    def prioritise_pages(self, pages: Sequence[int] | Array, priority: int, now: float | None = None) -> None:
        """The same for several pages, as one event."""
        pages = self.state.pages.check_all(pages)
        priority = validation.whole(priority, "a priority", minimum=-validation.MAX_WHOLE)
        if pages:
            self._recorder.write(events.PrioritisedAll, now, np.array(pages, np.int32), priority)

    @locked
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
        queue_cap: how many may wait; pages that are linked to beyond that are dropped (``queue_caps``).
        at_least: a delay that is longer already stays, whoever set it.
        """
        validation.text(host, "a host")
        if at_least and delay_s is not None:
            number = self.state.hosts.find(host)
            present = self.state.politeness.delay_s if number < 0 else float(self.state.frontier.hosts(number)["delay"][0])
            if present >= delay_s:
                delay_s = None
        limits = _checked(delay_s=delay_s, concurrency=concurrency, budget=budget, limit=limit, queue_cap=queue_cap)
        if at_least and not limits:
            return
        self._recorder.write(events.Limited, now, host, limits)

    def _find(self, host: str) -> int:
        hosts = self.state.hosts
        return hosts.find(hosts.grouped(validation.text(host, "a host")))

    @locked
    def rest(self, host: str, seconds: float, now: float | None = None) -> None:
        """Take nothing from this host for so long, as its last request was sent later than its page was taken."""
        until = self._recorder.tick(now) + validation.seconds(seconds, "a host must rest for")
        number = self._find(host)
        if number < 0 or until > self.state.frontier.hosts(number)["ready_at"][0]:
            self._recorder.record(events.Rested(self.state.progress.now, host, until))
            self._recorder.acknowledge()

    @locked
    def join(self, host: str, group: str, now: float | None = None) -> bool:
        """A host is part of a group from now on, such as all that have one address: they share pace, budgets and limits.

        Returns whether what is leased of the host may still be asked for now. If not, the group has been asked a moment ago,
        or has given all that it may: give the pages back.
        """
        host, group = validation.text(host, "a host").lower(), validation.text(group, "a group")
        at = self._recorder.tick(now)
        if host in self.state.hosts.joined:
            return True
        into = self.state.hosts.find(group)
        free = into in (-1, self.state.hosts.find(host)) or self.state.frontier.may_go(into, at)
        self._recorder.record(events.Joined(at, host, group, free))
        self._recorder.acknowledge()
        return free

    @locked
    def set_politeness(self, politeness: Politeness, now: float | None = None) -> None:
        """Other politeness from now on; what a host has of its own stays."""
        if validation.politeness(politeness) != self.state.politeness:
            self._recorder.write(events.PolitenessChanged, now, politeness)

    @locked
    def block(self, host: str, seconds: float, now: float | None = None, *, reason: str = "") -> None:
        """Take nothing from this host for so long, as its Retry-After asks. ``reason``: why, if it does not answer."""
        at = self._recorder.tick(now)
        number = self._find(host)  # a call that may be refused makes no host known
        seconds = validation.seconds(seconds, "a host must be blocked for", finite=False)
        until = at + seconds if number < 0 else max(at + seconds, self.state.frontier.blocked(number))
        self._block(at, host, until, validation.text(reason, "a reason"))

    @locked
    def block_until(self, host: str, until: float, now: float | None = None) -> None:
        """Take nothing from this host before that time, whatever its block was before; a time that is past ends a block."""
        self._block(self._recorder.tick(now), host, until)

    def _block(self, at: float, host: str, until: float, reason: str = "") -> None:
        until = validation.seconds(until, "a host must be blocked until", finite=False)
        self._recorder.record(events.Blocked(at, validation.text(host, "a host"), until, reason=reason))
        self._recorder.acknowledge()

    @locked
    def pause(self, now: float | None = None) -> None:
        """Take nothing, until ``resume``."""
        if not self.state.progress.paused:
            self._recorder.write(events.Paused, now, True)

    @locked
    def resume(self, now: float | None = None) -> None:
        if self.state.progress.paused:
            self._recorder.write(events.Paused, now, False)

    def boost(self, pattern: str, by: int, now: float | None = None) -> int:
        """Pages whose URL matches go before all others (below 0: after them), those known and those to come.

        Boosts of several patterns add up; 0 ends that of a pattern. Returns how many known pages match. Others may call
        between, while their priorities change.
        """
        before = self.state.rules.families.get(validation.text(pattern, "a pattern"))
        rule = replace(before.rule, boost=by) if before else Rule(pattern, boost=by)
        matches, found = self._set_rule(rule, now), 0
        if matches is None:
            return 0
        with self.state.lock:
            known = self.state.known
        first = 0
        while first < known:
            matching, first = self._boost_part(matches, first, min(first + PART, known), now)
            found += matching
            time.sleep(YIELD_S)
        with self.state.lock:
            self.state.log.commit()
        return found

    @locked
    def _boost_part(self, matches: Callable[[str], object], first: int, stop: int, now: float | None) -> tuple[int, int]:
        """How many pages match, and the first that was not looked at: many rules take their time."""
        urls = next(iter(self.state.log.urls(first, stop - first)), ([], []))[0]
        changed: dict[int, list[int]] = {}
        work = 0
        for page, url in enumerate(urls, first):
            if work >= MAX_WORK:
                stop = page
                break
            work += tries(url)
            if matches(url):
                work += len(self.state.rules.boosting) * tries(url)
                changed.setdefault(self.state.rules.priority(url), []).append(page)
        for priority, pages in changed.items():
            self._recorder.write(events.PrioritisedAll, now, np.array(pages, np.int32), priority)
        return sum(map(len, changed.values())), stop

    def limit_pattern(
        self, pattern: str, *, budget: int | None = None, delay_s: float | None = None, now: float | None = None
    ) -> None:
        """A budget or a pace for all pages whose URL matches, whatever their hosts; 0 ends one."""
        before = self.state.rules.families.get(validation.text(pattern, "a pattern"))
        if budget is None and delay_s is None:
            raise InputError("a family must be given a budget, a delay_s, or both, got neither")
        rule = before.rule if before else Rule(pattern)
        rule = rule if budget is None else replace(rule, budget=budget)
        self._set_rule(rule if delay_s is None else replace(rule, delay_s=delay_s), now)

    @locked
    def _set_rule(self, rule: Rule, now: float | None) -> Search | None:
        """What looks for the pages of the rule; None if it ends one that is not there. To end a rule compiles nothing."""
        before = self.state.rules.families.get(rule.pattern)
        if rule.says_nothing and before is None:
            return None
        matches = before.matches if before is not None else searcher(rule.pattern)  # refused now, if it may take for ever
        at = self._recorder.tick(now)
        self._recorder.record(events.RuleSet(at, rule))
        for page in sorted(self.state.rules.held_up):  # what held them up may be no more
            if matches(self.state.log.url(page)):
                self._recorder.record(events.Scheduled(at, page, at))
        self._recorder.acknowledge()
        return matches

    # What is ranked, and which pages are tried again ------------------------------------------------------------------------
    @locked
    def rescore(self, now: float | None = None) -> None:
        """Rank everything that waits anew, now. Orderings that are always up to date have nothing to do."""
        if self.state.policy.interval() and not self.state.ranking.under_way:
            self._recorder.rank(self._recorder.tick(now))
            self._recorder.acknowledge()

    @locked
    def retry_failed(self, reason: str = "", *, but: Collection[str] = (), now: float | None = None) -> int:
        """Pages that failed for this reason (or one that begins so), and never came, wait again; returns how many.

        ``but``: not those that failed for one of these. They have all their attempts, and no longer count as failed.
        """
        validation.text(reason, "a reason")
        at, state = self._recorder.tick(now), self.state
        failed = ((page, why) for page, why in History(state).failed().items() if why.startswith(reason) and why not in but)
        found = [page for page, _ in failed if state.frontier.mark(page) == GONE]
        for page in found:
            self._recorder.record(events.Scheduled(at, page, at, reopened=True))
        self._recorder.acknowledge()
        return len(found)

    @locked
    def share_revisits(self, share: float | None) -> None:
        """Give revisits that are due this share of what is taken, if there is enough of both; None: the ordering decides."""
        share = None if share is None else validation.share(share, "revisit_share")
        self._recorder.note("revisit_share", share)
        self._taker.revisit_share = share

    # What searchers do ------------------------------------------------------------------------------------------------------
    @locked
    def impact(self, url: str, *, clicks: float | None = None, views: float | None = None, now: float | None = None) -> None:
        """What searchers made of a page so far: how often they chose it (clicks), were shown it (views), or both.

        It holds from the next ranking on, and replaces what was reported of the page before. A page that waits may have an
        impact too: it counts once the page is fetched. A crawl goes by views or by clicks (``impact_by``), or else by what is
        reported first, views before clicks.
        """
        page = self.state.lookup(url)
        if page < 0:
            raise InputError(f"page {url!r} cannot be given an impact: this crawl does not know it")
        check_impact(self.state.demand.impact_by, url, clicks, views)
        values = [None if value is None else float(value) for value in (clicks, views)]
        self._recorder.write(events.ImpactReported, now, page, *values)

    @locked
    def impacts(self, rows: Iterable[Sequence[Any]], now: float | None = None) -> list[str]:
        """The same for many pages: rows of URL, clicks and views, None for what is not known. Returns unknown pages."""
        found = [(known_as(self.state, url), url, clicks, views) for url, clicks, views in impact_rows(rows)]
        for _, url, clicks, views in found:
            check_impact(self.state.demand.impact_by, url, clicks, views)
        with self._recorder.together():
            for page, _, clicks, views in found:
                if page >= 0:
                    self.impact(self.state.log.url(page), clicks=clicks, views=views, now=now)
        unknown = [url for page, url, _, _ in found if page < 0]
        if unknown:
            named = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
            logger.warning("%d of %d pages with an impact are not known to this crawl: %s", len(unknown), len(found), named)
        return unknown

    @locked
    def ask(self, workload: Workload, now: float | None = None) -> None:
        """Searchers ask these queries from now on: what later rankings go by, instead of those before.

        If there were none before, the search engine behind the crawl knows the pages fetched so far by their URLs alone.
        """
        self._recorder.ask(workload, now)


def _checked(**limits: Any) -> dict[str, Any]:
    """Those of these limits that are set, if they can be."""
    values = {name: value.item() if isinstance(value, np.generic) else value for name, value in limits.items()}
    values = {name: value for name, value in values.items() if value is not None}
    Politeness(delay_s=values.get("delay_s", 0.0), per_host=values.get("concurrency", 0))
    for name in values.keys() - {"delay_s", "concurrency"}:
        Politeness(host_budget=values[name])
    return {name: min(int(value), MAX_PAGES) if name != "delay_s" else float(value) for name, value in values.items()}
