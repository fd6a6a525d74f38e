"""compare: several orderings on one web, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.errors import FrontrankError, InputError, NotTrusted, SpecError, need
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.threads import cores
from frontrank.lab.frame import Column, Frame, Tabular, check_table_target, write_table
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import as_policy, orderings, parse
from frontrank.orderings.stored import from_data, stored_names, to_data
from frontrank.orderings.trust import trust_of
from frontrank.simulation.engine import check_needs
from frontrank.simulation.plan import ALL, Budget, Given, Plan, Stop
from frontrank.simulation.side_by_side import simulate_all
from frontrank.simulation.simulate import Run, simulate
from frontrank.simulation.trace import Trace
from frontrank.system.capacity import SMALL, free_memory, gb
from frontrank.system.files import check_target, written_beside
from frontrank.web.importance import importance, parse_metric
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

SAVED = "runs.json"
MEASURED = {"hot": "hot pages found after", "mass": "of the best possible mass after"}
OF_SCORES = {  # more of them, where pages are judged by a scorer
    "harvest": "mean score after",
    "distinct": "of the best possible, distinct texts, after",
    "ndcg": "of the ideal DCG after",
    "gap": "of the way from bfs to the oracle after",
}
SHOWN = ("0.05", "0.1", "0.2", "0.3", "0.5")  # shares of the web that people are shown
PLAIN = ("fetched", "seconds", "ended", "crawled", "spread")
MEANING = (
    "hot@10%: share of the 10% most important pages among the first 10% fetched; mass@10%: share of the best possible "
    "importance fetched by then"
)
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
    """Write the source's node ids in fetch order by the ending of the path: .npy (int64), or a table, with URLs if known."""
    ids = web.ids_of(trace.order)
    if check_order_target(path) == ".npy":
        with written_beside(path) as beside, open(beside, "wb") as file:
            np.save(file, ids)
        return
    urls = () if web.urls is None else (Column("url", [web.urls[page] for page in trace.order.tolist()]),)
    write_table(Frame((Column("id", ids.tolist(), "count"), *urls)), path)


def check_order_target(path: str | os.PathLike[str]) -> str:
    """The ending that says how an order is written; InputError if it cannot be."""
    return check_table_target(path, ".npy")


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
    """Crawls of one web from the same seeds, one for each ordering."""

    web: Web
    runs: tuple[Run, ...]
    metric: str = "pagerank"  # the importance that pages are judged by
    source: str = ""  # what the web was loaded from
    command: str = ""  # what a person types to get these runs again

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

    def json(self) -> dict[str, Any]:
        """Shares of hot pages and of the best possible mass at fixed shares of the web, for programs."""
        from frontrank.lab.measures import SHARES, hot, mass

        def at_shares(values: Mapping[float, float | None]) -> dict[str, float | None]:
            return {f"{share:g}": value for share, value in values.items()}

        scored = self._by_scores()
        return {
            "policies": {
                run.spec: {
                    "hot": at_shares(hot(run.trace, self.web, SHARES, self.metric)),
                    "mass": at_shares(mass(run.trace, self.web, SHARES, self.metric)),
                    **{measure: at_shares(values) for measure, values in scored.get(run.spec, {}).items()},
                    "fetched": run.trace.fetched,
                    "seconds": run.seconds,
                    "ended": run.trace.ended,
                    **({"crawled": True} if run.crawled else {}),
                    **({} if run.trace.times is None else {"clock_s": float(run.trace.times[-1])}),
                    **{name: values[-1][1] for name, values in run.trace.gauges.items()},
                }
                for run in self.runs
            },
            "web": {"pages": self.web.pages, "links": self.web.links},
        }

    def _by_scores(self) -> dict[str, dict[str, dict[float, float | None]]]:
        """What else there is to measure where pages are judged by a scorer, by ordering and measure."""
        from frontrank.lab.measures import SHARES, distinct, gap, harvest, mass, max_ndcg

        metric, web = self.metric, self.web
        (_, first), *more = parse_metric(metric)
        if more or first.name != "quality":
            return {}
        made: dict[str, dict[str, dict[float, float | None]]] = {}
        masses = {run.spec: mass(run.trace, web, SHARES, metric) for run in self.runs}
        oracle = next((run.spec for run in self.runs if _is_oracle(run, metric)), None)
        for run in self.runs:
            measures = {"harvest": harvest, "distinct": distinct}
            made[run.spec] = {name: measure(run.trace, web, SHARES, metric) for name, measure in measures.items()}
            if first.given.get("scorer", "").startswith("topic:"):
                made[run.spec]["ndcg"] = max_ndcg(run.trace, web, [importance(web, metric)])
            if oracle is not None and "bfs" in masses:
                reached, low, high = masses[run.spec], masses["bfs"], masses[oracle]
                made[run.spec]["gap"] = {share: gap(reached[share], low[share], high[share]) for share in SHARES}
        return made

    def frame(self) -> Frame:
        """The same as a table, the best ordering first; orderings that are told the truth do not compete."""
        told = {run.spec for run in self.runs if "truth" in run.policy.needs()}
        made = frame_of(self.json(), self.web, self.metric, told)
        said = [line for run in self.runs for line in (*_said(run), *trust_of(run.policy).remarks(self.web))]
        return replace(made, notes=(*made.notes, *said))

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
                "spec": run.given or run.policy.spec(),
                "policy": run.policy.spec(),
                "ordering": to_data(run.policy),
                "crawled": run.crawled,
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

        if not is_saved(path):
            raise InputError(
                f"{os.fspath(path)}: no saved runs ({SAVED} is missing); name a directory that simulate --out wrote"
            )
        try:
            record = json.loads((Path(path) / SAVED).read_text(encoding="utf-8"))
            web = load(record["source"])
            seeds = find_seeds(web, np.load(Path(path) / "seeds.npy").tolist())
            runs = []
            for at, one in enumerate(record["runs"]):
                ids = np.load(Path(path) / f"order-{at}.npy").tolist()
                order = np.array([web.page_of(str(page)) for page in ids], np.int32)
                trace = Trace(seeds, order, one["ended"], one["gauges"])
                with stored_names():
                    policy = as_policy(from_data(one["ordering"]) if "ordering" in one else one["policy"])
                given = one["spec"].removesuffix(" (crawled)")  # older ones said it there alone
                crawled = one.get("crawled", given != one["spec"])
                runs.append(Run(policy, trace, None, one["seconds"], given, crawled))
            with stored_names():
                parse_metric(record["metric"])
        except NotTrusted as error:
            raise NotTrusted(f"{os.fspath(path)}: these runs were {error}") from None
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
    jobs: int | None = None,
) -> Runs:
    """Crawl the web once with each ordering, from the same seeds and with the same budget.

    An ordering is a specification such as ``"fpr:m=100"`` or an object of your own. ``until`` is a stopping rule, such as
    ``"coverage=0.9"`` for rankmass. ``politeness`` gives the crawls a clock (see ``simulate``). ``jobs`` crawls run at a time,
    if not given as many as there are cores and memory for; one alone takes the fewest seconds.
    """
    plan = Plan.of(policies, Stop(budget, until), politeness, latency_s, metric)
    return carry_out(web, plan, seeds, progress, source, command, jobs)


def carry_out(
    web: Web,
    plan: Plan,
    seeds: Seeds = None,
    progress: Progress | None = None,
    source: str = "",
    command: str = "",
    jobs: int | None = None,
) -> Runs:
    """Crawl the web as planned, from the same seeds with each ordering, several at a time."""
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs must be at least 1, got {jobs!r}")
    plan.check(Web.checked(web))
    pages = find_seeds(web, seeds)
    runs = simulate_all(web, plan, pages, progress, fitting_jobs(web, plan, jobs))
    return Runs(web, tuple(runs), plan.metric, source or web.source, command)


def fitting_jobs(web: Web, plan: Plan, asked: int | None = None) -> int:
    """How many crawls run at a time: as many as are asked for, else as there are cores and memory for.

    InputError if one of them alone, or so many as are asked for, take more memory than there is: said before the work.
    """
    needed = {one.spec: one.policy.bytes_for(web.pages, web.links) for one in plan.orderings}
    most = sorted(needed.values(), reverse=True)
    asked = None if asked is None else min(asked, len(plan.orderings))
    free = free_memory() if sum(most) > SMALL else None
    if free is None:
        return min(cores(), len(most)) if asked is None else asked
    if most[0] > free:
        large = ", ".join(f"{spec} {gb(size)}" for spec, size in needed.items() if size > free)
        small = [spec for spec, size in needed.items() if size <= free]
        instead = f"free some memory, or take a web of {max(free, 0) * web.pages // most[0]:,} pages"
        if small:
            instead = f"drop what does not fit; these do: {', '.join(small)}"
        raise InputError(
            f"simulating {web.pages:,} pages of {web.name} takes {large} of memory, and {gb(free)} are free; {instead}"
        )
    if asked is not None and sum(most[:asked]) > free:
        fit = next(jobs for jobs in range(asked - 1, 0, -1) if sum(most[:jobs]) <= free)
        raise InputError(
            f"{asked} crawls at a time take {gb(sum(most[:asked]))} of memory, and {gb(free)} are free; give --jobs {fit}"
        )
    return max(1, min(cores(), len(most), free // most[0])) if asked is None else asked


def frame_of(figures: dict[str, Any], web: Web, metric: str, told: Collection[str] = ()) -> Frame:
    """Figures of orderings, as ``Runs.json`` gives them, as a table. Those of ``told`` knew the answer, and do not compete."""
    policies: dict[str, dict[str, Any]] = figures["policies"]
    values = list(policies.values())

    def column(name: str, *path: str, **looks: Any) -> Column:
        held = [_dig(value, *path) for value in values]
        spread = [_dig(value, "spread", *path) for value in values]
        return Column(name, held, spread=spread if any(sd is not None for sd in spread) else None, **looks)

    columns = [Column("ordering", list(policies))]
    for measure, group in MEASURED.items():
        for share in values[0][measure]:
            name = f"{float(share):.0%}"
            looks: dict[str, Any] = {"kind": "share", "better": "more", "group": group, "short": name}
            columns.append(column(f"{measure}@{name}", measure, share, detail=share not in SHOWN, **looks))
    for measure in OF_SCORES:
        for share in values[0].get(measure, ()):
            columns.append(column(f"{measure}@{float(share):.0%}", measure, share, kind="share", detail=True))
    columns.append(column("fetched", "fetched", kind="count"))
    deciding = column("seconds", "seconds", kind="seconds", better="less")
    real = [bool(value.get("crawled")) for value in values]  # their seconds are those of HTTP
    columns.append(replace(deciding, values=[None if real[i] else v for i, v in enumerate(deciding.values)]))
    columns.append(column("ended", "ended", detail=True))
    known = {key: None for value in values for key in value if key not in (*MEASURED, *OF_SCORES, *PLAIN)}
    columns += [column(key, key, kind="number", detail=True) for key in known]
    outside = frozenset(i for i, spec in enumerate(policies) if spec in told)
    notes = (f"{MEANING}; importance: {metric}", *_gaps(policies, outside))
    title = f"{web.name}: {web.pages:,} pages, {web.links:,} links"
    return Frame(tuple(columns), title, notes, outside).sorted("hot@10%", *(column.name for column in columns[1:7]))


def _is_oracle(run: Run, metric: str) -> bool:
    """Whether it goes by the very importance that it is judged by."""
    return "truth" in run.policy.needs() and parse_metric(getattr(run.policy, "truth", "")) == parse_metric(metric)


def _gaps(policies: Mapping[str, Any], outside: Collection[int]) -> Iterator[str]:
    """How much of what could be won over bfs each ordering has won."""
    for at, (spec, value) in enumerate(policies.items()):
        known = [f"{gap:.0%} at {float(share):.0%}" for share, gap in value.get("gap", {}).items() if gap is not None]
        if known and spec != "bfs" and at not in outside:
            yield f"{spec}: from bfs to the oracle {', '.join(known)} of the web"


def _said(run: Run) -> Iterator[str]:
    """What is known of one run alone."""
    fetched = run.trace.fetched
    if run.trace.times is not None and len(run.trace.times):
        clock = float(run.trace.times[-1])
        yield f"{run.spec}: {fetched:,} pages in {clock:,.0f} s of the clock, {fetched / max(clock, 1e-9):,.1f} a second"
    if "coverage" in run.trace.gauges:
        covered = run.trace.gauges["coverage"][-1][1]
        most = run.trace.gauges.get("reachable", [(0, 1.0)])[-1][1]  # runs saved earlier do not tell
        leak = "" if most > 0.9995 else f"; a share of the {most:.1%} that can be, pages without links keep the rest"
        yield f"{run.spec}: at least {covered:.1%} of the personalised PageRank mass is covered ({run.trace.ended}){leak}"


def _dig(value: Any, *path: str) -> Any:
    for key in path:
        value = None if value is None else value.get(key)
    return value
