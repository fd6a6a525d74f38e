"""Arrays that Spark moves: rows of tables, packed by segment; and partial sums.

A row is a segment's number and bytes: the first task that sees a page of the pages table packs it, and ``rows_of_segments`` has
what came for each segment. Partial sums are exchanged where several tasks pull at one range, in the shorter of two forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.system.lazy import pa

ROW = "seg long, data binary"
ARROW = {"int": "int32", "long": "int64", "double": "float64", "boolean": "bool", "binary": "large_binary"}  # by Spark's names
BATCH = 8 << 20  # bytes of rows that are handed to Spark at once


def batch(schema: str, *columns: Any) -> Any:
    """Rows for Spark, of a schema as Spark writes it: the values of each column.

    >>> batch("page long, score double", [3], [0.5]).to_pylist()
    [{'page': 3, 'score': 0.5}]
    """
    named = [column.split() for column in schema.split(", ")]
    arrays = [pa.array(values, ARROW[kind]) for (_, kind), values in zip(named, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, _ in named])


def raw(values: Array) -> Any:
    """An array's bytes, for Arrow."""
    data: Any = np.ascontiguousarray(values)
    return memoryview(data).cast("B")


def array(data: Any, dtype: Any) -> Array:
    """Bytes that came by Arrow, as an array: without a copy where they are aligned."""
    found: Array = np.frombuffer(data, dtype)
    return found if found.flags.aligned else found.copy()


# --- rows of segments ---


def packed(pack: Callable[[Iterable[Any]], Iterator[tuple[int, Any]]], arrived: Iterable[Any]) -> Iterator[Any]:
    """What arrives as rows of segments and bytes."""
    rows: list[tuple[int, Any]] = []
    size = 0
    for segment, data in pack(arrived):
        rows.append((segment, data))
        size += len(data)
        if size >= BATCH:
            yield batch(ROW, *zip(*rows, strict=True))
            rows, size = [], 0
    if rows:
        yield batch(ROW, *zip(*rows, strict=True))


def by_segment(numbers: Array, width: int) -> Iterator[tuple[int, Array]]:
    """The places of the pages of each segment."""
    segment = numbers // width
    order = np.argsort(segment, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(segment[order])) + 1) if numbers.size else ():
        yield int(segment[some[0]]), some


def rows_of_segments(arrived: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Each segment of a partition with its rows, which are sorted by segment."""
    segment, rows = -1, list[Any]()
    for batch in arrived:
        data = batch.column("data")
        for i, now in enumerate(batch.column("seg").to_pylist()):
            if now != segment:
                if rows:
                    yield segment, rows
                segment, rows = now, []
            rows.append(data[i].as_buffer())
    if rows:
        yield segment, rows


# --- partial sums ---


def partial_sum(sums: Array) -> tuple[bool, bytes]:
    """A partial sum in the shorter of two forms: places and values of what is not 0 (then the first is true), or all.

    >>> partial_sum(np.array([1.0, 2.0]))[0], partial_sum(np.array([0.0, 0.0, 2.0]))[0]
    (False, True)
    """
    at = np.flatnonzero(sums)
    if 12 * at.size < 8 * sums.size:
        return True, at.astype(np.int32).tobytes() + sums[at].tobytes()
    return False, sums.tobytes()


def summed_up(parts: Iterable[tuple[bool, Any]], size: int, largest: bool = False) -> Array:
    """Partial sums, added in their order; or the ``largest`` values of parts, from 0 on.

    >>> summed_up([partial_sum(np.array([1.0, 2.0])), partial_sum(np.array([0.0, 4.0]))], 2).tolist()
    [1.0, 6.0]
    """
    sums, join = np.zeros(size), np.maximum if largest else np.add
    for few, data in parts:
        count = len(data) // 12 if few else 0
        at = np.frombuffer(data, np.int32, count) if few else slice(None)
        sums[at] = join(sums[at], np.frombuffer(data[4 * count :], np.float64))
    return sums
