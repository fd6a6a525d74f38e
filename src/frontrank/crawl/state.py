"""CrawlState: all that a crawl is, as its events have left it.

It is made of parts, each in a file of its own, which know nothing of each other; what an event does to several of them is here.
``apply`` is the only way to change it, but for names of pages, which become known before the event that needs them. Events are
written elsewhere: see ``recorder``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from frontrank.crawl import validation
from frontrank.crawl.drivers import driver_of
from frontrank.crawl.hosts import HostTable
from frontrank.crawl.leases import Leases
from frontrank.crawl.link_store import LinkStore
from frontrank.crawl.log import Log
from frontrank.crawl.ordering_state import OrderingState
from frontrank.crawl.page_table import NewPages, PageTable, name_of, queue_of
from frontrank.crawl.payloads import Payloads
from frontrank.crawl.pending_links import PendingLinks
from frontrank.crawl.progress import Progress
from frontrank.crawl.ranking import Ranking
from frontrank.crawl.rules import Rule, Rules
from frontrank.crawl.search_demand import SearchDemand
from frontrank.errors import StorageError
from frontrank.frontiers.frontier import GONE, LATER, LEASED, WAITING, Frontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.pages.groups import HOST, grouping

if TYPE_CHECKING:
    from frontrank.crawl.events import Event, Fetched
    from frontrank.crawl.setup import CrawlSetup

MEANT = {LEASED: 2, WAITING: 1, LATER: 1, GONE: 1}  # of several pages of one URL, which is meant: the larger


class Part(Protocol):
    """A part of the state as snapshots see it: what JSON holds of it, and its arrays."""

    def save(self) -> tuple[Any, dict[str, Array]]: ...
    def restore(self, json: Any, arrays: dict[str, Array]) -> None: ...


class FrontierPart:
    """The frontier as a part; whoever brings one of their own need not know of snapshots' JSON."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier

    def save(self) -> tuple[Any, dict[str, Array]]:
        return None, self._frontier.arrays()

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self._frontier.restore(arrays)


class CrawlState:
    def __init__(self, policy: Policy, log: Log, setup: CrawlSetup) -> None:
        self.lock = threading.RLock()  # held by whoever reads or changes it
        self.policy, self.log, self.setup = policy, log, setup
        self.politeness = setup.politeness or Politeness()
        self.frontier = setup.frontier(self.politeness)
        self.frontier.grow(setup.capacity, 0)
        self.ordering = OrderingState(policy, setup.capacity, setup.truth)
        self.driver = driver_of(policy, self.frontier)
        self.links = LinkStore(policy, setup.capacity)
        self.hosts = HostTable(grouping(log.notes.get("queue_by", HOST)))
        self.pages = PageTable(setup.capacity, self.hosts)
        self.leases = Leases()
        self.pending = PendingLinks()
        self.rules = Rules()
        self.payloads = Payloads(log)
        self.progress = Progress()
        self.demand = SearchDemand(self.needs, setup.capacity, setup.workload, log.notes.get("impact_by", ""))
        self.ranking = Ranking(self, setup.ranking)
        self.replaying = False
        self._dated_until = 0  # the last second in which a page became known

    @property
    def needs(self) -> frozenset[str]:
        return self.ordering.needs

    def parts(self) -> dict[str, Part]:
        """What a snapshot consists of."""
        return {
            "ordering": self.ordering,
            "frontier": FrontierPart(self.frontier),
            "links": self.links,
            "hosts": self.hosts,
            "pages": self.pages,
            "leases": self.leases,
            "pending": self.pending,
            "rules": self.rules,
            "progress": self.progress,
            "demand": self.demand,
            "ranking": self.ranking,
        }

    def apply(self, event: Event) -> None:
        """What an event does: the same when it happens and when a log is read again."""
        self.progress.now = max(self.progress.now, event.time)
        event.apply(self)

    # Names ------------------------------------------------------------------------------------------------------------------
    @property
    def known(self) -> int:
        """Pages whose name is known."""
        return len(self.pages)

    def lookup(self, url: str, queue: str | None = None) -> int:
        """The page of this URL in this queue, -1 if there is none; without a queue the one that is leased, else any."""
        validation.text(url, "a URL")
        if queue is None:
            if not len(self.pages.by_url):
                return self.pages.find(names.fingerprint(url))
            found = self.pages.named(url)
            return max(found, key=lambda page: MEANT.get(self.frontier.mark(page), 0), default=-1)
        page = self.pages.find(names.fingerprint(name_of(url, validation.text(queue, "a queue"))))
        if page < 0:
            for other in self.pages.named(url):  # those of a group of hosts are known by another name
                named = self.names([other])[0][1]
                if queue in (named, self.hosts.group_of(named)):
                    return other
        return page

    def names(self, pages: Sequence[int]) -> list[tuple[str, str]]:
        """URL and queue of each of these pages."""
        return [(url, queue_of((url, queue))) for url, queue in self.log.names(pages)]

    def intern(
        self,
        urls: Sequence[str],
        keys: Array | None = None,
        queues: Sequence[str | None] | None = None,
        hosts: Sequence[str] | None = None,
    ) -> Array:
        """The numbers of these pages; those not known before are, from now on. No queue: that of the host.

        ``keys``: their fingerprints, if they are known by more than their URLs. ``hosts``: theirs, if already parsed.
        """
        self.check_open()
        numbers, new = self.pages.intern(urls, names.fingerprints(urls) if keys is None else keys, queues, hosts)
        if new is not None:
            self.log.add_urls(new.first, new.urls, new.keys.tolist())
            if new.queues:
                self.log.place(new.queues)
            if int(self.progress.now) > self._dated_until:
                self._dated_until = int(self.progress.now)
                self.log.born(new.first, self.progress.now)
            self.add_pages(new)
        return numbers

    def add_pages(self, new: NewPages) -> None:
        """Pages that are named for the first time have a place in every part."""
        hosts, queues = self.pages.place(new)
        self.make_room()
        self.frontier.place(new.first, queues)
        self.ordering.see_pages(new.first, new.urls, hosts)
        if self.rules.boosting:
            for page, url in enumerate(new.urls, new.first):
                if priority := self.rules.priority(url):
                    self.frontier.prioritise(page, priority)

    def make_room(self) -> None:
        """Let every part hold the pages and hosts that are known by now."""
        pages, hosts = self.links.capacity, self.hosts.first_page.size
        if self.known > pages:
            self.links.grow(self.known)
            pages = self.links.capacity
            self.pages.grow(pages)
            self.demand.grow(pages)
        if pages > self.ordering.pages or hosts > self.ordering.hosts:
            self.ordering.grow(pages, hosts)
            self.frontier.grow(pages, len(self.hosts))
        elif len(self.hosts) > self.frontier.known_hosts:
            self.frontier.grow(pages, len(self.hosts))

    def intern_host(self, name: str) -> int:
        """The number of a host or queue, which is known from now on."""
        number = self.hosts.intern(name)
        self.make_room()
        return number

    def check_open(self) -> None:
        """Nothing changes in a crawl that is closed, or whose log cannot be written."""
        if self.log.broken:
            raise getattr(self.log, "refusal", StorageError)(self.log.broken)

    # What events do to several parts ----------------------------------------------------------------------------------------
    def plant(self, pages: Array, weight: float) -> None:
        """Pages to start from, each of this weight."""
        self.ordering.reserve_out(len(pages))
        self.driver.plant(self, pages, weight)

    def has_arrived(self, page: int) -> bool:
        """Whether a page has arrived before, with links."""
        return self.ordering.is_fetched(page) and self.links.has(page)

    def see(self, event: Fetched) -> None:
        """What a fetched page says of itself."""
        page = event.page
        if self.demand.searchers is not None:
            self.demand.searchers.note(page, event.title, event.anchors, len(event.links))
        if "texts" in self.needs:
            text = self.log.texts([page])[0] if event.text is None else event.text
            self.ordering.see_text(page, event.title, text)
        if self.ordering.has_scorers:
            self.ordering.see_scores(page, event.scores)
        self.demand.see_impact(page, event.impact or None)

    def put_links(self, page: int, targets: Array, anchors: Sequence[str]) -> None:
        """A page has these links now."""
        self.ordering.expect(len(targets), len(targets))
        self.links.put(page, targets, self._link_values(targets, anchors) if self.links.reads_anchors else ())

    def _link_values(self, targets: Array, anchors: Sequence[str]) -> Sequence[float]:
        urls = [self.log.url(int(target)) for target in targets] if self.policy.stepwise() else ()
        return self.policy.link_values(self.ordering.columns, anchors or [""] * len(targets), urls)

    def settle(self, page: int) -> None:
        """A page is done with for the first time."""
        self.release(page)
        if not self.ordering.is_fetched(page):
            self.progress.settle(page)
        self.driver.arrive(self, page)

    def settle_again(self, page: int, links_changed: bool) -> None:
        """A page that had arrived before is done with once more."""
        self.release(page)
        self.frontier.settle(page)
        if links_changed:
            self.ranking.stale = True
            self.driver.arrive_again(self, page)

    def release(self, page: int) -> None:
        """Whatever was kept of a page for the time that it waits or is leased is dropped."""
        if not self.replaying:
            self.payloads.settle(page)
        self.leases.settle(page)
        self.rules.release((page,))
        self.pending.pop(page)

    def discover(self, parent: int, pages: Array, anchors: Sequence[str]) -> None:
        """A page links to these; or, without one (-1), somebody names them."""
        if parent < 0:
            self.plant(pages, 1.0)
            return
        self.driver.meet(self, parent, pages)
        if self.ordering.is_fetched(parent) and parent not in self.leases:
            self._put_late(parent, pages, anchors)
        else:
            self.pending.add(parent, pages.tolist(), anchors)

    def _put_late(self, parent: int, pages: Array, anchors: Sequence[str]) -> None:
        """Links of a page that has arrived already. If it had none, they are its links; else they are further ones."""
        first = not self.has_arrived(parent)
        words = list(anchors or [""] * len(pages))
        searchers = self.demand.searchers
        if not first and self.links.keeps:
            begin, end = int(self.links.rows.start[parent]), int(self.links.rows.stop[parent])
            had = self.links.of(parent)
            further = ~np.isin(pages, had)
            if searchers is not None:
                words = searchers.anchors[begin:end] + [word for word, new in zip(words, further, strict=True) if new]
            pages, anchors = np.concatenate([had, pages[further]]), ()
        if searchers is not None:
            searchers.anchors.extend(words)
        self.put_links(parent, pages, anchors)
        self.ranking.stale = True
        (self.driver.arrive if first else self.driver.arrive_again)(self, parent)

    def count_taken(self, pages: Sequence[int], now: float) -> None:
        self.rules.release(pages)
        if self.rules.limiting:
            for page in pages:
                self.rules.take(self.log.url(page), now)

    def set_rule(self, rule: Rule) -> None:
        before = self.rules.families.get(rule.pattern)
        self.rules.set(rule)
        family = self.rules.families.get(rule.pattern, before)  # one that ends is found by its text, and not compiled again
        if family is not None and self.replaying and rule.boost != (before.rule.boost if before else 0):
            self._boost_all(family.matches)  # all names are known by now, also those of pages that came later

    def _boost_all(self, matches: Callable[[str], object]) -> None:
        for page, url in enumerate(self.urls()):
            if matches(url):
                self.frontier.prioritise(page, self.rules.priority(url))

    def urls(self) -> Iterator[str]:
        """The URLs of all pages, in the order of their numbers."""
        return (url for urls, _ in self.log.urls() for url in urls)

    def join(self, name: str, group: str, asked: bool) -> None:
        """A host shares delay and budget with all others of a group from now on."""
        host, into = self.hosts.join(name, group)
        self.make_room()
        if host != into:
            self.frontier.join(host, into, asked)

    @property
    def reads_texts(self) -> bool:
        """Whether the texts of fetched pages are kept, for the ordering or for searchers."""
        return "texts" in self.needs or self.demand.searchers is not None
