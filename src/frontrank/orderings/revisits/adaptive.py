"""Adaptive: pages come back sooner, the more often they were found changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import kernel
from frontrank.orderings.revisits.revisit import Revisit, Settings, bounded, change_rate
from frontrank.specs import Duration


@dataclass(frozen=True)
class Adaptive(Revisit):
    """Adaptive: a page comes back when it has probably changed.

        r    = estimated rate of change (``change_rate``: Cho, Garcia-Molina's, with its bias corrected)
        wait = -ln(1 - chance)/r, between ``min_wait`` and ``max_wait``, at most twice the wait before; at first ``first``

    A page is expected to be another at a share ``chance`` of its visits. That finds changes with few fetches, and is what most
    crawlers do. It does not make a collection as fresh as can be where a budget is short: then most of it goes to pages that
    change faster than they can be followed. ``gain`` leaves these alone.

    Parameters: ``first``, the wait after the first fetch; ``min_wait``; ``max_wait``; ``chance``.

    Reference: Cho, Garcia-Molina: Estimating frequency of change, TOIT 2003.

    >>> day = 86400.0
    >>> [Adaptive().next_wait(visits, 0, visits * day, day) / day for visits in (0, 1, 30)]  # never another: it doubles
    [1.0, 2.0, 2.0]
    >>> round(Adaptive().next_wait(10, 10, 10 * day, day) / 3600, 1)  # another every day: hours
    5.5
    """

    first: Duration = Duration(86400.0)  # noqa: RUF009
    min_wait: Duration = Duration(3600.0)  # noqa: RUF009
    max_wait: Duration = Duration(30 * 86400.0)  # noqa: RUF009
    chance: float = 0.5
    name = "adaptive"

    def validate(self) -> None:
        self.require(self.min_wait > 0, "min_wait", "a time above 0")
        self.require(self.max_wait >= self.min_wait, "max_wait", f"a time from min_wait, {self.min_wait}, on")
        self.require(self.first > 0, "first", "a time above 0")
        self.require(0 < self.chance < 1, "chance", "a number between 0 and 1")

    @staticmethod
    @kernel
    def wait(settings: Settings, page: int, visits: int, changes: int, watched_s: float, before_s: float) -> float:
        rate = change_rate(visits, changes, watched_s)
        wait = -np.log(1.0 - settings.chance) / rate if rate > 0.0 else np.inf
        return bounded(settings, visits, before_s, wait)
