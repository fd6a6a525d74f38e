"""A contest: one web, its seeds, what pages are worth there, and how far each ordering gets.

An ordering's figure is the mean of a curve from 1% to half of the web: ``mass``, the worth gathered over the most that as
many pages can have, and ``hot``, how many of the first k are among the k best; both for every draw of seeds.

    worth       by                                                                where
    importance  PageRank of the whole web                                         every web
    impact      clicks or views, or what a query log would show                   webs that know them, or are given the log
    quality     the scorer `words`                                                webs with texts

Who runs: every registered ordering that needs no parameter, and the ``VARIANTS``. Those that rank the whole frontier now and
then do so ``RANKINGS`` times in a crawl of the whole web; those that search or learn, which costs far more, ``RARE`` times.
Cost is the processor's time of deciding, in times of breadth-first's from the same seeds: the least of the draws, and where a
run is short of several, as seconds on the clock of a shared machine say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import NamedTuple

from frontrank.errors import FrontrankError, InputError
from frontrank.lab.frame import Column, Frame
from frontrank.lab.measures.stop import hot, mass
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import Periodic
from frontrank.orderings.registry import as_policy, orderings, parse
from frontrank.search.divided import Divided
from frontrank.search.observe import truth
from frontrank.simulation.engine import check_needs
from frontrank.simulation.simulate import Run, simulate
from frontrank.specs import split
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

Progress = Callable[[str, int, int], None]

VARIANTS = ("opic:start=all", "fica:alpha=0.3", "fpr:m=10", "fpr:m=100", "rankmass:window=0.05", "rw-eg:omega=0.3")
RANKINGS, RARE = 100, 20
EARLY = (0.02, 0.05)  # of the web: where a trap shows first
SHORT_S, AGAIN = 0.05, 5  # a run shorter than this is timed so often
UNIT = "bfs"


class Figures(NamedTuple):
    """What one ordering did in one draw."""

    mass: float
    hot: float
    processor_s: float
    early: tuple[float | None, ...] = ()  # mass at EARLY; None where the crawl was not as long


@dataclass(frozen=True)
class Contest:
    """One web, the seeds that crawls start from, and what its pages are worth."""

    web: str
    seeds: str
    worth: str  # importance, impact or quality
    pages: int
    figures: dict[str, list[Figures]] = field(default_factory=dict)  # of each ordering, a draw each
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.web}, {self.seeds}, {self.worth}"

    def drawn(self, ordering: str, of: int = 0) -> list[float]:
        return [float(draw[of]) for draw in self.figures[ordering]]  # type: ignore[arg-type]

    def mean(self, ordering: str, of: int = 0) -> float:
        return fmean(self.drawn(ordering, of))

    def spread(self, ordering: str, of: int = 0) -> float:
        return spread(self.drawn(ordering, of))

    def early(self, ordering: str) -> list[float | None]:
        """The mean mass at each of ``EARLY``."""
        draws = zip(*(draw.early for draw in self.figures[ordering]), strict=True)
        return [None if None in values else fmean(value for value in values if value is not None) for values in draws]

    def cost(self, ordering: str) -> float | None:
        """The processor's time, in times of breadth-first's."""
        if UNIT not in self.figures:
            return None
        least = min(self.drawn(UNIT, 2))
        return min(self.drawn(ordering, 2)) / least if least > 0 else None

    def ranked(self) -> list[str]:
        """The orderings by mass, the best first."""
        return sorted(self.figures, key=lambda ordering: -self.mean(ordering))

    def place(self, ordering: str) -> float:
        """As a share of those who ran: 0 is the first, 1 the last."""
        return self.ranked().index(ordering) / max(1, len(self.figures) - 1)

    def frame(self) -> Frame:
        rows = self.ranked()
        early = {r: self.early(r) for r in rows}
        columns = (
            Column("ordering", rows),
            Column("mass", [self.mean(r) for r in rows], "share", "more", spread=[self.spread(r) for r in rows]),
            Column("hot", [self.mean(r, 1) for r in rows], "share", "more", spread=[self.spread(r, 1) for r in rows]),
            *(
                Column(f"mass at {share:.0%}", [early[r][at] for r in rows], "share", "more")
                for at, share in enumerate(EARLY)
                if all(len(early[r]) > at for r in rows)
            ),
            Column("times bfs", [self.cost(r) for r in rows], "number", "less"),
        )
        return Frame(columns, self.name, tuple(_grouped(self.left_out)), sorted_by="mass")


def spread(values: Sequence[float]) -> float:
    """The sample standard deviation; of one value none is known."""
    return stdev(values) if len(values) > 1 else 0.0


def _grouped(left_out: dict[str, str]) -> list[str]:
    """Who was left out, in one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for ordering, why in left_out.items():
        reasons.setdefault(why, []).append(ordering)
    return [f"left out: {', '.join(names)}: {why}" for why, names in reasons.items()]


def usual() -> list[str]:
    """Every ordering that runs without parameters and is not told the truth, and the variants."""
    names = []
    for name in orderings():
        try:
            policy = parse(name)
        except FrontrankError:
            continue
        if "truth" not in policy.needs():
            names.append(name)
    return [*names, *VARIANTS]


def as_run(ordering: str, pages: int) -> Policy:
    """The policy; if it ranks now and then, as often as is usual here unless a person says how often."""
    policy = as_policy(ordering)
    if not isinstance(policy, Periodic) or "every" in split(ordering)[1]:
        return policy
    times = RARE if policy.needs() & {"queries", "history"} else RANKINGS
    return replace(policy, every=max(1, pages // times))


def worths(web: Web) -> dict[str, str]:
    """What pages can be worth here: a name, and the metric."""
    known = {"importance": "pagerank"}
    if web.has("clicks") or web.has("views"):
        known["impact"] = "clicks" if web.has("clicks") else "views"
    if web.has("texts"):
        known["quality"] = "quality:scorer=words"
    return known


def asked(web: Web, log: Divided | None) -> tuple[Web, Web]:
    """The web that orderings see, and the one that they are judged by.

    Where a web knows no clicks and no views, one half of a query log drives, and what the other half would be shown if all
    pages were fetched is what pages are worth: no ordering sees that.
    """
    known = worths(web).get("impact")
    seen = web if known is None else web.by_impact(known)
    if log is None or web.urls is None or web.texts is None:
        return seen, seen
    driven = replace(seen, queries=log.driving)
    return driven, seen if known is not None else replace(seen, views=truth(web, log.judging))


def contests(
    web: Web, log: Divided | None, seeds: str, wanted: Sequence[str], draws: int, budget: float, tell: Progress
) -> list[Contest]:
    """One contest for each worth; a crawl does not depend on it, so each is made once."""
    seen, judged = asked(web, log)
    metrics = worths(judged)
    made = {worth: Contest(web.name, seeds, worth, web.pages) for worth in metrics}
    drawn = [f"{seeds}@{draw}" for draw in range(draws)] if seeds.startswith("random:") else [seeds]
    for at, ordering in enumerate(wanted):
        tell(f"{web.name}, {seeds}: {ordering}", at, len(wanted))
        policy = as_run(ordering, web.pages)
        try:
            check_needs(policy, seen)
        except InputError as error:
            for contest in made.values():
                contest.left_out[ordering] = str(error).partition(";")[0].partition(" needs ")[2] or str(error)
            continue
        runs = [timed(seen, policy, draw, budget) for draw in drawn]
        for worth, metric in metrics.items():
            made[worth].figures[ordering] = [_figures(judged, run, seconds, metric, budget) for run, seconds in runs]
    return list(made.values())


def timed(web: Web, policy: Policy, seeds: str, budget: float) -> tuple[Run, float]:
    """A run, and the least time of the processor that it took."""
    run = simulate(web, policy, find_seeds(web, seeds), budget)
    least = run.processor_s
    for _ in range(AGAIN - 1 if least < SHORT_S else 0):
        least = min(least, simulate(web, policy, find_seeds(web, seeds), budget).processor_s)
    return run, least


def _figures(web: Web, run: Run, seconds: float, metric: str, budget: float) -> Figures:
    shares = [percent / 100 for percent in range(1, round(100 * budget) + 1)] or [budget]
    means = [_mean(measure(run.trace, web, shares, metric)) for measure in (mass, hot)]
    return Figures(means[0], means[1], seconds, tuple(mass(run.trace, web, EARLY, metric).values()))


def _mean(measured: dict[float, float | None]) -> float:
    return fmean(value for value in measured.values() if value is not None)
