"""Links by source page (CSR), as kernels see them; and ``tidy``, which every source brings its links through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import INTERPRETED_STEPS, Array, by_size, kernel

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


def check_pages(numbers: Array, pages: int, what: str) -> None:
    """Kernels trust page numbers: one out of range would write over other memory."""
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        given = f"{numbers.ndim} dimensions" if numbers.ndim != 1 else numbers.dtype
        raise InputError(f"{what} must be a page number, in an array of whole numbers, got {given}")
    if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < pages):
        wrong = int(numbers.min()) if int(numbers.min()) < 0 else int(numbers.max())
        raise InputError(f"{what} must be a page number from 0 to {pages - 1:,}, got {wrong}")


def check_rows(indptr: Array, targets: Array, name: str) -> None:
    """Rows begin where those before them end, and hold the numbers of pages."""
    if int(indptr[0]) != 0 or int(indptr[-1]) != len(targets) or np.any(indptr[1:] < indptr[:-1]):
        raise InputError(f"{name}: indptr must rise from 0 to the {len(targets):,} links, got {indptr[0]} to {indptr[-1]}")
    check_pages(targets, len(indptr) - 1, f"{name}: a target")


def by_source(source: Array, target: Array, pages: int, places: bool = False) -> tuple[Array, Array, Array]:
    """Links sorted by source, stably: indptr, targets, and (if asked for) the place of each in what was given."""
    indptr, targets = np.zeros(pages + 1, np.int64), np.empty(source.size, np.int32)
    at = np.empty(source.size if places else 0, np.int64)
    by_size(_by_source, source.size, INTERPRETED_STEPS)(source, target, indptr, targets, at)
    return indptr, targets, at


def tidy(indptr: Array, targets: Array, places: bool = False) -> tuple[Array, Array, Array]:
    """Distinct targets, self-links dropped, row order kept. Both arrays are given away: they are written over and cut.

    With ``places`` also, for every given link, the place of its survivor in the new targets (-1 for a self-link), so that
    anchors can follow. Memory beside the two arrays: 8 bytes per page, and with places 8 per link.
    """
    keep = np.empty(targets.size if places else 0, np.int64)
    links = by_size(_tidy, targets.size, INTERPRETED_STEPS)(indptr, targets, keep)
    if links < targets.size:
        targets = cut(targets, links)
    return indptr, targets, keep


def cut(array: Array, size: int) -> Array:
    """The first so many values, the memory of the others given back; in place where the array owns its memory."""
    if not array.flags.owndata:
        return array[:size].copy()
    array.resize(size, refcheck=False)
    return array


@kernel
def _by_source(source: Array, target: Array, indptr: Array, targets: Array, at: Array) -> None:
    for j in range(source.size):
        indptr[source[j] + 1] += 1
    for p in range(indptr.size - 1):
        indptr[p + 1] += indptr[p]
    # indptr[p] is where the next link of p goes; so in the end it is where those of p + 1 begin, one place too early.
    for j in range(source.size):
        k = indptr[source[j]]
        indptr[source[j]] = k + 1
        targets[k] = target[j]
        if at.size > 0:
            at[k] = j
    for p in range(indptr.size - 1, 0, -1):
        indptr[p] = indptr[p - 1]
    indptr[0] = 0


@kernel
def _tidy(indptr: Array, targets: Array, keep: Array) -> int:
    """In place: what is kept never lies behind what is read."""
    pages = indptr.size - 1
    where = np.full(pages, -1, np.int64)  # the kept link to a target, if it lies in the present row
    k = 0
    end = indptr[0]
    for p in range(pages):
        begin = k
        first, end = end, indptr[p + 1]
        indptr[p] = begin
        for j in range(first, end):
            q = targets[j]
            kept = -1
            if q != p:
                kept = where[q]
                if kept < begin:
                    kept = k
                    where[q] = k
                    targets[k] = q
                    k += 1
            if keep.size > 0:
                keep[j] = kept
    indptr[pages] = k
    return k
