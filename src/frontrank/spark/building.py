"""Links become blocks. They come once, as rows of two numbers, and leave that form in the first task that sees them:

1  each task packs its links, some millions at a time, as pairs sorted by bucket of the target, and writes them to the folder
2  the driver, which knows how many links go to each bucket, cuts pages into ranges of about as many links each
3  a task for each range reads its part of every pack, bucket by bucket, and writes the blocks of its range
4  out-degrees are counted by the tasks of 3, range by range, and added up by source
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import EngineError, SourceError
from frontrank.kernels.blocks import Buckets, by_bucket, rows_of
from frontrank.kernels.jit import Array
from frontrank.sources.parquet_rows import not_known
from frontrank.spark.blocks import Blocks, count_sources, pieces_of
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import (
    RESULT,
    Bounds,
    Result,
    Shape,
    Tasks,
    balanced_bounds,
    each_task,
    in_arrow,
    result_row,
    totals_of,
)
from frontrank.spark.rows import batch
from frontrank.system.files import NpyFile

PACK = 1 << 23  # links that are packed at once
GROUP = 1 << 24  # links that rows are made of at once
PAGE = 4  # links that a page costs as much as
COUNT = "bucket int, links long"


class BlockPlan(NamedTuple):
    """Which blocks to build: where, of a web cut how, and for how many tasks."""

    folder: Folder
    shape: Shape
    name: str  # "links", or "turned" for links turned round
    fetched: str | None  # the vector that marks the pages whose links count, if not all do
    tasks: int  # about how many
    reach: int  # pages of a range at most

    @property
    def turned(self) -> bool:
        return self.name == "turned"


def build_blocks(tasks: Tasks, plan: BlockPlan, links: Any) -> Blocks:
    """Blocks of these links (columns source, target). Out-degrees are left for ``blocks.add_degrees``."""
    folder, shape = plan.folder, plan.shape
    with_counts = in_arrow(links.select("source", "target"), partial(_pack, plan), COUNT)
    counts = np.zeros(shape.buckets, np.int64)
    for row in with_counts.groupBy("bucket").sum("links").collect():
        counts[row[0]] = row[1]
    ranges = balanced_bounds(counts + PAGE * shape.bucket, shape.bucket, shape.pages, plan.tasks, plan.reach)
    packs = folder.names(f"{plan.name}-pack-")
    expected = [int(counts[begin // shape.bucket : -(-end // shape.bucket)].sum()) for begin, end in ranges]
    work = partial(_build, plan, packs, ranges, expected)
    totals = totals_of(in_arrow(tasks.frame(len(ranges)), work, RESULT), shape.pages)
    folder.drop(*packs, *(_index_of(pack) for pack in packs))
    links_of_spans = [np.frombuffer(data, np.int64).tolist() for data in totals.data]
    share = max(1, -(-int(counts.sum()) // max(1, plan.tasks)))
    return Blocks(folder, plan.name, shape, ranges, pieces_of(links_of_spans, share), sum(map(sum, links_of_spans)))


# --- packs ---


def _pack(plan: BlockPlan, arrived: Iterable[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    folder, shape = plan.folder, plan.shape
    folder.check()
    context = TaskContext.get()
    assert context is not None
    marks = np.empty(0, np.uint8) if plan.fetched is None else folder.vector(plan.fetched, np.uint8, shape.pages)
    counts, buckets = np.zeros(shape.buckets, np.int64), Buckets(shape.bucket, shape.buckets, shape.number)
    for number, (source, target) in enumerate(_large_batches(arrived, shape.pages)):
        value, key = (target, source) if plan.turned else (source, target)
        begins, pairs = by_bucket(value, key, source, marks, buckets)
        pack = f"{plan.name}-pack-{context.partitionId()}-{number}"
        folder.write(_index_of(pack), begins)
        folder.write(f"{pack}.npy", pairs)
        counts += np.diff(begins)
    at = np.flatnonzero(counts)
    yield batch(COUNT, at, counts[at])


def _large_batches(arrived: Iterable[Any], pages: int) -> Iterator[tuple[Array, Array]]:
    """Sources and targets, some millions at a time."""
    batches: list[tuple[Array, Array]] = []
    count = 0
    for some in arrived:
        source, target = (_page_numbers(some.column(name), pages) for name in ("source", "target"))
        batches.append((source, target))
        count += source.size
        if count >= PACK:
            yield _joined(batches)
            batches, count = [], 0
    if count:
        yield _joined(batches)


def _joined(batches: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    source, target = (np.concatenate(column) for column in zip(*batches, strict=True))
    return source, target


def _page_numbers(column: Any, pages: int) -> Array:
    if column.null_count:
        raise SourceError("links: a link has no source or no target; expected two page numbers in every row")
    numbers: Array = column.to_numpy(zero_copy_only=False)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < pages):
        raise SourceError("links: " + not_known(int(numbers[(numbers < 0) | (numbers >= pages)][0]), pages))
    return numbers


def _index_of(pack: str) -> str:
    return f"{pack.removesuffix('.npy')}.begins"


# --- blocks ---


class PackedRange(NamedTuple):
    """The part of every pack that goes to a range; ``begins`` has a row for each pack: where the buckets of the range begin."""

    packs: list[str]
    begins: Array
    bounds: Bounds

    @property
    def links(self) -> int:
        return int((self.begins[:, -1] - self.begins[:, 0]).sum())

    def pairs(self, plan: BlockPlan, low: int, high: int) -> Array:
        """The links of some buckets."""
        parts = [
            plan.folder.some(pack, begins[low], begins[high]) for pack, begins in zip(self.packs, self.begins, strict=True)
        ]
        return np.concatenate(parts) if parts else np.empty((0, 2), plan.shape.number)


def _build(
    plan: BlockPlan, packs: list[str], ranges: list[Bounds], expected: list[int], arrived: Iterable[Any]
) -> Iterator[Any]:
    folder, shape = plan.folder, plan.shape
    folder.check()
    for task in each_task(arrived):
        begin, end = ranges[task]
        first, last = begin // shape.bucket, -(-end // shape.bucket)
        begins = np.array([folder.some(_index_of(pack), first, last + 1) for pack in packs])
        packed = PackedRange(packs, begins.reshape(len(packs), last - first + 1), (begin, end))
        if packed.links != expected[task]:
            raise EngineError("packs of links are missing in the work folder; does something else write there? Rank again")
        links = _write_blocks(plan, f"{plan.name}-{task}", packed)
        if not plan.turned:
            count_sources(folder, shape, f"{plan.name}-{task}")
        yield result_row(begin, end, Result(data=np.array(links, np.int64).tobytes()))


def _write_blocks(plan: BlockPlan, name: str, packed: PackedRange) -> list[int]:
    """Write the blocks of a range, one for each span; returns their links."""
    shape, (begin, end) = plan.shape, packed.bounds
    sparse = packed.links < shape.spans * (end - begin) // 2
    with ExitStack() as files:
        writers = [BlockWriter(files, plan.folder, f"{name}-{span}", sparse) for span in range(shape.spans)]
        for low, high in _groups(np.diff(packed.begins).sum(axis=0)):
            pairs = packed.pairs(plan, low, high)
            first = begin + low * shape.bucket
            count = min(end, begin + high * shape.bucket) - first
            for span, writer in enumerate(writers):
                offset = span * shape.span
                writer.add(first - begin, *rows_of(pairs, first, count, offset, min(offset + shape.span, shape.pages)))
        for writer in writers:
            writer.finish()
    return [writer.rows.size for writer in writers]


def _groups(links: Array) -> Iterator[tuple[int, int]]:
    """Buckets whose rows are made at once: some, or one that has many links."""
    low, total = 0, 0
    for bucket, count in enumerate(links.tolist()):
        if total and total + count > GROUP:
            yield low, bucket
            low, total = bucket, 0
        total += count
    yield low, len(links)


class BlockWriter:
    """A block on its way to the folder: rows as they come, the rest at the end."""

    def __init__(self, files: ExitStack, folder: Folder, name: str, sparse: bool) -> None:
        self.folder, self.name, self.sparse = folder, name, sparse
        self.rows = files.enter_context(NpyFile(files.enter_context(folder.writing(f"{name}.row")), np.int32))
        self.start, self.at = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]

    def add(self, first: int, start: Array, row: Array) -> None:
        if self.sparse:
            listed = np.flatnonzero(np.diff(start))
            self.at.append((first + listed).astype(np.int32))
            start = start[np.append(listed, len(start) - 1)]
        self.start.append(self.rows.size + start[1:])
        self.rows.append(row)

    def finish(self) -> None:
        start = np.concatenate(self.start)
        self.folder.write(f"{self.name}.start", start if self.rows.size >= 2**31 else start.astype(np.int32))
        self.folder.write(f"{self.name}.at", np.concatenate(self.at))
