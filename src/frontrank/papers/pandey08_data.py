"""pandey08's data sets: a part of the pages is uncrawled, and the truth about them comes from searching all pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.papers.draws import Drawing
from frontrank.papers.reproduction import Tell
from frontrank.search.divided import Divided
from frontrank.search.needy import only
from frontrank.search.observe import observe
from frontrank.web.importance import importance
from frontrank.web.view import CrawlView, Results, Workload
from frontrank.web.web import Web

UNCRAWLED = 0.2  # of all pages
PROMOTED = 0.2  # of the uncrawled, in Dataset 2
SHOWN = 10  # results that searchers look at


@dataclass(frozen=True, eq=False)
class Dataset:
    """Crawled and uncrawled pages, and the truth about the latter."""

    name: str
    view: CrawlView  # with all queries of the log
    truth: Results  # of searching all pages for them; pages by the web's numbers
    importance: Array  # PageRank in the whole web, of each page of it
    queries: Divided  # what drives, what judges
    urls: Sequence[str]

    @property
    def waits(self) -> Array:
        """The uncrawled pages, by discovery number."""
        return np.flatnonzero(~self.view.fetched)

    @property
    def log(self) -> Workload:
        assert self.view.search is not None
        return self.view.search.workload

    def impact(self, workload: Workload, truth: Results) -> Array:
        """The true impact of the uncrawled pages for these queries."""
        return truth.views(workload, len(self.importance), SHOWN)[self.view.pages[self.waits]]

    @property
    def driven(self) -> CrawlView:
        """The view as the driving queries show it."""
        return self.asked(self.queries.driving)

    def judged(self) -> Array:
        """The true impact of the uncrawled pages, by the judging queries."""
        judging = self.queries.judging
        return self.impact(judging, self.half(_places(self.log, judging))[1])

    def asked(self, workload: Workload) -> CrawlView:
        """The view as some of its queries, with frequencies of their own, show it."""
        view, _ = self.half(_places(self.log, workload))
        assert view.search is not None
        search = replace(view.search, workload=workload, cache={})
        return replace(view, search=search, impact=search.results.views(workload, view.known, SHOWN))

    def half(self, queries: Array) -> tuple[CrawlView, Results]:
        """The view and the truth as these queries alone show them."""
        assert self.view.search is not None
        search = only(self.view.search, queries)
        seen = search.results.views(search.workload, self.view.known, SHOWN)
        true = only(replace(self.view.search, results=self.truth), queries).results
        return replace(self.view, search=search, impact=seen), true


def _places(whole: Workload, some: Workload) -> Array:
    number = {query: at for at, query in enumerate(whole.queries)}
    return np.array([number[query] for query in some.queries], np.int64)


def datasets(web: Web, log: Divided, tell: Tell, draws: int) -> list[Drawing[Dataset]]:
    """Both divisions of a web's pages, in each draw."""
    tell("searching all pages")
    everything = np.arange(web.pages)
    whole = observe(web, everything, everything, log.whole, SHOWN, SHOWN)  # so numbered, a page is found by its own number
    assert whole.search is not None and web.urls is not None
    rank = importance(web, "pagerank")
    found: dict[str, list[Dataset]] = {"Dataset 1": [], "Dataset 2": []}
    for draw in range(draws):
        chosen = np.sort(np.random.default_rng(draw).choice(web.pages, round(UNCRAWLED * web.pages), replace=False))
        lesser = chosen[np.argsort(-rank[chosen], kind="stable")[round(PROMOTED * len(chosen)) :]]
        for name, uncrawled in (("Dataset 1", chosen), ("Dataset 2", np.sort(lesser))):
            tell(f"searching the crawled pages, {name}, draw {draw + 1}")
            crawled = np.setdiff1d(everything, uncrawled)
            view = observe(web, crawled[:1], crawled, log.whole, SHOWN)
            data = Dataset(name, view, whole.search.results, rank, log.again(draw), web.urls)
            if len(data.waits) == 0 or not data.judged().any():
                raise InputError(
                    f"no query shows an uncrawled page of {web.name}; give queries that fit the web, or a larger web"
                )
            found[name].append(data)
    return [Drawing(name, drawn) for name, drawn in found.items()]
