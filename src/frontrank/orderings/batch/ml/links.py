"""Features of a page from its links: formulas over sums that any engine can compute.

Impacts are ``gain``, log(1 + impact), where it is known. A parent of a page is a fetched page that links to it; its children
are the pages it links to. So the children of a page's parents are its siblings, and it is one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array

SHRINK = 3.0  # pages of usual gain that a mean of few is drawn to


class LinkSums(NamedTuple):
    """Of each page, over its parents: sums, and the largest of what is at least 0 (0 where there is no parent)."""

    parents: Array  # how many
    gain: Array  # of parents
    most_gain: Array
    children: Array  # the shrunk mean gain of the children of a parent
    most_children: Array
    child_gain: Array  # sums of gains of children of known gain
    child_count: Array  # and their number
    breadth: Array  # log(1 + links) of parents
    first: Array  # the largest of rows - row: of the parent that was fetched first


def shrunk(total: Array, count: Array, usual: float) -> Array:
    """The mean of so many, drawn to what is usual."""
    return np.asarray((total + SHRINK * usual) / (count + SHRINK))


def link_columns(sums: LinkSums, usual: float, rows: int) -> dict[str, Array]:
    """The features by name; ``rows`` pages are fetched.

    >>> one, nothing = np.ones(1), np.zeros(1)
    >>> sums = LinkSums(2 * one, 3 * one, 2 * one, nothing, nothing, nothing, nothing, nothing, 4 * one)
    >>> found = link_columns(sums, 0.0, rows=5)
    >>> float(found["parent mean"][0]), float(found["found at"][0])
    (1.5, 0.2)
    """
    known = np.maximum(1.0, sums.parents)
    return {
        "parent mean": sums.gain / known,
        "parent most": sums.most_gain,
        "sibling mean": sums.children / known,
        "sibling most": sums.most_children,
        "sibling pooled": shrunk(sums.child_gain, sums.child_count, usual),
        "sibling count": np.log1p(sums.child_count),
        "breadth": sums.breadth / known,
        "found at": (rows - sums.first) / max(1, rows),
        "inlinks": np.log1p(sums.parents),
    }
