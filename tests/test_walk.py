"""Impact-aware random walks: against dense algebra, the papers' example, and PageRank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.kernels import pagerank as local
from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import pagerank
from frontrank.kernels.walk import virtual_degree
from frontrank.orderings.batch.rw import EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.web.view import CrawlView
from frontrank.web.web import Web
from tests.webs import random_web


def crawled(seed: int, pages: int, density: float) -> CrawlView:
    web = random_web(pages, int(density * pages), seed)
    draw = np.random.default_rng(seed)
    order = draw.permutation(pages)[: max(1, pages // 2)].astype(np.int32)
    view = CrawlView.of(web, order, order)
    view.impact = np.where(view.fetched, draw.integers(0, 5, view.known) * (draw.random(view.known) < 0.5), 0.0)
    view.impact[0] = 3.0
    return view


def adjacency(view: CrawlView) -> Array:
    a = np.zeros((view.known, view.known))
    for row, page in enumerate(view.source):
        a[page, view.target[view.indptr[row] : view.indptr[row + 1]]] = 1
    return a


def dense(view: CrawlView, omega: float, alpha: float = 0.85, gamma: float = 0.0, eps: float = 0.001) -> Array:
    """(1 - alpha)(I - alpha P)^-1 v, with every matrix written down."""
    assert view.impact is not None
    a = adjacency(view)
    w = a.T @ a
    np.fill_diagonal(w, 0.0)
    impact = (view.impact + eps) / (view.impact + eps).max()
    out, beside = a.sum(1), (w > 0).sum(1)
    f = impact * (out / max(1, out.max())) ** gamma if gamma else impact
    f_virtual = impact * (beside / max(1, beside.max())) ** gamma if gamma else impact
    m = a / np.maximum(out, 1)[:, None]
    m_virtual = w / np.maximum(w.sum(1), 1)[:, None]
    p = omega * m.T @ np.diag(f) + (1 - omega) * m_virtual.T @ np.diag(f_virtual)
    solved: Array = (1 - alpha) * np.linalg.solve(np.eye(view.known) - alpha * p, np.full(view.known, 1 / view.known))
    return solved


@pytest.mark.parametrize("gamma", [0.0, 1.0, 0.5])
@pytest.mark.parametrize("ranker", [RandomWalk, VirtualWalk, EnrichedWalk])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(2, 40), density=st.floats(0.3, 6))
def test_walks_reach_the_dense_solution(ranker: type[Ranker], gamma: float, seed: int, pages: int, density: float) -> None:
    view = crawled(seed, pages, density)
    made = ranker(gamma=gamma)  # type: ignore[call-arg]
    omega = {"rw": 1.0, "rw-virtual": 0.0, "rw-eg": 0.3}[made.name]
    assert made.score(view) == pytest.approx(dense(view, omega, gamma=gamma), abs=1e-9)
    (note,) = view.notes.values()
    assert note["residual"] <= 1e-10
    assert note["iterations"] < 200


def test_virtual_weights_of_the_papers_figure_2() -> None:
    """v5 and v6 share v2, v3, v4: 3; v5 and v7 share v3: 1; so, by the definition, do v6 and v7."""
    edges = [(1, 5), (1, 6), (2, 5), (2, 6), (2, 7), (3, 5), (3, 6), (0, 1), (0, 8)]
    web = Web.from_edges([a for a, _ in edges], [b for _, b in edges], 9)
    view = CrawlView.of(web, np.arange(4), np.arange(4))
    a = adjacency(view)
    number = {int(page): i for i, page in enumerate(view.pages)}
    w = a.T @ a
    assert w[number[5], number[6]] == 3
    assert w[number[5], number[7]] == w[number[6], number[7]] == 1
    degree = virtual_degree(view.indptr, view.target[: view.links], view.known)
    assert [degree[number[v]] for v in (5, 6, 7, 1, 8)] == [2, 2, 2, 1, 1]


def test_with_all_factors_1_and_no_dangling_page_the_walk_is_pagerank() -> None:
    pages = 30
    web = Web.from_edges(
        np.repeat(np.arange(pages), 2), [(3 * i + 7 * j + 1) % pages for i in range(pages) for j in (1, 2)], pages
    )
    assert (web.out_degree() > 0).all()
    view = CrawlView.of(web, np.arange(pages), np.arange(pages))
    view.impact = np.ones(pages)
    assert RandomWalk().score(view)[np.argsort(view.pages)] == pytest.approx(pagerank(web.indptr, web.targets), abs=1e-9)


def test_two_threads_and_restarts_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    view = crawled(5, 400, 8)
    alone = EnrichedWalk().score(view)
    cold = next(iter(view.notes.values()))["iterations"]
    again = EnrichedWalk().score(view)
    assert next(iter(view.notes.values()))["iterations"] < cold / 5  # from the last scores
    view.scores.clear()
    monkeypatch.setattr(local, "SHARE", 10)
    shared = EnrichedWalk().score(view)
    assert shared == pytest.approx(alone, abs=1e-10)
    assert again == pytest.approx(alone, abs=1e-10)


def test_estimated_virtual_degrees_are_near_the_exact_ones() -> None:
    web = random_web(3000, 30000, seed=2)
    exact = virtual_degree(web.indptr, web.targets, web.pages)
    estimated = virtual_degree(web.indptr, web.targets, web.pages, exact=0)
    many = exact > 20
    assert np.abs(estimated[many] / exact[many] - 1).mean() < 0.07


def test_unknown_impact_is_said() -> None:
    view = crawled(1, 10, 2)
    view.impact = None
    with pytest.raises(InputError, match="needs the observed impact"):
        RandomWalk().score(view)


def test_without_any_impact_all_votes_count_alike() -> None:
    view = crawled(1, 10, 2)
    view.impact = np.zeros(view.known)
    assert RandomWalk().score(view) == pytest.approx(dense(view, 1.0), abs=1e-9)
