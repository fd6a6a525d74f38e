"""Reproduction: a paper's experiments on one web, as data; and the same as JSON, Markdown and a page of HTML."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.lab.drawn import Drawn
from frontrank.lab.frame import markdown_table
from frontrank.lab.measures import Curve
from frontrank.lab.numbers import number
from frontrank.papers.claims import AGREES, DISAGREES, UNDECIDED, UNTESTED, Claim, untested
from frontrank.web.web import Web

IDEAL, RANDOM = "ideal", "drawn at random"  # names of reference lines
FETCHED = "share of the web fetched"
Value = str | int | float | None
Row = Sequence[Value | Drawn]  # figures of several draws are written as mean and spread
Tell = Callable[[str], None]
Reproduced = tuple[str, Iterable["PaperExperiment"]]  # the setting, and the experiments as they are done


@dataclass(frozen=True)
class Plot:
    """Lines over one x axis, by name."""

    lines: Mapping[str, Curve]
    y: str
    x: str = FETCHED
    shares: bool = True  # both axes go from 0 to 1


@dataclass(frozen=True)
class PaperTable:
    """A head, and rows of as many cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[Value]]


def paper_table(header: Sequence[str], rows: Iterable[Row]) -> PaperTable:
    """A table in which figures of several draws are written as mean and spread."""
    return PaperTable(header, [[str(value) if isinstance(value, Drawn) else value for value in row] for row in rows])


@dataclass(frozen=True)
class PaperExperiment:
    """One comparison of a paper: how it was run here, what came out, and the claims that it decides."""

    heading: str
    how: str
    orderings: Sequence[str] = ()  # specifications, as simulate takes them
    plot: Plot | None = None
    table: PaperTable | None = None
    claims: Sequence[Claim] = ()
    skipped: str = ""  # why it was not run on this web


def skip(heading: str, reason: str, claims: Sequence[str]) -> PaperExperiment:
    """An experiment that this web cannot carry; its claims stay open, with the reason."""
    return PaperExperiment(heading, "", claims=[untested(says, reason) for says in claims], skipped=reason)


@dataclass(frozen=True)
class Reproduction:
    """All experiments of a paper on one web."""

    key: str
    title: str
    paper: str
    web: Mapping[str, Any]
    setting: str
    experiments: Sequence[PaperExperiment]
    command: str = ""  # what a person types to get this again

    def claims(self) -> list[Claim]:
        return [claim for experiment in self.experiments for claim in experiment.claims]

    def summary(self) -> str:
        """How many claims hold."""
        count = Counter(claim.verdict for claim in self.claims())
        counted = f"Of {count.total()} claims {count[AGREES]} agree with what was measured here, {count[DISAGREES]} disagree"
        rest = [f"{count[verdict]} {verdict}" for verdict in (UNDECIDED, UNTESTED) if count[verdict]]
        return f"{', '.join([counted, *rest])}."

    def json(self) -> dict[str, Any]:
        """Everything, for programs; what is no finite number is null."""
        experiments = [
            {
                "heading": one.heading,
                "how": one.how,
                "skipped": one.skipped or None,
                "orderings": list(one.orderings),
                "curves": {n: {"x": _floats(c.x), "y": _floats(c.y)} for n, c in one.plot.lines.items()} if one.plot else {},
                "table": _json_table(one.table),
                "claims": [
                    {"claim": c.says, "rule": c.rule, "measured": c.measured, "verdict": c.verdict, "reason": c.reason or None}
                    for c in one.claims
                ],
            }
            for one in self.experiments
        ]
        count = Counter(claim.verdict for claim in self.claims())
        return {
            "paper": self.key,
            "title": self.title,
            "web": dict(self.web),
            "setting": self.setting,
            "command": self.command,
            "verdicts": {verdict: count[verdict] for verdict in (AGREES, DISAGREES, UNDECIDED, UNTESTED)},
            "experiments": experiments,
        }

    def markdown(self) -> str:
        """Tables and claims, to be read anywhere."""
        parts = [f"# {self.title}", self.paper, f"**{self.summary()}**", _facts(self.web), self.setting]
        if self.command:
            parts.append(f"```\n{self.command}\n```")
        for one in self.experiments:
            parts.append(f"## {one.heading}")
            parts.append(f"Not run: {one.skipped}." if one.skipped else one.how)
            if one.orderings:
                parts.append("Orderings: " + ", ".join(f"`{spec}`" for spec in one.orderings) + ".")
            if one.table is not None:
                parts.append(_table(one.table.header, one.table.rows))
            if one.claims:
                rows = [[c.says, c.rule, c.measured, c.finding.replace(c.verdict, f"**{c.verdict}**", 1)] for c in one.claims]
                parts.append(_table(["the paper", "holds here if", "measured", "verdict"], rows))
        return "\n\n".join(part for part in parts if part) + "\n"

    def html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained page with the figures."""
        from frontrank.papers.page import written

        written(self, path)


def describe(web: Web) -> dict[str, Any]:
    """What the web is, as far as it is known."""
    known: dict[str, Any] = {"name": web.name, "pages": web.pages, "links": web.links}
    if web.hosts is not None:
        known["hosts"] = len(np.unique(web.hosts))
    return known


def _facts(web: Mapping[str, Any]) -> str:
    rest = [f"{value:,} {name}" for name, value in web.items() if name != "name"]
    return f"Web: {web['name']}, {', '.join(rest)}."


def _table(header: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    return markdown_table(header, [[shown(value) for value in row] for row in rows])


def shown(value: Value) -> str:
    """A cell as text: shares and coefficients with three digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return number(value if value is not None and math.isfinite(value) else None)


def _json_table(table: PaperTable | None) -> dict[str, Any] | None:
    if table is None:
        return None
    rows = [[None if isinstance(v, float) and not math.isfinite(v) else v for v in row] for row in table.rows]
    return {"header": list(table.header), "rows": rows}


def _floats(values: Any) -> list[float | None]:
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in np.asarray(values, np.float64).tolist()]
