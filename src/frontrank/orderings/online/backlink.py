"""Backlink: the page with the most links from fetched pages first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Array, Column, lean
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links


@dataclass(frozen=True)
class Backlink(Policy):
    """Backlink: the page with the most links from fetched pages first.

        key(q) = |{p fetched : p -> q}|

    It tends to dwell in dense clusters: pages of one site that all link to each other look important before anything else
    is known (cho98, section 5.2).

    When a page comes back, its links are counted where no other page has linked to the target: only these are surely new.

    Reference: cho98, ordering metric IB'(p); fica07. Cost: O(log n) for each link.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 3, 4], pages=5)
    >>> order(web, "backlink", seeds=[0])
    [0, 1, 3, 2, 4]
    """

    name = "backlink"
    per_link = ("backlinks",)
    needs_past_links = False
    columns = {"backlinks": Column(np.int32)}

    @staticmethod
    @lean
    def on_seed(state: State, page: int, weight: float) -> float:
        return float(state.backlinks[page])

    @staticmethod
    @lean
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = links.target[links.start[page] : links.stop[page]]
        count = 0
        for j in range(targets.size):
            q = targets[j]
            state.backlinks[q] += 1
            if state.fetched[q] == 0:
                out.page[count] = q
                out.key[count] = state.backlinks[q]
                count += 1
        return count

    @staticmethod
    @lean
    def on_revisit(state: State, links: Links, page: int, out: Out) -> int:
        targets = links.target[links.start[page] : links.stop[page]]
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.backlinks[q] == 0:
                state.backlinks[q] = 1
                if state.fetched[q] == 0:
                    out.page[count] = q
                    out.key[count] = 1.0
                    count += 1
        return count

    def ranking(self, state: State) -> Array | None:
        return np.asarray(state.backlinks, np.float64)
