"""The leaderboard: contests, places, and one page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import frontrank as fr
from frontrank.cli.leaderboard import command
from frontrank.errors import FrontrankError
from frontrank.lab import leaderboard as lab
from frontrank.lab import measures
from frontrank.lab.contest import EARLY, PROCESSOR, Contest, importance_metrics, policy_for, usual_orderings
from frontrank.lab.experiment import Key, Measured, Values
from frontrank.lab.leaderboard import Leaderboard, leaderboard, split_seeds
from frontrank.orderings.registry import orderings
from frontrank.papers.made_queries import made_workload
from frontrank.simulation.simulate import simulate
from frontrank.web.seeds import find_seeds

TRAPPED = lab.GENERATED[1]
SMALL = "synthetic:pages=300,links=6,text=1,seed=5"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "GENERATED", ("synthetic:pages=400,text=0,seed=1",))
    monkeypatch.setattr(lab, "SEARCHED", "")
    monkeypatch.setattr(lab, "usual_orderings", lambda: ["random", "bfs", "fpr:m=10", "similarity:topic=x", "group", "surf"])


def test_a_figure_is_the_mean_of_a_curve_over_the_draws() -> None:
    board = leaderboard(draws=3, budget=0.5)
    (contest,) = board.contests
    web = fr.load("synthetic:pages=400,text=0,seed=1")
    drawn = []
    for draw in range(3):
        trace = simulate(web, fr.parse("fpr:m=10"), find_seeds(web, f"random:1@{draw}"), 200).trace
        shares = [k / 100 for k in range(1, 51)]
        drawn.append([measures.mass(trace, web, shares)[share] or 0.0 for share in shares])
    assert contest.mean("fpr:m=10") == pytest.approx(sum(map(sum, drawn)) / 150)
    assert contest.drawn("fpr:m=10").spread > 0
    assert "a web with anchors and texts" in contest.left_out["similarity:topic=x"]


def test_a_web_with_texts_has_a_contest_of_quality_and_orderings_that_read() -> None:
    assert list(importance_metrics(fr.load(SMALL))) == ["importance", "quality"]
    board = leaderboard([f"{SMALL}@random:3"], ["opic"], draws=2, budget=0.2)
    assert [(c.seeds, c.worth) for c in board.contests] == [
        ("random:1", "importance"),
        ("random:3", "importance"),
        ("random:3", "quality"),
    ]
    assert "group" in board.contests[2].orderings and "group" not in board.contests[0].orderings
    assert all("opic" in contest.orderings for contest in board.contests)


@pytest.mark.parametrize("counted", ["clicks", "views"])
def test_a_web_with_clicks_or_views_has_a_contest_of_impact(counted: str, tmp_path: Path) -> None:
    (tmp_path / "pages.tsv").write_text("id\turl\thost\ttitle\n" + "".join(f"{n}\thttp://a/{n}\ta\t\n" for n in range(9)))
    (tmp_path / "links.tsv").write_text("src\tdst\tanchor\n" + "".join(f"{n // 2}\t{n}\t\n" for n in range(1, 9)))
    (tmp_path / f"{counted}.csv").write_text(f"url,{counted}\nhttp://a/7,5\nhttp://a/3,2\n")
    assert importance_metrics(fr.load(tmp_path)) == {"importance": "pagerank", "impact": counted}
    board = leaderboard([f"{tmp_path}@http://a/0"], draws=2, budget=0.5)
    assert [contest.worth for contest in board.contests] == ["importance", "importance", "impact"]
    assert 0 < board.contests[2].mean("bfs") < 1


def contest(web: str, worth: str = "importance", /, **masses: list[float]) -> Contest:
    def cells(mass: float) -> Measured:
        early = {Key("mass", share, worth): mass for share in EARLY}
        return {Key("mass", None, worth): mass, Key("hot", None, worth): mass / 2, PROCESSOR: 1.0, **early}

    draws = [{name: cells(drawn[at]) for name, drawn in masses.items()} for at in range(len(next(iter(masses.values()))))]
    return Contest(web, "random:1", worth, 9, Values(web, draws))


def test_places_wins_and_distances() -> None:
    one, two = contest("a", x=[0.9], y=[0.5], z=[0.7]), contest("b", "quality", y=[0.6], z=[0.4])
    board = Leaderboard((one, two), 1, 0.5)
    assert board.orderings == ["x", "y", "z"]
    assert [board.rank(name) for name in "xyz"] == [0.0, 0.5, 0.75]
    assert [board.behind(name) for name in "xyz"] == [0.0, pytest.approx(0.4), pytest.approx(0.2)]
    assert list(board.frame()["wins"].values) == [1, 1, 0]


def test_standings_of_one_worth_do_not_know_the_others() -> None:
    one, two = contest("a", x=[0.9], y=[0.5], z=[0.7]), contest("b", "quality", y=[0.6], z=[0.4])
    board = Leaderboard((one, two), 1, 0.5)
    assert board.standing("importance") == ["x", "z", "y"] and board.standing("quality") == ["y", "z"]
    assert board.behind("y", "quality") == 0.0
    page = board.markdown("frontrank leaderboard")
    assert "## By importance" in page and "## By quality" in page
    assert board.frame()["rank"].spread == [0.0, pytest.approx(0.5**0.5), pytest.approx(0.125**0.5)]


def test_the_default_is_set_against_the_best_published_draw_by_draw() -> None:
    won = contest("a", surf=[0.9, 0.8], opic=[0.7, 0.7], group=[0.95, 0.95], mine=[0.99, 0.99])
    lost = contest("b", surf=[0.5, 0.5], opic=[0.4, 0.4], bfs=[0.6, 0.6])
    board = Leaderboard((won, lost), 2, 0.5, frozenset({"mine"}))
    by = board.margin(won)
    assert by is not None
    assert by.best == "opic" and (by.by.mean, by.by.spread) == pytest.approx((0.15, 0.0707), abs=1e-4)
    page = board.markdown("frontrank leaderboard")
    assert "By mass: below the best published ordering by more than 0.002 on 1 of 2 (b, random:1); above it by 0.01" in page
    assert "on 1 of 2, which is at least half." in page
    assert "| b, random:1 | 0.500 | -0.100±0.000 (bfs) | 0.250 | -0.050±0.000 (bfs) |" in page


def test_what_a_trap_costs_at_first_is_said_in_words() -> None:
    trapped = contest("synthetic:trap=9", surf=[0.9], **{"fpr:m=10": [0.95]})
    page = Leaderboard((trapped,), 1, 0.5).markdown("frontrank leaderboard")
    assert "At 2% of synthetic:trap=9 surf is below fpr:m=10." in page
    assert "## In a trap" not in Leaderboard((contest("a", surf=[0.9], **{"fpr:m=10": [0.9]}),), 1, 0.5).markdown("")


def test_on_the_trapped_web_the_default_is_not_below_who_is_hard_to_trap() -> None:
    web = fr.load(TRAPPED)
    early: dict[str, list[list[float]]] = {}
    for ordering in ("surf", "fpr:m=10"):
        runs = [simulate(web, fr.parse(ordering), find_seeds(web, f"random:20@{draw}"), 0.05) for draw in range(5)]
        early[ordering] = [[measures.mass(run.trace, web, (share,))[share] or 0.0 for run in runs] for share in EARLY]
    for one, other in zip(early["surf"], early["fpr:m=10"], strict=True):
        assert sum(one) >= sum(other)


def test_every_ordering_runs_that_needs_no_parameter_and_is_not_told_the_truth() -> None:
    run = usual_orderings()
    assert {"dfs", "forward", "indegree", "rw", "rw-eg", "ml", "q-overlap", "opic:start=all", "rankmass:window=0.05"} <= {*run}
    assert "oracle" not in run
    assert {*orderings()} - {*run} <= {"oracle", "similarity", "prior", "combine", "replay"}
    assert [policy_for(spec, 1000).spec() for spec in ("pagerank", "rw", "q-overlap", "pagerank:every=7", "fpr")] == [
        "pagerank:every=10",
        "rw:every=10",
        "q-overlap:every=50",
        "pagerank:every=7",
        "fpr",
    ]


def test_cost_is_in_times_of_breadth_first() -> None:
    seconds = [{"bfs": 2.0, "opic": 3.0}, {"bfs": 1.0, "opic": 4.0}]

    def timed(*orderings: str) -> Contest:
        draws: list[dict[str, Measured]] = [{name: {PROCESSOR: draw[name]} for name in orderings} for draw in seconds]
        return Contest("a", "random:1", "importance", 9, Values("a", draws))

    assert timed("bfs", "opic").cost("opic") == 3.0
    assert timed("opic").cost("opic") is None


def test_a_web_with_searchers_has_all_three_worths_and_orderings_that_know_impact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "SEARCHED", "synthetic:pages=300,links=6,seed=5")
    monkeypatch.setattr(lab, "usual_orderings", lambda: ["bfs", "rw", "q-overlap"])
    board = leaderboard(draws=1, budget=0.3)
    assert [c.worth for c in board.contests] == ["importance", "impact", "quality", "importance"]
    assert {"bfs", "rw", "q-overlap"} == {*board.contests[1].orderings}
    assert {"rw", "q-overlap"} == {*board.contests[3].left_out}


def test_a_query_log_gives_a_web_with_texts_a_contest_of_impact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "usual_orderings", lambda: ["bfs", "rw", "q-overlap"])
    log = made_workload(fr.load(SMALL))
    (tmp_path / "log.txt").write_text(
        "".join(f"{query}\t{int(f)}\n" for query, f in zip(log.queries, log.frequency, strict=True))
    )
    given = [f"{SMALL}@random:3", "--draws", "1", "--budget", "0.2", "--queries", str(tmp_path / "log.txt"), "--json"]
    done = CliRunner().invoke(command, given)
    assert done.exit_code == 0, done.output
    told = {(c["web"], c["worth"]): c for c in json.loads(done.stdout)["contests"]}
    assert {"bfs", "rw", "q-overlap"} == {*told[fr.load(SMALL).name, "impact"]["orderings"]}
    assert len(told) == 4  # a web without texts has no impact, whatever is asked


@pytest.mark.parametrize("given", ["a/uk-2007-05@100000", "x@y", "web"])
def test_not_every_at_begins_seeds(given: str) -> None:
    assert split_seeds(given) == (given, "")


def test_one_page_with_the_command_that_made_it(tmp_path: Path) -> None:
    out = tmp_path / "board.md"
    done = CliRunner().invoke(command, ["--draws", "2", "--budget", "0.1", "--ordering", "opic", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    page = out.read_text()
    assert "frontrank leaderboard --ordering=opic --draws=2 --budget=0.1" in page
    assert f"| {next(iter(told['orderings']))} |" in page and "## synthetic:pages=400" in page
    assert len(told["contests"][0]["orderings"]["opic"]["draws"]) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"draws": 0}, "draws must be a whole number from 1, got 0"),
        ({"budget": 1.5}, "budget must be a number above 0 and up to 1, got 1.5"),
        ({"orderings": ["surff"]}, "did you mean 'surf'"),
        ({"webs": ["nowhere"]}, "nowhere: no such file"),
        ({"webs": ["nowhere@random:5"]}, "nowhere: no such file"),
    ],
)
def test_bad_input_is_refused_before_the_work(given: dict[str, object], says: str) -> None:
    begun: list[str] = []
    with pytest.raises(FrontrankError, match=says):
        leaderboard(**given, progress=lambda text, done, total: begun.append(text))  # type: ignore[arg-type]
    assert not begun
