"""What an ordering can learn from the crawl itself: hide some fetched pages, and see which setting finds those that matter.

A share of the fetched pages, drawn at random, is taken to be waiting: their links and their impact are forgotten. Those that
the others still link to are a small frontier of which the truth is known. It is small, and a few of its pages have most of the
impact: what a setting finds among the first 2% is a matter of luck. So settings are compared further down, by the logarithm of
impact (``found``), and what they find of the impact itself among the first pages (``first``) is only watched.

The draws depend on nothing but the number of fetched pages, so a crawl and its repetition hide the same ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.web.view import CrawlView

SHARE = 0.35  # of the fetched pages, hidden: what tran15 leaves to be tested
DRAWS = 8
DEPTHS = (0.1, 0.2, 0.3)  # of the hidden pages
FIRST = (0.02, 0.05, 0.1)
MIN_HIDDEN = 50  # hidden pages that say something


class Hidden(NamedTuple):
    """A crawl with a part of it hidden."""

    view: CrawlView  # without that part
    pages: Array  # hidden, and still linked to
    impact: Array  # of these

    def found(self, scores: Array) -> float:
        """The share of the best possible log impact among the first by these scores (of all known pages), mean over depths."""
        lowest = self.impact[self.impact > 0].min()
        return float(_shares(scores[self.pages], np.log1p(self.impact / lowest), DEPTHS).mean())

    def first(self, scores: Array) -> Array:
        """The share of the best possible impact among the first 2, 5 and 10%."""
        return _shares(scores[self.pages], self.impact, FIRST)


def _shares(scores: Array, impact: Array, depths: tuple[float, ...]) -> Array:
    got = np.cumsum(impact[np.argsort(-scores, kind="stable")])
    best = np.cumsum(np.sort(impact)[::-1])
    last = [max(1, round(depth * len(impact))) - 1 for depth in depths]
    shares: Array = got[last] / best[last]
    return shares


def hidden_parts(view: CrawlView, draws: int = DRAWS) -> list[Hidden]:
    """Several draws; none where too little is fetched, or nothing that is hidden has an impact."""
    parts = [_hidden(view, draw) for draw in range(draws)]
    return [one for one in parts if len(one.pages) >= MIN_HIDDEN and one.impact.any()]


def _hidden(view: CrawlView, draw: int) -> Hidden:
    assert view.impact is not None
    rows = len(view.source)
    drawn = np.random.default_rng([draw, rows]).permutation(rows)
    kept = np.sort(drawn[round(SHARE * rows) :])
    degree = np.diff(view.indptr[: rows + 1])[kept]
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    target = view.target[np.repeat(view.indptr[kept] - indptr[:-1], degree) + np.arange(indptr[-1])]
    part = CrawlView(view.known, view.seeded, view.pages, view.source[kept], indptr, target)
    part.urls, part.url_value = view.urls, view.url_value
    part.impact = np.where(part.fetched, view.impact, 0.0)
    linked = np.zeros(view.known, bool)
    linked[target] = True
    pages = np.flatnonzero(linked & view.fetched & ~part.fetched)
    return Hidden(part, pages, view.impact[pages])
