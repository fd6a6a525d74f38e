"""What an event does to an ordering's state and to the frontier: one kernel an event, or step by step.

``Fused`` is for the polite frontier: the ordering and the frontier are compiled into one kernel over the arrays of both.
``Stepwise`` asks any other ``Frontier`` by its methods alone, a call for each page that gets a key. The order is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from frontrank.crawl.events import Expired, Retried, Taken
from frontrank.crawl.kernels import arrive, arrive_again, deepen, meet_all, plant
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, Frontier
from frontrank.frontiers.polite import PUTS, Polite, back, later
from frontrank.frontiers.polite import take as take_polite
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.kernels.jit import Array, Direct, Lazy, interpreted, lazy, lean
from frontrank.orderings.policy import Out, Policy, State
from frontrank.orderings.ranker import UNRANKED
from frontrank.web.links import Links

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

PART = 500  # events that are applied in one call: interpreted, half a second
TAKEN, RETRIED, EXPIRED = Taken.kind, Retried.kind, Expired.kind


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


def settle_again(state: State, queue: Polite, links: Links, depth: Array, page: int, out: Out) -> None:
    raise NotImplementedError  # an open name: arrive, bound to the policy


@lean
def apply_all(
    state: State, queue: Polite, links: Links, depth: Array, kinds: Array, pages: Array, times: Array, out: Out
) -> None:
    for i in range(kinds.size):
        if kinds[i] == TAKEN:
            take_polite(queue, pages[i], times[i])
        elif kinds[i] == RETRIED:
            later(queue, pages[i])
        elif kinds[i] == EXPIRED:
            back(queue, pages[i])
        else:
            settle_again(state, queue, links, depth, pages[i], out)


class Fused:
    def __init__(self, policy: Policy, frontier: PoliteFrontier) -> None:
        self.frontier = frontier
        kernels, put = policy.kernels(), PUTS[policy.queue]
        self._plant = Lazy(plant, put=put, on_seed=kernels["on_seed"], on_start=kernels["on_start"])
        self._meet = Lazy(meet_all, put=put)
        self._arrive = Direct(arrive, put=put, on_fetch=kernels["on_fetch"])
        meet = interpreted(meet_all, put=put)
        self._arrive_again = Lazy(arrive_again, meet_all=meet, put=put, on_revisit=kernels["on_revisit"])
        self._apply_all = Lazy(apply_all, settle_again=interpreted(arrive, put=put, on_fetch=kernels["on_fetch"]))

    def plant(self, state: CrawlState, pages: Array, weight: float) -> None:
        self._plant.call(state.ordering.columns, self.frontier.queue, state.pages.depths, pages, weight, state.ordering.out)

    def meet(self, state: CrawlState, parent: int, pages: Array) -> None:
        self._meet.call(self.frontier.queue, state.pages.depths, parent, pages)

    def arrive(self, state: CrawlState, page: int) -> None:
        self.frontier.undue(page)
        self._arrive.call(
            state.ordering.columns, self.frontier.queue, state.links.rows, state.pages.depths, page, state.ordering.out
        )

    def arrive_again(self, state: CrawlState, page: int) -> None:
        self._arrive_again.call(
            state.ordering.columns, self.frontier.queue, state.links.rows, state.pages.depths, page, state.ordering.out
        )

    def replay(self, state: CrawlState, kinds: Array, pages: Array, times: Array) -> None:
        """Many events of the most frequent kinds, in few calls. The caller keeps the times that pages wait for."""
        for first in range(0, kinds.size, PART):
            part = (column[first : first + PART] for column in (kinds, pages, times))
            self._apply_all.call(
                state.ordering.columns, self.frontier.queue, state.links.rows, state.pages.depths, *part, state.ordering.out
            )


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
