"""What a search team saw at one moment of a crawl, and what searchers would be shown if every page were fetched.

    observe    the engine holds the fetched pages alone; of a frontier page only its URL and the anchors that point to
               it from fetched pages are known. Impact: f(q) summed over the queries whose top results show the page
    truth      the engine holds all pages: the impact that frontier rankings are measured by (pandey08, section 3.1)

Both need a web with urls; titles, texts and anchors are used where it has them. Cost: the engine's (see ``engine``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.jit import Array
from frontrank.search.engine import Progress, SearchEngine, pagerank_prior
from frontrank.web.importance import importance
from frontrank.web.strings import Texts
from frontrank.web.view import CrawlView, SearchView, Workload
from frontrank.web.web import Web, hosts_from_urls

DEPTH = 100  # results kept for each query: the expected score is learned from more than what is shown
BATCH = 1024
BETWEEN_ANCHORS = " \n "


def observe(
    web: Web,
    seeds: Array,
    order: Array,
    workload: Workload,
    top: int = 10,
    depth: int = DEPTH,
    progress: Progress | None = None,
) -> CrawlView:
    """What was known after fetching these pages in this order, with search results over them and their views."""
    urls = _urls(web)
    view = CrawlView.of(web, seeds, order)
    known_urls = [*_taken(urls, view.pages, view.known)]
    anchors = anchors_of(web, np.asarray(order, np.int64), view)
    fetched = np.sort(view.source)  # the engine's page i is fetched[i]: ties fall by discovery
    at = view.pages[fetched]
    engine = SearchEngine.build(
        _taken(web.titles, at, len(at)),
        _taken(web.texts, at, len(at)),
        (anchors[page] for page in fetched.tolist()),
        (known_urls[page] for page in fetched.tolist()),
        pagerank_prior(view.pagerank())[fetched],
    )
    depth = max(top, depth)
    found = engine.search(workload, depth, progress)
    results = type(found)(found.indptr, fetched[found.page], found.score)
    hosts = hosts_from_urls(known_urls)[0]
    view.search = SearchView(workload, results, known_urls, anchors, hosts, depth=depth)
    view.impact = results.views(workload, view.known, top)
    return view


def truth(web: Web, workload: Workload, top: int = 10, progress: Progress | None = None) -> Array:
    """How often each page would be shown among the top results if all pages were fetched; computed once for a web."""
    key = f"views of top {top} for {_digest(workload)}"
    if key not in web.cache:
        anchors = _joined(web, np.arange(web.links), web.targets, web.pages)
        prior = pagerank_prior(importance(web, "pagerank"))
        nothing = [""] * web.pages
        titles, texts = web.titles or nothing, web.texts or nothing
        engine = SearchEngine.build(titles, texts, anchors, _urls(web), prior)
        web.cache[key] = engine.search(workload, top, progress).views(workload, web.pages, top)
    found: Array = web.cache[key]
    return found.copy()


def _urls(web: Web) -> Sequence[str]:
    if web.urls is None:
        raise InputError(f"{web.name} knows no URLs; a search over its pages needs a web with urls (and best with texts)")
    return web.urls


def _digest(workload: Workload) -> str:
    digest = hashlib.blake2b(np.asarray(workload.frequency, np.float64).tobytes(), digest_size=16)
    for query in workload.queries:
        digest.update(query.encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()


def anchors_of(web: Web, order: Array, view: CrawlView) -> list[str]:
    """For each known page the anchors of links from fetched pages, in the order of fetching."""
    lengths = np.diff(view.indptr[: len(order) + 1])
    begin = np.repeat(web.indptr[order] - view.indptr[: len(order)], lengths)
    return _joined(web, begin + np.arange(view.links), view.target[: view.links], view.known)


def _joined(web: Web, links: Array, target: Array, pages: int) -> list[str]:
    """The anchors of these links, by target."""
    held: list[list[str]] = [[] for _ in range(pages)]
    if web.anchors is not None:
        for page, anchor in zip(target.tolist(), _taken(web.anchors, links, len(links)), strict=True):
            if anchor:
                held[page].append(anchor)
    return [BETWEEN_ANCHORS.join(parts) for parts in held]


def _taken(strings: Sequence[str] | None, at: Array, length: int) -> Iterator[str]:
    """These strings of a column; empty ones if the web has no such column."""
    if strings is None:
        yield from [""] * length
    elif isinstance(strings, Texts):
        need("pyarrow")
        import pyarrow as pa

        array: Any = strings.array
        for begin in range(0, length, BATCH):
            yield from (text or "" for text in array.take(pa.array(at[begin : begin + BATCH])).to_pylist())
    else:
        for place in at.tolist():
            yield strings[place]
