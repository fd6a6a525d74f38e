"""Places of a curve: evenly spaced, the last is where the crawl ended (or the whole web if it found nothing more to fetch).

Cost: O(n) per curve once the web is sorted: a page counts for P_CS(k) from k = max(its place in the fetch order, the first k at
which it is hot), so the whole curve is one running count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures.measure import EXHAUSTED, Values, reaches
from frontrank.lab.measures.standing import pages_at
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web

POINTS = 200


def end_of(trace: Trace, web: Web) -> int:
    """How far a crawl can be followed: what one that found nothing more has then, stays."""
    return web.pages if trace.ended == EXHAUSTED else trace.fetched


def at_shares(trace: Trace, web: Web, shares: Iterable[float], value: Callable[[int], float | None]) -> Values:
    """What ``value`` says of the first so many pages, after these shares of the web; None where that is not known."""
    counts = {share: pages_at(share, web.pages) for share in shares}
    return {share: value(k) if reaches(trace, k) else None for share, k in counts.items()}


def places(end: int, points: int, from_zero: bool = False) -> Array:
    """At most this many evenly spaced places up to end, the last one included."""
    if points < 2:
        raise InputError(f"a curve must have at least 2 points, got {points}")
    steps = min(end, points - from_zero)
    k = np.array([-(-i * end // steps) for i in range(1, steps + 1)], np.int64)
    return np.concatenate([[0], k]) if from_zero else k
