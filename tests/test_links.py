"""PageRank against a dense solve; the same bits however the rows are shared out among threads."""

from __future__ import annotations

import numpy as np
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


def test_two_threads_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    web = random_web(500, 5000, seed=1)
    alone = pagerank(web.indptr, web.targets)
    monkeypatch.setattr(local, "SHARE", 100)
    shared = pagerank(web.indptr, web.targets)
    assert shared == pytest.approx(alone, abs=1e-12)
    assert np.array_equal(shared, pagerank(web.indptr, web.targets))
