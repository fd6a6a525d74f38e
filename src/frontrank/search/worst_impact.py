"""Worst-case search impact of a choice of pages (pandey08, section 4.1).

For a set C of unfetched pages, the least of sum_q f(q) sum_{p in C} V(R(p, q)) over all scores that can occur. Unlike the
expected case it is not a sum over pages: two pages that each may be the worse one are not both the worse one, so together
they can be worth more than the sum of what each is worth alone. Finding the best C of c pages is NP-hard, and has no
FPTAS; so ``best_worst`` tries all sets while they are few, and beyond that is greedy and says so (``exact`` is False).

The worth of a *given* C needs no enumeration, since V never grows with the rank. Moving a page outside C up can only push
pages of C down. Moving a page of C down past another of C leaves the ranks that C holds as they are, past one outside C it
makes them worse. So the worst outcome is: C at its lowest scores, all other unfetched pages at their highest.
Cost: one sort per query. Greedy: c passes over the candidates. Ties go to the page that stands first in its sketch.

Reference: Pandey, Olston: Crawl Ordering by Search Impact, WSDM 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.search.expected_impact import Sketch, checked, seen_at

SETS = 20_000  # tried one by one before the search becomes greedy


class WorstCaseChoice(NamedTuple):
    """Pages to fetch, what they are worth at the worst, and whether no other set of as many is worth more."""

    pages: tuple[int, ...]
    impact: float
    exact: bool


def worst_impact(
    selection: Collection[int],
    sketches: Sequence[Sketch],
    frequency: Sequence[float],
    visibility: Sequence[float] | Array,
) -> float:
    """The least total impact of the selected pages over all scores that can occur."""
    return _worst(sketches, frequency, visibility)(frozenset(selection))


def _worst(
    sketches: Sequence[Sketch], frequency: Sequence[float], visibility: Sequence[float] | Array
) -> Callable[[frozenset[int]], float]:
    """The worst impact as a function of the selection; bounds of the scores are found once."""
    f, v = checked(sketches, frequency, visibility)
    bounds = []
    for sketch, weight in zip(sketches, f, strict=True):
        scores = sketch.discrete()
        bounds.append((sketch.pages, weight, np.array([(s.values.min(), s.values.max()) for s in scores]).reshape(-1, 2)))

    def worst(selection: frozenset[int]) -> float:
        total = 0.0
        for pages, weight, bound in bounds:
            chosen = np.array([page in selection for page in pages], bool)
            if chosen.any():
                scores = np.where(chosen, bound[:, 0], bound[:, 1])
                total += float(weight * seen_at(scores[None, :], v)[0, chosen].sum())
        return total

    return worst


def best_worst(
    c: int,
    sketches: Sequence[Sketch],
    frequency: Sequence[float],
    visibility: Sequence[float] | Array,
    sets: int = SETS,
) -> WorstCaseChoice:
    """The c unfetched pages that are worth most at the worst: exact while there are at most ``sets`` choices, else greedy."""
    candidates = sorted({page for sketch in sketches for page in sketch.unfetched()})
    if not 0 <= c <= len(candidates):
        raise InputError(f"c must be from 0 to {len(candidates)}, the unfetched pages of the sketches, got {c}")
    worst = _worst(sketches, frequency, visibility)
    if comb(len(candidates), c) <= sets:
        pages = max(combinations(candidates, c), key=lambda chosen: worst(frozenset(chosen)))
        return WorstCaseChoice(pages, worst(frozenset(pages)), exact=True)
    chosen: list[int] = []
    for _ in range(c):
        waiting = [page for page in candidates if page not in chosen]
        chosen.append(max(waiting, key=lambda page: worst(frozenset((*chosen, page)))))
    return WorstCaseChoice(tuple(sorted(chosen)), worst(frozenset(chosen)), exact=False)
