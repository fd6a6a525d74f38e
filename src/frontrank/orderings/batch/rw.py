"""Impact-aware random walk, with graph enrichment: pages that impactful pages vote for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.kernels.walk import Walker, virtual_degree
from frontrank.orderings.ranker import Ranker
from frontrank.web.view import CrawlView


@dataclass(frozen=True)
class RandomWalk(Ranker):
    """Impact-aware random walk: pages that pages of high search impact link to first.

        x(j) = alpha sum over links i -> j of F(i) x(i)/O(i) + (1 - alpha)/n
        F(i) = I(i)/max I * (O(i)/max O)^gamma,   I(i) = observed impact of i + eps (frontier: eps)

    PageRank in which a page's vote counts by what searchers made of it. Frontier pages pass nothing on: their links are
    unknown. Each ranking restarts from the scores of the last.

    Parameters: ``alpha``; ``gamma``, above 0 favours pages with many links; ``eps`` keeps pages without impact from having
    no vote at all; ``tolerance``, a bound on the L1 error; ``every``, the number of fetches between two rankings online.

    Reference: tran15, eq. 4 and 5. Cost: some tens of passes over the links seen.

    >>> view = CrawlView(known=4, source=np.array([0, 1]), indptr=np.array([0, 1, 2]), target=np.array([2, 3], np.int32))
    >>> view.impact = np.array([9.0, 1.0, 0.0, 0.0])
    >>> int(RandomWalk().score(view).argmax())
    2
    """

    alpha: float = 0.85
    gamma: float = 0.0
    eps: float = 0.001
    tolerance: float = 1e-10
    name = "rw"

    def validate(self) -> None:
        self.require(0 < self.alpha < 1, "alpha", "a number between 0 and 1")
        self.require(self.gamma >= 0, "gamma", "a number from 0")
        self.require(self.eps > 0, "eps", "a number above 0")
        self.require(0 < self.tolerance < 1, "tolerance", "a number between 0 and 1")

    def needs(self) -> frozenset[str]:
        return frozenset({"impact"})

    def parts(self, view: CrawlView) -> dict[str, Array]:
        scores, base = self.score(view), (1.0 - self.alpha) / view.known
        along = self._walker(view, self._omega()).along_links(scores)
        return {"links": along, "virtual edges": scores - along - base, "jump": np.full(view.known, base)}

    def _omega(self) -> float:
        """The share of votes along real links."""
        return 1.0

    def _walker(self, view: CrawlView, omega: float) -> Walker:
        rows = len(view.source)
        indptr, target = view.indptr[: rows + 1], view.target[: view.links]
        factor = self._impact(view)
        degree = np.zeros(view.known)
        degree[view.source] = np.diff(indptr)
        virtual_factor = factor
        if self.gamma > 0:
            if omega < 1:
                virtual_factor = factor * _scaled(virtual_degree(indptr, target, view.known)) ** self.gamma
            factor = factor * _scaled(degree) ** self.gamma
        return Walker(view.source, indptr, target, factor, virtual_factor, self.alpha, omega)

    def score(self, view: CrawlView) -> Array:
        walk = self._walker(view, self._omega()).solve(self.tolerance, self._start(view))
        view.scores[self._key()] = walk.scores
        view.notes[self._key()] = {"iterations": walk.iterations, "residual": walk.residual}
        return walk.scores.copy()

    def _impact(self, view: CrawlView) -> Array:
        if view.impact is None:
            raise InputError(f"{self.name} needs the observed impact of fetched pages: clicks, views, or queries with texts")
        impact: Array = view.impact + self.eps
        shares: Array = impact / impact.max()
        return shares

    def _start(self, view: CrawlView) -> Array | None:
        last = view.scores.get(self._key())
        if last is None:
            return None
        start = np.full(view.known, (1.0 - self.alpha) / view.known)  # what a page without inlinks has
        start[: last.size] = last * (last.size / view.known)
        return start

    def _key(self) -> str:
        return f"{self.name} {self}"


def _scaled(values: Array) -> Array:
    return values / max(1.0, float(values.max(initial=0.0)))


@dataclass(frozen=True)
class EnrichedWalk(RandomWalk):
    """Impact-aware random walk with graph enrichment: also pages that stand beside impactful ones first.

        x(j) = alpha omega sum over links i -> j of F(i) x(i)/O(i)
             + alpha (1 - omega) sum over virtual edges i - j of F'(i) x(i) w(i, j)/(sum of w(i, k))  +  (1 - alpha)/n

    Two pages share a virtual edge if a fetched page links to both; w counts such pages. F' is F with the number of virtual
    neighbours in place of the out-degree (exact on small graphs, HyperLogLog on large ones; only if gamma > 0). Virtual
    edges are computed with, never written down: see ``links/walk.py``.

    Parameters: ``omega``, the share of votes along real links, to be tuned (``frontrank tune``); the others as in rw.

    Reference: tran15, eq. 10. Cost: each pass over the links costs about twice one of rw.

    >>> view = CrawlView(known=4, source=np.array([0, 1]), indptr=np.array([0, 2, 3]), target=np.array([1, 2, 3], np.int32))
    >>> view.impact = np.array([1.0, 9.0, 0.0, 0.0])
    >>> int(EnrichedWalk(omega=0.0).score(view).argmax())
    2
    """

    omega: float = 0.3
    name = "rw-eg"

    def validate(self) -> None:
        super().validate()
        self.require(0 <= self.omega <= 1, "omega", "a number from 0 to 1")

    def _omega(self) -> float:
        return self.omega


@dataclass(frozen=True)
class VirtualWalk(RandomWalk):
    """Impact-aware random walk on virtual edges alone: pages that stand beside impactful ones first.

    rw-eg with omega = 0, a feature of the learned combination.

    Reference: tran15, Table 4.
    """

    name = "rw-virtual"

    def _omega(self) -> float:
        return 0.0
