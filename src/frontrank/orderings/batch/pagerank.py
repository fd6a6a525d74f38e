"""PageRank of the crawl so far, for the whole frontier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import BITS, DAMPING, TOLERANCE, Solver
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.trust import NO_TRUST, Trust
from frontrank.web.view import CrawlView


@dataclass(frozen=True)
class PageRank(Ranker):
    """PageRank: the page with the greatest PageRank in what has been crawled first, ranked anew now and then.

        x(q) = (1 - alpha)/n + alpha (dangling mass)/n + alpha sum of x(p)/O(p) over fetched pages p that link to q

    over all known pages, fetched or waiting (n of them); waiting pages have no known links, so they are dangling. Each
    ranking restarts from the scores of the last. Pages discovered since wait behind all ranked ones.

    With ``trust`` the surfer starts again at the pages that a file names, not everywhere: t(q) stands for 1/n in both terms.
    The file has a URL or host a line, and its weight; a host's goes to the page of it that was discovered first. With a few
    good pages this is TrustRank.

    Parameters: ``alpha``, damping (cho98 used 0.9); ``every``, the number of fetches between two rankings;
    ``tolerance``, the L1 error of the scores; ``trust``, a file; ``bits``, 32 for webs whose scores leave the caches of
    the processor: faster, with an L1 error of some 1e-7, which is told.

    Reference: cho98, ordering metric IR'(p); fica07's partial PageRank; tran15. Cost: some tens of passes over the links
    seen, for each ranking.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "pagerank:every=1", seeds=[0])
    [0, 1, 3, 4, 2]
    """

    alpha: float = DAMPING
    tolerance: float = TOLERANCE
    trust: Trust = NO_TRUST
    bits: int = 64
    name = "pagerank"

    def validate(self) -> None:
        self.require(0 < self.alpha < 1, "alpha", "a number between 0 and 1")
        self.require(0 < self.tolerance < 1, "tolerance", "a number between 0 and 1")
        self.require(self.bits in BITS, "bits", "32 or 64")

    def needs(self) -> frozenset[str]:
        return frozenset({"urls"}) if self.trust else frozenset()

    def url_value(self, url: str) -> float:
        return self.trust.line_of(url)

    def score(self, view: CrawlView) -> Array:
        restart = self.trust.restart(view)
        last = view.scores.get(self.name)
        start = None
        if last is not None:  # new pages start from what a page without inlinks has at least
            start = np.full(view.known, (1.0 - self.alpha) / view.known)
            start[: last.size] = last * (last.size / view.known)
            start /= start.sum()
        if start is None and restart is None and (self.alpha, self.tolerance, self.bits) == (DAMPING, TOLERANCE, 64):
            solved = view.solved_pagerank()
        else:
            solver = Solver(view.source, view.indptr, view.inlinks(), self.bits)
            solved = solver.solve(self.alpha, self.tolerance, start, restart)
        view.scores[self.name] = solved.scores
        view.notes[self.name] = {"iterations": solved.iterations, "residual": solved.residual}
        return solved.scores.copy()

    def givers(self, view: CrawlView, scores: Array, page: int) -> tuple[Array, Array]:
        rows = view.rows_to(page)
        return rows, self.alpha * scores[view.source[rows]] / (view.indptr[rows + 1] - view.indptr[rows])
