"""repeat: one comparison from several draws of seeds. One draw says little where orderings are close to each other.

Figures are means over the draws, with the sample standard deviation (n - 1) beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from frontrank.errors import InputError
from frontrank.lab.compare import prepared
from frontrank.lab.experiment import Measured, Seeds, Values, draws_of
from frontrank.lab.figures_table import CLOCK, FETCHED, SECONDS, About, figures_of, json_of, table_of
from frontrank.lab.frame import Frame, Tabular
from frontrank.lab.measures import Judged
from frontrank.simulation.plan import Budget, Given, Plan, Stop
from frontrank.simulation.side_by_side import Progress
from frontrank.simulation.simulate import Run
from frontrank.web.web import Web

COUNTS = (FETCHED, SECONDS, CLOCK)


@dataclass(frozen=True, eq=False)
class Repeats(Tabular):
    """The figures of a comparison for each of several draws of seeds."""

    web: Web
    metric: str
    seeds: tuple[str, ...]
    values: Values
    about: dict[str, About]

    def json(self) -> dict[str, Any]:
        """Means in the shape of ``Runs.json``; ``spread`` holds the standard deviations in the same shape."""
        figures = json_of(self.values, self.about, self.web)
        return {**figures, "repeats": len(self.seeds), "seeds": list(self.seeds)}

    def frame(self) -> Frame:
        table = table_of(self.values, self.about, self.web, self.metric)
        about = f"mean and standard deviation over {len(self.seeds)} draws of seeds, {self.seeds[0]} to {self.seeds[-1]}"
        return replace(table, notes=(*table.notes, about))


def repeat(
    web: Web,
    policies: Given | Iterable[Given],
    times: int,
    seeds: Seeds = None,
    budget: Budget = None,
    metric: str = "pagerank",
    *,
    progress: Progress | None = None,
) -> Repeats:
    """Compare the orderings ``times`` times, each time from other random seeds.

    ``seeds`` is ``"random:COUNT@DRAW"``: further draws are DRAW + 1, DRAW + 2, ...
    """
    return repeat_plan(web, Plan.of(policies, Stop(budget), metric=metric), times, seeds, progress)


def repeat_plan(
    web: Web, plan: Plan, times: int, seeds: Seeds = None, progress: Progress | None = None, jobs: int | None = None
) -> Repeats:
    """The same for a plan, with all it may hold."""
    if times < 2:
        raise InputError(f"repeats must be at least 2, got {times}: one draw has no spread")
    drawn = draws_of(web, seeds, times)
    ended: dict[str, set[str]] = {}

    def measure(runs: list[Run]) -> Iterator[Measured]:
        for run, cells in zip(runs, figures_of(Judged(web, plan.metric, runs)), strict=True):
            ended.setdefault(run.spec, set()).add(run.trace.ended)
            yield {key: value for key, value in cells.items() if key.share is not None or key in COUNTS}

    values = prepared(web, plan, drawn, jobs).values(measure, progress)
    competes = {spec: "truth" not in policy.needs() for spec, policy in plan.orderings}
    about = {spec: About(" or ".join(sorted(how)), competes=competes[spec]) for spec, how in ended.items()}
    return Repeats(web, plan.metric, tuple(drawn), values, about)
