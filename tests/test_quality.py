"""Orderings that go by what pages say, live: failures of scorers, redirects, resuming, explanations; a crawl for a goal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frontrank as fr
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.status import status
from frontrank.errors import InputError, SpecError
from frontrank.kernels.jit import compiled
from frontrank.lab.measures import distinct, gap, harvest, max_ndcg
from frontrank.lab.repeats import repeat
from frontrank.lab.webserver import run_in_process
from frontrank.orderings.online.group_kernels import MAX_PARENTS, inner_key
from frontrank.orderings.registry import parse
from frontrank.pages.scorers import LOWEST, scored
from frontrank.pages.urls import directory
from frontrank.simulation.simulate import simulate
from frontrank.simulation.trace import Trace
from frontrank.web.quality import note_scores, scores_of
from frontrank.web.web import Web
from tests.conftest import ROOT
from tests.oracles import measures
from tests.patience import PATIENCE_S
from tests.scorers import by_url
from tests.test_crawler import LOCAL, Site, crawl, links, served
from tests.webs import random_web

PICKY = "tests.scorers:picky"


def keys(crawl: Crawl) -> dict[str, float]:
    return {page["url"].removeprefix("http://a/"): page["priority"] for page in crawl.inspect.next(100)}


def settle(crawl: Crawl, *links: str, text: str = "", scores: dict[str, Any] | None = None) -> None:
    (url,) = crawl.take()
    crawl.fetched(url, [f"http://a/{link}" for link in links], "", text, scores=scores)


# Parameters ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("quality:scorer=wrds", "unknown scorer 'wrds'; did you mean 'words'"),
        ("quality:inherit=sum", "inherit must be mean, max, first, min or own"),
        ("quality:anchor=1", "anchor goes with scorer=topic:WORDS"),
        ("quality:scorer=topic:a,inherit=own,anchor=1", "not with inherit=own"),
        ("quality:scorer=topic:a,anchor=-1", "anchor must be a number from 0, got -1"),
        ("group:scorer=no_such:f", "there is no module 'no_such'"),
        ("group:depth=-1", "depth must be a whole number from 0 to 8, got -1"),
        ("group:strength=-1", "strength must be a number from 0, got -1"),
        ("group:inner=best", "inner must be quality, bfs or backlink"),
        ("combine:group=1,bfs=1", "cannot take part"),
    ],
)
def test_what_cannot_be_ordered_by_is_refused(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        fr.parse(spec)


def test_a_web_without_texts_and_a_live_crawl_by_the_oracle_are_refused() -> None:
    with pytest.raises(InputError, match="quality needs a web with texts"):
        fr.order(fr.Web.from_edges([0], [1], pages=2), "quality", [0])
    with pytest.raises(InputError, match=r"which only a simulation knows.*Crawl.truth="):
        Crawl("quality:inherit=own")


def test_scorers_of_two_parts_are_both_asked() -> None:
    crawl = Crawl("combine:quality=1,quality.scorer=topic:sun,quality#2=10")
    crawl.seed("http://a/")
    settle(crawl, "1", text="sun and moon")
    assert keys(crawl)["1"] == scored("topic:sun", "", "", "sun and moon") + 10 * scored("words", "", "", "sun and moon")


# Live ----------------------------------------------------------------------------------------------------------------------
def test_a_page_on_which_the_scorer_fails_hands_on_nothing_and_is_counted(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with Crawl(f"quality:scorer={PICKY},prior=1", out) as crawl:
        crawl.seed(f"http://a/{i}" for i in range(4))
        settle(crawl, "good", "both", text="x" * 60)
        settle(crawl, "bad", "both", text="raise")
        settle(crawl, "worse", text="nan")
        assert keys(crawl) == {"good": 0.6, "both": 0.6, "3": 1.0, "bad": LOWEST, "worse": LOWEST}
        before = keys(crawl)
    told = {f"{PICKY} raised ValueError: this page is not for me": 1, f"{PICKY} gave nan": 1}
    assert status(out)["unscored"] == told
    again = Crawl.recover(out)
    assert keys(again) == before
    assert again.inspect.status()["unscored"] == told
    again.abandon()


def test_a_recovered_crawl_asks_no_scorer_again(tmp_path: Path) -> None:
    """Scores are part of the events: a scorer that would say something else now does not change the past."""
    crawl = Crawl("quality", tmp_path / "c")
    crawl.seed("http://a/")
    settle(crawl, "x", text="some words", scores={"words": 0.25})
    crawl.abandon()
    again = Crawl.recover(tmp_path / "c")
    assert keys(again) == {"x": 0.25}
    again.abandon()


@pytest.mark.parametrize("spec", ["quality", "group:inner=quality,depth=0,strength=1e9"])
def test_a_redirect_hands_on_what_it_was_given(spec: str) -> None:
    crawl = Crawl(spec)
    crawl.seed("http://a/")
    settle(crawl, "moved", scores={"words": 0.75})
    settle(crawl, "target", scores={})
    assert keys(crawl)["target"] == pytest.approx(0.75)


def test_group_keeps_little_of_a_page() -> None:
    """A live crawl keeps some sixty bytes of a waiting page for itself, and is to keep at most a hundred in all."""
    of_a_page = [column for column in parse("group").layout().values() if column.per == "page"]
    assert sum(np.dtype(column.dtype).itemsize for column in of_a_page) <= 35


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("huge", [1e300, -1e300])
def test_scores_of_any_size_leave_group_with_keys_that_can_be_compared(huge: float, jit: bool) -> None:
    urls = [f"http://a/{i % 3}/{i}" for i in range(12)]
    web = Web.from_edges([0] * 11, list(range(1, 12)), pages=12, urls=urls, texts=[""] * 12)
    note_scores(web, "words", np.full(12, huge))
    run = simulate(web, parse("group"), np.array([0], np.int32), jit=jit)
    assert sorted(run.trace.order.tolist()) == list(range(12))


@pytest.mark.parametrize("jit", [True, False])
def test_the_links_that_group_counts_stay_countable(jit: bool) -> None:
    """The number of pages that link to one is kept in two bytes: it stops where these end, and does not begin anew."""
    policy = parse("group:depth=0")
    state = policy.allocate(2)
    state.parents[1] = MAX_PARENTS
    state.node["key"][1] = 0.25
    assert (compiled(inner_key) if jit else inner_key)(state, 1, 0.75) == pytest.approx(0.25 + 0.5 / MAX_PARENTS)
    assert state.parents[1] == MAX_PARENTS


def test_explain_of_quality_says_which_links_gave_which_part(tmp_path: Path) -> None:
    crawl = Crawl("quality:prior=1", tmp_path / "c")
    crawl.seed(["http://a/1", "http://a/2"])
    settle(crawl, "x", scores={"words": 0.75})
    settle(crawl, "x", scores={"words": 0.25})
    told = crawl.inspect.explain("http://a/x")
    assert [(link["url"], link["part"]) for link in told["links"]] == [("http://a/1", 0.75), ("http://a/2", -0.25)]
    assert (told["priority"], told["other"]) == (0.5, 0.0)
    crawl.close()


def test_explain_of_group_says_which_pages_of_the_directory_count(tmp_path: Path) -> None:
    crawl = Crawl("group:depth=1,inner=bfs", tmp_path / "c")
    crawl.seed("http://a/")
    settle(crawl, "d/1", "d/2", "d/3", "e/1", scores={"words": 0.125})
    settle(crawl, scores={"words": 0.75})
    told = crawl.inspect.explain("http://a/d/3")
    assert told["links"] == [{"url": "http://a/d/1", "part": 0.375}]
    assert (told["priority"], told["other"], told["place"]) == (0.625, 0.25, 2)
    assert told["counted"] == "of its directory"
    assert keys(crawl) == {"d/2": 0.625, "d/3": 0.625, "e/1": 0.5}
    settled = crawl.inspect.explain("http://a/d/1")
    assert (settled["state"], settled["priority"], settled["links"]) == ("settled", 0.5, [])
    crawl.close()
    said = subprocess.run(
        [sys.executable, "-m", "frontrank", "explain", str(tmp_path / "c"), "http://a/d/3"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    assert "Its priority, by fetched pages of its directory (1):" in said
    assert "by no page: what is assumed before any is fetched" in said


@given(
    host=st.from_regex(r"[a-z]{1,5}\.example", fullmatch=True),
    path=st.lists(st.from_regex(r"[a-z0-9]{1,4}", fullmatch=True), max_size=4),
    depth=st.integers(0, 5),
)
def test_a_directory_is_the_host_and_so_many_parts_of_the_path(host: str, path: list[str], depth: int) -> None:
    url = f"http://{host}/" + "/".join([*path, "page1.html?x=1/2"])
    parts = directory(url, depth).split("/")
    assert parts[0] == host and len(parts) == 1 + min(depth, len(path))
    assert not any(character.isdigit() for part in parts[1:] for character in part)
    assert directory(url, depth) == directory(url.replace("page1", "page2"), depth)


# Measures ------------------------------------------------------------------------------------------------------------------
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), pages=st.integers(2, 40), share=st.floats(0.05, 1.0))
def test_measures_of_scores_against_their_definitions(seed: int, pages: int, share: float) -> None:
    web = random_web(pages, 3 * pages, seed)
    draw = np.random.default_rng(seed)
    trace = Trace(np.array([0]), draw.permutation(pages).astype(np.int32))
    metric, k = "quality:scorer=by_url", max(1, round(share * pages))
    score = [by_url(url, "", "") for url in web.urls or ()]
    order, texts = trace.order.tolist(), list(web.texts or ())
    assert harvest(trace, web, [share], metric)[share] == pytest.approx(measures.harvest(order, score, k))
    assert distinct(trace, web, [share], metric)[share] == pytest.approx(measures.distinct(order, score, texts, k))
    gains = [draw.integers(0, 3, pages).astype(float) for _ in range(3)]
    gains[0][0] = 1.0
    found = max_ndcg(trace, web, gains, [share], depth=7)[share]
    assert found == pytest.approx(measures.max_ndcg(order, [one.tolist() for one in gains], k, 7))


def test_a_gap_needs_something_to_be_won() -> None:
    assert gap(0.5, 0.5, 0.75) == 0.0 and gap(0.75, 0.5, 0.75) == 1.0 and gap(0.25, 0.5, 0.75) == -1.0
    assert gap(0.5, 0.5, 0.5) is None and gap(None, 0.5, 1.0) is None
    with pytest.raises(InputError, match="no query has a relevant page"):
        max_ndcg(Trace(np.array([0]), np.array([0])), Web.from_edges([0], [1], pages=2), [np.zeros(2)])


def test_simulate_tells_the_gap_where_bfs_and_the_oracle_run(tmp_path: Path) -> None:
    web = fr.load("synthetic:pages=400,links=6,text=1,seed=5")
    specs = ["bfs", "quality", "quality:inherit=own"]
    runs = fr.compare(web, specs, budget=0.5, metric="quality:scorer=words")
    told = runs.json()["policies"]
    assert set(told["quality"]["gap"]) == set(told["quality"]["mass"])
    assert told["bfs"]["gap"]["0.1"] == 0.0 and told["quality:inherit=own"]["gap"]["0.1"] == 1.0
    assert any(note.startswith("quality: from bfs to the oracle") for note in runs.frame().notes)
    assert "gap" not in fr.compare(web, ["bfs", "quality"], budget=0.5, metric="quality").json()["policies"]["bfs"]
    topical = fr.compare(web, ["bfs"], budget=0.5, metric="quality:scorer=topic:computer").json()["policies"]["bfs"]
    assert topical["ndcg"]["0.5"] is not None and topical["harvest"]["0.5"] is not None
    repeated = repeat(web, specs, 2, "random:5", budget=0.3, metric="quality").json()["policies"]["quality"]
    assert repeated["spread"]["distinct"]["0.1"] >= 0.0


@pytest.fixture(scope="module")
def uci(data_dir: Path) -> Web:
    return fr.load(data_dir / "uci-ics")


@pytest.mark.data
@pytest.mark.parametrize("scorer", ["words", "rules", "topic:research"])
def test_a_deployable_ordering_goes_most_of_the_way_to_the_oracle(scorer: str, uci: Web) -> None:
    """On a real site from its home page: group, or quality, at least 60% of the way from bfs to the oracle."""
    web = uci
    specs = ["bfs", f"quality:scorer={scorer}", f"group:scorer={scorer}", f"quality:scorer={scorer},inherit=own"]
    runs = fr.compare(web, specs, ["https://www.ics.uci.edu"], 0.2, f"quality:scorer={scorer}")
    told = runs.json()["policies"]
    for share in ("0.05", "0.1", "0.2"):
        assert max(told[spec]["gap"][share] for spec in specs[1:3]) >= 0.6, (share, told)
    assert scores_of(web, scorer).max() <= 1.0


# frontrank crawl -----------------------------------------------------------------------------------------------------------
class Library(Site):
    """A site about many things; a few pages, behind pages about them, are about solar energy."""

    PAGES = {
        "/": "<title>Library</title>" + links(*(f"/shelf/{i}" for i in range(40)), "/solar/") + "all there is",
        "/solar/": "<title>Solar energy</title><p>solar energy " * 3 + links(*(f"/paper/{i}" for i in range(8))),
        **{f"/paper/{i}": f"<title>Energy {i}</title><p>{'solar energy panels ' * (i + 1)}" for i in range(8)},
        **{f"/shelf/{i}": f"<title>Shelf {i}</title><p>books of no interest {i}" for i in range(40)},
    }


def test_a_goal_brings_the_pages_about_it_and_lists_the_best(tmp_path: Path) -> None:
    with served(Library) as url:
        out = tmp_path / "crawl"
        told = crawl(f"{url}/", "--out", out, *LOCAL, "--goal", "the best pages on solar energy", "--budget", "10")
    assert told["fetched"] == 10 and told["policy"] == "quality:scorer=topic:solar energy,inherit=max,anchor=1"
    best = [page["url"].removeprefix(url) for page in told["best"]]
    assert sorted(best) == sorted(["/", "/solar/", *(f"/paper/{i}" for i in range(8))])
    scores = [page["score"] for page in told["best"]]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0.5
    done = subprocess.run(
        [sys.executable, "-m", "frontrank", "crawl", "--resume", str(out), "-q"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    assert "the best pages found for 'the best pages on solar energy':" in done and best[0] in done


def test_a_goal_that_no_page_speaks_of_and_trust_in_nobody_are_said(tmp_path: Path) -> None:
    (tmp_path / "trust.tsv").write_text("nowhere.example 1\nelsewhere.example 2\n")
    with served(Library) as url:
        goal = crawl(f"{url}/", "--out", tmp_path / "goal", *LOCAL, "--goal", "xyzzy", "--budget", "5")
        policy = f"surf:trust={tmp_path / 'trust.tsv'}"
        trust = crawl(f"{url}/", "--out", tmp_path / "trust", *LOCAL, "--ordering", policy, "--budget", "3")
    assert goal["remarks"] == ["no page of the 5 holds a word of the goal 'xyzzy'; name other words, or other seeds"]
    assert len(trust["remarks"]) == 1
    assert "none of its 2 names was met, so that no page is trusted: nowhere.example, elsewhere.example" in trust["remarks"][0]


def test_a_goal_on_a_served_web_finds_more_of_it_than_bfs(tmp_path: Path) -> None:
    web = "synthetic:pages=1500,links=8,text=1,seed=3"
    loaded = fr.load(web)
    with run_in_process(web) as proxy:
        from frontrank.lab.webserver import ServerOptions as Served
        from frontrank.lab.webserver.site import Site as Known

        addresses = Known(loaded, Served())
        common = [*addresses.seeds(), "--proxy", proxy, "--scope", "any", "--no-robots", "--delay", "0", "--per-host", "0"]
        found = {}
        for name, args in {"goal": ["--goal", "computer"], "bfs": ["--ordering", "bfs"]}.items():
            told = crawl(*common, "--out", tmp_path / name, *args, "--budget", "60")
            assert told["fetched"] == 60
            pages = fr.load(tmp_path / name)
            found[name] = float(scores_of(pages, "topic:computer").sum())
    assert found["goal"] > 3 * found["bfs"], found


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--goal", "the best pages"], "--goal must say what pages are to be about, got 'the best pages'"),
        (["--goal", ""], "a goal must say what pages are to be about, got ''"),
        (["--goal", "sun", "--ordering", "bfs"], "--goal and --ordering were both given"),
    ],
)
def test_a_goal_that_cannot_be_used_is_refused_before_anything_is_made(tmp_path: Path, args: list[str], says: str) -> None:
    said = crawl("http://127.0.0.1:9/", "--out", tmp_path / "crawl", *args, code=2)
    assert says in said and len(said.splitlines()) == 1
    assert not (tmp_path / "crawl").exists()


class Hanging(Site):
    PAGES = {
        "/": "<p>a page" + links("/loop", "/fine", "/raise"),
        "/loop": "<p>loop" + links("/behind"),
        "/raise": "<p>raise" + links("/behind"),
        "/fine": "<p>fine" + links("/good"),
        "/good": "<p>good",
        "/behind": "<p>behind",
    }


def test_a_scorer_that_hangs_or_raises_is_named_and_the_crawl_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with served(Hanging) as url:
        told = crawl(f"{url}/", "--out", out, *LOCAL, "--no-robots", "--ordering", f"quality:scorer={PICKY}", cwd=ROOT)
    assert (told["fetched"], told["failed"], told["ended"]) == (6, 0, "frontier empty")
    assert told["unscored"] == {f"{PICKY} took too long": 1, f"{PICKY} raised ValueError: this page is not for me": 1}
    assert f"scorer {PICKY} took too long: {url}/loop" in (out / "crawl.log").read_text(encoding="utf-8")
    shown = subprocess.run(
        [sys.executable, "-m", "frontrank", "status", str(out), "--trust"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=ROOT,
        check=True,
    ).stdout
    assert "no score" in shown and "took too long" in shown
    assert json.loads(json.dumps(told["best"]))[0]["score"] > 0
