"""Links as blocks in the work folder, and a vector pulled along them.

Links come as rows of two numbers once. They leave that form in the first task that sees them:

    1  each task packs its links, some millions at a time, as pairs sorted by bucket of the target, and writes them there
    2  the driver, which knows how many links go to each bucket, cuts pages into ranges of about as many links each
    3  a task for each range reads its part of every pack, bucket by bucket, and writes the blocks of its range
    4  out-degrees are counted by the tasks of 3, range by range, and added up by source

A pull maps the blocks of a range, adds up with the kernel, and settles the range: makes the new values of its pages and writes
them to the folder, where the next pull finds them. Only what a task has to tell goes through Spark; and where a range has
more links than a task should (a page with ten million inlinks), several tasks pull at it, and their partial sums are exchanged.

With n pages and M machines an iteration writes 16 bytes a page, and each machine reads 8 n bytes of the vector: M 8 n bytes by
the network, and never the links, as long as they fit into the machines' memory. Memory of a task: 8 bytes a page of its range
(at most ``REACH``), 8 a page of a span for the vector; while blocks are made, 24 bytes a link of a bucket or ``GROUP`` links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import EngineError, InputError, SourceError
from frontrank.kernels.blocks import Block, by_bucket, pull_block, rows_of, times_in
from frontrank.kernels.jit import Array
from frontrank.sources.parquet_rows import not_known
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import (
    NUMBERS,
    Numbers,
    Shape,
    Stretch,
    Tasks,
    Told,
    balanced,
    each_task,
    in_arrow,
    numbers_row,
    told_by,
)
from frontrank.spark.rows import partial_sum, summed_up
from frontrank.system.files import NpyFile

WIDTH = 1 << 16  # pages of a segment: offsets in 16 bits
SPAN = 1 << 28  # pages of a span: 2 GB of a vector
REACH = 1 << 24  # pages of a range: 128 MB of sums
TASK = 1 << 27  # links that a task pulls
PACK = 1 << 23  # links that are packed at once
GROUP = 1 << 24  # links that rows are made of at once
MIN_BUCKET, MAX_BUCKETS = 512, 8192  # pages of a bucket: a memory page of numbers; buckets
PAGE = 4  # links that a page costs as much as
COUNT = "bucket int, links long"
PARTIAL = "range int, part int, few boolean, change double, mass double, most double, data binary"


class Piece(NamedTuple):
    """What a task pulls: links low .. high of the block of a span; of all spans and all links, if there is one piece."""

    range: int
    part: int
    parts: int
    span: int = 0
    low: int = 0
    high: int = 0


class Blocks(NamedTuple):
    """Blocks in the folder, and how tasks share them."""

    name: str
    shape: Shape
    ranges: list[Stretch]
    pieces: list[Piece]
    links: int


def shape_of(pages: int, width: int = WIDTH, span: int = SPAN, bucket: int | None = None) -> Shape:
    """How to cut a web of so many pages.

    >>> shape_of(10_000_000).bucket
    1536
    """
    if bucket is None:
        bucket = MIN_BUCKET * -(-pages // (MIN_BUCKET * MAX_BUCKETS))
    return Shape(pages, width, bucket, span)


def built(
    tasks: Tasks, folder: Folder, links: Any, kept: str | None, shape: Shape, wanted: int, name: str, reach: int = REACH
) -> Blocks:
    """Blocks of these links (columns source, target) for about so many tasks; turned round, if ``name`` says so.

    ``kept`` is a vector that marks the pages whose links count. Out-degrees are left for ``degrees``.
    """
    turned = name == "turned"
    with_counts = in_arrow(links.select("source", "target"), partial(_pack, folder, shape, name, kept), COUNT)
    counts = np.zeros(shape.buckets, np.int64)
    for row in with_counts.groupBy("bucket").sum("links").collect():
        counts[row[0]] = row[1]
    ranges = balanced(counts + PAGE * shape.bucket, shape.bucket, shape.pages, wanted, reach)
    packs = folder.names(f"{name}-pack-")
    expected = [int(counts[begin // shape.bucket : -(-end // shape.bucket)].sum()) for begin, end in ranges]
    work = partial(_build, folder, shape, name, packs, ranges, expected, not turned)
    told = told_by(in_arrow(tasks.frame(len(ranges)), work, NUMBERS), shape.pages)
    folder.drop(*packs, *(_index_of(pack) for pack in packs))
    of_spans = [np.frombuffer(data, np.int64).tolist() for data in told.data]
    share = max(1, -(-int(counts.sum()) // max(1, wanted)))
    return Blocks(name, shape, ranges, shared(of_spans, share), sum(map(sum, of_spans)))


def shared(of_spans: list[list[int]], share: int) -> list[Piece]:
    """Tasks for ranges of so many links (by span): one each, or several where a range has twice its share.

    >>> [tuple(piece) for piece in shared([[5], [25]], 10)]
    [(0, 0, 1, 0, 0, 0), (1, 0, 3, 0, 0, 9), (1, 1, 3, 0, 9, 18), (1, 2, 3, 0, 18, 25)]
    """
    pieces = []
    for number, links in enumerate(of_spans):
        if sum(links) < 2 * share:
            pieces.append(Piece(number, 0, 1))
            continue
        cuts = []
        for span, count in enumerate(links):
            each = -(-count // max(1, -(-count // share)))
            cuts += [(span, low, min(low + each, count)) for low in range(0, count, max(1, each))]
        pieces += [Piece(number, part, len(cuts), *cut) for part, cut in enumerate(cuts)]
    return pieces


# --- packing ---


def _pack(folder: Folder, shape: Shape, name: str, kept: str | None, arrived: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa
    from pyspark import TaskContext

    folder.check()
    context = TaskContext.get()
    assert context is not None
    marks = np.empty(0, np.uint8) if kept is None else folder.vector(kept, np.uint8, shape.pages)
    counts = np.zeros(shape.buckets, np.int64)
    for number, (source, target) in enumerate(_some(arrived, shape.pages)):
        value, key = (target, source) if name == "turned" else (source, target)
        begins, pairs = by_bucket(value, key, source, marks, shape.bucket, shape.buckets, shape.number)
        pack = f"{name}-pack-{context.partitionId()}-{number}"
        folder.write(_index_of(pack), begins)
        folder.write(f"{pack}.npy", pairs)
        counts += np.diff(begins)
    at = np.flatnonzero(counts)
    columns = [pa.array(at, pa.int32()), pa.array(counts[at])]
    yield pa.RecordBatch.from_arrays(columns, names=["bucket", "links"])


def _some(arrived: Iterable[Any], pages: int) -> Iterator[tuple[Array, Array]]:
    """Sources and targets, some millions at a time."""
    held: list[tuple[Array, Array]] = []
    count = 0
    for batch in arrived:
        source, target = (_numbers(batch.column(name), pages) for name in ("source", "target"))
        held.append((source, target))
        count += source.size
        if count >= PACK:
            yield _joined(held)
            held, count = [], 0
    if count:
        yield _joined(held)


def _joined(held: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    source, target = (np.concatenate(column) for column in zip(*held, strict=True))
    return source, target


def _numbers(column: Any, pages: int) -> Array:
    if column.null_count:
        raise SourceError("links: a link has no source or no target; expected two page numbers in every row")
    numbers: Array = column.to_numpy(zero_copy_only=False)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < pages):
        raise SourceError("links: " + not_known(int(numbers[(numbers < 0) | (numbers >= pages)][0]), pages))
    return numbers


# --- building ---


def _build(
    folder: Folder,
    shape: Shape,
    name: str,
    packs: list[str],
    ranges: list[Stretch],
    expected: list[int],
    count_sources: bool,
    arrived: Iterable[Any],
) -> Iterator[Any]:
    folder.check()
    for task in each_task(arrived):
        begin, end = ranges[task]
        first, last = begin // shape.bucket, -(-end // shape.bucket)
        found = np.array([_begins(folder, pack, first, last) for pack in packs]).reshape(len(packs), last - first + 1)
        if int((found[:, -1] - found[:, 0]).sum()) != expected[task]:
            raise InputError("packs of links are missing in the work folder; does something else write there? Rank again")
        sparse = expected[task] < shape.spans * (end - begin) // 2
        links = _write_blocks(folder, shape, f"{name}-{task}", packs, found, (begin, end), sparse)
        if count_sources:
            _count_sources(folder, shape, name, task)
        yield numbers_row(begin, end, Numbers(data=np.array(links, np.int64).tobytes()))


def _begins(folder: Folder, pack: str, first: int, last: int) -> Array:
    return folder.some(_index_of(pack), first, last + 1)


def _index_of(pack: str) -> str:
    return f"{pack.removesuffix('.npy')}.begins"


def _write_blocks(
    folder: Folder, shape: Shape, name: str, packs: list[str], found: Array, pages: Stretch, sparse: bool
) -> list[int]:
    """Write the blocks of a range, one a span; returns their links."""
    with ExitStack() as files:
        writers = [_BlockFiles(files, folder, f"{name}-{span}", sparse) for span in range(shape.spans)]
        for low, high in _groups(np.diff(found).sum(axis=0)):
            parts = [folder.some(pack, found[i, low], found[i, high]) for i, pack in enumerate(packs)]
            pairs = np.concatenate(parts) if parts else np.empty((0, 2), shape.number)
            first = pages[0] + low * shape.bucket
            count = min(pages[1], pages[0] + high * shape.bucket) - first
            for span, writer in enumerate(writers):
                begin = span * shape.span
                writer.add(first - pages[0], *rows_of(pairs, first, count, begin, min(begin + shape.span, shape.pages)))
        for writer in writers:
            writer.finish()
    return [writer.rows.size for writer in writers]


def _groups(links: Array) -> Iterator[tuple[int, int]]:
    """Buckets whose rows are made at once: some, or one that has many links."""
    low, held = 0, 0
    for bucket, count in enumerate(links.tolist()):
        if held and held + count > GROUP:
            yield low, bucket
            low, held = bucket, 0
        held += count
    yield low, len(links)


class _BlockFiles:
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


def _block(folder: Folder, name: str) -> Block:
    return Block(*(folder.array(f"{name}.{part}") for part in ("start", "at", "row")))


def block_of_range(folder: Folder, blocks: Blocks, number: int, span: int) -> Block:
    """The links from a span to a range."""
    return _block(folder, f"{blocks.name}-{number}-{span}")


# --- out-degrees ---


def _count_sources(folder: Folder, shape: Shape, name: str, task: int) -> None:
    for span in range(shape.spans):
        size = min(shape.span, shape.pages - span * shape.span)
        at, times = times_in(_block(folder, f"{name}-{task}-{span}").row, size)
        folder.write(f"{name}-{task}-{span}.sources", at)
        folder.write(f"{name}-{task}-{span}.times", times)


def degree_of(ranges: int, name: str, into: str, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    """Write how many links each page of a stretch has; ``most`` is the greatest number."""
    degree = np.zeros(end - begin, np.int32)
    for span in range(begin // shape.span, -(-end // shape.span)):
        offset = span * shape.span
        for task in range(ranges):
            at = folder.array(f"{name}-{task}-{span}.sources")
            low, high = np.searchsorted(at, [max(begin - offset, 0), end - offset]).tolist()
            degree[at[low:high] + (offset - begin)] += folder.array(f"{name}-{task}-{span}.times")[low:high]
    folder.place(into, begin, degree)
    return Numbers(most=float(degree.max()))


def count_files(blocks: Blocks) -> list[str]:
    """What out-degrees were added up from."""
    tasks, spans = range(len(blocks.ranges)), range(blocks.shape.spans)
    return [f"{blocks.name}-{task}-{span}.{kind}" for task in tasks for span in spans for kind in ("sources", "times")]


# --- pulling ---

Settle = Callable[[Shape, Folder, int, int, Array], Numbers]


class Pull(NamedTuple):
    """What is pulled along which blocks, added up or the largest of it, and what comes of it."""

    folder: Folder
    blocks: Blocks
    give: str
    settle: Settle
    largest: bool


def pulled(
    tasks: Tasks, folder: Folder, blocks: Blocks, give: str, settle: Callable[..., Numbers], largest: bool = False
) -> Told:
    """Pull a vector along the blocks; ``settle`` is given the sums of each range (or the ``largest`` values, from 0 on), and
    writes what comes of them."""
    frame, pull = tasks.frame(len(blocks.pieces)), Pull(folder, blocks, give, settle, largest)
    if len(blocks.pieces) == len(blocks.ranges):
        return told_by(in_arrow(frame, partial(_pull_whole, pull), NUMBERS), blocks.shape.pages)
    parts = in_arrow(frame, partial(_pull, pull), PARTIAL)
    together = parts.repartition(min(len(blocks.ranges), len(blocks.pieces)), "range").sortWithinPartitions("range", "part")
    return told_by(in_arrow(together, partial(_settle, pull), NUMBERS), blocks.shape.pages)


def _pull_whole(pull: Pull, arrived: Iterable[Any]) -> Iterator[Any]:
    pull.folder.check()
    for task in each_task(arrived):
        piece = pull.blocks.pieces[task]
        begin, end = pull.blocks.ranges[piece.range]
        yield numbers_row(begin, end, pull.settle(pull.blocks.shape, pull.folder, begin, end, _sums(pull, piece)))


def _sums(pull: Pull, piece: Piece) -> Array:
    folder, blocks, give, _, largest = pull
    begin, end = blocks.ranges[piece.range]
    sums, shape = np.zeros(end - begin), blocks.shape
    spans = range(shape.spans) if piece.parts == 1 else [piece.span]
    for span in spans:
        block = block_of_range(folder, blocks, piece.range, span)
        low, high = (0, len(block.row)) if piece.parts == 1 else (piece.low, piece.high)
        pull_block(block, _given(folder, give, shape, span), sums, low, high, largest)
    return sums


_last: list[tuple[Any, Array]] = []  # what this process pulled from last: its next task wants the same


def _given(folder: Folder, name: str, shape: Shape, span: int) -> Array:
    """A span of a vector, in memory: read at random, a mapped file costs half as much again."""
    key = (folder, name, span)
    if not _last or _last[0][0] != key:
        _last.clear()
        begin = span * shape.span
        _last.append((key, folder.part(name, np.float64, begin, min(begin + shape.span, shape.pages))))
    return _last[0][1]


def _pull(pull: Pull, arrived: Iterable[Any]) -> Iterator[Any]:
    """Partial sums of ranges that several tasks pull at; what is whole is settled at once."""
    folder, blocks = pull.folder, pull.blocks
    folder.check()
    for task in each_task(arrived):
        piece = blocks.pieces[task]
        sums = _sums(pull, piece)
        if piece.parts > 1:
            few, data = partial_sum(sums)
            yield _partial(piece, few, Numbers(data=data))
        else:
            yield _partial(piece, False, pull.settle(blocks.shape, folder, *blocks.ranges[piece.range], sums))


def _partial(piece: Piece, few: bool, told: Numbers) -> Any:
    import pyarrow as pa

    kinds = [pa.int32(), pa.int32(), pa.bool_(), pa.float64(), pa.float64(), pa.float64(), pa.large_binary()]
    part = piece.part if piece.parts > 1 else -1
    values = (piece.range, part, few, told.change, told.mass, told.most, told.data)
    columns = [pa.array([value], kind) for value, kind in zip(values, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=["range", "part", "few", "change", "mass", "most", "data"])


def _settle(pull: Pull, arrived: Iterable[Any]) -> Iterator[Any]:
    folder, blocks = pull.folder, pull.blocks
    parts_of = {piece.range: piece.parts for piece in blocks.pieces}
    held: list[tuple[bool, Any]] = []
    for batch in arrived:
        for row in batch.to_pylist():
            begin, end = blocks.ranges[row["range"]]
            if row["part"] < 0:
                yield numbers_row(begin, end, Numbers(row["change"], row["mass"], row["most"], row["data"]))
                continue
            held.append((row["few"], row["data"]))
            if row["part"] + 1 == parts_of[row["range"]]:  # rows are sorted by range and part
                if len(held) != row["part"] + 1:
                    raise EngineError(f"Spark lost a part: {len(held)} of {row['part'] + 1} partial sums came back; rank again")
                sums = summed_up(held, end - begin, pull.largest)
                yield numbers_row(begin, end, pull.settle(blocks.shape, folder, begin, end, sums))
                held = []
