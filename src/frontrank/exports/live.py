"""The pages of a running crawl, appended to a .jsonl file as they arrive (``frontrank crawl --export``).

A row is in the file before the event of its page is committed, and on the disk before that event is (``sync``). So whatever
ends the crawl, the file has every page that was acknowledged, and at most a few more: those are cut off when the crawl is
resumed, which fetches them again. The number of a row's event says up to where the file goes; nothing else needs to be stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from frontrank.crawl.events import UNCHANGED, Fetched, apart
from frontrank.crawl.log import Log
from frontrank.errors import InputError, StorageError
from frontrank.exports.columns import PageRow, chosen_columns, plain
from frontrank.exports.content import Content, ContentReader, digest_of
from frontrank.exports.json_lines import line_of
from frontrank.exports.options import ExportOptions
from frontrank.exports.reader import PageReader, RowBuilder, content_of
from frontrank.exports.records import unpack
from frontrank.pages import html
from frontrank.system.files import append_whole, check_target, private

OPTIONS = ExportOptions()
COLUMNS = chosen_columns((), OPTIONS.text)


def check_new(path: str) -> None:
    """Raise InputError if a new crawl cannot write its pages there."""
    check_target(path)
    if os.path.lexists(path):
        raise InputError(f"{path} exists; give another file for the pages of this crawl, or remove it")


class LiveExport:
    """Appends to the file of one crawl. All calls come from the thread of its fetch loop, but for ``sync``."""

    def __init__(self, path: str, folder: Path, log: Log) -> None:
        """Continue the file where the log ends: rows that the log does not know are cut off, missing ones are added."""
        self.path, self._log = path, log
        self._builder = RowBuilder(log, OPTIONS.text)
        self._content = ContentReader(OPTIONS.text)
        self._priorities: dict[int, float | None] = {}
        check_target(path)
        try:
            with open(path, "a+b", opener=private) as file:
                last = self._cut(file)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise self._refusal(error) from None
        self._end = os.path.getsize(path)
        self._catch_up(folder, last)
        self._seen = log.seq

    def _cut(self, file: IO[bytes]) -> int:
        """Keep the rows that the log knows; returns the event of the last of them."""
        file.seek(0)
        end = last = 0
        with closing(self._fetched("seq", "page", "time")) as known:
            for line in file:
                page = self._known_page(line, known)
                if page is None:
                    break
                end += len(line)
                last = page.event
                if page.digest:
                    self._builder.copies.first(page.digest, page.page)
        file.seek(0, os.SEEK_END)
        if end < file.tell():
            self._check_ours(file, end)
            file.truncate(end)
        return last

    def _fetched(self, *columns: str, after: int = 0) -> Generator[tuple[Any, ...], None, None]:
        yield from self._log.select(columns, (Fetched.kind,), after)

    def _known_page(self, line: bytes, known: Iterator[tuple[Any, ...]]) -> PageRow | None:
        """The page of a whole line that an event of the log agrees with."""
        values = _values(line)
        if not values:
            return None
        for event, page, time in known:
            if event >= values["event"]:
                row = PageRow(event, page, self._log.url(page), 200, time, digest=values.get("digest"))
                date = plain(next(column for column in COLUMNS if column.kind == "time").value(row))
                is_same = (event, row.url, date) == (values["event"], values.get("url"), values.get("fetched_at"))
                return row if is_same else None
        return None

    def _check_ours(self, file: IO[bytes], end: int) -> None:
        """Raise InputError if what would be cut off is something else than rows of this crawl."""
        file.seek(end)
        first = file.readline()
        if end == 0 and first.endswith(b"\n") and _values(first).get("event", 0) <= self._log.seq:
            raise InputError(f"{self.path} exists, and does not have the pages of this crawl; give another file with --export")

    def _catch_up(self, folder: Path, last: int) -> None:
        """Add the pages that arrived after this event; in any case the whole log is read, to know where pages came from."""
        with closing(self._fetched("seq", after=last)) as later:
            missing = next(later, None) is not None
        reader = PageReader(folder, OPTIONS, COLUMNS if missing else (), last)
        for row in reader.pages(self._builder):
            self._append(row)

    # While the crawl runs ---------------------------------------------------------------------------------------------------
    def taken(self, page: int, priority: float | None) -> None:
        """A page is about to be fetched."""
        self._priorities[page] = priority

    def arrived(self, page: int, found: html.Page | None, record: bytes | None) -> None:
        """A page has arrived, in an event that is not committed yet. ``found``: its HTML, parsed; ``record``: WARC."""
        rows = apart([row for rows in self._log.rows(self._seen) for row in rows])
        wanted = [row.kind == Fetched.kind and row.page == page and row.status != UNCHANGED for row in rows]
        for row in self._builder.rows(rows, wanted):
            row.priority = self._priorities.pop(page, None)
            content = self._content_of(row, found, record)
            if not content.withheld:
                self._builder.fill(row, content)
                self._append(row)
        self._seen = self._log.seq

    def _content_of(self, row: PageRow, found: html.Page | None, record: bytes | None) -> Content:
        if row.withheld:
            return Content(withheld=row.withheld)
        if record is not None:
            return content_of(row, unpack(record), self._content, found)
        if found is None:
            return Content()
        return Content(found.text, found.language or None, digest_of(found.text))

    def _append(self, row: PageRow) -> None:
        line = line_of(row, COLUMNS)
        try:
            append_whole(self._file, line, self._end)
        except OSError as error:
            raise self._refusal(error) from None
        self._end += len(line)

    def _refusal(self, error: OSError) -> StorageError:
        return StorageError(f"{self.path}: cannot be written ({error.strerror or error}); make room, then resume the crawl")

    def sync(self) -> None:
        """All rows so far are on the disk when this returns."""
        if self._file >= 0:
            os.fsync(self._file)

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.fsync(file)
            os.close(file)
        self._content.close()


def _values(line: bytes) -> dict[str, Any]:
    """The values of a whole line; none if it is not one of ours."""
    if not line.endswith(b"\n"):
        return {}
    try:
        values = json.loads(line)
    except ValueError:
        return {}
    return values if isinstance(values, dict) and isinstance(values.get("event"), int) else {}
