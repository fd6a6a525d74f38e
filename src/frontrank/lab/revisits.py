"""Revisit policies side by side, on one web that changes: how fresh each keeps the collection, how old its copies are."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.lab.experiment import Seeds
from frontrank.lab.frame import Frame, FrameColumn, Tabular
from frontrank.lab.lab_options import RevisitOptions
from frontrank.lab.report.figures import FigureLine, lines, styles
from frontrank.lab.report.html import HtmlTable, Section, Value, page, save
from frontrank.options import check_options
from frontrank.orderings.registry import as_policy
from frontrank.orderings.revisits import parse as parse_revisit
from frontrank.orderings.revisits.revisit import Revisit
from frontrank.simulation.changes import Changes
from frontrank.simulation.changes import parse as parse_changes
from frontrank.simulation.plan import Given
from frontrank.simulation.refresh import Refreshed, keep_fresh
from frontrank.simulation.side_by_side import Progress
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

COMPARED = ("fixed", "adaptive", "gain", "uniform", "proportional", "optimal")
NOTES = (
    "fresh: share of the collected pages whose copy is what the page is now; age: days since the first change that a copy "
    "lacks, 0 if it is fresh. Means over the pages, and over the second half of the days. by importance: pages count by "
    "their worth.",
    "uniform, proportional and optimal know how often each page changes; the others find out.",
)


@dataclass(frozen=True, eq=False)
class Revisits(Tabular):
    """The results of revisit policies on one changing web."""

    web: Web
    changes: Changes
    runs: tuple[Refreshed, ...]
    about: str  # budget, share, days

    def frame(self) -> Frame:
        runs = self.runs
        knowing = frozenset(i for i, run in enumerate(runs) if run.revisit.knows_rates)
        columns = (
            FrameColumn("revisits", [run.revisit.spec() for run in runs]),
            FrameColumn("pages", [run.pages for run in runs], "count"),
            FrameColumn("visits", [run.revisits for run in runs], "count"),
            FrameColumn("changed", [run.found / run.revisits if run.revisits else None for run in runs], "share"),
            FrameColumn("fresh", [_known(run.freshness) for run in runs], "share", "more"),
            FrameColumn("age days", [_known(run.age_days) for run in runs], "number", "less"),
            FrameColumn("fresh by importance", [_known(run.weighted_freshness) for run in runs], "share", "more"),
            FrameColumn("age by importance", [_known(run.weighted_age_days) for run in runs], "number", "less"),
            FrameColumn("idle", [run.idle for run in runs], "count", detail=True),
        )
        title = f"{self.web.name}, changes {self.changes.spec()}, {self.about}"
        return Frame(columns, title, NOTES, knowing).sorted("fresh")

    def json(self) -> dict[str, Any]:
        """The table, and the curves over time."""
        curves = {
            run.revisit.spec(): {
                "days": run.days.tolist(),
                "fresh": _share(run).tolist(),
                "pages": run.curve.collected.tolist(),
            }
            for run in self.runs
        }
        return {"web": self.web.name, "changes": self.changes.spec(), "rows": self.frame().records(), "curves": curves}

    def save_report(self, path: str | os.PathLike[str], command: str = "") -> None:
        """One HTML page with the curves and the table."""
        looks = styles([run.revisit.spec() for run in self.runs])
        named = [(run, run.revisit.spec()) for run in self.runs]
        fresh = [FigureLine(name, run.days, _share(run), looks[name]) for run, name in named]
        pages = [FigureLine(name, run.days, run.curve.collected, looks[name]) for run, name in named]
        frame = self.frame()
        shown = (frame.columns[0], *frame.figures)
        rows: list[list[Value]] = [[column.text(i) for column in shown] for i in range(len(frame))]
        sections = (
            Section("Freshness over time", "", lines(fresh, "days", "share of the copies that are up to date", percent=False)),
            Section("Pages collected", "", lines(pages, "days", "pages", percent=False, unit_range=False)),
            Section("Table", "\n\n".join(NOTES), table=HtmlTable([column.name for column in shown], rows)),
        )
        best = frame.columns[0].values[0]
        save(page("Revisits compared", f"{best} keeps {self.web.name} freshest.", sections, command=command), path)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _share(run: Refreshed) -> Array:
    pages = run.curve.collected
    share: Array = np.divide(run.curve.fresh, pages, out=np.full(pages.size, np.nan), where=pages > 0)
    return share


def compare_revisits(
    web: Web,
    revisits: Sequence[str | Revisit] = COMPARED,
    changes: str | Changes = RevisitOptions.changes,
    *,
    policy: Given = RevisitOptions.policy,
    seeds: Seeds = None,
    days: float = RevisitOptions.days,
    a_day: float | None = None,
    share: float = RevisitOptions.share,
    metric: str = RevisitOptions.metric,
    collected: bool = RevisitOptions.collected,
    seed: int = RevisitOptions.draw,
    progress: Progress | None = None,
) -> Revisits:
    """Crawl a web that changes, once with each revisit policy; the same pages change at the same rates each time.

    ``a_day``: fetches a day, by default a fifteenth of the pages; ``share``: of them for revisits while there is something
    to discover; ``collected``: all pages are fetched before the clock starts, and all fetches are revisits.
    """
    parsed_changes = parse_changes(changes) if isinstance(changes, str) else changes
    parsed = [parse_revisit(one) if isinstance(one, str) else one for one in revisits]
    check_options(RevisitOptions, days=days, a_day=a_day, share=share)
    daily = web.pages / 15 if a_day is None else a_day
    rates, weights = parsed_changes.rates(web.pages, seed), importance(web, metric)
    start, ordering = find_seeds(web, seeds), as_policy(policy)
    runs = []
    for i, revisit in enumerate(parsed):
        if progress is not None:
            progress(revisit.spec(), i, len(parsed))
        options: dict[str, Any] = {"days": days, "a_day": daily, "share": share, "collected": collected, "seed": seed}
        runs.append(keep_fresh(web, ordering, revisit, rates, start, weights=weights, **options))
    spent = "all for revisits of all pages" if collected else f"{share:.0%} for revisits, the rest found by {ordering.spec()}"
    return Revisits(web, parsed_changes, tuple(runs), f"{daily:,.0f} fetches a day for {days:g} days, {spent}")
