"""Ranker: a batch ordering. A view of the crawl in, one score for each known page out.

``Periodic(ranker, every=k)`` makes a Policy of it: after every k-th fetch the whole frontier is scored; pages discovered
since wait behind all scored ones, in the order of their discovery. ``Replay(policy)`` goes the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernels.jit import GROWTH, Array, Column, compiled, kernel
from frontrank.orderings.policy import Out, Parameters, Policy, State
from frontrank.web.web import Links, Picked, Web, row

if TYPE_CHECKING:
    from frontrank.web.search_view import SearchView

EVERY = 1000  # fetches between two rankings, unless told otherwise
HISTORY = 3  # earlier moments that an ordering learns from
UNRANKED = -1e300  # below every score, and finite


@kernel
def _append(links: Links, pages: Array, number: Array, indptr: Array, rows: int, target: Array) -> None:
    for i in range(pages.size):
        targets = row(links, pages[i])
        at = indptr[rows + i]
        for j in range(targets.size):
            target[at + j] = number[targets[j]]
        indptr[rows + i + 1] = at + targets.size


@kernel
def _discover(links: Links, seeds: Array, order: Array, number: Array, pages: Array) -> int:
    """Number pages in the order in which a crawl from these seeds, fetching in this order, discovers them."""
    known = 0
    for i in range(seeds.size):
        if number[seeds[i]] < 0:
            number[seeds[i]] = known
            pages[known] = seeds[i]
            known += 1
    for i in range(order.size):
        if number[order[i]] < 0:  # no link led here, so the crawler was told of it
            number[order[i]] = known
            pages[known] = order[i]
            known += 1
        targets = row(links, order[i])
        for j in range(targets.size):
            if number[targets[j]] < 0:
                number[targets[j]] = known
                pages[known] = targets[j]
                known += 1
    return known


@dataclass
class CrawlView:
    """What a crawl knows at one moment, with pages numbered in the order of their discovery.

    So numbered, a score does not depend on how a web or a crawler numbers its pages, down to the last bit.
    """

    known: int = 0  # fetched pages and frontier together
    seeded: int = 0  # the first so many of them are the seeds
    pages: Array = field(default_factory=lambda: np.empty(0, np.int32))  # the engine's number of each known page
    source: Array = field(default_factory=lambda: np.empty(0, np.int32))  # fetched pages, in fetch order
    indptr: Array = field(default_factory=lambda: np.zeros(1, np.int64))  # row i holds the links of source[i]
    target: Array = field(default_factory=lambda: np.empty(0, np.int32))
    scores: dict[str, Array] = field(default_factory=dict)  # last vectors of rankers that restart from them
    notes: dict[str, dict[str, float]] = field(default_factory=dict)  # how rankers got there: iterations, residual
    hosts: Array | None = None  # of each known page
    urls: Sequence[str] | None = None  # of each known page
    impact: Array | None = None  # observed clicks or views of each known page; 0 for the frontier
    search: SearchView | None = None  # queries, results and words, where a search engine stands behind the crawl
    history: list[CrawlView] = field(default_factory=list)  # earlier views of the same crawl: to learn from what came of them
    revealed: tuple[Array, Array] | None = None  # frontier pages whose impact is told for training, and that impact

    @classmethod
    def of(cls, web: Web, seeds: Array, order: Array) -> CrawlView:
        """What a crawl of this web knew after fetching these pages in this order.

        Earlier moments of the same crawl number their pages alike: page j then is page j now.
        """
        links, number = web.rows(), np.full(web.pages, -1, np.int64)
        pages = np.empty(web.pages, np.int32)
        known = compiled(_discover)(links, np.asarray(seeds, np.int32), np.asarray(order, np.int32), number, pages)
        view = cls(seeded=len(np.unique(seeds)))
        view.extend(links, np.asarray(order, np.int32), pages[:known].copy(), number)
        view.hosts = None if web.hosts is None else web.hosts[view.pages]
        view.urls = None if web.urls is None else Picked(web.urls, view.pages)
        return view

    def see_impact(self, impact: Array) -> None:
        """Note the impact of fetched pages; that of others is not known. ``impact`` is by the engine's page numbers."""
        self.impact = np.where(self.fetched, impact[self.pages], 0.0)

    def remember(self) -> None:
        """Keep this moment, to be learned from later."""
        if self.impact is not None:
            self.history = [*self.history, replace(self, history=[], scores={}, notes={})][-HISTORY:]

    @property
    def fetched(self) -> Array:
        """For each known page whether it has been fetched."""
        marks = np.zeros(self.known, bool)
        marks[self.source] = True
        return marks

    @property
    def links(self) -> int:
        return int(self.indptr[len(self.source)])

    def extend(self, links: Links, fetched: Array, discovered: Array, number: Array) -> None:
        """Pages were fetched since: take in their links. number[page] is a page's discovery number."""
        rows, more = len(self.source), int((links.stop[fetched] - links.start[fetched]).sum())
        used = int(self.indptr[rows])
        if used + more > self.target.size:
            self.target = np.concatenate([self.target[:used], np.empty(used * (GROWTH - 1) + more, np.int32)])
        self.indptr = np.concatenate([self.indptr, np.empty(len(fetched), np.int64)])
        compiled(_append)(links, fetched, number, self.indptr, rows, self.target)
        self.source = np.concatenate([self.source, number[fetched].astype(np.int32)])
        self.known, self.pages = len(discovered), discovered


@dataclass(frozen=True)
class Ranker(Parameters):
    """Base of all batch orderings: a frozen dataclass whose fields are its parameters."""

    def needs(self) -> frozenset[str]:
        """What the view must hold beside the links: "impact" (observed clicks or views), "queries" (a search
        view), "history" (earlier views, or revealed impact, to learn from)."""
        return frozenset()

    def score(self, view: CrawlView) -> Array:
        """One score for each known page, larger is better."""
        raise NotImplementedError

    def parts(self, view: CrawlView) -> dict[str, Array]:
        """What the scores are made of: named parts that add up to them."""
        return {self.name: self.score(view)}


@kernel
def _behind_all(state: State, page: int, weight: float) -> float:
    state.seen[page] = 1
    return UNRANKED


@kernel
def _new_links(state: State, links: Links, page: int, out: Out) -> int:
    targets = row(links, page)
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.seen[q] == 0:
            state.seen[q] = 1
            out.page[count] = q
            out.key[count] = UNRANKED
            count += 1
    return count


@dataclass(frozen=True)
class Periodic(Policy):
    """A ranker as an online ordering: the frontier is ranked anew after every k-th fetch."""

    ranker: Ranker = field(default_factory=Ranker)
    every: int = EVERY
    columns = {"seen": Column(np.uint8), "score": Column(np.float64)}
    combines = False
    on_seed = staticmethod(_behind_all)
    on_fetch = staticmethod(_new_links)

    def validate(self) -> None:
        if self.every < 1:
            raise SpecError(f"{self.ranker.name}: parameter every={self.every} given, a whole number from 1 expected")

    def parameters(self) -> dict[str, int | float]:
        return {}

    def interval(self) -> int:
        return self.every

    def rescore(self, state: State, view: CrawlView) -> Array:
        if "history" in self.ranker.needs() and not view.history:  # nothing has come of an earlier ranking yet
            return np.full(view.known, UNRANKED)
        scores = self.ranker.score(view)
        state.score[view.pages] = scores
        return scores

    def ranking(self, state: State) -> Array | None:
        return np.asarray(state.score)

    def needs(self) -> frozenset[str]:
        return self.ranker.needs()

    def spec(self) -> str:
        inner = self.ranker.spec()
        if self.every == EVERY:
            return inner
        return f"{inner}{',' if ':' in inner else ':'}every={self.every}"
