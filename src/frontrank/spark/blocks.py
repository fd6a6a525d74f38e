"""Links as blocks of arrays, and a vector pushed along them.

Links come as rows of two numbers once. They leave that form in the first task that sees them: packed by cell (segment of the
source, range of the target) into arrays of offsets, they are brought together cell by cell and become blocks
(``kernels.blocks``), cut so that none has more than ``CHUNK`` links. From then on Spark moves arrays.

A push joins each block with its segment of the vector (a join of arrays by block, where the blocks stay), runs the kernel, and
hands on one partial sum a task and range. So an iteration exchanges, with n pages, R ranges and K tasks,

    8 n R bytes of the vector, and at most 8 n K/R bytes of partial sums, or 12 bytes a link where that is less

and never the links. Skew: the inlinks of a page lie in the segments of their sources, its outlinks in as many ranges as they
reach; a segment with many links has several blocks, which go to different tasks, each with the same segment of the vector.
Memory of a task: 8 ``REACH`` bytes for the sums, and while blocks are made 14 bytes a link of the cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.blocks import block_of, by_cell, push_block
from frontrank.kernels.jit import Array, compiled
from frontrank.sources.parquet_crawl import not_known
from frontrank.spark.vectors import ROW, Held, Made, Shape, array, batches, in_arrow, partial_sum, raw

WIDTH = 1 << 16  # pages of a segment: offsets in 16 bits
REACH = 1 << 24  # pages of a target range: 128 MB of sums
CHUNK = 1 << 22  # links of a block
TASK = 1 << 27  # links that a task pushes
PACK = 1 << 22  # links that are packed at once
PACKED = "seg long, range int, kept binary, source binary, target binary"
BLOCK = "t int, seg long, range int, first int, indptr binary, target binary"
EVERYWHERE = -1  # in the place of a range: which pages of the segment have been fetched


class Blocks(NamedTuple):
    """Blocks, cached where they will be pushed from."""

    frame: Any
    shape: Shape


def shape_of(
    spark: Any, pages: int, links: int, width: int = WIDTH, reach: int = REACH, task: int = TASK, chunk: int = CHUNK
) -> Shape:
    """How to cut a web of so many pages and links for the cores of this session."""
    ranges, reach = ranges_of(pages, width, reach)
    tasks = max(spark.sparkContext.defaultParallelism, -(-links // task))
    return Shape(pages, width, ranges, reach, chunk, _keys(spark, ranges * -(-tasks // ranges)))


def ranges_of(pages: int, width: int, reach: int) -> tuple[int, int]:
    """How many target ranges, and of how many pages each: as few as will do, and alike to a segment.

    >>> ranges_of(10_000_000, WIDTH, REACH)
    (1, 10027008)
    """
    segments = max(1, -(-pages // width))
    ranges = max(1, -(-segments * width // max(reach, width)))
    reach = width * -(-segments // ranges)
    return -(-pages // reach), reach


def _keys(spark: Any, count: int) -> tuple[int, ...]:
    """Numbers that Spark's hash sends to partitions 0, 1, ... of so many."""
    ids = spark.range(count * (20 + 2 * count.bit_length()))
    least = ids.selectExpr("cast(id as int) id", f"pmod(hash(cast(id as int)), {count}) p").groupBy("p").min("id")
    return tuple(key for _, key in sorted(least.collect()))


def built(links: Any, fetched: Any | None, shape: Shape, partitions: int, turned: bool = False) -> Blocks:
    """The blocks of these links (columns source, target), or of the same links turned round. ``fetched`` has rows of a kind
    "fetched": the links of other pages do not count."""
    packed = in_arrow(links.select("source", "target"), partial(_pack, shape, turned), PACKED)
    if fetched is not None and not turned:
        marks = fetched.selectExpr(
            "seg", f"{EVERYWHERE} range", "data kept", "cast(null as binary) source", "cast(null as binary) target"
        )
        packed = packed.union(marks)
    together = packed.repartition(partitions, "seg").sortWithinPartitions("seg", "range")
    blocks = in_arrow(together, partial(_assemble, shape), BLOCK).repartition(len(shape.keys), "t")
    return Blocks(blocks.persist(), shape)


# --- links to blocks ---


def _pack(shape: Shape, turned: bool, arrived: Iterable[Any]) -> Iterator[Any]:
    held: list[tuple[Array, Array]] = []
    count = 0
    for batch in arrived:
        source, target = (_numbers(batch.column(name), shape.pages) for name in ("source", "target"))
        held.append((target, source) if turned else (source, target))
        count += source.size
        if count >= PACK:
            yield from _packed(shape, held)
            held, count = [], 0
    if count:
        yield from _packed(shape, held)


def _numbers(column: Any, pages: int) -> Array:
    if column.null_count:
        raise SourceError("links: a link has no source or no target; expected two page numbers in every row")
    numbers: Array = column.to_numpy(zero_copy_only=False)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < pages):
        raise SourceError(not_known(int(numbers[(numbers < 0) | (numbers >= pages)][0]), pages))
    return numbers


def _packed(shape: Shape, held: list[tuple[Array, Array]]) -> Iterator[Any]:
    import pyarrow as pa

    source, target = (np.concatenate(column) for column in zip(*held, strict=True))
    begins, sources, targets = by_cell(source, target, shape.width, shape.reach, shape.ranges, shape.segments)
    cells = np.flatnonzero(np.diff(begins))
    for some in np.array_split(cells, -(-len(cells) // 256)) if len(cells) else ():
        spans = [(int(begins[cell]), int(begins[cell + 1])) for cell in some]
        columns = [
            pa.array(some // shape.ranges, pa.int64()),
            pa.array(some % shape.ranges, pa.int32()),
            pa.nulls(len(some), pa.large_binary()),
            pa.array([sources[a:b].tobytes() for a, b in spans], pa.large_binary()),
            pa.array([targets[a:b].tobytes() for a, b in spans], pa.large_binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, names=["seg", "range", "kept", "source", "target"])


def _assemble(shape: Shape, arrived: Iterable[Any]) -> Iterator[Any]:
    cell = (-1, -1)
    kept_of, kept = -1, np.empty(0, np.uint8)
    held: list[tuple[Array, Array]] = []
    for batch in arrived:
        names = ("kept", "source", "target")
        segments, ranges = batch.column("seg").to_pylist(), batch.column("range").to_pylist()
        data = {name: batch.column(name) for name in names}
        for i, now in enumerate(zip(segments, ranges, strict=True)):
            if now != cell:
                yield from _blocks(shape, cell, kept if kept_of == cell[0] else kept[:0], held)
                cell, held = now, []
            if now[1] == EVERYWHERE:
                kept_of, kept = now[0], array(data["kept"][i].as_buffer(), np.uint8).copy()
            else:
                source = array(data["source"][i].as_buffer(), np.uint16)
                held.append((source, array(data["target"][i].as_buffer(), np.int32)))
    yield from _blocks(shape, cell, kept if kept_of == cell[0] else kept[:0], held)


def _blocks(shape: Shape, cell: tuple[int, int], kept: Array, held: list[tuple[Array, Array]]) -> Iterator[Any]:
    """A cell's links as one block, or as several where there are many."""
    import pyarrow as pa

    if not held:
        return
    segment, range_ = cell
    source, target = (np.concatenate(column) for column in zip(*held, strict=True))
    held.clear()
    whole, targets = block_of(source, target, shape.size(segment), kept)
    for chunk, begin in enumerate(range(0, len(targets), shape.chunk)):
        end = min(begin + shape.chunk, len(targets))
        first, last = int(np.searchsorted(whole, begin, side="right")) - 1, int(np.searchsorted(whole, end))
        indptr = (np.clip(whole[first : last + 1], begin, end) - begin).astype(np.int32)
        columns = [
            pa.array([shape.key(range_, segment, chunk)], pa.int32()),
            pa.array([segment], pa.int64()),
            pa.array([range_], pa.int32()),
            pa.array([first], pa.int32()),
            pa.array([raw(indptr)], pa.large_binary()),
            pa.array([raw(targets[begin:end])], pa.large_binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, names=["t", "seg", "range", "first", "indptr", "target"])


# --- what blocks tell of pages ---


def degrees(blocks: Blocks) -> Any:
    """Rows that ``counted`` adds up: links of the pages of a segment ("count"), and tasks that need the segment ("task")."""
    return in_arrow(blocks.frame.select("t", "seg", "first", "indptr"), partial(_degrees, blocks.shape), ROW)


def _degrees(shape: Shape, arrived: Iterable[Any]) -> Iterator[Any]:
    yield from batches(_counts(shape, arrived))


def _counts(shape: Shape, arrived: Iterable[Any]) -> Iterator[tuple[int, Made]]:
    for batch in arrived:
        tasks, segments, firsts = (batch.column(name).to_pylist() for name in ("t", "seg", "first"))
        for i, segment in enumerate(segments):
            rows = np.diff(array(batch.column("indptr")[i].as_buffer(), np.int32))
            count = np.zeros(shape.size(segment), np.int32)
            count[firsts[i] : firsts[i] + len(rows)] = rows
            yield segment, Made("count", count, tasks[i])


def counted(held: Held, size: int) -> tuple[Array, Array]:
    """The links of each page of a segment (int32), and the tasks that need the segment (int32)."""
    degree = np.zeros(size, np.int32)
    for count in held.all("count", np.int32):
        degree += count
    return degree, np.array(held.places("count"), np.int32)


# --- pushing ---


def pushed(blocks: Blocks, rows: Any, kind: str = "give") -> Any:
    """Partial sums of a vector pushed along the links; its rows of this kind have the task they are for as their place."""
    give = rows.where(f"kind = '{kind}'").selectExpr("place t", "seg", "data give")
    return in_arrow(blocks.frame.join(give.hint("shuffle_hash"), ["t", "seg"]), partial(_push, blocks.shape), ROW)


def _push(shape: Shape, arrived: Iterable[Any]) -> Iterator[Any]:
    add = compiled(push_block)
    sums: dict[int, Array] = {}
    task = 0
    for batch in arrived:
        columns = {name: batch.column(name) for name in ("indptr", "target", "give")}
        tasks, ranges, firsts = (batch.column(name).to_pylist() for name in ("t", "range", "first"))
        for i, range_ in enumerate(ranges):
            task = tasks[i]
            if range_ not in sums:
                sums[range_] = np.zeros(min(shape.reach, shape.pages - range_ * shape.reach))
            indptr, target = (array(columns[name][i].as_buffer(), np.int32) for name in ("indptr", "target"))
            add(firsts[i], indptr, target, array(columns["give"][i].as_buffer(), np.float64), sums[range_])
    yield from batches(_parts(shape, sums, task))


def _parts(shape: Shape, sums: dict[int, Array], task: int) -> Iterator[tuple[int, Made]]:
    for range_, values in sums.items():
        for begin in range(0, len(values), shape.width):
            made = partial_sum(values[begin : begin + shape.width], task)
            if made is not None:
                yield (range_ * shape.reach + begin) // shape.width, made
