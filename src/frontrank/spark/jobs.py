"""Jobs over a web in a work folder: which pages each task works on, what it reports, and that all tasks have reported.

A job is a frame with one task number per partition, and a function that runs in ``mapInArrow``. Tasks exchange vectors through
the folder, so a job has no shuffle, and the driver gets one row of a few numbers per task. It adds them up in the order of the
pages, so that a repeated run gives the same bits, and checks that they cover all pages: a part is never taken for the whole.
(Accumulators would not do: they may count both attempts of a task that is repeated.)

The frames are cached. They are tiny, but Spark runs a task where its part of a cached frame is, so from iteration to iteration
a task returns to the machine that has its blocks in memory.
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
from frontrank.spark.rows import batch
from frontrank.spark.session import plain_errors

RESULT = "begin long, end long, change double, mass double, peak double, data binary"
PIECE = 1 << 18  # pages that are computed at once, so that they stay in a processor's cache


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


class Result(NamedTuple):
    """What a task reports about its pages: sums of change and mass, the largest value of something, and other data."""

    change: float = 0.0
    mass: float = 0.0
    peak: float = 0.0
    data: bytes = b""


class Totals(NamedTuple):
    """The results of all tasks: sums, the largest value, and the data of each."""

    change: float
    mass: float
    peak: float
    data: list[bytes]


Bounds = tuple[int, int]  # pages from .. to


class Stretch(NamedTuple):
    """The pages from ``begin`` to ``end``, and their values in the vectors of a folder."""

    folder: Folder
    shape: Shape
    begin: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.begin

    @property
    def numbers(self) -> Array:
        """The numbers of the pages."""
        return np.arange(self.begin, self.end)

    def get(self, name: str, dtype: Any = np.float64) -> Array:
        """The values of these pages in a vector."""
        return self.folder.part(name, dtype, self.begin, self.end)

    def put(self, name: str, values: Array) -> None:
        """Write the values of these pages to a vector."""
        self.folder.place(name, self.begin, values)

    def pieces(self, size: int = PIECE) -> Iterator[Stretch]:
        """The same pages, some at a time."""
        for low in range(self.begin, self.end, size):
            yield self._replace(begin=low, end=min(low + size, self.end))


class Stretches(NamedTuple):
    """A web cut for tasks: task i works on the pages of ``bounds[i]``."""

    folder: Folder
    shape: Shape
    bounds: list[Bounds]

    def stretch(self, task: int) -> Stretch:
        return Stretch(self.folder, self.shape, *self.bounds[task])

    def of_tasks(self, rows: Iterable[Any]) -> Iterator[Stretch]:
        """What the tasks of a partition work on."""
        self.folder.check()
        for task in each_task(rows):
            yield self.stretch(task)


Work = Callable[[Stretch], Result]


def in_arrow(frame: Any, work: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """mapInArrow, without its warning about pandas, which nothing here uses."""
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
    for some in arrived:
        yield from some.column("id").to_pylist()


def result_row(begin: int, end: int, result: Result) -> Any:
    """The result of a task as a row."""
    return batch(RESULT, *([value] for value in (begin, end, *result)))


def for_each_stretch(tasks: Tasks, stretches: Stretches, work: Callable[..., Result]) -> Totals:
    """Run ``work(stretch)`` in a task for each stretch of pages."""
    frame = in_arrow(tasks.frame(len(stretches.bounds)), partial(_run, stretches, work), RESULT)
    return totals_of(frame, stretches.shape.pages)


def _run(stretches: Stretches, work: Work, rows: Iterable[Any]) -> Iterator[Any]:
    for stretch in stretches.of_tasks(rows):
        yield result_row(stretch.begin, stretch.end, work(stretch))


def totals_of(frame: Any, pages: int) -> Totals:
    """What the tasks reported; EngineError if that does not cover all pages."""
    with plain_errors():
        rows = sorted(frame.collect(), key=lambda row: row.begin)
    at = 0
    for row in rows:
        if row.begin != at:
            break
        at = row.end
    if at != pages:
        raise EngineError(f"Spark lost a part: what came back ends at page {at:,} of {pages:,}; rank again")
    return combined(rows)


def combined(results: Sequence[Result]) -> Totals:
    """The results of tasks, added up in the order of their pages."""
    data = [bytes(one.data) for one in results]
    change, mass = sum(one.change for one in results), sum(one.mass for one in results)
    return Totals(change, mass, max(one.peak for one in results), data)


def even_bounds(pages: int, width: int, tasks: int) -> list[Bounds]:
    """Pages in stretches of whole segments, as alike as that allows.

    >>> even_bounds(700, 64, 3)
    [(0, 256), (256, 512), (512, 700)]
    """
    segments = -(-pages // width)
    tasks = min(tasks, segments)
    cuts = [min(pages, width * (-(-segments * i // tasks))) for i in range(tasks + 1)]
    return list(pairwise(cuts))


def balanced_bounds(weights: Array, bucket: int, pages: int, tasks: int, reach: int) -> list[Bounds]:
    """Pages in stretches of whole buckets, of about the same weight, and of at most ``reach`` pages (one bucket at least).

    >>> balanced_bounds(np.array([9, 1, 1, 1]), 10, 40, 2, 1000)
    [(0, 10), (10, 40)]
    """
    ends = np.cumsum(weights)
    marks = ends[-1] * np.arange(1, tasks) / tasks
    near = np.searchsorted(ends, marks)  # the bucket in which a mark lies; cut at its nearer end
    before = np.concatenate([[0], ends])[near]
    cuts = np.unique(np.concatenate([[0], near + (2 * marks > before + ends[near]), [len(weights)]]))
    limit = max(1, reach // bucket)
    found: list[Bounds] = []
    for low, high in pairwise(cuts.tolist()):
        pieces = -(-(high - low) // limit)
        edges = [low + (high - low) * i // pieces for i in range(pieces + 1)]
        found += [(a * bucket, min(pages, b * bucket)) for a, b in pairwise(edges)]
    return found
