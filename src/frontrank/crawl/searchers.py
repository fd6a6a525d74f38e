"""What searchers make of a live crawl: queries asked of an engine that holds the pages fetched so far.

Orderings driven by queries look at it whenever they rank anew. The engine indexes all fetched texts each time, as it does in
a simulation: right, and slow. Titles and anchors are kept in memory for it, texts lie in the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.web.view import CrawlView, Workload
from frontrank.web.web import Web

if TYPE_CHECKING:
    from frontrank.crawl.pages import Known


class Searchers:
    """A workload, and the words of the pages that it is asked of."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.seeds: list[int] = []
        self.titles: dict[int, str] = {}
        self.anchors: list[str] = []  # beside the targets of the crawl's links

    def note(self, page: int, title: str, anchors: Sequence[str], links: int) -> None:
        self.titles[page] = title
        self.anchors.extend(anchors or [""] * links)

    def web(self, known: Known, order: Array) -> Web:
        """All that is known at this moment."""
        pages = known.known
        start, stop = known.links.start[:pages], known.links.stop[:pages]
        indptr = np.concatenate([[0], np.cumsum(stop - start)]).astype(np.int64)
        at = np.repeat(start - indptr[:-1], stop - start) + np.arange(indptr[-1])
        texts = dict(zip(order.tolist(), known.log.texts(order.tolist()), strict=True))
        return Web(
            indptr,
            known.links.target[at],
            urls=[url for urls, _ in known.log.urls() for url in urls],
            titles=[self.titles.get(page, "") for page in range(pages)],
            texts=[texts.get(page, "") for page in range(pages)],
            anchors=[self.anchors[place] for place in at.tolist()],
        )

    def look(self, web: Web, order: Array, view: CrawlView) -> None:
        """Note in the view what an engine over the fetched pages shows searchers, and how often it shows each known page."""
        from frontrank.search.observe import observe

        seen = observe(web, np.array(self.seeds, np.int32), order, self.workload)
        view.search, view.impact = seen.search, seen.impact
