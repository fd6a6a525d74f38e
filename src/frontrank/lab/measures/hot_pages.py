"""hot: crawl and stop, P_CS. Are the first k pages fetched the k most important ones?

    P_CS(k) = (pages hot among the k best, of the first k fetched) / k       cho98; fica07 calls it throughput

Ties: as in cho98 every page as important as the k-th most important one is hot. So an ideal crawler has 1 everywhere,
whichever of the equal pages it takes first, and where many pages are equal (those without any backlink) P_CS is lenient. Pages
drawn at random have H(k)/n in expectation, where H(k) of all n pages are hot among the k best.

A crawl whose budget ended before k pages has no value at k (None), as what it would have fetched next is not known. One
that found nothing more to fetch has one, as it would never fetch more. Cost: O(k) per value once the web is sorted.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from frontrank.lab.measures.curves import POINTS, at_shares, end_of, places
from frontrank.lab.measures.measure import SHARES, Curve, Figure, Measure, Values
from frontrank.lab.measures.standing import pages_at, standing
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web


def hot(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "pagerank") -> Values:
    """P_CS after these shares of the web.

    >>> web = Web.from_edges([0, 1, 2, 3], [2, 2, 1, 2], pages=4)
    >>> hot(Trace(np.array([0]), np.array([0, 2])), web, (0.25, 0.5, 1.0), "backlink")
    {0.25: 0.0, 0.5: 0.5, 1.0: None}
    """
    first = standing(web, metric).first
    return at_shares(trace, web, shares, lambda k: int(np.count_nonzero(first[trace.order[:k]] <= k)) / k)


def hot_curve(trace: Trace, web: Web, metric: str = "pagerank", points: int = POINTS) -> Curve:
    """P_CS of a crawl. It has no value at 0 pages, so it begins one step later."""
    counted_from = np.maximum(np.arange(1, trace.fetched + 1), standing(web, metric).first[trace.order])
    counts = np.cumsum(np.bincount(counted_from, minlength=web.pages + 1))
    k = places(end_of(trace, web), points)
    return Curve(k / web.pages, counts[k] / k)


def ideal_hot_curve(web: Web, points: int = POINTS, until: float = 1.0) -> Curve:
    k = places(pages_at(until, web.pages), points)
    return Curve(k / web.pages, np.ones(len(k)))


def random_hot_curve(web: Web, metric: str = "pagerank", points: int = POINTS, until: float = 1.0) -> Curve:
    k = places(pages_at(until, web.pages), points)
    return Curve(k / web.pages, standing(web, metric).hot_pages()[k] / web.pages)


HOT = Measure(
    "hot",
    "hot pages found after",
    lambda run, judged: hot(run.trace, judged.web, SHARES, judged.metric),
    figure=Figure(
        "Hot pages found",
        "hot pages among those fetched",
        lambda run, judged: hot_curve(run.trace, judged.web, judged.metric),
        lambda judged, until: ideal_hot_curve(judged.web, until=until),
        lambda judged, until: random_hot_curve(judged.web, judged.metric, until=until),
        lambda judged, importance: (
            "Stop anywhere: of the pages fetched so far, how many belong to the best that could have been fetched "
            "instead? Pages of equal importance count alike, so lines rise where many pages are equal."
        ),
    ),
)
