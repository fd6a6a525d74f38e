"""Fusion: reciprocal rank fusion of other rankers, no training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.trust import trust_of
from frontrank.specs import labels, of_parts, text_of
from frontrank.web.view import CrawlView


def ranks(scores: Array) -> Array:
    """Places by falling score, from 1; pages with equal scores share the mean of their places.

    >>> ranks(np.array([0.5, 0.9, 0.5, 0.1])).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    order = np.argsort(-scores, kind="stable")
    sorted_ = scores[order]
    first = np.concatenate([[True], sorted_[1:] != sorted_[:-1]])
    group = np.cumsum(first) - 1
    begin = np.flatnonzero(first)
    end = np.append(begin[1:], len(scores))
    places = np.empty(len(scores))
    places[order] = ((begin + 1 + end) / 2.0)[group]
    return places


@dataclass(frozen=True)
class Fusion(Ranker):
    """Fusion: pages that several rankers place high first; no training.

        score(q) = sum over rankers of 1/(k + place of q among the frontier pages)

    Reciprocal rank fusion (Cormack, Clarke, Buettcher 2009). Only places count, so scores of different kinds need no scale.
    Pages with equal scores share a place.

    Parameters: ``of``, the rankers, joined by ``+``; theirs are written ``NAME.KEY=VALUE``, and the second of one name is
    ``NAME#2``; ``k`` softens the first places. ``fusion`` alone is ``fusion:of=q-overlap+rw-eg``.

    Cost: the sum of the rankers', and a sort for each.
    """

    of: tuple[Ranker, ...] = ()
    k: float = 60.0
    name = "fusion"

    def validate(self) -> None:
        self.require(self.k > 0, "k", "a number above 0")
        if not self.of:
            raise SpecError("fusion: no rankers given; write fusion:of=NAME+NAME")
        if len({trust_of(ranker) for ranker in self.of if "urls" in ranker.needs()}) > 1:
            raise SpecError("fusion: all parts must have the same trust file, or none, got two")

    def needs(self) -> frozenset[str]:
        return frozenset().union(*(ranker.needs() for ranker in self.of))

    def url_value(self, url: str) -> float:
        return next(ranker for ranker in self.of if "urls" in ranker.needs()).url_value(url)

    def given(self) -> dict[str, str]:
        named = labels(ranker.called() for ranker in self.of)
        parts = {label: ranker.given() for label, ranker in zip(named, self.of, strict=True)}
        return {"of": "+".join(named), **of_parts(parts), "k": text_of(self.k)}

    def score(self, view: CrawlView) -> Array:
        total: Array = np.sum(list(self.parts(view).values()), axis=0)
        return total

    def parts(self, view: CrawlView) -> dict[str, Array]:
        waits = ~view.fetched
        terms: dict[str, Array] = {}
        for ranker in self.of:
            terms.setdefault(ranker.spec(), np.zeros(view.known))[waits] += 1.0 / (self.k + ranks(ranker.score(view)[waits]))
        return terms
