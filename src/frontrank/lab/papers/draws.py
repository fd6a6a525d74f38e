"""Draws: the same crawls from several draws of seeds. What is said of an ordering is a mean with its spread.

In one draw all orderings start from the same seeds, so they are compared draw by draw: one is *ahead* of another if the mean of
the differences is larger than their spread (the sample standard deviation) and than ``MARGIN``. That two are alike, or one not
worse by more than a margin, holds only if mean and spread together stay within it (``alike``, ``not_below``): where the spread
lies across the margin nothing is decided.

A draw that reaches less than ``REACH`` of what the best of all tried ones reaches says nothing of a crawl of this web (three
random pages of a small web may have no links at all): it is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.measures import Curve
from frontrank.lab.papers.claims import MARGIN, NOT_KNOWN, Claim, decided, height_at, mean_height, number, undecided
from frontrank.lab.papers.crawls import PaperCrawls
from frontrank.lab.papers.reproduction import Tell
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import Run, simulate
from frontrank.web.web import Web

DRAWS = 5
TRIED = 40  # draws that are looked at, at most
REACH = 0.5
READING = (
    f"Figures are means over the draws, with the sample standard deviation behind ±. One ordering is ahead of another if the "
    f"mean of their differences, draw by draw, is above both its standard deviation and {MARGIN}; a claim agrees only if so "
    f"much is between them."
)


@dataclass(frozen=True)
class Drawn:
    """One figure of every draw."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float:
        return stdev(self.values) if len(self.values) > 1 else 0.0

    def minus(self, other: Drawn) -> Drawn:
        return Drawn(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def over(self, other: Drawn) -> Drawn:
        """The ratio in each draw; 1 where there is nothing to divide by."""
        return Drawn(tuple(a / b if b else 1.0 for a, b in zip(self.values, other.values, strict=True)))

    def times(self) -> str:
        """As a multiple of something.

        >>> Drawn((4.0, 5.0)).times()
        '4.5±0.7'
        """
        return f"{self.mean:.1f}±{self.spread:.1f}"

    def __str__(self) -> str:
        return f"{number(self.mean)}±{number(self.spread)}"


def ahead(a: Drawn, b: Drawn) -> bool:
    """Whether one ordering is better than another by more than draws differ.

    >>> ahead(Drawn((0.5, 0.7)), Drawn((0.4, 0.6))), ahead(Drawn((0.5, 0.6)), Drawn((0.4, 0.6)))
    (True, False)
    """
    by = a.minus(b)
    return by.mean > max(by.spread, MARGIN)


def leads(values: Mapping[str, Drawn], name: str) -> bool:
    """Whether one is ahead of all others."""
    return all(ahead(values[name], other) for key, other in values.items() if key != name)


def alike(says: str, rule: str, measured: str, by: Drawn, margin: float, why: str = NOT_KNOWN) -> Claim:
    """Whether two differ by no more than a margin, whatever the draw."""
    return _within(says, rule, measured, abs(by.mean) - margin, by.spread, why)


def not_below(says: str, rule: str, measured: str, by: Drawn, margin: float, why: str = NOT_KNOWN) -> Claim:
    """Whether one is below another by no more than a margin, whatever the draw; ``by`` is how much it is above."""
    return _within(says, rule, measured, -by.mean - margin, by.spread, why)


def _within(says: str, rule: str, measured: str, beyond: float, spread: float, why: str) -> Claim:
    if abs(beyond) < spread:
        return undecided(says, rule, measured, "the spread of the difference lies across the margin")
    return decided(says, rule, measured, beyond <= 0.0, why)


def told(values: Mapping[str, Drawn]) -> str:
    """
    >>> told({"bfs": Drawn((0.5, 0.7))})
    'bfs .600±.141'
    """
    return ", ".join(f"{name} {value}" for name, value in values.items())


def not_ahead(values: Mapping[str, Drawn], name: str) -> str:
    """Of whom one is not ahead, and by how much it is behind: why it does not lead."""
    behind: list[str] = []
    close: list[str] = []
    for key, other in values.items():
        if key != name and not ahead(values[name], other):
            (behind if ahead(other, values[name]) else close).append(f"{key} by {other.minus(values[name])}")
    parts = [f"behind {', '.join(behind)}"] if behind else []
    return "; ".join(
        parts + ([f"within the spread of {', '.join(one.partition(' by ')[0] for one in close)}"] if close else [])
    )


def because(values: Mapping[str, Drawn], name: str, fact: str = "", reason: str = "") -> str:
    """Why one does not lead, as far as figures tell: what lies within the spread needs no other reason.

    ``fact`` is what was looked at beside it, ``reason`` what was found to be why.
    """
    short = not_ahead(values, name)
    why = reason or (NOT_KNOWN if short.startswith("behind") else "")
    return "; ".join(part for part in (short, fact, why) if part)


class Draws:
    """The crawls that an experiment compares, one set for each draw of seeds."""

    def __init__(self, web: Web, seeds: Sequence[Array], tell: Tell, budget: int | None = None, what: str = "draw") -> None:
        self.web, self.tell, self.what = web, tell, what
        self.all = [PaperCrawls(web, one, self._numbered(at, len(seeds)), budget) for at, one in enumerate(seeds)]

    def _numbered(self, at: int, count: int) -> Tell:
        return lambda text: self.tell(f"{self.what} {at + 1} of {count}: {text}")

    @property
    def first(self) -> PaperCrawls:
        """One of them, where one is enough."""
        return self.all[0]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[PaperCrawls]:
        return iter(self.all)

    def runs(self, spec: str) -> list[Run]:
        return [crawls[spec] for crawls in self.all]

    def curves(self, specs: Mapping[str, str], of: Callable[[Run], Curve]) -> dict[str, list[Curve]]:
        """A curve of each ordering and draw, by the ordering's name."""
        return {name: [of(crawls[spec]) for crawls in self.all] for name, spec in specs.items()}

    def growth(self, specs: Sequence[str], budgets: Sequence[int]) -> dict[str, list[Array]]:
        """The times of deciding of each ordering and draw, for crawls of several sizes."""
        drawn = [crawls.growth(specs, budgets) for crawls in self.all]
        return {spec: [one[spec] for one in drawn] for spec in specs}

    def found(self, specs: Mapping[str, str], least: float, metric: str) -> dict[str, list[Curve]]:
        """P_ST of each ordering and draw."""
        drawn = [crawls.found(specs, least, metric) for crawls in self.all]
        return {name: [one[name] for one in drawn] for name in specs}

    def stopped(self, specs: Mapping[str, str], metric: str) -> dict[str, list[Curve]]:
        """P_CS of each ordering and draw."""
        drawn = [crawls.stopped(specs, metric) for crawls in self.all]
        return {name: [one[name] for one in drawn] for name in specs}


def heights(curves: Mapping[str, Iterable[Curve]], until: float = 1.0) -> dict[str, Drawn]:
    """The mean height of each ordering's curves."""
    return {name: Drawn(tuple(mean_height(curve, until) for curve in drawn)) for name, drawn in curves.items()}


def at(curves: Iterable[Curve], share: float) -> Drawn:
    """The height of an ordering's curves at a share of the web."""
    return Drawn(tuple(height_at(curve, share) for curve in curves))


def middle(curves: Mapping[str, Sequence[Curve]]) -> dict[str, Curve]:
    """The mean of each ordering's curves, as far as all of them go."""
    return {name: _mean(drawn) for name, drawn in curves.items()}


def _mean(curves: Sequence[Curve]) -> Curve:
    shortest = min(curves, key=lambda curve: float(curve.x[-1]))
    return Curve(shortest.x, np.mean([np.interp(shortest.x, curve.x, curve.y) for curve in curves], axis=0))


def draw(web: Web, candidates: Iterable[Array], count: int = DRAWS) -> tuple[list[Array], list[int]]:
    """The first draws that reach enough of the web (else those that reach most), and how many pages each reaches."""
    tried: list[tuple[int, int, Array]] = []
    for place, seeds in zip(range(TRIED), candidates, strict=False):
        tried.append((simulate(web, parse("bfs"), seeds).trace.fetched, place, seeds))
        if sum(reach >= REACH * web.pages for reach, _, _ in tried) >= count:
            break
    best = max(reach for reach, _, _ in tried)
    good = [one for one in tried if one[0] >= REACH * best]
    chosen = sorted(
        good[:count] if len(good) >= count else sorted(tried, key=lambda one: -one[0])[:count], key=lambda one: one[1]
    )
    return [seeds for _, _, seeds in chosen], [reach for reach, _, _ in chosen]


def random_pages(web: Web, count: int, of: Array | None = None) -> Iterator[Array]:
    """So many random pages (of these), drawn again and again."""
    number = 0
    while True:
        generator = np.random.default_rng(number)
        pages = generator.choice(web.pages, count, replace=False) if of is None else generator.choice(of, count, replace=False)
        yield pages.astype(np.int32)
        number += 1
