"""What a search team knows of a crawl: nothing of pages that were not fetched; and the rankers that use it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frontrank as fr
from frontrank.errors import InputError, SpecError
from frontrank.kernels.jit import Array
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_expected import QExpected
from frontrank.orderings.batch.q_hybrid import QHybrid, _predicted
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.orderings.ranker import Ranker
from frontrank.pages.words import words
from frontrank.search import ngrams
from frontrank.search.expected_score import LEVELS, ExpectedScore
from frontrank.search.observe import Observer, fresh, observe, truth
from frontrank.search.visibility import Visibility
from frontrank.search.workload import load_workload
from frontrank.web.view import CrawlView, SearchView, Workload
from frontrank.web.web import Web

RANKERS: list[Ranker] = [
    QOverlap(),
    QOverlap(rho=0.4),
    QOverlap(keep=0.2),
    QOverlap(v=Visibility("1/r")),
    QExpected(),
    QHybrid(),
    QHybrid(fit="quadratic"),
    QHybrid(fit="tree"),
]


@pytest.fixture(scope="module")
def web() -> Web:
    return fr.load("synthetic:pages=1500,seed=5")


@pytest.fixture(scope="module")
def log(web: Web) -> Workload:
    """Searchers ask for words of titles."""
    draw = np.random.default_rng(2)
    asked = [words(web.titles[page]) for page in draw.integers(0, web.pages, 400).tolist()]  # type: ignore[index]
    counted = Counter(" ".join(title[i] for i in sorted(draw.permutation(len(title))[:2])) for title in asked if title)
    return Workload(tuple(counted), np.array([*counted.values()], float))


@pytest.fixture(scope="module")
def crawl(web: Web) -> tuple[Array, Array]:
    return np.array([0]), np.array(fr.order(web, "bfs", seeds=[0], budget=400))


@pytest.fixture(scope="module")
def view(web: Web, log: Workload, crawl: tuple[Array, Array]) -> CrawlView:
    return observe(web, *crawl, log)


def test_what_searchers_see_of_a_result_counts_for_what_is_observed_and_what_is_true(
    web: Web, log: Workload, crawl: tuple[Array, Array]
) -> None:
    seen = np.array([1.0, 0.5, 0.1])
    some = replace(log, visibility=seen)
    view = observe(web, *crawl, some)
    assert view.search is not None and view.impact is not None
    expected = np.zeros(view.known)
    for query, frequency in enumerate(log.frequency.tolist()):
        for rank, page in enumerate(view.search.results.of(query)[0][:3].tolist()):
            expected[page] += frequency * seen[rank]
    assert view.impact == pytest.approx(expected)
    step = replace(log, visibility=np.ones(10))
    assert np.array_equal(truth(web, step), truth(web, log))
    assert truth(web, some).sum() < truth(web, log).sum()
    assert QOverlap(keep=0.2).score(view).any()


def search_of(view: CrawlView) -> SearchView:
    assert view.search is not None
    return view.search


def poisoned(web: Web, order: Array) -> Web:
    """The same web, where every page that was not fetched says and links to something else."""
    unfetched = np.ones(web.pages, bool)
    unfetched[order] = False
    moved = [[(page + 1) % web.pages, (page + 7) % web.pages] for page in range(web.pages)]
    rows = [moved[page] if unfetched[page] else web.targets_of(page).tolist() for page in range(web.pages)]
    assert web.anchors is not None and web.titles is not None and web.texts is not None
    anchors = []
    for page, row in enumerate(rows):
        begin = int(web.indptr[page])
        anchors += ["poison"] * len(row) if unfetched[page] else [web.anchors[begin + i] for i in range(len(row))]
    columns: dict[str, Any] = {
        "titles": ["poison" if unfetched[p] else web.titles[p] for p in range(web.pages)],
        "texts": ["poison game music" if unfetched[p] else web.texts[p] for p in range(web.pages)],
    }
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    targets = np.array([q for row in rows for q in row], np.int32)
    return replace(web, indptr=indptr, targets=targets, anchors=anchors, **columns)


def test_nothing_of_an_unfetched_page_is_seen(web: Web, log: Workload, crawl: tuple[Array, Array], view: CrawlView) -> None:
    other = observe(poisoned(web, crawl[1]), *crawl, log)
    ours, theirs = search_of(view), search_of(other)
    for name in ("pages", "source", "indptr", "impact"):
        assert np.array_equal(getattr(view, name), getattr(other, name))
    assert np.array_equal(view.target[: view.links], other.target[: other.links])
    for name in ("indptr", "page", "score"):
        assert np.array_equal(getattr(ours.results, name), getattr(theirs.results, name))
    assert list(ours.urls) == list(theirs.urls) and list(ours.anchors) == list(theirs.anchors)
    assert np.array_equal(ours.hosts, theirs.hosts)
    for ranker in RANKERS:
        assert np.array_equal(ranker.score(view), ranker.score(other)), ranker


def test_poison_would_be_seen_if_the_pages_were_fetched(web: Web, log: Workload, crawl: tuple[Array, Array]) -> None:
    assert not np.array_equal(truth(web, log), truth(poisoned(web, crawl[1]), log))


def test_results_hold_fetched_pages_only_and_impact_counts_their_views(view: CrawlView, log: Workload) -> None:
    results, fetched = search_of(view).results, view.fetched
    assert np.all(fetched[results.page]) and len(results.page) > 100
    shown = np.minimum(np.diff(results.indptr), 10)
    assert view.impact is not None
    assert view.impact.sum() == (shown * log.frequency).sum()
    assert np.all(view.impact[~fetched] == 0)


def test_anchors_are_those_of_fetched_pages_in_fetch_order(web: Web, view: CrawlView, crawl: tuple[Array, Array]) -> None:
    assert web.anchors is not None
    page = int(np.argmax(np.bincount(view.target[: view.links])))
    expected = []
    for source in crawl[1].tolist():
        at = [int(web.indptr[source]) + i for i, q in enumerate(web.targets_of(source).tolist()) if q == view.pages[page]]
        expected += [web.anchors[i] for i in at if web.anchors[i]]
    assert len(expected) > 3
    assert search_of(view).anchors[page] == " \n ".join(expected)


def test_when_all_is_fetched_the_truth_is_what_is_observed(log: Workload) -> None:
    web = fr.load("synthetic:pages=200,seed=1")
    seeds = np.arange(web.pages)
    seen = observe(web, seeds, seeds, log)
    assert seen.impact is not None
    assert seen.impact.sum() == truth(web, log).sum() > 0
    assert np.mean(seen.impact == truth(web, log)) > 0.95  # anchors may fall in another order, ties with them


def test_truth_is_kept_for_the_same_workload_and_cannot_be_spoilt(web: Web, log: Workload) -> None:
    first = truth(web, log)
    again = Workload(log.queries, log.frequency.copy())
    first[:] = -1
    assert np.all(truth(web, again) >= 0)
    assert truth(web, Workload(log.queries, 2 * log.frequency)) == pytest.approx(2 * truth(web, log))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=5, unique=True).map(sorted))
def test_an_observer_that_went_along_sees_what_one_sees_who_starts_from_nothing(
    web: Web, log: Workload, crawl: tuple[Array, Array], moments: list[int]
) -> None:
    seeds, order = crawl
    observer = Observer(log)
    for moment in moments:
        view, whole = CrawlView.of(web, seeds, order[:moment]), observe(web, seeds, order[:moment], log)
        observer.take_in(fresh(web, view, len(observer.urls), observer.rows))
        observer.look(view)
        assert view.search is not None and whole.search is not None
        assert view.impact is not None and whole.impact is not None and np.array_equal(view.impact, whole.impact)
        for name in ("indptr", "page", "score"):
            assert np.array_equal(getattr(view.search.results, name), getattr(whole.search.results, name))
        assert (view.search.urls, view.search.anchors) == (whole.search.urls, whole.search.anchors)
        assert np.array_equal(view.search.hosts, whole.search.hosts)
        assert np.array_equal(QOverlap().score(view), QOverlap().score(whole))


def test_a_web_without_urls_cannot_be_searched(log: Workload) -> None:
    bare = Web.from_edges([0], [1], 2)
    with pytest.raises(InputError, match="knows no URLs"):
        truth(bare, log)
    with pytest.raises(InputError, match="knows no URLs"):
        observe(bare, np.array([0]), np.array([0]), log)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.spec())
def test_every_known_page_has_a_finite_score_and_the_same_twice(ranker: Ranker, view: CrawlView) -> None:
    scores = ranker.score(view)
    assert scores.shape == (view.known,) and np.all(np.isfinite(scores))
    assert np.array_equal(scores, ranker.score(view))


def ideal_share(scores: Array, view: CrawlView, impact: Array, share: float) -> float:
    waiting = np.flatnonzero(~view.fetched)
    true, count = impact[view.pages[waiting]], int(share * waiting.size)
    return float(true[np.argsort(-scores[waiting], kind="stable")[:count]].sum() / np.sort(true)[::-1][:count].sum())


def test_queries_find_more_of_what_searchers_would_see_than_chance(web: Web, log: Workload, view: CrawlView) -> None:
    impact = truth(web, log)
    chance = np.mean([ideal_share(np.random.default_rng(s).random(view.known), view, impact, 0.1) for s in range(20)])
    assert ideal_share(QOverlap().score(view), view, impact, 0.1) > 1.5 * chance


def test_the_parts_of_the_hybrid_add_up_and_the_weight_is_that_of_queries(view: CrawlView) -> None:
    parts = QHybrid(weight=0.7).parts(view)
    assert np.array_equal(sum(parts.values()), QHybrid(weight=0.7).score(view))
    assert parts["queries"] == pytest.approx(0.7 * QOverlap().score(view))
    assert np.array_equal(QHybrid(weight=1.0).score(view), QOverlap().score(view))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(-3, 3), st.integers(0, 50)), min_size=3, max_size=40), st.integers(0, 2**16))
def test_by_default_a_greater_pagerank_never_lets_expect_less(pages: list[tuple[float, int]], seed: int) -> None:
    """Waiting pages lie below the fetched ones that a curve is fitted to: there a parabola may rise again."""
    x, impact = np.array([x for x, _ in pages]), np.array([float(seen) for _, seen in pages])
    asked = np.sort(np.random.default_rng(seed).uniform(-6, 4, 50))
    assert (np.diff(_predicted(QHybrid().fit, x, impact, asked)) >= 0).all()


def test_a_parabola_puts_the_least_pages_first_where_most_fetched_pages_have_no_impact() -> None:
    x, impact = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.0, 0.0, 1.0, 9.0])
    parabola, rising = (_predicted(fit, x, impact, np.array([-3.0, 0.0])) for fit in ("quadratic", "isotonic"))
    assert parabola[0] > parabola[1] and rising[0] <= rising[1]


def test_how_queries_are_batched_is_invisible(view: CrawlView, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = QOverlap().score(view)
    monkeypatch.setattr(ngrams, "MAX_MATCHES", 50)
    assert np.array_equal(QOverlap().score(view), whole)


def test_keeping_all_sketches_is_keeping_the_neediest_of_all(view: CrawlView) -> None:
    assert np.array_equal(QOverlap(keep=0.99999).score(view), QOverlap().score(view))
    assert QOverlap(keep=0.1).score(view).sum() < QOverlap().score(view).sum()


def test_odds_of_a_leaf_are_the_scores_that_its_training_pairs_had(view: CrawlView) -> None:
    search = search_of(view)
    index = ngrams.NGramIndex.of(search.workload.queries, search.urls, search.anchors)
    matches = index.match()
    expected = ExpectedScore(view)
    expected.learn([(0, matches)])
    outlook = expected.outlook(0, matches)
    assert expected.learned is not None
    leaf, score = expected.learned
    for one in np.unique(outlook.leaf).tolist():
        mine = np.sort(score[leaf == one])
        assert outlook.values[one].tolist() == [mine[int(level * len(mine))] for level in LEVELS]
    assert np.array_equal(outlook.page, expected.of(0, matches).page)


def test_what_is_seen_less_counts_less_and_a_step_is_the_default(view: CrawlView) -> None:
    plain, less = QOverlap().score(view), QOverlap(v=Visibility("1/r")).score(view)
    assert np.array_equal(plain, QOverlap(v=Visibility("step:10")).score(view))
    assert np.all(less <= plain) and np.array_equal(less > 0, plain > 0) and not np.array_equal(less, plain)


def test_without_queries_or_impact_the_rankers_say_what_is_missing(web: Web, view: CrawlView) -> None:
    bare = CrawlView.of(web, np.array([0]), np.array([0]))
    for ranker in RANKERS:
        with pytest.raises(InputError, match="but this crawl has none"):
            ranker.score(bare)
        assert "queries" in ranker.needs()
    nothing = replace(view, search=replace(search_of(view), workload=Workload((), np.empty(0))))
    for ranker in RANKERS:
        with pytest.raises(InputError, match="empty"):
            ranker.score(nothing)


@pytest.mark.parametrize("given", [{"g": 0}, {"rho": 0.0}, {"rho": 2.0}, {"k": 0}, {"keep": 0.0}, {"keep": float("nan")}])
def test_parameters_out_of_range_are_refused(given: dict[str, Any]) -> None:
    for ordering in (QOverlap, QHybrid):
        with pytest.raises(SpecError, match=next(iter(given))):
            ordering(**given)


def test_the_hybrid_refuses_an_unknown_fit_and_a_weight_beyond_1() -> None:
    with pytest.raises(SpecError, match="isotonic, quadratic, tree"):
        QHybrid(fit="cubic")
    with pytest.raises(SpecError, match="weight"):
        QHybrid(weight=1.1)


@pytest.mark.data
def test_on_a_real_site_the_query_log_finds_more_than_pagerank(data_dir: Path) -> None:
    web, log = fr.load(data_dir / "uci-ics"), load_workload(data_dir / "queries" / "trec-terabyte-2005.txt.gz")
    seed = web.page_of("https://www.ics.uci.edu")
    view = observe(web, np.array([seed]), np.array(fr.order(web, "bfs", seeds=[seed], budget=int(0.3 * web.pages))), log)
    impact = truth(web, log)
    overlap, hybrid, standing = (ranker.score(view) for ranker in (QOverlap(), QHybrid(), PageRank()))
    assert ideal_share(overlap, view, impact, 0.05) > ideal_share(standing, view, impact, 0.05)
    assert ideal_share(overlap, view, impact, 0.01) > 3 * ideal_share(standing, view, impact, 0.01)
    assert ideal_share(hybrid, view, impact, 0.3) > ideal_share(overlap, view, impact, 0.3)
