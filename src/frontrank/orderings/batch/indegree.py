"""In-degree: links from fetched pages, counted for the whole frontier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.inlinks import in_degree
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import Ranker
from frontrank.web.view import CrawlView


@dataclass(frozen=True)
class InDegree(Ranker):
    """In-degree: the page with the most links from fetched pages first, ranked anew now and then.

        score(q) = |{p fetched : p -> q}|

    The batch form of ``backlink``: the same count, but pages discovered since the last ranking wait behind all ranked ones.
    ``every=1`` differs from ``backlink`` in nothing.

    Parameters: ``every``, the number of fetches between two rankings.

    Reference: tran15; cho98's queue that is reordered in batches. Cost: one pass over the links seen, for each ranking.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 3, 4], pages=5)
    >>> order(web, "indegree:every=2", seeds=[0])
    [0, 1, 3, 2, 4]
    """

    name = "indegree"

    def score(self, view: CrawlView) -> Array:
        links = view.target[: view.indptr[len(view.source)]]
        return in_degree(links, view.known).astype(np.float64)

    def givers(self, view: CrawlView, scores: Array, page: int) -> tuple[Array, Array]:
        rows = view.rows_to(page)
        return rows, np.ones(rows.size)
