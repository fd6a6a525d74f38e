"""rw-eg chooses one omega by hidden pages, or stays with rw. What would averages of walks do, and other ways to choose?

``python -m benchmarks.omega WEB`` crawls the web from five pages, to several shares and by several orderings, ranks what waits,
and compares each rule with rw and with rw-eg:omega=0.3 at 2, 5 and 10% of the frontier: the mean difference, and in which share
of these cells it is below. Names of rules: ``3 rw + .3`` adds scores, ``places`` fuses places as fusion does.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from benchmarks.show import table
from frontrank.kernels.jit import Array
from frontrank.lab.measures.impact import impact_shares
from frontrank.lab.scenario import build_scenario
from frontrank.orderings.batch.fusion import ranks
from frontrank.orderings.batch.hidden import FIRST, hidden_parts
from frontrank.orderings.batch.rw import MAX_LOST, ROUGH, EnrichedWalk, WalkSettings
from frontrank.papers.tran15 import _starts
from frontrank.search.divided import load_divided
from frontrank.sources import load
from frontrank.web.view import CrawlView

K = 60.0  # as in fusion
SLACK = 0.005  # below rw by more than this counts


class Walks:
    """Scores of some waiting pages by walks with given omegas."""

    def __init__(self, view: CrawlView, pages: Array, tolerance: float) -> None:
        self.view, self.pages, self.tolerance = view, pages, tolerance
        self.done: dict[float, Array] = {}

    def by(self, omega: float) -> Array:
        if omega not in self.done:
            walker = EnrichedWalk()._walker(self.view, WalkSettings(omega, 0.0))
            self.done[omega] = walker.solve(self.tolerance).scores[self.pages]
        return self.done[omega]


Mix = Callable[[Walks], Array]


class Moment:
    """A crawl, what waits, and what of it can be hidden."""

    def __init__(self, view: CrawlView, waits: Array) -> None:
        self.view, self.walks = view, Walks(view, waits, EnrichedWalk().tolerance)

    @cached_property
    def hidden(self) -> list[tuple[Callable[[Array], float], Callable[[Array], Array], Walks]]:
        """By part: what scores of its hidden pages find, and find at first."""
        made = []
        for part in hidden_parts(self.view):
            there = part._replace(pages=np.arange(len(part.pages)))
            made.append((there.found, there.first, Walks(part.view, part.pages, ROUGH)))
        return made

    @cached_property
    def chosen(self) -> Array:
        return EnrichedWalk().score(self.view)[self.walks.pages]


def walk(omega: float, walks: Walks) -> Array:
    return walks.by(omega)


def added(weight: float, omega: float, walks: Walks) -> Array:
    """Scores of rw, so many times, and of another walk."""
    total: Array = weight * walks.by(1.0) + walks.by(omega)
    return total


def fused(weight: float, omega: float, walks: Walks) -> Array:
    """Places by rw, so many times, and by another walk."""
    total: Array = weight / (K + ranks(walks.by(1.0))) + 1.0 / (K + ranks(walks.by(omega)))
    return total


def best_of(mixes: list[Mix], moment: Moment) -> Array:
    """As rw-eg chooses, among mixes in place of omegas; the first is rw."""
    found = np.array([[finds(mix(walks)) for finds, _, walks in moment.hidden] for mix in mixes])
    first = np.array([[finds(mix(walks)) for _, finds, walks in moment.hidden] for mix in mixes])
    taken = 0
    if len(moment.hidden) > 1:
        lost = (first[0] - first).mean(1).max(1)
        best = int(np.where(lost <= MAX_LOST, found.mean(1), -1.0).argmax())
        gain = found[best] - found[0]
        taken = best if gain.mean() > gain.std(ddof=1) else 0
    return mixes[taken](moment.walks)


def never_plain(omega: float, moment: Moment) -> Array:
    """rw-eg; where that is rw, another omega, unless hidden pages are clearly against it."""
    if len(moment.hidden) < 2 or not np.array_equal(moment.chosen, moment.walks.by(1.0)):
        return moment.chosen
    gain = np.array([finds(walks.by(omega)) - finds(walks.by(1.0)) for finds, _, walks in moment.hidden])
    return moment.walks.by(omega if gain.mean() >= -gain.std(ddof=1) else 1.0)


PLACES = [partial(walk, 1.0), *(partial(fused, weight, omega) for omega in (0.7, 0.5, 0.3, 0.1, 0.0) for weight in (2.0, 1.0))]
OMEGAS = [partial(walk, round(1.0 - 0.1 * i, 1)) for i in range(11)]
MIXES: dict[str, Mix] = {
    "rw": partial(walk, 1.0),
    "omega=0.8": partial(walk, 0.8),
    "omega=0.3": partial(walk, 0.3),
    "rw + .3": partial(added, 1.0, 0.3),
    "3 rw + .3": partial(added, 3.0, 0.3),
    "places, 2 rw + .3": partial(fused, 2.0, 0.3),
    "places, 3 rw + .3": partial(fused, 3.0, 0.3),
}
RULES: dict[str, Callable[[Moment], Array]] = {
    "rw-eg": lambda moment: moment.chosen,
    **{name: lambda moment, mix=mix: mix(moment.walks) for name, mix in MIXES.items()},  # type: ignore[misc]
    "best of places": partial(best_of, PLACES),
    "best of places and omegas": partial(best_of, [*OMEGAS, *PLACES[1:]]),
    "rw-eg, else omega=0.8": partial(never_plain, 0.8),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.omega")
    parser.add_argument("web")
    parser.add_argument("--impact", choices=("views", "clicks"))
    parser.add_argument("--queries")
    parser.add_argument("--crawled", nargs="+", default=[f"bfs:{s}" for s in (0.15, 0.3, 0.45, 0.6, 0.75)])
    given = parser.parse_args()
    web, log = load(given.web), load_divided(given.queries) if given.queries else None
    found: dict[str, list[list[float]]] = {name: [] for name in RULES}
    for draw, (start, _) in enumerate(_starts(web)):
        seeds = web.ids_of(np.array([start])).tolist()
        for crawled in given.crawled:
            scene = build_scenario(web, log.again(draw) if log else None, crawled, seeds, impact=given.impact)
            moment, truth = Moment(scene.view, scene.tested), scene.impact[scene.tested]
            for name, rule in RULES.items():
                found[name].append(list(impact_shares(rule(moment), truth, FIRST).values()))
    held = {name: np.array(rows) for name, rows in found.items()}
    rows = []
    for name, one in held.items():
        plain, fixed = one - held["rw"], one - held["omega=0.3"]
        means = [" ".join(f"{value:+.3f}" for value in by.mean(0)) for by in (plain, fixed)]
        rows.append([name, means[0], f"{(plain < -SLACK).mean():.0%}", means[1], f"{(fixed < 0).mean():.0%}"])
    header = ["rule", "less rw at 2, 5, 10%", f"below rw - {SLACK}", "less omega=0.3", "below it"]
    table(f"{given.web}: {len(held['rw'])} moments of crawls", header, rows)


if __name__ == "__main__":
    main()
