"""Crawls: each ordering run once on a web, from the same seeds and with the same budget, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from frontrank.kernels.jit import Array
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
from frontrank.simulation.simulate import Run, simulate
from frontrank.web.web import Web

Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much
ENOUGH_S = 0.25  # where its time counts, a run is repeated until so much was spent on it,
REPEATS = 7  # or so often
ROUNDS = 2  # of timing crawls of growing size, in each draw


def silent(text: str, done: int, total: int) -> None:
    """Tell nobody."""


class PaperCrawls:
    """The crawls of one web that an experiment compares."""

    def __init__(self, web: Web, seeds: Array, tell: Tell, budget: int | None = None) -> None:
        self.web, self.seeds, self.tell, self.budget = web, seeds, tell, budget
        self._runs: dict[str, Run] = {}

    def __getitem__(self, spec: str) -> Run:
        if spec not in self._runs:
            self.tell(spec)
            self._runs[spec] = simulate(self.web, parse(spec), self.seeds, self.budget)
        return self._runs[spec]

    def seconds(self, spec: str) -> float:
        """The processor's time of deciding; the least of several where it is so short that the machine's noise would show."""
        times = [self[spec].processor_s]
        while len(times) < REPEATS and sum(times) < ENOUGH_S:
            self.tell(f"{spec}, timed")
            times.append(simulate(self.web, parse(spec), self.seeds, self.budget).processor_s)
        return min(times)

    def growth(self, specs: Sequence[str], budgets: Sequence[int]) -> dict[str, Array]:
        """The processor's times of deciding for crawls of several sizes, each the least of several rounds.

        Orderings take turns, so that a slow spell of the machine falls on all of them and not on the one that is just timed.
        """
        least = {spec: np.full(len(budgets), np.inf) for spec in specs}
        for turn in range(ROUNDS):
            for i, budget in enumerate(budgets):
                self.tell(f"timing {budget:,} pages, round {turn + 1} of {ROUNDS}")
                for spec in specs:
                    seconds = simulate(self.web, parse(spec), self.seeds, budget).processor_s
                    least[spec][i] = min(least[spec][i], seconds)
        return least

    def found(self, specs: Mapping[str, str], least: float, metric: str) -> dict[str, Curve]:
        """P_ST of each ordering, by its name."""
        return {name: threshold_curve(self[spec].trace, self.web, least, metric) for name, spec in specs.items()}

    def stopped(self, specs: Mapping[str, str], metric: str) -> dict[str, Curve]:
        """P_CS of each ordering, by its name."""
        return {name: hot_curve(self[spec].trace, self.web, metric) for name, spec in specs.items()}


def threshold_plot(web: Web, curves: dict[str, Curve], least: float, metric: str) -> Plot:
    """P_ST between what is possible and what chance gives."""
    ideal, chance = ideal_threshold_curve(web, least, metric), random_threshold_curve(web)
    return Plot({IDEAL: ideal, **curves, RANDOM: chance}, "share of the hot pages found")


def stop_plot(web: Web, curves: dict[str, Curve], metric: str) -> Plot:
    """P_CS between what is possible and what chance gives."""
    lines = {IDEAL: ideal_hot_curve(web), **curves, RANDOM: random_hot_curve(web, metric)}
    return Plot(lines, "hot pages among those fetched")
