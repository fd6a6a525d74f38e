"""PageRank against a dense solve; the same bits whichever thread is first; nearly the same if rows are shared out otherwise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.kernels import pagerank as local
from frontrank.kernels.pagerank import pagerank
from tests.oracles import measures
from tests.webs import random_web, rows_of


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(1, 40), density=st.floats(0, 6), damping=st.sampled_from([0.5, 0.85, 0.9]))
def test_pagerank_is_the_dense_solution(seed: int, pages: int, density: float, damping: float) -> None:
    web = random_web(pages, int(density * pages), seed)
    ours = pagerank(web.indptr, web.targets, damping)
    assert ours == pytest.approx(measures.pagerank(rows_of(web), damping), abs=1e-10)
    assert ours.sum() == pytest.approx(1.0, abs=1e-9)


def test_rows_shared_out_otherwise_change_rounding_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    web = random_web(500, 5000, seed=1)
    alone = pagerank(web.indptr, web.targets)
    monkeypatch.setattr(local, "SHARE", 100)
    assert pagerank(web.indptr, web.targets) == pytest.approx(alone, abs=1e-12)


def test_the_same_bits_with_one_thread_as_with_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are cut by the number of links; how many threads there are, and which is first, changes nothing."""
    web = random_web(500, 5000, seed=1)
    monkeypatch.setattr(local, "SHARE", 100)
    two = pagerank(web.indptr, web.targets)
    monkeypatch.setattr(local, "ThreadPoolExecutor", lambda parts: ThreadPoolExecutor(1))
    assert pagerank(web.indptr, web.targets).tobytes() == two.tobytes()
