"""Fixed: every page comes back after the same time."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.kernels.jit import kernel
from frontrank.orderings.revisits.revisit import Revisit, Settings
from frontrank.specs import Duration


@dataclass(frozen=True)
class Fixed(Revisit):
    """Fixed: every page comes back after the same time.

        wait = every

    A page that changes with rate r is then up to date for (1 - e^-x)/x of the time, x = r every. Where a budget is too short,
    pages come back one after the other, so that all are visited equally often: for freshness that is better than visiting a
    page in proportion to its changes (Cho, Garcia-Molina 2003), and nothing need be known.

    Parameters: ``every``.

    >>> from frontrank.orderings.revisits import parse
    >>> parse("fixed:every=12h").next_wait(visits=3, changes=1, watched_s=100.0, before_s=10.0)
    43200.0
    """

    every: Duration = Duration(86400.0)  # noqa: RUF009
    name = "fixed"

    def validate(self) -> None:
        self.require(self.every > 0, "every", "a time above 0")

    @staticmethod
    @kernel
    def wait(settings: Settings, page: int, visits: int, changes: int, watched_s: float, before_s: float) -> float:
        return float(settings.every)
