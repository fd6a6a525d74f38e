"""Crawl and stop: what a crawl has when it stops after k pages, as a share of what the best k pages would be.

    P_CS(k) = (pages hot among the k best, of the first k fetched) / k       cho98; fica07 calls it throughput
    mass(k) = (importance of the first k fetched) / (sum of the k largest)    fpr10

Ties: as in cho98 every page as important as the k-th most important one is hot. So an ideal crawler has 1 everywhere,
whichever of the equal pages it takes first, and where many pages are equal (those without any backlink) P_CS is kind.

A crawl whose budget ended before k pages has no value at k (None): nobody knows what it would have fetched next. One
that found nothing more to fetch has: what it fetched is all it would ever have. Cost: O(k) a value once the
web is sorted.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from frontrank.lab.measures.standing import pages_at, standing
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)  # of the web: where numbers are quoted
EXHAUSTED = "frontier empty"


def reaches(trace: Trace, k: int) -> bool:
    """Whether it is known what the crawl has after k fetches."""
    return trace.fetched >= k or trace.ended == EXHAUSTED


def hot(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "pagerank") -> dict[float, float | None]:
    """P_CS after these shares of the web.

    >>> web = Web.from_edges([0, 1, 2, 3], [2, 2, 1, 2], pages=4)
    >>> hot(Trace(np.array([0]), np.array([0, 2])), web, (0.25, 0.5, 1.0), "backlink")
    {0.25: 0.0, 0.5: 0.5, 1.0: None}
    """
    first = standing(web, metric).first
    values: dict[float, float | None] = {}
    for share in shares:
        k = pages_at(share, web.pages)
        values[share] = int(np.count_nonzero(first[trace.order[:k]] <= k)) / k if reaches(trace, k) else None
    return values


def mass(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "pagerank") -> dict[float, float | None]:
    """Importance gathered after these shares of the web, over the most that was possible.

    None also for every share if the metric has negative values, as ``location`` has: then a sum of it says nothing.
    """
    known = standing(web, metric)
    signed = bool(known.best[-1] < 0.0)
    values: dict[float, float | None] = {}
    for share in shares:
        k = pages_at(share, web.pages)
        if signed or not reaches(trace, k):
            values[share] = None
            continue
        possible = float(known.best_mass[k])
        # Two ways of summing the same pages may differ in the last bit; no crawl has more than all.
        values[share] = min(1.0, float(known.value[trace.order[:k]].sum()) / possible) if possible > 0.0 else 1.0
    return values
