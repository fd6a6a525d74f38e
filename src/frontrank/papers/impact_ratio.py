"""Frontier impact ratios: how much search impact waits behind the links of some fetched pages (tran15, section 4.1).

    L(X -> F)      the frontier pages that pages of X link to
    r(X -> F)      impact of L(X -> F) / |X|
    L_EG(X -> F)   the same after enrichment: pages of F that pages of X link to, or that share a virtual edge with one of X

Two pages share a virtual edge if a fetched page links to both. So L_EG takes two passes over the rows, and no virtual edge
is ever written down: mark the rows that hold a page of X; what is in F in a marked row shares an edge with X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.web.view import CrawlView


class Behind(NamedTuple):
    """What waits behind the links of some fetched pages."""

    pages: int  # how many fetched pages
    linked: int  # frontier pages that they lead to
    impact: float  # of these
    ratio: float  # impact for each of the fetched pages


def linked(view: CrawlView, chosen: Array) -> Array:
    """For each known page whether it waits and one of the chosen pages (a mark for each known page) links to it."""
    return _waiting_in(view, chosen[view.source])


def beside(view: CrawlView, chosen: Array) -> Array:
    """For each known page whether it waits and shares a virtual edge with one of the chosen, fetched pages."""
    row = np.repeat(np.arange(len(view.source)), np.diff(view.indptr[: len(view.source) + 1]))
    return _waiting_in(view, np.bincount(row, chosen[view.target[: view.links]], len(view.source)) > 0)


def _waiting_in(view: CrawlView, rows: Array) -> Array:
    marks = np.zeros(view.known, bool)
    marks[view.target[: view.links][np.repeat(rows, np.diff(view.indptr[: len(view.source) + 1]))]] = True
    marks[view.source] = False
    return marks


def behind(view: CrawlView, chosen: Array, impact: Array, enriched: bool = False) -> Behind:
    """L and r of the chosen pages; impact is that of all known pages."""
    reached = linked(view, chosen)
    if enriched:
        reached |= beside(view, chosen)
    pages, total = int(chosen.sum()), float(impact[reached].sum())
    return Behind(pages, int(reached.sum()), total, total / pages if pages else 0.0)


def links_within(view: CrawlView) -> tuple[int, int]:
    """How many links lead from fetched pages to fetched ones, and how many to the frontier."""
    inside = int(view.fetched[view.target[: view.links]].sum())
    return inside, view.links - inside
