"""The bit stream of a BVGraph as rows of links, a block at a time: neither the file nor the links are ever all in memory.

For each node x in turn the stream holds: the outdegree d; if d > 0 and the window is not 0, the reference r; if r > 0,
the list of x - r is copied in part: a number of blocks and their lengths, alternately copied and skipped, the first as
it is and the others less 1, what follows the last block being copied if their number is even; of what remains, the
intervals (unless the minimum length is 0): their number, and for each its left end and its length less the
minimum; then the residuals. Left ends and residuals are gaps: the first one from x, folded to a natural number
(0, -1, 1, -2, ... become 0, 1, 2, 3, ...), the next from the end of the one before. Intervals are always γ-coded, the
code of every other part is a flag (``compressionflags``).

The codes are in ``bitstream``. Reference: Boldi, Vigna: The WebGraph Framework I: Compression Techniques (WWW 2004). Cost: one
pass, O(nodes + arcs). Memory: a piece of the file, a block of rows, and before it the rows of the reference window.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import SourceError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.bitstream import read_code, read_words

OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, INTERVALS, RESIDUALS = range(6)
FINE, TRUNCATED, BAD_DEGREE, MORE_ARCS, BAD_REFERENCE, BAD_COPY, BAD_INTERVALS, BAD_RESIDUALS, BAD_ORDER, FULL = range(10)
COMPLAINTS = {
    TRUNCATED: "the stream ends inside the links of this node; the file is truncated",
    BAD_DEGREE: "its outdegree is not possible",
    MORE_ARCS: "there are more arcs than the properties say",
    BAD_REFERENCE: "it refers to a node outside the window",
    BAD_COPY: "its copy blocks exceed the list they copy from",
    BAD_INTERVALS: "its intervals exceed its outdegree or the nodes of the graph",
    BAD_RESIDUALS: "its residuals exceed the nodes of the graph",
    BAD_ORDER: "its successors are not increasing",
}
PIECE = 2**24  # bytes of the file at a time; a multiple of 8
ROWS = 2**20  # of a block
LINKS = 2**23  # of a block
PADDING = 8  # bytes that may follow the last node


class StreamShape(NamedTuple):
    """What the properties say of the stream."""

    nodes: int
    arcs: int
    window: int
    min_interval: int
    zeta_k: int
    codes: Array
    bits: int | None = None  # of the stream, if they say so


class Format(NamedTuple):
    """The same for kernels."""

    nodes: int
    window: int
    shortest: int  # interval
    codes: Array
    k: int


class RowBlock(NamedTuple):
    """Successors of node ``first + r``: ``targets[indptr[r]:indptr[r + 1]]``, increasing, the node itself included."""

    first: int
    indptr: Array  # int64, from 0
    targets: Array  # int32


def _bits(path: str, shape: StreamShape) -> int:
    """How many bits the file has; SourceError if the properties cannot be right."""
    try:
        bits = 8 * os.path.getsize(path)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
    if shape.nodes > bits:  # every node takes a bit at least
        raise SourceError(f"{path}: {bits // 8:,} bytes cannot hold {shape.nodes:,} nodes; the file is truncated")
    if shape.arcs > shape.nodes**2:
        raise SourceError(f"{path}: {shape.arcs:,} arcs are too many for {shape.nodes:,} nodes; correct the properties")
    return bits


def blocks(path: str, shape: StreamShape) -> Iterator[RowBlock]:
    """The rows of all nodes, in order. The arrays of a block are written over by the next."""
    bits = _bits(path, shape)
    window = min(shape.window, shape.nodes)
    form = Format(shape.nodes, window, shape.min_interval, shape.codes, shape.zeta_k)
    indptr = np.zeros(window + min(ROWS, shape.nodes) + 1, np.int64)
    targets = np.empty(min(LINKS, shape.arcs), np.int32)
    node = kept = done = 0  # the next node; rows of the window before it; arcs before it
    begin = pos = 0  # of the piece, in bytes; in the piece, in bits
    size = PIECE
    words = read_words(path, begin, size)
    while node < shape.nodes:
        end = min(8 * size, bits - 8 * begin)
        before, first = int(indptr[kept]), node - kept
        status, after, pos = compiled(_decode)(words, pos, end, form, node, first, shape.arcs - done, indptr, targets)
        if status not in (FINE, FULL, TRUNCATED) or (status == TRUNCATED and 8 * begin + end == bits):
            raise SourceError(f"{path}: node {after}: {COMPLAINTS[status]}")
        filled = int(indptr[after - first])
        if after > node:
            yield RowBlock(node, indptr[kept : after - first + 1] - before, targets[before:filled])
        if status == FULL and after == node:
            targets = np.concatenate([targets, np.empty(max(targets.size, 1024), np.int32)])
        if status == TRUNCATED:
            skipped = pos // 64 * 8
            size = 2 * size if skipped == 0 else PIECE
            begin, pos = begin + skipped, pos - 8 * skipped
            words = read_words(path, begin, size)
        done += filled - before
        kept = _keep(indptr, targets, after - first, min(window, after))
        node = after
    _check_end(path, 8 * begin + pos, bits, done, shape)


def _check_end(path: str, end: int, bits: int, arcs: int, shape: StreamShape) -> None:
    """Check that all arcs were decoded, and that only zeros up to a whole byte follow the last node."""
    if arcs != shape.arcs:
        raise SourceError(f"{path}: {arcs:,} arcs decoded, but the properties say {shape.arcs:,}")
    with open(path, "rb") as file:
        file.seek(end // 8)
        rest = file.read(PADDING + 2)
    left = int.from_bytes(rest, "big") & ((1 << (8 * len(rest) - end % 8)) - 1)
    if bits - end > 8 * PADDING or left:
        raise SourceError(f"{path}: {bits - end:,} bits follow those of the last node; the file or its properties are damaged")
    if shape.bits not in (None, end):
        raise SourceError(f"{path}: {end:,} bits decoded, but the properties say {shape.bits:,}; fetch both files again")


def _keep(indptr: Array, targets: Array, rows: int, window: int) -> int:
    """The last rows to the beginning, where the next may refer to them."""
    drop = rows - window
    if drop > 0:
        begin, end = int(indptr[drop]), int(indptr[rows])
        targets[: end - begin] = targets[begin:end].copy()
        indptr[: window + 1] = indptr[drop : rows + 1] - begin
    return min(rows, window)


# --- rows; a part returns (filled, next position), filled -1 if it cannot be ---


@kernel
def _unfold(n: int) -> int:
    """0, 1, 2, 3, ... as 0, -1, 1, -2, ..."""
    return (n >> 1) ^ -(n & 1)


@kernel
def _copy(words: Array, pos: int, end: int, form: Format, listed: Array, row: Array, room: int) -> tuple[int, int]:
    count, pos = read_code(words, pos, end, form.codes[BLOCK_COUNT], form.k)
    if count < 0 or count > listed.size + 1:
        return -1, pos
    at = 0
    filled = 0
    for i in range(count + 1):
        if i == count:
            length = listed.size - at  # what follows the last block
        else:
            length, pos = read_code(words, pos, end, form.codes[BLOCKS], form.k)
            if length < 0 or length > listed.size:
                return -1, pos
            if i > 0:
                length += 1
        if at + length > listed.size:
            return -1, pos
        if i & 1 == 0:
            if filled + length > room:
                return -1, pos
            for j in range(length):
                row[filled + j] = listed[at + j]
            filled += length
        at += length
    return filled, pos


@kernel
def _intervals(
    words: Array, pos: int, end: int, form: Format, node: int, row: Array, filled: int, room: int
) -> tuple[int, int]:
    count, pos = read_code(words, pos, end, form.codes[INTERVALS], form.k)
    if count < 0 or count > room - filled:
        return -1, pos
    left = 0
    for i in range(count):
        gap, pos = read_code(words, pos, end, form.codes[INTERVALS], form.k)
        length, pos = read_code(words, pos, end, form.codes[INTERVALS], form.k)
        if gap < 0 or length < 0 or form.shortest > room or length + form.shortest > room - filled:
            return -1, pos
        left += node + _unfold(gap) if i == 0 else gap + 1
        length += form.shortest
        if left < 0 or left + length > form.nodes:
            return -1, pos
        for j in range(length):
            row[filled + j] = left + j
        filled += length
        left += length
    return filled, pos


@kernel
def _residuals(
    words: Array, pos: int, end: int, form: Format, node: int, row: Array, filled: int, room: int
) -> tuple[int, int]:
    last = -1
    for i in range(filled, room):
        gap, pos = read_code(words, pos, end, form.codes[RESIDUALS], form.k)
        if gap < 0:
            return -1, pos
        last = node + _unfold(gap) if i == filled else last + gap + 1
        if last < 0 or last >= form.nodes:
            return -1, pos
        row[i] = last
    return room, pos


@kernel
def _merge(row: Array, copied: int, listed: int, degree: int, out: Array) -> bool:
    """row[:copied], row[copied:listed] and row[listed:degree] into out; false if that is not strictly increasing."""
    a = 0
    b = copied
    c = listed
    far = np.int64(1) << 40
    last = np.int64(-1)
    for i in range(degree):
        x = row[a] if a < copied else far
        y = row[b] if b < listed else far
        z = row[c] if c < degree else far
        if x < y and x < z:
            a += 1
        elif y < z:
            x = y
            b += 1
        else:
            x = z
            c += 1
        if x <= last:
            return False
        last = x
        out[i] = x
    return True


@kernel
def _row(
    words: Array,
    pos: int,
    end: int,
    form: Format,
    node: int,
    at: int,
    degree: int,
    indptr: Array,
    targets: Array,
    row: Array,
) -> tuple[int, int]:
    """Decode the successors of a node, row ``at`` of the block, given its outdegree; returns a status and the next position."""
    filled = 0
    if form.window > 0:
        back, pos = read_code(words, pos, end, form.codes[REFERENCES], form.k)
        if back < 0 or back > form.window or back > node:
            return BAD_REFERENCE, pos
        if back > 0:
            listed = targets[indptr[at - back] : indptr[at - back + 1]]
            filled, pos = _copy(words, pos, end, form, listed, row, degree)
            if filled < 0:
                return BAD_COPY, pos
    copied = filled
    if filled < degree and form.shortest > 0:
        filled, pos = _intervals(words, pos, end, form, node, row, filled, degree)
        if filled < 0:
            return BAD_INTERVALS, pos
    spanned = filled
    if filled < degree:
        filled, pos = _residuals(words, pos, end, form, node, row, filled, degree)
        if filled < 0:
            return BAD_RESIDUALS, pos
    begin = indptr[at]
    if not _merge(row, copied, spanned, degree, targets[begin : begin + degree]):
        return BAD_ORDER, pos
    return FINE, pos


@kernel
def _decode(
    words: Array,
    pos: int,
    end: int,
    form: Format,
    node: int,
    first: int,
    left: int,
    indptr: Array,
    targets: Array,
) -> tuple[int, int, int]:
    """Rows from ``node`` on, as long as there is room for them; row 0 is that of node ``first``.

    Returns a status, the node it is about, and where that begins.
    """
    row = np.empty(1024, np.int64)
    while node < form.nodes:
        at = node - first
        if at + 1 >= indptr.size:
            return FULL, node, pos
        begin: Any = pos
        degree, pos = read_code(words, pos, end, form.codes[OUTDEGREES], form.k)
        if pos > end:
            return TRUNCATED, node, begin
        if degree < 0 or degree > form.nodes:
            return BAD_DEGREE, node, begin
        if degree > left:
            return MORE_ARCS, node, begin
        if degree > targets.size - indptr[at]:
            return FULL, node, begin
        if degree > row.size:
            row = np.empty(2 * degree, np.int64)
        if degree > 0:
            status, pos = _row(words, pos, end, form, node, at, degree, indptr, targets, row)
            if pos > end:  # whatever else is wrong comes from zeros read after the end
                return TRUNCATED, node, begin
            if status != FINE:
                return status, node, begin
        indptr[at + 1] = indptr[at] + degree
        left -= degree
        node += 1
    return FINE, node, pos
