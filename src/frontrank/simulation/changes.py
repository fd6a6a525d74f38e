"""How often the pages of a simulated web change: each page by itself, a Poisson process with a rate of its own.

    web                         23% of pages daily, 15% weekly, 16% monthly, 16% every four months, 30% yearly
    same:every=10d              all pages once in ten days on average
    gamma:every=10d,shape=0.5   rates drawn from a gamma distribution; the smaller the shape, the more they differ
    file:path=rates.txt         changes a day of each page, a line each, in the order of pages

``web`` is what Cho and Garcia-Molina observed daily on 720,000 pages of 270 sites for four months (The evolution of the web and
implications for an incremental crawler, VLDB 2000), with one rate for each of their classes, as in their TODS 2003.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.errors import InputError, SpecError, nearest
from frontrank.kernels.jit import Array
from frontrank.orderings.parameters import Parameters, from_texts
from frontrank.specs import Duration, split

DAY = 86400.0
CLASSES = ((0.23, 1.0), (0.15, 7.0), (0.16, 30.0), (0.16, 120.0), (0.30, 365.0))  # share of pages, days between changes


@dataclass(frozen=True)
class Changes(Parameters):
    """Base: rates of change for the pages of a web."""

    def rates(self, pages: int, seed: int = 0) -> Array:
        """Changes a second of each page."""
        raise NotImplementedError


@dataclass(frozen=True)
class AsObserved(Changes):
    """The shares of pages that were observed to change daily, weekly, monthly, every four months, yearly."""

    name = "web"

    def rates(self, pages: int, seed: int = 0) -> Array:
        ends = np.round(np.cumsum([share for share, _ in CLASSES]) * pages).astype(int)
        rates = np.repeat([1.0 / (days * DAY) for _, days in CLASSES], np.diff(ends, prepend=0))
        drawn: Array = np.random.default_rng(seed).permutation(rates)
        return drawn


@dataclass(frozen=True)
class Same(Changes):
    """One rate for all pages."""

    every: Duration = Duration(10 * DAY)  # noqa: RUF009
    name = "same"

    def validate(self) -> None:
        self.require(self.every > 0, "every", "a time above 0")

    def rates(self, pages: int, seed: int = 0) -> Array:
        return np.full(pages, 1.0 / self.every)


@dataclass(frozen=True)
class Gamma(Changes):
    """Rates of a gamma distribution, whose mean is once in ``every``."""

    every: Duration = Duration(10 * DAY)  # noqa: RUF009
    shape: float = 1.0
    name = "gamma"

    def validate(self) -> None:
        self.require(self.every > 0, "every", "a time above 0")
        self.require(self.shape > 0, "shape", "a number above 0")

    def rates(self, pages: int, seed: int = 0) -> Array:
        drawn: Array = np.random.default_rng(seed).gamma(self.shape, 1.0 / (self.shape * self.every), pages)
        return drawn


@dataclass(frozen=True)
class FromFile(Changes):
    """Changes a day of each page, a line each."""

    path: str = ""
    name = "file"

    def validate(self) -> None:
        if not self.path:
            raise SpecError("file: no path given; write file:path=FILE, with the changes a day of a page in each line")

    def rates(self, pages: int, seed: int = 0) -> Array:
        try:
            given = np.atleast_1d(np.loadtxt(self.path, np.float64))
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path}: rates of change cannot be read: {error}") from None
        if given.shape != (pages,):
            raise InputError(f"{self.path} must have a number for each of {pages:,} pages, got {given.size:,}")
        if not (np.isfinite(given).all() and (given >= 0).all()):
            raise InputError(f"{self.path}: changes a day must be finite numbers from 0, got {given[~(given >= 0)][:1]}")
        return given / DAY


CHANGES: dict[str, type[Changes]] = {changes.name: changes for changes in (AsObserved, Same, Gamma, FromFile)}


def parse(spec: str) -> Changes:
    """
    >>> parse("same:every=10d").rates(3).tolist() == [1 / (10 * DAY)] * 3
    True
    >>> parse("gama")
    Traceback (most recent call last):
    frontrank.errors.SpecError: unknown changes 'gama'; did you mean 'gamma'? Known: ...
    """
    name, given = split(spec)
    if name not in CHANGES:
        raise SpecError(f"unknown changes {name!r}{nearest(name, CHANGES)}")
    return from_texts(CHANGES[name], given)
