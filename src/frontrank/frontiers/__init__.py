"""Frontiers: which pages wait, and which is next. Larger is sooner; among equals, the page discovered first.

Each kind is a module with the same kernels, so that a driver can be linked with any of them:

    put(queue, page, key)   discover a page or change its key; does nothing to a page that has left
    pop(queue)              take the next page, -1 if none waits
    remove(queue, page)     a page leaves out of turn
    new(pages), grown(queue, pages), waiting(queue)

``heap``, of orderings with keys, is ``shelf``: the pages near the top in order, while all others wait at the cost of one
write. The plain heap beneath it, ``frontiers.heap``, serves hosts and due times.

A kind whose order follows from discovery alone (fifo, lifo) ignores keys and costs a fraction of the heap. One that can crawl
by itself, without a policy, offers it as ``sweep`` (fifo).

A live crawl has a frontier of its own, ``polite``: the same order, but a page goes only if its host may be asked.
"""

from __future__ import annotations

from types import ModuleType

from frontrank.frontiers import fifo, lifo, shelf

KINDS: dict[str, ModuleType] = {"heap": shelf, "fifo": fifo, "lifo": lifo}
