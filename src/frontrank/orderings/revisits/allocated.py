"""Uniform, proportional, optimal: how a budget of visits is divided if it is known how often every page changes.

F(x) = (1 - e^-x)/x is the share of time for which a page is up to date that is visited at even intervals and changes x times
between two of them; A(x) = I (1/2 - 1/x + (1 - e^-x)/x^2) is the mean age of its copy, I the interval. With visits f_i a second
and rates r_i, x_i = r_i/f_i:

    uniform         f_i = f
    proportional    f_i = k r_i: the page that changes twice as often is visited twice as often. Worse than uniform for
                    freshness and for age, whatever the rates
    optimal         d F/d f_i = m/w_i for all pages that are visited (w weights, 1 unless ``weighted``; m Lagrange's
                    multiplier): with g(x) = 1 - e^-x (1 + x) that is g(x_i) = m r_i/w_i, and pages with m r_i/w_i >= 1
                    are never visited
    optimal:goal=age  h(x) = x^2/2 - g(x) instead of g, and h(x_i) = m r_i^2/w_i

Only simulations know rates. Reference: Cho, Garcia-Molina: Effective page refresh policies for web crawlers, TODS 28(4), 2003.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Array, compiled, kernel, state_type
from frontrank.orderings.revisits.gain import changes_between
from frontrank.orderings.revisits.revisit import Revisit, Settings

GOALS = ("freshness", "age")


def freshness(x: Array) -> Array:
    """F: the share of time for which a page is up to date that changes x times between two visits, on average.

    >>> freshness(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.6321]
    """
    x = np.asarray(x, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Array = np.where(x > 0, -np.expm1(-x) / x, 1.0)
    return share


def age(x: Array, interval: Array) -> Array:
    """A: the mean age of a copy, in the units of the interval."""
    x = np.asarray(x, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = 0.5 - 1.0 / x - np.expm1(-x) / x**2
    mean: Array = interval * np.where(x > 1e-3, exact, x / 6.0)
    return mean


@kernel
def _wait(settings: Settings, page: int, visits: int, changes: int, watched_s: float, before_s: float) -> float:
    return float(settings.interval[page])


@dataclass(frozen=True)
class Allocated(Revisit):
    """Base of those that share out a budget by known rates."""

    knows_rates = True
    wait = staticmethod(_wait)

    def visits(self, rates: Array, weights: Array, a_second: float) -> Array:
        """Visits a second for each page."""
        raise NotImplementedError

    def settings(self, rates: Array | None = None, weights: Array | None = None, a_second: float = 0.0) -> Settings:
        assert rates is not None
        visits = self.visits(rates, np.ones(rates.size) if weights is None else weights, a_second)
        with np.errstate(divide="ignore"):
            return state_type(("interval",))(np.where(visits > 0, 1.0 / visits, np.inf))


@dataclass(frozen=True)
class Uniform(Allocated):
    """Uniform: all pages are visited equally often, as often as the budget allows."""

    name = "uniform"

    def visits(self, rates: Array, weights: Array, a_second: float) -> Array:
        return np.full(rates.size, a_second / rates.size)


@dataclass(frozen=True)
class Proportional(Allocated):
    """Proportional: pages are visited in proportion to how often they change."""

    name = "proportional"

    def visits(self, rates: Array, weights: Array, a_second: float) -> Array:
        total = rates.sum()
        return a_second * rates / total if total > 0 else np.full(rates.size, a_second / rates.size)


@kernel
def _age_between(share: float) -> float:
    """The x at which x^2/2 - 1 + e^-x (1 + x) is this much."""
    low, high = 0.0, 2.0 + np.sqrt(2.0 * share + 2.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        if 0.5 * middle * middle - 1.0 + np.exp(-middle) * (1.0 + middle) < share:
            low = middle
        else:
            high = middle
    return float(0.5 * (low + high))


@kernel
def _visits_at(price: float, rates: Array, weights: Array, of_age: bool, visits: Array) -> float:
    """Visits a second of each page where a visit is worth this price; returns their sum."""
    total = 0.0
    for i in range(rates.size):
        visits[i] = 0.0
        if rates[i] > 0.0 and weights[i] > 0.0:
            share = price * rates[i] / weights[i]
            x = _age_between(share * rates[i]) if of_age else changes_between(share)
            visits[i] = rates[i] / x if 0.0 < x < np.inf else 0.0
        total += visits[i]
    return total


@dataclass(frozen=True)
class Optimal(Allocated):
    """Optimal: a collection is as fresh as the budget allows, or (``goal=age``) its copies are as young.

    Parameters: ``goal``, freshness or age; ``weighted``, whether pages count by their importance.
    """

    goal: str = "freshness"
    weighted: bool = False
    name = "optimal"

    def validate(self) -> None:
        if self.goal not in GOALS:
            raise SpecError(f"optimal: goal must be freshness or age{nearest(self.goal, GOALS)}")

    def visits(self, rates: Array, weights: Array, a_second: float) -> Array:
        weights = weights if self.weighted else np.ones(rates.size)
        if not (rates * weights > 0).any():
            return np.zeros(rates.size)
        # Pages of one rate and weight have one frequency: rates often come in a few classes.
        pairs, which = np.unique(np.stack([rates, weights]), axis=1, return_inverse=True)
        counts = np.bincount(which.ravel(), minlength=pairs.shape[1])
        alike = np.zeros(pairs.shape[1])
        visit = compiled(_visits_at)

        def total(price: float) -> float:
            visit(price, pairs[0], pairs[1], self.goal == "age", alike)
            return float((alike * counts).sum())

        low, high = 1e-12, 1e-12
        while total(high) > a_second:
            low, high = high, high * 4.0
        for _ in range(80):
            middle = np.sqrt(low * high)
            low, high = (middle, high) if total(middle) > a_second else (low, middle)
        total(high)
        return alike[which.ravel()]
