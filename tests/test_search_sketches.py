"""Query sketches, expected scores and needy queries, against plain sorting and closed forms."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError, SpecError
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.orderings.registry import parse_ranker
from frontrank.orderings.stored import from_data, to_data
from frontrank.search import expected_score as module
from frontrank.search.expected_impact import RIVALS, Outlook, outlook_impact
from frontrank.search.expected_score import ExpectedScore, known_scores
from frontrank.search.needy import Improvability, average_scores, earlier_cycle, keep, neediness, only
from frontrank.search.ngrams import Matches, NGramIndex, match
from frontrank.search.sketches import sketch_impact
from frontrank.search.visibility import Visibility, step, visibility
from frontrank.web.view import CrawlView, Results, SearchView, Workload

PAGES = 12


def rows(given: list[list[tuple[int, float]]]) -> Results:
    flat = [pair for row in given for pair in row]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in given])]).astype(np.int64)
    return Results(indptr, np.array([page for page, _ in flat], np.int32), np.array([score for _, score in flat], float))


@st.composite
def sketches(draw: st.DrawFn) -> tuple[list[list[tuple[int, float]]], list[list[tuple[int, float]]], list[float]]:
    queries = draw(st.integers(0, 5))
    score = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0])
    fetched, frontier = [], []
    for _ in range(queries):
        shown = draw(st.lists(st.integers(0, 5), unique=True))
        fetched.append(sorted(((page, draw(score)) for page in shown), key=lambda pair: (-pair[1], pair[0])))
        frontier.append([(page, draw(score)) for page in sorted(draw(st.sets(st.integers(6, PAGES - 1))))])
    return fetched, frontier, draw(st.lists(st.integers(0, 9).map(float), min_size=queries, max_size=queries))


@settings(max_examples=150, deadline=None)
@given(sketches(), st.sampled_from([[1.0], [1.0, 1.0, 1.0], [1.0, 0.5, 0.25, 0.0], [2.0, 1.0]]))
def test_impact_is_what_sorting_each_query_gives(
    case: tuple[list[list[tuple[int, float]]], list[list[tuple[int, float]]], list[float]], visibility: list[float]
) -> None:
    fetched, frontier, frequency = case
    expected = np.zeros(PAGES)
    for shown, waiting, often in zip(fetched, frontier, frequency, strict=True):
        ranked = sorted([*shown, *waiting], key=lambda pair: -pair[1])  # stable: fetched pages stay before equal others
        for (page, _), seen in zip(ranked, visibility, strict=False):
            expected[page] += often * seen
    log = Workload(tuple("q" * len(frequency)), np.array(frequency))
    assert sketch_impact(log, rows(fetched), rows(frontier), PAGES, np.array(visibility)).tolist() == expected.tolist()


@pytest.mark.parametrize("visibility", [[1.0, 2.0], [-1.0], [float("nan")]])
def test_a_visibility_that_rises_is_refused(visibility: list[float]) -> None:
    with pytest.raises(InputError, match="visibility"):
        sketch_impact(Workload(("q",), np.ones(1)), rows([[]]), rows([[]]), 1, np.array(visibility))


def test_missing_results_count_as_zero() -> None:
    results = rows([[(0, 8.0), (1, 4.0), (2, 100.0)], [(0, 6.0)], []])
    assert average_scores(results, k=2).tolist() == [6.0, 3.0, 0.0]


def test_an_exponential_improvability_is_found_again() -> None:
    average = np.linspace(0, 5, 400)
    fitted = Improvability.fit(average, np.exp(1.5 - 0.7 * average), buckets=400)
    assert (fitted.intercept, fitted.slope) == pytest.approx((1.5, -0.7))
    assert fitted(np.array([1.0]))[0] == pytest.approx(np.exp(0.8))


def test_improvability_without_any_improvement_or_spread_is_flat() -> None:
    assert Improvability.fit(np.array([1.0, 2.0]), np.zeros(2)).slope == 0.0
    assert Improvability.fit(np.ones(4), np.ones(4)) == Improvability(0.0, 0.0)
    assert Improvability.fit(np.empty(0), np.empty(0)) == Improvability(0.0, 0.0)
    with pytest.raises(InputError, match="one average score for each improvement"):
        Improvability.fit(np.ones(2), np.ones(3))


def test_an_earlier_cycle_is_seen_in_the_results_that_it_brought() -> None:
    results = rows([[(3, 9.0), (0, 6.0), (1, 2.0)], [(2, 5.0), (3, 4.0)]])
    before = np.array([True, True, False, False])
    average, improvement = earlier_cycle(results, before, k=2)
    assert average.tolist() == [4.0, 0.0]
    assert improvement.tolist() == [1.0, 2.0]


def test_the_neediest_are_frequent_and_badly_served() -> None:
    log = Workload(("served", "bad", "bad and rare"), np.array([5.0, 5.0, 1.0]))
    need = neediness(log, rows([[(0, 9.0)], [(0, 1.0)], [(0, 1.0)]]), Improvability(0.0, -0.5), k=1)
    assert need[1] > need[2] > need[0]
    assert keep(need, 0.01).tolist() == [1] and keep(need, 1.0).tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="share"):
        keep(need, 0.0)


def test_a_view_of_some_queries_keeps_their_rows() -> None:
    results = rows([[(0, 1.0)], [], [(1, 2.0), (2, 1.0)]])
    search = SearchView(Workload(tuple("abc"), np.arange(3.0)), results, [], [], np.empty(0))
    some = only(search, np.array([1, 2]))
    assert some.workload.queries == ("b", "c") and some.workload.frequency.tolist() == [1.0, 2.0]
    assert some.results.indptr.tolist() == [0, 0, 2] and some.results.page.tolist() == [1, 2]


def searched(urls: list[str], fetched: int, results: Results, queries: tuple[str, ...], depth: int | None = None) -> CrawlView:
    source = np.arange(fetched, dtype=np.int32)
    pages, indptr = np.arange(len(urls), dtype=np.int32), np.zeros(fetched + 1, np.int64)
    view = CrawlView(len(urls), pages=pages, source=source, indptr=indptr)
    view.search = SearchView(
        Workload(queries, np.ones(len(queries))), results, urls, [""] * len(urls), np.zeros(len(urls), np.int32), depth=depth
    )
    return view


def test_a_fetched_match_that_is_not_shown_scores_0_or_as_the_last_one_shown_of_a_list_that_was_cut() -> None:
    urls = ["http://x/bee/1", "http://x/bee/2", "http://x/bee/3"]
    results = rows([[(1, 7.0), (0, 3.0)]])
    matches = match(["bee"], urls, [""] * 3)
    for depth, other in ((2, 3.0), (3, 0.0), (None, 0.0)):
        search = searched(urls, 3, results, ("bee",), depth).search
        assert search is not None
        assert known_scores(search, matches).tolist() == [3.0, 7.0, other]


def expected_scores(view: CrawlView, matches: Matches) -> Results:
    model = ExpectedScore(view)
    model.learn([(0, matches)])
    return model.of(0, matches)


def test_a_page_whose_url_holds_the_words_is_expected_to_score_as_such_pages_did() -> None:
    """Two queries: pages that hold 'bee' scored 9, those that hold 'wasp' scored 1; so will the waiting ones."""
    urls = [f"http://x/{'bee' if i % 2 else 'wasp'}/{i}" for i in range(200)]
    odd, even = range(1, 100, 2), range(0, 100, 2)
    results = rows([[(page, 9.0) for page in odd], [(page, 1.0) for page in even]])
    view = searched(urls, 100, results, ("bee", "wasp"))
    expected = expected_scores(view, match(["bee", "wasp"], urls, [""] * 200))
    assert expected.of(0)[0].tolist() == list(range(101, 200, 2)) and expected.of(1)[0].tolist() == list(range(100, 200, 2))
    assert expected.of(0)[1] == pytest.approx(9.0) and expected.of(1)[1] == pytest.approx(1.0)


def test_where_nothing_fetched_matches_every_match_is_an_average_result() -> None:
    view = searched(["http://x/", "http://x/bee"], 1, rows([[(0, 6.0)]]), ("bee",))
    assert expected_scores(view, match(["bee"], ["http://x/", "http://x/bee"], ["", ""])).score.tolist() == [6.0]


def test_the_step_sees_k_ranks_alike() -> None:
    assert step(3).tolist() == [1.0, 1.0, 1.0]


def test_a_batch_of_queries_scores_as_in_all_and_too_many_pairs_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = tuple(f"w{i}" for i in range(30))
    urls = [f"http://x/w{i % 30}/w{i // 7 % 30}/{i}" for i in range(600)]
    results = rows([[(page, 1.0 + query % 4) for page in range(300) if f"/w{query}/" in urls[page]] for query in range(30)])
    view, index = searched(urls, 300, results, queries), NGramIndex.of(queries, urls, [""] * 600)
    whole = expected_scores(view, index.match())
    model, batches = ExpectedScore(view), [(0, 7), (7, 8), (8, 30)]
    model.learn((first, index.match(1.0, first, last)) for first, last in batches)
    parts = [model.of(first, index.match(1.0, first, last)) for first, last in batches]
    assert np.concatenate([part.score for part in parts]).tolist() == whole.score.tolist()
    assert np.concatenate([part.page for part in parts]).tolist() == whole.page.tolist()
    monkeypatch.setattr(module, "PAIRS", 100)
    thin = ExpectedScore(view)
    thin.learn((first, index.match(1.0, first, last)) for first, last in batches)
    assert 50 < thin.tree.tree_.n_node_samples[0] <= 100


# Visibility ------------------------------------------------------------------------------------------------------------
def test_the_visibility_of_ranks_is_a_step_a_formula_numbers_or_a_file(tmp_path: Path) -> None:
    assert visibility("step", 4).tolist() == visibility("step:4").tolist() == [1.0] * 4
    assert visibility("1/r", 3) == pytest.approx([1, 1 / 2, 1 / 3])
    assert visibility("1/log2(1+r)", 3) == pytest.approx([1, 1 / math.log2(3), 1 / 2])
    for name, text in (("a.txt", "1\n0.5\n"), ("b.csv", "rank,visibility\n1,1\n2,0.5\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        made = parse_ranker(f"q-overlap:v={tmp_path / name}")
        (tmp_path / name).unlink()
        assert isinstance(made, QOverlap) and visibility(made.v).tolist() == [1.0, 0.5]
        assert from_data(to_data(made)) == made == parse_ranker(made.spec())  # the file is not needed any more


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("often", "visibility must be step, step:COUNT, 1/r"),
        ("step:0", "visibility must be step"),
        ("1,2", "nowhere rising"),
        ("-1", "from 0"),
        ("nan", "finite"),
    ],
)
def test_a_visibility_that_is_none_is_told_before_anything_is_ranked(text: str, says: str) -> None:
    with pytest.raises((InputError, SpecError), match=says):
        parse_ranker(f'q-hybrid:v="{text}"')


@pytest.mark.parametrize(
    ("text", "says"), [("1\nhalf\n", "line 2: must have the visibility of rank 2"), ("\n", "contains no visibilities")]
)
def test_a_file_that_is_no_table_of_visibilities_is_told_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "v.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        Visibility.read(str(tmp_path / "v.txt"))


# Scores as odds --------------------------------------------------------------------------------------------------------
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0]), max_size=3),
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.5, 4.0]), min_size=3, max_size=3), min_size=1, max_size=3),
    st.sampled_from([[1.0], [1.0, 1.0], [1.0, 0.5, 0.25, 0.1]]),
)
def test_expected_impact_of_an_outlook_is_the_mean_over_all_outcomes(
    known: list[float], waiting: list[list[float]], seen: list[float]
) -> None:
    known = sorted(known, reverse=True)
    expected = np.zeros(len(waiting))
    for outcome in itertools.product(*waiting):
        scores = [*((score, None) for score in known), *((score, page) for page, score in enumerate(outcome) if score > 0)]
        for (_, page), visible in zip(sorted(scores, key=lambda one: -one[0]), seen, strict=False):
            if page is not None:
                expected[page] += 7.0 * visible / 3 ** len(waiting)
    shown = Results(np.array([0, len(known)]), np.arange(len(known)) + 10, np.array(known, float))
    outlook = Outlook(np.array([0, len(waiting)]), np.arange(len(waiting)), np.arange(len(waiting)), np.array(waiting))
    log = Workload(("q",), np.array([7.0]))
    assert outlook_impact(log, shown, outlook, 20, np.array(seen))[: len(waiting)] == pytest.approx(expected)


def test_of_many_rivals_those_that_may_score_highest_are_weighed() -> None:
    many = RIVALS + 30
    outlook = Outlook(np.array([0, many]), np.arange(many), np.arange(many), np.arange(1.0, many + 1)[:, None])
    none = Results(np.array([0, 0]), np.empty(0, np.int32), np.empty(0))
    impact = outlook_impact(Workload(("q",), np.ones(1)), none, outlook, many, step(3))
    assert np.flatnonzero(impact).tolist() == [many - 3, many - 2, many - 1]
