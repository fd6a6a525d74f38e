"""rank: the pages to fetch next from a crawl, with what each score is made of; explain: why a page is at its place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from frontrank.errors import InputError, SeedError
from frontrank.kernels.jit import Array
from frontrank.lab.frame import Frame, FrameColumn, Tabular, check_table_target
from frontrank.lab.measures.impact import picks
from frontrank.orderings.batch.rw import EnrichedWalk, RandomWalk
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.tracer import starts_json
from frontrank.sources.imported_crawl import CrawlTables
from frontrank.system.capacity import check_ranking
from frontrank.system.files import written_beside
from frontrank.system.lazy import pa, pq
from frontrank.web.strings import Texts
from frontrank.web.view import CrawlView, earlier_moments
from frontrank.web.web import Web

VOTERS = 10
MANY = 10_000  # pages


def usual_rankers(crawl: CrawlTables) -> list[str]:
    """The rankers that run on what this crawl knows, the best to go by last."""
    web, asked = crawl.web, bool(crawl.queries)
    searched = asked and (crawl.results is not None or web.has("texts") or web.has("titles"))
    valued = searched or any(known is not None and known.any() for known in (web.views, web.clicks))
    names = ["indegree", "pagerank"]
    if valued:
        names += ["rw", "rw-eg"]
    if asked:
        names += ["q-overlap"]
    return [*names, "fusion"] if valued and asked else names


def view_for(crawl: CrawlTables, rankers: Sequence[Ranker], impact: Any = None) -> CrawlView:
    """What the crawl knows, with as much as these rankers ask for; InputError if it lacks something."""
    needs = frozenset[str]().union(*(ranker.needs() for ranker in rankers))
    names = ", ".join(ranker.spec() for ranker in rankers)
    if "queries" in needs and not crawl.queries:
        hint = "rank by pagerank or rw-eg" if crawl.web.crawled_with else "import one with frontrank import --queries"
        raise InputError(f"{names}: driven by queries, but {crawl.web.name} has no query log; {hint}")
    search = "queries" in needs or not (crawl.web.has("views") or crawl.web.has("clicks"))
    check_ranking(crawl.web.name, crawl.web.pages)
    view = crawl.view(impact, search)
    if len(view.source) == 0:
        raise InputError(f"{crawl.web.name}: no page is fetched yet, so no frontier is known; import pages with fetched=1")
    if view.known == len(view.source):
        raise InputError(f"{crawl.web.name}: every known page is fetched, so there is no frontier to rank")
    if "impact" in needs:
        if view.impact is None:
            raise InputError(f"{names}: needs clicks or views of fetched pages, but {crawl.web.name} has none; import a log")
        if not view.impact.any():
            raise InputError(f"{names}: all impacts are zero, so no page has a vote; import a log with clicks or views")
    if "history" in needs:
        earlier = (crawl.fetched[:rows] for rows in earlier_moments(len(crawl.fetched)))
        view.history = [replace(crawl, fetched=pages).view(impact, search) for pages in earlier]  # with today's impact
    return view


@dataclass(frozen=True, eq=False)
class Ranking(Tabular):
    """The frontier by falling score: URLs, scores, and the parts that add up to them."""

    urls: Sequence[str]
    scores: Array
    parts: dict[str, Array]
    ranker: str = ""

    def frame(self) -> Frame:
        parts = [FrameColumn(name, values.tolist(), "number", detail=True) for name, values in self.parts.items()]
        return Frame((FrameColumn("url", list(self.urls)), FrameColumn("score", self.scores.tolist(), "number"), *parts))

    def head(self, count: int) -> Ranking:
        parts = {name: values[:count] for name, values in self.parts.items()}
        return Ranking(self.urls[:count], self.scores[:count], parts, self.ranker)

    def to_arrow(self) -> Any:
        """A pyarrow.Table; URLs that lie in Arrow stay there."""
        urls = self.urls.array if isinstance(self.urls, Texts) else pa.array(list(self.urls), pa.string())
        return pa.table({"url": urls, "score": self.scores, **self.parts})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write url, score, and a column for each part, by the ending of the path: .csv, .parquet or .json."""
        if check_table_target(path) != ".parquet":
            self.save_table(path)
            return
        with written_beside(path) as beside:
            pq.write_table(self.to_arrow(), beside)


def rank(crawl: CrawlTables, view: CrawlView, ranker: Ranker, budget: int) -> Ranking:
    """The best pages of the frontier, best first."""
    if budget < 1:
        raise InputError(f"budget must be at least 1 page, got {budget}")
    frontier = np.flatnonzero(~view.fetched)
    parts = ranker.parts(view)
    scores: Array = reduce(np.add, parts.values())
    best = frontier[picks(scores[frontier])[:budget]]
    return Ranking(
        _names(crawl.web, view.pages[best]), scores[best], {name: values[best] for name, values in parts.items()}, ranker.spec()
    )


def _names(web: Web, pages: Array) -> Sequence[str]:
    """What people call these pages; many of them are no Python objects, if they need not be."""
    if len(pages) > MANY:
        if isinstance(web.urls, Texts):
            return Texts(web.urls.array.take(pa.array(pages)))
        if web.urls is None:
            return Texts(pa.array(web.ids_of(pages)).cast(pa.string()))
    return [web.name_of(page) for page in pages.tolist()]


def explain(crawl: CrawlTables, view: CrawlView, url: str, rankers: Sequence[Ranker]) -> dict[str, Any]:
    """Why a page is where it is in the queue: each ranker's place, the pages that vote for it, the queries it matches."""
    page = _frontier_page(crawl, view, url)
    frontier = np.flatnonzero(~view.fetched)
    places = {}
    for ranker in rankers:
        parts = ranker.parts(view)
        scores: Array = np.sum(list(parts.values()), axis=0)
        better = int((scores[frontier] > scores[page]).sum())
        made_of = {name: float(values[page]) for name, values in parts.items()}
        places[ranker.spec()] = {"place": better + 1, "of": len(frontier), "score": float(scores[page]), "parts": made_of}
        places[ranker.spec()] |= _origins(crawl, view, ranker, page)
    return {
        "url": crawl.web.name_of(int(view.pages[page])),
        "rankers": places,
        "voters": _voters(crawl, view, page) if view.impact is not None else [],
        "queries": _queries(view, page) if view.search is not None else [],
        "anchors": view.search.anchors[page] if view.search is not None else "",
    }


def _origins(crawl: CrawlTables, view: CrawlView, ranker: Ranker, page: int) -> dict[str, Any]:
    """Which links handed a page its score, and where that began, if the ranker hands on what it has."""
    origins = ranker.origins(view, page)
    if origins is None:
        return {}
    best = sorted(origins.handed, key=lambda one: -one[1])[:VOTERS]

    def url_of(at: int) -> str:
        return crawl.web.name_of(int(view.pages[at]))

    return {"links": [{"url": url_of(at), "part": part} for at, part in best], **starts_json(origins.starts, url_of)}


def _frontier_page(crawl: CrawlTables, view: CrawlView, url: str) -> int:
    web_page = crawl.web.page_of(url)
    found = np.flatnonzero(view.pages == web_page)
    if len(found) == 0:
        raise SeedError(f"{url!r} is a page of {crawl.web.name}, but no fetched page links to it")
    if view.fetched[found[0]]:
        raise InputError(f"{url!r} has been fetched already; explain is for waiting pages")
    return int(found[0])


def _voters(crawl: CrawlTables, view: CrawlView, page: int) -> list[dict[str, Any]]:
    """The fetched pages that link to it, by what their vote weighs in rw-eg: F x/O."""
    rows, votes = RandomWalk().givers(view, EnrichedWalk().score(view), page)
    total = float(votes.sum()) or 1.0
    assert view.impact is not None
    return [
        {
            "url": crawl.web.name_of(int(view.pages[view.source[rows[i]]])),
            "share": float(votes[i]) / total,
            "impact": float(view.impact[view.source[rows[i]]]),
            "links": int(view.indptr[rows[i] + 1] - view.indptr[rows[i]]),
        }
        for i in np.argsort(-votes, kind="stable")[:VOTERS]
    ]


def _queries(view: CrawlView, page: int) -> list[dict[str, Any]]:
    """The queries whose sketch holds the page, or would if more were kept: by frequency."""
    from frontrank.search.ngrams import match

    search = view.search
    assert search is not None
    found = match(search.workload.queries, [search.urls[page]], [search.anchors[page]])
    matching = np.flatnonzero(np.diff(found.indptr) > 0)
    best = matching[np.argsort(-search.workload.frequency[matching], kind="stable")][:VOTERS]
    matched = []
    for query in best.tolist():
        shown = search.results.of(query)[1][:10]
        mean = float(np.sum(shown) / 10.0)
        frequency = float(search.workload.frequency[query])
        text = search.workload.queries[query]
        matched.append({"query": text, "frequency": frequency, "results": len(shown), "mean_score": mean})
    return matched
