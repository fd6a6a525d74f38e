"""Needy queries: those whose results a crawl can improve (pandey08, sections 5.2 and 6.3).

    neediness(q) = f(q) * improvability(average score of q's top K results)
    improvability(s) = exp(a + b s)

The improvement of q in an earlier cycle is the number of its top K results that the cycle brought. Queries are put into
buckets by average score before the cycle, and log(mean improvement) of each bucket is fitted by a line in its mean score.
A query with fewer than K results counts the missing ones as score 0. Keeping only the neediest sketches makes all that
follows cheaper: matching, expected scores and sketches are made for these queries alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.web.view import Results, SearchView, Workload

BUCKETS = 20


@dataclass(frozen=True)
class Improvability:
    """How many of a query's top results a cycle is expected to replace: exp(intercept + slope * average score)."""

    intercept: float
    slope: float

    @classmethod
    def fit(cls, average: Array, improvement: Array, buckets: int = BUCKETS) -> Improvability:
        """From average scores before an earlier cycle and the number of results it brought, for each query.

        Buckets hold equally many queries; those without any improvement have no logarithm and are left out.

        >>> fitted = Improvability.fit(np.array([0.0, 1.0, 2.0]), np.array([8.0, 4.0, 2.0]), buckets=3)
        >>> round(fitted.slope, 6), round(float(fitted(np.array([3.0]))[0]), 6)
        (-0.693147, 1.0)
        """
        if len(average) != len(improvement):
            raise InputError(f"there must be one average score for each improvement, got {len(average)} for {len(improvement)}")
        order = np.argsort(average, kind="stable")
        points = [
            (float(average[part].mean()), math.log(improvement[part].mean()))
            for part in np.array_split(order, buckets)
            if len(part) and improvement[part].mean() > 0
        ]
        x, y = np.array(points).reshape(-1, 2).T
        if len(x) == 0 or np.ptp(x) == 0:
            return cls(float(y.mean()) if len(y) else 0.0, 0.0)
        slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
        return cls(float(y.mean() - slope * x.mean()), slope)

    def __call__(self, average: Array) -> Array:
        expected: Array = np.exp(self.intercept + self.slope * np.asarray(average))
        return expected


def average_scores(results: Results, k: int = 10) -> Array:
    """The average score of each query's top k results; missing ones count as 0."""
    rank = np.arange(len(results.page)) - np.repeat(results.indptr[:-1], np.diff(results.indptr))
    query = np.repeat(np.arange(len(results.indptr) - 1), np.diff(results.indptr))
    top = rank < k
    averages: Array = np.bincount(query[top], results.score[top], minlength=len(results.indptr) - 1) / k
    return averages


def earlier_cycle(results: Results, before: Array, k: int = 10) -> tuple[Array, Array]:
    """For each query the average score without the last cycle's pages, and how many of its top k those brought.

    ``before`` marks the pages that were there before the cycle. Scores are today's: an engine's statistics move little.
    """
    old = before[results.page]
    kept = np.concatenate([[0], np.cumsum(old)])[results.indptr]
    average = average_scores(Results(kept, results.page[old], results.score[old]), k)
    fresh = Results(results.indptr, results.page, (~old).astype(np.float64))
    return average, average_scores(fresh, k) * k


def neediness(workload: Workload, results: Results, improvability: Improvability, k: int = 10) -> Array:
    """f(q) * improvability(average top-k score) of each query."""
    return np.asarray(workload.frequency * improvability(average_scores(results, k)))


def keep(need: Array, share: float) -> Array:
    """The numbers of the neediest queries, at least one, in their own order; equal ones by number.

    >>> keep(np.array([1.0, 3.0, 2.0, 3.0]), 0.5).tolist()
    [1, 3]
    """
    if not 0 < share <= 1:
        raise InputError(f"the share of query sketches to keep must be above 0 and up to 1, got {share}")
    count = max(1, round(share * len(need)))
    return np.sort(np.argsort(-need, kind="stable")[:count])


def only(search: SearchView, queries: Array) -> SearchView:
    """The same view of these queries alone."""
    workload, results = search.workload, search.results
    length = np.diff(results.indptr)[queries]
    indptr = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(results.indptr[:-1][queries] - indptr[:-1], length) + np.arange(indptr[-1])
    return replace(
        search,
        workload=workload.only(queries, workload.frequency[queries]),
        index=None,
        results=Results(indptr, results.page[at], results.score[at]),
    )
