"""A bounded part of a crawl to learn settings from: all of a small one, of a large one the fetched pages that a hash selects.

The selection depends only on page numbers and on the size of the crawl, so every engine selects the same pages; the part has at
most about ``MAX_LINKS`` links and as many fetched pages, however large the crawl is. The pages of the part,
fetched or linked to, get new numbers, in their order.
"""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.kernels.splitmix import GOLDEN, mixed
from frontrank.web.view import CrawlView

MAX_LINKS = 20_000_000


def is_small(known: int, links: int, limit: int = MAX_LINKS) -> bool:
    """Whether a crawl is taken as it is."""
    return max(known, links) <= limit


def share_of(rows: int, links: int, limit: int = MAX_LINKS) -> float:
    """The share of the fetched pages to take of a crawl that is not small.

    >>> share_of(rows=10**8, links=10**9)
    0.02
    """
    return limit / max(rows, links, limit)


def taken(pages: Array, share: float) -> Array:
    """Which of these pages are taken.

    >>> bool(taken(np.arange(9), 1.0).all()), 90 < int(taken(np.arange(1000), 0.1).sum()) < 110
    (True, True)
    """
    if share >= 1.0:
        return np.ones(len(pages), bool)
    hashed: Array = mixed((pages.astype(np.uint64) + np.uint64(1)) * GOLDEN)
    return hashed < np.uint64(int(share * 2.0**64))


def part_of(source: Array, indptr: Array, target: Array) -> tuple[CrawlView, Array]:
    """A view of these rows alone, and the numbers that its pages had."""
    pages = np.unique(np.concatenate([source, target]))
    numbered = [np.searchsorted(pages, numbers).astype(np.int32) for numbers in (source, target)]
    known = np.arange(len(pages), dtype=np.int32)
    return CrawlView(len(pages), 0, known, numbered[0], indptr, numbered[1]), pages


def learned_from(view: CrawlView, limit: int = MAX_LINKS) -> CrawlView:
    """The part of a crawl that its settings are learned from."""
    rows = len(view.source)
    if is_small(view.known, view.links, limit):
        return view
    assert view.impact is not None
    kept = np.flatnonzero(taken(view.source, share_of(rows, view.links, limit)))
    degree = np.diff(view.indptr[: rows + 1])[kept]
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    target = view.target[np.repeat(view.indptr[kept] - indptr[:-1], degree) + np.arange(indptr[-1])]
    part, pages = part_of(view.source[kept], indptr, target)
    part.impact = np.where(part.fetched, view.impact[pages], 0.0)
    return part
