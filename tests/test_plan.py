"""What is to be simulated is checked once, before any work, and refused with a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontrank as fr
from frontrank.errors import FrontrankError, InputError
from frontrank.fetching.crawler.job import Job
from frontrank.fetching.crawler.options import Options
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse
from frontrank.simulation.plan import Plan, Stop, StopRule
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.web.seeds import find_seeds


@dataclass(frozen=True)
class Satisfied(fr.Policy):
    """Satisfied: one page is enough for it."""

    enough: float = 0.0
    stops = {"contentment": "enough"}

    def gauges(self, state: Any) -> dict[str, float]:
        return {"contentment": float(state.fetched.any())}


@pytest.mark.parametrize(
    ("budget", "pages"),
    [(None, 1000), (0.3, 300), ("0.3", 300), (1.0, 1000), ("1.0", 1000), (1, 1), ("1", 1), ("5e1", 50), (2e3, 1000), (1e-9, 1)],
)
def test_a_budget_is_pages_or_a_share(budget: Any, pages: int) -> None:
    assert Stop(budget).pages(1000) == pages


@given(st.integers(1, 10**9), st.integers(1, 10**6))
def test_whole_numbers_count_pages_in_any_form(budget: int, pages: int) -> None:
    assert Stop(budget).pages(pages) == Stop(str(budget)).pages(pages) == min(budget, pages)
    assert Stop(Stop(str(budget)).budget) == Stop(budget)


@pytest.mark.parametrize(
    ("stop", "says"),
    [
        ({"budget": -5}, "budget must be at least 1 page, got -5"),
        ({"budget": "-5"}, "budget must be at least 1 page, got -5"),
        ({"budget": 0}, "budget must be at least 1 page, got 0"),
        ({"budget": 1.5}, "budget must be a share above 0 and up to 1, or a whole number of pages, got 1.5"),
        ({"budget": math.nan}, "share above 0"),
        ({"budget": math.inf}, "share above 0"),
        ({"budget": 0.0}, "share above 0"),
        ({"budget": "many"}, "a number of pages or a share such as 0.3, got 'many'"),
        ({"budget": True}, "a number of pages or a share"),
        ({"until": "0.9"}, "must be RULE=SHARE; write coverage=0.9"),
        ({"until": "coverage"}, "must be RULE=SHARE, such as coverage=0.9, got 'coverage'"),
        ({"until": "coverage=much"}, "must be RULE=SHARE"),
        ({"until": "=0.9"}, "must be RULE=SHARE"),
    ],
)
def test_what_is_no_end_of_a_crawl(stop: dict[str, Any], says: str) -> None:
    with pytest.raises(FrontrankError, match=says):
        Stop(**stop)


class TestStoppingRules:
    def test_a_rule_sets_the_parameter_of_the_ordering(self) -> None:
        assert Stop(until="coverage=0.9").until == StopRule("coverage", 0.9)
        assert Stop(until="coverage=0.9").given_to(parse("rankmass:window=0.05")) == parse("rankmass:window=0.05,until=0.9")

    def test_orderings_without_one_say_so(self) -> None:
        with pytest.raises(FrontrankError, match=r"bfs: stopping rule coverage=0.9 given, but it has none"):
            Plan.of(["rankmass", "bfs"], Stop(until="coverage=0.9"))
        with pytest.raises(FrontrankError, match="its rules are coverage"):
            Plan.of("rankmass", Stop(until="time=0.9"))
        with pytest.raises(FrontrankError, match="until must be a share from 0 to 1, got 2"):
            Plan.of("rankmass", Stop(until="coverage=2"))

    def test_a_rule_of_any_ordering_stops_a_live_crawl(self, tmp_path: Path) -> None:
        options = Options(seeds=("http://a.example/",), policy="tests.test_plan:Satisfied", until="contentment=0.5")
        with fr.Crawl(options.policy, tmp_path / "crawl") as crawl:
            job = Job(crawl, options, None)
            crawl.seed(options.seeds)
            assert job.may_take()
            crawl.fetched(crawl.take()[0], links=["http://a.example/next"])
            assert not job.may_take()
            assert job.ended == "stopping rule"

    def test_simulate_keeps_to_it(self) -> None:
        web = synthetic("pages=300,links=5,seed=1")
        stopped = simulate(web, parse("rankmass"), find_seeds(web), Stop(until="coverage=0.5")).trace
        assert stopped.ended == "stopping rule"
        assert 0.5 <= stopped.gauges["coverage"][-1][1] < 0.6


def test_a_plan_takes_orderings_in_any_form() -> None:
    assert Plan.of("fpr:m=1e2").orderings == (("fpr:m=1e2", parse("fpr:m=100")),)
    assert [one.spec for one in Plan.of(["bfs"]).adding([parse("fpr:m=100")]).orderings] == ["bfs", "fpr:m=100"]
    with pytest.raises(InputError, match="latency must be a number of seconds from 0, got -1"):
        Plan.of("bfs", politeness=Politeness(), latency_s=-1)


def test_an_unknown_metric_is_refused_before_any_crawl() -> None:
    web = fr.Web.from_edges([0, 0], [1, 2], pages=3)
    with pytest.raises(FrontrankError, match="did you mean 'pagerank'"):
        fr.compare(web, "bfs", seeds=[0], metric="pagerang", progress=lambda *_: pytest.fail("a crawl was begun"))


def test_what_an_ordering_lacks_is_said_before_the_first_one_runs() -> None:
    web = fr.Web.from_edges([0, 0], [1, 2], pages=3)
    with pytest.raises(InputError, match="hosts"):
        fr.compare(web, ["bfs", "fpr:m=100"], seeds=[0], progress=lambda *_: pytest.fail("a crawl was begun"))
    with pytest.raises(InputError, match="no ordering given"):
        fr.compare(web, [])
