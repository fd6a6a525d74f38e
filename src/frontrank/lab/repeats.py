"""repeat: one comparison from several draws of seeds. One draw says little where orderings lie close together.

Figures are means over the draws, with the sample standard deviation (n - 1) beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from frontrank.errors import InputError
from frontrank.lab.compare import MEASURED, OF_SCORES, Progress, Seeds, carry_out, frame_of
from frontrank.lab.frame import Frame, Tabular
from frontrank.simulation.plan import Budget, Given, Plan, Stop
from frontrank.web.seeds import DEFAULT
from frontrank.web.web import Web

NUMBERS = ("fetched", "seconds", "clock_s")


@dataclass(frozen=True, eq=False)
class Repeats(Tabular):
    """Figures of orderings, as ``Runs.json`` gives them, for each of several draws of seeds."""

    web: Web
    metric: str
    seeds: tuple[str, ...]
    draws: tuple[dict[str, Any], ...]
    told: frozenset[str] = frozenset()  # orderings that knew the answer

    def json(self) -> dict[str, Any]:
        """Means in the shape of ``Runs.json``; ``spread`` holds the standard deviations in the same shape."""
        first = self.draws[0]
        policies = {}
        for spec in first["policies"]:
            drawn = [draw["policies"][spec] for draw in self.draws]
            middle, spread = _over(drawn, fmean), _over(drawn, stdev)
            ended = sorted({one["ended"] for one in drawn})
            policies[spec] = {**middle, "ended": " or ".join(ended), "spread": spread}
        return {"policies": policies, "web": first["web"], "repeats": len(self.draws), "seeds": list(self.seeds)}

    def frame(self) -> Frame:
        made = frame_of(self.json(), self.web, self.metric, self.told)
        about = f"mean and standard deviation over {len(self.draws)} draws of seeds, {self.seeds[0]} to {self.seeds[-1]}"
        return Frame(made.columns, made.title, (*made.notes, about), made.outside, made.sorted_by)


def repeat(
    web: Web,
    policies: Given | Iterable[Given],
    times: int,
    seeds: Seeds = None,
    budget: Budget = None,
    metric: str = "pagerank",
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
    figures = []
    for at, draw in enumerate(drawn):
        tell = None if progress is None else _numbered(progress, at, times)
        figures.append(carry_out(web, plan, draw, tell, jobs=jobs).json())
    told = frozenset(spec for spec, policy in plan.orderings if "truth" in policy.needs())
    return Repeats(web, plan.metric, tuple(drawn), tuple(figures), told)


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


def _numbered(progress: Progress, at: int, times: int) -> Progress:
    return lambda text, done, total: progress(f"draw {at + 1} of {times}: {text}", done, total)


def _over(drawn: list[dict[str, Any]], of: Any) -> dict[str, Any]:
    """One statistic of all figures; None where a draw lacks one."""

    def one(values: list[Any]) -> float | None:
        return None if any(value is None for value in values) else float(of(values))

    measured = [name for name in (*MEASURED, *OF_SCORES) if name in drawn[0]]
    shares = {name: {s: one([d[name][s] for d in drawn]) for s in drawn[0][name]} for name in measured}
    return {**shares, **{name: one([d[name] for d in drawn]) for name in NUMBERS if name in drawn[0]}}
