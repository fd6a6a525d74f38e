"""Links by source page (CSR), as kernels see them; and ``tidy``, which every source brings its links through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel

MAX_PAGES = 2**31 - 2


NO_VALUES = np.empty(0, np.float64)


class Links(NamedTuple):
    """Links as kernels see them: of page p, ``target[start[p]:stop[p]]``; ``value`` (if not empty) goes beside."""

    start: Array
    stop: Array
    target: Array
    value: Array


@kernel
def row(links: Links, page: int) -> Array:
    """The links of a page."""
    return links.target[links.start[page] : links.stop[page]]


def tidy(indptr: Array, targets: Array) -> tuple[Array, Array, Array]:
    """Distinct targets, self-links dropped, row order kept.

    Returns the new indptr and targets, and for every given link the place of its survivor in the new targets (-1 for a
    self-link), so that anchors can follow.
    """
    kept: tuple[Array, Array, Array] = compiled(_tidy)(indptr, targets)
    return kept


@kernel
def by_source(src: Array, dst: Array, pages: int) -> tuple[Array, Array, Array]:
    indptr = np.zeros(pages + 1, np.int64)
    for j in range(src.size):
        indptr[src[j] + 1] += 1
    for p in range(pages):
        indptr[p + 1] += indptr[p]
    fill = indptr[:-1].copy()
    targets = np.empty(src.size, np.int32)
    at = np.empty(src.size, np.int64)
    for j in range(src.size):
        k = fill[src[j]]
        fill[src[j]] += 1
        targets[k] = dst[j]
        at[k] = j
    return indptr, targets, at


@kernel
def _tidy(indptr: Array, targets: Array) -> tuple[Array, Array, Array]:
    pages = indptr.size - 1
    where = np.full(pages, -1, np.int64)  # the kept link to a target, if it lies in the present row
    new_indptr = np.zeros(pages + 1, np.int64)
    new_targets = np.empty(targets.size, np.int32)
    keep = np.empty(targets.size, np.int64)
    k = 0
    for p in range(pages):
        begin = k
        for j in range(indptr[p], indptr[p + 1]):
            q = targets[j]
            if q == p:
                keep[j] = -1
            elif where[q] >= begin:
                keep[j] = where[q]
            else:
                where[q] = k
                keep[j] = k
                new_targets[k] = q
                k += 1
        new_indptr[p + 1] = k
    return new_indptr, new_targets[:k].copy(), keep
