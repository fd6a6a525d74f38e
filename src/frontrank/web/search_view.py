"""SearchView: what a search team knows beside the links of a crawl.

Pages are numbered by discovery, as in ``CrawlView``. Nothing here may come from the content of a page that has not been
fetched: of a frontier page only its URL, and the anchors of links from fetched pages, are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from frontrank.kernels.jit import Array


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries and how often each is asked."""

    queries: tuple[str, ...]
    frequency: Array

    def __len__(self) -> int:
        return len(self.queries)


@dataclass(frozen=True, eq=False)
class Results:
    """For each query of a workload the best pages and their scores, best first: rows of a CSR."""

    indptr: Array  # int64, one more than queries
    page: Array  # int32
    score: Array  # float64

    def of(self, query: int) -> tuple[Array, Array]:
        row = slice(int(self.indptr[query]), int(self.indptr[query + 1]))
        return self.page[row], self.score[row]

    def views(self, workload: Workload, pages: int, top: int = 10) -> Array:
        """How often each page is shown among the top results: the sum of f(q) over queries that show it."""
        total = np.zeros(pages)
        for query in range(len(workload)):
            shown = self.page[self.indptr[query] : min(self.indptr[query + 1], self.indptr[query] + top)]
            total[shown] += workload.frequency[query]
        return total


@dataclass(frozen=True, eq=False)
class SearchView:
    """Queries, the engine's results over fetched pages, and the words known of each page without fetching it."""

    workload: Workload
    results: Results  # searching the fetched pages alone: an engine shows only what it has
    urls: Sequence[str]  # of each known page
    anchors: Sequence[str]  # of each known page: the anchors of links from fetched pages, joined by " \n "
    hosts: Array  # of each known page
    cache: dict[str, object] = field(default_factory=dict, repr=False)  # indexes made from the above, kept between rankers
    depth: int | None = None  # how many results were asked for: a row of so many may have been cut; None: all are here
