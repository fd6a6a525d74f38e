"""Curves: a measure all along a crawl, against the share of the web that has been fetched.

    hot_curve         P_CS(k), k/n on the x axis; see ``frontrank.lab.measures.stop`` for its ties
    threshold_curve   P_ST: of all pages with importance >= G (there are H), the share fetched so far
    mass_curve        importance gathered: over the most possible after as many pages, or over that of the whole web

Reference lines, for n pages of which H(k) are hot among the k best (H(k) = k without ties):

                      ideal crawler                 pages drawn at random, expectation
    P_CS              1                             H(k)/n
    P_ST              min(1, k/H)                   k/n
    mass, relative    1                             (k/n total) / (k largest)
    mass, absolute    (k largest) / total           k/n

The x values are evenly spaced, the last is where the crawl ended (or 1 if it found nothing more to fetch: what it has
then stays). Cost: O(n) a curve once the web is sorted: a page counts for P_CS(k) from k = max(its place in the fetch
order, the first k at which it is hot), so the whole curve is one running count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures.standing import Standing, hot_count, pages_at, ratio, standing
from frontrank.lab.measures.stop import EXHAUSTED
from frontrank.simulation.trace import Trace
from frontrank.web.importance import at_least, lowest_tie
from frontrank.web.web import Web

POINTS = 200


class Curve(NamedTuple):
    """A measure y after the share x of the web has been fetched."""

    x: Array
    y: Array


def hot_curve(trace: Trace, web: Web, metric: str = "pagerank", points: int = POINTS) -> Curve:
    """P_CS of a crawl. It has no value at 0 pages, so it begins one step later."""
    counted_from = np.maximum(np.arange(1, trace.fetched + 1), standing(web, metric).first[trace.order])
    counts = np.cumsum(np.bincount(counted_from, minlength=web.pages + 1))
    k = _places(_end(trace, web), points)
    return Curve(k / web.pages, counts[k] / k)


def ideal_hot_curve(web: Web, points: int = POINTS, until: float = 1.0) -> Curve:
    k = _places(pages_at(until, web.pages), points)
    return Curve(k / web.pages, np.ones(len(k)))


def random_hot_curve(web: Web, metric: str = "pagerank", points: int = POINTS, until: float = 1.0) -> Curve:
    k = _places(pages_at(until, web.pages), points)
    return Curve(k / web.pages, standing(web, metric).hot_pages()[k] / web.pages)


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


def threshold_curve(trace: Trace, web: Web, least: float, metric: str = "pagerank", points: int = POINTS) -> Curve:
    """P_ST of a crawl: of all pages with at least this importance, the share fetched so far."""
    hot = at_least(standing(web, metric).value, least)
    found = np.concatenate([[0], np.cumsum(hot[trace.order])])
    k = _places(_end(trace, web), points, from_zero=True)
    return Curve(k / web.pages, found[np.minimum(k, trace.fetched)] / _hot_count(web, least, metric))


def ideal_threshold_curve(web: Web, least: float, metric: str = "pagerank", points: int = POINTS, until: float = 1.0) -> Curve:
    k = _places(pages_at(until, web.pages), points, from_zero=True)
    return Curve(k / web.pages, np.minimum(1.0, k / _hot_count(web, least, metric)))


def random_threshold_curve(web: Web, points: int = POINTS, until: float = 1.0) -> Curve:
    k = _places(pages_at(until, web.pages), points, from_zero=True)
    return Curve(k / web.pages, k / web.pages)


def mass_curve(trace: Trace, web: Web, metric: str = "pagerank", points: int = POINTS, relative: bool = True) -> Curve:
    """Importance gathered by a crawl: relative to an ideal crawl of as many pages, or to the whole web.

    Empty if the metric has negative values, as ``location`` has: then a sum of it says nothing.
    """
    known = standing(web, metric)
    gathered = np.concatenate([[0.0], np.cumsum(known.value[trace.order])])
    k = _places(_end(trace, web), points, from_zero=not relative)
    return _mass(known, k, gathered[np.minimum(k, trace.fetched)], relative)


def ideal_mass_curve(
    web: Web, metric: str = "pagerank", points: int = POINTS, relative: bool = True, until: float = 1.0
) -> Curve:
    known = standing(web, metric)
    k = _places(pages_at(until, web.pages), points, from_zero=not relative)
    return _mass(known, k, known.best_mass[k], relative)


def random_mass_curve(
    web: Web, metric: str = "pagerank", points: int = POINTS, relative: bool = True, until: float = 1.0
) -> Curve:
    known = standing(web, metric)
    k = _places(pages_at(until, web.pages), points, from_zero=not relative)
    return _mass(known, k, k / web.pages * known.best_mass[-1], relative)


def _mass(known: Standing, k: Array, gathered: Array, relative: bool) -> Curve:
    if known.best[-1] < 0.0:
        return Curve(np.empty(0), np.empty(0))
    possible = known.best_mass[k] if relative else np.full(len(k), known.best_mass[-1])
    return Curve(k / len(known.best), np.minimum(1.0, ratio(gathered, possible)))


def _hot_count(web: Web, least: float, metric: str) -> int:
    count = hot_count(web, least, metric)
    if count == 0:
        raise InputError(f"importance {least:g} given as threshold, but no page of {web.name} reaches it by {metric}")
    return count


def _end(trace: Trace, web: Web) -> int:
    return web.pages if trace.ended == EXHAUSTED else trace.fetched


def _places(end: int, points: int, from_zero: bool = False) -> Array:
    """At most this many evenly spaced places up to end, the last one included."""
    if points < 2:
        raise InputError(f"a curve must have at least 2 points, got {points}")
    steps = min(end, points - from_zero)
    k = np.array([-(-i * end // steps) for i in range(1, steps + 1)], np.int64)
    return np.concatenate([[0], k]) if from_zero else k
