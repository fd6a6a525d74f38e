"""Plain code for what policies of revisits and the simulation of a changing web compute."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence


def likeliest_rate(intervals: Sequence[float], changed: Sequence[bool]) -> float:
    """The rate at which a Poisson process is most likely to give these answers, by bisection."""

    def slope(rate: float) -> float:
        gained = sum(i / math.expm1(rate * i) for i, c in zip(intervals, changed, strict=True) if c)
        return gained - sum(i for i, c in zip(intervals, changed, strict=True) if not c)

    low, high = 1e-9, 1e3
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


def best_of_all(worth: Callable[[float, float], float], rates: Sequence[float], budget: int) -> float:
    """The most that whole visits can be worth, given one by one to the page that gains most: exact for concave worths."""
    visits = [0] * len(rates)
    total = sum(worth(rate, 0) for rate in rates)
    for _ in range(budget):
        gains = [worth(rate, v + 1) - worth(rate, v) for rate, v in zip(rates, visits, strict=True)]
        best = max(range(len(rates)), key=lambda i: gains[i])
        visits[best] += 1
        total += gains[best]
    return total


def measured(
    changes: Sequence[Sequence[float]], visits: Sequence[Sequence[float]], since: float, end: float
) -> tuple[float, float]:
    """Freshness and age of copies, from lists of the times of all changes and all visits; by summing over the pieces."""
    held = fresh = aged = 0.0
    for of_page, seen in zip(changes, visits, strict=True):
        events = [(t, "change") for t in of_page] + [(t, "visit") for t in seen]
        heapq.heapify(events)
        at, stale_from, has_copy = 0.0, None, False
        while True:
            t, what = heapq.heappop(events) if events else (end, "end")
            begin, stop = max(at, since), min(t, end)
            if has_copy and stop > begin:
                held += stop - begin
                if stale_from is None:
                    fresh += stop - begin
                else:
                    aged += ((stop - stale_from) ** 2 - (begin - stale_from) ** 2) / 2
            if t >= end:
                break
            if what == "visit":
                has_copy, stale_from = True, None
            elif stale_from is None and has_copy:
                stale_from = t
            at = t
    return fresh / held, aged / held
