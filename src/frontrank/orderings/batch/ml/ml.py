"""The learned ranker: a regressor over the scores of other rankers and the surroundings of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.coarse import coarse
from frontrank.kernels.jit import Array
from frontrank.orderings.batch.fusion import ranks
from frontrank.orderings.batch.ml.features import SETS, STEADY, features
from frontrank.orderings.batch.ml.learners import LEARNERS, Fitted, fitted
from frontrank.orderings.batch.sampled import taken
from frontrank.orderings.ranker import Ranker
from frontrank.web.view import CrawlView

FOLDS = 5
MAX_EXAMPLES = 250_000  # examples; of more, pages that their hashes name, the same ones for every engine
K = 60.0  # as in fusion
WALK_WEIGHT = 0.5  # of the places by rw and rw-eg in the blend; each learner has 1: walks are steady where learners stray


class Examples(NamedTuple):
    """Features of pages as they were in the frontier, and the impact they turned out to have."""

    page: Array
    rows: Array
    impact: Array


@dataclass(frozen=True)
class Ml(Ranker):
    """Learned ranking: the page first whose features foretell the greatest search impact.

        blend:   score(q) = sum over sgd, gbm, forest of 1/(60 + place of q by learner)
                            + sum over rw, rw-eg of 0.5/(60 + place of q)
        others:  score(q) = regression of log(1 + impact) on the features of q (see ``features``)

    Tomorrow's frontier is not yesterday's: learners that err in different ways, fused by places, err less, and a share of
    orderings without training keeps them from going far astray.

    Examples to learn from: pages that waited in an earlier view of the same crawl and have been fetched since, with their
    features of then and their impact as observed now. Pages whose impact is told although they wait (tran15's experiment)
    are examples too; as features average the impacts of neighbours, those of each fifth of the told pages are computed
    from the other four fifths: a page's own impact must not be among its features. Of more than 250,000 examples a part is
    taken, drawn by hashes of page numbers.

    Parameters: ``learner``, one of blend, gbm, forest, tree, sgd (the last two as in tran15); ``seed``; ``features``, all, or
    links: without what URLs, anchors and queries say (Spark has these), or table4: the scores of other rankers alone, as in
    tran15 (by views and by clicks where both are known; q-hybrid by a tree). Other than there they are places, as scores of
    two moments have different scales, and rw-eg learns omega from the crawl.

    Needs observed impact, and an earlier view or told impacts. Reference: tran15, section 6. Cost: for each earlier view
    the features, and the learner.
    """

    learner: str = "blend"
    seed: int = 0
    features: str = "all"
    name = "ml"

    def validate(self) -> None:
        self.require(self.learner in LEARNERS, "learner", f"one of {', '.join(LEARNERS)}")
        self.require(self.seed >= 0, "seed", "a whole number from 0")
        self.require(self.features in SETS, "features", f"one of {', '.join(SETS)}")

    def needs(self) -> frozenset[str]:
        return frozenset({"impact", "history"})

    def score(self, view: CrawlView) -> Array:
        gain, known = gains(view)
        examples = since(view, self.features)
        if view.revealed is not None:
            examples = _joined([examples, revealed(view, self.seed, self.features)])
            gain, known = _with(gain, known, *view.revealed)
        waits = np.flatnonzero(~view.fetched)
        scores = np.zeros(view.known)
        if len(waits):
            predict = self.learned(examples)
            asked = features(view, waits, gain, known, self.features)
            scores[waits] = _fused(predict(asked.matrix()), [asked.columns[name] for name in STEADY[self.features]])
        return scores

    def learned(self, examples: Examples) -> Fitted:
        """What examples teach; InputError if there is none."""
        if len(examples.page) == 0:
            raise InputError(
                "ml has nothing to learn from: give earlier views of the crawl whose frontier has been fetched in part since,"
                " or frontier pages with their impact"
            )
        return fitted(self.learner, self.seed, examples.rows, np.log1p(examples.impact), _weights(examples.page))


def _fused(predicted: list[Array], steady: list[Array]) -> Array:
    if len(predicted) == 1:
        return predicted[0]
    total = np.zeros(len(predicted[0]))
    for weight, parts in ((1.0, map(coarse, predicted)), (WALK_WEIGHT, steady)):
        for part in parts:
            total += weight / (K + ranks(part))
    return total


def gains(view: CrawlView) -> tuple[Array, Array]:
    """log(1 + impact) of all known pages, and where it is known."""
    if view.impact is None:
        raise InputError("ml needs the observed impact of fetched pages; give clicks, views or queries with texts")
    return np.log1p(view.impact), view.fetched


def since(view: CrawlView, which: str = "all") -> Examples:
    """What became of pages that waited in earlier views."""
    assert view.impact is not None
    done = view.fetched
    moments = []
    for earlier in view.history:
        if (earlier.search is None) == (view.search is None):  # the same features as today's
            gain, known = gains(earlier)
            pages = np.flatnonzero(~known)
            moments.append((earlier, gain, known, pages[done[pages]]))
    share = share_of_examples(sum(len(pages) for *_, pages in moments))
    parts = []
    for earlier, gain, known, pages in moments:
        pages = pages[taken(pages, share)]
        if len(pages):
            parts.append(Examples(pages, features(earlier, pages, gain, known, which).matrix(), view.impact[pages]))
    return _joined(parts)


def share_of_examples(count: int, limit: int = MAX_EXAMPLES) -> float:
    """The share of so many examples that is learned from."""
    return limit / max(count, limit)


def revealed(view: CrawlView, seed: int, which: str = "all") -> Examples:
    """Frontier pages whose impact is told; the features of each fold see the impacts of the other folds."""
    assert view.revealed is not None
    pages, impact = np.asarray(view.revealed[0], np.int64), np.asarray(view.revealed[1], np.float64)
    gain, known = gains(view)
    fold = np.random.default_rng(seed).permutation(len(pages)) % FOLDS
    parts = []
    for hidden in range(min(FOLDS, len(pages))):
        mine = fold == hidden
        others = _with(gain, known, pages[~mine], impact[~mine])
        parts.append(Examples(pages[mine], features(view, pages[mine], *others, which).matrix(), impact[mine]))
    return _joined(parts)


def _with(gain: Array, known: Array, pages: Array, impact: Array) -> tuple[Array, Array]:
    gain, known = gain.copy(), known.copy()
    gain[pages] = np.log1p(impact)
    known[pages] = True
    return gain, known


def _joined(parts: list[Examples]) -> Examples:
    parts = [part for part in parts if len(part.page)]
    if not parts:
        return Examples(np.empty(0, np.int64), np.empty((0, 0)), np.empty(0))
    return Examples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _weights(pages: Array) -> Array:
    """A page counts once, however many earlier views it waited in."""
    _, which, times = np.unique(pages, return_inverse=True, return_counts=True)
    weights: Array = 1.0 / times[which]
    return weights
