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
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.errors import StorageError
from frontrank.kernels.jit import Array
from frontrank.web.view import CrawlView

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

logger = logging.getLogger("frontrank.crawl")

INLINE, BACKGROUND = "inline", "background"
PART = 5_000  # pages whose priorities change at once: 3 to 15 ms


class Ranking:
    """The last ranking, and the one that is under way. ``finished`` is called in the thread that made one."""

    def __init__(self, state: CrawlState, mode: str) -> None:
        self._state = state
        self.background = mode == BACKGROUND
        self.finished: Callable[[], None] = lambda: None
        self.view = CrawlView()
        self.viewed = 0  # settled pages that the view has seen
        self.under_way = False
        self.stale = False  # a page has other links than the view was told
        self.failures = 0
        self._scores: Array | None = None
        self._keys: Array | None = None  # of the scores, while they come to hold part by part
        self.applied = 0  # pages that have theirs
        self._impacts: Array | None = None  # of each page of the crawl, as reported

    def due(self) -> bool:
        """Whether a ranking follows the page that was just settled."""
        interval = self._state.policy.interval()
        return interval > 0 and len(self._state.progress.order) % interval == 0 and not self.under_way

    def now(self) -> None:
        """Rank at once."""
        self._look()
        scores = self._scored()
        if scores is not None:
            state = self._state
            state.frontier.put_all(self.view.pages, state.policy.rescore(state.ordering.columns, self.view, scores))

    def begin(self) -> None:
        """Rank what is known now; in a thread, unless a log is replayed."""
        self._look()
        self.under_way = True
        self._scores = self._keys = None
        self.applied = 0
        if self._state.replaying:
            self._scores = self._scored()
        else:
            threading.Thread(target=self._work, name="frontrank-ranking", daemon=True).start()

    def apply_part(self, first: int, count: int) -> None:
        """So many pages, from this one on in the order of discovery, have the priority of the ranking that was begun."""
        state = self._state
        if self._keys is None:
            assert self._scores is not None
            self._keys = state.policy.rescore(state.ordering.columns, self.view, self._scores)
        part = slice(first, first + count)
        state.frontier.put_all(self.view.pages[part], self._keys[part])
        self.applied = first + count

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
        return len(self.view.pages) - self.applied if self.good else 0

    def _work(self) -> None:
        self._scores = self._scored()
        with suppress(StorageError):  # nothing can be stored any more: the crawl is broken, and says so to whoever calls
            self.finished()

    def _look(self) -> None:
        """Bring the view up to this moment; what must be read while nobody changes it."""
        state = self._state
        if "history" in state.needs:
            self.view.remember()
        if self.stale:
            self.view = self.view.emptied()
            self.viewed, self.stale = 0, False
        order = np.array(state.progress.order, np.int32)
        self.view.extend(state.links.rows, order[self.viewed :], state.frontier.discovered(), state.frontier.numbers())
        self.viewed = len(order)
        if "urls" in state.needs:
            self.view.url_value = state.ordering.columns.url_value[self.view.pages]
        if state.demand.searchers is not None:
            state.demand.searchers.gather(state, self.view)
        self._impacts = state.demand.counted_impacts()

    def _scored(self) -> Array | None:
        """The scores; None if there is no page to score, or the ordering fails."""
        if not len(self.view.pages):
            return None
        try:
            if self._state.demand.searchers is not None:
                self._state.demand.searchers.observe(self.view)
            if self._impacts is not None:
                self.view.see_impact(self._impacts)
            return self._state.policy.scores(self.view)
        except Exception as error:
            self.failures += 1
            logger.warning(
                "%s: a ranking of %d pages failed (%s); priorities stay as they are",
                self._state.policy.spec(),
                self.viewed,
                error,
            )
            return None

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        return self.viewed, dict(self.view.scores)

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        """After the links, the frontier and the progress that the view is made of."""
        if json:
            state = self._state
            order = np.array(state.progress.order, np.int32)
            self.view.extend(state.links.rows, order[:json], state.frontier.discovered(), state.frontier.numbers())
            self.viewed = json
            self.view.scores = arrays
