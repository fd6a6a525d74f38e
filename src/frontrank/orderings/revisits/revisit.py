"""Revisit: when a page is fetched again. A frozen value; its kernel says how long after a visit the next one is due.

    wait(settings, page, visits, changes, watched_s, before_s) -> seconds

``visits`` counts those at which the page could be compared with what it was before (so the first fetch is not one), ``changes``
how often it was another then; ``watched_s`` is the time from the first fetch to the last, ``before_s`` the wait that led to
this visit (0 after the first fetch). ``settings`` has the parameters as numbers. Only four numbers per page are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from frontrank.kernels.jit import Array, Kernel, interpreted, kernel, state_type
from frontrank.orderings.parameters import Parameters
from frontrank.specs import Duration

Settings = Any  # a namedtuple of numbers, and for those that know rates an array of intervals


@kernel
def change_rate(visits: int, changes: int, watched_s: float) -> float:
    """Changes a second, estimated from whether a page was another at each of n visits, I seconds apart on average:

        -ln((n - X + 0.5)/(n + 0.5))/I

    X/n/I would be too low, as several changes between two visits are seen as one; and -ln((n - X)/n)/I is infinite for a page
    that was another every time. The halves take the bias away.

    Reference: Cho, Garcia-Molina: Estimating frequency of change, TOIT 3(3), 2003, section 4.2. It is derived for visits at
    one interval; here I is the mean of those that were.

    >>> round(change_rate(10, 10, 10.0), 3), round(change_rate(10, 3, 10.0), 3), change_rate(10, 0, 10.0)
    (3.045, 0.336, 0.0)
    """
    if visits <= 0 or watched_s <= 0.0:
        return 0.0
    return float(-np.log((visits - changes + 0.5) / (visits + 0.5)) * visits / watched_s) + 0.0


@kernel
def bounded(settings: Settings, visits: int, before_s: float, wait: float) -> float:
    """A wait from ``min_wait`` to ``max_wait``, and at most twice the one before; that after the first fetch is ``first``."""
    if visits == 0:
        return float(min(settings.max_wait, max(settings.min_wait, settings.first)))
    longest = min(settings.max_wait, 2.0 * before_s) if before_s > 0.0 else settings.max_wait
    return float(max(settings.min_wait, min(longest, wait)))


@dataclass(frozen=True)
class Revisit(Parameters):
    """Base of all revisit policies: subclass it, decorate with ``@dataclass(frozen=True)``, write the kernel ``wait``."""

    knows_rates: ClassVar[bool] = False
    wait: ClassVar[Kernel]

    def __post_init__(self) -> None:
        for f in fields(self):
            if f.type in ("Duration", Duration):
                object.__setattr__(self, f.name, Duration(getattr(self, f.name)))
        super().__post_init__()

    def settings(self, rates: Array | None = None, weights: Array | None = None, a_second: float = 0.0) -> Settings:
        """What the kernel reads. In a simulation pages have true rates of change and weights, and there are so many visits
        a second in all; policies for live crawls make no use of these."""
        numbers = {f.name: float(getattr(self, f.name)) for f in fields(self)}
        settings: Any = state_type(tuple(numbers))
        return settings(*numbers.values())

    def expecting(self, wait_s: float) -> Self:
        """The same policy for a page that should wait so long after its first visit, if the policy leaves that open."""
        given: dict[str, Any] = {"first": Duration(wait_s)}
        return replace(self, **given) if wait_s > 0 and hasattr(self, "first") else self

    def next_wait(self, visits: int, changes: int, watched_s: float, before_s: float) -> float:
        """How long until a page comes back."""
        wait: float = interpreted(type(self).wait)(self.settings(), 0, visits, changes, watched_s, before_s)
        return wait
