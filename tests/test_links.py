"""PageRank against a dense solve; the same bits whichever thread is first; nearly the same if rows are shared out otherwise."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.kernels import inlinks, threads
from frontrank.kernels.inlinks import find_inlinks, in_degree
from frontrank.kernels.pagerank import Solver, pagerank
from frontrank.kernels.walk import LinkRows, Walk, Walker
from frontrank.system import capacity
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
    monkeypatch.setattr(threads, "SHARE", 100)
    assert pagerank(web.indptr, web.targets) == pytest.approx(alone, abs=1e-12)


def _cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    for module in (threads, inlinks):
        monkeypatch.setattr(module, "cores", lambda: count)


def test_the_same_bits_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links are cut by their number; how many threads there are, and which is first, changes nothing."""
    web = random_web(500, 5000, seed=1)
    rows, factor = np.arange(500, dtype=np.int32), np.random.default_rng(0).random(500)
    for module in (threads, inlinks):
        monkeypatch.setattr(module, "SHARE", 100)
    found = set()
    for count in (1, 2, 3):
        _cores(monkeypatch, count)
        turned = find_inlinks(web.indptr, web.targets, 500)
        made = [turned.start, turned.row, in_degree(web.targets, 500)]
        for bits in (32, 64):
            made.append(Solver(rows, web.indptr, turned, bits).solve(0.85, 1e-10).scores)
            made.append(
                Walker(LinkRows(rows, web.indptr, web.targets, turned), Walk(0.85, 0.4, factor, factor), bits)
                .solve(1e-10)
                .scores
            )
        found.add(b"".join(array.tobytes() for array in made))
    assert len(found) == 1


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(1, 40), density=st.floats(0, 6), threads=st.integers(1, 3))
def test_links_by_target_are_the_same_links(seed: int, pages: int, density: float, threads: int) -> None:
    web = random_web(pages, int(density * pages), seed)
    turned = find_inlinks(web.indptr, web.targets, pages, threads=threads)
    by_target = [turned.row[turned.start[q] : turned.start[q + 1]].tolist() for q in range(pages)]
    assert by_target == [[p for p in range(pages) if q in web.targets_of(p)] for q in range(pages)]
    assert in_degree(web.targets, pages).tolist() == [len(rows) for rows in by_target]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), pages=st.integers(2, 40), density=st.floats(0, 6), omega=st.sampled_from([0.0, 0.4, 1.0]))
def test_with_32_bits_scores_are_as_near_as_is_told(seed: int, pages: int, density: float, omega: float) -> None:
    web = random_web(pages, int(density * pages), seed)
    rows, turned = np.arange(pages, dtype=np.int32), find_inlinks(web.indptr, web.targets, pages)
    factor = np.random.default_rng(seed).random(pages)
    told = Solver(rows, web.indptr, turned, 32).solve(0.85, 1e-10)
    assert np.abs(told.scores - measures.pagerank(rows_of(web), 0.85)).sum() <= told.residual + 1e-10
    assert told.residual < 1e-5
    assert told.iterations < 200
    exact, rounded = (
        Walker(LinkRows(rows, web.indptr, web.targets, turned), Walk(0.85, omega, factor, factor), bits).solve(1e-12)
        for bits in (64, 32)
    )
    assert np.abs(rounded.scores - exact.scores).sum() <= rounded.residual + exact.residual


def test_links_by_target_may_lie_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    web = random_web(50, 500, seed=1)
    in_memory = find_inlinks(web.indptr, web.targets, 50, capacity.room_for)
    monkeypatch.setattr(capacity, "SMALL", 0)
    monkeypatch.setattr(capacity, "free_memory", lambda: 4 * web.links)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    in_file = find_inlinks(web.indptr, web.targets, 50, capacity.room_for)
    assert in_file.row.tolist() == in_memory.row.tolist()
    assert isinstance(in_file.row.base, memoryview)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"links by target takes .* GB on disk, and .* GB are free there"):
        capacity.room_for(2**50)
