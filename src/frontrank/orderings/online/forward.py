"""Forward: pages whose parents have many links first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Column, kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links, row


@dataclass(frozen=True)
class Forward(Policy):
    """Forward: pages whose known parents have many links first.

        key(q) = mean of O(p) over the fetched pages p that link to q

    The forward-link importance IF(q) = O(q) cannot be known before q is fetched; its parents' out-degrees stand in for it,
    as directories link to directories.

    Reference: cho98, metric IF(p); the estimate is ours. Cost: O(log n) for each link.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 2, 2, 2], [1, 2, 3, 4, 5, 6], pages=7)
    >>> order(web, "forward", seeds=[0])
    [0, 1, 2, 4, 5, 6, 3]
    """

    name = "forward"
    needs_past_links = False
    columns = {"degrees": Column(np.float64), "parents": Column(np.int32)}

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        count = 0
        for j in range(targets.size):
            q = targets[j]
            state.degrees[q] += targets.size
            state.parents[q] += 1
            if state.fetched[q] == 0:
                out.page[count] = q
                out.key[count] = state.degrees[q] / state.parents[q]
                count += 1
        return count

    @staticmethod
    @kernel
    def on_revisit(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.parents[q] == 0:  # of other targets it is not known whether the page linked to them before
                state.degrees[q] = targets.size
                state.parents[q] = 1
                if state.fetched[q] == 0:
                    out.page[count] = q
                    out.key[count] = state.degrees[q]
                    count += 1
        return count
