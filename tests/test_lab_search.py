"""The papers about search impact, run again on a small web with text; and what they are made of, against plain oracles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank import papers as lab
from frontrank.cli.reproduce import command
from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.evaluate import evaluate
from frontrank.lab.measures.impact import impact_shares
from frontrank.lab.scenario import build_scenario, split
from frontrank.lab.tune import estimate_632_plus
from frontrank.pages.words import words
from frontrank.papers import (
    AGREES,
    DISAGREES,
    UNDECIDED,
    UNTESTED,
    Reproduction,
    pandey08,
    pandey08_data,
    tran15,
    tran15_scenario,
)
from frontrank.papers.impact_ratio import behind, beside, linked, links_within
from frontrank.papers.made_queries import gathered, ideal, lines, made_workload, of_ideal, searched
from frontrank.papers.parts import start_page
from frontrank.papers.reproduction import RANDOM
from frontrank.search.divided import halves, same
from frontrank.search.observe import observe, truth
from frontrank.sources import load
from frontrank.web.view import CrawlView, Workload
from frontrank.web.web import Web
from tests.oracles import bootstrap
from tests.webs import random_web

SPEC = "synthetic:pages=700,hosts=8,seed=2"
FEW = 2


@pytest.fixture(scope="module")
def web() -> Web:
    return load(SPEC)


@pytest.fixture(scope="module")
def log(web: Web) -> Workload:
    return made_workload(web)


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Draws cost time; what is said of them is the same for two."""
    with pytest.MonkeyPatch.context() as few:
        for paper in (pandey08, tran15):
            few.setattr(paper, "DRAWS", FEW)
        yield


@pytest.fixture(scope="module", params=lab.SEARCH_PAPERS)
def told(request: pytest.FixtureRequest, web: Web, few_draws: None) -> Reproduction:
    return lab.run(request.param, web, source=SPEC)


@pytest.fixture(scope="module")
def both(web: Web, log: Workload) -> tuple[pandey08_data.Dataset, pandey08_data.Dataset]:
    one, two = pandey08_data.datasets(web, halves(log), lambda text: None, draws=1)
    return one.first, two.first


# Whole papers ----------------------------------------------------------------------------------------------------------
def test_every_claim_is_decided_by_a_rule_or_open_for_a_reason(told: Reproduction) -> None:
    assert len(told.claims()) >= 10
    for claim in told.claims():
        if claim.verdict == UNTESTED:
            assert claim.reason
        else:
            assert claim.verdict in (AGREES, DISAGREES, UNDECIDED)
            assert claim.rule and claim.measured
            assert claim.reason or claim.verdict == AGREES


def test_every_claim_of_a_paper_is_taken_up(told: Reproduction) -> None:
    taken_up = {claim.says for claim in told.claims()}
    assert taken_up == set({"pandey08": pandey08.ALL, "tran15": tran15.ALL}[told.key])


def test_tables_are_whole_and_curves_lie_between_nothing_and_all(told: Reproduction) -> None:
    for one in told.experiments:
        if one.table is not None:
            assert one.table.rows
            assert all(len(row) == len(one.table.header) for row in one.table.rows)
        if one.plot is not None and one.plot.shares:
            for curve in one.plot.lines.values():
                assert curve.y.min() >= 0.0
                assert curve.y.max() <= 1.0 + 1e-12


def test_everything_is_told_to_programs_in_text_and_as_a_page(told: Reproduction, tmp_path: Path) -> None:
    read = json.loads(json.dumps(told.json(), allow_nan=False))
    assert read["command"] == f"frontrank reproduce {told.key} --web {SPEC}"
    assert sum(read["verdicts"].values()) == len(told.claims())
    assert all(f"| {claim.says} |" in told.markdown() for claim in told.claims())
    told.html(tmp_path / "page.html")
    assert told.summary() in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", lab.SEARCH_PAPERS)
def test_where_nothing_can_be_searched_all_claims_stay_open(web: Web, paper: str) -> None:
    bare = Web(web.indptr, web.targets, name="bare")
    findings = {claim.finding for claim in lab.run(paper, bare).claims()}
    assert findings == {f"{UNTESTED}: bare does not know its URLs, without which nothing can be searched"}


def test_where_all_that_can_be_reached_is_fetched_nothing_waits() -> None:
    alone = Web.from_edges([0, 0], [1, 2], pages=12, urls=[f"http://a/{page}" for page in range(12)], name="alone")
    told = lab.run("tran15", alone)
    assert {one.skipped for one in told.experiments} >= {
        "the start page reaches 3 pages, which is not more than 60% of the web: nothing would wait"
    }


def test_progress_goes_forward_and_never_beyond_its_end(web: Web, log: Workload) -> None:
    steps: list[tuple[int, int]] = []
    lab.run("pandey08", web, lambda text, done, total: steps.append((done, total)), workload=log)
    assert steps == sorted(steps)
    assert all(done < total == 10 for done, total in steps)


def test_a_paper_about_links_takes_no_queries(web: Web, log: Workload) -> None:
    with pytest.raises(InputError, match="fpr10 is about links alone"):
        lab.run("fpr10", web, workload=log)
    result = CliRunner().invoke(command, ["fpr10", "--queries", "log.txt"])
    assert str(result.exception) == "--queries log.txt was given, but fpr10 is about links alone; drop --queries"


def test_the_command_names_the_query_log_it_was_given(tmp_path: Path, log: Workload) -> None:
    path = tmp_path / "log.tsv"
    path.write_text("".join(f"{q}\t{f:g}\n" for q, f in zip(log.queries, log.frequency, strict=True)), encoding="utf-8")
    args = ["pandey08", "--web", SPEC, "--queries", str(path), "--json"]
    read = json.loads(CliRunner().invoke(command, args, catch_exceptions=False).stdout)
    assert read["command"] == f"frontrank reproduce pandey08 --web {SPEC} --queries {path}"
    assert "(the log given)" in read["setting"]


# Made queries ----------------------------------------------------------------------------------------------------------
def test_a_made_log_is_the_same_twice_and_asks_for_words_of_the_web(web: Web, log: Workload) -> None:
    again = made_workload(load(SPEC))
    assert again.queries == log.queries
    assert np.array_equal(again.frequency, log.frequency)
    assert web.texts is not None and web.titles is not None
    everything = " ".join(f" {' '.join(words(text))} " for column in (web.titles, web.texts) for text in column)
    assert all(f" {query} " in everything for query in log.queries)
    assert max(len(query.split()) for query in log.queries) == 3


def test_the_frequencies_of_a_made_log_follow_zipf(log: Workload) -> None:
    assert log.frequency[0] == len(log)
    assert log.frequency[3] == np.ceil(len(log) / 4)
    assert log.frequency[-1] == 1


def test_without_titles_and_texts_queries_are_made_of_urls() -> None:
    web = Web.from_edges([0], [1], pages=2, urls=["http://bees.example/", "http://bees.example/honey"])
    assert {word for query in made_workload(web).queries for word in query.split()} == {"bees", "example", "honey"}


def test_a_web_without_words_is_said_to_need_a_query_log() -> None:
    with pytest.raises(InputError, match="no words to make queries of; give a query log with --queries"):
        made_workload(Web.from_edges([0], [1], pages=2, urls=["", ""]))


# Impact ratios -----------------------------------------------------------------------------------------------------------
def crawled(seed: int) -> tuple[CrawlView, Array, Array]:
    """A crawl of a random web, some of its fetched pages, and an impact for every page."""
    draw = np.random.default_rng(seed)
    web = random_web(pages=60, links=150, seed=seed)
    view = CrawlView.of(web, np.array([0]), np.arange(0, 60, 2))
    return view, view.fetched & (draw.random(view.known) < 0.2), draw.integers(0, 9, view.known).astype(float)


@pytest.mark.parametrize("seed", range(8))
def test_impact_ratios_equal_those_from_edges_written_down(seed: int) -> None:
    view, chosen, impact = crawled(seed)
    rows = [set(view.target[view.indptr[r] : view.indptr[r + 1]].tolist()) for r in range(len(view.source))]
    waits = {page for page in range(view.known) if not view.fetched[page]}
    edges = {(i, j) for row in rows for i in row for j in row if i != j}
    direct = {j for row, page in zip(rows, view.source.tolist(), strict=True) if chosen[page] for j in row} & waits
    virtual = {j for i, j in edges if chosen[i]} & waits
    assert set(np.flatnonzero(linked(view, chosen)).tolist()) == direct
    assert set(np.flatnonzero(beside(view, chosen)).tolist()) == virtual
    before, after = behind(view, chosen, impact), behind(view, chosen, impact, enriched=True)
    assert before.ratio == pytest.approx(sum(impact[j] for j in direct) / chosen.sum())
    assert after.ratio == pytest.approx(sum(impact[j] for j in direct | virtual) / chosen.sum())
    assert (before.linked, after.linked) == (len(direct), len(direct | virtual))


def test_enrichment_of_the_papers_figure_leads_from_a_page_to_those_linked_beside_it() -> None:
    web = Web.from_edges([1, 1, 2, 2, 2, 3, 3], [4, 5, 4, 5, 6, 4, 5], pages=7)  # v2, v3, v4 link to v5, v6; v3 to v7 too
    view = CrawlView.of(web, np.arange(7), np.array([0, 1, 2, 3, 4]))
    chosen = np.arange(7) == 4
    assert not linked(view, chosen).any()
    assert np.flatnonzero(beside(view, chosen)).tolist() == [5, 6]


def test_links_are_counted_by_where_they_lead() -> None:
    view, _, _ = crawled(1)
    fetched = set(view.source.tolist())
    inside = sum(int(page) in fetched for page in view.target[: view.links])
    assert links_within(view) == (inside, view.links - inside)


def test_no_page_leads_to_nothing() -> None:
    view, chosen, impact = crawled(2)
    assert behind(view, np.zeros_like(chosen), impact, enriched=True) == (0, 0, 0.0, 0.0)


# Curves ------------------------------------------------------------------------------------------------------------------
def test_the_random_line_is_the_mean_of_many_random_orders() -> None:
    draw = np.random.default_rng(0)
    impact, shares = draw.pareto(2.0, 40), np.array([0.1, 0.5, 1.0])
    orders = np.mean([of_ideal(draw.random(40), impact, shares).y for _ in range(4000)], axis=0)
    assert lines({}, impact, shares)[RANDOM].y == pytest.approx(orders, rel=0.05)


def test_no_order_gathers_more_than_the_ideal_which_is_that_by_impact() -> None:
    draw = np.random.default_rng(1)
    impact = draw.random(300)
    best = ideal(impact)
    assert np.allclose(gathered(impact, impact).y, best.y)
    assert np.all(gathered(draw.random(300), impact).y <= best.y + 1e-12)
    assert of_ideal(impact, impact, np.array([0.01, 0.3])).y.tolist() == [1.0, 1.0]


# Scenes ------------------------------------------------------------------------------------------------------------------
def test_the_frontier_is_cut_as_the_split_protocol_cuts_it(web: Web, log: Workload) -> None:
    mine = split(build_scenario(web, halves(log), "bfs:0.3", [0]), draw=3)
    theirs = build_scenario(web, halves(log), "bfs:0.3", [0], "split", draw=3)
    assert mine.view.revealed is not None and theirs.view.revealed is not None
    assert np.array_equal(mine.tested, theirs.tested)
    assert np.array_equal(mine.view.revealed[0], theirs.view.revealed[0])
    assert np.array_equal(mine.view.revealed[1], theirs.view.revealed[1])


def test_the_true_impact_of_a_dataset_is_that_of_searching_all_pages(
    web: Web, log: Workload, both: tuple[pandey08_data.Dataset, pandey08_data.Dataset]
) -> None:
    views = truth(web, log)
    for data in both:
        assert np.array_equal(data.impact(log, data.truth), views[data.view.pages[data.waits]])


def test_the_second_dataset_has_the_most_important_fifth_of_the_uncrawled_pages_crawled(
    web: Web, both: tuple[pandey08_data.Dataset, pandey08_data.Dataset]
) -> None:
    first, second = (set(data.view.pages[data.view.source].tolist()) for data in both)
    uncrawled = set(range(web.pages)) - first
    moved = second - first
    assert first < second
    assert len(uncrawled) == round(0.2 * web.pages)
    assert len(moved) == round(0.2 * len(uncrawled))
    rank = both[0].importance
    assert min(rank[list(moved)]) >= max(rank[list(uncrawled - moved)])


def test_two_halves_of_the_queries_add_up_to_all_of_them(both: tuple[pandey08_data.Dataset, pandey08_data.Dataset]) -> None:
    data = both[0]
    parts = [data.half(np.arange(at, len(data.log), 2)) for at in (0, 1)]
    seen = sum(view.impact for view, _ in parts if view.impact is not None)
    assert data.view.impact is not None
    assert np.array_equal(seen, data.view.impact)
    true = sum(data.impact(view.search.workload, found) for view, found in parts if view.search is not None)
    assert np.array_equal(true, data.impact(data.log, data.truth))


def test_impact_that_a_web_knows_needs_no_queries_and_leaves_claims_about_them_open(web: Web, log: Workload) -> None:
    views = truth(web, log)
    knows = replace(web, views=views, clicks=np.floor(views / 2))
    told = lab.run("tran15", knows)
    left = [claim.says for claim in told.claims() if claim.verdict == UNTESTED]
    assert left == 2 * [tran15.DRIES, tran15.CLICKS, tran15.LOW]
    assert "Impact is the web's own: views." in told.setting


def test_a_web_without_searchers_gets_some_whose_pages_with_impact_link_to_pages_with_impact(web: Web) -> None:
    made, asked = searched(web)
    assert made.views is not None and made.clicks is not None and np.all(made.clicks <= made.views)
    source = np.repeat(made.views > 0, made.out_degree())
    shown = made.views[made.targets] > 0
    assert shown[source].mean() > 1.25 * shown[~source].mean()
    again, same_asked = searched(load(SPEC))
    assert again.views is not None and np.array_equal(again.views, made.views) and same_asked.queries == asked.queries


def test_on_such_a_web_a_walk_by_impact_finds_far_more_than_pagerank() -> None:
    made, _ = searched(load("synthetic:pages=4000,seed=1"))
    for impact in ("views", "clicks"):
        rw, plain = evaluate(made, None, ["rw", "pagerank"], "bfs:0.3", [start_page(made)], impact=impact).findings
        assert rw.impact[0.05] > 1.25 * plain.impact[0.05]


def test_gamma_is_tuned_as_the_paper_sets_it_and_ml_is_ml(web: Web, log: Workload) -> None:
    cut = halves(log)
    one = tran15_scenario.ordered(web, cut, start_page(web), 0.3, 0, impact=None, tell=lambda text: None)
    assert {setting.gamma for setting in one.tuning} == {0.0, 1.0}
    along_links = max((s for s in one.tuning if s.omega == 1.0), key=lambda s: s.estimate)
    assert one.specs["rw"] == ("rw" if along_links.gamma == 0 else "rw:gamma=1")
    again = evaluate(web, cut.again(0), ["ml", "rw-eg:omega=0.3"], "bfs:0.3", web.ids_of(np.array([start_page(web)])).tolist())
    tested = one.scenario.tested
    found = {name: score[tested] for name, score in {**one.scores, **one.learned["deployed"]}.items()}
    for name, finding in zip(("ml", "rw-eg, omega .3"), again.findings, strict=True):
        assert impact_shares(found[name], one.scenario.impact[tested]) == pytest.approx(finding.impact)


def test_evaluate_tells_what_each_walk_was_run_with(web: Web, log: Workload) -> None:
    told = evaluate(web, halves(log), ["rw", "rw-eg", "rw-eg:omega=0.3"])
    said = [note.partition(";")[0] for note in told.frame().notes if "iterations" in note]
    assert said[0] == "rw: omega 1, gamma 0" and said[2:] == ["rw-eg:omega=0.3: omega 0.3, gamma 0"]
    assert said[1].startswith("rw-eg: omega ")
    assert all(len(finding.notes) == 1 for finding in told.findings)


def test_what_is_promised_is_said_to_be_met_or_not(told: Reproduction) -> None:
    if told.key != "tran15":
        return
    tables = [one.table for one in told.experiments if one.heading.startswith("What is promised")]
    assert len(tables) == 2
    for table in tables:
        assert table is not None and len(table.rows) == 12
        for row in table.rows:
            by = float(str(row[3]).partition("±")[0])
            if "not below" in str(row[1]):
                slack = 0.005 if "by more than" in str(row[1]) else 0.0
                assert str(row[4]).startswith("met") == (by >= -slack) or abs(by + slack) < 0.001


def test_every_figure_of_several_draws_has_its_spread(told: Reproduction) -> None:
    compared = next(one for one in told.experiments if one.heading.startswith(("Policies", "Impact,")))
    assert compared.table is not None
    assert all("±" in str(cell) for row in compared.table.rows for cell in row[1:])
    assert f"{FEW} draws" in told.setting


def test_promoted_pages_stand_low_by_pagerank_and_earlier_by_queries(told: Reproduction) -> None:
    if told.key == "pandey08":
        tables = [one.table for one in told.experiments if one.heading.startswith("Promoted pages")]
        assert len(tables) == 2 and all(table is not None and table.rows for table in tables)
        for _, views, _, by_rank, by_queries in (row for table in tables if table for row in table.rows):
            assert float(str(views)) > 0 and isinstance(by_rank, int) and isinstance(by_queries, int)
        curve = next(one.plot for one in told.experiments if one.heading.startswith("Impact expected"))
        assert curve is not None and np.all(np.diff(curve.lines["isotonic"].y) >= 0)


def test_a_view_asked_by_some_queries_is_the_view_that_these_alone_give(web: Web, log: Workload) -> None:
    (data,) = pandey08_data.datasets(web, halves(log), lambda text: None, draws=1)[0].all
    driving = data.queries.driving
    order = data.view.pages[data.view.source]
    alone = observe(web, order[:1], order, driving, pandey08_data.SHOWN)
    assert alone.search is not None and data.driven.search is not None
    assert data.driven.impact is not None and alone.impact is not None
    assert np.array_equal(data.driven.impact, alone.impact)
    assert np.array_equal(data.driven.search.results.page, alone.search.results.page)
    assert np.array_equal(data.judged(), truth(web, data.queries.judging)[data.view.pages[data.waits]])


class TestWhatRankersAreJudgedBy:
    """Shown and chosen are two things: what is not known is not told, and nothing is told under another name."""

    views, clicks = np.arange(40.0), np.arange(40.0)[::-1].copy()

    def judged(self, **known: Any) -> dict[str, Any]:
        web = replace(random_web(40, 200, seed=3), **known)
        told = evaluate(web, None, ["indegree"], "bfs:0.3", [0]).json()
        return {"by": told["judged_by"], **told["rankers"]["indegree"]}

    def test_clicks_alone(self) -> None:
        told = self.judged(clicks=self.clicks)
        assert (told["by"], told["views"], told["ctr"]) == ("clicks", None, None)
        assert told["clicks"] == told["impact"] and 0 < told["impact"]["0.2"] < 1

    def test_views_alone(self) -> None:
        told = self.judged(views=self.views)
        assert (told["by"], told["clicks"], told["ctr"]) == ("views", None, None)
        assert told["views"] == told["impact"]

    def test_both(self) -> None:
        told = self.judged(views=self.views, clicks=self.clicks)
        assert told["by"] == "views" and told["views"] == told["impact"] != told["clicks"]
        assert told["ctr"] is not None and told["ctr"]["0.2"] != 1.0

    def test_both_by_clicks(self) -> None:
        web = replace(random_web(40, 200, seed=3), views=self.views, clicks=self.clicks)
        told = evaluate(web, None, ["rw"], "bfs:0.3", [0], impact="clicks")
        one = told.json()["rankers"]["rw"]
        assert told.json()["judged_by"] == "clicks" and one["clicks"] == one["impact"] != one["views"]
        view = told.scenario.view
        assert view.impact is not None
        assert np.array_equal(view.impact, np.where(view.fetched, self.clicks[view.pages], 0.0))
        shown = {column.name: column.detail for column in told.frame().columns}
        assert not shown["clicks@5%"] and shown["views@5%"] and shown["ctr@5%"]

    def test_the_rate_of_a_ranker_is_that_of_its_pages_over_the_best_rates(self) -> None:
        web = replace(random_web(40, 200, seed=3), views=self.views + 1, clicks=self.clicks)
        scene = build_scenario(web, None, "bfs:0.3", [0])
        rate = (self.clicks / (self.views + 1))[scene.view.pages[scene.tested]]
        best = np.sort(rate)[::-1]
        told = evaluate(web, None, ["indegree"], "bfs:0.3", [0]).findings[0]
        first = np.argsort(-told.ranker.score(scene.view)[scene.tested], kind="stable")
        assert told.ctr is not None
        for share, value in told.ctr.items():
            k = max(1, round(share * len(rate)))
            assert value == pytest.approx(rate[first[:k]].mean() / best[:k].mean())

    def test_what_a_web_does_not_know_cannot_be_its_impact(self) -> None:
        with pytest.raises(InputError, match="knows no clicks"):
            evaluate(replace(random_web(40, 200, seed=3), views=self.views), None, ["rw"], "bfs:0.3", [0], impact="clicks")


def test_the_queries_that_judge_are_not_those_that_drive(web: Web, log: Workload) -> None:
    cut = halves(log, 4)
    told = evaluate(web, cut, ["q-overlap"], "bfs:0.3", [0])
    assert told.scenario.view.search is not None
    assert told.scenario.view.search.workload is cut.driving
    assert np.array_equal(told.scenario.impact, truth(web, cut.judging)[told.scenario.view.pages])
    assert told.json() | {"rankers": 0} == evaluate(web, log, ["indegree"], "bfs:0.3", [0], draw=4).json() | {"rankers": 0}
    flattered = evaluate(web, same(log), ["q-overlap"], "bfs:0.3", [0])
    assert flattered.findings[0].impact[0.05] > told.findings[0].impact[0.05]


def test_clicks_judge_where_queries_drive(web: Web, log: Workload) -> None:
    clicks = np.arange(float(web.pages))
    told = evaluate(replace(web, clicks=clicks), log, ["q-overlap", "rw"], "bfs:0.3", [0], impact="clicks")
    assert told.scenario.judged_by == "clicks" and told.scenario.view.search is not None
    assert np.array_equal(told.scenario.impact, clicks[told.scenario.view.pages])
    by_views = evaluate(replace(web, clicks=clicks), log, ["rw"], "bfs:0.3", [0], impact="views")
    assert by_views.scenario.judged_by == "views"
    assert by_views.json()["rankers"]["rw"]["ctr"] is not None


def test_tran15_by_clicks_speaks_of_clicks(web: Web, log: Workload) -> None:
    told = lab.run("tran15", replace(web, clicks=truth(web, log)), impact="clicks")
    table = told.experiments[0].table
    assert table is not None and table.header[-2:] == ["clicks of these", "r_c, all draws"]
    assert [row[0] for row in table.rows] == ["clicked", "clicked", "not clicked", "not clicked"]
    assert told.command.endswith("--impact clicks")
    with pytest.raises(InputError, match="pandey08 is about what searchers are shown"):
        lab.run("pandey08", web, impact="clicks")


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=6),
    st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=1, max_size=5),
)
def test_the_bootstrap_estimate_is_the_textbooks(pages: list[tuple[int, int]], drawn: list[list[int]]) -> None:
    scores, impact = ([float(x) for x in side] for side in zip(*pages, strict=True))
    samples = [[p % len(pages) for p in sample[: len(pages)]] for sample in drawn]
    shares = (0.3, 0.6)
    estimate, training = estimate_632_plus(np.array(scores), np.array(impact), [np.array(sample) for sample in samples], shares)
    assert training == pytest.approx(1 - bootstrap.error(scores, impact, shares))
    assert estimate == pytest.approx(bootstrap.plus(scores, impact, samples, shares))


@pytest.mark.data
def test_virtual_edges_of_a_real_web_lead_to_more_of_its_frontier_than_links_alone(data_dir: Path) -> None:
    web = load(data_dir / "uci-ics")
    views = np.zeros(web.pages)
    views[np.random.default_rng(0).choice(web.pages, 500, replace=False)] = 1.0
    view = CrawlView.of(web, np.array([0]), np.arange(web.pages // 2))
    chosen = view.fetched & (views[view.pages] > 0)
    alone, enriched = (behind(view, chosen, views[view.pages], more) for more in (False, True))
    assert enriched.linked > alone.linked > 0
