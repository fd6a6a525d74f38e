"""What every measure of a crawl has: a name, a value at shares of the web, and curves to be read against ideal and chance.

A measure is a file of this package, and a line in the registry of its ``__init__``: then it appears in ``simulate``'s table, in
JSON, in repeats and, if it has a curve, in reports. ``register`` does the same for a measure of your own, in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from frontrank.errors import SpecError
from frontrank.kernels.jit import Array
from frontrank.simulation.simulate import Run
from frontrank.simulation.trace import Trace
from frontrank.web.importance import parse_metric
from frontrank.web.web import Web

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)  # of the web: where numbers are quoted
EXHAUSTED = "frontier empty"
Values = dict[float, float | None]  # by share of the web; None where nobody knows


class Curve(NamedTuple):
    """A measure y after the share x of the web has been fetched."""

    x: Array
    y: Array


def reaches(trace: Trace, k: int) -> bool:
    """Whether it is known what the crawl has after k fetches."""
    return trace.fetched >= k or trace.ended == EXHAUSTED


@dataclass(frozen=True)
class Judged:
    """Runs that are compared: their web, and the importance by which its pages are judged."""

    web: Web
    metric: str
    runs: Sequence[Run]

    @cached_property
    def by_scorer(self) -> Mapping[str, str] | None:
        """The parameters of the metric, if pages are judged by a scorer."""
        (_, first), *more = parse_metric(self.metric)
        return None if more or first.name != "quality" else first.given


@dataclass(frozen=True)
class Figure:
    """A measure all along a crawl, between what is possible and what chance gives, as reports draw it."""

    title: str
    y: str  # what the curve shows
    curve: Callable[[Run, Judged], Curve]
    ideal: Callable[[Judged, float], Curve]  # of an ideal crawl of this share of the web
    chance: Callable[[Judged, float], Curve]  # of pages drawn at random, in expectation
    text: Callable[[Judged, str], str]  # given the importance in words


@dataclass(frozen=True)
class Measure:
    """How good a crawl was: a value at each of ``SHARES`` (see ``measured``), a figure, or both."""

    name: str  # in JSON and in the columns of tables
    heading: str = ""  # above its columns, each of which is a share of the web
    values: Callable[[Run, Judged], Values] = lambda run, judged: {}
    applies: Callable[[Judged], bool] = lambda judged: True
    shown: bool = True  # to people, not to files and programs only
    figure: Figure | None = None


REGISTRY: dict[str, Measure] = {}


def register(measure: Measure) -> Measure:
    """Give a measure its place in tables, JSON and reports."""
    if not measure.name.isidentifier():
        raise SpecError(f"the name of a measure must consist of letters, digits and _, got {measure.name!r}")
    if measure.name in REGISTRY:
        raise SpecError(f"the name {measure.name!r} is taken by another measure")
    return REGISTRY.setdefault(measure.name, measure)


def measured(judged: Judged) -> list[dict[str, Values]]:
    """Of each run the values of all measures that apply, by name."""
    measures = [measure for measure in REGISTRY.values() if measure.applies(judged)]
    rows: list[dict[str, Values]] = []
    for run in judged.runs:
        named = {measure.name: measure.values(run, judged) for measure in measures}
        rows.append({name: values for name, values in named.items() if values})
    return rows
