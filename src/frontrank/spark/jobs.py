"""Jobs over a web that lies in a work folder: which pages each task works for, what it tells the driver, and that all told.

A job is a frame with one number a partition, the task's, and a function that is run in ``mapInArrow``. Vectors go from task
to task by the folder, so a job has no exchange, and the driver gets one row a task: a few numbers. It adds them up in the order
of the pages, so that a run repeated gives the same bits, and counts the pages they speak for: a part is never taken for the
whole. (Accumulators would not do: of a task that is repeated they may count both attempts.)

The frames are cached. They are tiny; but Spark runs a task where its part of a cached frame is, so a task returns, iteration by
iteration, to the machine that has its blocks in memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import EngineError
from frontrank.kernels.jit import Array
from frontrank.spark.folder import Folder
from frontrank.spark.session import said_plainly

NUMBERS = "begin long, end long, change double, mass double, most double, data binary"


class Shape(NamedTuple):
    """How a web is cut."""

    pages: int
    width: int  # pages of a segment
    bucket: int  # pages of a bucket
    span: int  # pages of a span

    @property
    def segments(self) -> int:
        return -(-self.pages // self.width)

    @property
    def buckets(self) -> int:
        return -(-self.pages // self.bucket)

    @property
    def spans(self) -> int:
        return -(-self.pages // self.span)

    @property
    def number(self) -> Any:
        """What page numbers are kept as."""
        return np.int32 if self.pages < 2**31 else np.int64

    def size(self, segment: int) -> int:
        """How many pages a segment has: the last may have fewer."""
        return min(self.width, self.pages - segment * self.width)


class Numbers(NamedTuple):
    """What a task tells of its pages: sums of change and mass, the greatest value of something, and what else is asked for."""

    change: float = 0.0
    mass: float = 0.0
    most: float = 0.0
    data: bytes = b""


class Told(NamedTuple):
    """What all tasks told."""

    change: float
    mass: float
    most: float
    data: list[bytes]


Stretch = tuple[int, int]  # pages from .. to
Make = Callable[[Shape, Folder, int, int], Numbers]


def in_arrow(frame: Any, work: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """mapInArrow, without what it says of pandas: it asks for it, and nothing here uses it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        return frame.mapInArrow(work, schema)


class Tasks:
    """Frames of tasks, each made once."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.frames: dict[int, Any] = {}

    def frame(self, count: int) -> Any:
        """A row for each of so many tasks, in a partition of its own: its number, as ``id``."""
        if count not in self.frames:
            self.frames[count] = self.spark.range(0, count, 1, count).persist()
        return self.frames[count]

    def close(self) -> None:
        for frame in self.frames.values():
            frame.unpersist()
        self.frames.clear()


def each_task(arrived: Iterable[Any]) -> Iterator[int]:
    """The tasks of a partition."""
    for batch in arrived:
        yield from batch.column("id").to_pylist()


def numbers_row(begin: int, end: int, told: Numbers) -> Any:
    """A row of what a task tells."""
    import pyarrow as pa

    kinds = [pa.int64(), pa.int64(), pa.float64(), pa.float64(), pa.float64(), pa.large_binary()]
    values = (begin, end, told.change, told.mass, told.most, told.data)
    columns = [pa.array([value], kind) for value, kind in zip(values, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=["begin", "end", "change", "mass", "most", "data"])


def over_pages(tasks: Tasks, folder: Folder, shape: Shape, stretches: list[Stretch], make: Callable[..., Numbers]) -> Told:
    """Have a task do something for each stretch of pages."""
    frame = in_arrow(tasks.frame(len(stretches)), partial(_do, folder, shape, stretches, make), NUMBERS)
    return told_by(frame, shape.pages)


def _do(folder: Folder, shape: Shape, stretches: list[Stretch], make: Make, arrived: Iterable[Any]) -> Iterator[Any]:
    folder.check()
    for task in each_task(arrived):
        begin, end = stretches[task]
        yield numbers_row(begin, end, make(shape, folder, begin, end))


def told_by(frame: Any, pages: int) -> Told:
    """What the tasks told, if it is of all pages."""
    with said_plainly():
        rows = sorted(frame.collect(), key=lambda row: row.begin)
    at = 0
    for row in rows:
        if row.begin != at:
            break
        at = row.end
    if at != pages:
        raise EngineError(f"Spark lost a part: what came back ends at page {at:,} of {pages:,}; rank again")
    return added_up(rows)


def added_up(rows: Sequence[Numbers]) -> Told:
    """What tasks told, in the order of their pages."""
    data = [bytes(row.data) for row in rows]
    return Told(sum(row.change for row in rows), sum(row.mass for row in rows), max(row.most for row in rows), data)


def even(pages: int, width: int, tasks: int) -> list[Stretch]:
    """Pages in stretches of whole segments, as alike as that allows.

    >>> even(700, 64, 3)
    [(0, 256), (256, 512), (512, 700)]
    """
    segments = -(-pages // width)
    tasks = min(tasks, segments)
    cuts = [min(pages, width * (-(-segments * i // tasks))) for i in range(tasks + 1)]
    return list(pairwise(cuts))


def balanced(weights: Array, bucket: int, pages: int, tasks: int, reach: int) -> list[Stretch]:
    """Pages in stretches of whole buckets, of about the same weight, and of at most ``reach`` pages (one bucket at least).

    >>> balanced(np.array([9, 1, 1, 1]), 10, 40, 2, 1000)
    [(0, 10), (10, 40)]
    """
    ends = np.cumsum(weights)
    marks = ends[-1] * np.arange(1, tasks) / tasks
    near = np.searchsorted(ends, marks)  # the bucket in which a mark lies; cut at its nearer end
    before = np.concatenate([[0], ends])[near]
    cuts = np.unique(np.concatenate([[0], near + (2 * marks > before + ends[near]), [len(weights)]]))
    most = max(1, reach // bucket)
    found: list[Stretch] = []
    for low, high in pairwise(cuts.tolist()):
        pieces = -(-(high - low) // most)
        edges = [low + (high - low) * i // pieces for i in range(pieces + 1)]
        found += [(a * bucket, min(pages, b * bucket)) for a, b in pairwise(edges)]
    return found
