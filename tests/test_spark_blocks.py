"""Links in blocks say what the links say, whatever they are cut into; folders give back what was put there. Without Spark."""

from __future__ import annotations

import resource
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontrank.errors import InputError
from frontrank.kernels.blocks import Block, Buckets, by_bucket, pull_block, rows_of, times_in
from frontrank.spark.blocks import REACH, block_at, pieces_of, shape_of
from frontrank.spark.building import BlockWriter
from frontrank.spark.folder import Folder, RemoteFolder, folder_at
from frontrank.spark.jobs import balanced_bounds, even_bounds
from frontrank.spark.rows import partial_sum, summed_up

PAGES = 41
LINKS = st.lists(st.tuples(st.integers(0, PAGES - 1), st.integers(0, PAGES - 1)), max_size=120)


@given(LINKS, st.sets(st.integers(0, PAGES - 1)), st.integers(1, 50), st.integers(1, 50), st.booleans(), st.integers(1, 9))
def test_pulling_along_blocks_is_adding_up_along_links(
    links: list[tuple[int, int]], fetched: set[int], bucket: int, span: int, sparse: bool, share: int
) -> None:
    source, target = (np.array([link[i] for link in links], np.int64) for i in (0, 1))
    kept = np.array([page in fetched for page in range(PAGES)], np.uint8)
    begins, pairs = by_bucket(source, target, source, kept, Buckets(bucket, -(-PAGES // bucket), np.int32))
    give, sums, found = np.random.default_rng(0).random(PAGES), np.zeros(PAGES), set[tuple[int, int]]()
    for number, (low, high) in enumerate(pairwise(begins.tolist())):
        first = number * bucket
        for begin in range(0, PAGES, span):
            start, row = rows_of(pairs[low:high], first, min(bucket, PAGES - first), begin, min(begin + span, PAGES))
            found |= {(begin + p, first + q) for q, (a, b) in enumerate(pairwise(start.tolist())) for p in row[a:b].tolist()}
            assert all((np.diff(row[a:b]) > 0).all() for a, b in pairwise(start.tolist())), "distinct, going up"
            block = Block(start, np.empty(0, np.int32), row)
            if sparse:
                at = np.flatnonzero(np.diff(start))
                block = Block(start[np.append(at, len(start) - 1)], at.astype(np.int32), row)
            for piece in range(0, len(row), share):  # several tasks pull at one block
                pull_block(block, give[begin : begin + span], sums[first : first + bucket], piece, min(piece + share, len(row)))
    assert found == {(p, q) for p, q in links if p != q and p in fetched}
    naive = np.zeros(PAGES)
    for p, q in sorted(found):
        naive[q] += give[p]
    assert np.allclose(sums, naive, rtol=1e-14)


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(31, 4000))
def test_how_often_a_page_is_a_source(row: list[int], size: int) -> None:
    at, times = times_in(np.array(row, np.int32), size)
    assert dict(zip(at.tolist(), times.tolist(), strict=True)) == {page: row.count(page) for page in set(row)}
    assert (np.diff(at) > 0).all()


@given(st.lists(st.lists(st.floats(-2, 2), min_size=7, max_size=7), max_size=5))
def test_partial_sums_add_up_in_either_form(parts: list[list[float]]) -> None:
    expected = np.zeros(7)
    for part in parts:
        expected += np.array(part)
    assert summed_up([partial_sum(np.array(part)) for part in parts], 7).tolist() == expected.tolist()


# --- cuts ---


@pytest.mark.parametrize("pages", [1, 511, 65_535, 65_537, 200_000, 2_000_000, 10_000_000, 17_000_000, 98_000_000])
@pytest.mark.parametrize("tasks", [1, 2, 4, 24])
def test_ranges_of_an_even_web_are_alike_and_no_task_is_left_a_rest(pages: int, tasks: int) -> None:
    shape = shape_of(pages)
    assert shape.buckets <= 8192
    ranges = balanced_bounds(np.full(shape.buckets, 10 * shape.bucket), shape.bucket, pages, tasks, REACH)
    assert [begin for begin, _ in ranges] + [pages] == [0] + [end for _, end in ranges]
    sizes = [end - begin for begin, end in ranges]
    assert max(sizes) <= REACH
    if pages >= 100 * tasks * 512:
        assert max(sizes) <= 1.1 * pages / len(ranges), "the busiest task has no more than its share"
        assert len(ranges) >= tasks


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=200), st.integers(1, 12), st.integers(1, 300))
def test_ranges_are_balanced_by_links_as_far_as_buckets_allow(links: list[int], tasks: int, reach: int) -> None:
    weights, pages = np.array(links) + 4, 3 * len(links) - 1
    ranges = balanced_bounds(weights, 3, pages, tasks, reach)
    assert [begin for begin, _ in ranges] + [pages] == [0] + [end for _, end in ranges]
    heavy = [int(weights[begin // 3 : -(-end // 3)].sum()) for begin, end in ranges]
    assert max(heavy) <= weights.sum() / tasks + weights.max()
    assert max(end - begin for begin, end in ranges) <= max(3, reach)


@given(st.lists(st.lists(st.integers(0, 50), min_size=2, max_size=2), min_size=1, max_size=9), st.integers(1, 40))
def test_every_link_has_one_task_and_no_task_much_more_than_its_share(of_spans: list[list[int]], share: int) -> None:
    pieces = pieces_of(of_spans, share)
    for number, links in enumerate(of_spans):
        mine = [piece for piece in pieces if piece.range == number]
        assert [piece.part for piece in mine] == list(range(mine[0].parts))
        if mine[0].parts == 1:
            assert sum(links) < 2 * share or max(links) <= share
            continue
        for span, count in enumerate(links):
            cuts = [(piece.low, piece.high) for piece in mine if piece.span == span]
            assert [low for low, _ in cuts] + [count] == [0] + [high for _, high in cuts] or count == 0
            assert max((high - low for low, high in cuts), default=0) <= share


@given(st.integers(1, 5000), st.integers(1, 700), st.integers(1, 9))
def test_stretches_are_whole_segments(pages: int, width: int, tasks: int) -> None:
    found = even_bounds(pages, width, tasks)
    assert [begin for begin, _ in found] + [pages] == [0] + [end for _, end in found]
    assert all(begin % width == 0 for begin, _ in found) and len(found) == min(tasks, -(-pages // width))


# --- folders: one contract for both kinds ---


@pytest.fixture(params=["plain", "remote"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    made = folder_at(f"{'file://' if request.param == 'remote' else ''}{tmp_path}/work")
    assert isinstance(made, RemoteFolder) == (request.param == "remote")
    made.open()
    return made


def test_a_folder_gives_back_what_was_written(folder: Folder) -> None:
    pairs = np.arange(20, dtype=np.int32).reshape(10, 2)
    folder.write("a.npy", pairs)
    folder.write("a.npy", pairs)  # a task that is repeated
    folder.write("none.npy", np.empty(0, np.int32))
    assert folder.array("a.npy").tolist() == pairs.tolist()
    assert folder.array("none.npy").size == 0
    assert folder.some("a.npy", 3, 5).tolist() == pairs[3:5].tolist()
    assert folder.names("a") == ["a.npy"]
    folder.drop("a.npy", "never.npy")
    assert folder.names("") == ["none.npy"]


def test_a_vector_is_written_by_many_and_read_by_all(folder: Folder) -> None:
    whole = np.arange(100.0)
    for begin in (60, 0, 30, 60):
        folder.place("x-1", begin, whole[begin : begin + 30] if begin < 60 else whole[60:])
    assert folder.vector("x-1", np.float64, 100).tolist() == whole.tolist()
    assert folder.part("x-1", np.float64, 30, 60).tolist() == whole[30:60].tolist()
    assert folder.part("x-1", np.float64, 7, 71).tolist() == whole[7:71].tolist()
    folder.drop("x-1")
    with pytest.raises((OSError, ValueError, InputError)):
        folder.vector("x-1", np.float64, 100)


def test_a_vector_that_is_not_whole_is_no_vector(folder: Folder) -> None:
    folder.place("x-1", 0, np.arange(30.0))
    with pytest.raises((ValueError, InputError)):
        folder.vector("x-1", np.float64, 100)


def test_a_machine_that_sees_another_folder_says_so(folder: Folder, tmp_path: Path) -> None:
    folder.check()
    (tmp_path / "work" / "of-one-ranking").unlink()
    with pytest.raises(InputError, match="--work must be a folder that all machines reach"):
        folder.check()
    folder.close()
    assert not (tmp_path / "work").exists()


def test_what_cannot_be_written_is_a_sentence_and_leaves_nothing(folder: Folder, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    writes: tuple[Callable[[], object], ...] = (
        lambda: folder.write("a.npy", np.zeros(9999)),
        lambda: folder.place("x-1", 0, np.zeros(9999)),
    )
    try:
        for write in writes:
            with pytest.raises(InputError, match=r"cannot be written: .*; free some room, or give another folder as --work"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert folder.names("") == []


def test_blocks_where_most_pages_have_no_link_are_short(tmp_path: Path) -> None:
    from contextlib import ExitStack

    folder = Folder(f"{tmp_path}/work")
    folder.open()
    for sparse in (False, True):
        with ExitStack() as files:
            writer = BlockWriter(files, folder, f"links-{int(sparse)}", sparse)
            writer.add(0, np.array([0] * 900 + [2, 2]), np.array([4, 5], np.int32))
            writer.add(901, np.array([0, 1, 1]), np.array([6], np.int32))
            writer.finish()
    dense, short = (block_at(folder, f"links-{number}") for number in (0, 1))
    assert (short.start.tolist(), short.at.tolist(), short.row.tolist()) == ([0, 2, 3], [899, 901], [4, 5, 6])
    sums = np.zeros((2, 903))
    for block, into in zip((dense, short), sums, strict=True):
        pull_block(block, np.arange(10.0), into)
    assert sums[0].tolist() == sums[1].tolist() and sums[0, 899] == 9.0
