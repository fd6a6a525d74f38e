"""Last discovered, first fetched: a stack that ignores keys. Seeing a page again does not move it. O(1) for each call.

The arrays are fifo's: pages wait in the order of their discovery; counts are [waiting, height of the stack, unused].
"""

from __future__ import annotations

from frontrank.frontiers.fifo import Fifo, add, grown, has, look_ahead, new, put, put_all, remove, waiting
from frontrank.kernels.jit import lean

__all__ = ["grown", "look_ahead", "new", "pop", "put", "put_all", "remove", "waiting"]


@lean
def pop(queue: Fifo) -> int:
    while queue.counts[1] > 0:
        queue.counts[1] -= 1
        page: int = queue.items[queue.counts[1]]
        if not has(queue.gone, page):
            add(queue.gone, page)
            queue.counts[0] -= 1
            return page
    return -1
