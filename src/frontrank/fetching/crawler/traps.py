"""Crawler traps: what bounds them while a crawl runs, and what is reported of them.

A site that invents pages without end is bounded by the depth of links (--max-depth), the pages of a host (--host-budget),
paths that go in circles, which are never followed, and ``Traps``: a region that discovers nothing but itself (``regions``) is a
possible trap, and gets a share of the crawl (--trap-share). That is the rule of a family, as ``limit_pattern`` sets it: stored,
shown, and lifted by whoever knows better; then it is not set again.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.crawl.events import Fetched
from frontrank.fetching.crawler.regions import Regions
from frontrank.fetching.url_families import TRAPS_NOTE, UrlFamily, expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.crawler.options import Options
    from frontrank.fetching.crawler.regions import Region

logger = logging.getLogger("frontrank.fetching.crawler")

LEARNED_EVENTS = 10_000  # of earlier runs, the newest: about a third of a second
CHECKED_EVERY = 50  # pages fetched, between two looks at whether the shares have grown


class Traps:
    """The possible traps of one crawl, and their limits."""

    def __init__(self, crawl: Crawl, options: Options) -> None:
        self.crawl, self.share = crawl, options.trap_share
        self.regions = Regions(options.seeds)
        self.found: dict[str, dict[str, Any]] = dict(crawl.notes.get(TRAPS_NOTE, {}))
        self._settled = len(crawl.state.progress.order)
        if crawl.inspect.resumed:
            self._learn()

    def _learn(self) -> None:
        """What the newest pages of earlier runs linked to: a trap is found as soon as if the crawl had never ended."""
        crawl, seen, first_new = self.crawl, set[int](), 0
        for rows in crawl.state.log.rows(max(0, crawl.state.log.seq - LEARNED_EVENTS)):
            for row in rows:
                if row.kind != Fetched.kind or row.page in seen:
                    continue
                seen.add(row.page)
                targets = np.frombuffer(row.links or b"", "<i4").tolist()
                newest = max(row.page, *targets) + 1 if targets else row.page + 1
                url, *urls = [url for url, _ in crawl.queues.names([row.page, *targets])]
                self.regions.fetched(row.page, url, row.title or "", dict(zip(targets, urls, strict=True)), first_new or newest)
                first_new = max(first_new, newest)

    def fetched(self, page: int, url: str, title: str, links: Iterable[tuple[str, str]], first_new: int) -> None:
        """A page has arrived with these links; pages from ``first_new`` on became known with it."""
        crawl = self.crawl
        if len(crawl.state.progress.order) == self._settled:  # it has come back
            return
        self._settled = len(crawl.state.progress.order)
        targets = crawl.state.links.rows.target[crawl.state.links.rows.start[page] : crawl.state.links.rows.stop[page]].tolist()
        urls = dict.fromkeys(target for target, _ in links)  # in the same order, each once, without the page itself
        urls.pop(url, None)
        if len(urls) == len(targets):
            for region in self.regions.fetched(page, url, title, dict(zip(targets, urls, strict=True)), first_new):
                self._suspect(region, url)
        if self.found and self._settled % CHECKED_EVERY == 0:
            self._raise_limits()

    def _suspect(self, region: Region, url: str) -> None:
        if any(re.search(known, url) for known in self.found):
            return
        pattern = expression(region.name)
        if pattern in self.crawl.state.rules.families:  # somebody has a rule for it already
            return
        budget = self._budget(region.fetched) if self.share < 1 else 0
        logger.warning("possible trap, %d pages so far: %s", region.fetched, region.name)
        with self.crawl.together():
            if budget:
                self.crawl.control.limit_pattern(pattern, budget=budget)
            self._note(pattern, {"pattern": region.name, "before": region.fetched, "budget": budget})

    def _budget(self, before: int) -> int:
        """How many more pages a trap may have of which so many were fetched before it was known as one."""
        return max(int(self.share * self.crawl.inspect.fetched_count) - before, 1)

    def _raise_limits(self) -> None:
        """Double the limits whose share has doubled: each time all pages that wait for one are looked at again."""
        for pattern, trap in list(self.found.items()):
            budget = self._budget(trap["before"])
            if self.limited(pattern) and self.share < 1 and budget >= 2 * trap["budget"]:
                with self.crawl.together():
                    self.crawl.control.limit_pattern(pattern, budget=budget)
                    self._note(pattern, {**trap, "budget": budget})

    def _note(self, pattern: str, trap: dict[str, Any]) -> None:
        self.found[pattern] = trap
        self.crawl.note(TRAPS_NOTE, self.found)

    def limited(self, pattern: str) -> bool:
        """Whether the limit is the one that was set here."""
        family = self.crawl.state.rules.families.get(pattern)
        return family is not None and 0 < family.rule.budget == self.found[pattern]["budget"]

    def families(self) -> list[UrlFamily]:
        """What was found, largest first, with the pages that the journal has of it."""
        pages = dict.fromkeys(self.found, 0)
        searchers = {pattern: re.compile(pattern).search for pattern in self.found}
        for url in self.crawl.inspect.history.fetched_urls() if self.found else ():
            for pattern, search in searchers.items():
                pages[pattern] += search(url) is not None
        on_host = {host["host"]: host["settled"] for host in self.crawl.inspect.hosts()} if self.found else {}
        families = [
            UrlFamily.of(self.found[one]["pattern"], count, on_host)._replace(limited=self.limited(one))
            for one, count in pages.items()
        ]
        return sorted(families, key=lambda family: -family.pages)


def limited_hosts(crawl: Crawl, max_depth: int) -> tuple[list[str], list[str]]:
    """Hosts whose budget is spent while pages of theirs wait; hosts of which a page was fetched at the greatest depth."""
    hosts = crawl.inspect.hosts()
    spent = [host["host"] for host in hosts if 0 < host["budget"] <= host["taken"] and host["waiting"]]
    return spent, [host["host"] for host in hosts if host["depth"] >= max_depth]
