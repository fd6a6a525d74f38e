"""A contest: one web, its seeds, the worth of its pages, and how far each ordering gets.

An ordering's figure is the mean of a curve from 1% to half of the web: ``mass``, the worth gathered over the maximum for as
many pages, and ``hot``, how many of the first k are among the k best; both for every draw of seeds.

    worth       by                                                                where
    importance  PageRank of the whole web                                         every web
    impact      clicks or views, or what a query log would show                   webs that know them, or are given the log
    quality     the scorer `words`                                                webs with texts

Who runs: every registered ordering that needs no parameter, and the ``VARIANTS``. Those that rank the whole frontier now and
then do so ``RANKINGS`` times in a crawl of the whole web; those that search or learn, which costs far more, ``RARE`` times.
Cost is the CPU time of deciding, as a multiple of that of breadth-first from the same seeds: the lowest of the draws, and of
several runs where a run is short. CPU time, since wall-clock time on a shared machine says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from frontrank.errors import FrontrankError, InputError
from frontrank.lab.drawn import Drawn
from frontrank.lab.experiment import Experiment, Key, Measured, Values
from frontrank.lab.frame import Frame, FrameColumn
from frontrank.lab.measures import hot, mass
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import Periodic
from frontrank.orderings.registry import as_policy, orderings, parse
from frontrank.search.divided import Divided
from frontrank.search.observe import truth
from frontrank.simulation.graph_driver import check_needs
from frontrank.simulation.plan import Plan, Planned, Stop
from frontrank.simulation.side_by_side import Progress
from frontrank.simulation.simulate import Run, simulate
from frontrank.specs import split
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

VARIANTS = ("opic:start=all", "fica:alpha=0.3", "fpr:m=10", "fpr:m=100", "rankmass:window=0.05", "rw-eg:omega=0.3")
RANKINGS, RARE = 100, 20
EARLY = (0.02, 0.05)  # of the web: where a trap shows first
SHORT_S, AGAIN = 0.05, 5  # a run shorter than this is timed so often
UNIT = "bfs"
PROCESSOR = Key("processor_s")


@dataclass(frozen=True)
class Contest:
    """One web, the seeds that crawls start from, and what its pages are worth."""

    web: str
    seeds: str
    worth: str  # importance, impact or quality
    pages: int
    values: Values
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.web}, {self.seeds}, {self.worth}"

    @property
    def orderings(self) -> list[str]:
        return self.values.orderings

    def drawn(self, ordering: str, measure: str = "mass") -> Drawn:
        """The mean of a curve, in each draw."""
        drawn = self.values.drawn(ordering, Key(measure, None, self.worth))
        assert drawn is not None
        return drawn

    def mean(self, ordering: str, measure: str = "mass") -> float:
        return self.drawn(ordering, measure).mean

    def early(self, ordering: str) -> list[float | None]:
        """The mean mass at each of ``EARLY``; None where a crawl was not as long."""
        drawn = (self.values.drawn(ordering, Key("mass", share, self.worth)) for share in EARLY)
        return [None if one is None else one.mean for one in drawn]

    def draws(self, ordering: str) -> list[list[object]]:
        """Mass, hot, seconds of the processor and early mass of every draw."""
        keys = (Key("mass", None, self.worth), Key("hot", None, self.worth), PROCESSOR)
        cells = (draw[ordering] for draw in self.values.draws)
        return [[*(one[key] for key in keys), [one[Key("mass", share, self.worth)] for share in EARLY]] for one in cells]

    def cost(self, ordering: str) -> float | None:
        """The processor's time, in times of breadth-first's."""
        unit, own = (self._least_s(name) for name in (UNIT, ordering))
        return own / unit if unit and own is not None else None

    def _least_s(self, ordering: str) -> float | None:
        drawn = self.values.drawn(ordering, PROCESSOR) if ordering in self.orderings else None
        return None if drawn is None else min(drawn.values)

    def ranked(self) -> list[str]:
        """The orderings by mass, the best first."""
        return sorted(self.orderings, key=lambda ordering: -self.mean(ordering))

    def place(self, ordering: str) -> float:
        """As a share of those who ran: 0 is the first, 1 the last."""
        return self.ranked().index(ordering) / max(1, len(self.orderings) - 1)

    def frame(self) -> Frame:
        rows = self.ranked()
        early = [self.early(ordering) for ordering in rows]
        columns = (
            FrameColumn("ordering", rows),
            *(FrameColumn.of(measure, [self.drawn(ordering, measure) for ordering in rows]) for measure in ("mass", "hot")),
            *(
                FrameColumn(f"mass at {share:.0%}", [values[at] for values in early], "share", "more")
                for at, share in enumerate(EARLY)
            ),
            FrameColumn("times bfs", [self.cost(ordering) for ordering in rows], "number", "less"),
        )
        return Frame(columns, self.name, tuple(_grouped(self.left_out)), sorted_by="mass")


def _grouped(left_out: dict[str, str]) -> list[str]:
    """Who was left out, in one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for ordering, why in left_out.items():
        reasons.setdefault(why, []).append(ordering)
    return [f"left out: {', '.join(names)}: {why}" for why, names in reasons.items()]


def usual_orderings() -> list[str]:
    """Every ordering that runs without parameters and does not know the truth, and the variants."""
    names = []
    for name in orderings():
        try:
            policy = parse(name)
        except FrontrankError:
            continue
        if "truth" not in policy.needs():
            names.append(name)
    return [*names, *VARIANTS]


def policy_for(ordering: str, pages: int) -> Policy:
    """The policy; if it ranks now and then, as often as is usual here unless a person says how often."""
    policy = as_policy(ordering)
    if not isinstance(policy, Periodic) or "every" in split(ordering)[1]:
        return policy
    times = RARE if policy.needs() & {"queries", "history"} else RANKINGS
    return replace(policy, every=max(1, pages // times))


def importance_metrics(web: Web) -> dict[str, str]:
    """What pages can be worth here: a name, and the metric."""
    known = {"importance": "pagerank"}
    if web.has("clicks") or web.has("views"):
        known["impact"] = "clicks" if web.has("clicks") else "views"
    if web.has("texts"):
        known["quality"] = "quality:scorer=words"
    return known


def seen_and_judged(web: Web, log: Divided | None) -> tuple[Web, Web]:
    """The web that orderings see, and the one that they are judged by.

    Where a web knows no clicks and no views, one half of a query log drives, and what the other half would be shown if all
    pages were fetched is what pages are worth: no ordering sees that.
    """
    known = importance_metrics(web).get("impact")
    seen = web if known is None else web.by_impact(known)
    if log is None or web.urls is None or web.texts is None:
        return seen, seen
    driven = replace(seen, queries=log.driving)
    return driven, seen if known is not None else replace(seen, views=truth(web, log.judging))


def contests(
    web: Web, log: Divided | None, seeds: str, wanted: Sequence[str], draws: int, budget: float, *, progress: Progress
) -> list[Contest]:
    """One contest for each worth; a crawl does not depend on it, so each is made once."""
    seen, judged = seen_and_judged(web, log)
    metrics = importance_metrics(judged)
    planned, left_out = _applicable(seen, wanted)

    def measure(runs: list[Run]) -> Iterator[Measured]:
        for run in runs:
            cells: dict[Key, float | None] = {PROCESSOR: _processor_s(seen, run, budget)}
            for worth, metric in metrics.items():
                cells |= _figures(judged, run, worth, metric, budget)
            yield cells

    def tell(text: str, done: int, total: int) -> None:
        progress(f"{web.name}, {seeds}: {text}", done, total)

    drawn = [f"{seeds}@{draw}" for draw in range(draws)] if seeds.startswith("random:") else [seeds]
    experiment = Experiment(seen, Plan(planned, Stop(budget)), [find_seeds(seen, one) for one in drawn])
    values = experiment.values(measure, tell)
    return [Contest(web.name, seeds, worth, web.pages, values, left_out) for worth in metrics]


def _applicable(web: Web, wanted: Sequence[str]) -> tuple[tuple[Planned, ...], dict[str, str]]:
    """The orderings that this web can feed, and why the others are left out."""
    planned, left_out = [], {}
    for ordering in wanted:
        policy = policy_for(ordering, web.pages)
        try:
            check_needs(policy, web)
        except InputError as error:
            left_out[ordering] = str(error).partition(";")[0].partition(" needs ")[2] or str(error)
            continue
        planned.append(Planned(ordering, policy))
    return tuple(planned), left_out


def _processor_s(web: Web, run: Run, budget: float) -> float:
    """The lowest CPU time of a run."""
    shortest = run.processor_s
    for _ in range(AGAIN - 1 if shortest < SHORT_S else 0):
        shortest = min(shortest, simulate(web, run.policy, run.trace.seeds, budget).processor_s)
    return shortest


def _figures(web: Web, run: Run, worth: str, metric: str, budget: float) -> dict[Key, float | None]:
    shares = [percent / 100 for percent in range(1, round(100 * budget) + 1)] or [budget]
    cells: dict[Key, float | None] = {}
    for name, measure in (("mass", mass), ("hot", hot)):
        values = measure(run.trace, web, shares, metric).values()
        cells[Key(name, None, worth)] = fmean(value for value in values if value is not None)
    return cells | {Key("mass", share, worth): value for share, value in mass(run.trace, web, EARLY, metric).items()}
