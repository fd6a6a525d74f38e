"""What a search team saw at one moment of a crawl, and what searchers would be shown if every page were fetched.

    observe    the engine has the fetched pages alone; of a frontier page only its URL and the anchors that point to
               it from fetched pages are known. Impact: f(q) V(rank) summed over the queries that show the page; V is 1 for
               the first ten, or what the workload says
    truth      the engine has all pages: the impact that frontier rankings are measured by (pandey08, section 3.1)

An ``Observer`` accompanies a crawl: it reads what is new since it looked last (``Fresh``), and what it then sees equals, to the
last bit, what an observer would see that starts now. ``observe`` is such an observer, which looks once.

All need a web with urls; titles, texts and anchors are used where it has them. Cost: the engine's (see ``search_engine``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import host_of
from frontrank.search.ngrams import GrowingIndex, NGramIndex
from frontrank.search.search_engine import Progress, SearchEngine, pagerank_prior
from frontrank.system.lazy import pa
from frontrank.web.importance import importance
from frontrank.web.strings import Texts
from frontrank.web.view import CrawlView, SearchView, Workload, link_places
from frontrank.web.web import Web

DEPTH = 100  # results kept for each query: the expected score is learned from more than what is shown
BATCH = 1024
BETWEEN_ANCHORS = " \n "


class Fresh(NamedTuple):
    """What became known since an observer looked last; pages by the numbers of the view."""

    urls: Iterable[str]  # of pages discovered since, in the order of their discovery
    pages: Sequence[int]  # fetched since, in the order of fetching
    titles: Iterable[str]  # of these
    texts: Iterable[str]
    targets: Sequence[int]  # of their links, one after the other
    anchors: Iterable[str]  # beside the targets


class Observer:
    """A search team beside a crawl: what it knows grows as the crawl does."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.engine = SearchEngine(workload.queries)
        self.rows = 0  # fetched pages taken in
        self.urls: list[str] = []
        self.anchors: list[str] = []
        self._parts: dict[int, list[str]] = {}  # anchors of a page, before they are joined
        self._changed: set[int] = set()
        self._indexes: dict[int, GrowingIndex] = {}  # by the length of n-grams
        self._unread: dict[int, set[int]] = {}  # pages that each of them has to read, anew or for the first time
        self._hosts: dict[str, int] = {}
        self._host: list[int] = []

    def take_in(self, fresh: Fresh) -> None:
        for url in fresh.urls:
            self.urls.append(url)
            self._host.append(self._hosts.setdefault(host_of(url), len(self._hosts)))
        for page, title, text in zip(fresh.pages, fresh.titles, fresh.texts, strict=True):
            self.engine.add(page, title, text, self.urls[page])
            self.rows += 1
        for page, anchor in zip(fresh.targets, fresh.anchors, strict=True):
            if anchor:
                self.engine.point(page, anchor)
                self._parts.setdefault(page, []).append(anchor)
                self._changed.add(page)

    def look(self, view: CrawlView, top: int = 10, depth: int = DEPTH, progress: Progress | None = None) -> None:
        """Note in the view what the engine shows, and how often it shows each page."""
        for unread in self._unread.values():
            unread.update(self._changed, range(len(self.anchors), view.known))
        self.anchors += [""] * (view.known - len(self.anchors))
        for page in self._changed:
            self.anchors[page] = BETWEEN_ANCHORS.join(self._parts[page])
        self._changed.clear()
        depth = max(_shown(self.workload, top), depth)
        results = self.engine.search(pagerank_prior(view.pagerank()), depth, progress)
        hosts = np.array(self._host, np.int32)  # copies, all of them: a view is of one moment, and the observer continues
        words = (self.urls.copy(), self.anchors.copy())
        view.search = SearchView(self.workload, results, *words, hosts, depth=depth, index=partial(self._index, self._moment()))
        view.impact = results.views(self.workload, view.known, top)

    def _moment(self) -> tuple[object, ...]:
        return len(self.anchors), self.rows, self.workload

    def _index(self, moment: tuple[object, ...], g: int) -> NGramIndex | None:
        """The n-grams of pages at a moment, if that is the present one."""
        if moment != self._moment():
            return None
        growing = self._indexes.get(g)
        if growing is None or growing.queries is not self.workload.queries:
            growing = self._indexes[g] = GrowingIndex(self.workload.queries, g)
            self._unread[g] = set(range(len(self.anchors)))
        pages = sorted(self._unread[g])
        growing.take_in(pages, (self.urls[page] for page in pages), (self.anchors[page] for page in pages))
        self._unread[g].clear()
        return growing.index()


def observe(
    web: Web,
    seeds: Array,
    order: Array,
    workload: Workload,
    top: int = 10,
    depth: int = DEPTH,
) -> CrawlView:
    """What was known after fetching these pages in this order, with search results over them and their views."""
    _urls(web)
    view = CrawlView.of(web, seeds, order)
    observer = Observer(workload)
    observer.take_in(fresh(web, view))
    observer.look(view, top, depth)
    return view


def fresh(web: Web, view: CrawlView, known: int = 0, rows: int = 0) -> Fresh:
    """What a view of a known web has beyond the first ``known`` pages and the first ``rows`` fetched ones."""
    pages = view.source[rows:]
    at = view.pages[pages]
    return Fresh(
        _taken(_urls(web), view.pages[known:], view.known - known),
        pages.tolist(),
        _taken(web.titles, at, len(at)),
        _taken(web.texts, at, len(at)),
        view.target[view.indptr[rows] : view.links].tolist(),
        _taken(web.anchors, link_places(web, view, rows), view.links - int(view.indptr[rows])),
    )


def truth(web: Web, workload: Workload, top: int = 10, progress: Progress | None = None) -> Array:
    """How often each page would be shown among the top results if all pages were fetched; computed once for a web."""
    top = _shown(workload, top)
    key = f"views of top {top} for {_digest(workload)}"
    if key not in web.cache:
        anchors = _joined(web, np.arange(web.links), web.targets, web.pages)
        prior = pagerank_prior(importance(web, "pagerank"))
        nothing = [""] * web.pages
        titles, texts = web.titles or nothing, web.texts or nothing
        engine = SearchEngine.build(workload.queries, titles, texts, anchors, _urls(web))
        web.cache[key] = engine.search(prior, top, progress).views(workload, web.pages, top)
    found: Array = web.cache[key]
    return found.copy()


def _urls(web: Web) -> Sequence[str]:
    if web.urls is None:
        raise InputError(f"{web.name} knows no URLs; a search over its pages needs a web with urls (and best with texts)")
    return web.urls


def _shown(workload: Workload, top: int) -> int:
    """Down to which rank results are seen."""
    return top if workload.visibility is None else workload.visibility.size


def _digest(workload: Workload) -> str:
    digest = hashlib.blake2b(np.asarray(workload.frequency, np.float64).tobytes(), digest_size=16)
    if workload.visibility is not None:
        digest.update(workload.visibility.tobytes() + b"seen")
    for query in workload.queries:
        digest.update(query.encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()


def anchors_of(web: Web, view: CrawlView) -> list[str]:
    """For each known page the anchors of links from fetched pages, in the order of fetching."""
    return _joined(web, link_places(web, view), view.target[: view.links], view.known)


def _joined(web: Web, links: Array, target: Array, pages: int) -> list[str]:
    """The anchors of these links, by target."""
    parts_of: list[list[str]] = [[] for _ in range(pages)]
    if web.anchors is not None:
        for page, anchor in zip(target.tolist(), _taken(web.anchors, links, len(links)), strict=True):
            if anchor:
                parts_of[page].append(anchor)
    return [BETWEEN_ANCHORS.join(parts) for parts in parts_of]


def _taken(strings: Sequence[str] | None, at: Array, length: int) -> Iterator[str]:
    """These strings of a column; empty ones if the web has no such column."""
    if strings is None:
        yield from [""] * length
    elif isinstance(strings, Texts):
        array: Any = strings.array
        for begin in range(0, length, BATCH):
            yield from (text or "" for text in array.take(pa.array(at[begin : begin + BATCH])).to_pylist())
    else:
        for place in at.tolist():
            yield strings[place]
