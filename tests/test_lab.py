"""The lab: papers run again on small webs; what they claim is decided by what was measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from frontrank import papers as lab
from frontrank.cli.reproduce import command
from frontrank.errors import SpecError
from frontrank.lab.drawn import Drawn
from frontrank.lab.measures import Curve, threshold_curve
from frontrank.papers import AGREES, DISAGREES, UNDECIDED, UNTESTED, Reproduction, fica07, fpr10
from frontrank.papers.claims import ACROSS, ahead, alike, at_most, decided, lead, leads, not_below, one_holds, untested
from frontrank.papers.draws import Draws, draw, heights, mean_height, middle, random_pages, reaches_at
from frontrank.papers.parts import part_of, reachable, reached, site, start_page, starts
from frontrank.sources import load
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web
from tests.webs import random_web

SPEC = "synthetic:pages=2000,hosts=10,seed=3"


@pytest.fixture(scope="module")
def web() -> Web:
    return load(SPEC)


@pytest.fixture(scope="module")
def bare(web: Web) -> Web:
    """The same links, and nothing else known."""
    return Web(web.indptr, web.targets, name="bare")


Steps = list[tuple[int, int]]


@pytest.fixture(scope="module")
def of_bare(bare: Web) -> dict[str, tuple[Reproduction, Steps]]:
    """All papers on the web of which only links are known, and the progress they told of."""
    made: dict[str, tuple[Reproduction, Steps]] = {}
    for paper in lab.PAPERS:
        steps: Steps = []

        def note(text: str, done: int, total: int, to: Steps = steps) -> None:
            to.append((done, total))

        made[paper] = lab.run(paper, bare, note), steps
    return made


@pytest.fixture(scope="module", params=lab.PAPERS)
def told(request: pytest.FixtureRequest, web: Web) -> Reproduction:
    return lab.run(request.param, web, source=SPEC)


def test_every_claim_has_a_verdict_that_follows_from_a_rule(told: Reproduction) -> None:
    assert len(told.claims()) >= 8
    for claim in told.claims():
        assert claim.verdict in (AGREES, DISAGREES, UNDECIDED)  # this web knows all that the papers ask for
        assert claim.rule
        assert claim.measured
        assert bool(claim.reason) == (claim.verdict != AGREES)  # why it fails, or that nobody knows


def test_every_experiment_has_figures(told: Reproduction) -> None:
    for one in told.experiments:
        assert not one.skipped
        assert one.table is not None
        assert all(len(row) == len(one.table.header) for row in one.table.rows)
        assert one.orderings or one.plot is not None


def test_curves_lie_between_nothing_and_all(told: Reproduction) -> None:
    for one in told.experiments:
        if one.plot is not None and one.plot.shares:
            for curve in one.plot.lines.values():
                assert curve.y.min() >= 0.0
                assert curve.y.max() <= 1.0 + 1e-12


def test_json_holds_finite_numbers_and_counts_the_verdicts(told: Reproduction) -> None:
    read = json.loads(json.dumps(told.json(), allow_nan=False))
    assert sum(read["verdicts"].values()) == len(told.claims())
    assert read["command"] == f"frontrank reproduce {told.key} --web {SPEC}"
    assert [one["heading"] for one in read["experiments"]] == [one.heading for one in told.experiments]


def test_markdown_states_every_claim_and_how_to_repeat_it(told: Reproduction) -> None:
    text = told.markdown()
    assert told.command in text
    for claim in told.claims():
        assert f"| {claim.says} |" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)


def test_the_page_is_whole_and_needs_nothing_else(told: Reproduction, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    told.html(path)
    text = path.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    assert told.summary() in text
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_a_run_is_repeated_to_the_last_verdict() -> None:
    small = load("synthetic:pages=500,seed=2")
    first, again = (lab.run("cho98", small).json() for _ in range(2))  # no times in it
    assert first == again


@pytest.mark.parametrize(("paper", "open_claims"), [("cho98", 14), ("fica07", 0), ("fpr10", 5)])
def test_what_a_bare_web_cannot_decide_stays_open_with_a_reason(
    of_bare: dict[str, tuple[Reproduction, Steps]], paper: str, open_claims: int
) -> None:
    told, _ = of_bare[paper]
    left = [claim for claim in told.claims() if claim.verdict == UNTESTED]
    assert len(left) == open_claims
    assert all(claim.reason.startswith("bare does not know its") for claim in left)
    assert f"{UNTESTED}: bare does not know its hosts" in {claim.finding for claim in left} or paper != "cho98"


def test_a_topic_that_few_pages_are_about_is_left_out(web: Web) -> None:
    silent = replace(web, titles=[""] * web.pages, texts=[""] * web.pages)
    told = lab.run("cho98", silent)
    skipped = [one for one in told.experiments if one.skipped]
    assert len(skipped) == 4
    assert skipped[0].skipped == f"0 pages of {web.name} are about 'computer', at least 20 are wanted"


def test_progress_goes_forward_and_never_beyond_its_end(of_bare: dict[str, tuple[Reproduction, Steps]]) -> None:
    _, steps = of_bare["fica07"]
    assert steps == sorted(steps)
    assert {total for _, total in steps} == {7}
    assert steps[-1][0] == 6


def test_an_unknown_paper_is_said_with_a_suggestion() -> None:
    with pytest.raises(SpecError) as error:
        lab.run("cho99", random_web())
    assert str(error.value) == "unknown paper 'cho99'; did you mean 'cho98'? Known: cho98, fica07, fpr10, pandey08, tran15"


# Rules ---------------------------------------------------------------------------------------------------------------
def test_the_verdict_is_the_rule_and_nothing_else() -> None:
    assert decided("a", "b", "c", True).finding == AGREES
    assert decided("a", "b", "c", False).finding == "disagrees: why is not known"
    assert decided("a", "b", "c", False, "few hosts").finding == "disagrees: few hosts"
    assert decided("a", "b", "c", None, "few hosts").finding == f"cannot be decided: {ACROSS}"
    assert untested("a", "no hosts").finding == "cannot be tested here: no hosts"


def test_the_mean_height_of_chance_is_one_half() -> None:
    chance = Curve(np.linspace(0, 1, 11), np.linspace(0, 1, 11))
    assert mean_height(chance) == pytest.approx(0.5)
    assert mean_height(chance, until=0.4) == pytest.approx(0.2)
    assert reaches_at(chance, 0.25) == pytest.approx(0.25)
    assert reaches_at(Curve(chance.x, chance.y / 2), 0.9) is None


# Draws -----------------------------------------------------------------------------------------------------------------
def test_one_is_ahead_only_outside_the_spread_of_the_differences() -> None:
    """Draws differ much, and the two orderings alike: what counts is the difference in each."""
    low, high = Drawn((0.1, 0.5, 0.9)), Drawn((0.2, 0.6, 1.0))
    assert ahead(high, low) is True
    assert ahead(low, high) is False
    assert ahead(Drawn((0.2, 0.5, 0.8)), low) is None  # once above, once below: not decided
    assert ahead(Drawn((0.104, 0.504, 0.904)), low) is False  # the margin
    assert leads({"a": high, "b": low}, "a") is True


def test_what_lies_within_the_spread_is_not_decided_in_any_kind_of_claim() -> None:
    """It once counted as disagreeing wherever one ordering had to be ahead of others."""
    near, far = {"a": Drawn((0.5, 0.6)), "b": Drawn((0.4, 0.7))}, {"a": Drawn((0.5, 0.6)), "c": Drawn((0.8, 0.9))}
    assert lead("says", "rule", near, "a").finding == "cannot be decided: within the spread of b"
    assert lead("says", "rule", {**near, **far}, "a").finding == (
        "disagrees: behind c by .300±.000; within the spread of b; why is not known"
    )
    assert lead("says", "rule", {"a": near["a"], "d": near["a"]}, "a").finding == "disagrees: level with d; why is not known"
    assert (one_holds([None, False]), one_holds([None, True]), one_holds([False, False])) == (None, True, False)
    assert (at_most(near["b"], 0.8), at_most(near["b"], 0.6), at_most(near["b"], 0.1)) == (True, None, False)


def test_what_is_alike_within_a_margin_is_so_with_its_spread() -> None:
    """A mean within the margin says nothing where draws differ by more."""
    said = ("a", "b", "c")
    assert alike(*said, Drawn((0.001, 0.003)), 0.005).verdict == AGREES
    assert alike(*said, Drawn((-0.015, 0.009)), 0.005).verdict == UNDECIDED
    assert alike(*said, Drawn((-0.020, -0.024)), 0.005).verdict == DISAGREES
    assert not_below(*said, Drawn((0.2, 0.4)), 0.02).verdict == AGREES
    assert not_below(*said, Drawn((-0.02, -0.01)), 0.02).verdict == UNDECIDED
    assert not_below(*said, Drawn((-0.10, -0.11)), 0.02, "few hosts").finding == "disagrees: few hosts"
    assert alike(*said, Drawn((0.005,)), 0.005).verdict == AGREES  # one draw has no spread


def test_times_are_told_for_all_draws(told: Reproduction) -> None:
    if told.key == "cho98":
        return
    table = next(one for one in told.experiments if one.heading == "Running time").table
    assert table is not None and all("±" in str(row[1]) for row in table.rows)


def test_means_and_spreads_are_those_of_the_draws() -> None:
    flat = [Curve(np.array([0.0, 1.0]), np.array([height, height])) for height in (0.2, 0.4)]
    value = heights({"a": flat})["a"]
    assert (value.mean, value.spread) == pytest.approx((0.3, 0.02**0.5))
    assert str(value) == ".300±.141"
    assert middle({"a": flat})["a"].y.tolist() == pytest.approx([0.3, 0.3])


def test_draws_that_lead_nowhere_are_drawn_again() -> None:
    """Page 0 reaches all, page 9 itself alone."""
    web = Web.from_edges(range(9), range(1, 10), pages=10)
    seeds, reach = draw(web, iter([np.array([9]), np.array([0]), np.array([8]), np.array([1])]), count=2)
    assert [one.tolist() for one in seeds] == [[0], [1]]
    assert reach == [10, 9]


def test_seeds_are_drawn_alike_each_time_and_without_repetitions(web: Web) -> None:
    first, again = (next(random_pages(web, 50)) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert len(set(first.tolist())) == 50
    some = np.arange(10, 70, dtype=np.int32)
    assert set(next(random_pages(web, 5, some)).tolist()) <= set(some.tolist())


def test_other_starts_reach_nearly_what_the_first_does(web: Web) -> None:
    part, start = reachable(web)
    pages = starts(part, start, 5)
    assert pages[0] == start
    assert len(set(pages)) == 5
    assert all(len(reached(part, page)) >= 0.95 * part.pages for page in pages)


def test_seeds_are_the_papers_share_of_the_web(of_bare: dict[str, tuple[Reproduction, Steps]]) -> None:
    """1,000 of 18 million pages are less than one of 2,000; at least one is taken, in five draws."""
    told, _ = of_bare["fica07"]
    assert told.setting.startswith("5 draws of 1 random page, the paper's share of the web")
    throughput = told.experiments[0]
    assert "opic:start=all" in throughput.orderings
    assert throughput.table is not None
    assert {row[1] for row in throughput.table.rows if row[0] == "OPIC"} == {"opic:start=all"}


# Parts of a web --------------------------------------------------------------------------------------------------------
def test_a_part_keeps_the_links_anchors_and_names_of_its_pages() -> None:
    web = random_web(pages=80, links=500, seed=5)
    pages = np.arange(0, 80, 3)
    part = part_of(web, pages[::-1], "part")
    assert part.urls is not None and web.urls is not None and part.anchors is not None and web.anchors is not None
    for p, page in enumerate(pages.tolist()):
        assert part.urls[p] == web.urls[page]
        kept = [j for j in range(web.indptr[page], web.indptr[page + 1]) if web.targets[j] % 3 == 0]
        assert part.ids_of(part.targets_of(p)).tolist() == web.targets[kept].tolist()
        assert [part.anchors[j] for j in range(part.indptr[p], part.indptr[p + 1])] == [web.anchors[j] for j in kept]


def test_the_start_page_is_a_home_page_and_reaches_its_part(web: Web) -> None:
    start = start_page(web)
    assert web.urls is not None
    assert web.urls[start].count("/") == 3
    part, at = reachable(web)
    assert part.name_of(at) == web.urls[start]
    assert Draws(part, [np.array([at])], lambda text: None).run("bfs", 0).trace.fetched == part.pages


def test_without_urls_or_seeds_the_start_page_is_the_one_that_reaches_most() -> None:
    hub = Web.from_edges([0, 1, 2, 3, 3, 3], [1, 2, 0, 4, 5, 6], pages=7)
    assert start_page(hub) == 3
    assert start_page(replace(hub, seeds=np.array([5, 0]))) == 0


def test_a_site_is_one_host_nearest_to_the_size_asked_for(web: Web) -> None:
    found = site(web, 0.05)
    assert found is not None and web.hosts is not None and web.urls is not None
    part, start = found
    assert part.hosts is not None
    assert len(np.unique(part.hosts)) == 1
    assert part.name in part.name_of(start)
    sizes = np.bincount(web.hosts)
    assert abs(part.pages - 0.05 * web.pages) <= np.abs(sizes - 0.05 * web.pages).min() + 1  # trees: all are reached


def test_no_site_is_taken_of_a_web_with_one_host(web: Web) -> None:
    assert site(replace(web, hosts=np.zeros(web.pages, np.int32)), 0.05) is None


def test_a_crawl_is_run_once_however_often_it_is_asked_for(web: Web) -> None:
    said: list[str] = []
    draws = Draws(web, [np.array([start_page(web)])], said.append)
    first, again = draws.run("backlink", 0), draws.run("backlink", 0)
    assert first is again
    assert said == ["draw 1 of 1: backlink"]
    [found] = draws.threshold_curves({"mine": "backlink"}, 5.0, "backlink")["mine"]
    assert np.array_equal(found.y, threshold_curve(first.trace, web, 5.0, "backlink").y)


# Command line ----------------------------------------------------------------------------------------------------------
def test_the_command_writes_what_it_is_asked_for(tmp_path: Path) -> None:
    page, text = tmp_path / "r.html", tmp_path / "r.md"
    args = ["fpr10", "--web", "synthetic:pages=800,seed=2", "--out", str(page), "--markdown", str(text), "--json"]
    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert json.loads(result.stdout)["paper"] == "fpr10"
    assert page.stat().st_size > 100_000
    assert text.read_text(encoding="utf-8").startswith("# fpr10 on synthetic:pages=800,seed=2\n")


def test_the_command_tells_claims_and_verdicts() -> None:
    result = CliRunner().invoke(command, ["fpr10", "--web", "synthetic:pages=800,seed=2"], catch_exceptions=False)
    assert result.stdout.startswith("fpr10 on synthetic:pages=800,seed=2: Of 10 claims")
    assert "FPR is almost as effective as RankMass" in result.stdout


def test_the_command_says_before_it_works_what_cannot_be_written(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["fpr10", "--out", str(tmp_path / "none" / "r.html")])
    assert "there is no directory" in str(result.exception)


@pytest.mark.data
def test_fractional_pagerank_is_near_windowed_rankmass_on_a_real_web(data_dir: Path) -> None:
    web = load(data_dir / "uci-ics")
    assert web.name_of(start_page(web)) == "https://www.ics.uci.edu/"
    near = fpr10.effectiveness(Draws(web, [find_seeds(web, "top:160")] * 2, lambda text: None, 15_000)).claims[0]
    assert near.says.startswith("FPR is almost as effective as RankMass")
    assert near.verdict == AGREES


def test_links_that_a_distance_leaves_out_explain_only_what_pages_with_one_link_lack() -> None:
    """Pages 3 to 5 have one link, 0 to 2 several."""
    web = Web.from_edges([*[0, 0, 0], *[1, 1, 2, 2, 3, 3]], [*[3, 4, 5], *[0, 2, 0, 1, 1, 2]], pages=6)
    truth = np.array([3.0, 2.0, 1.0, 0.3, 0.2, 0.1])
    alone = np.array([1.0, 2.0, 3.0, 0.3, 0.2, 0.1])
    assert fica07._by_inlinks(web, {"OPIC": truth, "FICA": alone}, truth).startswith("a distance takes the best link")
    assert fica07._by_inlinks(web, {"OPIC": truth, "FICA": -truth}, truth).startswith(
        "not for links that a distance leaves out"
    )
