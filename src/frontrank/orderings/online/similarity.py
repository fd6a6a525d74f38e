"""Similarity: pages that look like a query or a topic first (cho98: IS of section 2, both crawlers of section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Array, Column, Kernel, kernel
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.policy import Out, Policy, State
from frontrank.pages import tfidf
from frontrank.pages.words import words
from frontrank.web.importance import about
from frontrank.web.links import Links, row
from frontrank.web.view import CrawlView

INNER = ("bfs", "backlink", "pagerank")
BACKLINK, PAGERANK = 1, 2
FAR = 1_000_000  # no page found hot is near
HOT_COUNT = 4503599627370496.0  # 2**52: above every count, and sums with it are exact
HOT_SCALE = 2.0**400  # scaling by a power of two keeps every bit of a PageRank
UNRANKED_SCORE = 2.0**-300  # below every PageRank; scaled, above every unscaled one
SEED = 2.0  # a seed's key: IS' is at most 1, so no sum of two is above it


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


@kernel
def _seed_first(state: State, page: int, weight: float) -> float:
    state.seed[page] = 1
    return SEED


@kernel
def _similar(state: State, links: Links, page: int, out: Out) -> int:
    """With a query: what a link says of its target, and the page it stands on."""
    targets = row(links, page)
    first = links.start[page]
    count = 0
    for j in range(targets.size):
        q = targets[j]
        state.total[q] += links.value[first + j] + state.text_value[page]
        state.parents[q] += 1
        if state.fetched[q] == 0:
            out.page[count] = q
            out.key[count] = SEED if state.seed[q] == 1 else state.total[q] / state.parents[q]
            count += 1
    return count


@kernel
def _similar_again(state: State, links: Links, page: int, out: Out) -> int:
    """A page comes back: what nobody has linked to is told of; of other targets it is not known whether the link is new."""
    targets = row(links, page)
    first = links.start[page]
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.parents[q] == 0:
            state.total[q] = links.value[first + j] + state.text_value[page]
            state.parents[q] = 1
            if state.fetched[q] == 0:
                out.page[count] = q
                out.key[count] = SEED if state.seed[q] == 1 else state.total[q]
                count += 1
    return count


@kernel
def _hot_again(state: State, links: Links, page: int, out: Out) -> int:
    return _about(state, links, page, out, 1)


@kernel
def _about(state: State, links: Links, page: int, out: Out, once: int) -> int:
    """With a topic. ``once``: a link is counted only if no other leads to its target."""
    targets = row(links, page)
    first = links.start[page]
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if once == 0 or state.backlinks[q] == 0:
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


@dataclass(frozen=True)
class Similarity(Policy):
    """Similarity: pages that look like the query or the topic first.

    With ``query``, one or several words:

        IS'(text) = cosine of the TF-IDF vectors of text and query, IDF of the pages fetched so far
        key(q) = the mean of IS'(anchor and URL of q) + IS'(p) over fetched pages p that link to q; seeds go first

    Both parts are taken when p is fetched, with the IDF of that moment, p included; how words are counted: ``pages/tfidf.py``.
    To measure by it: ``--metric 'similarity:query="machine learning"'``, where IDF is that of the whole web.

    With ``topic``, the two crawlers that the paper measures:

        hot queue: a known link to q, or q's URL, contains the topic,
                   or q is at most ``distance`` links behind a page found hot (``parents=on``)
        found hot: a fetched page with the topic in its title, or at least ``body`` times in its text
        key(q) = (1 if q is in the hot queue else 0, then the inner ordering's key)

    Membership is a matter of what is known now: a waiting page moves to the hot queue when a telling anchor or a shorter
    way from a hot page is seen later. ``parents=off`` is the paper's first similarity crawler, ``parents=on`` its second.

    Parameters: ``query``; ``title``, how often a word of a title counts; or ``topic``, the word to look for, in any case of
    letters; ``body``; ``distance``; ``inner``, the order in each queue: bfs, backlink or pagerank (ranked anew after every
    ``every`` fetches); ``parents``. ``query=WORD,hot=5`` is another way to write ``topic=WORD,body=5``.

    Reference: cho98, sections 2 and 5.4. Cost: O(log n) for each link, and a pass over the links of pages whose distance falls;
    with a query, the words of every fetched page and of its links.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 0], [1, 2, 3], pages=4, urls=["u:0", "u:1", "u:2", "u:3"],
    ...                      anchors=["jazz", "music", "machine learning"], titles=[""] * 4, texts=["music, machines"] * 4)
    >>> order(web, 'similarity:query="learning machine"', seeds=[0])
    [0, 3, 1, 2]

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
    query: str = ""
    title: float = tfidf.TITLE
    hot: int = 0
    name = "similarity"
    touches = "known"
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
        self.require(self.hot >= 0, "hot", "a whole number from 0")
        self.require(self.title >= 0, "title", "a number from 0")
        if self.query and self.topic:
            raise SpecError("similarity: both query and topic were given; drop one of them")
        if self.query and not words(self.query):
            raise SpecError(f"similarity: query must have at least one word, of letters or digits, got {self.query!r}")
        if self.hot:
            if len(words(self.query)) != 1:
                given = f"{self.query!r}" if self.query else "none"
                raise SpecError(f"similarity: hot goes with a query of one word, got {given}")
            for name, value in (("topic", self.query), ("body", self.hot), ("query", ""), ("hot", 0)):
                object.__setattr__(self, name, value)
        if not self.topic.strip() and not self.query:
            raise SpecError('similarity: no topic given; write similarity:topic=WORD or similarity:query="WORDS"')
        self.require(self.body >= 1, "body", "a whole number from 1")
        self.require(self.distance >= 0, "distance", "a whole number from 0")
        self.require(self.every >= 1, "every", "a whole number from 1")
        if self.inner not in INNER:
            raise SpecError(f"similarity: unknown inner ordering {self.inner!r}{nearest(self.inner, INNER)}")

    def needs(self) -> frozenset[str]:
        return frozenset({"urls", "anchors", "texts"} if self.parents or self.query else {"urls", "anchors"})

    def kernels(self) -> dict[str, Kernel]:
        by_query: dict[str, Kernel] = {"on_seed": _seed_first, "on_fetch": _similar, "on_revisit": _similar_again}
        return {**super().kernels(), **(by_query if self.query else {})}

    def layout(self) -> dict[str, Column]:
        if self.query:
            counts = {"df": Column(np.int32, per="crawl", slots=tfidf.SLOTS), "documents": Column(np.int64, per="crawl")}
            columns = {"seed": Column(np.uint8), "total": Column(), "parents": Column(np.int32)}
            inputs = ("fetched", "url_value", "text_value")
            return {**{name: super(Similarity, self).layout()[name] for name in inputs}, **columns, **counts}
        own = {"text_value": Column(np.float64), **super().layout()}  # without parents no page is ever found hot
        return own if self.inner == "pagerank" else {**own, "score": Column(per="crawl")}

    def parameters(self) -> dict[str, int | float]:
        return {"reach": self.distance if self.parents else -1, "inner": INNER.index(self.inner)}

    # With a query
    def stepwise(self) -> bool:
        return bool(self.query)

    def see_text(self, state: State, page: int, title: str, text: str) -> None:
        if not self.query:
            super().see_text(state, page, title, text)
            return
        terms = tfidf.of_page(title, text, self.title)
        tfidf.note(state.df, terms)
        state.documents[0] += 1
        state.text_value[page] = tfidf.similarity(terms, tfidf.slots(self.query), state.df, int(state.documents[0]))

    def link_values(self, state: State, anchors: Sequence[str], urls: Sequence[str]) -> Sequence[float]:
        if not self.query:
            return super().link_values(state, anchors, urls)
        asked, query, pages = words(self.query), tfidf.slots(self.query), int(state.documents[0])
        return [
            tfidf.similarity(tfidf.of_link(anchor, url), query, state.df, pages)
            if tfidf.mentions(f"{anchor} {url}", asked)
            else 0.0
            for anchor, url in zip(anchors, urls, strict=True)
        ]

    # With a topic
    def url_value(self, url: str) -> float:
        if self.query:
            return 0.0  # URLs are looked at with the anchors
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
        return _about(state, links, page, out, 0)

    on_revisit = staticmethod(_hot_again)

    def interval(self) -> int:
        return self.every if self.inner == "pagerank" and not self.query else 0

    def scores(self, view: CrawlView) -> Array:
        return PageRank().score(view)

    def rescore(self, state: State, view: CrawlView, scores: Array) -> Array:
        state.score[view.pages] = scores
        hot = (state.named[view.pages] == 1) | (state.distance[view.pages] <= state.reach)
        score = state.score[view.pages]
        keys: Array = np.where(hot, score * HOT_SCALE, score)
        return keys
