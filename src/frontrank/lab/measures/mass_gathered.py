"""mass: the importance gathered so far, over the maximum for as many pages.

    mass(k) = (importance of the first k fetched) / (sum of the k largest)    fpr10
    absolute: over the importance of the whole web. Pages drawn at random: (k/n total) / (k largest), absolute k/n

None at every share if the metric has negative values, as ``location`` has: then a sum of it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.measures.curves import POINTS, at_shares, end_of, places
from frontrank.lab.measures.measure import SHARES, Curve, Figure, Measure, Values
from frontrank.lab.measures.standing import Standing, pages_at, ratio, standing
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web


def mass(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "pagerank") -> Values:
    """Importance gathered after these shares of the web, over the most that was possible."""
    known = standing(web, metric)

    def share_of_possible(k: int) -> float | None:
        possible = float(known.best_mass[k])
        if known.best[-1] < 0.0:
            return None
        # Two ways of summing the same pages may differ in the last bit; no crawl has more than all.
        return min(1.0, float(known.value[trace.order[:k]].sum()) / possible) if possible > 0.0 else 1.0

    return at_shares(trace, web, shares, share_of_possible)


def mass_curve(trace: Trace, web: Web, metric: str = "pagerank", points: int = POINTS, relative: bool = True) -> Curve:
    """Importance gathered by a crawl: relative to an ideal crawl of as many pages, or to the whole web."""
    known = standing(web, metric)
    gathered = np.concatenate([[0.0], np.cumsum(known.value[trace.order])])
    k = places(end_of(trace, web), points, from_zero=not relative)
    return _mass(known, k, gathered[np.minimum(k, trace.fetched)], relative)


def ideal_mass_curve(
    web: Web, metric: str = "pagerank", points: int = POINTS, relative: bool = True, until: float = 1.0
) -> Curve:
    known = standing(web, metric)
    k = places(pages_at(until, web.pages), points, from_zero=not relative)
    return _mass(known, k, known.best_mass[k], relative)


def random_mass_curve(
    web: Web, metric: str = "pagerank", points: int = POINTS, relative: bool = True, until: float = 1.0
) -> Curve:
    known = standing(web, metric)
    k = places(pages_at(until, web.pages), points, from_zero=not relative)
    return _mass(known, k, k / web.pages * known.best_mass[-1], relative)


def _mass(known: Standing, k: Array, gathered: Array, relative: bool) -> Curve:
    if known.best[-1] < 0.0:
        return Curve(np.empty(0), np.empty(0))
    possible = known.best_mass[k] if relative else np.full(len(k), known.best_mass[-1])
    return Curve(k / len(known.best), np.minimum(1.0, ratio(gathered, possible)))


MASS = Measure(
    "mass",
    "of the best possible mass after",
    lambda run, judged: mass(run.trace, judged.web, SHARES, judged.metric),
    figure=Figure(
        "Importance gathered",
        "of the best possible",
        lambda run, judged: mass_curve(run.trace, judged.web, judged.metric),
        lambda judged, until: ideal_mass_curve(judged.web, judged.metric, until=until),
        lambda judged, until: random_mass_curve(judged.web, judged.metric, until=until),
        lambda judged, importance: (
            f"The {importance} of all pages fetched so far, as a share of the most that as many pages can have."
        ),
    ),
)
