"""Vectors over pages, as rows of segments; and what is done segment by segment.

Every vector, and every partial sum of one, is rows of one form:

    seg     which ``width`` pages
    kind    which vector: "x", "degree", ...; "sum" and "few" are partial sums, of all pages of the segment or of few
    place   orders rows of one kind: by it partial sums are added, so that a run repeated gives the same bits
    change, mass   numbers that the driver wants the sum of
    data    the values

``by_segment`` brings the rows of each segment together and has a function make new rows of them. The driver holds no vector:
it reads sums of change and mass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.jit import Array

ROW = "seg long, kind string, place int, change double, mass double, data binary"
BATCH = 8 << 20  # bytes of rows that are handed to Spark at once


class Shape(NamedTuple):
    """How a web is cut."""

    pages: int
    width: int  # pages of a segment
    ranges: int  # target ranges
    reach: int  # pages of a range, a multiple of width
    chunk: int  # links of a block, at most
    keys: tuple[int, ...]  # of the tasks that push, range by range: numbers that Spark's hash sends to a partition each

    @property
    def segments(self) -> int:
        return -(-self.pages // self.width)

    def size(self, segment: int) -> int:
        """How many pages a segment has: the last may have fewer."""
        return min(self.width, self.pages - segment * self.width)

    def key(self, range_: int, segment: int, chunk: int) -> int:
        """The task of a block: a segment with many links is spread over several."""
        tasks = len(self.keys) // self.ranges
        return self.keys[range_ * tasks + (segment + chunk) % tasks]


class Made(NamedTuple):
    """A row of a segment, as a function makes it."""

    kind: str
    values: Array
    place: int = 0
    change: float = 0.0
    mass: float = 0.0


class Held:
    """The rows of one segment."""

    def __init__(self, segment: int) -> None:
        self.segment = segment
        self.rows: dict[str, list[tuple[int, Any]]] = {}

    def one(self, kind: str, dtype: Any = np.float64) -> Array:
        """The vector of this kind."""
        return array(self.rows[kind][0][1], dtype)

    def all(self, kind: str, dtype: Any) -> Iterator[Array]:
        for _, data in self.rows.get(kind, ()):
            yield array(data, dtype)

    def places(self, kind: str) -> list[int]:
        return sorted({place for place, _ in self.rows.get(kind, ())})

    def total(self, size: int) -> Array:
        """The partial sums, added in the order of their places."""
        sums = np.zeros(size)
        parts = [(place, 0, data) for place, data in self.rows.get("sum", ())]
        parts += [(place, 1, data) for place, data in self.rows.get("few", ())]
        for _, sparse, data in sorted(parts, key=lambda part: part[:2]):
            if sparse:
                count = len(data) // 12
                values = array(data, np.uint8)
                at = values[: 4 * count].view(np.int32)
                sums[at] += values[4 * count :].copy().view(np.float64)
            else:
                sums += array(data, np.float64)
        return sums


def raw(values: Array) -> Any:
    """An array's bytes, for Arrow."""
    data: Any = np.ascontiguousarray(values)
    return memoryview(data).cast("B")


def array(data: Any, dtype: Any) -> Array:
    """Bytes that came by Arrow, as an array: without a copy where they are aligned."""
    found: Array = np.frombuffer(data, dtype)
    return found if found.flags.aligned else found.copy()


def partial_sum(sums: Array, place: int) -> Made | None:
    """A partial sum in the shorter of two forms; none if all is 0."""
    at = np.flatnonzero(sums)
    if at.size == 0:
        return None
    if 12 * at.size < 8 * sums.size:
        few = at.astype(np.int32).tobytes() + sums[at].tobytes()
        return Made("few", np.frombuffer(few, np.uint8), place)
    return Made("sum", sums, place)


class Rows:
    """Rows on their way to Spark, in batches."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, Made]] = []
        self.bytes = 0

    def add(self, segment: int, made: Made) -> None:
        self.rows.append((segment, made))
        self.bytes += made.values.nbytes

    @property
    def full(self) -> bool:
        return self.bytes >= BATCH

    def batch(self) -> Any:
        import pyarrow as pa

        made = [row for _, row in self.rows]
        columns = [
            pa.array([segment for segment, _ in self.rows], pa.int64()),
            pa.array([row.kind for row in made], pa.large_string()),
            pa.array([row.place for row in made], pa.int32()),
            pa.array([row.change for row in made], pa.float64()),
            pa.array([row.mass for row in made], pa.float64()),
            pa.array([raw(row.values) for row in made], pa.large_binary()),
        ]
        self.rows, self.bytes = [], 0
        return pa.RecordBatch.from_arrays(columns, names=["seg", "kind", "place", "change", "mass", "data"])


def batches(made: Iterable[tuple[int, Made]]) -> Iterator[Any]:
    """These rows, as Arrow batches."""
    rows = Rows()
    for segment, row in made:
        rows.add(segment, row)
        if rows.full:
            yield rows.batch()
    if rows.rows:
        yield rows.batch()


def held_in(arrived: Iterable[Any]) -> Iterator[Held]:
    """Segment by segment what a partition holds; its rows are sorted by segment."""
    held: Held | None = None
    for batch in arrived:
        segments, kinds, places = (batch.column(name).to_pylist() for name in ("seg", "kind", "place"))
        data = batch.column("data")
        for i, segment in enumerate(segments):
            if held is None or held.segment != segment:
                if held is not None:
                    yield held
                held = Held(segment)
            held.rows.setdefault(kinds[i], []).append((places[i], data[i].as_buffer()))
    if held is not None:
        yield held


def in_arrow(frame: Any, work: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """mapInArrow, without what it says of pandas: it asks for it, and nothing here uses it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        return frame.mapInArrow(work, schema)


Make = Callable[[Held], Iterable[Made]]


def _made(make: Make, arrived: Iterable[Any]) -> Iterator[Any]:
    yield from batches((held.segment, row) for held in held_in(arrived) for row in make(held))


def by_segment(rows: Any, make: Make, partitions: int) -> Any:
    """New rows, made of all rows of each segment."""
    sorted_ = rows.repartition(partitions, "seg").sortWithinPartitions("seg", "kind", "place")
    return in_arrow(sorted_, partial(_made, make), ROW)
