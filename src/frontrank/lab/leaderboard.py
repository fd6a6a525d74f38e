"""A leaderboard: every ordering over several webs, several draws of seeds, by importance, impact and quality.

A *contest* is a web, its seeds, and what pages are worth there. An ordering's figure in a contest is the mean of a curve from
1% to half of the web: ``mass``, the worth gathered over the most that as many pages can have, and ``hot``, how many of the
first k are among the k best; both averaged over the draws. Its rank is its place by mass among all that could run there.

    worth       by                                                   where
    importance  PageRank of the whole web                            every web
    impact      clicks or views                                      webs that know them
    quality     the scorer `words`                                   webs with texts

Two generated webs are always there, one with a trap. To add a web, name it; to add an ordering, name that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from frontrank.errors import InputError
from frontrank.lab.frame import Column, Frame, Tabular
from frontrank.lab.measures.stop import hot, mass
from frontrank.lab.options import LeaderboardOptions
from frontrank.options import check_options
from frontrank.orderings.registry import as_policy
from frontrank.simulation.engine import check_needs
from frontrank.simulation.simulate import Run, simulate
from frontrank.sources import load
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

Progress = Callable[[str, int, int], None]

GENERATED = (
    "synthetic:pages=20000,text=0,seed=1",
    "synthetic:pages=20000,trap=1000,text=0,seed=2",
)
ORDERINGS = (
    *("random", "bfs", "backlink", "largest-site", "domains", "location", "fica:alpha=0.3"),
    *("opic", "fpr", "fpr:m=10", "fpr:m=100", "rankmass", "pagerank", "surf"),
)
BY_TEXT = ("quality", "group")
SEEDS_SHARE = 1000  # one seed for so many pages
RANKINGS = 100  # how often pagerank ranks the web anew, if nothing else is said


@dataclass(frozen=True)
class Contest:
    """One web, the seeds that crawls start from, and what its pages are worth."""

    web: str
    seeds: str
    worth: str  # importance, impact or quality
    pages: int
    figures: dict[str, list[tuple[float, float, float]]] = field(
        default_factory=dict
    )  # ordering to (mass, hot, seconds) a draw
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.web}, {self.seeds}, {self.worth}"

    def mean(self, ordering: str, of: int = 0) -> float:
        return fmean(draw[of] for draw in self.figures[ordering])

    def spread(self, ordering: str, of: int = 0) -> float:
        drawn = [draw[of] for draw in self.figures[ordering]]
        return stdev(drawn) if len(drawn) > 1 else 0.0

    def ranked(self) -> list[str]:
        """The orderings by mass, the best first."""
        return sorted(self.figures, key=lambda ordering: -self.mean(ordering))

    def frame(self) -> Frame:
        rows = self.ranked()
        columns = (
            Column("ordering", rows),
            Column("mass", [self.mean(r) for r in rows], "share", "more", spread=[self.spread(r) for r in rows]),
            Column("hot", [self.mean(r, 1) for r in rows], "share", "more", spread=[self.spread(r, 1) for r in rows]),
            Column("seconds", [self.mean(r, 2) for r in rows], "seconds", "less"),
        )
        out = tuple(f"not tried: {ordering}: {why}" for ordering, why in self.left_out.items())
        return Frame(columns, self.name, out, sorted_by="mass")


@dataclass(frozen=True)
class Leaderboard(Tabular):
    """All contests, and who stands where over all of them."""

    contests: tuple[Contest, ...]
    draws: int
    budget: float

    @property
    def orderings(self) -> list[str]:
        """Those that ran, by mean rank."""
        ran = dict.fromkeys(ordering for contest in self.contests for ordering in contest.figures)
        return sorted(ran, key=self.rank)

    def rank(self, ordering: str) -> float:
        """The mean place over the contests it ran in, as a share of those who ran there: 0 is always first, 1 always last."""
        places = [c.ranked().index(ordering) / max(1, len(c.figures) - 1) for c in self.contests if ordering in c.figures]
        return fmean(places)

    def behind(self, ordering: str) -> float:
        """The most mass that it is behind the best of a contest."""
        return max(c.mean(c.ranked()[0]) - c.mean(ordering) for c in self.contests if ordering in c.figures)

    def frame(self) -> Frame:
        rows = self.orderings
        ran = {r: [c for c in self.contests if r in c.figures] for r in rows}
        columns = (
            Column("ordering", rows),
            Column("rank", [self.rank(r) for r in rows], "share", "less"),
            Column("wins", [sum(c.ranked()[0] == r for c in ran[r]) for r in rows], "count", "more"),
            Column("contests", [len(ran[r]) for r in rows], "count"),
            Column("mass", [fmean(c.mean(r) for c in ran[r]) for r in rows], "share", "more"),
            Column("hot", [fmean(c.mean(r, 1) for c in ran[r]) for r in rows], "share", "more"),
            Column("behind", [self.behind(r) for r in rows], "share", "less"),
            Column("seconds", [sum(c.mean(r, 2) for c in ran[r]) for r in rows], "seconds", "less"),
        )
        notes = (
            f"means from 1% to {self.budget:.0%} of each web over {self.draws} draws of seeds; mass and hot over the contests "
            f"that an ordering ran in",
            "rank: mean place by mass, 0% always first, 100% always last; behind: the most mass behind the best of a contest; "
            "seconds: one draw of each contest",
        )
        return Frame(columns, f"{len(self.contests)} contests", notes, sorted_by="rank")

    def json(self) -> dict[str, Any]:
        return {
            "draws": self.draws,
            "budget": self.budget,
            "orderings": {
                r: {"rank": self.rank(r), "behind": self.behind(r), "wins": sum(c.ranked()[0] == r for c in self.contests)}
                for r in self.orderings
            },
            "contests": [
                {
                    "web": c.web,
                    "seeds": c.seeds,
                    "worth": c.worth,
                    "orderings": {r: {"mass": c.mean(r), "hot": c.mean(r, 1), "draws": c.figures[r]} for r in c.ranked()},
                    "left_out": c.left_out,
                }
                for c in self.contests
            ],
        }

    def markdown(self, command: str) -> str:
        """One page: who wins where, and at which cost."""
        parts = ["# Leaderboard", "", "Generated by:", "", f"```sh\n{command}\n```", "", self.frame().markdown()]
        for contest in self.contests:
            parts += ["", f"## {contest.name}", "", f"{contest.pages:,} pages.", "", contest.frame().markdown()]
        return "\n".join(parts) + "\n"


def leaderboard(
    webs: Sequence[str] = (),
    orderings: Sequence[str] = (),
    draws: int = LeaderboardOptions.draws,
    budget: float = LeaderboardOptions.budget,
    progress: Progress | None = None,
) -> Leaderboard:
    """Run all orderings over the generated webs and these. A web is a path, or PATH@SEEDS (``uci-ics@random:500``)."""
    check_options(LeaderboardOptions, draws=draws, budget=budget)
    for ordering in orderings:
        as_policy(ordering)  # a wrong name is refused before the work
    tell: Progress = progress or (lambda text, done, total: None)
    contests: list[Contest] = []
    last = ""
    web: Web | None = None
    for given in (*GENERATED, *webs):
        path, seeds = split_seeds(given)
        web = web if web is not None and path == last else load(path)
        last = path
        contests += _contests(web, seeds or f"random:{max(1, web.pages // SEEDS_SHARE)}", orderings, draws, budget, tell)
    return Leaderboard(tuple(contests), draws, budget)


def _contests(web: Web, seeds: str, orderings: Sequence[str], draws: int, budget: float, tell: Progress) -> list[Contest]:
    """One contest for each worth; a crawl does not depend on it, so each is made once."""
    metrics = worths(web)
    made = {worth: Contest(web.name, seeds, worth, web.pages) for worth in metrics}
    wanted = dict.fromkeys((*ORDERINGS, *(BY_TEXT if web.has("texts") else ()), *orderings))
    drawn = [f"{seeds}@{draw}" for draw in range(draws)] if seeds.startswith("random:") else [seeds]
    for at, ordering in enumerate(wanted):
        tell(f"{web.name}, {seeds}: {ordering}", at, len(wanted))
        policy = as_policy(f"pagerank:every={max(1, web.pages // RANKINGS)}" if ordering == "pagerank" else ordering)
        try:
            check_needs(policy, web)
        except InputError as error:
            for contest in made.values():
                contest.left_out[ordering] = str(error).partition(";")[0]
            continue
        runs = [simulate(web, policy, find_seeds(web, draw), budget) for draw in drawn]
        for worth, metric in metrics.items():
            made[worth].figures[ordering] = [_figures(web, run, metric, budget) for run in runs]
    return list(made.values())


def split_seeds(given: str) -> tuple[str, str]:
    """A web and its seeds.

    >>> split_seeds("data/uci-ics@random:500"), split_seeds("data/uk-2007-05@100000")
    (('data/uci-ics', 'random:500'), ('data/uk-2007-05@100000', ''))
    """
    path, found, seeds = given.rpartition("@")
    return (path, seeds) if found and seeds.startswith(("random:", "top:", "http://", "https://")) else (given, "")


def worths(web: Web) -> dict[str, str]:
    """What pages can be worth here: a name, and the metric."""
    known = {"importance": "pagerank"}
    if web.has("clicks") or web.has("views"):
        known["impact"] = "clicks" if web.has("clicks") else "views"
    if web.has("texts"):
        known["quality"] = "quality:scorer=words"
    return known


def _figures(web: Web, run: Run, metric: str, budget: float) -> tuple[float, float, float]:
    shares = [percent / 100 for percent in range(1, round(100 * budget) + 1)] or [budget]
    means = [_mean(measure(run.trace, web, shares, metric)) for measure in (mass, hot)]
    return means[0], means[1], run.seconds


def _mean(measured: dict[float, float | None]) -> float:
    return fmean(value for value in measured.values() if value is not None)
