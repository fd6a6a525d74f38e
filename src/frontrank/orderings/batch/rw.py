"""Impact-aware random walk, with graph enrichment: pages that impactful pages vote for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import BITS
from frontrank.kernels.walk import EXACT, LinkRows, Walk, Walker, virtual_degree
from frontrank.orderings.batch.hidden import Hidden, hidden_parts
from frontrank.orderings.batch.sampled import learned_from
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.trust import NO_TRUST, Trust
from frontrank.web.view import CrawlView

AUTO = "auto"
OMEGAS = tuple(round(1.0 - 0.1 * i, 1) for i in range(11))
GAMMAS = (0.25, 0.5, 1.0)
UNLEARNED = 0.7  # omega, where nothing can be learned yet
RELEARN = 1.25  # times as many pages as when it was learned last
ROUGH = 1e-6  # tolerance that is good enough to compare settings
ROUNDING = 1e-12  # of a score: what it differs by from the sum of its parts
MAX_LOST = 0.01  # of the impact at 2, 5 or 10% of the hidden pages, against plain links


@dataclass(frozen=True)
class RandomWalk(Ranker):
    """Impact-aware random walk: pages that pages of high search impact link to first.

        x(j) = alpha sum over links i -> j of F(i) x(i)/O(i) + (1 - alpha)/n
        F(i) = I(i)/max I * (O(i)/max O)^gamma,   I(i) = observed impact of i + eps (frontier: eps)

    PageRank in which a page's vote counts by what searchers made of it. Frontier pages pass nothing on: their links are
    unknown. Each ranking restarts from the scores of the last.

    With ``trust`` the walker starts again at the pages that a file names, as in pagerank: t(j) stands for 1/n.

    Parameters: ``alpha``; ``gamma``, above 0 favours pages with many links; ``eps`` keeps pages without impact from having
    no vote at all; ``tolerance``, a bound on the L1 error; ``every``, the number of fetches between two rankings online;
    ``bits``, 32 for webs whose scores leave the processor's caches: faster, and the L1 error of it is told; ``trust``, a file.

    Reference: tran15, eq. 4 and 5. Cost: some tens of passes over the links seen.

    >>> view = CrawlView(known=4, source=np.array([0, 1]), indptr=np.array([0, 1, 2]), target=np.array([2, 3], np.int32))
    >>> view.impact = np.array([9.0, 1.0, 0.0, 0.0])
    >>> int(RandomWalk().score(view).argmax())
    2
    """

    alpha: float = 0.85
    gamma: float | str = 0.0
    eps: float = 0.001
    tolerance: float = 1e-10
    bits: int = field(default=64, repr=False)  # not part of what scores are kept under
    trust: Trust = field(default=NO_TRUST, repr=False)
    name = "rw"

    def validate(self) -> None:
        self.require(0 < self.alpha < 1, "alpha", "a number between 0 and 1")
        self.require(isinstance(self.gamma, float) and self.gamma >= 0, "gamma", "a number from 0")
        self.require(self.eps > 0, "eps", "a number above 0")
        self.require(0 < self.tolerance < 1, "tolerance", "a number between 0 and 1")
        self.require(self.bits in BITS, "bits", "32 or 64")

    def needs(self) -> frozenset[str]:
        return frozenset({"impact", "urls"} if self.trust else {"impact"})

    def url_value(self, url: str) -> float:
        return self.trust.line_of(url)

    def parts(self, view: CrawlView) -> dict[str, Array]:
        scores, restart = self.score(view), self.trust.restart(view)
        base = (1.0 - self.alpha) / view.known if restart is None else (1.0 - self.alpha) * restart
        jump = np.broadcast_to(base, view.known)
        along = self._walker(view, self._chosen(view)).along_links(scores)
        virtual = scores - along - jump
        virtual[np.abs(virtual) < ROUNDING * scores] = 0.0  # parts add up to the score
        return {"links": along, "virtual edges": virtual, "jump": jump}

    def givers(self, view: CrawlView, scores: Array, page: int) -> tuple[Array, Array]:
        rows = view.rows_to(page)
        return rows, self._walker(view, self._chosen(view)).real[rows] * scores[view.source[rows]]

    def _chosen(self, view: CrawlView) -> WalkSettings:
        """The share of votes along real links, and gamma."""
        return WalkSettings(1.0, float(self.gamma))

    def _walker(self, view: CrawlView, choice: WalkSettings) -> Walker:
        rows = len(view.source)
        indptr, target = view.indptr[: rows + 1], view.target[: view.links]
        factor = self._impact(view)
        virtual_factor = factor
        omega, gamma = choice
        if gamma > 0:
            degree = np.zeros(view.known)
            degree[view.source] = np.diff(indptr)
            if omega < 1:
                virtual_factor = factor * _scaled(virtual_degree(indptr, target, view.known)) ** gamma
            factor = factor * _scaled(degree) ** gamma
        links = LinkRows(view.source, indptr, target, view.inlinks())
        walk = Walk(self.alpha, omega, factor, virtual_factor, self.trust.restart(view))
        return Walker(links, walk, self.bits)

    def score(self, view: CrawlView) -> Array:
        choice = self._chosen(view)
        walk = self._walker(view, choice).solve(self.tolerance, self._start(view))
        view.scores[self._key()] = walk.scores
        view.notes[self._key()] = {"iterations": walk.iterations, "residual": walk.residual, **choice._asdict()}
        return walk.scores.copy()

    def _impact(self, view: CrawlView) -> Array:
        if view.impact is None:
            raise InputError(f"{self.name} needs the observed impact of fetched pages: clicks, views, or queries with texts")
        shares: Array = view.impact + self.eps
        shares /= shares.max()
        return shares

    def _start(self, view: CrawlView) -> Array | None:
        last = view.scores.get(self._key())
        if last is None:
            return None
        start = np.full(view.known, (1.0 - self.alpha) / view.known)  # what a page without inlinks has
        start[: last.size] = last * (last.size / view.known)
        return start

    def _key(self) -> str:
        return f"{self.name} {self}" + (f" {hash(self.trust)}" if self.trust else "")


class WalkSettings(NamedTuple):
    """The share of votes along real links, and how much the number of neighbours counts."""

    omega: float
    gamma: float


def _scaled(values: Array) -> Array:
    return values / max(1.0, float(values.max(initial=0.0)))


@dataclass(frozen=True)
class EnrichedWalk(RandomWalk):
    """Impact-aware random walk with graph enrichment: also pages that stand beside impactful ones first.

        x(j) = alpha omega sum over links i -> j of F(i) x(i)/O(i)
             + alpha (1 - omega) sum over virtual edges i - j of F'(i) x(i) w(i, j)/(sum of w(i, k))  +  (1 - alpha)/n

    Two pages share a virtual edge if a fetched page links to both; w counts such pages. F' is F with the number of virtual
    neighbours instead of the out-degree (exact on small graphs, HyperLogLog on large ones; only if gamma > 0). Virtual
    edges are computed with, never written down: see ``kernels/walk.py``.

    Parameters: ``omega``, the share of votes along real links; ``gamma``; both are learned from the crawl itself unless given
    (``omega=auto``): some fetched pages are hidden, eight times, and the setting is taken that finds most of their log impact
    early. It is rw (omega 1, gamma 0) unless the gain is larger than its standard deviation over the draws, and no more than
    .01 of the impact is lost at 2, 5 or 10% of the hidden pages. It is learned again when the crawl has grown by a quarter,
    and from a part of it where it has more than 20 million links or pages.
    With omega given, gamma is 0 unless given too. The others as in rw.

    Differs from tran15, which tunes omega on waiting pages whose impact is told (``frontrank tune``): a crawl knows none.

    Reference: tran15, eq. 10. Cost: each pass over the links costs about twice one of rw; learning, a hundred walks over a
    part of the crawl.

    >>> view = CrawlView(known=4, source=np.array([0, 1]), indptr=np.array([0, 2, 3]), target=np.array([1, 2, 3], np.int32))
    >>> view.impact = np.array([1.0, 9.0, 0.0, 0.0])
    >>> int(EnrichedWalk(omega=0.0).score(view).argmax())
    2
    """

    gamma: float | str = AUTO
    omega: float | str = AUTO
    name = "rw-eg"

    def validate(self) -> None:
        known = self.omega == AUTO or (isinstance(self.omega, float) and 0 <= self.omega <= 1)
        self.require(known, "omega", "a number from 0 to 1, or auto")
        if self.gamma == AUTO and self.omega != AUTO:
            object.__setattr__(self, "gamma", 0.0)
        if self.gamma == AUTO:
            RandomWalk(self.alpha, 0.0, self.eps, self.tolerance, self.bits, self.trust)  # checks the other numbers
        else:
            super().validate()

    def given(self) -> dict[str, str]:
        given = super().given()
        if self.omega != AUTO and self.gamma == 0.0:
            given.pop("gamma")
        return given

    def _chosen(self, view: CrawlView) -> WalkSettings:
        if isinstance(self.omega, float) and isinstance(self.gamma, float):
            return WalkSettings(self.omega, self.gamma)
        key, rows = f"choice of {self._key()}", len(view.source)
        last = view.scores.get(key)
        if last is None or rows >= RELEARN * last[2]:
            view.scores[key] = last = np.array([*self._learned(view if self.trust else learned_from(view)), rows])
        return WalkSettings(float(last[0]), float(last[1]))

    def _learned(self, view: CrawlView) -> WalkSettings:
        """The setting that finds most of what is hidden, if that is clearly more than along plain links."""
        self._impact(view)  # says what is missing
        parts = hidden_parts(view)
        plain = WalkSettings(1.0, 0.0 if self.gamma == AUTO else float(self.gamma))
        if not parts:
            return plain._replace(omega=UNLEARNED)
        tried = {choice: self._tried(choice, parts) for choice in (plain._replace(omega=omega) for omega in OMEGAS)}
        best = _best(tried, plain, plain)
        degree = np.diff(view.indptr[: len(view.source) + 1]).astype(np.float64)
        if self.gamma == AUTO and float((degree**2).sum()) <= EXACT:
            tried |= {choice: self._tried(choice, parts) for choice in (WalkSettings(best.omega, gamma) for gamma in GAMMAS)}
            best = _best(tried, best, plain)
        return best

    def _tried(self, choice: WalkSettings, parts: list[Hidden]) -> HiddenResults:
        tolerance = max(self.tolerance, ROUGH)
        scores = [self._walker(part.view, choice).solve(tolerance).scores for part in parts]
        found = [(part.found(one), part.first(one)) for part, one in zip(parts, scores, strict=True)]
        return HiddenResults(*(np.array(column) for column in zip(*found, strict=True)))


class HiddenResults(NamedTuple):
    """What a setting finds of several draws of hidden pages."""

    found: Array
    first: Array  # a row a draw


def _best(tried: dict[WalkSettings, HiddenResults], usual: WalkSettings, plain: WalkSettings) -> WalkSettings:
    """The setting that finds most and loses little at first; the usual one, unless the gain is larger than its spread."""
    lost = {choice: float((tried[plain].first - one.first).mean(0).max()) for choice, one in tried.items()}
    allowed = [choice for choice in tried if choice == usual or lost[choice] <= MAX_LOST]
    best = max(allowed, key=lambda choice: float(tried[choice].found.mean()))
    gain = tried[best].found - tried[usual].found
    return best if gain.size > 1 and gain.mean() > gain.std(ddof=1) else usual


@dataclass(frozen=True)
class VirtualWalk(RandomWalk):
    """Impact-aware random walk on virtual edges alone: pages that stand beside impactful ones first.

    rw-eg with omega = 0, a feature of the learned combination.

    Reference: tran15, Table 4.
    """

    name = "rw-virtual"

    def _chosen(self, view: CrawlView) -> WalkSettings:
        return WalkSettings(0.0, float(self.gamma))
