"""Pages that wait for a time: retries and revisits. A heap by time, in which each page is at most once.

Memory is allocated when the first page has to wait: 20 bytes for each page that is known then.
"""

from __future__ import annotations

import numpy as np

from frontrank.frontiers.heap import NODE, enter, leave
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, lazy


class Due:
    """
    >>> due = Due()
    >>> for page, at in ((4, 30.0), (7, 10.0), (4, 5.0), (1, 10.0)):
    ...     due.put(page, at)
    >>> due.first(), len(due), due.at(4), due.at(3)
    (5.0, 3, 5.0, inf)
    >>> due.remove(4)
    >>> [due.pop(), due.pop()]
    [1, 7]
    """

    def __init__(self) -> None:
        self.items, self.node, self.size = np.zeros(0, np.int32), np.zeros(0, NODE), 0

    def __len__(self) -> int:
        return self.size

    def put(self, page: int, at: float) -> None:
        """A page waits for this time, and for no other."""
        if page >= self.items.size:
            self.items = grown(self.items, page + 1)
            self.node = grown(self.node, self.items.size, {"pos": -1})
        self.size = lazy(enter).call(self.items, self.node, self.size, page, -at, page)

    def remove(self, page: int) -> None:
        """A page waits for no time, whether it did or not."""
        if self.size and page < self.node.size:
            self.size = lazy(leave).call(self.items, self.node, self.size, page)

    def first(self) -> float:
        """The earliest time that a page waits for; infinity if none waits."""
        return float(-self.node["key"][self.items[0]]) if self.size else np.inf

    def pop(self) -> int:
        page = int(self.items[0])
        self.remove(page)
        return page

    def at(self, page: int) -> float:
        """When a page is due; infinity if it does not wait for a time."""
        waits = page < self.node.size and self.node["pos"][page] >= 0
        return float(-self.node["key"][page]) if waits else np.inf

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, Array]:
        pages = self.items[: self.size].copy()
        return {"due": pages, "due_at": -self.node["key"][pages]}

    def restore(self, arrays: dict[str, Array]) -> None:
        self.items, self.node, self.size = np.zeros(0, np.int32), np.zeros(0, NODE), 0
        for page, at in zip(arrays["due"].tolist(), arrays["due_at"].tolist(), strict=True):
            self.put(page, at)
