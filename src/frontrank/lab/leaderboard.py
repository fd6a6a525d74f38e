"""A leaderboard: every ordering over several webs, several draws of seeds, by importance, impact and quality.

``contest`` says what a contest is, which orderings take part and what is measured. Here all contests are compared: mean rank
and its spread for each worth, and the default ordering against the best published one of each contest.

Four generated webs always take part: plain, with a trap, of one host, and one with texts and searchers. Webs and orderings are
added by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from frontrank.lab.contest import EARLY, Contest, contests, usual_orderings
from frontrank.lab.drawn import Drawn
from frontrank.lab.frame import Frame, FrameColumn, Tabular, markdown_table
from frontrank.lab.lab_options import LeaderboardOptions
from frontrank.options import check_options
from frontrank.orderings import DEFAULT_ORDERING as DEFAULT
from frontrank.orderings.registry import as_policy
from frontrank.search.divided import Divided, halves
from frontrank.simulation.side_by_side import Progress
from frontrank.sources import load
from frontrank.sources.kinds import source_of
from frontrank.sources.synthetic_searchers import searched
from frontrank.web.view import Workload
from frontrank.web.web import Web

GENERATED = (
    "synthetic:pages=20000,text=0,seed=1",
    "synthetic:pages=20000,trap=1000,text=0,seed=2",
    "synthetic:pages=20000,hosts=1,text=0,seed=1",
)
SEARCHED = "synthetic:pages=4000,seed=3"  # gets searchers, whose fashion follows its links
SEEDS_SHARE = 1000  # one seed for so many pages
OURS = frozenset({DEFAULT, "group", "quality", "fusion", "ml", "q-expected"})  # not published elsewhere as they are here
TRAPPED, IN_TRAPS = "trap=", "fpr:m=10"  # webs with a trap, and who is hard to beat there
MARGIN, CLEAR = 0.002, 0.01  # how far the default may be behind the best published; what counts as ahead


@dataclass(frozen=True)
class Margin:
    """The default ordering less the best published one of a contest, by one measure, draw by draw."""

    best: str
    by: Drawn

    def json(self) -> dict[str, Any]:
        return {"best": self.best, "mean": self.by.mean, "spread": self.by.spread}

    def __str__(self) -> str:
        return f"{self.by.mean:+.3f}±{self.by.spread:.3f} ({self.best})"


@dataclass(frozen=True)
class Leaderboard(Tabular):
    """All contests, and the ranking over all of them."""

    contests: tuple[Contest, ...]
    draws: int
    budget: float
    added: frozenset[str] = frozenset()  # orderings that a person named beside the usual ones

    def of(self, worth: str = "") -> list[Contest]:
        """The contests about one worth; all of them without one."""
        return [contest for contest in self.contests if worth in ("", contest.worth)]

    @property
    def worths(self) -> list[str]:
        return [*dict.fromkeys(contest.worth for contest in self.contests)]

    @property
    def orderings(self) -> list[str]:
        """Those that ran, by mean rank."""
        return self.standing()

    def standing(self, worth: str = "") -> list[str]:
        ran = dict.fromkeys(ordering for contest in self.of(worth) for ordering in contest.orderings)
        return sorted(ran, key=lambda ordering: self.rank(ordering, worth))

    def places(self, ordering: str, worth: str = "") -> Drawn:
        """Its place in each contest it ran in, as a share of those who ran there: 0 is the first, 1 the last."""
        return Drawn(tuple(contest.place(ordering) for contest in self.of(worth) if ordering in contest.orderings))

    def rank(self, ordering: str, worth: str = "") -> float:
        """The mean place: 0 is always first, 1 always last."""
        return self.places(ordering, worth).mean

    def behind(self, ordering: str, worth: str = "") -> float:
        """The most mass that it is behind the best of a contest."""
        return max(c.mean(c.ranked()[0]) - c.mean(ordering) for c in self.of(worth) if ordering in c.orderings)

    def frame(self) -> Frame:
        """Over all contests."""
        return self.standings("")

    def standings(self, worth: str) -> Frame:
        rows = self.standing(worth)
        ran = {r: [c for c in self.of(worth) if r in c.orderings] for r in rows}
        costs = {r: [cost for c in ran[r] if (cost := c.cost(r)) is not None] for r in rows}
        columns = (
            FrameColumn("ordering", rows),
            FrameColumn.of("rank", [self.places(r, worth) for r in rows], "less"),
            FrameColumn("wins", [sum(c.ranked()[0] == r for c in ran[r]) for r in rows], "count", "more"),
            FrameColumn("contests", [len(ran[r]) for r in rows], "count"),
            FrameColumn("mass", [fmean(c.mean(r) for c in ran[r]) for r in rows], "share", "more"),
            FrameColumn("hot", [fmean(c.mean(r, "hot") for c in ran[r]) for r in rows], "share", "more"),
            FrameColumn("behind", [self.behind(r, worth) for r in rows], "share", "less"),
            FrameColumn("times bfs", [fmean(costs[r]) if costs[r] else None for r in rows], "number", "less"),
        )
        notes = (
            f"means from 1% to {self.budget:.0%} of each web over {self.draws} draws of seeds; mass and hot over the contests "
            f"that an ordering ran in",
            "rank: mean place by mass, 0% always first, 100% always last, with the standard deviation over contests; behind: "
            "the most mass behind the best of a contest; times bfs: the processor's time of deciding over breadth-first's",
        )
        return Frame(columns, f"{len(self.of(worth))} contests{f' of {worth}' * bool(worth)}", notes, sorted_by="rank")

    def margin(self, contest: Contest, measure: str = "mass") -> Margin | None:
        """The default against the best published ordering by mass or hot; None where one of them did not run."""
        published = [o for o in contest.orderings if o not in OURS and o not in self.added]
        if DEFAULT not in contest.orderings or not published:
            return None
        best = max(published, key=lambda ordering: contest.mean(ordering, measure))
        return Margin(best, contest.drawn(DEFAULT, measure).minus(contest.drawn(best, measure)))

    def json(self) -> dict[str, Any]:
        def margins(contest: Contest) -> dict[str, Any]:
            both = {name: self.margin(contest, name) for name in ("mass", "hot")}
            return {name: None if one is None else one.json() for name, one in both.items()}

        return {
            "draws": self.draws,
            "budget": self.budget,
            "orderings": {
                r: {
                    "rank": self.rank(r),
                    "ranks": {worth: self.rank(r, worth) for worth in self.worths if self.places(r, worth).values},
                    "behind": self.behind(r),
                    "wins": sum(c.ranked()[0] == r for c in self.contests),
                }
                for r in self.orderings
            },
            "contests": [
                {
                    "web": c.web,
                    "seeds": c.seeds,
                    "worth": c.worth,
                    "orderings": {
                        r: {"mass": c.mean(r), "hot": c.mean(r, "hot"), "times_bfs": c.cost(r), "draws": c.draws(r)}
                        for r in c.ranked()
                    },
                    "against_best_published": margins(c),
                    "left_out": c.left_out,
                }
                for c in self.contests
            ],
        }

    def markdown(self, command: str) -> str:
        """One page: which ordering wins where, and at what cost."""
        parts = ["# Leaderboard", "", "Generated by:", "", f"```sh\n{command}\n```", "", self.frame().markdown()]
        for worth in self.worths if len(self.worths) > 1 else ():
            parts += ["", f"## By {worth}", "", self.standings(worth).markdown().partition("\n\n")[0]]
        parts += self._against_published() + self._in_traps()
        for contest in self.contests:
            parts += ["", f"## {contest.name}", "", f"{contest.pages:,} pages.", "", contest.frame().markdown()]
        return "\n".join(parts) + "\n"

    def _against_published(self) -> list[str]:
        known = [(c, m, h) for c in self.of("importance") if (m := self.margin(c)) and (h := self.margin(c, "hot"))]
        if not known:
            return []
        webs = [f"{c.web}, {c.seeds}" for c, _, _ in known]
        rows = [
            [web, f"{c.mean(DEFAULT):.3f}", str(m), f"{c.mean(DEFAULT, 'hot'):.3f}", str(h)]
            for web, (c, m, h) in zip(webs, known, strict=True)
        ]
        sides = {"mass": [m.by.mean for _, m, _ in known], "hot": [h.by.mean for _, _, h in known]}
        verdicts = [_verdict(name, webs, margins) for name, margins in sides.items()]
        about = (
            f"{DEFAULT} less the published ordering that is best on that web, by importance: the mean over draws of the "
            "difference in the same draw, with its standard deviation."
        )
        head = [
            "web, seeds",
            f"{DEFAULT}, mass",
            "less the best published",
            f"{DEFAULT}, hot",
            "less the best published",
        ]
        return [
            "",
            f"## {DEFAULT} against the best published",
            "",
            about,
            "",
            markdown_table(head, rows),
            "",
            *_paragraphs(verdicts),
        ]

    def _in_traps(self) -> list[str]:
        rows, sentences = [], []
        for c in self.of("importance"):
            if TRAPPED not in c.web or not {DEFAULT, IN_TRAPS} <= {*c.orderings}:
                continue
            for share, one, other in zip(EARLY, c.early(DEFAULT), c.early(IN_TRAPS), strict=True):
                if one is None or other is None:
                    continue
                rows.append([c.web, f"{share:.0%}", f"{one:.3f}", f"{other:.3f}"])
                below = "below" if one < other else "not below"
                sentences.append(f"At {share:.0%} of {c.web} {DEFAULT} is {below} {IN_TRAPS}.")
        head = ["web", "fetched", f"mass, {DEFAULT}", f"mass, {IN_TRAPS}"]
        return ["", "## In a trap", "", markdown_table(head, rows), "", *_paragraphs(sentences)] if rows else []


def _verdict(measure: str, webs: list[str], margins: list[float]) -> str:
    """On how many webs the default is behind, on how many clearly ahead."""
    behind = [web for web, margin in zip(webs, margins, strict=True) if margin < -MARGIN]
    where = f"{len(behind)} of {len(webs)} ({'; '.join(behind)})" if behind else "none"
    clear = sum(margin >= CLEAR for margin in margins)
    return (
        f"By {measure}: below the best published ordering by more than {MARGIN} on {where}; above it by {CLEAR} or more on "
        f"{clear} of {len(webs)}, which is {'at least' if 2 * clear >= len(webs) else 'less than'} half."
    )


def _paragraphs(lines: list[str]) -> list[str]:
    return "\n\n".join(lines).split("\n")


def leaderboard(
    webs: Sequence[str] = (),
    orderings: Sequence[str] = (),
    draws: int = LeaderboardOptions.draws,
    budget: float = LeaderboardOptions.budget,
    progress: Progress | None = None,
    queries: Workload | Divided | None = None,
) -> Leaderboard:
    """Run all orderings over the generated webs and these. A web is a path, or PATH@SEEDS (``uci-ics@random:500``).

    ``queries`` tell what pages are worth on webs with texts that know neither clicks nor views.
    """
    check_options(LeaderboardOptions, draws=draws, budget=budget)
    for ordering in orderings:
        as_policy(ordering)  # a wrong name is refused before the work
    for given in webs:
        source_of(split_seeds(given)[0])  # as is a path where nothing is
    tell: Progress = progress or (lambda text, done, total: None)
    log = halves(queries) if isinstance(queries, Workload) else queries
    wanted = [*dict.fromkeys((*usual_orderings(), *orderings))]
    found: list[Contest] = []
    if SEARCHED:
        web, asked = searched(load(SEARCHED))
        found += contests(web, halves(asked), _seeds("", web), wanted, draws, budget, progress=tell)
    last = ""
    for given in (*GENERATED, *webs):
        path, seeds = split_seeds(given)
        web = web if path == last else load(path)
        last = path
        found += contests(web, log, _seeds(seeds, web), wanted, draws, budget, progress=tell)
    return Leaderboard(tuple(found), draws, budget, frozenset(orderings) - frozenset(usual_orderings()))


def _seeds(given: str, web: Web) -> str:
    return given or f"random:{max(1, web.pages // SEEDS_SHARE)}"


def split_seeds(given: str) -> tuple[str, str]:
    """A web and its seeds.

    >>> split_seeds("data/uci-ics@random:500"), split_seeds("data/uk-2007-05@100000")
    (('data/uci-ics', 'random:500'), ('data/uk-2007-05@100000', ''))
    """
    path, found, seeds = given.rpartition("@")
    return (path, seeds) if found and seeds.startswith(("random:", "top:", "http://", "https://")) else (given, "")
