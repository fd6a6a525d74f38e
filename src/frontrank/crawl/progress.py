"""How far a crawl is: the pages that are done with, in their order, and what became of them."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from frontrank.kernels.jit import Array


class Progress:
    """
    >>> progress = Progress()
    >>> progress.settle(4), progress.settle(2), progress.fail(2), progress.fetched
    (None, None, None, 1)
    >>> progress.reopen(2), progress.fetched, progress.close(2), progress.fetched
    (None, 1, True, 2)
    """

    def __init__(self) -> None:
        self.now = 0.0  # the time of the last event
        self.order = array("i")  # pages in the order in which they were settled
        self.failed = 0
        self.reopened: set[int] = set()  # pages that had failed, and wait again
        self.revisits = 0  # pages that arrived again
        self.links_given_up = 0  # of pages that never arrived
        self.paused = False

    @property
    def fetched(self) -> int:
        return len(self.order) - self.failed - len(self.reopened)

    def settle(self, page: int) -> None:
        """A page is done with for the first time."""
        self.order.append(page)

    def settle_all(self, pages: Array, failed: int) -> None:
        """The same of many pages, so many of which failed."""
        self.order.frombytes(pages.tobytes())
        self.failed += failed

    def fail(self, page: int) -> None:
        self.failed += 1

    def reopen(self, page: int) -> None:
        """A page that has failed is to be tried again: it counts as waiting until it is settled anew."""
        if page not in self.reopened:
            self.reopened.add(page)
            self.failed -= 1

    def close(self, page: int) -> bool:
        """A page is settled. Whether it had been reopened."""
        if page not in self.reopened:
            return False
        self.reopened.discard(page)
        return True

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        names = ("now", "failed", "revisits", "links_given_up", "paused")
        arrays = {"order": np.array(self.order, np.int32), "reopened": np.array(sorted(self.reopened), np.int32)}
        return {name: getattr(self, name) for name in names}, arrays

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        for name, value in json.items():
            setattr(self, name, value)
        self.order = array("i", arrays["order"].tobytes())
        self.reopened = set(arrays["reopened"].tolist())
