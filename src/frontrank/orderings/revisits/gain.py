"""Gain: pages come back as often as a fetch buys enough freshness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import kernel
from frontrank.orderings.revisits.revisit import Revisit, Settings, bounded, change_rate
from frontrank.specs import Duration


@kernel
def changes_between(share: float) -> float:
    """The x at which 1 - e^-x (1 + x) is this share; infinite from 1 on.

    >>> round(changes_between(1 - 2 / np.e), 9), changes_between(0.0), changes_between(1.0)
    (1.0, 0.0, inf)
    """
    if share >= 1.0:
        return np.inf
    if share <= 0.0:
        return 0.0
    low, high = 0.0, 1.0
    while 1.0 - np.exp(-high) * (1.0 + high) < share and high < 1e3:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if 1.0 - np.exp(-middle) * (1.0 + middle) < share:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@dataclass(frozen=True)
class Gain(Revisit):
    """Gain: a page comes back as often as one more fetch buys enough freshness.

        r    = estimated rate of change (``change_rate``)
        one more fetch in a wait of x/r makes the page fresh for (1 - e^-x (1 + x))/r longer
        wait = x/r, where that is ``worth``; ``max_wait`` for a page with 1/r < worth, for which it never is

    These are the waits that make a collection as fresh as a budget allows (Cho, Garcia-Molina 2003: Lagrange's multiplier is
    ``worth``), from what was seen, page by page. The larger ``worth``, the fewer fetches. Pages that change faster than they
    can be followed are left alone.

    Parameters: ``worth``, how long a fetch must keep a page fresh; ``first``, the wait after the first fetch, and while
    nothing is known of a page; ``min_wait``; ``max_wait``.

    Reference: Cho, Garcia-Molina: Effective page refresh policies for web crawlers, TODS 28(4), 2003.

    >>> day = 86400.0
    >>> policy = Gain(worth=day, max_wait=90 * day)
    >>> [round(policy.next_wait(40, changes, 40 * day, 60 * day) / day, 1) for changes in (1, 10, 30, 40)]  # in 40 days
    [9.7, 3.7, 90.0, 90.0]
    """

    worth: Duration = Duration(86400.0)  # noqa: RUF009
    first: Duration = Duration(86400.0)  # noqa: RUF009
    min_wait: Duration = Duration(3600.0)  # noqa: RUF009
    max_wait: Duration = Duration(30 * 86400.0)  # noqa: RUF009
    name = "gain"

    def validate(self) -> None:
        self.require(self.worth > 0, "worth", "a time above 0")
        self.require(self.min_wait > 0, "min_wait", "a time above 0")
        self.require(self.max_wait >= self.min_wait, "max_wait", f"a time from min_wait, {self.min_wait}, on")
        self.require(self.first > 0, "first", "a time above 0")

    @staticmethod
    @kernel
    def wait(settings: Settings, page: int, visits: int, changes: int, watched_s: float, before_s: float) -> float:
        rate = change_rate(visits, changes, watched_s)
        wait = changes_between(rate * settings.worth) / rate if rate > 0.0 else np.inf
        return bounded(settings, visits, before_s, wait)
