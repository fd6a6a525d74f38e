"""Links as blocks in the work folder: how a web is cut, and which task pulls along which links.

``building`` makes blocks of links, ``pulling`` pulls a vector along them. With n pages and M machines an iteration writes
16 bytes per page, and each machine reads 8 n bytes of the vector: M 8 n bytes over the network, and never the links, as long
as they fit into the machines' memory. A task needs 8 bytes of memory for each page of its range (at most ``REACH``), and 8 for
each page of a span of the vector; while blocks are built, 24 bytes for each link of a bucket, or of ``building.GROUP`` links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.blocks import Block, times_in
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Bounds, Result, Shape, Stretch

WIDTH = 1 << 16  # pages of a segment: offsets in 16 bits
SPAN = 1 << 28  # pages of a span: 2 GB of a vector
REACH = 1 << 24  # pages of a range: 128 MB of sums
TASK = 1 << 27  # links that a task pulls
MIN_BUCKET, MAX_BUCKETS = 512, 8192  # pages of a bucket: a memory page of numbers; buckets


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

    folder: Folder
    name: str
    shape: Shape
    ranges: list[Bounds]
    pieces: list[Piece]
    links: int

    def range_of(self, piece: Piece) -> Stretch:
        """The pages whose sums a piece is part of."""
        return Stretch(self.folder, self.shape, *self.ranges[piece.range])

    def block(self, number: int, span: int) -> Block:
        """The links from a span to a range."""
        return block_at(self.folder, f"{self.name}-{number}-{span}")


def block_at(folder: Folder, name: str) -> Block:
    return Block(*(folder.array(f"{name}.{part}") for part in ("start", "at", "row")))


def shape_of(pages: int, width: int = WIDTH, span: int = SPAN, bucket: int | None = None) -> Shape:
    """How to cut a web of so many pages.

    >>> shape_of(10_000_000).bucket
    1536
    """
    if bucket is None:
        bucket = MIN_BUCKET * -(-pages // (MIN_BUCKET * MAX_BUCKETS))
    return Shape(pages, width, bucket, span)


def pieces_of(links_of_spans: list[list[int]], share: int) -> list[Piece]:
    """Tasks for ranges of so many links (by span): one each, or several where a range has twice its share.

    >>> [tuple(piece) for piece in pieces_of([[5], [25]], 10)]
    [(0, 0, 1, 0, 0, 0), (1, 0, 3, 0, 0, 9), (1, 1, 3, 0, 9, 18), (1, 2, 3, 0, 18, 25)]
    """
    pieces = []
    for number, links in enumerate(links_of_spans):
        if sum(links) < 2 * share:
            pieces.append(Piece(number, 0, 1))
            continue
        cuts = []
        for span, count in enumerate(links):
            each = -(-count // max(1, -(-count // share)))
            cuts += [(span, low, min(low + each, count)) for low in range(0, count, max(1, each))]
        pieces += [Piece(number, part, len(cuts), *cut) for part, cut in enumerate(cuts)]
    return pieces


# --- out-degrees ---


def count_sources(folder: Folder, shape: Shape, name: str) -> None:
    """Write how often each page is a source in the blocks of a range."""
    for span in range(shape.spans):
        size = min(shape.span, shape.pages - span * shape.span)
        at, times = times_in(block_at(folder, f"{name}-{span}").row, size)
        folder.write(f"{name}-{span}.sources", at)
        folder.write(f"{name}-{span}.times", times)


def add_degrees(blocks: Blocks, into: str, stretch: Stretch) -> Result:
    """Write how many links each page of a stretch has; ``peak`` is the largest number."""
    folder, shape, begin, end = stretch
    degree = np.zeros(stretch.size, np.int32)
    for span in range(begin // shape.span, -(-end // shape.span)):
        offset = span * shape.span
        for task in range(len(blocks.ranges)):
            at = folder.array(f"{blocks.name}-{task}-{span}.sources")
            low, high = np.searchsorted(at, [max(begin - offset, 0), end - offset]).tolist()
            degree[at[low:high] + (offset - begin)] += folder.array(f"{blocks.name}-{task}-{span}.times")[low:high]
    stretch.put(into, degree)
    return Result(peak=float(degree.max()))


def count_files(blocks: Blocks) -> list[str]:
    """What out-degrees were added up from."""
    tasks, spans = range(len(blocks.ranges)), range(blocks.shape.spans)
    return [f"{blocks.name}-{task}-{span}.{kind}" for task in tasks for span in spans for kind in ("sources", "times")]
