"""Breadth-first: first discovered, first fetched."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.orderings.policy import Policy, every_link


@dataclass(frozen=True)
class BreadthFirst(Policy):
    """Breadth-first: first discovered, first fetched.

    Nothing is computed; the order is the queue's. The baseline of every comparison, and on many webs a strong one: pages
    with many inlinks are found early (Najork, Wiener 2001).

    Reference: cho98. Cost: O(1) for each page and link.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 2], [1, 2, 3, 4], pages=5)
    >>> order(web, "bfs", seeds=[0])
    [0, 1, 2, 3, 4]
    """

    name = "bfs"
    needs_past_links = False
    queue = "fifo"
    on_revisit = staticmethod(every_link)
