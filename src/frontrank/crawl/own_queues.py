"""The queues that pages came with, whatever group they are in now: read from the log a part at a time, before they are needed.

The names of a million pages take seconds to read. A crawl is not held up for so long: what was read stays true, as no page ever
gets another name, and at the moment when it counts only those that came since are missing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frontrank.crawl.log import Log
from frontrank.crawl.pages import queue_of
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array

PART = 2_000  # pages whose names are in memory at once
UNREAD = -1


class OwnQueues:
    """
    >>> from frontrank.crawl.memory_log import MemoryLog
    >>> log, queues = MemoryLog(keep=False), OwnQueues()
    >>> log.add_urls(0, ["http://a.org/0", "http://b.org/1", "http://a.org/2"], [7, 8, 9])
    >>> queues.read(log, queues.unread(np.array([0, 1])))
    >>> queues.unread(np.array([0, 1, 2])), queues.numbers(np.array([0, 1]), ["b.org", "a.org"].index)
    (array([2]), array([1, 0], dtype=int32))
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._of = np.zeros(0, np.int32)  # by page: the place of its queue among the names

    def unread(self, pages: Array) -> Array:
        """Those of these pages whose names were not read."""
        self._of = grown(self._of, int(pages.max(initial=-1)) + 1, UNREAD)
        found: Array = pages[self._of[pages] == UNREAD]
        return found

    def read(self, log: Log, pages: Array) -> None:
        """Read the names of pages that are ``unread``."""
        for begin in range(0, len(pages), PART):
            some = pages[begin : begin + PART]
            self._of[some] = [self._names.setdefault(queue_of(one), len(self._names)) for one in log.names(some.tolist())]

    def numbers(self, pages: Array, number: Callable[[str], int]) -> Array:
        """For each of these pages the number of its queue; each queue that one of them has is asked for once."""
        at = self._of[pages]
        named = np.bincount(at, minlength=len(self._names)) > 0
        found = [number(name) if asked else -1 for name, asked in zip(self._names, named.tolist(), strict=True)]
        return np.array(found, np.int32)[at]
