"""Ranker: a batch ordering. A view of the crawl in, one score for each known page out.

``Periodic(ranker, every=k)`` makes a Policy of it: after every k-th fetch the whole frontier is scored; pages discovered
since wait behind all scored ones, in the order of their discovery. ``Replay(policy)`` goes the other way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernels.jit import Array, Column, kernel
from frontrank.orderings.parameters import Parameters
from frontrank.orderings.policy import Out, Policy, State
from frontrank.orderings.tracer import Origins
from frontrank.web.links import Links, row
from frontrank.web.view import CrawlView

EVERY = 1000  # fetches between two rankings, unless told otherwise
UNRANKED = -1e300  # below every score, and finite


@dataclass(frozen=True)
class Ranker(Parameters):
    """Base of all batch orderings: a frozen dataclass whose fields are its parameters."""

    def needs(self) -> frozenset[str]:
        """What the view must hold beside the links: "impact" (observed clicks or views), "queries" (a search
        view), "history" (earlier views, or revealed impact, to learn from), "urls" (see ``url_value``)."""
        return frozenset()

    def url_value(self, url: str) -> float:
        """What a ranker that needs "urls" makes of one; ``view.url_value`` has it for each known page."""
        raise NotImplementedError

    def score(self, view: CrawlView) -> Array:
        """One score for each known page, larger is better."""
        raise NotImplementedError

    def parts(self, view: CrawlView) -> dict[str, Array]:
        """What the scores are made of: named parts that add up to them."""
        return {self.name: self.score(view)}

    def givers(self, view: CrawlView, scores: Array, page: int) -> tuple[Array, Array] | None:
        """The rows of fetched pages that gave a page a part of its score by a link, and these parts.

        None if a score is not made of what links give.
        """
        return None

    def origins(self, view: CrawlView, page: int) -> Origins | None:
        """For an ordering that hands on what it has: which links gave a page its score, and where that began."""
        return None


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
    on_revisit = staticmethod(_new_links)

    def validate(self) -> None:
        if not isinstance(self.ranker, Ranker):
            raise SpecError(
                f"a ranker must be a Ranker, got {self.ranker!r}; parse('pagerank:every=100') makes one by its name"
            )
        if self.every < 1:
            raise SpecError(f"{self.ranker.name}: every must be a whole number from 1, got {self.every}")

    def parameters(self) -> dict[str, int | float]:
        return {}

    def interval(self) -> int:
        return self.every

    def scores(self, view: CrawlView) -> Array:
        if "history" in self.ranker.needs() and not view.history:  # nothing has come of an earlier ranking yet
            return np.full(view.known, UNRANKED)
        scores = self.ranker.score(view)
        view.release()
        return scores

    def rescore(self, state: State, view: CrawlView, scores: Array) -> Array:
        ranked = scores != UNRANKED
        state.score[view.pages[ranked]] = scores[ranked]
        return scores

    def ranking(self, state: State) -> Array | None:
        return np.asarray(state.score)

    def ranked_by(self, state: State, view: CrawlView, page: int) -> tuple[list[tuple[int, float]], dict[str, float]]:
        (at,) = np.flatnonzero(view.pages == page).tolist()
        given = self.ranker.givers(view, state.score[view.pages], at)
        named = {}
        if type(self.ranker).parts is not Ranker.parts:
            asked = replace(view, scores=dict(view.scores), notes={})  # the view itself stays as the ranking left it
            made_of = self.ranker.parts(asked)
            named = {name: float(values[at]) for name, values in made_of.items() if given is None or name != "links"}
        view.release()
        gave = [] if given is None else zip(view.pages[view.source[given[0]]].tolist(), given[1].tolist(), strict=True)
        return [(giver, part) for giver, part in gave if part], named

    def needs(self) -> frozenset[str]:
        return self.ranker.needs()

    def url_value(self, url: str) -> float:
        return self.ranker.url_value(url)

    def given(self) -> dict[str, str]:
        return self.ranker.given() | ({"every": str(self.every)} if self.every != EVERY else {})

    def called(self) -> str:
        return self.ranker.called()
