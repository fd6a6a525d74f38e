"""Orderings hear of pages that come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontrank import Crawl, Web
from frontrank.crawl.snapshots import leaves
from frontrank.kernels.jit import compiled
from frontrank.orderings.registry import parse
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.web.links import Links


def _again(engine: GraphDriver, page: int, links: list[int]) -> dict[int, float]:
    """A page comes back with these links: what is written of it."""
    at = engine.links.target.size
    start, stop = engine.links.start.copy(), engine.links.stop.copy()
    start[page], stop[page] = at, at + len(links)
    target = np.concatenate([engine.links.target, np.array(links, np.int32)])
    on_revisit = compiled(engine.policy.kernels()["on_revisit"])
    count = on_revisit(engine.state, Links(start, stop, target, engine.links.value), page, engine.out)
    return dict(zip(engine.out.page[:count].tolist(), engine.out.key[:count].tolist(), strict=True))


def _crawled(spec: str, web: Web, pages: int) -> GraphDriver:
    engine = GraphDriver(parse(spec), web)
    engine.seed(np.array([0], np.int32))
    engine.run(np.empty(web.pages, np.int32), 0, pages)
    return engine


def _strongly_connected(pages: int = 40) -> Web:
    draw = np.random.default_rng(1)
    source = np.concatenate([np.arange(pages), np.repeat(np.arange(pages), 3)])
    target = np.concatenate([(np.arange(pages) + 1) % pages, draw.integers(0, pages, 3 * pages)])
    return Web.from_edges(source.tolist(), target.tolist(), pages=pages)


def _stationary(web: Web) -> Any:
    """By dense algebra: the distribution that a random walk over the links leaves as it is."""
    walk = np.zeros((web.pages, web.pages))
    for page in range(web.pages):
        targets = web.targets_of(page)
        walk[page, targets] = 1.0 / len(targets)
    values, vectors = np.linalg.eig(walk.T)
    vector = np.real(vectors[:, np.argmin(abs(values - 1))])
    return vector / vector.sum()


@pytest.mark.parametrize("turn", ["in a circle", "the most cash first"])
def test_opic_with_revisits_converges_to_the_importance_that_its_authors_prove(turn: str) -> None:
    web = _strongly_connected()
    engine = _crawled("opic", web, web.pages)
    on_revisit = compiled(engine.policy.kernels()["on_revisit"])
    state = engine.state
    for k in range(400 * web.pages):
        page = k % web.pages if turn == "in a circle" else int(np.argmax(state.cash))
        on_revisit(state, engine.links, page, engine.out)
        if k == web.pages:
            early = abs(engine.policy.ranking(state) - _stationary(web)).sum()
    history, cash = state.history, state.cash
    assert cash.sum() == pytest.approx(1.0)
    importance = (history + cash) / (history.sum() + 1.0)
    ranking: Any = engine.policy.ranking(state)
    np.testing.assert_allclose(ranking, importance)
    error = abs(importance - _stationary(web)).sum()
    assert error < early / 50
    assert error < 2.0 / 400  # the paper: the error falls as 1/G, and G grows by about 1 in a round


def test_opic_hands_on_what_has_come_in_since() -> None:
    web = Web.from_edges([0, 0, 1], [1, 2, 0], pages=5)
    engine = _crawled("opic", web, 2)  # pages 0 and 1: what 1 had is at 0 again
    assert engine.state.cash.tolist() == [0.5, 0.0, 0.5, 0.0, 0.0]
    assert _again(engine, 0, [2, 3]) == {2: 0.75, 3: 0.25}
    assert engine.state.history.tolist() == [1.5, 0.5, 0.0, 0.0, 0.0]


def test_backlink_counts_a_link_once_however_often_its_page_comes_back() -> None:
    web = Web.from_edges([0, 0], [1, 2], pages=5)
    engine = _crawled("backlink", web, 1)
    assert _again(engine, 0, [1, 2, 3]) == {3: 1.0}
    assert _again(engine, 0, [1, 2, 3]) == {}


def test_fpr_gives_new_links_what_the_others_got() -> None:
    web = Web.from_edges([0, 0, 1], [1, 2, 0], pages=5)
    engine = _crawled("fpr", web, 1)
    share = engine.state.f[1]
    assert share > 0
    assert _again(engine, 0, [1, 2, 3]) == {3: share}
    assert _again(engine, 0, [3, 4]) == {4: share}


def test_fpr_between_hosts_weighs_new_links_as_it_weighs_others() -> None:
    hosts = np.array([0, 0, 1, 0, 1], np.int32)
    web = Web.from_edges([0, 0], [1, 2], pages=5, hosts=hosts)
    engine = _crawled("fpr:m=10", web, 1)
    assert _again(engine, 0, [3, 4]) == {3: engine.state.f[1], 4: engine.state.f[2]}


@pytest.mark.parametrize("window", ["", ":window=0.05"])
def test_rankmass_loses_no_mass_when_pages_come_back(window: str) -> None:
    web = _strongly_connected()
    engine = _crawled(f"rankmass{window}", web, 20)
    state, d = engine.state, 0.85
    for page in np.flatnonzero(state.fetched)[:10].tolist():
        other = (page + 20) % web.pages
        written = _again(engine, page, [q for q in web.targets_of(other).tolist() if q != page])
        assert all(state.fetched[q] == 0 for q in written)
        assert state.covered[0] + (state.mass.sum() + state.leaked[0]) / (1 - d) == pytest.approx(1.0)


def test_surf_counts_a_page_that_comes_back_as_one_page() -> None:
    web = _strongly_connected()
    engine = _crawled("surf", web, 20)
    before = engine.state.count[:3].copy(), engine.state.taken.copy()
    page = int(np.flatnonzero(engine.state.fetched)[0])
    written = _again(engine, page, web.targets_of(page).tolist())
    assert written and all(engine.state.fetched[q] == 0 and key > 0 for q, key in written.items())
    assert engine.state.count[1:3].tolist() == before[0][1:3].tolist()
    assert engine.state.taken.tolist() == before[1].tolist()


def test_fica_gives_new_links_the_distance_of_the_others() -> None:
    web = Web.from_edges([0, 0, 1], [1, 2, 0], pages=5)
    engine = _crawled("fica", web, 1)
    assert _again(engine, 0, [2, 3]) == {3: -np.log10(2)}
    assert engine.state.size[0] == 1


@pytest.mark.parametrize("spec", ["bfs", "dfs", "random", "location", "domains", "largest-site", "pagerank"])
def test_orderings_that_need_no_count_rank_new_pages_as_if_just_discovered(spec: str) -> None:
    urls = [f"http://h{i}.org/{i}" for i in range(5)]
    web = Web.from_edges([0, 0], [1, 2], pages=5, urls=urls, hosts=np.arange(5, dtype=np.int32))
    engine = _crawled(spec, web, 1)
    assert {3, 4} <= set(_again(engine, 0, [3, 4]))


@pytest.mark.parametrize("spec", ["surf", "opic", "backlink", "pagerank:every=9"])
def test_recovery_repeats_what_pages_that_came_back_did_to_an_ordering(spec: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    crawl = Crawl(spec, tmp_path / "crawl", clock=lambda: 0.0)
    crawl.seed([f"http://h{i}.example/" for i in range(3)], now=0.0)
    for now in range(1, 160):
        for url in crawl.take(2, now=float(now)):
            host = int(draw.integers(0, 6))
            links = [f"http://h{host}.example/{n}" for n in draw.integers(0, 60, int(draw.integers(0, 5)))]
            crawl.fetched(
                url, links, now=float(now), again_after=float(draw.integers(1, 40)), status=304 if now % 5 == 0 else 200
            )
    assert crawl.inspect.revisits > 30
    before, taken = [leaf.copy() for leaf in leaves(crawl.state.ordering.columns)], crawl.take(100, now=200.0)
    crawl.abandon()
    again = Crawl.recover(tmp_path / "crawl", clock=lambda: 200.0)
    assert again.take(100) == taken
    for one, other in zip(before, leaves(again.state.ordering.columns), strict=True):
        size = min(len(one), len(other))
        assert one[:size].tobytes() == other[:size].tobytes()
    again.abandon()


def test_a_live_crawl_by_opic_estimates_importance_better_with_every_round() -> None:
    web = _strongly_connected()
    clock = [0.0]
    crawl = Crawl("opic", clock=lambda: clock[0])
    crawl.seed("http://a.example/0")
    errors = []
    for rounds in range(30):
        for _ in range(web.pages):
            clock[0] += 1.0
            for url in crawl.take():
                page = int(url.rpartition("/")[2])
                targets = [f"http://a.example/{q}" for q in web.targets_of(page)]
                crawl.fetched(url, targets, again_after=float(web.pages))
        if crawl.inspect.known == web.pages and rounds in (3, 29):
            ranking = crawl.state.policy.ranking(crawl.state.ordering.columns)
            assert ranking is not None
            number = [int(crawl.url(page).rpartition("/")[2]) for page in range(crawl.inspect.known)]
            errors.append(abs(ranking[: crawl.inspect.known] - _stationary(web)[number]).sum())
    assert crawl.inspect.revisits > 20 * web.pages
    assert errors[1] < errors[0] / 3
