"""evaluate: how much of the search impact that waits in a frontier does a ranker find first?

On a fully known web: let each ranker score the frontier from what was known at one moment of a crawl (``scenario``), and
compare what it puts first with the ideal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from frontrank.errors import InputError, need
from frontrank.lab.frame import Frame, FrameColumn, Tabular
from frontrank.lab.lab_options import EvaluateOptions
from frontrank.lab.measures.impact import FRONTIER_SHARES, click_through, impact_shares
from frontrank.lab.scenario import Scenario, build_scenario, ranker_of
from frontrank.orderings.ranker import Ranker
from frontrank.search.divided import Divided
from frontrank.simulation.side_by_side import Progress
from frontrank.web.view import Workload
from frontrank.web.web import Web

CALLED = {"ctr": "clicks over views", "pagerank": "PageRank"}  # measures in a table's head


@dataclass(frozen=True)
class Finding:
    """What one ranker found."""

    ranker: Ranker
    name: str  # as a person wrote it
    impact: dict[float, float]  # what the scenario is judged by: views or clicks
    views: dict[float, float] | None
    clicks: dict[float, float] | None
    pagerank: dict[float, float]
    ctr: dict[float, float] | None  # clicks over views of each page, where both are known
    seconds: float
    notes: dict[str, dict[str, float]]


def score_ranker(scenario: Scenario, ranker: Ranker, name: str = "", shares: tuple[float, ...] = FRONTIER_SHARES) -> Finding:
    """Let a ranker score the frontier, and compare what it puts first with the ideal."""
    begun = perf_counter()
    scores = ranker.score(scenario.view)[scenario.tested]
    seconds = perf_counter() - begun
    views, clicks = (None if known is None else known[scenario.tested] for known in (scenario.views, scenario.clicks))
    return Finding(
        ranker,
        name or ranker.spec(),
        impact_shares(scores, scenario.impact[scenario.tested], shares),
        None if views is None else impact_shares(scores, views, shares),
        None if clicks is None else impact_shares(scores, clicks, shares),
        impact_shares(scores, scenario.pagerank[scenario.tested], shares),
        None if clicks is None or views is None else impact_shares(scores, click_through(clicks, views), shares),
        seconds,
        _notes(ranker, scenario.view.notes),
    )


def _notes(ranker: Ranker, notes: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """What was noted of this ranker, not of one of the same name with other parameters."""
    own = f"{ranker.name} {ranker}"
    return (
        {own: notes[own]} if own in notes else {key: note for key, note in notes.items() if key.startswith(f"{ranker.name} ")}
    )


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """Rankers side by side on one scenario."""

    scenario: Scenario
    findings: tuple[Finding, ...]
    title: str = ""

    def json(self) -> dict[str, Any]:
        def at(values: dict[float, float] | None) -> dict[str, float] | None:
            return None if values is None else {f"{share:g}": value for share, value in values.items()}

        view = self.scenario.view
        return {
            "rankers": {
                finding.name: {
                    "impact": at(finding.impact),
                    "views": at(finding.views),
                    "clicks": at(finding.clicks),
                    "ctr": at(finding.ctr),
                    "pagerank": at(finding.pagerank),
                    "seconds": finding.seconds,
                    **({"convergence": finding.notes} if finding.notes else {}),
                }
                for finding in self.findings
            },
            "judged_by": self.scenario.judged_by,
            "queries": None if self.scenario.queries is None else self.scenario.queries.json(),
            "pages": {"D": len(view.source), "F": view.known - len(view.source), "tested": len(self.scenario.tested)},
        }

    def frame(self) -> Frame:
        """The same as a table, the ranker first that finds most in 5% of the frontier."""
        figures: dict[str, dict[str, Any]] = self.json()["rankers"]
        values = list(figures.values())
        columns = [FrameColumn("ranker", list(figures))]
        for measure in ("views", "clicks", "ctr", "pagerank"):
            for share in values[0][measure] or ():
                name = f"{float(share):.0%}"
                found = [value[measure][share] for value in values]
                detail = measure != self.scenario.judged_by
                group = f"of the ideal {CALLED.get(measure, measure)} in the first"
                columns.append(FrameColumn(f"{measure}@{name}", found, "share", "more", group, name, detail=detail))
        columns.append(FrameColumn("seconds", [value["seconds"] for value in values], "seconds", "less"))
        impact = self.scenario.judged_by
        notes: tuple[str, ...] = (f"{impact}@5%: share of the ideal {impact} among the first 5% of the frontier",)
        if self.scenario.queries is not None:
            notes = (*notes, self.scenario.queries.sentence())
        notes += tuple(line for finding in self.findings for line in _walked(finding))
        pages = self.json()["pages"]
        counts = f"{pages['D']:,} pages fetched, {pages['F']:,} wait, {pages['tested']:,} tested"
        return Frame(tuple(columns), f"{self.title or self.scenario.web.name}: {counts}", notes).sorted(f"{impact}@5%")


def _walked(finding: Finding) -> Iterator[str]:
    """What a walk was run with, and how exact it is."""
    for note in finding.notes.values():
        if {"omega", "gamma", "iterations", "residual"} <= note.keys():
            chosen = f"omega {note['omega']:g}, gamma {note['gamma']:g}"
            yield f"{finding.name}: {chosen}; {note['iterations']:.0f} iterations, L1 error at most {note['residual']:.1e}"


def evaluate(
    web: Web,
    workload: Workload | Divided | None,
    rankers: Sequence[str | Ranker],
    crawled: str = EvaluateOptions.crawled,
    seeds: Any = None,
    protocol: str | None = None,
    *,
    draw: int = EvaluateOptions.draw,
    progress: Progress | None = None,
    impact: str | None = None,
) -> Evaluation:
    """Score one frontier with each ranker, and say which share of the ideal impact each finds first (``build_scenario``)."""
    parsed = [ranker_of(spec) for spec in rankers]
    if not parsed:
        raise InputError("no ranker given; name at least one, such as rw-eg")
    for ranker in parsed:
        if "queries" in ranker.needs():
            need("sklearn")  # said before the work
        if workload is None and "queries" in ranker.needs():
            raise InputError(f"{ranker.spec()} is driven by queries, but no query log was given; add --queries FILE")
    learns = any("history" in ranker.needs() for ranker in parsed)
    scenario = build_scenario(
        web, workload, crawled, seeds, protocol, learns=learns, draw=draw, progress=progress, impact=impact
    )
    findings = []
    for at, (spec, ranker) in enumerate(zip(rankers, parsed, strict=True)):
        if progress is not None:
            progress(ranker.spec(), at, len(parsed))
        findings.append(score_ranker(scenario, ranker, spec if isinstance(spec, str) else ranker.spec()))
    return Evaluation(scenario, tuple(findings), f"{web.name}, {crawled}")
