"""Draws: the crawls that a paper compares, from several draws of seeds, and curves of them.

A draw that reaches less than ``REACH`` of what the best of all tried ones reaches says nothing of a crawl of this web (three
random pages of a small web may have no links at all): it is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.experiment import Experiment
from frontrank.lab.measures import (
    Curve,
    hot_curve,
    ideal_hot_curve,
    ideal_threshold_curve,
    random_hot_curve,
    random_threshold_curve,
    threshold_curve,
)
from frontrank.orderings.registry import parse
from frontrank.papers.reproduction import IDEAL, RANDOM, Plot, Tell
from frontrank.simulation.plan import Plan, Stop
from frontrank.simulation.simulate import Run, simulate
from frontrank.web.web import Web

T = TypeVar("T")
DRAWS = 5
TRIED = 40  # draws that are looked at, at most
REACH = 0.5
GRID = 2000  # points at which a curve's mean height is taken
ENOUGH_S = 0.25  # where its time counts, a run is repeated until so much was spent on it,
REPEATS = 7  # or so often
ROUNDS = 2  # of timing crawls of growing size, in each draw


class Draws(Experiment):
    """Crawls that are made when they are asked for, from each draw of seeds, up to the same budget."""

    def __init__(self, web: Web, seeds: Sequence[Array], tell: Tell, budget: int | None = None, what: str = "draw") -> None:
        super().__init__(web, Plan((), Stop(budget)), seeds)
        self.tell, self.what = tell, what
        self.pages = self.plan.stop.pages(web.pages)  # that a crawl fetches, at most

    def _say(self, draw: int, text: str) -> None:
        self.tell(f"{self.what} {draw + 1} of {len(self.draws)}: {text}")

    def run(self, spec: str, draw: int) -> Run:
        if not self.is_kept(spec, draw):
            self._say(draw, spec)
        return super().run(spec, draw)

    def threshold_curves(self, specs: Mapping[str, str], level: float, metric: str) -> dict[str, list[Curve]]:
        """P_ST of each ordering and draw."""
        return self.collect(specs, lambda run: threshold_curve(run.trace, self.web, level, metric))

    def hot_curves(self, specs: Mapping[str, str], metric: str = "pagerank") -> dict[str, list[Curve]]:
        """P_CS of each ordering and draw."""
        return self.collect(specs, lambda run: hot_curve(run.trace, self.web, metric))

    def processor_s(self, spec: str) -> Drawn:
        """The processor's time of deciding; the lowest of several where it is so short that the machine's noise would show."""
        return Drawn(tuple(self._least_s(spec, draw) for draw in range(len(self.draws))))

    def _least_s(self, spec: str, draw: int) -> float:
        times = [self.run(spec, draw).processor_s]
        while len(times) < REPEATS and sum(times) < ENOUGH_S:
            self._say(draw, f"{spec}, timed")
            times.append(simulate(self.web, parse(spec), self.draws[draw], self.plan.stop).processor_s)
        return min(times)

    def growth(self, specs: Sequence[str], budgets: Sequence[int]) -> dict[str, list[Array]]:
        """The processor's times of deciding of each ordering and draw, for crawls of several sizes: the lowest of rounds.

        Orderings take turns, so that a slow spell of the machine falls on all of them and not on the one that is just timed.
        """
        lowest = {spec: [np.full(len(budgets), np.inf) for _ in self.draws] for spec in specs}
        for draw, seeds in enumerate(self.draws):
            for turn in range(ROUNDS):
                for i, budget in enumerate(budgets):
                    self._say(draw, f"timing {budget:,} pages, round {turn + 1} of {ROUNDS}")
                    for spec in specs:
                        seconds = simulate(self.web, parse(spec), seeds, budget).processor_s
                        lowest[spec][draw][i] = min(lowest[spec][draw][i], seconds)
        return lowest


@dataclass(frozen=True, eq=False)
class Drawing(Generic[T]):
    """The same setting in several draws."""

    name: str
    all: Sequence[T]

    @property
    def first(self) -> T:
        return self.all[0]

    def drawn(self, of: Callable[[T], float]) -> Drawn:
        return Drawn(tuple(of(one) for one in self.all))

    def curves(self, of: Callable[[T], Mapping[str, Curve]]) -> dict[str, list[Curve]]:
        """Some curves of each draw, by their names."""
        drawn = [of(one) for one in self.all]
        return {name: [one[name] for one in drawn] for name in drawn[0]}


# Curves ------------------------------------------------------------------------------------------------------------------
def mean_height(curve: Curve, until: float = 1.0) -> float:
    """The mean of a curve from 0 to a share of the web: one number for a whole line.

    >>> round(mean_height(Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))), 3)
    0.5
    """
    x = (np.arange(GRID) + 0.5) / GRID * until
    return float(np.interp(x, curve.x, curve.y).mean())


def height_at(curve: Curve, x: float) -> float:
    return float(np.interp(x, curve.x, curve.y))


def reaches_at(curve: Curve, height: float) -> float | None:
    """The first share of the web at which a curve is this high; None if it never is.

    >>> reaches_at(Curve(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0])), 0.4)
    0.25
    """
    high = np.flatnonzero(curve.y >= height)
    if len(high) == 0:
        return None
    at = int(high[0])
    if at == 0:
        return float(curve.x[0])
    x0, x1, y0, y1 = (float(v) for v in (curve.x[at - 1], curve.x[at], curve.y[at - 1], curve.y[at]))
    return x0 + (x1 - x0) * (height - y0) / (y1 - y0)


def heights(curves: Mapping[str, Iterable[Curve]], until: float = 1.0) -> dict[str, Drawn]:
    """The mean height of each ordering's curves."""
    return {name: Drawn(tuple(mean_height(curve, until) for curve in drawn)) for name, drawn in curves.items()}


def at(curves: Iterable[Curve], share: float) -> Drawn:
    """The height of an ordering's curves at a share of the web."""
    return Drawn(tuple(height_at(curve, share) for curve in curves))


def at_shares(curves: Sequence[Curve], shares: Iterable[float]) -> list[Drawn]:
    """The heights of an ordering's curves at several shares of the web: cells of a table."""
    return [at(curves, float(share)) for share in shares]


def heads(shares: Iterable[float]) -> list[str]:
    """The columns of ``at_shares``."""
    return [f"at {share:.0%}" for share in shares]


def middle(curves: Mapping[str, Sequence[Curve]]) -> dict[str, Curve]:
    """The mean of each ordering's curves, as far as all of them go."""
    return {name: _mean(drawn) for name, drawn in curves.items()}


def _mean(curves: Sequence[Curve]) -> Curve:
    shortest = min(curves, key=lambda curve: float(curve.x[-1]))
    return Curve(shortest.x, np.mean([np.interp(shortest.x, curve.x, curve.y) for curve in curves], axis=0))


def threshold_plot(web: Web, curves: dict[str, Curve], level: float, metric: str) -> Plot:
    """P_ST between what is possible and what chance gives."""
    ideal, chance = ideal_threshold_curve(web, level, metric), random_threshold_curve(web)
    return Plot({IDEAL: ideal, **curves, RANDOM: chance}, "share of the hot pages found")


def stop_plot(web: Web, curves: dict[str, Curve], metric: str) -> Plot:
    """P_CS between what is possible and what chance gives."""
    lines = {IDEAL: ideal_hot_curve(web), **curves, RANDOM: random_hot_curve(web, metric)}
    return Plot(lines, "hot pages among those fetched")


# Seeds -------------------------------------------------------------------------------------------------------------------
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
