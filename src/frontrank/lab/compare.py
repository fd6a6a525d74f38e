"""compare: several orderings on one web, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import FrontrankError, InputError, SpecError, need
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy, orderings, parse
from frontrank.orderings.stored import from_data, to_data
from frontrank.simulation.engine import check_needs
from frontrank.simulation.plan import ALL, Budget, Given, Plan, Stop
from frontrank.simulation.simulate import Run, simulate
from frontrank.simulation.trace import Trace
from frontrank.web.files import check_target, written_beside
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

SAVED = "runs.json"
Seeds = str | os.PathLike[str] | Iterable[int | str] | None
Progress = Callable[[str, int, int], None]


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


def save_order(web: Web, trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the source's node ids in fetch order, int64."""
    check_target(path)
    with written_beside(path) as beside, open(beside, "wb") as file:
        np.save(file, web.ids_of(trace.order))


def check_runs_target(path: str | os.PathLike[str]) -> None:
    """Raise InputError if no runs can be saved there: to be asked before they are run."""
    need("jinja2", "plotly", "pyarrow")
    check_target(path, is_saved, "saved runs")


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a directory holds runs that were saved."""
    return (Path(path) / SAVED).is_file()


def as_crawled(web: Web, stop: Stop = ALL) -> Run | None:
    """The crawl that a web was fetched by, if it was: its pages are numbered in the order of fetching."""
    spec = web.crawled_with
    if not spec or web.seeds is None:
        return None
    try:
        policy = parse(spec)
    except SpecError:  # of a package that is not installed here: what it fetched can be judged all the same
        policy = Policy()
    trace = Trace(web.seeds, np.arange(stop.pages(web.pages), dtype=np.int32))
    return Run(policy, trace, None, 0.0, f"{spec} (crawled)")


def order(web: Web, policy: Given, seeds: Seeds = None, budget: Budget = None) -> list[int]:
    """The pages that an ordering fetches, in its order."""
    run = simulate(web, as_policy(policy), find_seeds(web, seeds), budget)
    pages: list[int] = run.trace.order.tolist()
    return pages


@dataclass(frozen=True, eq=False)
class Runs(Sequence[Run]):
    """Crawls of one web from the same seeds, one for each ordering."""

    web: Web
    runs: tuple[Run, ...]
    metric: str = "pagerank"  # the importance that pages are judged by
    source: str = ""  # what the web was loaded from
    command: str = ""  # what a person types to get these runs again

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

    def json(self) -> dict[str, Any]:
        """Shares of hot pages and of the best possible mass at fixed shares of the web, for programs."""
        from frontrank.lab.measures import SHARES, hot, mass

        def at_shares(values: dict[float, float | None]) -> dict[str, float | None]:
            return {f"{share:g}": value for share, value in values.items()}

        return {
            "policies": {
                run.spec: {
                    "hot": at_shares(hot(run.trace, self.web, SHARES, self.metric)),
                    "mass": at_shares(mass(run.trace, self.web, SHARES, self.metric)),
                    "fetched": run.trace.fetched,
                    "seconds": run.seconds,
                    "ended": run.trace.ended,
                    **({} if run.trace.times is None else {"clock_s": float(run.trace.times[-1])}),
                    **{name: values[-1][1] for name, values in run.trace.gauges.items()},
                }
                for run in self.runs
            },
            "web": {"pages": self.web.pages, "links": self.web.links},
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """A directory with the orders (.npy), the curves (Parquet), the figures (JSON) and the report."""
        check_runs_target(path)
        with written_beside(path) as made:
            made.mkdir()
            self.write(made)

    def write(self, folder: Path) -> None:
        """All files of ``save``, into a directory that is there."""
        for at, run in enumerate(self.runs):
            save_order(self.web, run.trace, folder / f"order-{at}.npy")
        np.save(folder / "seeds.npy", self.web.ids_of(self.runs[0].trace.seeds))
        self._save_curves(folder / "curves.parquet")
        (folder / SAVED).write_text(json.dumps(self._record(), indent=2), encoding="utf-8")
        self.report(folder / "report.html")

    def _record(self) -> dict[str, Any]:
        runs = [
            {
                "spec": run.spec,
                "policy": run.policy.spec(),
                "ordering": to_data(run.policy),
                "seconds": run.seconds,
                "ended": run.trace.ended,
                "gauges": run.trace.gauges,
            }
            for run in self.runs
        ]
        source = self.source if self.source.startswith("synthetic:") else os.path.abspath(self.source)
        return {"source": source, "metric": self.metric, "command": self.command, "runs": runs, **self.json()}

    def _save_curves(self, path: Path) -> None:
        need("pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        from frontrank.lab.measures import hot_curve, mass_curve

        rows: dict[str, list[Any]] = {"policy": [], "measure": [], "share": [], "value": []}
        for run in self.runs:
            for measure, curve in (
                ("hot", hot_curve(run.trace, self.web, self.metric)),
                ("mass", mass_curve(run.trace, self.web, self.metric)),
            ):
                rows["policy"] += [run.spec] * len(curve.x)
                rows["measure"] += [measure] * len(curve.x)
                rows["share"] += curve.x.tolist()
                rows["value"] += curve.y.tolist()
        pq.write_table(pa.table(rows), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Runs:
        """Runs that were saved; the web must still be where it was."""
        from frontrank.sources import load

        try:
            record = json.loads((Path(path) / SAVED).read_text(encoding="utf-8"))
            web = load(record["source"])
            seeds = find_seeds(web, np.load(Path(path) / "seeds.npy").tolist())
            runs = []
            for at, one in enumerate(record["runs"]):
                ids = np.load(Path(path) / f"order-{at}.npy").tolist()
                order = np.array([web.page_of(str(page)) for page in ids], np.int32)
                trace = Trace(seeds, order, one["ended"], one["gauges"])
                policy = as_policy(from_data(one["ordering"]) if "ordering" in one else one["policy"])
                runs.append(Run(policy, trace, None, one["seconds"], one["spec"]))
        except (OSError, ValueError, KeyError) as error:
            raise InputError(f"{os.fspath(path)}: the saved runs cannot be read ({error})") from None
        return cls(web, tuple(runs), record["metric"], record["source"], record["command"])

    def report(self, path: str | os.PathLike[str]) -> None:
        """One self-contained HTML page: curves of every ordering against ideal and random, a table, run times."""
        from frontrank.lab.report import write

        write(self, path)


def compare(
    web: Web,
    policies: Given | Iterable[Given],
    seeds: Seeds = None,
    budget: Budget = None,
    metric: str = "pagerank",
    progress: Progress | None = None,
    source: str = "",
    command: str = "",
    until: str | None = None,
    politeness: Politeness | None = None,
    latency_s: float = 1.0,
) -> Runs:
    """Crawl the web once with each ordering, from the same seeds and with the same budget.

    An ordering is a specification such as ``"fpr:m=100"`` or an object of your own. ``until`` is a stopping rule, such as
    ``"coverage=0.9"`` for rankmass. ``politeness`` gives the crawls a clock (see ``simulate``).
    """
    plan = Plan.of(policies, Stop(budget, until), politeness, latency_s, metric)
    return carry_out(web, plan, seeds, progress, source, command)


def carry_out(
    web: Web,
    plan: Plan,
    seeds: Seeds = None,
    progress: Progress | None = None,
    source: str = "",
    command: str = "",
) -> Runs:
    """Crawl the web as planned, from the same seeds with each ordering."""
    plan.check(web)
    pages = find_seeds(web, seeds)
    runs = []
    for spec, policy in plan.orderings:
        tell = None if progress is None else partial(progress, spec)
        run = simulate(web, policy, pages, plan.stop, tell, politeness=plan.politeness, latency_s=plan.latency_s)
        runs.append(replace(run, given=spec))
    return Runs(web, tuple(runs), plan.metric, source or web.source, command)
