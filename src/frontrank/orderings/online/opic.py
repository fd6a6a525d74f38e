"""OPIC: pages that have received the most cash first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Array, Column, Kernel, lean
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links

STARTS = ("seeds", "all")


@lean
def _seed_like_all(state: State, page: int, weight: float) -> float:
    """A seed has what every page has from the beginning."""
    return float(state.cash[page])


@dataclass(frozen=True)
class Opic(Policy):
    """OPIC: the page that holds the most cash first.

        start=seeds: seeds start with cash 1/(number of seeds), all other pages with none
        start=all:   every page starts with the same cash, one unit
        fetching p: every q in L(p), fetched or not, gets cash(p)/O(p); history(p) += cash(p); cash(p) = 0
        key(q) = cash(q); the ranking after the crawl is history + cash, as shares of their sum

    A page that comes back does the same again, with the cash that has reached it since: that is Abiteboul, Preda and Cobena's
    algorithm, whose importance (H(p) + C(p))/(G + 1), H the history, C the cash, G the sum of all H, is the ranking here. On a
    strongly connected web where all pages keep coming back it converges to the stationary distribution of a random walk. The
    paper adds a page that all pages link to, and that links to all; here there is none, and a page without links keeps
    what reaches it as history.

    Where every page is fetched once, cash that reaches a fetched page stays there: that is fica07's OPIC. It starts with
    ``all``, and that is what its comparison with FICA is about; it writes 1/n for the unit, n the number of pages of the web.
    A live crawl does not know n, and the order does not depend on it. The two differ greatly: with ``seeds`` cash is the share
    of the seeds' importance that has reached a page, as in fpr; with ``all`` every fetched page brings a unit of its own.
    ``frontrank reproduce fica07`` shows both.

    Parameters: ``start``, who has cash in the beginning: seeds or all.

    Reference: Abiteboul, Preda, Cobena 2003; fica07, section 4. Cost: O(log n) for each link.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "opic", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    start: str = "seeds"
    name = "opic"
    per_link = ("cash",)
    needs_past_links = False
    columns = {"cash": Column(), "history": Column()}

    def validate(self) -> None:
        if self.start not in STARTS:
            raise SpecError(f"opic: unknown start {self.start!r}{nearest(self.start, STARTS)}")

    def layout(self) -> dict[str, Column]:
        own = {"cash": Column(np.float64, 1.0)} if self.start == "all" else {}
        return {**super().layout(), **own}

    def kernels(self) -> dict[str, Kernel]:
        own: dict[str, Kernel] = {"on_seed": _seed_like_all} if self.start == "all" else {}
        return {**super().kernels(), **own}

    @staticmethod
    @lean
    def on_seed(state: State, page: int, weight: float) -> float:
        state.cash[page] += weight
        return float(state.cash[page])

    @staticmethod
    @lean
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = links.target[links.start[page] : links.stop[page]]
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

    on_revisit = on_fetch

    def ranking(self, state: State) -> Array | None:
        total: Array = state.history + state.cash
        return total / total.sum() if total.any() else total
