"""The query-based impact of pandey08: which waiting pages would searchers be shown?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import Ranker
from frontrank.search.expected_score import ExpectedScore
from frontrank.search.needy import Improvability, earlier_cycle, keep, neediness, only
from frontrank.search.ngrams import Matches, NGramIndex
from frontrank.search.sketches import sketch_impact
from frontrank.search.visibility import STEP, Visibility, visibility
from frontrank.web.view import CrawlView, SearchView

STEP_VISIBILITY = Visibility(STEP)


@dataclass(frozen=True)
class QOverlap(Ranker):
    """Query overlap: the page expected to be shown for most queries first, told from URL and anchors.

        I(p, Q) = sum of f(q) over queries q whose sketch holds p

    The sketch of q: the top k of the scores of fetched pages and the expected scores of matching frontier pages. A page
    matches if at least a share rho of the query's word n-grams (n up to g) occur in its URL or in anchors that point to
    it. Pages that match no query score 0: they wait in the order of their discovery.

    Parameters: ``g``, the longest n-gram; ``rho``, the share that must match; ``k``, the results a searcher looks at; ``v``,
    how much of a result at rank r is seen, which stands for 1 in the sum: ``step`` (all of the first k), ``step:5``, ``1/r``,
    ``1/log2(1+r)``, numbers or a file of them; ``keep``, the share of queries, the neediest, for which sketches are made.
    What improves a query's results is learned from the second half of the crawl.

    Needs a view with queries (``frontrank.search.observe``). Reference: pandey08, section 5; tran15's q-overlap. Cost: a
    pass over the words of URLs and anchors, postings of the rarest n-gram of each query, a regression tree over the
    matches.

    >>> from frontrank import Web
    >>> from frontrank.search.observe import observe
    >>> from frontrank.web.view import Workload
    >>> web = Web.from_edges([0, 0, 0], [1, 2, 3], 4, anchors=["about", "bees", "wasps"],
    ...                      urls=["http://a/", "http://a/1", "http://a/2", "http://a/3"])
    >>> log = Workload(("bees", "wasps"), np.array([2.0, 5.0]))
    >>> QOverlap().score(observe(web, seeds=[0], order=[0], workload=log)).tolist()
    [0.0, 0.0, 2.0, 5.0]
    """

    g: int = 3
    rho: float = 1.0
    k: int = 10
    keep: float = 1.0
    v: Visibility = STEP_VISIBILITY
    name = "q-overlap"

    def validate(self) -> None:
        self.require(1 <= self.g <= 8, "g", "a whole number from 1 to 8")
        self.require(0 < self.rho <= 1, "rho", "a number above 0 and up to 1")
        self.require(self.k >= 1, "k", "a whole number from 1")
        self.require(0 < self.keep <= 1, "keep", "a number above 0 and up to 1")
        visibility(self.v, 1)

    def needs(self) -> frozenset[str]:
        return frozenset({"queries"})

    def score(self, view: CrawlView) -> Array:
        search = queries_of(view, self.name)
        if self.keep < 1.0:
            search = self._needy(view, search)
            view = replace(view, search=search)
        grown = None if search.index is None else search.index(self.g)
        index: NGramIndex = grown or NGramIndex.of(search.workload.queries, search.urls, search.anchors, self.g)
        matching = lru_cache(1)(partial(index.match, self.rho))  # a single batch, the usual case, is matched once
        batches = [*index.batches(self.rho)]
        expected = ExpectedScore(view, self.k)
        expected.learn((first, matching(first, last)) for first, last in batches)
        impact = np.zeros(view.known)
        for first, last in batches:
            some = only(search, np.arange(first, last))
            impact += self._impact(some, expected, first, matching(first, last), view.known)
        return impact

    def _impact(self, some: SearchView, expected: ExpectedScore, first: int, matches: Matches, pages: int) -> Array:
        """What these queries let expect of each page."""
        waiting = expected.of(first, matches)
        return sketch_impact(some.workload, some.results, waiting, pages, visibility(self.v, self.k))

    def _needy(self, view: CrawlView, search: SearchView) -> SearchView:
        """The same view with the neediest queries alone."""
        before = np.ones(view.known, bool)
        before[view.source[len(view.source) // 2 :]] = False
        improvability = Improvability.fit(*earlier_cycle(search.results, before, self.k))
        chosen = keep(neediness(search.workload, search.results, improvability, self.k), self.keep)
        return only(search, chosen)


def queries_of(view: CrawlView, name: str) -> SearchView:
    """The view's queries and results, for an ordering that cannot work without."""
    if view.search is None:
        raise InputError(f"{name} ranks by a query log, but this crawl has none; give a file of queries")
    if len(view.search.workload) == 0 or not np.any(view.search.workload.frequency > 0):
        raise InputError(f"{name} ranks by a query log, but the one given is empty; give one with at least one query")
    return view.search
