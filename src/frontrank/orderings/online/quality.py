"""Quality: pages that good pages link to first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Column, Kernel, kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.pages.scorers import LOWEST, find, scored
from frontrank.pages.words import url_words
from frontrank.specs import write
from frontrank.web.links import Links, row

INHERIT = ("mean", "max", "first", "min", "own")
MEAN, MAX, FIRST = 0, 1, 2


@kernel
def _own_seed(state: State, page: int, weight: float) -> float:
    return float(state.truth[page])


@kernel
def _own(state: State, links: Links, page: int, out: Out) -> int:
    targets = row(links, page)
    for j in range(targets.size):
        out.page[j] = targets[j]
        out.key[j] = state.truth[targets[j]]
    return targets.size


@kernel
def inherited(state: State, q: int, s: float) -> None:
    """One more page with a score links to q: what q inherits from all of them."""
    state.parents[q] += 1
    if state.rule == MEAN:
        state.total[q] += s
        state.given[q] = state.total[q] / state.parents[q]
    elif state.parents[q] == 1:
        state.given[q] = s
    elif state.rule == MAX:
        state.given[q] = max(state.given[q], s)
    elif state.rule != FIRST:
        state.given[q] = min(state.given[q], s)


@kernel
def handed_on(state: State, page: int) -> float:
    """What a fetched page is to those it links to; one that says nothing, such as a redirect, hands on what it was given."""
    s = state.quality[page]
    return float(state.given[page] if np.isnan(s) else s)


@kernel
def _seed_by_name(state: State, page: int, weight: float) -> float:
    if state.parents[page] == 0:
        state.given[page] = state.prior
    state.named[page] = max(state.named[page], state.url_value[page])
    return float(state.given[page] + state.anchor * state.named[page])


@kernel
def _by_anchor(state: State, links: Links, page: int, out: Out) -> int:
    """What is inherited, and what the link itself says."""
    targets = row(links, page)
    first = links.start[page]
    s = handed_on(state, page)
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0:
            if s > LOWEST:
                inherited(state, q, s)
            state.named[q] = max(state.named[q], state.url_value[q], links.value[first + j])
            out.page[count] = q
            out.key[count] = state.given[q] + state.anchor * state.named[q]
            count += 1
    return count


@kernel
def _fresh(state: State, links: Links, page: int, out: Out) -> int:
    """A page comes back: what no page with a score has linked to inherits from it; of the rest it is not known what is new."""
    targets = row(links, page)
    s = handed_on(state, page)
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0 and state.parents[q] == 0:
            if s > LOWEST:
                inherited(state, q, s)
            out.page[count] = q
            out.key[count] = state.given[q]
            count += 1
    return count


@kernel
def _fresh_by_anchor(state: State, links: Links, page: int, out: Out) -> int:
    targets = row(links, page)
    first = links.start[page]
    s = handed_on(state, page)
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0:
            if s > LOWEST and state.parents[q] == 0:
                inherited(state, q, s)
            state.named[q] = max(state.named[q], state.url_value[q], links.value[first + j])
            out.page[count] = q
            out.key[count] = state.given[q] + state.anchor * state.named[q]
            count += 1
    return count


@dataclass(frozen=True)
class Quality(Policy):
    """Quality: pages that good pages link to first, by a scorer that reads every fetched page.

        s(p)   the scorer's value of a fetched page p
        key(c) = mean, max, first or min of s(p) over the fetched pages p that link to c; of a seed: prior

    Good pages link to good pages, so what a link leads to can be guessed before it is fetched. ``first`` is QFirst and ``min``
    QMin of Pezzuti et al. ``inherit=own`` is the oracle that Craw4LLM measures: key(c) = s(c), as if the text of every link
    had been read before it was queued. Nobody can crawl by that, so it runs in simulations only: the line to be read against.

    A page on which the scorer fails hands on nothing, and what only such pages link to comes last. A redirect has no text,
    and hands on what it was given itself.

    With ``anchor=1`` and a topic, links that name it go before others: key(c) += anchor * the largest score of c's URL words
    (as a text) and of the anchors of the links to c (as titles). ``frontrank crawl --goal`` goes by that, with ``inherit=max``.

    Parameters: ``scorer``, the name of a scorer (``words``, ``rules``, ``topic:WORDS``, one of a package, or
    ``module:function``; docs/quality.md); ``inherit``; ``prior``, the key of seeds;
    ``anchor``, what the words of a link count for.

    Reference: Pezzuti, MacAvaney, Tonellotto 2025; Yu, Liu, Xiong 2025 (Craw4LLM). Cost: O(log n) a link, and the scorer.

    >>> from frontrank import Web, order
    >>> texts = ["five words to begin with", "one word", "many and quite different words", "", ""]
    >>> web = Web.from_edges([0, 0, 1, 2], [1, 2, 3, 4], pages=5, texts=texts)
    >>> order(web, "quality:scorer=words", seeds=[0])
    [0, 1, 2, 4, 3]
    >>> order(web, "quality:scorer=words,inherit=own", seeds=[0])
    [0, 2, 1, 4, 3]
    """

    scorer: str = "words"
    inherit: str = "mean"
    prior: float = 0.5
    anchor: float = 0.0
    name = "quality"
    needs_past_links = False
    columns = {
        "total": Column(),  # of the scores of fetched pages that link here
        "parents": Column(np.int32),  # how many these are
        "given": Column(np.float64, LOWEST),  # what is inherited from them
        "named": Column(),  # the most that its URL or a link to it says of the topic
    }
    on_revisit = staticmethod(_fresh)

    def validate(self) -> None:
        self.require(self.anchor >= 0, "anchor", "a number from 0")
        if self.inherit not in INHERIT:
            raise SpecError(f"quality: inherit must be mean, max, first, min or own{nearest(self.inherit, INHERIT)}")
        find(self.scorer)
        if self.anchor and (self.inherit == "own" or not self.scorer.startswith("topic:")):
            raise SpecError(f"quality: anchor goes with scorer=topic:WORDS, and not with inherit=own; got {self.scorer}")

    @property
    def truth(self) -> str:
        """What the oracle knows of every page."""
        return write("quality", {"scorer": self.scorer})

    def needs(self) -> frozenset[str]:
        if self.inherit == "own":
            return frozenset({"truth"})
        return frozenset({"scores", "anchors", "urls"} if self.anchor else {"scores"})

    def parameters(self) -> dict[str, int | float]:
        return {"rule": INHERIT.index(self.inherit), "prior": self.prior, "anchor": self.anchor}

    def url_value(self, url: str) -> float:
        return scored(self.scorer, url, "", " ".join(url_words(url)))

    def anchor_value(self, anchor: str) -> float:
        return scored(self.scorer, "", anchor, "")

    def kernels(self) -> dict[str, Kernel]:
        kernels = super().kernels()
        if self.inherit == "own":
            return {**kernels, "on_seed": _own_seed, "on_fetch": _own, "on_revisit": _own}
        if self.anchor:
            return {**kernels, "on_seed": _seed_by_name, "on_fetch": _by_anchor, "on_revisit": _fresh_by_anchor}
        return kernels

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        if state.parents[page] == 0:
            state.given[page] = state.prior
        return float(state.given[page])

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        s = handed_on(state, page)
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0:
                if s > LOWEST:
                    inherited(state, q, s)
                out.page[count] = q
                out.key[count] = state.given[q]
                count += 1
        return count
