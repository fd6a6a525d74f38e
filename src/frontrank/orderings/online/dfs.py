"""Depth-first: last discovered, first fetched."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.orderings.policy import Policy, every_link


@dataclass(frozen=True)
class DepthFirst(Policy):
    """Depth-first: last discovered, first fetched.

    A page is discovered once: seeing it again does not move it. Of several seeds the last goes first. Good for nothing
    but showing what an ordering can lose: it walks into the first trap it meets.

    Cost: O(1) for each page and link.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 2], [1, 2, 3, 4], pages=5)
    >>> order(web, "dfs", seeds=[0])
    [0, 2, 4, 1, 3]
    """

    name = "dfs"
    needs_past_links = False
    queue = "lifo"
    on_revisit = staticmethod(every_link)
