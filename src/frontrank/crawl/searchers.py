"""What searchers make of a live crawl: queries asked of an engine that holds the pages fetched so far.

Orderings driven by queries look at it whenever they rank anew. Each page is read once: what came since the last ranking is
gathered while nobody changes the crawl (``gather``), and goes into the engine where the ranking is made (``look``). Titles
and anchors are kept in memory, texts lie in the log: if other queries bring words that nobody asked for, all is read again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from frontrank.search.observe import Fresh, Observer
from frontrank.web.view import CrawlView, Workload

if TYPE_CHECKING:
    from frontrank.crawl.pages import Known


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

    def gather(self, known: Known, view: CrawlView) -> None:
        """Note what the view holds and the engine does not: to be called while nobody changes the crawl."""
        if self.observer is None or not self._goes_on(self.observer):
            self.observer = Observer(self.workload)
            self._known = self._rows = 0
            self._gathered.clear()
        self._urls.extend(url for urls, _ in known.log.urls(len(self._urls)) for url in urls)
        pages = view.source[self._rows :].tolist()
        fetched = view.pages[view.source[self._rows :]].tolist()
        rows = [range(known.links.start[page], known.links.stop[page]) for page in fetched]
        self._gathered.append(
            Fresh(
                [self._urls[page] for page in view.pages[self._known :].tolist()],
                pages,
                [self.titles.get(page, "") for page in fetched],
                known.log.texts(fetched),
                view.target[view.indptr[self._rows] : view.links].tolist(),
                [self.anchors[place] for row in rows for place in row],
            )
        )
        self._known, self._rows = view.known, len(view.source)

    def _goes_on(self, observer: Observer) -> bool:
        """Whether the engine can answer today's queries; if so it does from now on."""
        if observer.workload is self.workload:
            return True
        observer.workload = self.workload
        return observer.engine.ask(self.workload.queries)

    def look(self, view: CrawlView) -> None:
        """Note in the view what an engine over the fetched pages shows searchers, and how often it shows each known page."""
        assert self.observer is not None
        while self._gathered:
            self.observer.take_in(self._gathered.popleft())
        self.observer.look(view)
