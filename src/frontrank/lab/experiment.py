"""Experiment: orderings x draws of seeds x measures, one table of values for each web.

Everything that judges orderings is a view of it: ``compare`` of one draw, whose runs are kept; ``repeats`` of means and
spreads over several; a ``contest`` of the means of curves, and a ``leaderboard`` of all contests; ``recommend`` of what one
purpose asks for; and the papers of curves, of runs that they ask for one by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.drawn import Drawn
from frontrank.lab.frame import Frame, FrameColumn, Tabular
from frontrank.orderings.registry import parse
from frontrank.simulation.plan import Plan
from frontrank.simulation.side_by_side import Progress, simulate_all
from frontrank.simulation.simulate import Run, simulate
from frontrank.web.seeds import DEFAULT
from frontrank.web.web import Web

Seeds = str | os.PathLike[str] | Iterable[int | str] | None  # as a person gives them
D = TypeVar("D")
T = TypeVar("T")


class Key(NamedTuple):
    """What a value is of."""

    measure: str
    share: float | None = None  # of the web, at which it was taken
    by: str = ""  # what pages were judged by, where an experiment judges by several


Measured = Mapping[Key, float | None]  # of one ordering in one draw


@dataclass(frozen=True)
class Values(Tabular):
    """What each measure says of each ordering in each draw, on one web."""

    web: str
    draws: list[dict[str, Measured]] = field(default_factory=list)

    @property
    def orderings(self) -> list[str]:
        return list(self.draws[0])

    def keys(self, ordering: str) -> list[Key]:
        return list(self.draws[0][ordering])

    def drawn(self, ordering: str, key: Key) -> Drawn | None:
        """One value of every draw; None where a draw has none."""
        return Drawn.of(draw[ordering].get(key) for draw in self.draws)

    def mean(self, ordering: str) -> Measured:
        """Of one draw the values themselves."""
        if len(self.draws) == 1:
            return self.draws[0][ordering]
        return {key: None if drawn is None else drawn.mean for key, drawn in self._all(ordering)}

    def spread(self, ordering: str) -> Measured:
        return {key: None if drawn is None else drawn.spread for key, drawn in self._all(ordering)}

    def _all(self, ordering: str) -> Iterable[tuple[Key, Drawn | None]]:
        return ((key, self.drawn(ordering, key)) for key in self.keys(ordering))

    def frame(self) -> Frame:
        """A row for each value."""
        rows: list[tuple[Any, ...]] = [
            (self.web, at, ordering, *key, value)
            for at, draw in enumerate(self.draws, 1)
            for ordering, measured in draw.items()
            for key, value in measured.items()
        ]
        web, draw, ordering, measure, share, by, value = zip(*rows, strict=True) if rows else ((),) * 7
        texts = {"web": web, "ordering": ordering, "measure": measure, "by": by}
        numbers = (
            FrameColumn("draw", draw, "count"),
            FrameColumn("share", share, "share"),
            FrameColumn("value", value, "number"),
        )
        return Frame((*(FrameColumn(name, values) for name, values in texts.items()), *numbers))


def over_draws(
    web: Web,
    draws: Sequence[D],
    attempt: Callable[[D, Progress], Iterable[tuple[str, Measured]]],
    progress: Progress | None = None,
    enough: Callable[[int], bool] = lambda done: False,
) -> Values:
    """What an attempt at all orderings gives from each draw; no further draw is begun when there are enough."""
    values = Values(web.name)
    for at, draw in enumerate(draws):
        values.draws.append(dict(attempt(draw, _numbered(progress, at, len(draws)))))
        if enough(at + 1):
            break
    return values


def _numbered(progress: Progress | None, at: int, count: int) -> Progress:
    def tell(text: str, done: int, total: int) -> None:
        if progress is not None:
            named = f"draw {at + 1} of {count}: {text}" if count > 1 else text
            progress(named, at * total + done, count * total)

    return tell


class Experiment:
    """Crawls of one web by the orderings of a plan, from each of several draws of seeds, so many crawls at a time."""

    def __init__(self, web: Web, plan: Plan, draws: Sequence[Array], jobs: int = 1) -> None:
        self.web, self.plan, self.draws, self.jobs = web, plan, draws, jobs
        self._kept: dict[tuple[str, int], Run] = {}

    def crawl(self, draw: Array, progress: Progress | None = None) -> list[Run]:
        """A run of each ordering from these seeds."""
        return simulate_all(self.web, self.plan, draw, progress, self.jobs)

    def values(
        self,
        measure: Callable[[list[Run]], Iterable[Measured]],
        progress: Progress | None = None,
        enough: Callable[[int], bool] = lambda done: False,
    ) -> Values:
        """What is measured of the runs of each draw; the runs of one are dropped before those of the next are made."""

        def attempt(draw: Array, tell: Progress) -> Iterable[tuple[str, Measured]]:
            runs = self.crawl(draw, tell)
            return zip((run.spec for run in runs), measure(runs), strict=True)

        return over_draws(self.web, self.draws, attempt, progress, enough)

    def is_kept(self, spec: str, draw: int) -> bool:
        return (spec, draw) in self._kept

    def run(self, spec: str, draw: int) -> Run:
        """The run of one ordering from one draw: made when it is first asked for, and kept."""
        if not self.is_kept(spec, draw):
            self._kept[spec, draw] = simulate(self.web, parse(spec), self.draws[draw], self.plan.stop)
        return self._kept[spec, draw]

    def runs(self, spec: str) -> list[Run]:
        """The runs of one ordering, one a draw."""
        return [self.run(spec, draw) for draw in range(len(self.draws))]

    def collect(self, specs: Mapping[str, str], of: Callable[[Run], T]) -> dict[str, list[T]]:
        """Something of the runs of each ordering, one a draw, by the ordering's name."""
        return {name: [of(run) for run in self.runs(spec)] for name, spec in specs.items()}


def draws_of(web: Web, seeds: Seeds, times: int) -> list[str]:
    """The seeds of each repeat.

    >>> draws_of(Web.from_edges([0], [1], pages=2), "random:2@7", 3)
    ['random:2@7', 'random:2@8', 'random:2@9']
    """
    if seeds is None and web.seeds is None:
        seeds = f"random:{min(DEFAULT, web.pages)}"
    found = re.fullmatch(r"random:(\d+)(?:@(\d+))?", seeds) if isinstance(seeds, str) else None
    if found is None:
        given = "the web's own seeds" if seeds is None else f"seeds {seeds!r}"
        raise InputError(f"{given} cannot be drawn again; to repeat, give random seeds, such as random:100@7")
    return [f"random:{found[1]}@{int(found[2] or 0) + at}" for at in range(times)]
