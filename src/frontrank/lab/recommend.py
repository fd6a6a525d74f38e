"""recommend: which ordering for this web and this purpose? It is measured over several draws of seeds.

A draw is a set of random seeds; every ordering starts from the same. Orderings whose mean lies within the best one's spread
(standard deviation over the draws) are ties; of these the cheapest is recommended, as the difference may be chance. What is
measured for which purpose: ``purpose``.

Cost: a crawl of a tenth of the web (at most 100,000 pages) for each ordering and draw. A draw that would end more than a
minute after the first is not begun, but there are at least two.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from frontrank.lab.drawn import Drawn
from frontrank.lab.evaluate import score_ranker
from frontrank.lab.experiment import Experiment, Key, Measured, Values, over_draws
from frontrank.lab.frame import Frame, FrameColumn, Tabular
from frontrank.lab.lab_options import RecommendOptions
from frontrank.lab.measures import hot, mass
from frontrank.lab.purpose import (
    CRAWLED,
    FIRST,
    Purpose,
    applicable,
    candidates,
    check_purpose,
    hosts_of,
    query_log,
)
from frontrank.lab.scenario import build_scenario, ranker_of
from frontrank.options import check_options
from frontrank.orderings.registry import parse
from frontrank.simulation.plan import Budget, Plan, Planned, Stop
from frontrank.simulation.side_by_side import Progress
from frontrank.simulation.simulate import Run
from frontrank.sources.imported_crawl import is_crawl_directory
from frontrank.web.seeds import find_seeds
from frontrank.web.view import Workload
from frontrank.web.web import Web

MIN_DRAWS = 2
LIMIT_S = 60.0  # no further draw is begun after that
SHARE, MAX_PAGES = 0.1, 100_000
SEEDS_SHARE, MIN_SEEDS, MAX_SEEDS = 0.001, 10, 1000
REACHED, SECONDS = Key("reached"), Key("seconds")

# What a decision costs: a queue; some work for each link; a cascade, or a pass over all links now and then; a search engine.
QUEUE, LINKS, PASSES, SEARCH = 1, 2, 3, 4
COSTS = {"bfs": QUEUE, "rankmass": PASSES, "surf": PASSES, "pagerank": PASSES, "rw": PASSES, "rw-eg": PASSES}
COSTS |= {"q-overlap": SEARCH, "q-hybrid": SEARCH, "fusion": SEARCH}


@dataclass(frozen=True)
class TriedOrdering:
    """What one ordering reached."""

    spec: str
    reached: Drawn
    seconds: float  # of deciding, on average
    tie: bool = False

    @property
    def cost(self) -> int:
        return COSTS.get(self.spec.partition(":")[0], LINKS)


@dataclass(frozen=True, eq=False)
class Recommendation(Tabular):
    """Orderings tried on one web, best first, and the one to take."""

    web: Web
    purpose: Purpose
    tried: tuple[TriedOrdering, ...]
    left_out: dict[str, str]  # orderings that do not apply, and why
    measured: str
    draws: int
    asked: int  # draws
    seeds: int
    next: tuple[str, ...]  # commands

    @property
    def recommended(self) -> TriedOrdering:
        """Of the ties with the best the cheapest; of equally cheap ones the better."""
        return min((one for one in self.tried if one.tie), key=lambda one: (one.cost, -one.reached.mean))

    def why(self) -> str:
        best, chosen = self.tried[0], self.recommended
        ties = sum(one.tie for one in self.tried)
        if ties == 1:
            second = f", {best.reached.mean - self.tried[1].reached.mean:.3f} above the next" if len(self.tried) > 1 else ""
            return f"best{second}; no other is within its spread"
        if chosen is best:
            return f"best; {ties - 1} more within its spread, none of them cheaper"
        return f"within the spread of the best ({best.spec}), and the cheapest of the {ties} that are"

    def frame(self) -> Frame:
        """The orderings as a table, the best first."""
        web, rows = self.web, self.tried
        hosts = "" if web.hosts is None else f", hosts: {hosts_of(web):,}"
        marks = ["best" if at == 0 else "tie" if one.tie else "" for at, one in enumerate(rows)]
        columns = (
            FrameColumn("ordering", [one.spec for one in rows]),
            FrameColumn.of("reached", [one.reached for one in rows]),
            FrameColumn("verdict", marks),
            FrameColumn("seconds", [one.seconds for one in rows], "seconds", "less"),
        )
        less = f" (not {self.asked}: a minute was up)" if self.draws < self.asked else ""
        notes = [f"reached: {self.measured}; mean and spread over {self.draws} draws{less} of {self.seeds:,} random seeds"]
        notes += ["tie: within the spread of the best", *(f"not tried: {spec}: {why}" for spec, why in self.left_out.items())]
        if web.crawled_with:
            notes.append(f"tried on the pages that {web.crawled_with} fetched: pages it did not fetch cannot be judged")
        knows = ", ".join(known(web)) or "its links alone"
        title = f"{web.name}: {web.pages:,} pages, {web.links:,} links{hosts}; knows {knows}"
        return Frame(columns, title, tuple(notes), sorted_by="reached")

    def json(self) -> dict[str, Any]:
        return {
            "for": str(self.purpose),
            "web": {"pages": self.web.pages, "links": self.web.links, "hosts": hosts_of(self.web), "knows": known(self.web)},
            "measured": self.measured,
            "draws": self.draws,
            "seeds": self.seeds,
            "orderings": {
                one.spec: {
                    "mean": one.reached.mean,
                    "spread": one.reached.spread,
                    "values": list(one.reached.values),
                    "seconds": one.seconds,
                    "tie": one.tie,
                }
                for one in self.tried
            },
            "left_out": self.left_out,
            "recommended": self.recommended.spec,
            "why": self.why(),
            "next": list(self.next),
        }


def known(web: Web) -> list[str]:
    """What a web knows beside its links."""
    found = [
        column for column in ("hosts", "urls", "titles", "texts", "anchors", "seeds", "views", "clicks") if web.has(column)
    ]
    return [*found, "queries"] if web.queries is not None else found


def recommend(
    web: Web,
    purpose: Purpose | str = "importance",
    draws: int = RecommendOptions.draws,
    budget: Budget = None,
    seeds: int | None = None,
    workload: Workload | None = None,
    *,
    progress: Progress | None = None,
    queries: str = "",
    clock: Callable[[], float] = perf_counter,
    policies: Sequence[str] = (),
) -> Recommendation:
    """Try the orderings that this web can feed, and say which to take.

    ``policies`` are tried beside the usual candidates; ``queries`` is how the workload was named.
    """
    purpose = Purpose.of(purpose) if isinstance(purpose, str) else purpose
    check_options(RecommendOptions, draws=draws, seeds=seeds)
    for spec in policies:
        ranker_of(spec)  # a wrong name is refused before the work
    count = seeds if seeds is not None else int(np.clip(web.pages * SEEDS_SHARE, MIN_SEEDS, MAX_SEEDS))
    count = min(count, web.pages)
    if workload is not None:
        web = replace(web, queries=workload)
    check_purpose(web, purpose)
    pages = min(MAX_PAGES, Stop(SHARE).pages(web.pages)) if budget is None else Stop(budget).pages(web.pages)
    specs, left_out = applicable(web, purpose, (*candidates(web, purpose, pages), *policies))
    drawn = [f"random:{count}@{draw}" for draw in range(1, draws + 1)]
    watched: dict[str, Any] = {"progress": progress, "enough": _time_is_up(clock)}
    if purpose.name == "searchers":
        values = _rankings(web, specs, drawn, **watched)
    else:
        values = _crawls(web, purpose, specs, drawn, pages, **watched)
    measured = purpose.measured(web, pages)
    done = Recommendation(web, purpose, ranked(values), left_out, measured, len(values.draws), draws, count, ())
    return replace(done, next=tuple(_next(done, count, pages, queries)))


def _time_is_up(clock: Callable[[], float]) -> Callable[[int], bool]:
    """Whether a further draw would end too late, by how long the draws took after the first."""
    first_ended = 0.0

    def enough(draws: int) -> bool:
        nonlocal first_ended
        if draws == 1:
            first_ended = clock()  # the first draw also compiles kernels and computes importance
            return False
        return draws >= MIN_DRAWS and (clock() - first_ended) * draws / (draws - 1) > LIMIT_S

    return enough


def _crawls(web: Web, purpose: Purpose, specs: list[str], draws: list[str], pages: int, **watched: Any) -> Values:
    """Every ordering crawls the web."""

    def measure(runs: list[Run]) -> Iterator[Measured]:
        return ({REACHED: _reached(web, purpose, run, pages), SECONDS: run.seconds} for run in runs)

    plan = Plan(tuple(Planned(spec, parse(spec)) for spec in specs), Stop(pages))
    return Experiment(web, plan, [find_seeds(web, draw) for draw in draws]).values(measure, **watched)


def _reached(web: Web, purpose: Purpose, run: Run, pages: int) -> float:
    if purpose.name == "coverage":
        return float(run.trace.gauges["coverage"][-1][1])
    share = pages / web.pages
    if purpose.name == "importance":
        reached = hot(run.trace, web, [share])[share]
    else:
        reached = mass(run.trace, web, [share], purpose.metric)[share]
    assert reached is not None, f"{run.spec} stopped by itself"
    return reached


def _rankings(web: Web, specs: list[str], draws: list[str], **watched: Any) -> Values:
    """Every ordering ranks the frontier of a crawl by bfs."""

    def attempt(seeds: str, tell: Progress) -> Iterator[tuple[str, Measured]]:
        scenario = build_scenario(web, query_log(web), f"bfs:{CRAWLED}", seeds)
        for at, spec in enumerate(specs):
            tell(spec, at, len(specs))
            found = score_ranker(scenario, ranker_of(spec), spec, (FIRST,))
            yield spec, {REACHED: found.impact[FIRST], SECONDS: found.seconds}

    return over_draws(web, draws, attempt, **watched)


def ranked(values: Values) -> tuple[TriedOrdering, ...]:
    """The best first; those within its spread are ties."""
    rows = []
    for spec in values.orderings:
        reached, seconds = values.drawn(spec, REACHED), values.drawn(spec, SECONDS)
        assert reached is not None and seconds is not None
        rows.append(TriedOrdering(spec, reached, seconds.mean))
    rows.sort(key=lambda one: -one.reached.mean)
    best = rows[0].reached
    return tuple(replace(one, tie=best.mean - one.reached.mean <= best.spread) for one in rows)


def _next(done: Recommendation, seeds: int, pages: int, queries: str) -> Iterator[str]:
    """What to type next, as it can be pasted."""
    web, spec = done.web, done.recommended.spec
    source = web.source or web.name
    if web.crawled_with and done.purpose.name != "searchers":
        yield shlex.join(["frontrank", "crawl", "--resume", source, "--ordering", spec, "--rescore"])
    elif done.purpose.name == "searchers" and (web.crawled_with or is_crawl_directory(web.source)):
        yield shlex.join(["frontrank", "rank", source, "--ordering", spec])
    elif done.purpose.name == "searchers":
        log = ["--queries", queries] if queries else []
        yield shlex.join(["frontrank", "evaluate", source, *log, "--seeds", f"random:{seeds}@1", "--ordering", spec])
    else:
        more = ["--metric", done.purpose.metric] if done.purpose.metric != "pagerank" else []
        against = [] if spec == "bfs" or done.purpose.name == "coverage" else ["--ordering", "bfs"]
        given = ["--ordering", spec, *against, "--seeds", f"random:{seeds}@1", "--budget", str(pages), *more]
        yield shlex.join(["frontrank", "simulate", source, *given])
    if not web.crawled_with and done.purpose.name != "searchers":
        yield shlex.join(["frontrank", "crawl", "https://site.example/", "--ordering", spec, "--out", "my-crawl"])
