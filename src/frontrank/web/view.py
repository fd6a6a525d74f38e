"""What a crawl knows of a web at one moment: its links, and what searchers did with the fetched pages.

Pages are numbered by discovery. Nothing here may come from the content of a page that has not been fetched: of a frontier page
only its URL, and the anchors of links from fetched pages, are known.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.growing import GROWTH
from frontrank.kernels.inlinks import Inlinks, find_inlinks, in_degree
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.kernels.pagerank import DAMPING, TOLERANCE, Solved, Solver
from frontrank.system.capacity import room_for
from frontrank.web.dates import AskedOn
from frontrank.web.links import Links, row
from frontrank.web.strings import Picked
from frontrank.web.web import Web

HISTORY = 3  # earlier moments that an ordering learns from
EARLIER = (1 / 2, 2 / 3, 5 / 6)  # of what is fetched: these moments, where all of a crawl is known


def earlier_moments(fetched: int) -> list[int]:
    """How many pages were fetched at the moments that are learned from."""
    return [max(1, round(share * fetched)) for share in EARLIER]


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
    url_value: Array | None = None  # of each known page, where the ordering makes a number of URLs
    content: Content | None = field(default=None, repr=False)  # the content of fetched pages, where it is known
    impact: Array | None = None  # observed clicks or views of each known page; 0 for the frontier
    impacts: dict[str, Array] = field(default_factory=dict)  # views and clicks, where both are known: 0 for the frontier
    search: SearchView | None = None  # queries, results and words, where a search engine stands behind the crawl
    history: list[CrawlView] = field(default_factory=list)  # earlier views of the same crawl: to learn from
    solved: dict[tuple[int, int], Solved] = field(default_factory=dict, repr=False)  # PageRank at (pages fetched, known)
    turned: dict[tuple[int, int], Inlinks] = field(default_factory=dict, repr=False)  # links by target, likewise
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
        view.content = Content(web)
        return view

    @classmethod
    def as_stored(cls, web: Web, fetched: Array) -> CrawlView | None:
        """What a crawl of this web knew after fetching these pages, with the web's own numbers for its pages, and its links
        where they lie, mapped or not: nothing that grows with the links is copied. The fetch order is forgotten.

        None where that cannot be: some page is neither fetched nor linked to, so the crawl does not know of it; or one that is
        not fetched has links.
        """
        rows = np.asarray(fetched, np.int32)
        if not bool(np.all(rows[1:] > rows[:-1])):
            rows = np.sort(rows)
        begins = web.indptr[rows]
        if int((web.indptr[1:][rows] - begins).sum()) != web.links:
            return None
        known = in_degree(web.targets, web.pages) > 0
        known[rows] = True
        if not known.all():
            return None
        pages = np.arange(web.pages, dtype=np.int32)
        view = cls(web.pages, min(1, rows.size), pages, rows, np.append(begins, web.links), web.targets)
        view.hosts = web.hosts
        view.urls = web.urls
        view.content = Content(web)
        return view

    def see_impact(self, impact: Array) -> None:
        """Note the impact of fetched pages; that of others is not known. ``impact`` is by the engine's page numbers."""
        self.impact = np.where(self.fetched, impact[self.pages], 0.0)

    def remember(self) -> None:
        """Keep this moment, to be learned from later."""
        if self.impact is not None:
            self.history = [*self.history, replace(self, history=[], scores={}, notes={}, solved=dict(self.solved), turned={})][
                -HISTORY:
            ]

    def emptied(self) -> CrawlView:
        """The same crawl with no links told yet: for when pages have other links than before."""
        return CrawlView(seeded=self.seeded, scores=self.scores, notes=self.notes, history=self.history)

    def pagerank(self) -> Array:
        """PageRank (damping 0.85, L1 error below 1e-10) of all known pages over the links of fetched ones."""
        return self.solved_pagerank().scores

    def solved_pagerank(self) -> Solved:
        """PageRank, solved once for a moment of the crawl: an engine's prior and several rankers ask for the same."""
        moment = len(self.source), self.known
        if moment not in self.solved:
            self.solved.clear()
            self.solved[moment] = Solver(self.source, self.indptr, self.inlinks()).solve(DAMPING, TOLERANCE)
        return self.solved[moment]

    def inlinks(self) -> Inlinks:
        """The links by target; found once for a moment of the crawl, and kept until ``release``."""
        moment = len(self.source), self.known
        if moment not in self.turned:
            self.turned.clear()
            indptr = self.indptr[: len(self.source) + 1]
            self.turned[moment] = find_inlinks(indptr, self.target[: self.links], self.known, room_for)
        return self.turned[moment]

    def release(self) -> None:
        """Give back what can be found again: a crawl that goes on will know other links."""
        self.turned.clear()

    @property
    def fetched(self) -> Array:
        """For each known page whether it has been fetched."""
        marks = np.zeros(self.known, bool)
        marks[self.source] = True
        return marks

    @property
    def links(self) -> int:
        return int(self.indptr[len(self.source)])

    def rows_to(self, page: int) -> Array:
        """The rows of fetched pages that link to this one."""
        places = np.flatnonzero(self.target[: self.links] == page)
        return np.searchsorted(self.indptr[: len(self.source) + 1], places, side="right") - 1

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


@dataclass(frozen=True, eq=False)
class Content:
    """What the fetched pages of a view say. Of a page that waits nothing is known: its strings are empty."""

    _web: Web

    def titles(self, view: CrawlView) -> Sequence[str] | None:
        return self._of_fetched(self._web.titles, view)

    def texts(self, view: CrawlView) -> Sequence[str] | None:
        return self._of_fetched(self._web.texts, view)

    def anchors(self, view: CrawlView) -> Sequence[str] | None:
        """Beside the targets of the view."""
        return None if self._web.anchors is None else Picked(self._web.anchors, link_places(self._web, view))

    def _of_fetched(self, strings: Sequence[str] | None, view: CrawlView) -> Sequence[str] | None:
        return None if strings is None else Picked(strings, np.where(view.fetched, view.pages, -1))


def link_places(web: Web, view: CrawlView, rows: int = 0) -> Array:
    """Where the web has the links of the pages that were fetched after so many."""
    begin = view.indptr[rows : len(view.source)]
    lengths = np.diff(view.indptr[rows : len(view.source) + 1])
    first = web.indptr[view.pages[view.source[rows:]]] - begin
    places: Array = np.repeat(first, lengths) + np.arange(view.indptr[rows], view.links)
    return places


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries and how often each is asked."""

    queries: tuple[str, ...]
    frequency: Array
    asked_on: AskedOn | None = None  # when, where that is known
    visibility: Array | None = None  # V(1), V(2), ...: how much of a result searchers see; None: all of the first ten

    def __post_init__(self) -> None:
        if not isinstance(self.queries, list | tuple) or not all(isinstance(query, str) for query in self.queries):
            raise InputError(f"queries must be a list of texts, got {reprlib.repr(self.queries)}")
        try:
            frequency = np.asarray(self.frequency, np.float64)
        except (TypeError, ValueError):
            frequency = np.full(1, np.nan)
        if frequency.shape != (len(self.queries),) or not (np.isfinite(frequency) & (frequency >= 0.0)).all():
            shown = reprlib.repr(self.frequency)
            raise InputError(f"frequency must be a number from 0 for each of {len(self.queries):,} queries, got {shown}")
        object.__setattr__(self, "queries", tuple(self.queries))
        object.__setattr__(self, "frequency", frequency)

    def __len__(self) -> int:
        return len(self.queries)

    def only(self, queries: Array, frequency: Array) -> Workload:
        """These of its queries, asked so often, by the same searchers."""
        kept = tuple(self.queries[query] for query in queries.tolist())
        return replace(self, queries=kept, frequency=frequency, asked_on=None)


@dataclass(frozen=True, eq=False)
class Results:
    """For each query of a workload the best pages and their scores, best first: rows of a CSR."""

    indptr: Array  # int64, one more than queries
    page: Array  # int32
    score: Array  # float64

    def of(self, query: int) -> tuple[Array, Array]:
        row = slice(int(self.indptr[query]), int(self.indptr[query + 1]))
        return self.page[row], self.score[row]

    def views(self, workload: Workload, pages: int, top: int = 10) -> Array:
        """How often each page is seen: the sum of f(q) V(rank) over queries; V is 1 for the top results, if none is given."""
        total = np.zeros(pages)
        seen = np.ones(top) if workload.visibility is None else workload.visibility
        for query in range(len(workload)):
            shown = self.page[self.indptr[query] : min(self.indptr[query + 1], self.indptr[query] + seen.size)]
            total[shown] += workload.frequency[query] * seen[: shown.size]
        return total


@dataclass(frozen=True, eq=False)
class SearchView:
    """Queries, the engine's results over fetched pages, and the words known of each page without fetching it."""

    workload: Workload
    results: Results  # searching the fetched pages alone: an engine shows only what it has
    urls: Sequence[str]  # of each known page
    anchors: Sequence[str]  # of each known page: the anchors of links from fetched pages, joined by " \n "
    hosts: Array  # of each known page
    cache: dict[str, object] = field(default_factory=dict, repr=False)  # indexes made from the above, kept between rankers
    depth: int | None = None  # how many results were asked for: a row of so many may have been cut; None: all are here
    index: Callable[[int], Any] | None = field(default=None, repr=False)  # n-grams of so many words, of who kept them; or None


def workload_notes(workload: Workload) -> dict[str, Any]:
    """A workload as JSON can hold it."""
    seen = {} if workload.visibility is None else {"visibility": workload.visibility.tolist()}
    return {"queries": list(workload.queries), "frequency": workload.frequency.tolist(), **seen}


def workload_from(notes: dict[str, Any]) -> Workload:
    seen = notes.get("visibility")
    visibility = None if seen is None else np.array(seen, np.float64)
    return Workload(tuple(notes["queries"]), np.array(notes["frequency"], np.float64), visibility=visibility)
