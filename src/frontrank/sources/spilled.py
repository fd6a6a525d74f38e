"""More links than fit into memory: written to disk as they come, then sorted by source page, bucket by bucket, into a web
directory.

    add(source, target)     as they come, in any order: 8 bytes a link in a file (16 where a number needs more than 31 bits)
    write(pages, rename)    1. links are counted by range of source pages, which gives buckets of at most ``BUCKET`` links
                            2. every link goes to the place of its bucket in a second file; left out where links came in order
                            3. one bucket after another: sorted by source, tidied, appended to targets.npy and indptr.npy

What comes out is what ``Web.from_edges`` makes of the same links: a page's distinct targets without itself, in the order in
which they came. The cost is four sequential passes, O(links). Memory: 4 bytes per page, touched only where a page has many
links out of order, and some 100 MB whatever the number of links.

Why not DuckDB's sort: at 20 million links it took as long and four times the memory; at 200 million it had not ended after
eight minutes where this takes two (docs/results/scale.md; ``python -m benchmarks.loading``).

Files are written, never mapped for writing: on a full disk a mapped page is a signal that ends the process, not an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.system.capacity import check_disk
from frontrank.system.files import NpyFile, Progress
from frontrank.web.links import MAX_PAGES, by_source

PIECE = 2**20  # links read at a time
BUCKET = 2**21  # links sorted at a time, in memory
MAX_BUCKETS = 256  # more would make each write of a piece small; larger buckets then
GROUPS = 2**16  # ranges of source pages that are counted, and not divided
AS_THEY_COME, SORTED = 8, 4  # bytes a link on disk, at least; those that come out of order lie there once more
NEAR = 16  # links of a page so few are compared with each other, not looked up
Rename = Callable[[Array], Array]
Pair = tuple[Array, Array]


def check_spilled(folder: Path, name: str, links: int) -> None:
    """Raise InputError if the disk has no room for about so many links: to be asked before they are read."""
    check_disk(folder, f"{name}: writing about {links:,} links", (AS_THEY_COME + SORTED) * links)


class _Part(NamedTuple):
    file: IO[bytes]
    dtype: type


class SpilledLinks:
    """Links in files of a folder, which are gone when the block ends."""

    def __init__(self, folder: Path, name: str, progress: Progress | None = None) -> None:
        self.folder = folder
        self.name = name
        self.progress = progress
        self.count = 0
        self.top = -1  # the largest number
        self.in_order = True  # by source
        self._last = 0
        self._parts: list[_Part] = []

    def add(self, source: Array, target: Array) -> None:
        if not source.size:
            return
        top, last, ordered = compiled(_survey)(source, target, self.top, self._last)
        dtype = np.int64 if top > MAX_PAGES else np.int32
        if not self._parts or self._parts[-1].dtype is not dtype:
            self._parts.append(_Part(open(self.folder / f"links.{len(self._parts)}.spill", "w+b"), dtype))  # noqa: SIM115
        pairs = np.empty((source.size, 2), dtype)
        pairs[:, 0], pairs[:, 1] = source, target
        _write(self._parts[-1].file, pairs)
        self.top, self._last = int(top), int(last)
        self.in_order = self.in_order and bool(ordered)
        self.count += source.size

    def pieces(self) -> Iterator[Pair]:
        """All links as they came."""
        for part in self._parts:
            part.file.flush()
            part.file.seek(0)
            numbers: Array
            while (numbers := np.fromfile(part.file, part.dtype, 2 * PIECE)).size:
                yield numbers[::2], numbers[1::2]

    def write(self, pages: int, rename: Rename | None = None) -> int:
        """Write indptr.npy and targets.npy in the folder, of pages 0 to pages - 1; returns the number of links.

        ``rename`` gives the pages of numbers; it must keep their order.
        """
        seen = np.zeros(pages, np.int32)
        with NpyFile(self.folder / "targets.npy", np.int32) as targets, NpyFile(self.folder / "indptr.npy", np.int64) as indptr:
            indptr.append(np.zeros(1, np.int64))
            page = 0
            buckets = self._rows(rename) if self.in_order else self._buckets(pages, rename)
            for begin, end, source, target in buckets:
                starts, found, _ = by_source(source - begin, target, end - begin)
                kept = compiled(_tidied)(begin, starts, found, seen)
                indptr.append(np.full(begin - page, targets.size, np.int64))
                indptr.append(starts[1:] + targets.size)
                targets.append(found[:kept])
                page = end
                if self.progress is not None:
                    self.progress(f"{self.name}: {targets.size:,} links sorted")
            indptr.append(np.full(pages - page, targets.size, np.int64))
            return targets.size

    def __enter__(self) -> SpilledLinks:
        return self

    def __exit__(self, *error: object) -> None:
        for part in self._parts:
            part.file.close()
            os.unlink(part.file.name)
        self._parts.clear()

    def _renamed(self, rename: Rename | None) -> Iterator[Pair]:
        for source, target in self.pieces():
            yield (source, target) if rename is None else (rename(source), rename(target))

    def _rows(self, rename: Rename | None) -> Iterator[tuple[int, int, Array, Array]]:
        """Links that came in order, in pieces of whole rows: (first page, page after the last, sources, targets)."""
        rest: Pair = (np.empty(0, np.int32), np.empty(0, np.int32))
        for source, target in self._renamed(rename):
            source, target = np.concatenate([rest[0], source]), np.concatenate([rest[1], target])
            cut = int(np.searchsorted(source, source[-1]))  # the last row may go on
            if cut:
                yield int(source[0]), int(source[cut - 1]) + 1, source[:cut], target[:cut]
            rest = source[cut:].copy(), target[cut:].copy()
        if rest[0].size:
            yield int(rest[0][0]), int(rest[0][0]) + 1, *rest

    def _buckets(self, pages: int, rename: Rename | None) -> Iterator[tuple[int, int, Array, Array]]:
        width = -(-pages // GROUPS)
        links = np.zeros(-(-pages // width), np.int64)
        for source, _ in self._renamed(rename):
            compiled(_count)(source, width, links)
        bucket, sizes = compiled(_divided)(links, max(BUCKET, self.count // MAX_BUCKETS))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        check_disk(self.folder, f"{self.name}: sorting {self.count:,} links", (AS_THEY_COME + SORTED) * self.count)
        with open(self.folder / "links.sorted.spill", "w+b") as file:
            _scatter(file, self._renamed(rename), width, bucket, starts)
            file.seek(0)
            for b in range(sizes.size):
                pairs = np.fromfile(file, np.int32, 2 * int(sizes[b])).reshape(-1, 2)
                groups = np.flatnonzero(bucket == b)
                yield int(groups[0]) * width, min((int(groups[-1]) + 1) * width, pages), pairs[:, 0], pairs[:, 1]
        os.unlink(file.name)


def _write(file: IO[bytes], array: Array) -> None:
    """Raises OSError with the reason, where NumPy's tofile only counts what is missing."""
    file.write(np.ascontiguousarray(array).data)


def _scatter(file: IO[bytes], pieces: Iterator[Pair], width: int, bucket: Array, starts: Array) -> None:
    """Every link to the next free place of its bucket."""
    place = starts[:-1].copy()
    for source, target in pieces:
        pairs = np.empty((source.size, 2), np.int32)
        ends = compiled(_by_bucket)(source, target, width, bucket, pairs, np.zeros(place.size + 1, np.int64))
        for b in np.flatnonzero(np.diff(ends)).tolist():
            file.seek(8 * int(place[b]))
            _write(file, pairs[ends[b] : ends[b + 1]])
            place[b] += ends[b + 1] - ends[b]
    file.flush()


@kernel
def _survey(source: Array, target: Array, top: int, last: int) -> tuple[int, int, bool]:
    """(the largest number so far, the last source, whether sources never went down)."""
    ordered = True
    for j in range(source.size):
        if source[j] < last:
            ordered = False
        last = source[j]
        top = max(top, source[j], target[j])
    return top, last, ordered


@kernel
def _count(source: Array, width: int, links: Array) -> None:
    for j in range(source.size):
        links[source[j] // width] += 1


@kernel
def _divided(links: Array, limit: int) -> tuple[Array, Array]:
    """Neighbouring groups in buckets of at most so many links, or of one group: the bucket of each, and their sizes."""
    bucket = np.zeros(links.size, np.int32)
    sizes = np.zeros(links.size, np.int64)
    b = 0
    for g in range(links.size):
        if sizes[b] > 0 and sizes[b] + links[g] > limit:
            b += 1
        sizes[b] += links[g]
        bucket[g] = b
    return bucket, sizes[: b + 1].copy()


@kernel
def _by_bucket(source: Array, target: Array, width: int, bucket: Array, pairs: Array, ends: Array) -> Array:
    """Links of a piece by bucket, in their order; ``ends`` says where those of each begin and end."""
    for j in range(source.size):
        ends[bucket[source[j] // width] + 1] += 1
    for b in range(ends.size - 1):
        ends[b + 1] += ends[b]
    place = ends.copy()
    for j in range(source.size):
        b = bucket[source[j] // width]
        pairs[place[b], 0] = source[j]
        pairs[place[b], 1] = target[j]
        place[b] += 1
    return ends


@kernel
def _tidied(begin: int, starts: Array, targets: Array, seen: Array) -> int:
    """Distinct targets without the page itself, in place. ``seen[q]`` is the last page, plus one, that q was looked up for."""
    k = 0
    end = starts[0]
    for r in range(starts.size - 1):
        first, end = end, starts[r + 1]
        page = begin + r
        row = k
        starts[r] = row
        last = -1
        rising = True  # then all are distinct
        for j in range(first, end):
            rising = rising and targets[j] > last
            last = targets[j]
        for j in range(first, end):
            q = targets[j]
            new = q != page
            if new and not rising:
                if end - first <= NEAR:
                    for i in range(row, k):
                        if targets[i] == q:
                            new = False
                elif seen[q] == page + 1:
                    new = False
                else:
                    seen[q] = page + 1
            if new:
                targets[k] = q
                k += 1
    starts[starts.size - 1] = k
    return k
