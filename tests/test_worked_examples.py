"""The papers' worked examples and conservation laws, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest

import frontrank as fr
from frontrank.checks import yield_checks
from frontrank.kernels.jit import Array
from frontrank.orderings.online.fica import SCHEDULES, _rate
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import parse
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.web.importance import importance
from frontrank.web.web import Web

A, B, C, D, E = range(5)


def after(web: Web, spec: str, seeds: list[int], fetches: int) -> GraphDriver:
    """The engine after so many fetches."""
    engine = GraphDriver(parse(spec), web)
    engine.seed(np.array(seeds, np.int32))
    engine.run(np.empty(web.pages, np.int32), 0, fetches)
    return engine


class TestFica:
    """fica07, Fig. 1: p -> q, r; q -> s, t, u; r -> v, w; s has four links."""

    names = "pqrstuvw"
    web = Web.from_edges([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], pages=12)

    def test_order_of_figure_1(self) -> None:
        order = fr.order(self.web, "fica", seeds=[0], budget=8)
        assert "".join(self.names[page] for page in order) == "pqrvwstu"

    def test_a_page_found_again_on_a_shorter_way_moves_up(self) -> None:
        """Eq. 2: at 2.3, then found from a page at 0.4 with 10 links: 0.4 + log10(10) = 1.4."""
        web = Web.from_edges([0] * 10, list(range(1, 11)), pages=11)
        engine = GraphDriver(parse("fica:schedule=sum"), web)
        engine.seed(np.array([0], np.int32))
        engine.state.distance[0], engine.state.distance[1] = 0.4, 2.3
        engine.run(np.empty(11, np.int32), 0, 1)
        assert engine.state.distance[1] == pytest.approx(1.4, abs=1e-15)

    def test_a_constant_learning_rate_is_equation_3(self) -> None:
        """d_j = alpha log O(i) + (1 - alpha) d_i: a page with ten links at 0.4 gives .3 * 1 + .7 * .4 = .58."""
        web = Web.from_edges([0] * 10, list(range(1, 11)), pages=11)
        engine = GraphDriver(parse("fica:alpha=0.3,k=1"), web)  # the schedule has no say
        engine.seed(np.array([0], np.int32))
        engine.state.distance[0] = 0.4
        engine.run(np.empty(11, np.int32), 0, 1)
        assert engine.state.distance[1] == pytest.approx(0.58, abs=1e-15)

    @pytest.mark.parametrize(
        ("schedule", "rates"),
        [
            ("exp", [1.0, math.exp(-0.5), math.exp(-1.0), math.exp(-2.0)]),
            ("inverse", [1.0, 1.0, 1.0, 0.5]),
            ("power", [1.0, 1.0, 1.0, 2.0**-2.1]),
            ("linear", [1.0, 0.5, 0.0, 0.0]),
        ],
    )
    def test_learning_rates_fall_from_1(self, schedule: str, rates: list[float]) -> None:
        assert [_rate(SCHEDULES.index(schedule), x) for x in (0.0, 0.5, 1.0, 2.0)] == rates


class TestFractionalPageRank:
    """fpr10, Fig. 2: A -> B, C; B -> D, E; C -> E; d = 0.85."""

    web = Web.from_edges([A, A, B, B, C], [B, C, D, E, E], pages=5)

    def test_order(self) -> None:
        assert fr.order(self.web, "fpr", seeds=[A]) == [A, B, C, E, D]

    @pytest.mark.parametrize(
        ("fetches", "values"),
        [
            (0, {A: 0.15}),
            (1, {A: 0.0, B: 0.06375, C: 0.06375}),
            (2, {C: 0.06375, D: 0.02709375, E: 0.02709375}),
            (3, {D: 0.02709375, E: 0.08128125}),
        ],
    )
    def test_values_of_figure_2(self, fetches: int, values: dict[int, float]) -> None:
        f = after(self.web, "fpr", [A], fetches).state.f
        assert {page: f[page] for page in values} == pytest.approx(values, abs=1e-15)

    @pytest.mark.parametrize("m", [2.0, 20.0, 100.0])
    def test_a_link_between_hosts_gets_m_times_as_much(self, m: float) -> None:
        """Fig. 1: page L gives an inter-host link m times what it gives each intra-host link; in all d f(L)."""
        web = Web.from_edges([0, 0, 0], [1, 2, 3], pages=4, hosts=np.array([0, 1, 0, 0], np.int32))
        f = after(web, f"fpr:m={m}", [0], 1).state.f
        assert f[1] == pytest.approx(m * f[2])
        assert f[2] == f[3]
        assert f.sum() == pytest.approx(0.85 * 0.15)


class TestIdealAndRandom:
    """cho98: an ideal crawler has P_CS = 1 everywhere, a random one reaches k/n in expectation."""

    def test_bounds(self) -> None:
        from frontrank.lab.measures import hot
        from frontrank.simulation.trace import Trace

        web = synthetic("pages=2000,seed=3,text=0")
        shares = (0.05, 0.1, 0.5)
        ideal = np.argsort(-importance(web), kind="stable").astype(np.int32)
        assert hot(Trace(ideal[:1], ideal), web, shares) == dict.fromkeys(shares, 1.0)
        draws: list[list[float]] = []
        for seed in range(40):
            order = np.random.default_rng(seed).permutation(web.pages).astype(np.int32)
            draws.append([value or 0.0 for value in hot(Trace(order[:1], order), web, shares).values()])
        assert np.mean(draws, axis=0) == pytest.approx(shares, abs=0.02)


class TestMassIsConserved:
    web = synthetic("pages=500,links=5,seed=2,text=0")

    @pytest.mark.parametrize("fetches", [1, 10, 100, 500])
    def test_opic_hands_on_all_cash(self, fetches: int) -> None:
        """What the seeds brought is held as cash, or was held last by a page without links."""
        engine = after(self.web, "opic", [0, 7], fetches)
        dangling = self.web.out_degree() == 0
        assert engine.state.cash.sum() + engine.state.history[dangling].sum() == pytest.approx(1.0, abs=1e-12)

    @pytest.mark.parametrize("fetches", [1, 10, 100, 500])
    def test_opic_that_starts_everywhere_keeps_a_unit_a_page(self, fetches: int) -> None:
        engine = after(self.web, "opic:start=all", [0, 7], fetches)
        dangling = self.web.out_degree() == 0
        held = engine.state.cash.sum() + engine.state.history[dangling].sum()
        assert held == pytest.approx(self.web.pages, abs=1e-9)

    @pytest.mark.parametrize("fetches", [1, 10, 100, 500])
    @pytest.mark.parametrize("spec", ["rankmass", "rankmass:window=0.05", "rankmass:epsilon=0.01"])
    def test_rankmass_covers_or_keeps_all_mass(self, spec: str, fetches: int) -> None:
        """covered + (waiting + leaked)/(1 - d) = 1."""
        state = after(self.web, spec, [0, 7], fetches).state
        assert state.covered[0] + (state.mass.sum() + state.leaked[0]) / 0.15 == pytest.approx(1.0, abs=1e-12)

    def test_coverage_is_a_lower_bound_on_personalised_pagerank(self) -> None:
        """The mass of the fetched pages under random jumps to the seeds, by a dense solve, is at least what is covered."""
        web, seeds = synthetic("pages=200,links=5,seed=4,text=0"), [0, 7, 9]
        jump = np.zeros(web.pages)
        jump[seeds] = 1 / 3
        step = np.zeros((web.pages, web.pages))
        for page in range(web.pages):
            targets = web.targets_of(page)
            step[targets, page] = 1 / max(1, len(targets))
        truth: Array = np.linalg.solve(np.eye(web.pages) - 0.85 * step, 0.15 * jump)
        for fetches in (1, 5, 20, 60, 150):
            state = after(web, "rankmass", seeds, fetches).state
            assert state.covered[0] <= truth[state.fetched == 1].sum() + 1e-12

    def test_a_crawl_stops_when_enough_is_covered(self) -> None:
        run = simulate(self.web, parse("rankmass:until=0.5"), np.array([0, 7]))
        assert run.trace.ended == "stopping rule"
        coverage = [value for _, value in run.trace.gauges["coverage"]]
        assert coverage[-1] >= 0.5
        shorter = simulate(self.web, parse("rankmass"), np.array([0, 7]), budget=run.trace.fetched - 1)
        assert shorter.trace.gauges["coverage"][-1][1] < 0.5


def test_a_users_own_ordering_needs_one_class_and_keeps_the_contract() -> None:
    from dataclasses import dataclass

    from examples.own_ordering import FewestLinksFirst

    @dataclass(frozen=True)
    class Unnamed(FewestLinksFirst):
        """Unnamed: an ordering that is in no registry."""

    policy: Policy = Unnamed()
    for check in yield_checks(policy):
        check()
