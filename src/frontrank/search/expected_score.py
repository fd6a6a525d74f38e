"""The expected score S'(p, q): what the engine would give a page that has not been fetched (pandey08, sections 3.2, 5).

A regression tree from what is known without the content of p, learned on pairs of a fetched page and a query it matches,
where S is known. Features, the same for fetched and frontier pages, all from URLs and from links and anchors of fetched
pages:

    of the pair     share of q's n-grams in the URL of p, in its anchors, in either
    of the page     words of the URL, anchors, in-degree, PageRank (all as logarithms), mean score of results from its host
    of the query    words; number, best and K-th best score of the results among fetched pages

S of a fetched page that matches but is not among the results: 0 where the results are all there are, and the last
result's score (it is at most that) where the list was cut.

The score is a *distribution* where one is asked for (``outlook``): of a pair that comes to a leaf of the tree, what the leaf's
own training pairs scored, as ``LEVELS`` quantiles that are equally likely. That is the tree's prediction plus its residuals,
leaf by leaf: some leaves predict well, others do not.

Cost: sorting at most ``PAIRS`` training pairs for each feature and level; a path down the tree for each match.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from frontrank.errors import need
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.pages.words import url_words
from frontrank.search.expected_impact import Outlook
from frontrank.search.ngrams import Matches
from frontrank.web.view import CrawlView, Results, SearchView

PAIRS = 200_000  # pairs the tree is learned from; more are thinned evenly
LEAF = 50  # pairs in a leaf: a mean over fewer would be noise
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of the scores of a leaf
HOST_PAIRS = 20.0  # how many results of average score a host starts with


class ExpectedScore:
    """S' for one view. Matches come in batches of queries, given with the number of their first query."""

    def __init__(self, view: CrawlView, k: int = 10) -> None:
        assert view.search is not None
        self.search, self.fetched = view.search, view.fetched
        self.of_page = np.column_stack([*page_features(view).values(), _host_means(view.search)]).astype(np.float32)
        self.of_query = query_features(view.search, k).astype(np.float32)
        self.tree: Any = None
        self.learned: tuple[Array, Array] | None = None  # the leaf and the score of each training pair

    def learn(self, batches: Iterable[tuple[int, Matches]]) -> None:
        """From matching pairs of fetched pages: every pair, or evenly spread ones where there are too many."""
        known, scores = np.empty((0, 0), np.float32), np.empty(0)
        step, skip = 1, 0
        for first, matches in batches:
            at = np.flatnonzero(self.fetched[matches.page])
            taken = at[skip::step]
            skip = (skip - at.size) % step
            features = self._features(first, matches, taken)
            known = np.concatenate([known.reshape(-1, features.shape[1]), features])
            scores = np.concatenate([scores, known_scores(self.search, matches, first)[taken]])
            while scores.size > PAIRS:
                skip += step * (scores.size % 2)
                known, scores, step = known[::2], scores[::2], 2 * step
        self.tree = fitted_tree(known, scores)
        if self.tree is not None:
            self.learned = self.tree.apply(known), scores

    def of(self, first: int, matches: Matches) -> Results:
        """S' of the frontier pages that match, for each query of the batch; in page order."""
        waiting = ~self.fetched[matches.page]
        at = np.flatnonzero(waiting)
        results = self.search.results
        if self.tree is None:  # nothing fetched matches: every match is as good as an average result
            expected = np.full(at.size, results.score.mean() if len(results.score) else 1.0)
        else:
            expected = self.tree.predict(self._features(first, matches, at)) if at.size else np.empty(0)
        indptr = np.concatenate([[0], np.cumsum(waiting)])[matches.indptr]
        return Results(indptr, matches.page[at], expected)

    def outlook(self, first: int, matches: Matches) -> Outlook:
        """What the frontier pages that match may score, for each query of the batch; in page order."""
        likely = self.of(first, matches)
        if self.tree is None or self.learned is None:
            flat, leaf = np.unique(likely.score, return_inverse=True)
            return Outlook(likely.indptr, likely.page, leaf, np.repeat(flat[:, None], len(LEVELS), axis=1))
        at = np.flatnonzero(~self.fetched[matches.page])
        leaf = self.tree.apply(self._features(first, matches, at)) if at.size else np.empty(0, np.int64)
        return Outlook(likely.indptr, likely.page, leaf, self._quantiles(*self.learned))

    def _quantiles(self, leaf: Array, score: Array) -> Array:
        values = np.zeros((self.tree.tree_.node_count, len(LEVELS)))
        order = np.lexsort((score, leaf))
        begins = np.flatnonzero(np.concatenate([[True], np.diff(leaf[order]) > 0]))
        counts = np.diff(np.append(begins, len(order)))
        for at, level in enumerate(LEVELS):
            values[leaf[order][begins], at] = score[order][begins + (level * counts).astype(np.int64)]
        return values

    def _features(self, first: int, matches: Matches, at: Array) -> Array:
        query = first - 1 + np.searchsorted(matches.indptr, at, side="right")
        of_pair = np.column_stack([matches.in_url[at], matches.in_anchors[at], matches.in_either[at]])
        return np.hstack([of_pair, self.of_page[matches.page[at]], self.of_query[query]])


def known_scores(search: SearchView, matches: Matches, first: int = 0) -> Array:
    """S of each matching pair as far as results tell (it means something for fetched pages only)."""
    results, depth = search.results, search.depth if search.depth is not None else -1
    score = np.zeros(len(matches.page))
    pages = 1 + max(int(matches.page.max(initial=0)), int(results.page.max(initial=0)))
    shown = results.indptr[first : first + len(matches.indptr)]
    compiled(_look_up)(shown, results.page, results.score, matches.indptr, matches.page, depth, pages, score)
    return score


def fitted_tree(known: Array, scores: Array) -> Any:
    """The regression tree of training pairs: rows of features, and scores; None if there are none."""
    if not scores.size:
        return None
    need("sklearn")
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(min_samples_leaf=min(LEAF, max(1, scores.size // 20)), random_state=0).fit(known, scores)


def page_features(view: CrawlView) -> dict[str, Array]:
    """Of each known page: logarithms of its URL's words, anchors, in-degree and PageRank (times the number of pages)."""
    assert view.search is not None
    cache: dict[str, Any] = view.search.cache
    if "page features" not in cache:
        target = view.target[: view.links]
        cache["page features"] = {
            "url": np.log1p([len(url_words(url)) for url in view.search.urls]),
            "anchors": np.log1p([anchors.count("\n") + (anchors != "") for anchors in view.search.anchors]),
            "indegree": np.log1p(np.bincount(target, minlength=view.known)),
            "pagerank": np.log(view.pagerank() * view.known),
        }
    found: dict[str, Array] = cache["page features"]
    return found


def query_features(search: SearchView, k: int) -> Array:
    """Of each query: its words, and the number, best and k-th best score of its results."""
    results = search.results
    count = np.diff(results.indptr)
    best, last = np.zeros(len(count)), np.zeros(len(count))
    best[count > 0] = results.score[results.indptr[:-1][count > 0]]
    last[count >= k] = results.score[results.indptr[:-1][count >= k] + k - 1]
    length = [len(query.split()) for query in search.workload.queries]
    return np.column_stack([length, count, best, last])


def _host_means(search: SearchView) -> Array:
    """For each page the mean score of results from its host, drawn to the mean of all where there are few."""
    results = search.results
    hosts = search.hosts[results.page]
    size = int(search.hosts.max(initial=0)) + 1
    sums, count = np.bincount(hosts, results.score, minlength=size), np.bincount(hosts, minlength=size)
    overall = float(results.score.mean()) if len(results.score) else 0.0
    means: Array = (sums + HOST_PAIRS * overall) / (count + HOST_PAIRS)
    return means[search.hosts]


@kernel
def _look_up(
    shown_indptr: Array,
    shown: Array,
    shown_score: Array,
    indptr: Array,
    page: Array,
    depth: int,
    pages: int,
    score: Array,
) -> None:
    place = np.full(pages, -1, np.int64)
    for query in range(indptr.size - 1):
        begin, end = shown_indptr[query], shown_indptr[query + 1]
        for j in range(begin, end):
            place[shown[j]] = j
        rest = shown_score[end - 1] if end - begin == depth and end > begin else 0.0
        for i in range(indptr[query], indptr[query + 1]):
            j = place[page[i]]
            score[i] = shown_score[j] if j >= begin else rest
