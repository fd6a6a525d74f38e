"""OPIC: pages that have received the most cash first."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.kernels.jit import Array, Column, kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links, row


@dataclass(frozen=True)
class Opic(Policy):
    """OPIC: the page that holds the most cash first.

        seeds start with cash 1/(number of seeds);
        fetching p: every q in L(p), fetched or not, gets cash(p)/O(p); history(p) += cash(p); cash(p) = 0
        key(q) = cash(q); the ranking after the crawl is history + cash

    Differs from Abiteboul et al. 2003 as fica07 does: every page is fetched once, so cash that reaches a fetched page
    stays there.

    Reference: fica07, section 4. Cost: O(log n) for each link.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "opic", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    name = "opic"
    rereads = False
    columns = {"cash": Column(), "history": Column()}

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        state.cash[page] += weight
        return float(state.cash[page])

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        cash = state.cash[page]
        state.history[page] += cash
        state.cash[page] = 0.0
        if targets.size == 0:
            return 0
        share = cash / targets.size
        count = 0
        for j in range(targets.size):
            q = targets[j]
            state.cash[q] += share
            if state.fetched[q] == 0:
                out.page[count] = q
                out.key[count] = state.cash[q]
                count += 1
        return count

    def ranking(self, state: State) -> Array | None:
        total: Array = state.history + state.cash
        return total
