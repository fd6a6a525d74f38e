"""What searchers make of a live crawl: queries asked of an engine that holds the pages fetched so far.

Orderings driven by queries look at it whenever they rank anew. The engine indexes all fetched texts each time, as it does in
a simulation: right, and slow. Titles and anchors are held in memory for it, texts lie in the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.web.view import SearchView, Workload
from frontrank.web.web import Web

if TYPE_CHECKING:
    from frontrank.crawl.pages import Known


class Searches:
    """A workload, and the words of the pages that it is asked of."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.seeds: list[int] = []
        self.titles: dict[int, str] = {}
        self.anchors: list[str] = []  # beside the targets of the crawl's links

    def note(self, page: int, title: str, anchors: list[str], links: int) -> None:
        self.titles[page] = title
        self.anchors.extend(anchors or [""] * links)

    def look(self, known: Known, order: Array) -> tuple[SearchView | None, Array | None]:
        """What an engine over the fetched pages shows searchers, and how often it shows each known page."""
        from frontrank.search.observe import observe

        seen = observe(self._web(known, order), np.array(self.seeds, np.int32), order, self.workload)
        return seen.search, seen.impact

    def _web(self, known: Known, order: Array) -> Web:
        pages = known.known
        start, stop = known.links.start[:pages], known.links.stop[:pages]
        indptr = np.concatenate([[0], np.cumsum(stop - start)]).astype(np.int64)
        at = np.repeat(start - indptr[:-1], stop - start) + np.arange(indptr[-1])
        texts = dict(zip(order.tolist(), known.journal.texts(order.tolist()), strict=True))
        return Web(
            indptr,
            known.links.target[at],
            urls=[known.url(page) for page in range(pages)],
            titles=[self.titles.get(page, "") for page in range(pages)],
            texts=[texts.get(page, "") for page in range(pages)],
            anchors=[self.anchors[place] for place in at.tolist()],
        )
