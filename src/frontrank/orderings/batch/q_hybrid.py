"""The hybrid impact of pandey08: the impact of a page by queries, and by its PageRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.jit import Array
from frontrank.orderings.batch.q_overlap import STEP_VISIBILITY, QOverlap
from frontrank.orderings.ranker import Ranker
from frontrank.search.expected_score import page_features
from frontrank.search.visibility import Visibility
from frontrank.web.view import CrawlView

FITS = ("isotonic", "quadratic", "tree")
LEAF = 50  # pages in a leaf of the tree: most pages are never shown, a mean over few would be 0


@dataclass(frozen=True)
class QHybrid(Ranker):
    """Query hybrid: query overlap, mixed with the impact that a page's PageRank alone lets expect.

        score(p) = weight * q-overlap(p) + (1 - weight) * impact predicted from x = log(n PageRank(p))

    The prediction is learned on fetched pages and their observed impact. It orders the many pages that match no query, and
    helps where the log is a poor guess of what will be asked. pandey08 does not say on which scale it fits; the logarithm
    keeps a few pages of huge PageRank from deciding alone.

    Parameters: ``weight`` of the query-based part; ``fit``: isotonic, the best function of x that never falls; quadratic, a
    parabola (pandey08's); or tree, a regression tree (tran15's); ``g``, ``rho``, ``k``, ``keep``, ``v`` as in q-overlap.
    PageRank's damping is 0.85.

    Differs from pandey08: waiting pages mostly have a smaller PageRank than the fetched ones that a parabola is fitted to,
    and on their side it often rises again, so that the least pages go first. A function that never falls cannot do that.
    Where impact falls with PageRank it can only be constant, and orders nothing: then the parabola is ahead. Both cases, with
    the fitted curves: docs/results/pandey08-synthetic.md and docs/results/pandey08-uci-ics.md.

    Needs a view with queries and observed impact (``frontrank.search.observe``). Reference: pandey08, section 5.4; tran15.
    Cost: q-overlap's and PageRank's.

    >>> from frontrank import Web
    >>> from frontrank.search.observe import observe
    >>> from frontrank.web.view import Workload
    >>> web = Web.from_edges([0, 0, 0, 1], [1, 2, 3, 3], 4, anchors=["about us", "bees", "more", "more"],
    ...                      urls=["http://a/", "http://a/1", "http://a/2", "http://a/3"])
    >>> log = Workload(("bees", "about"), np.array([2.0, 5.0]))
    >>> scores = QHybrid().score(observe(web, seeds=[0], order=[0, 1], workload=log))
    >>> int(np.argmax(scores[2:])) + 2, bool(scores[3] > 0)
    (2, True)
    """

    weight: float = 0.9
    fit: str = "isotonic"
    g: int = 3
    rho: float = 1.0
    k: int = 10
    keep: float = 1.0
    v: Visibility = STEP_VISIBILITY
    name = "q-hybrid"

    def validate(self) -> None:
        self.require(0 <= self.weight <= 1, "weight", "a number from 0 to 1")
        self.require(self.fit in FITS, "fit", f"one of {', '.join(FITS)}")
        self.overlap()

    def overlap(self) -> QOverlap:
        """The query-based part."""
        return QOverlap(self.g, self.rho, self.k, self.keep, self.v)

    def needs(self) -> frozenset[str]:
        return frozenset({"queries", "impact"})

    def score(self, view: CrawlView) -> Array:
        by_query, by_standing = self.parts(view).values()
        total: Array = by_query + by_standing
        return total

    def parts(self, view: CrawlView) -> dict[str, Array]:
        if view.impact is None:
            raise InputError(f"{self.name} learns from observed impact, but this crawl has none; give clicks or views")
        by_query = self.overlap().score(view)
        predicted = self.curve(view, page_features(view)["pagerank"])
        return {"queries": self.weight * by_query, "pagerank": (1.0 - self.weight) * predicted}

    def curve(self, view: CrawlView, asked: Array) -> Array:
        """The impact that PageRank alone lets expect, at these values of x = log(n PageRank): what was fitted to the crawl."""
        assert view.impact is not None
        x = page_features(view)["pagerank"]
        return _predicted(self.fit, x[view.source], view.impact[view.source], asked)


def _predicted(fit: str, x: Array, impact: Array, asked: Array) -> Array:
    if np.unique(x).size < 3:  # a curve through fewer points is anybody's guess
        return np.full(len(asked), impact.mean() if len(impact) else 0.0)
    if fit == "quadratic":
        return np.asarray(np.polynomial.Polynomial.fit(x, impact, 2)(asked))
    need("sklearn")
    if fit == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        rising: Any = IsotonicRegression(out_of_bounds="clip")
        return np.asarray(rising.fit(x, impact).predict(asked))
    from sklearn.tree import DecisionTreeRegressor

    tree: Any = DecisionTreeRegressor(min_samples_leaf=min(LEAF, max(1, len(x) // 20)), random_state=0)
    return np.asarray(tree.fit(x[:, None], impact).predict(asked[:, None]))
