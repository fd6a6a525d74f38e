"""Places of waiting pages by several scores at once: Spark sorts them, and no machine sees more than a part.

Rows (kind, page, key) are sorted by kind and descending key, equal keys by page, in partitions of some millions: equal keys may
lie in several. Each partition reports its first and last key and how often they occur, so that pages with equal keys share the
mean of their places wherever they are, as in ``fusion.ranks``. Places go back to vectors segment by segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import EngineError
from frontrank.kernels.coarse import coarse
from frontrank.kernels.jit import Array
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Shape, Stretches, in_arrow
from frontrank.spark.rows import ROW, array, batch, by_segment, packed, rows_of_segments
from frontrank.spark.session import plain_errors
from frontrank.spark.web import SparkWeb

KEY = "kind int, page long, key double"
ENDS = "part int, kind int, rows long, first double, firsts long, last double, lasts long"
WRITTEN = "pages long"
PART = 1 << 22  # rows of a partition


class Ends(NamedTuple):
    """A kind's rows in a partition: how many, and how many of the first and of the last key."""

    part: int
    kind: int
    rows: int
    first: float
    firsts: int
    last: float
    lasts: int


class Offset(NamedTuple):
    """Rows before a partition's, before those that equal its first, and up to those that equal its last."""

    before: int
    begin: int
    end: int


def places_by(web: SparkWeb, scores: list[str]) -> list[str]:
    """Vectors of the places (1 is best) of pages that wait, by each of these scores; 0 for fetched pages. Scores are compared
    as ``coarse`` has them."""
    rows = len(scores) * (web.pages - web.fetched)
    parts = max(web.spark.sparkContext.defaultParallelism, -(-rows // PART))
    frame = in_arrow(web.tasks.frame(len(web.stretches.bounds)), partial(_keys, web.stretches, scores), KEY)
    order = ("kind", frame["key"].desc(), "page")
    sorted_ = frame.repartitionByRange(parts, *order).sortWithinPartitions(*order).persist()
    into = [web.name("place") for _ in scores]
    try:
        with plain_errors():
            ends = sorted(
                (Ends(*row) for row in in_arrow(sorted_, _ends, ENDS).collect()), key=lambda row: (row.kind, row.part)
            )
            if sum(row.rows for row in ends) != rows:
                raise EngineError(f"Spark lost a part: {sum(row.rows for row in ends):,} of {rows:,} came back; rank again")
            by_segments = in_arrow(sorted_, partial(packed, partial(_rows, web.shape, offsets(ends))), ROW)
            empty = web.spark.range(web.shape.segments).selectExpr("id seg", "binary('') data")  # a row for every segment
            together = by_segments.union(empty).repartition(len(web.stretches.bounds), "seg").sortWithinPartitions("seg")
            written = in_arrow(together, partial(_write, web.folder, web.shape, into), WRITTEN)
            pages = written.selectExpr("sum(pages)").first()[0]
            if pages != web.pages:
                raise EngineError(f"Spark lost a part: {pages or 0:,} of {web.pages:,} pages came back; rank again")
    finally:
        sorted_.unpersist()
    return into


def offsets(ends: list[Ends]) -> dict[tuple[int, int], Offset]:
    """The offset of each partition among all rows of a kind, by (part, kind); ends are sorted by kind and part.

    >>> found = offsets([Ends(0, 0, 3, 9.0, 1, 5.0, 2), Ends(1, 0, 2, 5.0, 2, 5.0, 2), Ends(2, 0, 2, 5.0, 1, 4.0, 1)])
    >>> [tuple(at) for at in found.values()]
    [(0, 0, 6), (3, 1, 6), (5, 1, 7)]
    """
    before: list[int] = []
    begin: list[int] = []
    for i, row in enumerate(ends):
        same_kind = i > 0 and ends[i - 1].kind == row.kind
        before.append(before[-1] + ends[i - 1].rows if same_kind else 0)
        if same_kind and ends[i - 1].last == row.first:
            whole = ends[i - 1].lasts == ends[i - 1].rows
            begin.append(begin[-1] if whole else before[-1] - ends[i - 1].lasts)
        else:
            begin.append(before[-1])
    end = [at + row.rows for at, row in zip(before, ends, strict=True)]
    for i, (row, after) in reversed(list(enumerate(pairwise(ends)))):
        if row.kind == after.kind and row.last == after.first:
            end[i] = end[i + 1] if after.firsts == after.rows else before[i + 1] + after.firsts
    return {(row.part, row.kind): Offset(*at) for row, *at in zip(ends, before, begin, end, strict=True)}


def _keys(stretches: Stretches, scores: list[str], arrived: Iterable[Any]) -> Iterator[Any]:
    for stretch in stretches.of_tasks(arrived):
        for piece in stretch.pieces():
            at = np.flatnonzero(piece.get("fetched", np.uint8) == 0)
            for kind, name in enumerate(scores):
                key = coarse(piece.get(name)[at])
                yield batch(KEY, np.full(at.size, kind), piece.begin + at, key)


def _kinds(arrived: Iterable[Any]) -> Iterator[tuple[int, int, Array, Array]]:
    """(part, kind, pages, keys) of a partition, which is sorted."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    parts: dict[int, list[tuple[Array, Array]]] = {}
    for some in arrived:
        kind, page, key = (some.column(name).to_numpy(zero_copy_only=False) for name in ("kind", "page", "key"))
        for one in np.unique(kind).tolist():
            parts.setdefault(one, []).append((page[kind == one], key[kind == one]))
    for kind, pieces in parts.items():
        page, key = (np.concatenate(column) for column in zip(*pieces, strict=True))
        yield context.partitionId(), kind, page, key


def _ends(arrived: Iterable[Any]) -> Iterator[Any]:
    for part, kind, _, key in _kinds(arrived):
        row = Ends(part, kind, key.size, key[0], int((key == key[0]).sum()), key[-1], int((key == key[-1]).sum()))
        yield batch(ENDS, *([value] for value in row))


def _rows(shape: Shape, at: dict[tuple[int, int], Offset], arrived: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    for part, kind, page, key in _kinds(arrived):
        place = shared_places(key, at[part, kind])
        for segment, some in by_segment(page, shape.width):
            offset = (page[some] % shape.width).astype(np.uint16)
            yield segment, np.int64(kind).tobytes() + place[some].tobytes() + offset.tobytes()


def shared_places(key: Array, at: Offset) -> Array:
    """Places of sorted keys; equal keys share the mean of their places.

    >>> shared_places(np.array([9.0, 5.0, 5.0]), Offset(before=0, begin=0, end=6)).tolist()
    [1.0, 4.0, 4.0]
    """
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    begin, end = at.before + begins, at.before + np.append(begins[1:], key.size)
    begin[0], end[-1] = at.begin, at.end
    return np.repeat((begin + 1 + end) / 2.0, np.diff(np.append(begins, key.size)))


def _write(folder: Folder, shape: Shape, into: list[str], arrived: Iterable[Any]) -> Iterator[Any]:
    folder.check()
    for segment, rows in rows_of_segments(arrived):
        size, first = shape.size(segment), segment * shape.width
        places = np.zeros((len(into), size))
        for data in map(bytes, rows):
            if data:
                count = (len(data) - 8) // 10
                kind = int(array(data[:8], np.int64)[0])
                places[kind, array(data[8 + 8 * count :], np.uint16)] = array(data[8 : 8 + 8 * count], np.float64)
        for name, values in zip(into, places, strict=True):
            folder.place(name, first, values)
        yield batch(WRITTEN, [size])
