"""What searchers want of a live crawl: queries asked of an engine that holds the pages fetched so far, and impacts of pages.

Orderings driven by queries look at it whenever they rank anew. Each page is read once: what came since the last ranking is
gathered while nobody changes the crawl (``gather``), and goes into the engine where the ranking is made (``look``). Titles
and anchors are kept in memory, texts lie in the log: if other queries bring words that nobody asked for, all is read again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array
from frontrank.search.observe import Fresh, Observer
from frontrank.web.view import CrawlView, Workload

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState


class SearchDemand:
    """What searchers ask, and what each page is worth to them, as far as it was reported."""

    def __init__(self, needs: Collection[str], capacity: int, workload: Workload | None, impact_by: str) -> None:
        self._searchable = bool({"queries", "impact"} & set(needs))
        self.searchers = Searchers(workload) if workload is not None and self._searchable else None
        self.impacts = np.zeros(capacity if "impact" in needs else 0)
        self.impact_by = impact_by  # whether views or clicks count; else those that are reported first

    def grow(self, pages: int) -> None:
        if self.impacts.size:
            self.impacts = grown(self.impacts, pages)

    def ask(self, workload: Workload, links: int) -> None:
        """Other queries from the next ranking on; ``links``: those known so far, whose anchors are not in memory."""
        if self.searchers is not None:
            self.searchers.ask(workload)
        elif self._searchable:
            self.searchers = Searchers(workload)
            self.searchers.anchors = [""] * links

    def see_impact(self, page: int, impact: float | None) -> None:
        if self.impacts.size and impact is not None:
            self.impacts[page] = impact

    def report(self, page: int, clicks: float | None, views: float | None) -> None:
        """What searchers made of a page so far."""
        self.impact_by = self.impact_by or ("clicks" if views is None else "views")
        self.see_impact(page, views if self.impact_by == "views" else clicks)

    def counted_impacts(self) -> Array | None:
        """A copy of the impacts that rankings count; None if they go by queries, or there are none."""
        counts = self.impacts.size and (self.searchers is None or self.impact_by)
        return self.impacts.copy() if counts else None

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        return self.impact_by, {"impacts": self.impacts}

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self.impact_by, self.impacts = json, arrays["impacts"]


class Searchers:
    """A workload, and the words of the pages that it is asked of."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.titles: dict[int, str] = {}
        self.anchors: list[str] = []  # beside the targets of the crawl's links
        self.observer: Observer | None = None  # made for the first ranking, and when queries bring new words
        self._urls: list[str] = []  # of each page of the crawl
        self._known = self._rows = 0  # what has been gathered of the view
        self._gathered: deque[Fresh] = deque()

    def note(self, page: int, title: str, anchors: Sequence[str], links: int) -> None:
        self.titles[page] = title
        self.anchors.extend(anchors or [""] * links)

    def ask(self, workload: Workload) -> None:
        """Other queries from the next ranking on."""
        self.workload = workload

    def gather(self, state: CrawlState, view: CrawlView) -> None:
        """Note what the view holds and the engine does not: to be called while nobody changes the crawl."""
        if self.observer is None or not self._can_continue(self.observer):
            self.observer = Observer(self.workload)
            self._known = self._rows = 0
            self._gathered.clear()
        self._urls.extend(url for urls, _ in state.log.urls(len(self._urls)) for url in urls)
        pages = view.source[self._rows :].tolist()
        fetched = view.pages[view.source[self._rows :]].tolist()
        rows = state.links.rows
        links = [range(rows.start[page], rows.stop[page]) for page in fetched]
        self._gathered.append(
            Fresh(
                [self._urls[page] for page in view.pages[self._known :].tolist()],
                pages,
                [self.titles.get(page, "") for page in fetched],
                state.log.texts(fetched),
                view.target[view.indptr[self._rows] : view.links].tolist(),
                [self.anchors[place] for row in links for place in row],
            )
        )
        self._known, self._rows = view.known, len(view.source)

    def _can_continue(self, observer: Observer) -> bool:
        """Whether the engine can answer today's queries; if so it does from now on."""
        if observer.workload is self.workload:
            return True
        observer.workload = self.workload
        return observer.engine.ask(self.workload.queries)

    def observe(self, view: CrawlView) -> None:
        """Note in the view what an engine over the fetched pages shows searchers, and how often it shows each known page."""
        assert self.observer is not None
        while self._gathered:
            self.observer.take_in(self._gathered.popleft())
        self.observer.look(view)
