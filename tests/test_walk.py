"""Impact-aware random walks: against dense algebra, the papers' example, and PageRank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError, SpecError
from frontrank.kernels import threads
from frontrank.kernels.jit import Array
from frontrank.kernels.pagerank import pagerank
from frontrank.kernels.walk import virtual_degree
from frontrank.orderings.batch.hidden import hidden_parts
from frontrank.orderings.batch.rw import OMEGAS, EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.registry import parse_ranker
from frontrank.orderings.trust import Trust
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


def dense(
    view: CrawlView, omega: float, alpha: float = 0.85, gamma: float = 0.0, eps: float = 0.001, v: Array | None = None
) -> Array:
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
    v = np.full(view.known, 1 / view.known) if v is None else v
    solved: Array = (1 - alpha) * np.linalg.solve(np.eye(view.known) - alpha * p, v)
    return solved


@pytest.mark.parametrize("gamma", [0.0, 1.0, 0.5])
@pytest.mark.parametrize("ranker", [RandomWalk, VirtualWalk, EnrichedWalk])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(2, 40), density=st.floats(0.3, 6))
def test_walks_reach_the_dense_solution(ranker: type[Ranker], gamma: float, seed: int, pages: int, density: float) -> None:
    view = crawled(seed, pages, density)
    omega = {"rw": 1.0, "rw-virtual": 0.0, "rw-eg": 0.3}[ranker.name]
    given = {"omega": omega} if ranker is EnrichedWalk else {}
    made = ranker(gamma=gamma, **given)  # type: ignore[call-arg]
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
    monkeypatch.setattr(threads, "SHARE", 10)
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


@pytest.mark.parametrize("ranker", [RandomWalk(), VirtualWalk(), EnrichedWalk(omega=0.3), EnrichedWalk()])
def test_with_trust_walks_start_again_at_trusted_pages_alone(ranker: RandomWalk) -> None:
    view = crawled(7, 30, 3.0)
    view.urls = [f"http://h{page % 3}.org/{page}" for page in range(view.known)]
    trusting = replace(ranker, trust=Trust.read("http://h1.org/4 3\nhttp://h2.org/5 1"))
    t = np.zeros(view.known)
    t[[4, 5]] = 0.75, 0.25
    assert trusting.needs() == {"impact", "urls"}
    omega = {"rw": 1.0, "rw-virtual": 0.0}.get(ranker.name, ranker.omega if isinstance(ranker, EnrichedWalk) else 0.0)
    scores = trusting.score(view)
    omega = next(iter(view.notes.values()))["omega"] if omega == "auto" else omega
    assert scores == pytest.approx(dense(view, float(omega), v=t), abs=1e-9)
    assert sum(trusting.parts(view).values()) == pytest.approx(scores, abs=1e-12)
    alike = replace(ranker, trust=Trust.read("\n".join(view.urls)))
    assert alike.score(view) == pytest.approx(ranker.score(view), abs=1e-9)


# Learned from the crawl itself -------------------------------------------------------------------------------------------
def sited(of_links: bool, seed: int) -> CrawlView:
    """A crawl in which impact is found along links from impactful pages, or beside impactful pages.

    Each row is a list of pages of one kind, written by a page that is worth something or not. Along links: what a worthy
    page lists is worthy. Beside: every list is all worthy or all not, and who wrote it says nothing.
    """
    draw = np.random.default_rng(seed)
    pages = 600
    worthy = np.arange(pages) % 4 == 0
    rows, good = 400, np.flatnonzero(worthy)
    bad = np.flatnonzero(~worthy)
    source = draw.permutation(pages)[:rows]
    target = []
    for page in source.tolist():
        kind = worthy[page] if of_links else draw.random() < 0.25
        mixed = 3 if of_links else 0
        listed = [*draw.choice(good if kind else bad, 8 - mixed, replace=False), *draw.choice(pages, mixed, replace=False)]
        target.append([one for one in dict.fromkeys(map(int, listed)) if one != page])
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in target])]).astype(np.int64)
    view = CrawlView(pages, 1, np.arange(pages, dtype=np.int32), source.astype(np.int32), indptr)
    view.target = np.array([one for row in target for one in row], np.int32)
    view.impact = np.where(view.fetched & worthy, 1.0 + draw.random(pages), 0.0)
    return view


@pytest.mark.parametrize("seed", range(3))
def test_votes_go_along_links_where_these_lead_to_impact_and_to_neighbours_where_those_do(seed: int) -> None:
    chosen = []
    for of_links in (True, False):
        view = sited(of_links, seed)
        EnrichedWalk().score(view)
        (note,) = view.notes.values()
        chosen.append(note["omega"])
    assert chosen[0] > chosen[1]


def test_what_is_learned_is_what_the_best_of_all_settings_would_be_on_the_hidden_pages() -> None:
    view = sited(of_links=False, seed=5)
    parts = hidden_parts(view)
    for part in parts:
        assert not part.view.fetched[part.pages].any() and view.fetched[part.pages].all()
        assert np.isin(part.pages, part.view.target).all()
        assert part.view.impact is not None and not part.view.impact[part.pages].any()
        assert part.found(part.impact @ np.eye(view.known)[part.pages]) == 1.0
    scores = {omega: np.mean([p.found(EnrichedWalk(omega=omega).score(p.view)) for p in parts]) for omega in OMEGAS}
    EnrichedWalk(gamma=0).score(view)
    (note,) = view.notes.values()
    assert scores[note["omega"]] == pytest.approx(max(scores.values()), abs=1e-3)


def test_a_learned_walk_is_the_walk_with_that_setting_and_is_learned_anew_when_the_crawl_has_grown() -> None:
    view = sited(of_links=True, seed=1)
    learned = EnrichedWalk().score(view)
    (note,) = view.notes.values()
    view.scores.clear()
    assert np.array_equal(EnrichedWalk(omega=note["omega"], gamma=note["gamma"]).score(view), learned)
    EnrichedWalk().score(view)
    (key,) = (key for key in view.scores if key.startswith("choice"))
    view.scores[key] = np.array([0.1, 0.0, len(view.source) / 1.2])
    EnrichedWalk().score(view)
    assert view.notes[f"rw-eg {EnrichedWalk()}"]["omega"] == 0.1
    view.scores[key] = np.array([0.1, 0.0, len(view.source) / 1.25])
    EnrichedWalk().score(view)
    assert view.notes[f"rw-eg {EnrichedWalk()}"]["omega"] == note["omega"]


def test_where_nothing_can_be_learned_there_is_a_setting_all_the_same() -> None:
    view = crawled(3, 12, 2.0)
    EnrichedWalk().score(view)
    (note,) = view.notes.values()
    assert (note["omega"], note["gamma"]) == (0.7, 0.0)


def test_a_number_fixes_what_is_learned_otherwise() -> None:
    assert EnrichedWalk(omega=0.3) == EnrichedWalk(omega=0.3, gamma=0) == parse_ranker("rw-eg:omega=0.3")
    assert EnrichedWalk(omega=0.3).spec() == "rw-eg:omega=0.3" and EnrichedWalk().spec() == "rw-eg"
    assert parse_ranker("rw-eg:omega=auto,gamma=0.5").spec() == "rw-eg:gamma=0.5"
    for spec, says in (
        ("rw-eg:omega=often", "omega must be a number from 0 to 1, or auto, got often"),
        ("rw-eg:omega=1.5", "omega must be a number from 0 to 1, or auto, got 1.5"),
        ("rw-eg:gamma=some", "gamma must be a number from 0, got some"),
        ("rw-eg:alpha=2", "alpha must be a number between 0 and 1"),
        ("rw:gamma=auto", "gamma must be a number from 0, got auto"),
    ):
        with pytest.raises(SpecError, match=says):
            parse_ranker(spec)
