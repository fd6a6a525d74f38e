"""Rankings of everything that waits, for orderings that make one after every so many fetches.

    inline        the ranking is made within the call that settles the page: the order is exactly the simulator's
    background    it is made in a thread, from what was known when it began; its scores hold once it has ended. The crawl
                  goes on with the priorities it has. With nothing in flight it waits for the ranking instead: so with one
                  page in flight the order is the simulator's again

Begin and end are events: a recovered crawl makes the same rankings from the same moments. The priorities of a ranking that
was made beside the crawl change in parts, each an event, so that nobody waits for all of them (half a second for a million).
A ranking that fails (an ordering that has nothing to learn from, say) leaves all priorities as they are; the crawl goes on.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from frontrank.errors import StorageError
from frontrank.kernels.jit import Array
from frontrank.web.view import CrawlView

if TYPE_CHECKING:
    from frontrank.crawl.live import Live

logger = logging.getLogger("frontrank.crawl")

INLINE, BACKGROUND = "inline", "background"
PART = 5_000  # pages whose priorities change at once: 3 to 15 ms


class Ranking:
    def __init__(self, crawl: Live, mode: str) -> None:
        self.crawl = crawl
        self.background = mode == BACKGROUND
        self.view = CrawlView()
        self.viewed = 0  # settled pages that the view has seen
        self.under_way = False
        self.stale = False  # a page has other links than the view was told
        self.failures = 0
        self._scores: Array | None = None
        self._keys: Array | None = None  # of the scores, while they come to hold part by part
        self.held = 0  # pages that have theirs
        self._worth: Array | None = None  # impact of each page of the crawl, as it was told

    def due(self) -> bool:
        """Whether a ranking follows the page that was just settled."""
        interval = self.crawl.policy.interval()
        return interval > 0 and len(self.crawl.order) % interval == 0 and not self.under_way

    def now(self) -> None:
        """Rank at once."""
        self._ask()
        scores = self._made()
        if scores is not None:
            crawl = self.crawl
            crawl.frontier.put_all(self.view.pages, crawl.policy.rescore(crawl.state, self.view, scores))

    def begin(self) -> None:
        """Rank what is known now; in a thread, unless a log is replayed."""
        self._ask()
        self.under_way = True
        self._scores = self._keys = None
        self.held = 0
        if self.crawl.replaying:
            self._scores = self._made()
        else:
            threading.Thread(target=self._work, name="frontrank-ranking", daemon=True).start()

    def hold(self, first: int, count: int) -> None:
        """So many pages, from this one on in the order of discovery, have the priority of the ranking that was begun."""
        crawl = self.crawl
        if self._keys is None:
            assert self._scores is not None
            self._keys = crawl.policy.rescore(crawl.state, self.view, self._scores)
        part = slice(first, first + count)
        crawl.frontier.put_all(self.view.pages[part], self._keys[part])
        self.held = first + count

    def end(self) -> None:
        """The ranking that was begun holds from now on, or it failed."""
        self.under_way = False
        self._scores = self._keys = None

    @property
    def good(self) -> bool:
        return self._scores is not None

    @property
    def left(self) -> int:
        """Pages whose priorities are still to change."""
        return len(self.view.pages) - self.held if self.good else 0

    def _work(self) -> None:
        self._scores = self._made()
        with suppress(StorageError):  # nothing can be stored any more: the crawl is broken, and says so to whoever calls
            self.crawl._ranked()

    def _ask(self) -> None:
        """Bring the view up to this moment; what must be read while nobody changes it."""
        crawl = self.crawl
        if "history" in crawl.needs:
            self.view.remember()
        if self.stale:
            self.view = self.view.emptied()
            self.viewed, self.stale = 0, False
        order = np.array(crawl.order, np.int32)
        self.view.extend(crawl.links, order[self.viewed :], crawl.frontier.discovered(), crawl.frontier.numbers())
        self.viewed = len(order)
        if "urls" in crawl.needs:
            self.view.url_value = crawl.state.url_value[self.view.pages]
        if crawl.searchers is not None:
            crawl.searchers.gather(crawl, self.view)
        self._worth = crawl.worth.copy() if crawl.worth.size and (crawl.searchers is None or crawl.impact_by) else None

    def _made(self) -> Array | None:
        """The scores; None if there is no page to score, or the ordering fails."""
        if not len(self.view.pages):
            return None
        try:
            if self.crawl.searchers is not None:
                self.crawl.searchers.look(self.view)
            if self._worth is not None:
                self.view.see_impact(self._worth)
            return self.crawl.policy.scores(self.view)
        except Exception as error:
            self.failures += 1
            logger.warning(
                "%s: a ranking of %d pages failed (%s); priorities stay as they are",
                self.crawl.policy.spec(),
                self.viewed,
                error,
            )
            return None
