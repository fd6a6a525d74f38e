"""What the papers about search impact share: a query log where none is given, and curves of impact.

A made query log stands in where a web comes without one. Pages are drawn at random, one in ten, and from the title or the
text of each a run of one to three words: what somebody might ask who looks for that page. Queries are as popular as they are
early among the draws, so that frequent runs of words are; the query of rank r is asked ceil(n/r) times (Zipf). The same web
gives the same log.

Drawn so, what is asked for has nothing to do with links. In the webs of tran15 it has: pages that searchers are shown link to
pages that they are shown. Where a web with that property is wanted and none is given, searchers are made too (``searched``,
of ``sources.synthetic_searchers``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.measures import Curve
from frontrank.lab.measures.impact import picks
from frontrank.papers.reproduction import RANDOM
from frontrank.sources.synthetic_searchers import MAX_QUERIES, MIN_QUERIES, PAGES_A_QUERY, asked_for, searched
from frontrank.web.view import Workload
from frontrank.web.web import Web

POINTS = 1000  # of a curve

__all__ = ["gathered", "ideal", "lines", "made_workload", "of_ideal", "searched", "told_of", "unsearchable"]


def made_workload(web: Web, seed: int = 0) -> Workload:
    """Queries made from the words of a web's own pages."""
    draw = np.random.default_rng(seed)
    count = min(MAX_QUERIES, max(MIN_QUERIES, web.pages // PAGES_A_QUERY))
    asked = asked_for(web, draw.integers(0, web.pages, count), draw)
    return Workload(tuple(asked), np.ceil(len(asked) / np.arange(1.0, len(asked) + 1)))


def told_of(workload: Workload, given: bool) -> str:
    """Where the queries come from, in a sentence."""
    count = f"{len(workload):,} different queries, asked {workload.frequency.sum():,.0f} times"
    source = "made from titles and texts of pages drawn at random, with Zipf's frequencies, for want of a query log"
    return f"{count} ({'the log given' if given else source})."


def gathered(scores: Array, impact: Array) -> Curve:
    """The share of all impact in the frontier that its first pages hold.

    >>> gathered(np.array([1.0, 2.0]), np.array([1.0, 3.0])).y.tolist()
    [0.0, 0.75, 1.0]
    """
    return _cumulated(impact[picks(scores)])


def ideal(impact: Array) -> Curve:
    """What an ideal order gathers."""
    return _cumulated(np.sort(impact)[::-1])


def _cumulated(impact: Array) -> Curve:
    n = len(impact)
    at = np.unique(np.round(np.linspace(0, n, min(n, POINTS) + 1)).astype(np.int64))
    total = np.concatenate([[0.0], np.cumsum(impact)])
    return Curve(at / n, total[at] / max(total[-1], np.finfo(float).tiny))


def of_ideal(scores: Array | None, impact: Array, shares: Array) -> Curve:
    """Impact over the ideal's for these shares of the frontier; of a random order, the expected one, if there are no scores."""
    best = np.cumsum(np.sort(impact)[::-1])
    got = np.cumsum(impact[picks(scores)]) if scores is not None else impact.mean() * np.arange(1.0, len(impact) + 1)
    last = np.maximum(1, np.round(shares * len(impact)).astype(np.int64)) - 1
    y = np.divide(got[last], best[last], out=np.zeros(len(last)), where=best[last] > 0)
    return Curve(shares, y)


def lines(scores: Mapping[str, Array], impact: Array, shares: Array) -> dict[str, Curve]:
    """``of_ideal`` of each ranker by name, and of a random order."""
    return {name: of_ideal(score, impact, shares) for name, score in scores.items()} | {RANDOM: of_ideal(None, impact, shares)}


def unsearchable(web: Web) -> str:
    """Why nothing can be searched in this web; empty if something can."""
    return "" if web.urls is not None else f"{web.name} does not know its URLs, without which nothing can be searched"
