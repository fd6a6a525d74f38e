"""A vector pulled along blocks: each task maps the blocks of its range, adds up with the kernel, and settles the range: it
computes the new values of its pages and writes them to the folder, where the next pull finds them.

Only what a task reports goes through Spark. Where a range has more links than a task should (a page with ten million inlinks),
several tasks pull at it, and their partial sums are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import EngineError
from frontrank.kernels.blocks import pull_block
from frontrank.kernels.jit import Array
from frontrank.spark.blocks import Blocks, Piece
from frontrank.spark.jobs import RESULT, Result, Stretch, Tasks, Totals, each_task, in_arrow, result_row, totals_of
from frontrank.spark.rows import batch, partial_sum, summed_up

PARTIAL = "range int, part int, few boolean, change double, mass double, peak double, data binary"
Settle = Callable[[Stretch, Array], Result]


class Pull(NamedTuple):
    """What is pulled along which blocks, added up or the largest of it, and what settles a range."""

    blocks: Blocks
    give: str
    settle: Settle
    largest: bool


def pull_along(tasks: Tasks, blocks: Blocks, give: str, settle: Callable[..., Result], largest: bool = False) -> Totals:
    """Pull a vector along the blocks; ``settle`` gets the sums of each range (or the ``largest`` values, from 0 on), and writes
    what is computed from them."""
    frame, pull = tasks.frame(len(blocks.pieces)), Pull(blocks, give, settle, largest)
    if len(blocks.pieces) == len(blocks.ranges):
        return totals_of(in_arrow(frame, partial(_pull_whole, pull), RESULT), blocks.shape.pages)
    parts = in_arrow(frame, partial(_pull, pull), PARTIAL)
    together = parts.repartition(min(len(blocks.ranges), len(blocks.pieces)), "range").sortWithinPartitions("range", "part")
    return totals_of(in_arrow(together, partial(_settle, pull), RESULT), blocks.shape.pages)


def _pull_whole(pull: Pull, arrived: Iterable[Any]) -> Iterator[Any]:
    for piece in _pieces(pull.blocks, arrived):
        stretch = pull.blocks.range_of(piece)
        yield result_row(stretch.begin, stretch.end, pull.settle(stretch, _sums(pull, piece)))


def _pieces(blocks: Blocks, arrived: Iterable[Any]) -> Iterator[Piece]:
    blocks.folder.check()
    for task in each_task(arrived):
        yield blocks.pieces[task]


def _sums(pull: Pull, piece: Piece) -> Array:
    blocks, shape = pull.blocks, pull.blocks.shape
    sums = np.zeros(blocks.range_of(piece).size)
    spans = range(shape.spans) if piece.parts == 1 else [piece.span]
    for span in spans:
        block = blocks.block(piece.range, span)
        low, high = (0, len(block.row)) if piece.parts == 1 else (piece.low, piece.high)
        pull_block(block, _span_of(blocks, pull.give, span), sums, low, high, pull.largest)
    return sums


_last: list[tuple[Any, Array]] = []  # what this process pulled from last: its next task wants the same


def _span_of(blocks: Blocks, name: str, span: int) -> Array:
    """A span of a vector, in memory: read at random, a mapped file costs half as much again."""
    key = (blocks.folder, name, span)
    if not _last or _last[0][0] != key:
        _last.clear()
        begin = span * blocks.shape.span
        end = min(begin + blocks.shape.span, blocks.shape.pages)
        _last.append((key, blocks.folder.part(name, np.float64, begin, end)))
    return _last[0][1]


def _pull(pull: Pull, arrived: Iterable[Any]) -> Iterator[Any]:
    """Partial sums of ranges that several tasks pull at; what is whole is settled at once."""
    for piece in _pieces(pull.blocks, arrived):
        sums = _sums(pull, piece)
        if piece.parts > 1:
            few, data = partial_sum(sums)
            yield _partial(piece, few, Result(data=data))
        else:
            yield _partial(piece, False, pull.settle(pull.blocks.range_of(piece), sums))


def _partial(piece: Piece, few: bool, result: Result) -> Any:
    values = (piece.range, piece.part if piece.parts > 1 else -1, few, *result)
    return batch(PARTIAL, *([value] for value in values))


def _settle(pull: Pull, arrived: Iterable[Any]) -> Iterator[Any]:
    any_piece = {piece.range: piece for piece in pull.blocks.pieces}
    parts: list[tuple[bool, Any]] = []
    for some in arrived:
        for row in some.to_pylist():
            piece = any_piece[row["range"]]
            stretch = pull.blocks.range_of(piece)
            if row["part"] < 0:
                yield result_row(stretch.begin, stretch.end, Result(*(row[name] for name in Result._fields)))
                continue
            parts.append((row["few"], row["data"]))
            if row["part"] + 1 == piece.parts:  # rows are sorted by range and part
                if len(parts) != piece.parts:
                    raise EngineError(f"Spark lost a part: {len(parts)} of {piece.parts} partial sums came back; rank again")
                sums = summed_up(parts, stretch.size, pull.largest)
                yield result_row(stretch.begin, stretch.end, pull.settle(stretch, sums))
                parts = []
