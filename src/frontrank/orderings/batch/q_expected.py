"""The expected case of pandey08: query sketches in which a score is a distribution, not a number."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.kernels.jit import Array
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.search.expected_impact import outlook_impact
from frontrank.search.expected_score import ExpectedScore
from frontrank.search.ngrams import Matches
from frontrank.search.visibility import visibility
from frontrank.web.view import SearchView


@dataclass(frozen=True)
class QExpected(QOverlap):
    """Expected query impact: the page first that is likely to be shown for most queries, whatever it may turn out to score.

        E I(p) = sum over q, r of f(q) V(r) P(p has rank r among the results of q)

    q-overlap takes an expected score for the score itself: a page is in a sketch or it is not. Here S'(p, q) is a distribution,
    the scores that fetched pages like it turned out to have (the residuals of the fit), and pages that may be shown have their
    share. That a page which matches is no result at all (it lacks a word in its text) is one of the odds.

    Parameters: as in q-overlap.

    Differs from pandey08: of each query at most 50 waiting pages, those that may score highest, are weighed against each other;
    the paper samples. Scores of different pages are taken to be independent.

    Needs a view with queries (``frontrank.search.observe``). Reference: pandey08, section 4.2. Cost: q-overlap's, and for each
    query up to k * (250 values)^2 steps.

    >>> import numpy as np
    >>> from frontrank import Web
    >>> from frontrank.search.observe import observe
    >>> from frontrank.web.view import Workload
    >>> web = Web.from_edges([0, 0, 0], [1, 2, 3], 4, anchors=["about", "bees", "wasps"],
    ...                      urls=["http://a/", "http://a/1", "http://a/2", "http://a/3"])
    >>> log = Workload(("bees", "wasps"), np.array([2.0, 5.0]))
    >>> QExpected().score(observe(web, seeds=[0], order=[0], workload=log)).round(9).tolist()
    [0.0, 0.0, 2.0, 5.0]
    """

    name = "q-expected"

    def _impact(self, some: SearchView, expected: ExpectedScore, first: int, matches: Matches, pages: int) -> Array:
        outlook = expected.outlook(first, matches)
        return outlook_impact(some.workload, some.results, outlook, pages, visibility(self.v, self.k))
