"""Ranker: a batch ordering. A view of the crawl in, one score for each known page out.

``Periodic(ranker, every=k)`` makes a Policy of it: after every k-th fetch the whole frontier is scored; pages discovered
since wait behind all scored ones, in the order of their discovery. ``Replay(policy)`` goes the other way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernel import GROWTH, Array, Column, compiled, kernel
from frontrank.policy import Out, Parameters, Policy, State
from frontrank.web import Links, row

UNRANKED = -1e300  # below every score, and finite


@kernel
def _append(links: Links, pages: Array, number: Array, indptr: Array, rows: int, target: Array) -> None:
    for i in range(pages.size):
        targets = row(links, pages[i])
        at = indptr[rows + i]
        for j in range(targets.size):
            target[at + j] = number[targets[j]]
        indptr[rows + i + 1] = at + targets.size


@dataclass
class CrawlView:
    """What a crawl knows at one moment, with pages numbered in the order of their discovery.

    So numbered, a score does not depend on how a web or a crawler numbers its pages, down to the last bit.
    """

    known: int = 0  # fetched pages and frontier together
    pages: Array = field(default_factory=lambda: np.empty(0, np.int32))  # the engine's number of each known page
    source: Array = field(default_factory=lambda: np.empty(0, np.int32))  # fetched pages, in fetch order
    indptr: Array = field(default_factory=lambda: np.zeros(1, np.int64))  # row i holds the links of source[i]
    target: Array = field(default_factory=lambda: np.empty(0, np.int32))
    scores: dict[str, Array] = field(default_factory=dict)  # last vectors of rankers that restart from them

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

    def score(self, view: CrawlView) -> Array:
        """One score for each known page, larger is better."""
        raise NotImplementedError


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
    every: int = 1000
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
        scores = self.ranker.score(view)
        state.score[view.pages] = scores
        return scores

    def ranking(self, state: State) -> Array | None:
        return np.asarray(state.score)

    def spec(self) -> str:
        inner: Any = self.ranker
        given = [f"{f.name}={getattr(inner, f.name):g}" for f in fields(inner) if getattr(inner, f.name) != f.default]
        if self.every != 1000:
            given.append(f"every={self.every}")
        return f"{inner.name}:{','.join(given)}" if given else str(inner.name)
