"""Similarity: pages that look like the topic first (both crawlers of cho98, section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Array, Column, kernel
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.importance import about
from frontrank.web.links import Links, row
from frontrank.web.view import CrawlView

INNER = ("bfs", "backlink", "pagerank")
BACKLINK, PAGERANK = 1, 2
FAR = 1_000_000  # no page found hot is near
HOT_COUNT = 4503599627370496.0  # 2**52: above every count, and sums with it are exact
HOT_SCALE = 2.0**400  # scaling by a power of two keeps every bit of a PageRank
UNRANKED_SCORE = 2.0**-300  # below every PageRank; scaled, above every unscaled one


@kernel
def _key(state: State, page: int) -> float:
    hot = state.named[page] == 1 or state.distance[page] <= state.reach
    if state.inner == BACKLINK:
        return state.backlinks[page] + HOT_COUNT if hot else float(state.backlinks[page])
    if state.inner == PAGERANK:
        return state.score[page] * HOT_SCALE if hot else float(state.score[page])
    return 1.0 if hot else 0.0


@kernel
def _approach(state: State, links: Links, page: int, out: Out, count: int) -> int:
    """Shorten the distances of all that is reached from a page along fetched pages; write whose key may have changed."""
    stack = state.stack
    stack[0] = page
    top = 1
    while top > 0:
        top -= 1
        p = stack[top]
        near = state.distance[p] + 1
        targets = row(links, p)
        for j in range(targets.size):
            q = targets[j]
            if near < state.distance[q]:
                state.distance[q] = near
                if state.fetched[q] == 0:
                    if state.written[q] == 0:
                        state.written[q] = 1
                        out.page[count] = q
                        count += 1
                elif near < state.reach and state.stacked[q] == 0:
                    state.stacked[q] = 1
                    stack[top] = q
                    top += 1
        state.stacked[p] = 0
    return count


@dataclass(frozen=True)
class Similarity(Policy):
    """Similarity: pages that look like the topic first.

        hot queue: a known link to q, or q's URL, contains the topic,
                   or q is at most ``distance`` links behind a page found hot (``parents=on``)
        found hot: a fetched page with the topic in its title, or at least ``body`` times in its text
        key(q) = (1 if q is in the hot queue else 0, then the inner ordering's key)

    Membership is a matter of what is known now: a waiting page moves to the hot queue when a telling anchor or a shorter
    way from a hot page is seen later. ``parents=off`` is the paper's first similarity crawler, ``parents=on`` its second.

    Parameters: ``topic``, the word to look for, in any case of letters; ``body``; ``distance``; ``inner``, the order in each
    queue: bfs, backlink or pagerank (ranked anew after every ``every`` fetches); ``parents``.

    Reference: cho98, section 5.4. Cost: O(log n) for each link, and a pass over the links of pages whose distance falls.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 2], [1, 2, 3], pages=4, urls=["u:0", "u:1", "u:2", "u:3"],
    ...                      anchors=["", "Computer shop", ""], titles=["", "", "Computers", ""], texts=[""] * 4)
    >>> order(web, "similarity:topic=computer", seeds=[0])
    [0, 2, 3, 1]
    >>> order(web, "similarity:topic=computer,parents=off", seeds=[0])
    [0, 2, 1, 3]
    """

    topic: str = ""
    body: int = 10
    distance: int = 3
    inner: str = "bfs"
    parents: bool = True
    every: int = 1000
    name = "similarity"
    reach = "known"
    columns = {
        "named": Column(np.uint8),  # an anchor or the URL contains the topic
        "distance": Column(np.int32, FAR),  # links behind the nearest page found hot
        "backlinks": Column(np.int32),
        "score": Column(np.float64, UNRANKED_SCORE),
        "written": Column(np.uint8),
        "stacked": Column(np.uint8),
        "stack": Column(np.int32),
    }

    def validate(self) -> None:
        if not self.topic.strip():
            raise SpecError("similarity: no topic given; write similarity:topic=WORD")
        self.require(self.body >= 1, "body", "a whole number from 1")
        self.require(self.distance >= 0, "distance", "a whole number from 0")
        self.require(self.every >= 1, "every", "a whole number from 1")
        if self.inner not in INNER:
            raise SpecError(f"similarity: unknown inner ordering {self.inner!r}{nearest(self.inner, INNER)}")

    def needs(self) -> frozenset[str]:
        return frozenset({"urls", "anchors", "texts"} if self.parents else {"urls", "anchors"})

    def layout(self) -> dict[str, Column]:
        return {"text_value": Column(np.float64), **super().layout()}  # without parents no page is ever found hot

    def parameters(self) -> dict[str, int | float]:
        return {"reach": self.distance if self.parents else -1, "inner": INNER.index(self.inner)}

    def url_value(self, url: str) -> float:
        return float(self.topic.lower() in url.lower())

    def anchor_value(self, anchor: str) -> float:
        return float(self.topic.lower() in anchor.lower())

    def text_value(self, title: str, text: str) -> float:
        return float(about(self.topic, title, text, self.body))

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        if state.url_value[page] > 0.0:
            state.named[page] = 1
        return _key(state, page)

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        first = links.start[page]
        count = 0
        for j in range(targets.size):
            q = targets[j]
            state.backlinks[q] += 1
            if links.value[first + j] > 0.0 or state.url_value[q] > 0.0:
                state.named[q] = 1
            if state.fetched[q] == 0:
                state.written[q] = 1
                out.page[count] = q
                count += 1
        if state.text_value[page] > 0.0:
            state.distance[page] = 0
        if state.distance[page] < state.reach:
            count = _approach(state, links, page, out, count)
        for i in range(count):
            state.written[out.page[i]] = 0
            out.key[i] = _key(state, out.page[i])
        return count

    def interval(self) -> int:
        return self.every if self.inner == "pagerank" else 0

    def scores(self, view: CrawlView) -> Array:
        return PageRank().score(view)

    def rescore(self, state: State, view: CrawlView, scores: Array) -> Array:
        state.score[view.pages] = scores
        hot = (state.named[view.pages] == 1) | (state.distance[view.pages] <= state.reach)
        score = state.score[view.pages]
        keys: Array = np.where(hot, score * HOT_SCALE, score)
        return keys
