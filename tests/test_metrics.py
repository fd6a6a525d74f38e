"""Facts about the measures: against their definitions, at their bounds, with ties, and when a crawl ends early."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frontrank as fr
from frontrank.errors import FrontrankError
from frontrank.kernels.jit import Array
from frontrank.lab import measures as metrics
from frontrank.simulation.trace import Trace
from frontrank.web.importance import importance
from frontrank.web.web import Web
from tests.oracles import measures as oracle

BACKLINK = "backlink"
FAIR = settings(deadline=None)  # a time limit would measure the machine


def web_with(values: list[float]) -> Web:
    """A web without links whose pages have just these importances."""
    web = Web(np.zeros(len(values) + 1, np.int64), np.empty(0, np.int32))
    web.cache[f"importance {BACKLINK}"] = np.array(values, np.float64)
    return web


def trace_of(order: Any, ended: str = "budget") -> Trace:
    return Trace(np.array([0], np.int32), np.array(order, np.int32), ended)


@st.composite
def crawls(draw: st.DrawFn) -> tuple[Web, list[float], Trace]:
    """Importances with many ties, and part of the pages in any order."""
    values = draw(st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30))
    order = draw(st.permutations(range(len(values))))[: draw(st.integers(0, len(values)))]
    return web_with(values), values, trace_of(order, draw(st.sampled_from(["budget", "frontier empty"])))


@FAIR
@given(crawls(), st.floats(0.01, 1.0))
def test_hot_and_mass_are_what_their_definitions_say(crawl: tuple[Web, list[float], Trace], share: float) -> None:
    web, values, trace = crawl
    k = max(1, round(share * web.pages))
    hot = metrics.hot(trace, web, [share], BACKLINK)[share]
    mass = metrics.mass(trace, web, [share], BACKLINK)[share]
    if trace.fetched < k and trace.ended == "budget":
        assert hot is None
        assert mass is None
    else:
        order = trace.order.tolist()
        assert hot == oracle.crawl_and_stop(order, values, k)
        possible = sum(sorted(values)[::-1][:k])
        assert mass == pytest.approx(oracle.relative_mass(order, values, k) if possible else 1.0)


@FAIR
@given(crawls(), st.floats(0.01, 1.0), st.randoms(use_true_random=False))
def test_what_differs_by_rounding_alone_is_tied_whichever_way_it_was_rounded(
    crawl: tuple[Web, list[float], Trace], share: float, random: Any
) -> None:
    """Sums of the same numbers in another order come out some units in the last place apart; on another machine, others."""
    web, values, trace = crawl
    noisy = [value * (1.0 + random.choice((-2, -1, 0, 1, 2)) * 2.0**-52) for value in values]
    other = web_with(noisy)
    assert metrics.hot(trace, web, [share], BACKLINK) == metrics.hot(trace, other, [share], BACKLINK)
    assert metrics.hot_curve(trace, web, BACKLINK).y.tolist() == metrics.hot_curve(trace, other, BACKLINK).y.tolist()
    least, also = (metrics.threshold_for(one, BACKLINK, share) for one in (web, other))
    found, again = (metrics.threshold_curve(trace, one, at, BACKLINK) for one, at in ((web, least), (other, also)))
    assert found.y.tolist() == again.y.tolist()
    ranking = np.arange(float(web.pages))
    taus = [metrics.kendall(ranking, np.array(each)) for each in (values, noisy)]
    assert taus[0] == pytest.approx(taus[1], nan_ok=True, abs=1e-12)


@FAIR
@given(crawls(), st.integers(2, 40))
def test_curves_are_what_their_definitions_say(crawl: tuple[Web, list[float], Trace], points: int) -> None:
    web, values, trace = crawl
    order = trace.order.tolist()
    for x, y in zip(*metrics.hot_curve(trace, web, BACKLINK, points), strict=True):
        assert y == oracle.crawl_and_stop(order, values, round(x * web.pages))
    least = metrics.threshold_for(web, BACKLINK, 0.3)
    for x, y in zip(*metrics.threshold_curve(trace, web, least, BACKLINK, points), strict=True):
        assert y == oracle.crawl_with_threshold(order, values, least, round(x * web.pages))
    if sum(values):
        for x, y in zip(*metrics.mass_curve(trace, web, BACKLINK, points), strict=True):
            assert y == pytest.approx(oracle.relative_mass(order, values, round(x * web.pages)))
        for x, y in zip(*metrics.mass_curve(trace, web, BACKLINK, points, relative=False), strict=True):
            assert y == pytest.approx(oracle.mass(order, values, round(x * web.pages)) / sum(values))


@FAIR
@given(crawls(), st.integers(2, 40))
def test_curves_end_where_the_crawl_ended(crawl: tuple[Web, list[float], Trace], points: int) -> None:
    web, _, trace = crawl
    least = metrics.threshold_for(web, BACKLINK, 0.3)
    end = 1.0 if trace.ended == "frontier empty" else trace.fetched / web.pages
    for curve in (
        metrics.hot_curve(trace, web, BACKLINK, points),
        metrics.threshold_curve(trace, web, least, BACKLINK, points),
        metrics.mass_curve(trace, web, BACKLINK, points),
    ):
        assert len(curve.x) == len(curve.y) <= points
        assert (np.diff(curve.x) > 0).all()
        assert curve.x[-1:].tolist() == ([end] if len(curve.x) else [])


@FAIR
@given(crawls())
def test_what_has_been_found_never_gets_less_and_never_more_than_all(crawl: tuple[Web, list[float], Trace]) -> None:
    web, _, trace = crawl
    least = metrics.threshold_for(web, BACKLINK, 0.3)
    found = metrics.threshold_curve(trace, web, least, BACKLINK).y
    gathered = metrics.mass_curve(trace, web, BACKLINK, relative=False).y
    for rising in (found, gathered):
        assert (np.diff(rising) >= 0).all()
    for bounded in (
        found,
        gathered,
        metrics.hot_curve(trace, web, BACKLINK).y,
        metrics.mass_curve(trace, web, BACKLINK).y,
    ):
        assert ((bounded >= 0) & (bounded <= 1)).all()


@FAIR
@given(st.lists(st.integers(0, 4).map(float), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_an_ideal_crawler_has_all_everywhere_whichever_of_equal_pages_it_takes_first(values: list[float], random: Any) -> None:
    order = list(range(len(values)))
    random.shuffle(order)
    order.sort(key=lambda page: -values[page])
    web, trace = web_with(values), trace_of(order)
    least = metrics.threshold_for(web, BACKLINK, 0.2)
    assert set(metrics.hot(trace, web, metrics.SHARES, BACKLINK).values()) == {1.0}
    assert metrics.mass(trace, web, metrics.SHARES, BACKLINK) == pytest.approx(dict.fromkeys(metrics.SHARES, 1.0))
    assert metrics.hot_curve(trace, web, BACKLINK).y.tolist() == metrics.ideal_hot_curve(web).y.tolist()
    found = metrics.threshold_curve(trace, web, least, BACKLINK)
    np.testing.assert_allclose(found.y, metrics.ideal_threshold_curve(web, least, BACKLINK).y)
    for relative in (True, False):
        gathered = metrics.mass_curve(trace, web, BACKLINK, relative=relative)
        np.testing.assert_allclose(gathered.y, metrics.ideal_mass_curve(web, BACKLINK, relative=relative).y)


@pytest.mark.parametrize("ties", [1, 25], ids=["distinct", "with ties"])
def test_pages_drawn_at_random_reach_the_random_lines_on_average(ties: int) -> None:
    generator = np.random.default_rng(3)
    values = np.floor(generator.permutation(200) / ties) ** 2
    web = web_with(values.tolist())
    least = metrics.threshold_for(web, BACKLINK, 0.1)
    traces = [trace_of(generator.permutation(200)) for _ in range(2000)]

    def mean(curves: list[metrics.Curve]) -> Array:
        mean: Array = np.mean([curve.y for curve in curves], axis=0)
        return mean

    near: dict[str, Any] = {"atol": 0.02}
    hot = mean([metrics.hot_curve(trace, web, BACKLINK) for trace in traces])
    np.testing.assert_allclose(hot, metrics.random_hot_curve(web, BACKLINK).y, **near)
    found = mean([metrics.threshold_curve(trace, web, least, BACKLINK) for trace in traces])
    np.testing.assert_allclose(found, metrics.random_threshold_curve(web).y, **near)
    for relative in (True, False):
        gathered = mean([metrics.mass_curve(trace, web, BACKLINK, relative=relative) for trace in traces])
        np.testing.assert_allclose(gathered, metrics.random_mass_curve(web, BACKLINK, relative=relative).y, **near)


def test_without_ties_the_random_line_of_hot_pages_is_the_diagonal() -> None:
    web = web_with([float(value) for value in range(50)])
    assert metrics.random_hot_curve(web, BACKLINK).y.tolist() == metrics.random_hot_curve(web, BACKLINK).x.tolist()


def test_a_crawl_cut_short_by_its_budget_or_a_stopping_rule_has_no_value_beyond_but_one_that_found_all_has() -> None:
    web = web_with([4.0, 3.0, 2.0, 1.0])
    assert metrics.hot(trace_of([0, 3], "budget"), web, [0.5, 0.75], BACKLINK) == {0.5: 0.5, 0.75: None}
    assert metrics.mass(trace_of([0, 3], "stopping rule"), web, [0.5, 0.75], BACKLINK) == {0.5: 5 / 7, 0.75: None}
    assert metrics.hot(trace_of([0, 3], "frontier empty"), web, [0.5, 0.75], BACKLINK) == {0.5: 0.5, 0.75: 1 / 3}


def test_reference_lines_end_where_they_are_told_to() -> None:
    web = web_with([float(value) for value in range(100)])
    assert metrics.random_hot_curve(web, BACKLINK, until=0.2).x[-1] == 0.2
    assert metrics.ideal_mass_curve(web, BACKLINK, until=0.2, relative=False).x.tolist()[::20] == [0.0, 0.2]


@FAIR
@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40), st.floats(0.01, 1.0))
def test_a_threshold_comes_as_near_to_the_share_of_hot_pages_as_ties_allow(values: list[float], share: float) -> None:
    k = max(1, round(share * len(values)))
    least = metrics.threshold_for(web_with(values), BACKLINK, share)
    off = [abs(sum(value >= level for value in values) - k) for level in set(values)]
    assert abs(sum(value >= least for value in values) - k) == min(off)


def test_mass_of_an_importance_with_negative_values_is_not_told() -> None:
    web = web_with([-3.0, -2.0])
    assert metrics.mass(trace_of([0, 1]), web, [0.5], BACKLINK) == {0.5: None}
    assert metrics.hot(trace_of([0, 1]), web, [0.5, 1.0], BACKLINK) == {0.5: 0.0, 1.0: 1.0}
    assert metrics.mass_curve(trace_of([0, 1]), web, BACKLINK).x.tolist() == []
    assert metrics.random_mass_curve(web, BACKLINK).y.tolist() == []


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        (lambda web, trace: metrics.hot(trace, web, [0.0], BACKLINK), "got 0.0"),
        (lambda web, trace: metrics.mass(trace, web, [1.5], BACKLINK), "got 1.5"),
        (lambda web, trace: metrics.hot_curve(trace, web, BACKLINK, points=1), "at least 2 points, got 1"),
        (lambda web, trace: metrics.threshold_curve(trace, web, 9.0, BACKLINK), "importance 9 given"),
        (lambda web, trace: metrics.kendall(np.ones(2), np.ones(3)), "each of 3 pages, got 2"),
        (lambda web, trace: metrics.kendall(np.ones(3), np.ones(3), sample=1), "sample must be .* got 1"),
        (lambda web, trace: metrics.buffer(web, fr.parse("bfs"), trace.seeds, 5), "1 to 2 pages.* got 5"),
        (lambda web, trace: metrics.buffer(web, fr.parse("bfs"), trace.seeds, 1, every=0), "every must be .* got 0"),
        (lambda web, trace: metrics.buffer(web, fr.parse("bfs"), np.empty(0, int), 1), "at least one seed"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_sentence(measure: Any, says: str) -> None:
    with pytest.raises(FrontrankError, match=says) as told:
        measure(web_with([1.0, 2.0]), trace_of([1, 0]))
    assert "\n" not in str(told.value)


# Rankings -------------------------------------------------------------------------------------------------------------
@FAIR
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=25))
def test_kendall_is_tau_b_over_all_pairs(pairs: list[tuple[int, int]]) -> None:
    x, y = [list(map(float, side)) for side in zip(*pairs, strict=True)]
    tau = metrics.kendall(np.array(x), np.array(y))
    assert tau == pytest.approx(oracle.kendall_tau_b(x, y), nan_ok=True)


def test_kendall_of_a_sample_is_near_that_of_all_pages_and_the_same_each_time() -> None:
    generator = np.random.default_rng(5)
    truth = generator.random(20_000)
    scores = truth + generator.normal(0.0, 0.2, len(truth))
    sampled = metrics.kendall(scores, truth, sample=3000)
    assert sampled == metrics.kendall(scores, truth, sample=3000)
    assert sampled == pytest.approx(metrics.kendall(scores, truth), abs=0.03)
    assert metrics.kendall(truth, truth, sample=metrics.SAMPLE) == pytest.approx(1.0)
    assert math.isnan(metrics.kendall(np.ones(1), np.ones(1)))


def test_the_ranking_left_behind_is_the_orderings_own_else_its_fetch_order() -> None:
    web = Web.from_edges([0, 0, 2], [2, 1, 1], pages=4)
    bfs, backlink = fr.compare(web, ["bfs", "backlink"], seeds=[0])
    assert metrics.final_scores(bfs, web).tolist() == [0.0, -2.0, -1.0, -3.0]
    assert metrics.final_scores(backlink, web).tolist() == [0.0, 2.0, 1.0, 0.0]


def test_pages_never_fetched_are_all_equal_in_the_ranking_left_behind() -> None:
    web = Web.from_edges([0], [1], pages=5)
    (bfs,) = fr.compare(web, ["bfs"], seeds=[0])
    assert metrics.final_scores(bfs, web).tolist() == [0.0, -1.0, -2.0, -2.0, -2.0]


# Effort and the limited buffer ----------------------------------------------------------------------------------------
def test_overhead_shares_the_time_out_over_fetched_pages_and_their_links() -> None:
    web = Web.from_edges([0, 0, 1, 3], [1, 2, 2, 0], pages=4)
    (run,) = fr.compare(web, ["bfs"], seeds=[0])
    per = metrics.overhead(run, web)
    assert metrics.links_fetched(run.trace, web) == 3
    assert per["seconds_per_page"] * 3 == pytest.approx(run.seconds)
    assert per["seconds_per_link"] * 3 == pytest.approx(run.seconds)


def naive_buffer(web: Web, order: list[int], size: int, importances: list[float]) -> float:
    """cho98's limited buffer for backlink ordering, one page at a time, with lists and counting."""
    kept: list[int] = []
    for place, page in enumerate(order):
        kept.append(page)
        if len(kept) > size:
            links = [target for source in order[: place + 1] for target in web.targets_of(source).tolist()]
            kept.remove(min(kept, key=lambda p: (links.count(p), -order.index(p))))
    level = sorted(importances, reverse=True)[size - 1]
    return sum(importances[page] >= level for page in kept) / size


@settings(FAIR, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=50), st.integers(1, 10))
def test_a_limited_buffer_looked_at_after_each_page_is_the_papers(edges: list[tuple[int, int]], size: int) -> None:
    web = Web.from_edges([a for a, _ in edges], [b for _, b in edges], pages=10)
    seeds = np.array([0, 5])
    order = fr.order(web, "backlink", seeds=seeds.tolist())
    expected = naive_buffer(web, order, size, importance(web).tolist())
    assert metrics.buffer(web, fr.parse("backlink"), seeds, size, every=1) == expected


def test_a_buffer_as_large_as_the_web_holds_every_hot_page_and_that_of_bfs_what_it_fetched_first() -> None:
    web = fr.load("synthetic:pages=2000,seed=4")
    (run,) = fr.compare(web, ["bfs"], seeds="random:50@1")
    bfs = fr.parse("bfs")
    kept = metrics.buffer(web, bfs, run.trace.seeds, 200)
    assert kept == metrics.hot(run.trace, web, [0.1])[0.1]
    assert metrics.buffer(web, bfs, run.trace.seeds, web.pages) == run.trace.fetched / web.pages


def test_the_step_between_two_looks_at_the_buffer_changes_little() -> None:
    web = fr.load("synthetic:pages=2000,seed=4")
    seeds = np.arange(50)
    fine = metrics.buffer(web, fr.parse("opic"), seeds, 200, every=1)
    coarse = metrics.buffer(web, fr.parse("opic"), seeds, 200, every=40)
    assert 0.3 < fine < 1.0
    assert coarse == pytest.approx(fine, abs=0.1)


def test_orderings_with_rounds_of_their_own_can_fill_a_buffer() -> None:
    web = fr.load("synthetic:pages=2000,seed=4")
    by_pagerank = metrics.buffer(web, fr.parse("pagerank:every=100"), np.arange(50), 200)
    assert by_pagerank > metrics.buffer(web, fr.parse("bfs"), np.arange(50), 200)
