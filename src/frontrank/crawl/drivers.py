"""What an event does to an ordering's state and to the frontier: one kernel each, or step by step.

``Fused`` is for the polite frontier: an event is one call of the ordering, which writes keys, and one of the frontier, which
reads them. Each is compiled by itself, so that a crawl with another ordering finds the frontier's machine code.
``Stepwise`` asks any other ``Frontier`` by its methods alone, a call for each page that gets a key. The order is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from frontrank.crawl.events import Expired, Retried, Taken
from frontrank.crawl.kernels import arrive, arrive_again, deepen, key_all, key_links, key_seeds, meet_all, plant, put_out
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, Frontier
from frontrank.frontiers.polite import PUTS, Polite, back, later
from frontrank.frontiers.polite import take as take_polite
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.kernels.jit import Array, Direct, Lazy, interpreted, lazy, lean
from frontrank.orderings.policy import Out, Policy
from frontrank.orderings.ranker import UNRANKED
from frontrank.web.links import Links

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

PART = 500  # pages that are settled in one call: interpreted, half a second


class Driver(Protocol):
    """A live crawl's ordering at work on a frontier."""

    def plant(self, state: CrawlState, pages: Array, weight: float) -> None:
        """Pages to start from, each of this weight."""

    def meet(self, state: CrawlState, parent: int, pages: Array) -> None:
        """A page that has not arrived yet links to these: those not known before wait behind all that are ranked."""

    def arrive(self, state: CrawlState, page: int) -> None:
        """A page is settled, with the links that lie in its row."""

    def arrive_again(self, state: CrawlState, page: int) -> None:
        """A page that had arrived before has these links now."""


def driver_of(policy: Policy, frontier: Frontier) -> Driver:
    return Fused(policy, frontier) if isinstance(frontier, PoliteFrontier) else Stepwise(policy, frontier)


TAKEN, RETRIED, EXPIRED = Taken.kind, Retried.kind, Expired.kind


def settle_page(queue: Polite, links: Links, depth: Array, page: int, out: Out, count: int) -> None:
    raise NotImplementedError  # an open name: arrive, bound to the kind of queue


@lean
def apply_all(
    queue: Polite, links: Links, depth: Array, kinds: Array, pages: Array, times: Array, out: Out, ends: Array
) -> None:
    """Events in this order; where in ``out`` the keys of each settled page end, ``ends`` says."""
    begin = settled = 0
    for i in range(kinds.size):
        if kinds[i] == TAKEN:
            take_polite(queue, pages[i], times[i])
        elif kinds[i] == RETRIED:
            later(queue, pages[i])
        elif kinds[i] == EXPIRED:
            back(queue, pages[i])
        else:
            end = ends[settled]
            settle_page(queue, links, depth, pages[i], Out(out.page[begin:], out.key[begin:]), end - begin)
            begin, settled = end, settled + 1


class Fused:
    def __init__(self, policy: Policy, frontier: PoliteFrontier) -> None:
        self.frontier = frontier
        kernels, put = policy.kernels(), PUTS[policy.queue]
        # The ordering's, and beside each what the frontier does then.
        self._key_seeds, self._plant = Lazy(key_seeds, on_seed=kernels["on_seed"]), Lazy(plant, put=put)
        self._on_start, self._put_out = lazy(kernels["on_start"]), Lazy(put_out, put=put)
        put_written, meet = interpreted(put_out, put=put), interpreted(meet_all, put=put)
        self._key_links = Direct(key_links, on_fetch=kernels["on_fetch"])
        self._arrive = Direct(arrive, put_out=put_written)
        self._on_revisit = lazy(kernels["on_revisit"])
        self._arrive_again = Lazy(arrive_again, put_out=put_written, meet_all=meet)
        self._meet = Lazy(meet_all, put=put)
        self._key_all = Lazy(key_all, on_fetch=kernels["on_fetch"])
        self._apply_all = Lazy(apply_all, settle_page=interpreted(arrive, put_out=put_written))

    def plant(self, state: CrawlState, pages: Array, weight: float) -> None:
        ordering, queue = state.ordering, self.frontier.queue
        keys = np.empty(len(pages))
        self._key_seeds.call(ordering.columns, pages, weight, keys)
        self._plant.call(queue, state.pages.depths, pages, keys)
        self._put_out.call(queue, ordering.out, self._on_start.call(ordering.columns, ordering.out))

    def meet(self, state: CrawlState, parent: int, pages: Array) -> None:
        self._meet.call(self.frontier.queue, state.pages.depths, parent, pages)

    def arrive(self, state: CrawlState, page: int) -> None:
        self.frontier.undue(page)
        ordering, links = state.ordering, state.links.rows
        count = self._key_links.call(ordering.columns, links, page, ordering.out)
        self._arrive.call(self.frontier.queue, links, state.pages.depths, page, ordering.out, count)

    def arrive_again(self, state: CrawlState, page: int) -> None:
        ordering, links = state.ordering, state.links.rows
        count = self._on_revisit.call(ordering.columns, links, page, ordering.out)
        self._arrive_again.call(self.frontier.queue, links, state.pages.depths, page, ordering.out, count)

    def replay(self, state: CrawlState, kinds: Array, pages: Array, times: Array) -> None:
        """Many events of the most frequent kinds, in few calls. The caller keeps the times that pages wait for."""
        ordering, links, ends = state.ordering, state.links.rows, np.empty(PART, np.int64)
        settled = np.flatnonzero(~np.isin(kinds, (TAKEN, RETRIED, EXPIRED)))
        begin = first = 0
        while begin < kinds.size:
            some = pages[settled[first : first + PART]]
            first += self._key_all.call(ordering.columns, links, some, ordering.room, ordering.out, ends)
            end = int(settled[first]) if first < settled.size else kinds.size
            part = (column[begin:end] for column in (kinds, pages, times))
            self._apply_all.call(self.frontier.queue, links, state.pages.depths, *part, ordering.out, ends)
            begin = end


class Stepwise:
    def __init__(self, policy: Policy, frontier: Frontier) -> None:
        self.frontier, self.kind = frontier, policy.queue
        kernels = policy.kernels()
        self._on_seed, self._on_start = lazy(kernels["on_seed"]), lazy(kernels["on_start"])
        self._on_fetch, self._on_revisit = lazy(kernels["on_fetch"]), lazy(kernels["on_revisit"])
        self._deepen = lazy(deepen)

    def plant(self, state: CrawlState, pages: Array, weight: float) -> None:
        for page in pages:
            state.pages.depths[page] = 0
            self._put(int(page), float(self._on_seed.call(state.ordering.columns, page, weight)))
        self._put_out(state.ordering.out, self._on_start.call(state.ordering.columns, state.ordering.out))

    def meet(self, state: CrawlState, parent: int, pages: Array) -> None:
        self._deepen.call(state.pages.depths, parent, pages)
        for page in pages.tolist():
            if self.frontier.mark(page) in (ABSENT, FORGOTTEN):
                self._put(page, UNRANKED)

    def arrive(self, state: CrawlState, page: int) -> None:
        self._deepen.call(state.pages.depths, page, state.links.of(page))
        self.frontier.settle(page)
        state.ordering.columns.fetched[page] = 1
        self._put_out(
            state.ordering.out, self._on_fetch.call(state.ordering.columns, state.links.rows, page, state.ordering.out)
        )

    def arrive_again(self, state: CrawlState, page: int) -> None:
        self._put_out(
            state.ordering.out, self._on_revisit.call(state.ordering.columns, state.links.rows, page, state.ordering.out)
        )
        self.meet(state, page, state.links.of(page))

    def _put_out(self, out: Out, count: int) -> None:
        for page, key in zip(out.page[:count].tolist(), out.key[:count].tolist(), strict=True):
            self._put(page, key)

    def _put(self, page: int, key: float) -> None:
        """As the queue that the ordering names: by key, first discovered first, or last discovered first."""
        if self.kind == "heap":
            self.frontier.put(page, key)
        elif self.kind == "fifo":
            self.frontier.put(page, 0.0)
        elif self.frontier.mark(page) == ABSENT:
            self.frontier.put(page, float(self.frontier.counts.discovered))
