"""What tells a damaged row of a journal from a whole one, and how many rows a journal should have.

Each row has a checksum of all its columns in a column of its own; the row of a URL has its key, which is a fingerprint of it.
Directories of earlier versions have no checksums: their rows are checked by type and range alone, those written since fully.

What is checked before a kernel is given it: page numbers (of the row and of its links) are those of pages with a URL, times
are finite, links are whole int32. In bulk; ``benchmarks/integrity.py`` measures it.

SQLite drops the end of a damaged write-ahead log without a word. So the lock file says how many events were committed (to a
hundredth of a second), and how many of these were handed to the disk (``Witness``).
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from marshal import dumps
from operator import itemgetter
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from frontrank.crawl.events import (
    KINDS,
    Deferred,
    Expired,
    Failed,
    Fetched,
    ImpactReported,
    Prioritised,
    Retried,
    Scheduled,
    Seeded,
    Taken,
)
from frontrank.crawl.events.event import Noted
from frontrank.crawl.log import COLUMNS, Log, Row
from frontrank.errors import FrontrankError, StorageError
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array

Columns = tuple[Array, Array, Array]  # kinds, pages and times of rows
FORM = 2  # of marshal: values alone, whoever else refers to them; tests/test_integrity.py pins what it writes
RESTORE = "restore the directory from a copy, or start the crawl anew in another one"


TYPES = (int, int, int, float, int, bytes, str, str, float, str, int, int, float, str)  # of the columns of an event
_exact: set[tuple[type, ...]] = set()  # types of rows that are theirs


def checksum(values: tuple[Any, ...]) -> int:
    """Of a row as SQLite gives it back; of an event, without the columns at its end that say nothing."""
    return crc32(dumps(values, FORM))


def checksum_of(values: tuple[Any, ...]) -> int:
    """The same of an event that is about to be written: what SQLite will make of its values is done first."""
    if tuple(map(type, values)) not in _exact or 0.0 in values:
        values = _as_stored(values)
    return crc32(dumps(values, FORM))


def _as_stored(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """As SQLite gives them back: a subclass as what it is stored as, 5 as 5.0 in a column of floats, and no -0.0."""
    kinds: tuple[Any, ...] = TYPES
    values = tuple(
        None if value is None else (float(value) + 0.0 if kind is float else kind(value))
        for value, kind in zip(values, kinds, strict=False)
    )
    _exact.add(tuple(map(type, values)))
    return values


NARROW = 6  # columns of nearly all rows; those after them say nothing
NOTHING = (None,) * (len(TYPES) - NARROW)


def width_of(row: Sequence[Any]) -> int:
    """How many columns of a row are to be written: those at its end that say nothing took half the time of all."""
    if row[6:] == NOTHING:  # nearly always: a page that was taken, or fetched
        return 6 if row[5] is not None else 5 if row[4] is not None else 4
    width = len(row)
    while row[width - 1] is None:
        width -= 1
    return width


def with_checksum(seq: int, row: Row, widest: int) -> tuple[Any, ...]:
    """A row as it is written: so many columns as the widest of those written with it, and its checksum."""
    width = width_of(row)
    values = (seq, *row[1:width])
    return (*values, checksum_of(values)) if width == widest else (*values, *(None,) * (widest - width), checksum_of(values))


def check_checksums(file: Path, rows: Sequence[tuple[Any, ...]], after: int, unchecked: int) -> None:
    """Raise StorageError unless these rows follow that one, each with its checksum; up to ``unchecked`` there may be none."""
    for seq, row in enumerate(rows, after + 1):
        if row[0] != seq:
            raise StorageError(f"{file}: event {seq:,} is missing; {_kept(seq)}")
        if row[-1] is None and seq <= unchecked:
            continue
        if row[-1] != crc32(dumps(row[: width_of(row[:-1])], FORM)):
            raise StorageError(f"{file}: event {seq:,} is damaged, its checksum does not match; {_kept(seq)}")


def whole_narrow_rows(found: Sequence[tuple[Any, ...]], after: int, stop: int) -> list[Row] | None:
    """Rows read without their last columns; None unless all are there, and each has the checksum of what was read of it."""
    if len(found) != stop - after:
        return None
    for seq, row in enumerate(found, after + 1):
        values = row[:NARROW] if row[5] is not None else row[:5] if row[4] is not None else row[:4]
        if row[0] != seq or row[-1] != crc32(dumps(values, FORM)):
            return None
    new = tuple.__new__
    return [new(Row, row[:NARROW] + NOTHING) for row in found]


def _kept(seq: int) -> str:
    return f"the {seq - 1:,} before it can still be read; {RESTORE}"


_OF_PAGE = (Seeded, Taken, Fetched, Failed, Retried, Expired, Prioritised, ImpactReported, Scheduled, Deferred)  # never of -1
_OF_PAGE_KINDS = [event.kind for event in _OF_PAGE]


def check_rows(where: Path | str, rows: Sequence[Row], known: int) -> Columns:
    """Raise StorageError if a row holds what no event writes: kernels trust its numbers. ``known``: pages with a URL."""
    try:
        columns = columns_of(rows)
        wrong = _wrong_row(rows, columns, known)
    except (TypeError, ValueError, OverflowError) as error:
        wrong = next((row for row in rows if _fails(row, known)), rows[0])
        raise StorageError(f"{where}: event {wrong.seq} holds what no event writes ({error}); {RESTORE}") from None
    if wrong is not None and wrong.kind not in KINDS:
        why = f"event {wrong.seq:,} is of kind {wrong.kind}, which this frontrank does not know"
        raise StorageError(f"{where}: {why}; use a newer one")
    if wrong is not None:
        raise StorageError(
            f"{where}: event {wrong.seq:,} names a page, a time or a note that cannot be (page {wrong.page}, time "
            f"{wrong.time}, {len(wrong.links or b'') // 4:,} links, {known:,} pages known); {RESTORE}"
        )
    return columns


def checked_rows(where: Path | str, rows: list[Row], known: int) -> list[Row]:
    check_rows(where, rows, known)
    return rows


def _wrong_row(rows: Sequence[Row], columns: Columns, known: int) -> Row | None:
    kinds, pages, times = columns
    wrong = (pages < _lowest(kinds)) | (pages >= known) | ~np.isfinite(times)
    if wrong.any():
        return rows[int(np.flatnonzero(wrong)[0])]
    links = list(map(itemgetter(5), rows))
    _check_types(4, list(map(itemgetter(4), rows)))
    _check_types(5, links)
    blobs = list(filter(None, links))
    targets = np.frombuffer(b"".join(blobs), "<u4")
    if any(len(blob) & 3 for blob in blobs) or (targets.size and int(targets.max()) >= known):
        return next(row for row in rows if row.links and _wrong_links(row.links, known))
    wide = [row for row in rows if row[NARROW:] != NOTHING]
    for place, column in enumerate(zip(*wide, strict=True)):
        _check_types(place, column)
    noted = [row for row in wide if row.note is not None]
    noted += [rows[place] for place in np.flatnonzero(kinds == Retried.kind).tolist()]
    return next(filter(_wrong_text, noted), None)


def columns_of(rows: Sequence[Row]) -> Columns:
    """Kinds, pages and times; TypeError if one of them is not a number, or there is a fraction among the first two."""
    kinds, pages, times = (np.array(list(map(itemgetter(place), rows))) for place in (1, 2, 3))
    for column, kind in ((kinds, "i"), (pages, "i"), (times, "if")):
        if len(rows) and column.dtype.kind not in kind:
            raise TypeError("a kind, a page or a time is not a number")
    return kinds.astype(np.int64, copy=False), pages.astype(np.int64, copy=False), times.astype(np.float64, copy=False)


def _check_types(place: int, column: Sequence[Any]) -> None:
    if not {TYPES[place], type(None)}.issuperset(map(type, column)):
        raise TypeError(f"{COLUMNS[place]} is not of type {TYPES[place].__name__}")


def _lowest(kinds: Array) -> Array:
    """The lowest page of each kind of event: 0, or -1 where there may be none; beyond all pages for unknown kinds."""
    lowest = np.full(256, 2**62)
    lowest[list(KINDS)] = -1
    lowest[_OF_PAGE_KINDS] = 0
    found: Array = lowest[np.where((kinds >= 0) & (kinds < 256), kinds, 255)]
    return found


def _wrong_links(links: bytes, known: int) -> bool:
    return len(links) & 3 != 0 or int(np.frombuffer(links, "<u4").max()) >= known


def _wrong_text(row: Row) -> bool:
    """Whether a number of attempts is out of range, or a note is not what its kind of event writes."""
    if row.kind == Retried.kind:
        return not 0 < (row.status or 1) < 2**31
    if row.kind == Fetched.kind or issubclass(KINDS[row.kind], Noted):
        return not isinstance(json.loads(row.note or "{}"), dict)
    return False


def _fails(row: Row, known: int) -> bool:
    try:
        return _wrong_row([row], columns_of([row]), known) is not None
    except (TypeError, ValueError, OverflowError):
        return True


def wrong_urls(urls: Sequence[str], keys: Sequence[int]) -> list[int]:
    """The places of URLs whose key is not their fingerprint."""
    found: list[int] = np.flatnonzero(names.fingerprints(urls) != np.array(keys, np.int64)).tolist()
    return found


@contextmanager
def sentences(log: Log) -> Iterator[None]:
    """Whatever is raised while stored data is read, as a sentence: a trace may hold anything."""
    try:
        yield
    except FrontrankError:
        raise
    except Exception as error:
        raise StorageError(
            f"{log.folder or 'the log'}: the trace of the crawl cannot be replayed ({type(error).__name__}: {error}); it is "
            "damaged, or its ordering was changed: restore it from a copy, or start the crawl anew in another directory"
        ) from error


MIXED = 0x66726F6E7472616E
PAIR = struct.Struct("<qq")
_pair = PAIR.pack


class Witness:
    """How many events there are, beside the database, in the lock file.

        8 bytes     events that were committed       8 bytes     the same, mixed with a constant
        8 bytes     those handed to the disk         8 bytes     the same, mixed with a constant

    An empty file says nothing, and neither do zeros.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def committed(self, seq: int) -> None:
        os.pwrite(self.number, _pair(seq, seq ^ MIXED), 0)

    def synced(self, seq: int) -> None:
        os.pwrite(self.number, _pair(seq, seq ^ MIXED), PAIR.size)

    @classmethod
    def read(cls, path: Path) -> tuple[int, int] | None:
        """How many events were committed, and how many are on the disk; 0 where nothing is known, None for a damaged file."""
        try:
            with open(path, "rb") as file:
                data = file.read(2 * PAIR.size)
        except OSError:
            return 0, 0
        if not data:
            return 0, 0  # of an earlier version, or nothing was committed
        pairs = list(PAIR.iter_unpack(data.ljust(2 * PAIR.size, b"\0")))
        if any(number ^ MIXED != twin and (number or twin) for number, twin in pairs):
            return None
        return pairs[0][0], pairs[1][0]
