"""Replay: an online ordering as a ranker. It fetches what a crawl fetched, in order; keys of waiting pages are the scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers import shelf
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.tracer import Origins
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.web.quality import judged, note_scores
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
        engine = GraphDriver(self.policy, _as_web(view, self.policy))
        engine.seed(np.arange(max(1, view.seeded), dtype=np.int32))
        engine.follow(view.source.astype(np.int32))
        if engine.kind is shelf:
            return self._priorities(engine, view)
        sign = -1.0 if self.policy.queue == "fifo" else 1.0  # these queues go by discovery alone
        return sign * np.arange(view.known, dtype=np.float64)

    def origins(self, view: CrawlView, page: int) -> Origins | None:
        tracer = self.policy.tracer()
        if tracer is None:
            return None
        engine = GraphDriver(tracer.policy, _as_web(view, self.policy))
        seeds, order = np.arange(max(1, view.seeded), dtype=np.int32), view.source.astype(np.int32)
        tracer.watch(engine.state, seeds)
        engine.seed(seeds)
        tracer.collect(engine.state)
        for begin in range(0, len(order), tracer.events):
            tracer.watch(engine.state, seeds[:0])
            engine.follow(order[begin : begin + tracer.events])
            tracer.collect(engine.state)
        return tracer.origins(engine.state, engine.links.target, page)

    def _priorities(self, engine: GraphDriver, view: CrawlView) -> Array:
        """The keys of pages; where an ordering queues one page for many, what theirs stand for, that one first among equals."""
        keys = np.asarray(engine.queue.node["key"][: view.known].copy())
        if type(self.policy).priority is not Policy.priority:
            for page in np.flatnonzero(~view.fetched).tolist():
                queued, keys[page] = keys[page], self.policy.priority(engine.state, page, float(keys[page]))
                if queued == keys[page]:
                    keys[page] = np.nextafter(queued, np.inf)
        return keys


def _as_web(view: CrawlView, policy: Policy) -> Web:
    """The links of the view, pages numbered by discovery, with what the ordering asks of pages that are fetched."""
    degree = np.diff(view.indptr[: len(view.source) + 1])
    source = np.repeat(view.source, degree)
    needs = policy.needs()
    if "truth" in needs and str(getattr(policy, "truth", "")).startswith("quality"):
        raise InputError(f"{policy.spec()} reads pages before they are fetched, so it ranks no frontier; drop inherit=own")
    columns: dict[str, Any] = {"hosts": view.hosts, "urls": view.urls}
    if view.content is not None and needs & {"texts", "scores"}:
        columns |= {"titles": view.content.titles(view), "texts": view.content.texts(view)}
    if view.content is not None and "anchors" in needs:
        columns["anchors"] = view.content.anchors(view)
    web = Web.from_edges(source, view.target[: view.links], view.known, name="the crawl", **columns)
    if web.texts is not None:
        for scorer in policy.scorers():
            note_scores(web, scorer, _scores(web, view, scorer))
    return web


def _scores(web: Web, view: CrawlView, scorer: str) -> Array:
    """The scorer's judgement of fetched pages; of the others there is none."""
    assert web.texts is not None
    titles, urls = web.titles, web.urls
    fetched = view.source.tolist()
    pages = [(urls[p] if urls else "", titles[p] if titles else "", web.texts[p]) for p in fetched]
    scores = np.full(view.known, np.nan)
    scores[view.source] = judged(pages, scorer, lambda at: web.name_of(fetched[at]))
    return scores
