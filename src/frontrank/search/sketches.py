"""Query sketches and the impact they predict (pandey08, sections 3.2 and 5).

The sketch of query q is the top K of the scores S(p, q) of fetched pages and the expected scores S'(p, q) of frontier
pages that match q. The query-based impact of page p is

    I(p, Q) = sum over q of f(q) * V(rank of p in the sketch of q)

with V the visibility of a rank (``visibility``): 1 down to rank K and 0 below by default, or any other. Equal
scores: fetched pages before frontier pages, then by page number.

Cost: one pass over results and matches; K numbers in memory for one query at a time.
"""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.search.visibility import checked_visibility
from frontrank.web.view import Results, Workload


def sketch_impact(workload: Workload, results: Results, expected: Results, pages: int, visibility: Array) -> Array:
    """The query-based impact of each page, fetched (from ``results``) or frontier (from ``expected``, in any order).

    >>> from frontrank.search.visibility import step
    >>> log = Workload(("q",), np.array([5.0]))
    >>> fetched = Results(np.array([0, 2]), np.array([0, 1]), np.array([9.0, 3.0]))
    >>> frontier = Results(np.array([0, 2]), np.array([2, 3]), np.array([2.0, 4.0]))
    >>> sketch_impact(log, fetched, frontier, 4, step(2)).tolist()
    [5.0, 0.0, 0.0, 5.0]
    """
    seen = checked_visibility(visibility)
    impact = np.zeros(pages)
    compiled(_add_sketches)(np.asarray(workload.frequency, np.float64), _parts(results), _parts(expected), seen, impact)
    return impact


def _parts(rows: Results) -> tuple[Array, Array, Array]:
    return rows.indptr.astype(np.int64), rows.page.astype(np.int64), rows.score.astype(np.float64)


@kernel
def _offer(page: int, score: float, count: int, best: Array, who: Array) -> int:
    """Insert into the sketch behind all that are not worse; returns how many it has."""
    at = count
    while at > 0 and score > best[at - 1]:
        at -= 1
    if at == best.size:
        return count
    last = count if count < best.size else best.size - 1
    for i in range(last, at, -1):
        best[i] = best[i - 1]
        who[i] = who[i - 1]
    best[at] = score
    who[at] = page
    return last + 1


@kernel
def _add_sketches(
    frequency: Array,
    fetched: tuple[Array, Array, Array],
    frontier: tuple[Array, Array, Array],
    visibility: Array,
    impact: Array,
) -> None:
    best = np.empty(visibility.size)
    who = np.empty(visibility.size, np.int64)
    for query in range(frequency.size):
        count = 0
        for j in range(fetched[0][query], fetched[0][query + 1]):
            count = _offer(fetched[1][j], fetched[2][j], count, best, who)
        for j in range(frontier[0][query], frontier[0][query + 1]):
            count = _offer(frontier[1][j], frontier[2][j], count, best, who)
        for rank in range(count):
            impact[who[rank]] += frequency[query] * visibility[rank]
