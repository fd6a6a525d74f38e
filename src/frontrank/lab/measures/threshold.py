"""threshold: crawl and stop with threshold, P_ST. How many of the hot pages, fixed in advance, have been fetched so far?

    P_ST(k) = (pages of importance >= G among the first k fetched) / (all H pages of importance >= G)         cho98

An ideal crawler has min(1, k/H), pages drawn at random k/n.
"""

from __future__ import annotations

import numpy as np

from frontrank.errors import InputError
from frontrank.lab.measures.curves import POINTS, end_of, places
from frontrank.lab.measures.measure import Curve, Figure, Judged, Measure
from frontrank.lab.measures.standing import hot_count, pages_at, standing
from frontrank.lab.numbers import percent
from frontrank.simulation.trace import Trace
from frontrank.web.importance import at_least, lowest_tie
from frontrank.web.web import Web

HOT = 0.05  # of all pages are hot in the figure of a report


def threshold_for(web: Web, metric: str = "pagerank", share: float = 0.05) -> float:
    """An importance G such that about this share of all pages has it or more: as near as ties allow, never none.

    >>> web = Web.from_edges([0, 1, 2, 3], [2, 2, 1, 2], pages=4)
    >>> threshold_for(web, "backlink", 0.25), threshold_for(web, "backlink", 0.6)
    (3.0, 1.0)
    """
    known = standing(web, metric)
    k = pages_at(share, web.pages)
    level = known.best[k - 1]
    above = int(np.searchsorted(-lowest_tie(known.best), -level, side="left"))
    with_equals = hot_count(web, level, metric)
    return float(known.best[above - 1] if above > 0 and k - above < with_equals - k else level)


def threshold_curve(trace: Trace, web: Web, level: float, metric: str = "pagerank", points: int = POINTS) -> Curve:
    """P_ST of a crawl: of all pages with at least this importance, the share fetched so far."""
    hot = at_least(standing(web, metric).value, level)
    found = np.concatenate([[0], np.cumsum(hot[trace.order])])
    k = places(end_of(trace, web), points, from_zero=True)
    return Curve(k / web.pages, found[np.minimum(k, trace.fetched)] / _hot_count(web, level, metric))


def ideal_threshold_curve(web: Web, level: float, metric: str = "pagerank", points: int = POINTS, until: float = 1.0) -> Curve:
    k = places(pages_at(until, web.pages), points, from_zero=True)
    return Curve(k / web.pages, np.minimum(1.0, k / _hot_count(web, level, metric)))


def random_threshold_curve(web: Web, points: int = POINTS, until: float = 1.0) -> Curve:
    k = places(pages_at(until, web.pages), points, from_zero=True)
    return Curve(k / web.pages, k / web.pages)


def _hot_count(web: Web, level: float, metric: str) -> int:
    count = hot_count(web, level, metric)
    if count == 0:
        raise InputError(f"importance {level:g} given as threshold, but no page of {web.name} reaches it by {metric}")
    return count


def _level(judged: Judged) -> float:
    return threshold_for(judged.web, judged.metric, HOT)


def _text(judged: Judged, importance: str) -> str:
    top = hot_count(judged.web, _level(judged), judged.metric)
    return (
        f"How soon is the top of the web complete? The {top:,} most important pages ({percent(top / judged.web.pages)} of "
        f"all) are fixed in advance; the lines show how many of them have been fetched."
    )


THRESHOLD = Measure(
    "threshold",
    figure=Figure(
        "The top pages, fetched so far",
        "of the top pages fetched",
        lambda run, judged: threshold_curve(run.trace, judged.web, _level(judged), judged.metric),
        lambda judged, until: ideal_threshold_curve(judged.web, _level(judged), judged.metric, until=until),
        lambda judged, until: random_threshold_curve(judged.web, until=until),
        _text,
    ),
)
