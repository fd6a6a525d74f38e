"""Standing: the pages of a web sorted by importance once, for all measures of all runs.

A page is hot among the k best if its importance is at least that of the k-th most important page (cho98). Pages of
equal importance become hot together, so there may be more than k hot pages; ``first[p]`` is the smallest k at which p
is hot: 1 + the number of pages of greater importance. Equal is what differs by no more than rounding does (``TIE`` of
``frontrank.web.importance``), so that every machine counts the same pages. Cost: one sort, O(n log n), and 32 bytes per
page, kept with the web.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.web.importance import at_least, importance, lowest_tie
from frontrank.web.web import Web


class Standing(NamedTuple):
    """How each page stands among all pages of its web."""

    value: Array  # importance of each page
    best: Array  # the importances, largest first
    first: Array  # of each page, the smallest k at which it belongs to the k best
    best_mass: Array  # best_mass[k]: the sum of the k largest

    def hot_pages(self) -> Array:
        """For k = 0 .. n the number of pages that are hot among the k best: k, or more where there are ties."""
        counts: Array = np.cumsum(np.bincount(self.first, minlength=len(self.best) + 1))
        return counts


def standing(web: Web, metric: str = "pagerank") -> Standing:
    """The standing of all pages by an importance metric; computed once for a web."""
    key = f"standing {metric}"
    if key not in web.cache:
        web.cache[key] = _sorted(importance(web, metric))
    found: Standing = web.cache[key]
    return found


def _sorted(value: Array) -> Standing:
    by_value = np.argsort(-value, kind="stable")
    best = value[by_value]
    first = np.empty(len(best), np.int64)
    first[by_value] = np.searchsorted(-lowest_tie(best), -best, side="left") + 1  # pages greater even if rounded down
    return Standing(value, best, first, np.concatenate([[0.0], np.cumsum(best)]))


def hot_count(web: Web, level: float, metric: str = "pagerank") -> int:
    """How many pages reach this importance."""
    return int(np.count_nonzero(at_least(standing(web, metric).value, level)))


def pages_at(share: float, pages: int) -> int:
    """How many pages a share of the web is: at least one.

    >>> pages_at(0.1, 1000), pages_at(0.05, 3)
    (100, 1)
    """
    if not 0.0 < share <= 1.0:
        raise InputError(f"share must be a share of the web, above 0 and up to 1, got {share}")
    return max(1, round(share * pages))


def ratio(part: Array, whole: Array) -> Array:
    """part / whole; where there is nothing to be had (0 of 0), all of it is had."""
    shares: Array = np.divide(part, whole, out=np.ones(len(part)), where=whole > 0.0)
    return shares
