"""Replay: an online ordering as a ranker. Fetch what a crawl fetched, in its order; the keys of who waits are the scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frontrank.frontiers import shelf
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import Ranker
from frontrank.simulation.engine import Engine
from frontrank.web.view import CrawlView
from frontrank.web.web import Web


@dataclass(frozen=True)
class Replay(Ranker):
    """An online ordering as a ranker: what its priorities would be after the fetches of this crawl.

    >>> web = Web.from_edges([0, 0, 1], [1, 2, 2], pages=3)
    >>> from frontrank.orderings.online.backlink import Backlink
    >>> Replay(Backlink()).score(CrawlView.of(web, np.array([0]), np.array([0, 1]))).tolist()
    [0.0, 1.0, 2.0]
    """

    policy: Policy = field(default_factory=Policy)
    name = "replay"

    def called(self) -> str:
        return self.policy.called()

    def given(self) -> dict[str, str]:
        return self.policy.given()

    def score(self, view: CrawlView) -> Array:
        engine = Engine(self.policy, _as_web(view))
        engine.seed(np.arange(max(1, view.seeded), dtype=np.int32))
        engine.follow(view.source.astype(np.int32))
        if engine.kind is shelf:
            return np.asarray(engine.queue.node["key"][: view.known].copy())
        sign = -1.0 if self.policy.queue == "fifo" else 1.0  # these queues go by discovery alone
        return sign * np.arange(view.known, dtype=np.float64)


def _as_web(view: CrawlView) -> Web:
    """The links of the view, pages numbered by discovery."""
    degree = np.diff(view.indptr[: len(view.source) + 1])
    source = np.repeat(view.source, degree)
    return Web.from_edges(source, view.target[: view.links], view.known, name="the crawl", hosts=view.hosts, urls=view.urls)
