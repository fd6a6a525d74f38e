"""FICA: pages at the smallest logarithmic distance from the seeds first."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Array, Column, lean
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links

SCHEDULES = ("exp", "inverse", "power", "linear", "sum")
EXP, INVERSE, POWER, SUM = 0, 1, 2, 4


@lean
def _rate(schedule: int, x: float) -> float:
    """The learning rate a at x = beta * t: 1 at the start, falling."""
    if schedule == EXP:
        return math.exp(-x)
    if schedule == INVERSE:
        return 1.0 / x if x > 1.0 else 1.0
    if schedule == POWER:
        return x**-2.1 if x > 1.0 else 1.0
    return 1.0 - x if x < 1.0 else 0.0


@lean
def _relax(state: State, links: Links, page: int, out: Out) -> int:
    """Shorten the distances of a page's links; write those that moved."""
    if state.distance[page] == np.inf:  # nobody has told of it, it was asked for out of turn: as a seed
        state.distance[page] = 0.0
    targets = links.target[links.start[page] : links.stop[page]]
    if targets.size == 0:
        return 0
    if state.alpha > 0.0:
        d = state.alpha * math.log10(targets.size) + (1 - state.alpha) * state.distance[page]
    elif state.schedule == SUM:
        d = math.log10(targets.size) + state.distance[page]
    else:
        a = _rate(state.schedule, state.beta * (state.size[0] // state.k))
        d = a * math.log10(targets.size) + (1 - a) * state.distance[page]
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0 and d < state.distance[q]:
            state.distance[q] = d
            out.page[count] = q
            out.key[count] = -d
            count += 1
    return count


@dataclass(frozen=True)
class Fica(Policy):
    """FICA: the page at the smallest logarithmic distance from the seeds first.

        fetching p as the Size-th page: t = Size div k, a = exp(-beta t),
        d = a log10 O(p) + (1 - a) d(p);  every q in L(p) not fetched with d < d(q): d(q) = d
        key(q) = -d(q); seeds have d = 0; the ranking after the crawl is -d

    The distance from p to its links is the logarithm of their number: a surfer is as unlikely to follow one of many links
    as to follow a long path. The learning rate a falls as the crawl goes on, or is constant (``alpha``).

    Which setting to use: ``fica:alpha=0.3``, unless the paper's schedule is what you want to see. The default k is the
    paper's, 250,000 pages of 18 million: in a crawl of fewer pages t stays 0 and a stays 1, so that only the number of links
    on the page before counts. For the schedule give k as n/72, n the pages that you expect to fetch; ``frontrank reproduce
    fica07`` does so, and shows what both settings bring.

    Parameters: ``alpha``, a constant learning rate a, as the paper's eq. 3 has it, from 0 to 1; 0 is the schedule. ``k``
    pages make a step of t; ``beta``; ``schedule`` for the paper's comparison of learning rates, of x = beta t: ``exp``
    exp(-x), ``inverse`` 1/x, ``power`` x^-2.1, both at most 1, ``linear`` 1 - x, at least 0. (The paper writes the last as
    x, yet asks for functions that fall; one that rises from 0 would leave every distance at 0.) ``sum`` is the paper's eq.
    2, the logarithmic distance before any learning: d = log10 O(p) + d(p).

    Reference: fica07, Algorithm 1. Cost: O(log n) for each link.

    >>> from frontrank import Web, order  # the paper's Fig. 1: p q r s t u v w are 0 .. 7, s has four links
    >>> web = Web.from_edges([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], pages=12)
    >>> order(web, "fica", seeds=[0], budget=8)
    [0, 1, 2, 6, 7, 3, 4, 5]
    """

    k: int = 250_000
    beta: float = 0.1
    schedule: str = "exp"
    alpha: float = 0.0
    name = "fica"
    per_link = ("distance",)
    needs_past_links = False
    columns = {"distance": Column(np.float64, np.inf), "size": Column(np.int64, per="crawl")}

    def validate(self) -> None:
        self.require(self.k >= 1, "k", "a whole number from 1")
        self.require(self.beta >= 0, "beta", "a number from 0")
        self.require(0 <= self.alpha <= 1, "alpha", "a number from 0 to 1, 0 for the schedule")
        if self.schedule not in SCHEDULES:
            raise SpecError(f"fica: unknown schedule {self.schedule!r}{nearest(self.schedule, SCHEDULES)}")

    def parameters(self) -> dict[str, int | float]:
        return {"k": self.k, "beta": self.beta, "schedule": SCHEDULES.index(self.schedule), "alpha": self.alpha}

    @staticmethod
    @lean
    def on_seed(state: State, page: int, weight: float) -> float:
        state.distance[page] = 0.0
        return 0.0

    @staticmethod
    @lean
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        state.size[0] += 1
        return _relax(state, links, page, out)

    on_revisit = staticmethod(_relax)

    def ranking(self, state: State) -> Array | None:
        # Pages never discovered are at no distance: they come last, behind the farthest.
        reached = np.isfinite(state.distance)
        farthest = state.distance[reached].max(initial=0.0)
        scores: Array = -np.where(reached, state.distance, farthest + 1.0)
        return scores
