"""compare: several orderings on one web, side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import FrontrankError, SpecError
from frontrank.frontiers.politeness import Politeness
from frontrank.lab.experiment import Experiment, Seeds, Values
from frontrank.lab.figures_table import About, figures_of, json_of, table_of
from frontrank.lab.frame import Frame, Tabular
from frontrank.lab.measures import Curve, Judged, hot_curve
from frontrank.lab.memory import fitting_jobs
from frontrank.lab.saved_runs import check_runs_target, read_runs, write_runs
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy, orderings, parse
from frontrank.orderings.stored import stored_names
from frontrank.orderings.trust import trust_of
from frontrank.simulation.graph_driver import check_needs
from frontrank.simulation.plan import ALL, Budget, Given, Plan, Stop
from frontrank.simulation.side_by_side import Progress
from frontrank.simulation.simulate import Run, simulate
from frontrank.simulation.trace import Trace
from frontrank.system.files import written_beside
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web


def runnable(web: Web) -> list[Policy]:
    """Every known ordering that needs no parameter and no more than this web knows."""
    policies = []
    for name in orderings():
        try:
            policy = parse(name)
            check_needs(policy, web)
        except FrontrankError:
            continue
        policies.append(policy)
    return policies


def as_crawled(web: Web, stop: Stop = ALL) -> Run | None:
    """The crawl that a web was fetched by, if it was: its pages are numbered in the order of fetching."""
    spec = web.crawled_with
    if not spec or web.seeds is None:
        return None
    try:
        with stored_names():
            policy = parse(spec)
    except SpecError:  # not installed here, or not trusted: what it fetched can be judged all the same
        policy = Policy()
    trace = Trace(web.seeds, np.arange(stop.pages(web.pages), dtype=np.int32))
    return Run(policy, trace, None, 0.0, spec, crawled=True)


def order(web: Web, policy: Given, seeds: Seeds = None, budget: Budget = None) -> list[int]:
    """The pages that an ordering fetches, in its order."""
    run = simulate(Web.checked(web), as_policy(policy), find_seeds(web, seeds), budget)
    pages: list[int] = run.trace.order.tolist()
    return pages


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Sequence[Run], Tabular):
    """Crawls of one web from the same seeds, one for each ordering: an experiment of one draw, whose runs are kept."""

    web: Web
    runs: tuple[Run, ...]
    metric: str = "pagerank"  # the importance that pages are judged by
    source: str = ""  # what the web was loaded from
    command: str = ""  # what a person types to get these runs again

    def __str__(self) -> str:
        return str(self.frame())

    def __repr__(self) -> str:
        return f"<Runs of {self.web!r}: {', '.join(run.spec for run in self.runs)}>"

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            for run in self.runs:
                if run.spec == at:
                    return run
            raise KeyError(at)
        return self.runs[at]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __contains__(self, what: object) -> bool:
        return any(what in (run, run.spec) for run in self.runs)

    @property
    def judged(self) -> Judged:
        """The runs as measures see them."""
        return Judged(self.web, self.metric, self.runs)

    def values(self) -> Values:
        """What every measure says of every run."""
        cells = zip((run.spec for run in self.runs), figures_of(self.judged), strict=True)
        return Values(self.web.name, [dict(cells)])

    def about(self) -> dict[str, About]:
        return {run.spec: About(run.trace.ended, run.crawled, "truth" not in run.policy.needs()) for run in self.runs}

    def json(self) -> dict[str, Any]:
        """Shares of hot pages and of the best possible mass at fixed shares of the web, for programs."""
        return json_of(self.values(), self.about(), self.web)

    def frame(self) -> Frame:
        """The same as a table, the best ordering first; orderings that know the importance of pages do not compete."""
        table = table_of(self.values(), self.about(), self.web, self.metric)
        remarks = [line for run in self.runs for line in (*_remarks(run), *trust_of(run.policy).remarks(self.web))]
        return replace(table, notes=(*table.notes, *remarks))

    def save(self, path: str | os.PathLike[str]) -> None:
        """A directory with the orders (.npy), the curves (Parquet), the figures (JSON) and the report."""
        check_runs_target(path)
        with written_beside(path) as folder:
            folder.mkdir()
            self.write(folder)

    def write(self, folder: Path) -> None:
        """All files of ``save``, into a directory that is there."""
        write_runs(self, folder)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Runs:
        """Runs that were saved; the web must still be where it was."""
        return cls(*read_runs(path))

    def report(self, path: str | os.PathLike[str]) -> None:
        """One self-contained HTML page: curves of every ordering against ideal and random, a table, run times."""
        from frontrank.lab.report import write

        write(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The share of hot pages along each crawl, to 30% of the web, as a figure of matplotlib.

        With a path it is also saved, by its ending: .svg, .png or .pdf.
        """
        from frontrank.lab.plot import plot

        return plot(self.curves(), path)

    def curves(self) -> dict[str, Curve]:
        """The share of hot pages along each crawl, the best first."""
        from frontrank.lab.report.comparison import best_first

        best = best_first(self)
        return {run.spec: hot_curve(run.trace, self.web, self.metric) for run in best.runs}


def compare(
    web: Web,
    policies: Given | Iterable[Given],
    seeds: Seeds = None,
    budget: Budget = None,
    metric: str = "pagerank",
    progress: Progress | None = None,
    *,
    source: str = "",
    command: str = "",
    until: str | None = None,
    politeness: Politeness | None = None,
    latency_s: float = 1.0,
    jobs: int | None = None,
) -> Runs:
    """Crawl the web once with each ordering, from the same seeds and with the same budget.

    An ordering is a specification such as ``"fpr:m=100"`` or an object of your own. ``until`` is a stopping rule, such as
    ``"coverage=0.9"`` for rankmass. ``politeness`` gives the crawls a clock (see ``simulate``). ``jobs`` crawls run at a time,
    if not given as many as there are cores and memory for; one alone takes the fewest seconds.
    """
    plan = Plan.of(policies, Stop(budget, until), politeness, latency_s, metric)
    return run_plan(web, plan, seeds, progress, source=source, command=command, jobs=jobs)


def run_plan(
    web: Web,
    plan: Plan,
    seeds: Seeds = None,
    progress: Progress | None = None,
    *,
    source: str = "",
    command: str = "",
    jobs: int | None = None,
) -> Runs:
    """Crawl the web as planned, from the same seeds with each ordering, several at a time."""
    experiment = prepared(web, plan, [seeds], jobs)
    runs = experiment.crawl(experiment.draws[0], progress)
    return Runs(web, tuple(runs), plan.metric, source or web.source, command)


def prepared(web: Web, plan: Plan, draws: Sequence[Seeds], jobs: int | None) -> Experiment:
    """The experiment, if the web knows what the orderings read and there is memory for them."""
    plan.check(Web.checked(web))
    found = [find_seeds(web, seeds) for seeds in draws]
    return Experiment(web, plan, found, fitting_jobs(web, plan, jobs))


def _remarks(run: Run) -> Iterator[str]:
    """What is known of one run alone."""
    fetched = run.trace.fetched
    if run.trace.times is not None and len(run.trace.times):
        clock = float(run.trace.times[-1])
        yield f"{run.spec}: {fetched:,} pages in {clock:,.0f} s of the clock, {fetched / max(clock, 1e-9):,.1f} a second"
    if "coverage" in run.trace.gauges:
        covered = run.trace.gauges["coverage"][-1][1]
        reachable = run.trace.gauges.get("reachable", [(0, 1.0)])[-1][1]  # older saved runs lack it
        lost = "" if reachable > 0.9995 else f" ({reachable:.1%} of all; the rest is lost at pages without links)"
        known = f"the pages fetched hold at least {covered:.1%} of the PageRank that can be reached from the seeds{lost}"
        yield f"{run.spec}: {known}; ended by: {run.trace.ended}"
