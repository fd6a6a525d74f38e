"""Facts about search impact under uncertainty: exact, sampled, and at the worst."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.search.expected_impact import Discrete, Sketch, best, expected_impact, rank_distribution, sampled_impact
from frontrank.search.visibility import step
from frontrank.search.worst_impact import best_worst, worst_impact

COIN = Discrete(np.array([1.0, 2.0]), np.array([0.5, 0.5]))
V = [1.0, 0.6, 0.3, 0.1]


# --- the naive twin: every outcome of every score, one after the other ---


def outcomes(sketch: Sketch):  # type: ignore[no-untyped-def]
    scores = sketch.discrete()
    for picks in product(*[range(s.values.size) for s in scores]):
        chance = float(np.prod([s.probabilities[a] for s, a in zip(scores, picks, strict=True)]))
        values = [float(s.values[a]) for s, a in zip(scores, picks, strict=True)]
        order = sorted(range(len(values)), key=lambda i: (-values[i], i))
        yield chance, {i: rank for rank, i in enumerate(order)}


def naive_ranks(sketch: Sketch) -> np.ndarray:
    n = len(sketch.pages)
    found = np.zeros((n, n))
    for chance, ranks in outcomes(sketch):
        for i, rank in ranks.items():
            found[i, rank] += chance
    return found


def naive_worst(selection, sketches, frequency, visibility) -> float:  # type: ignore[no-untyped-def]
    def of(ranks: dict[int, int], sketch: Sketch) -> float:
        return sum(
            visibility[rank] if rank < len(visibility) else 0.0 for i, rank in ranks.items() if sketch.pages[i] in selection
        )

    least = [min(of(ranks, sketch) for _, ranks in outcomes(sketch)) for sketch in sketches]
    return float(np.dot(frequency, least))


@st.composite
def distributions(draw: st.DrawFn) -> Discrete | float:
    values = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))  # few values: ties are common
    if draw(st.booleans()):
        return float(values[0])
    weights = np.array(draw(st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values))), float)
    return Discrete(np.array(values, float), weights / weights.sum())


@st.composite
def sketch_lists(draw: st.DrawFn) -> tuple[list[Sketch], list[float]]:
    # A page is fetched or not, whatever the query; the scores differ.
    unfetched = draw(st.lists(st.booleans(), min_size=6, max_size=6))
    made = []
    for _ in range(draw(st.integers(1, 2))):
        pages = draw(st.lists(st.integers(0, 5), unique=True, max_size=5))
        scores = []
        for page in pages:
            values = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
            share = np.full(len(values), 1 / len(values))
            scores.append(Discrete(np.array(values, float), share) if unfetched[page] else float(values[0]))
        made.append(Sketch(tuple(pages), tuple(scores)))
    return made, [draw(st.floats(0, 5)) for _ in made]


# --- the expected case ---


@given(st.lists(distributions(), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_rank_distribution_equals_full_enumeration(scores: list[Discrete | float]) -> None:
    sketch = Sketch(tuple(range(len(scores))), tuple(scores))
    np.testing.assert_allclose(rank_distribution(sketch), naive_ranks(sketch), atol=1e-12)


@given(st.lists(distributions(), min_size=1, max_size=5), st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_leaving_out_low_ranks_does_not_change_the_others(scores: list[Discrete | float], ranks: int) -> None:
    sketch = Sketch(tuple(range(len(scores))), tuple(scores))
    np.testing.assert_array_equal(rank_distribution(sketch, ranks), rank_distribution(sketch)[:, :ranks])


def test_every_rank_and_every_page_has_probability_one_in_all() -> None:
    rng = np.random.default_rng(5)
    scores = [Discrete(rng.integers(0, 9, 4).astype(float), np.full(4, 0.25)) for _ in range(40)]
    found = rank_distribution(Sketch(tuple(range(40)), tuple(scores)))
    np.testing.assert_allclose(found.sum(axis=0), 1)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_known_scores_have_certain_ranks_and_a_tie_goes_to_the_first() -> None:
    found = rank_distribution(Sketch((8, 3, 5), (1.0, 2.0, 1.0)))
    assert found.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_impact_by_hand() -> None:
    # Page 0 is fetched with score 1.5; page 1 is above it with probability 1/2. The query is asked 10 times.
    impact = expected_impact([Sketch((0, 1), (1.5, COIN))], [10.0], [1.0, 0.2])
    np.testing.assert_allclose(impact, [10 * (0.5 * 1 + 0.5 * 0.2)] * 2)


@given(sketch_lists())
@settings(max_examples=50, deadline=None)
def test_expected_impact_is_linear_in_queries_and_frequencies(made: tuple[list[Sketch], list[float]]) -> None:
    sketches, frequency = made
    together = expected_impact(sketches, frequency, V)
    apart = np.zeros_like(together)
    for sketch, f in zip(sketches, frequency, strict=True):
        one = expected_impact([sketch], [1.0], V)
        apart[: one.size] += f * one
    np.testing.assert_allclose(together, apart, atol=1e-12)


def test_what_a_set_is_worth_in_expectation_is_the_sum_over_its_pages() -> None:
    sketch = Sketch((0, 1, 2), (COIN, 1.5, Discrete(np.array([0.0, 3.0]), np.array([0.9, 0.1]))))
    impact = expected_impact([sketch], [2.0], V)
    for chosen in combinations(range(3), 2):
        total = sum(chance * sum(2 * V[ranks[i]] for i in chosen) for chance, ranks in outcomes(sketch))
        assert total == pytest.approx(impact[list(chosen)].sum())


def test_best_takes_the_pages_of_highest_impact() -> None:
    impact = np.array([3.0, 9.0, 5.0, 5.0])
    assert best(2, impact, [3, 2, 0]) == [2, 3]
    assert best(9, impact, [0]) == [0]
    assert best(0, impact, [0]) == []


@pytest.mark.parametrize("seed", range(5))
def test_sampling_agrees_within_four_standard_errors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = [Discrete(rng.integers(0, 6, 3).astype(float), rng.dirichlet(np.ones(3))) for _ in range(8)]
    sketches = [Sketch(tuple(range(8)), tuple(scores)), Sketch((1, 9), (2.0, COIN))]
    exact = expected_impact(sketches, [3.0, 1.0], V)
    mean, error = sampled_impact(sketches, [3.0, 1.0], V, samples=9000, seed=seed)
    assert (np.abs(mean - exact) <= 4 * error + 1e-12).all()
    assert error.max() < 0.03
    again = sampled_impact(sketches, [3.0, 1.0], V, samples=9000, seed=seed)
    np.testing.assert_array_equal(again.mean, mean)


def test_a_sampler_stands_for_any_distribution() -> None:
    # Two uniform scores: each is first with probability 1/2; a third above both always is.
    sketch = Sketch((0, 1, 2), (lambda rng, n: rng.random(n), lambda rng, n: rng.random(n), 2.0))
    mean, error = sampled_impact([sketch], [1.0], [1.0, 0.5], samples=20_000)
    assert np.abs(mean - [0.25, 0.25, 1.0]).max() <= 4 * error.max()
    assert sketch.unfetched() == (0, 1)


# --- the worst case ---


def test_two_overlapping_pages_are_worth_more_together_than_alone() -> None:
    sketches, f = [Sketch((0, 1), (COIN, COIN))], [7.0]
    v1, v2 = 1.0, 0.25
    assert worst_impact([0], sketches, f, [v1, v2]) == 7 * v2
    assert worst_impact([1], sketches, f, [v1, v2]) == 7 * v2
    assert worst_impact([0, 1], sketches, f, [v1, v2]) == 7 * (v1 + v2)


@given(sketch_lists(), st.sets(st.integers(0, 5)))
@settings(max_examples=150, deadline=None)
def test_worst_impact_equals_full_enumeration(made: tuple[list[Sketch], list[float]], selection: set[int]) -> None:
    sketches, frequency = made
    assert worst_impact(selection, sketches, frequency, V) == pytest.approx(naive_worst(selection, sketches, frequency, V))


@given(sketch_lists(), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_the_exact_choice_is_the_best_of_all_sets_and_greedy_never_claims_more(
    made: tuple[list[Sketch], list[float]], c: int
) -> None:
    sketches, frequency = made
    candidates = sorted({page for sketch in sketches for page in sketch.unfetched()})
    c = min(c, len(candidates))
    found = best_worst(c, sketches, frequency, V)
    every = [naive_worst(chosen, sketches, frequency, V) for chosen in combinations(candidates, c)]
    assert found.exact and found.impact == pytest.approx(max(every))
    greedy = best_worst(c, sketches, frequency, V, sets=0)
    assert not greedy.exact and len(greedy.pages) == c
    assert greedy.impact == pytest.approx(naive_worst(greedy.pages, sketches, frequency, V))
    assert greedy.impact <= found.impact + 1e-9


def test_greedy_can_miss_a_pair() -> None:
    # Pages 0 and 1 are worth nothing apart (each may rank second) and all of the query together; 2 and 3 are worth a little.
    sketches = [Sketch((0, 1), (COIN, COIN)), Sketch((2,), (COIN,)), Sketch((3,), (COIN,))]
    f, v = [10.0, 1.0, 1.0], [1.0]
    assert best_worst(2, sketches, f, v).pages == (0, 1)
    greedy = best_worst(2, sketches, f, v, sets=0)
    assert (greedy.pages, greedy.impact, greedy.exact) == ((2, 3), 2.0, False)


# --- bad input ---


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Discrete(np.array([1.0]), np.array([0.5])), "sum to 0.5, expected 1"),
        (lambda: Discrete(np.array([1.0, 2.0]), np.array([1.0])), "2 values and 1 probabilities"),
        (lambda: Discrete(np.array([1.0, 2.0]), np.array([1.5, -0.5])), "negative probability"),
        (lambda: Sketch((1, 1), (0.0, 0.0)), "twice"),
        (lambda: Sketch((1,), (float("nan"),)), "page 1 the score nan"),
        (lambda: expected_impact([Sketch((1,), (0.0,))], [1.0, 2.0], V), "2 frequencies for 1 sketches"),
        (lambda: expected_impact([Sketch((1,), (0.0,))], [1.0], [0.1, 0.9]), "never growing"),
        (lambda: expected_impact([Sketch((1,), (lambda rng, n: rng.random(n),))], [1.0], V), "use sampled_impact"),
        (lambda: sampled_impact([Sketch((1,), (lambda rng, n: rng.random(3),))], [1.0], V), "sampler of page 1"),
        (lambda: best_worst(2, [Sketch((1,), (COIN,))], [1.0], V), "0 to 1"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=words):
        make()


def test_a_value_that_cannot_occur_is_no_outcome() -> None:
    sure = Discrete(np.array([5.0, 0.0]), np.array([1.0, 0.0]))
    assert worst_impact([0], [Sketch((0, 1), (sure, 3.0))], [1.0], step(1)) == 1.0
