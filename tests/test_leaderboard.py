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
from frontrank.lab.leaderboard import Contest, Leaderboard, leaderboard, split_seeds, worths
from frontrank.simulation.simulate import simulate
from frontrank.web.seeds import find_seeds

SMALL = "synthetic:pages=300,links=6,text=1,seed=5"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "GENERATED", ("synthetic:pages=400,text=0,seed=1",))
    monkeypatch.setattr(lab, "ORDERINGS", ("random", "bfs", "fpr:m=10", "similarity:topic=x", "surf"))


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
    assert contest.spread("fpr:m=10") > 0
    assert "needs a web with anchors and texts" in contest.left_out["similarity:topic=x"]


def test_a_web_with_texts_has_a_contest_of_quality_and_orderings_that_read() -> None:
    assert list(worths(fr.load(SMALL))) == ["importance", "quality"]
    board = leaderboard([f"{SMALL}@random:3"], ["opic"], draws=2, budget=0.2)
    assert [(c.seeds, c.worth) for c in board.contests] == [
        ("random:1", "importance"),
        ("random:3", "importance"),
        ("random:3", "quality"),
    ]
    assert "group" in board.contests[2].figures and "group" not in board.contests[0].figures
    assert all("opic" in contest.figures for contest in board.contests)


@pytest.mark.parametrize("counted", ["clicks", "views"])
def test_a_web_with_clicks_or_views_has_a_contest_of_impact(counted: str, tmp_path: Path) -> None:
    (tmp_path / "pages.tsv").write_text("id\turl\thost\ttitle\n" + "".join(f"{n}\thttp://a/{n}\ta\t\n" for n in range(9)))
    (tmp_path / "links.tsv").write_text("src\tdst\tanchor\n" + "".join(f"{n // 2}\t{n}\t\n" for n in range(1, 9)))
    (tmp_path / f"{counted}.csv").write_text(f"url,{counted}\nhttp://a/7,5\nhttp://a/3,2\n")
    assert worths(fr.load(tmp_path)) == {"importance": "pagerank", "impact": counted}
    board = leaderboard([f"{tmp_path}@http://a/0"], draws=2, budget=0.5)
    assert [contest.worth for contest in board.contests] == ["importance", "importance", "impact"]
    assert 0 < board.contests[2].mean("bfs") < 1


def test_places_wins_and_distances() -> None:
    one = Contest("a", "random:1", "importance", 9, {"x": [(0.9, 0, 0)], "y": [(0.5, 0, 0)], "z": [(0.7, 0, 0)]})
    two = Contest("b", "random:1", "importance", 9, {"y": [(0.6, 0, 0)], "z": [(0.4, 0, 0)]})
    board = Leaderboard((one, two), 1, 0.5)
    assert board.orderings == ["x", "y", "z"]
    assert [board.rank(name) for name in "xyz"] == [0.0, 0.5, 0.75]
    assert [board.behind(name) for name in "xyz"] == [0.0, pytest.approx(0.4), pytest.approx(0.2)]
    assert list(board.frame()["wins"].values) == [1, 1, 0]


@pytest.mark.parametrize("given", ["a/uk-2007-05@100000", "x@y", "web"])
def test_not_every_at_begins_seeds(given: str) -> None:
    assert split_seeds(given) == (given, "")


def test_one_page_with_the_command_that_made_it(tmp_path: Path) -> None:
    out = tmp_path / "board.md"
    done = CliRunner().invoke(command, ["--draws", "2", "--budget", "0.1", "--policy", "opic", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    page = out.read_text()
    assert "frontrank leaderboard --policy=opic --draws=2 --budget=0.1" in page
    assert f"| {next(iter(told['orderings']))} |" in page and "## synthetic:pages=400" in page
    assert len(told["contests"][0]["orderings"]["opic"]["draws"]) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"draws": 0}, "draws must be a whole number from 1, got 0"),
        ({"budget": 1.5}, "budget must be a number above 0 and up to 1, got 1.5"),
        ({"orderings": ["surff"]}, "did you mean 'surf'"),
        ({"webs": ["nowhere"]}, "nowhere"),
    ],
)
def test_bad_input_is_refused_before_the_work(given: dict[str, object], says: str) -> None:
    with pytest.raises(FrontrankError, match=says):
        leaderboard(**given)  # type: ignore[arg-type]
