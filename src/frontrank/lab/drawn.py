"""Drawn: a figure with a value for each draw of seeds, its mean and its spread (the sample standard deviation, n - 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from frontrank.lab.numbers import number


@dataclass(frozen=True)
class Drawn:
    """One figure of every draw.

    >>> Drawn((0.5, 0.7)).mean, str(Drawn((0.5, 0.7)))
    (0.6, '.600±.141')
    """

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Drawn | None:
        """None where a draw has no value."""
        known = tuple(values)
        return None if None in known else cls(tuple(float(value) for value in known if value is not None))

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float:
        """Of one draw none is known: 0."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    def minus(self, other: Drawn) -> Drawn:
        """The difference in each draw."""
        return Drawn(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def over(self, other: Drawn) -> Drawn:
        """The ratio in each draw; 1 where there is nothing to divide by."""
        return Drawn(tuple(a / b if b else 1.0 for a, b in zip(self.values, other.values, strict=True)))

    def scaled(self, factor: float) -> Drawn:
        """So many times the figure."""
        return Drawn(tuple(factor * value for value in self.values))

    def times(self) -> str:
        """As a multiple of something.

        >>> Drawn((4.0, 5.0)).times()
        '4.5±0.7'
        """
        return f"{self.mean:.1f}±{self.spread:.1f}"

    def __str__(self) -> str:
        return f"{number(self.mean)}±{number(self.spread)}"
