"""Draws: the same crawls from several draws of seeds. What is said of an ordering is a mean with its spread.

There is one rule of what draws decide (``beyond``): a figure is above a number, or it is not, only if its mean is away from it
by more than its spread, the sample standard deviation. Between, nothing is decided: neither True nor False, but None. In one
draw all orderings start from the same seeds, so they are compared draw by draw: one is *ahead* of another if the difference is
above ``MARGIN``. A claim about several figures holds if it holds of each (``all_hold``), and fails if it fails of one.

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
from frontrank.orderings.registry import parse
from frontrank.papers.claims import MARGIN, NOT_KNOWN, Claim, decided, height_at, mean_height, number
from frontrank.papers.crawls import PaperCrawls
from frontrank.papers.reproduction import Tell
from frontrank.simulation.simulate import Run, simulate
from frontrank.web.web import Web

DRAWS = 5
TRIED = 40  # draws that are looked at, at most
REACH = 0.5
READING = (
    f"Figures are means over the draws, with the sample standard deviation behind ±, the spread. One ordering is ahead of "
    f"another if their difference, draw by draw, is above {MARGIN} by more than its spread, and not ahead if it is below "
    f"{MARGIN} by more than that; between, the claim cannot be decided. The same holds for every other bound."
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


def beyond(by: float, spread: float) -> bool | None:
    """Whether something is above 0; None where its spread lies across."""
    return None if abs(by) < spread else by > 0.0


def above(value: Drawn, least: float = 0.0) -> bool | None:
    """Whether a figure is above a number, by more than draws differ.

    >>> above(Drawn((0.5, 0.7)), 0.4), above(Drawn((0.5, 0.7)), 0.8), above(Drawn((0.5, 0.7)), 0.55)
    (True, False, None)
    """
    return beyond(value.mean - least, value.spread)


def at_most(value: Drawn, most: float) -> bool | None:
    """Whether a figure is no higher than a number, whatever the draw."""
    return negated(above(value, most))


def ahead(a: Drawn, b: Drawn) -> bool | None:
    """Whether one ordering is better than another by more than draws differ.

    >>> ahead(Drawn((0.5, 0.7)), Drawn((0.4, 0.6))), ahead(Drawn((0.4, 0.6)), Drawn((0.5, 0.7)))
    (True, False)
    """
    return above(a.minus(b), MARGIN)


def negated(holds: bool | None) -> bool | None:
    return None if holds is None else not holds


def all_hold(parts: Iterable[bool | None]) -> bool | None:
    """Whether all hold: no, if one does not.

    >>> all_hold([True, None]), all_hold([None, False]), all_hold([True, True])
    (None, False, True)
    """
    found = set(parts)
    return False if False in found else None if None in found else True


def one_holds(parts: Iterable[bool | None]) -> bool | None:
    """Whether one holds: no, if none does."""
    return negated(all_hold(map(negated, parts)))


def failed(held: Mapping[str, bool | None]) -> str:
    """The names of what certainly does not hold."""
    return ", ".join(name for name, holds in held.items() if holds is False)


def leads(values: Mapping[str, Drawn], name: str) -> bool | None:
    """Whether one is ahead of all others."""
    return all_hold(ahead(values[name], other) for key, other in values.items() if key != name)


def lead(
    says: str, rule: str, values: Mapping[str, Drawn], name: str, fact: str = "", reason: str = "", measured: str = ""
) -> Claim:
    """A claim that one is ahead of all others; for ``fact`` and ``reason`` see ``because``."""
    why = because(values, name, fact, reason)
    return decided(says, rule, measured or told(values), leads(values, name), why, why)


def alike(says: str, rule: str, measured: str, by: Drawn, margin: float, why: str = NOT_KNOWN) -> Claim:
    """A claim that two differ by no more than a margin."""
    return decided(says, rule, measured, negated(beyond(abs(by.mean) - margin, by.spread)), why)


def not_below(says: str, rule: str, measured: str, by: Drawn, margin: float, why: str = NOT_KNOWN) -> Claim:
    """A claim that one is below another by no more than a margin; ``by`` is how much it is above."""
    return decided(says, rule, measured, negated(beyond(-by.mean - margin, by.spread)), why)


def told(values: Mapping[str, Drawn]) -> str:
    """
    >>> told({"bfs": Drawn((0.5, 0.7))})
    'bfs .600±.141'
    """
    return ", ".join(f"{name} {value}" for name, value in values.items())


def not_ahead(values: Mapping[str, Drawn], name: str) -> str:
    """Of whom one is not ahead, or not for certain: why it does not lead.

    >>> not_ahead({"a": Drawn((0.5, 0.6)), "b": Drawn((0.7, 0.8)), "c": Drawn((0.5, 0.6)), "d": Drawn((0.4, 0.7))}, "a")
    'behind b by .200±.000; level with c; within the spread of d'
    """
    found: dict[str, list[str]] = {"behind": [], "level with": [], "within the spread of": []}
    for key, other in values.items():
        is_ahead = ahead(values[name], other)
        if key == name or is_ahead:
            continue
        by = other.minus(values[name])
        if is_ahead is None:
            found["within the spread of"].append(key)
        elif by.mean > MARGIN:
            found["behind"].append(f"{key} by {by}")
        else:
            found["level with"].append(key)
    return "; ".join(f"{how} {', '.join(whom)}" for how, whom in found.items() if whom)


def because(values: Mapping[str, Drawn], name: str, fact: str = "", reason: str = "") -> str:
    """Why one does not lead, as far as figures tell: what lies within the spread needs no other reason.

    ``fact`` is what was looked at beside it, ``reason`` what was found to be why.
    """
    short = not_ahead(values, name)
    why = reason or (NOT_KNOWN if leads(values, name) is False else "")
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
