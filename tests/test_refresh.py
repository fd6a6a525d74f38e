"""When pages come back: policies of revisits, and the simulation of a web that changes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank import Web
from frontrank.cli import main
from frontrank.errors import FrontrankError, InputError, SpecError
from frontrank.lab.revisits import compare_revisits
from frontrank.orderings.online.random import draw, mix
from frontrank.orderings.registry import parse as parse_ordering
from frontrank.orderings.revisits import REVISITS, from_data, parse, to_data
from frontrank.orderings.revisits.allocated import age, freshness
from frontrank.orderings.revisits.gain import changes_between
from frontrank.orderings.revisits.revisit import change_rate
from frontrank.simulation.changes import CLASSES, DAY
from frontrank.simulation.changes import parse as parse_changes
from frontrank.simulation.refresh import Refreshed, keep_fresh
from tests.oracles.revisits import best_of_all, likeliest_rate, measured

PAGES = 4000
RATES = np.repeat([1 / days for _, days in CLASSES], [round(PAGES * share) for share, _ in CLASSES])  # a day
MONTHLY = PAGES / 30


def _web(pages: int = PAGES) -> Web:
    return Web.from_edges(np.arange(pages - 1).tolist(), np.arange(1, pages).tolist(), pages=pages)


def _kept(spec: str, rates: np.ndarray = RATES, a_day: float = MONTHLY, days: float = 720, **more: object) -> Refreshed:
    options = {"collected": True, "seed": 1, **more}
    ordering = parse_ordering("bfs")
    return keep_fresh(_web(rates.size), ordering, parse(spec), rates / DAY, np.array([0]), days=days, a_day=a_day, **options)  # type: ignore[arg-type]


# Policies -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "spec", ["fixed:every=36h", "adaptive:min_wait=10m,chance=0.3", "gain:worth=2d", "optimal:goal=age", "uniform"]
)
def test_a_policy_is_written_and_stored_as_it_was_read(spec: str) -> None:
    policy = parse(spec)
    assert parse(policy.spec()) == policy
    assert from_data(json.loads(json.dumps(to_data(policy)))) == policy


@given(st.floats(1e-3, 1e12), st.floats(0.001, 0.999))
def test_every_duration_survives_being_written(seconds: float, chance: float) -> None:
    policy = REVISITS["adaptive"](first=seconds, min_wait=seconds, max_wait=2 * seconds, chance=chance)  # type: ignore[call-arg]
    assert parse(policy.spec()) == policy


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("adaptve", "did you mean 'adaptive'"),
        ("fixed:evry=1d", "did you mean 'every'"),
        ("fixed:every=1w", "such as 12h, got '1w'"),
        ("fixed:every=0", "every must be a time above 0"),
        ("adaptive:min_wait=2d,max_wait=1d", "max_wait must be a time from min_wait, 2d, on"),
        ("adaptive:chance=1", "chance must be a number between 0 and 1"),
        ("optimal:goal=agee", "did you mean 'age'"),
    ],
)
def test_a_specification_that_cannot_be_is_refused_with_advice(spec: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        parse(spec)


def test_a_live_crawl_takes_no_policy_that_must_know_how_pages_change() -> None:
    assert parse("adaptive", live=True).name == "adaptive"
    with pytest.raises(SpecError, match="use one of fixed, adaptive, gain"):
        parse("optimal", live=True)


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0, 2.0])
def test_the_estimator_is_less_biased_than_counting_and_close_to_the_likeliest_rate(rate: float) -> None:
    """Cho, Garcia-Molina 2003: 50 visits a day apart; X/n is too low where pages change often."""
    draw = np.random.default_rng(4)
    found = draw.binomial(50, 1 - math.exp(-rate), 4000)
    corrected = np.array([change_rate(50, int(x), 50.0) for x in found])
    assert corrected.mean() == pytest.approx(rate, rel=0.03)
    assert abs(corrected.mean() - rate) < abs((found / 50).mean() - rate) or rate < 0.1
    one = int(found[0])
    assert change_rate(50, one, 50.0) == pytest.approx(
        likeliest_rate([1.0] * 50, [True] * one + [False] * (50 - one)), rel=0.25
    )


@given(
    st.integers(1, 500), st.integers(0, 500), st.floats(1.0, 1e9), st.floats(0.0, 1e8), st.sampled_from(["adaptive", "gain"])
)
def test_waits_keep_their_bounds(visits: int, changes: int, watched: float, before: float, name: str) -> None:
    policy = parse(f"{name}:min_wait=1h,max_wait=10d")
    wait = policy.next_wait(visits, min(changes, visits), watched, before)
    assert 3600.0 <= wait <= 10 * DAY
    assert before == 0 or wait <= max(3600.0, 2 * before)


def test_adaptive_comes_back_sooner_the_more_often_a_page_was_another() -> None:
    waits = [parse("adaptive").next_wait(20, changes, 20 * DAY, 20 * DAY) for changes in range(21)]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > 100 * waits[-1]


@given(st.floats(0.001, 0.999))
def test_the_inverse_of_the_gain_is_one(share: float) -> None:
    x = changes_between(share)
    assert 1 - math.exp(-x) * (1 + x) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("goal", ["freshness", "age"])
def test_no_other_allocation_is_better_than_the_optimal_one(goal: str) -> None:
    rates = np.array([0.02, 0.1, 0.5, 1.0, 3.0, 9.0])
    policy = REVISITS["optimal"](goal=goal)  # type: ignore[call-arg]
    visits = policy.visits(rates, np.ones(6), 6.0)  # type: ignore[attr-defined]
    assert visits.sum() == pytest.approx(6.0, rel=1e-6)
    steps = 1000  # visits that the oracle gives one by one are a thousandth each

    def worth(rate: float, given: float) -> float:
        if not given:
            return 0.0 if goal == "freshness" else -1e6
        x = np.array([rate * steps / 6 / given])
        interval = np.array([steps / 6 / given])
        return float(freshness(x)[0]) if goal == "freshness" else -float(age(x, interval)[0])

    with np.errstate(divide="ignore"):
        interval = 1 / visits
    reached = freshness(rates * interval).sum() if goal == "freshness" else -age(rates * interval, interval).sum()
    assert reached == pytest.approx(best_of_all(worth, rates.tolist(), steps), rel=1e-3)


def test_optimal_leaves_alone_what_changes_too_fast() -> None:
    visits = REVISITS["optimal"]().visits(np.array([0.1, 1.0, 1000.0]), np.ones(3), 1.0)  # type: ignore[attr-defined]
    assert visits[2] == 0.0
    assert visits[0] > 0
    assert visits[1] > 0


# Simulation ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("days_between", [3.0, 30.0, 300.0])
def test_fixed_intervals_give_the_closed_forms_of_freshness_and_age(days_between: float) -> None:
    kept = _kept("fixed:every=30d", np.full(PAGES, 1 / days_between), a_day=1.05 * MONTHLY)
    x = np.array([30 / days_between])
    assert kept.freshness == pytest.approx(float(freshness(x)[0]), rel=0.01)
    assert kept.age_days == pytest.approx(float(age(x, np.array([30.0]))[0]), rel=0.03)


def test_the_published_comparison_comes_out() -> None:
    """Cho, Garcia-Molina 2003: each page once a month on average; freshness .57, .12, .62, age 5.6, 400, 4.3 days."""
    uniform, proportional, optimal, youngest = (_kept(s) for s in ("uniform", "proportional", "optimal", "optimal:goal=age"))
    assert uniform.freshness == pytest.approx(0.57, abs=0.01)
    assert proportional.freshness == pytest.approx(0.125, abs=0.01)
    assert optimal.freshness == pytest.approx(0.62, abs=0.01)
    assert uniform.age_days == pytest.approx(5.6, abs=0.15)
    assert proportional.age_days == pytest.approx(400, rel=0.05)
    assert youngest.age_days == pytest.approx(4.3, abs=0.15)


@pytest.mark.parametrize("shape", [0.3, 2.0])
def test_uniform_beats_proportional_and_optimal_beats_both_whatever_the_rates(shape: float) -> None:
    rates = parse_changes(f"gamma:every=10d,shape={shape}").rates(PAGES, 5) * DAY
    proportional, uniform, optimal = (_kept(spec, rates).freshness for spec in ("proportional", "uniform", "optimal"))
    assert proportional < uniform < optimal


def test_observing_changes_makes_copies_younger_than_fixed_intervals() -> None:
    assert _kept("adaptive").age_days < 0.9 * _kept("fixed:every=30d").age_days


def test_gain_follows_its_multiplier() -> None:
    """The larger worth is, the fewer fetches; and none goes to pages that change faster than that once they are known."""
    little, much = _kept("gain:worth=1d,max_wait=400d", days=400), _kept("gain:worth=20d,max_wait=400d", days=400)
    assert much.revisits < little.revisits
    assert much.idle > little.idle


def test_weights_count_pages_by_importance() -> None:
    weights = np.where(RATES > 0.5, 100.0, 1.0)  # what changes daily is important
    plain = _kept("optimal", weights=weights)
    weighted = _kept("optimal:weighted=on", weights=weights)
    assert weighted.weighted_freshness > plain.weighted_freshness
    assert plain.freshness > weighted.freshness


def test_compiled_and_interpreted_simulations_are_the_same() -> None:
    rates = parse_changes("web").rates(60, 2) * DAY
    for spec in ("adaptive", "gain", "optimal"):
        one, other = (_kept(spec, rates, a_day=10, days=30, collected=False, jit=jit) for jit in (True, False))
        assert (one.freshness, one.age_days) == pytest.approx((other.freshness, other.age_days), rel=1e-12)
        assert (one.revisits, one.found) == (other.revisits, other.found)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.9])
def test_a_share_of_fetches_is_for_revisits_while_there_is_something_to_discover(share: float) -> None:
    kept = _kept("fixed:every=1m", np.full(PAGES, 0.1), a_day=100, days=20, share=share, collected=False)
    assert kept.pages + kept.revisits + kept.idle == 2000
    assert kept.revisits == pytest.approx(share * 2000, abs=3)


def test_what_discovery_no_longer_needs_goes_to_revisits() -> None:
    everything = _kept("fixed:every=1d", np.full(50, 0.1), a_day=100, days=20, share=0.25, collected=False)
    assert everything.pages == 50
    assert everything.revisits > 800


def test_pages_that_never_change_stay_fresh() -> None:
    kept = _kept("fixed:every=3d", np.zeros(100), a_day=10, days=60, collected=False)
    assert kept.freshness == 1.0
    assert kept.age_days == 0.0
    assert kept.found == 0


def test_the_measures_are_sums_over_what_happened() -> None:
    """One page, visited daily from the start: the oracle goes through the same changes piece by piece."""
    kept = _kept("fixed:every=1d", np.array([0.7]), a_day=1, days=40, collected=False, since_days=10, seed=3)
    visits = [float(day) for day in range(40)]
    drawn = [day - math.log(1 - draw(mix(mix(3)), k)) / 0.7 for k, day in enumerate(visits)]
    changes = [change for change, day in zip(drawn, visits, strict=True) if change < day + 1]  # the next visit draws anew
    assert (kept.freshness, kept.age_days) == pytest.approx(measured([changes], [visits], 10, 40), rel=1e-9)


# Rates of change ------------------------------------------------------------------------------------------------------------
def test_rates_are_as_described(tmp_path: Path) -> None:
    web = parse_changes("web").rates(10_000, 1) * DAY
    assert np.mean(np.isclose(web, 1.0)) == pytest.approx(0.23)
    assert np.mean(np.isclose(web, 1 / 365)) == pytest.approx(0.30)
    assert parse_changes("gamma:every=5d,shape=0.5").rates(50_000, 1).mean() * DAY == pytest.approx(0.2, rel=0.05)
    assert (parse_changes("web").rates(100, 1) == parse_changes("web").rates(100, 1)).all()
    file = tmp_path / "rates.txt"
    file.write_text("0.5\n0\n2\n")
    assert (parse_changes(f"file:path={file}").rates(3) * DAY).tolist() == [0.5, 0.0, 2.0]
    with pytest.raises(InputError, match="a number for each of 4 pages, got 3"):
        parse_changes(f"file:path={file}").rates(4)
    file.write_text("0.5\n-1\n2\n")
    with pytest.raises(InputError, match="finite numbers from 0"):
        parse_changes(f"file:path={file}").rates(3)


# The command ----------------------------------------------------------------------------------------------------------------
WEB = "synthetic:pages=400,links=5,seed=3"


def test_the_command_compares_policies(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["revisit", WEB, "--revisit", "uniform", "--revisit", "adaptive", "--days", "60", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert {row["revisits"] for row in told["rows"]} == {"uniform", "adaptive"}
    assert all(0 < row["fresh"] < 1 and row["pages"] == 400 for row in told["rows"])
    assert len(told["curves"]["uniform"]["days"]) == len(told["curves"]["uniform"]["fresh"])
    out = tmp_path / "report.html"
    main(["revisit", WEB, "--revisit", "fixed", "--days", "30", "--collected", "--out", str(out)])
    assert "Freshness over time" in out.read_text()
    main(["revisit", WEB, "--revisit", "fixed", "--days", "30", "--csv", "--out", str(tmp_path / "t.parquet")])
    assert (tmp_path / "t.parquet").stat().st_size > 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--revisit", "fixd"], "did you mean 'fixed'"),
        (["--changes", "webb"], "did you mean 'web'"),
        (["--days", "0"], "--days must be a number above 0, got 0"),
        (["--share", "1.5"], "--share must be a number from 0 to 1, got 1.5"),
        (["--a-day", "-3"], "--a-day must be a number above 0, got -3"),
        (["--ordering", "pagerank"], "cannot be simulated with revisits"),
        (["--out", "t.txt"], "must be a file name that ends in"),
    ],
)
def test_bad_input_is_refused(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["revisit", WEB, *args])
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_a_comparison_takes_values_too() -> None:
    web = _web(50)
    done = compare_revisits(web, [parse("uniform")], parse_changes("same:every=2d"), days=20, policy="bfs", seeds=[0])
    assert done.frame()["revisits"].values == ["uniform"]
    with pytest.raises(FrontrankError):
        compare_revisits(web, ["uniform"], "same:every=-2d")
