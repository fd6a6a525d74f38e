"""Pages in queues that are not their hosts', by their URL alone.

A page is known by its URL and its queue, but a link says of the page on which it was found no more than its URL. So the pages
whose name is not their URL alone are entered here once more. Memory: about 18 bytes for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frontrank.kernels import hashtable as names
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, by_size, lazy

MAX_PROBED = 100  # pages of one URL that are looked at, those named last first


class PagesByUrl:
    """
    >>> pages = PagesByUrl()
    >>> pages.add([3, 5, 8], names.fingerprints(["a", "b", "a"]))
    >>> pages.find(names.fingerprint("a")), pages.find(names.fingerprint("b")), pages.find(names.fingerprint("c"))
    ([8, 3], [5], [])
    """

    def __init__(self) -> None:
        self.table = names.new(1)
        self.newest = np.full(1, -1, np.int32)  # of each URL, the page that was named last
        self.before: dict[int, int] = {}  # of a page, the one of the same URL that was named before it

    def __len__(self) -> int:
        return int(self.table.counts[0])

    def add(self, pages: Sequence[int], keys: Array) -> None:
        """These pages have URLs with these fingerprints."""
        self.table = names.with_capacity(self.table, len(pages))
        numbers = np.empty(len(pages), np.int32)
        by_size(names.number_all, len(pages))(self.table, keys, numbers)
        self.newest = grown(self.newest, len(self), -1)
        for page, number in zip(pages, numbers.tolist(), strict=True):
            if self.newest[number] >= 0:
                self.before[page] = int(self.newest[number])
            self.newest[number] = page

    def find(self, key: int) -> list[int]:
        """The pages of a URL, those named last first."""
        number = lazy(names.find).call(self.table, key) if len(self) else -1
        found = [] if number < 0 else [int(self.newest[number])]
        while found and found[-1] in self.before and len(found) < MAX_PROBED:
            found.append(self.before[found[-1]])
        return found

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, Array]:
        pairs = np.array(list(self.before.items()), np.int32).reshape(-1, 2)
        return {**self.table._asdict(), "newest": self.newest, "before": pairs}

    def restore(self, arrays: dict[str, Array]) -> None:
        self.table = names.HashTable(**{name: arrays[name] for name in names.HashTable._fields})
        self.newest = arrays["newest"]
        self.before = dict(arrays["before"].tolist())
