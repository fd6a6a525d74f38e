"""Reading a journal: every row is compared with its checksum, every URL with its key, before anybody gets it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from frontrank.crawl import integrity
from frontrank.crawl.events import storable
from frontrank.crawl.integrity import NARROW, RESTORE, checksum
from frontrank.crawl.journal_file import FILE, Sentences
from frontrank.crawl.log import COLUMNS, Row
from frontrank.errors import StorageError
from frontrank.kernels import hashtable

MAX_ASKED = 500  # rows asked for at once


class JournalReader:
    """What is read of a database; ``seq``: its last event."""

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self.folder, self.db = folder, db
        self.seq: int = db.execute("SELECT max(seq) FROM event").fetchone()[0] or 0
        self.checked = 0  # the rows up to this one are known to be whole
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.has_places = "place" in tables and any(db.execute("SELECT 1 FROM place LIMIT 1"))
        self._born = "born" in tables
        columns = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('meta')")}
        self.crc = "crc" if "crc" in columns else "NULL"  # where checksums are
        self.unchecked: tuple[int, ...] = (0, 0)  # how many events and URLs have no checksums

    def rows(self, after: int = 0, batch: int = 1000) -> Iterator[list[Row]]:
        """Every row is compared with its checksum. Its numbers are for the reader to check (``integrity.check_rows``)."""
        narrow = True
        with Sentences(self.folder, "read"):
            end = self.seq
            first = after
            while after < end:
                stop = min(after + batch, end)
                rows = self._narrow_rows(after, stop) if narrow else None
                if rows is None:
                    narrow, rows = False, self._whole_rows(after, stop)
                if first <= self.checked:
                    self.checked = max(self.checked, stop)
                after = stop
                yield rows

    def _narrow_rows(self, after: int, stop: int) -> list[Row] | None:
        """Rows of which the columns after the links say nothing: those are not read, which takes half of the time.

        None if there are others among these: their checksums are not those of the columns read here.
        """
        if after < self.unchecked[0]:
            return None
        found = self._between(COLUMNS[:NARROW], after, stop)
        return integrity.whole_narrow_rows(found, after, stop)

    def _whole_rows(self, after: int, stop: int) -> list[Row]:
        file = self.folder / FILE
        found = self._between(COLUMNS, after, stop)
        integrity.check_checksums(file, found, after, self.unchecked[0])
        if after + len(found) < stop:
            raise StorageError(f"{file}: the events after {after + len(found):,} cannot be found; {RESTORE}")
        return [Row._make(row[:-1]) for row in found]

    def _between(self, columns: Sequence[str], after: int, stop: int) -> list[tuple[Any, ...]]:
        query = f"SELECT {', '.join(columns)}, {self.crc} FROM event WHERE seq > ? AND seq <= ? ORDER BY seq"
        return self.db.execute(query, (after, stop)).fetchall()

    def select(self, columns: Sequence[str], kinds: Collection[int], after: int = 0) -> Iterator[tuple[Any, ...]]:
        assert set(columns) <= set(COLUMNS)
        if self.checked < self.seq:  # once: a row may be damaged where it says of which kind it is
            for _ in self.rows(self.checked):
                pass
        marks = ", ".join("?" * len(kinds))
        with Sentences(self.folder, "read"):
            query = f"SELECT {', '.join(columns)} FROM event WHERE seq > ? AND kind IN ({marks}) ORDER BY seq"
            yield from self.db.execute(query, (after, *kinds))

    def url(self, page: int) -> str:
        with Sentences(self.folder, "read"):
            row = self.db.execute("SELECT url, key FROM url WHERE id = ?", (page,)).fetchone()
        if row is not None and hashtable.fingerprint(row[0]) == row[1]:
            url: str = row[0]
            return url
        return self.names([page])[0][0]  # its key is of another kind, or it is damaged

    def urls(self, first: int = 0, batch: int = 1000) -> Iterator[tuple[list[str], list[int]]]:
        """Every URL is compared with its key, which is a fingerprint of it."""
        with Sentences(self.folder, "read"):
            last = self.db.execute("SELECT max(id) FROM url").fetchone()[0]
            known = 0 if last is None else last + 1
            while first < known:
                stop = min(first + batch, known)
                query = "SELECT url, key FROM url WHERE id >= ? AND id < ? ORDER BY id"
                rows = self.db.execute(query, (first, stop)).fetchall()
                if len(rows) < stop - first:
                    self._named_rows(range(first, stop))
                urls, keys = map(list, zip(*rows, strict=True))
                if wrong := integrity.wrong_urls(urls, keys):
                    self._check_named(list(self._named_rows([first + place for place in wrong]).values()))
                first = stop
                yield urls, keys

    def _named_rows(self, pages: Sequence[int]) -> dict[int, tuple[Any, ...]]:
        """By page its row in the table of URLs."""
        rows = {row[0]: row for row in self._among(f"SELECT id, url, key, {self.crc} FROM url WHERE id", pages)}
        missing = next((page for page in pages if page not in rows), None)
        if missing is not None:
            raise StorageError(f"{self.folder}/{FILE}: the URL of page {missing:,} is missing; {RESTORE}")
        return rows

    def _check_named(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Of pages whose key is not their URL's: it is that of the URL in its queue, or there is a checksum."""
        own = [row for row in rows if row[3] != checksum(row[:3]) and not (row[3] is None and row[0] < self.unchecked[1])]
        if not own:
            return
        queues = self._queues_of([row[0] for row in own])
        for page, url, key, crc in own:
            if crc is not None or page not in queues or hashtable.fingerprint(f"{queues[page]}\0{url}") != key:
                why = f"the URL of page {page:,} is damaged, its key is not its fingerprint: {url!r}"
                raise StorageError(f"{self.folder}/{FILE}: {why}; {RESTORE}")

    def find_urls(self, text: str, first: int = 0, max_urls: int = 100) -> list[tuple[int, str]]:
        query = "SELECT id FROM url WHERE id >= ? AND instr(lower(url), lower(?)) ORDER BY id LIMIT ?"
        with Sentences(self.folder, "read"):
            pages = [page for (page,) in self.db.execute(query, (first, storable(text), max_urls))]
        return [(page, url) for page, (url, _) in zip(pages, self.names(pages), strict=True)]

    def find_pages(self, text: str, first: int, stop: int, ignore_case: bool) -> list[int]:
        contains = "instr(lower(url), lower(?))" if ignore_case else "instr(url, ?)"
        query = f"SELECT id FROM url WHERE id >= ? AND id < ? AND {contains} ORDER BY id"
        with Sentences(self.folder, "read"):
            return [page for (page,) in self.db.execute(query, (first, stop, storable(text)))]

    def names(self, pages: Sequence[int]) -> list[tuple[str, str | None]]:
        rows = self._named_rows(pages)
        found = list(rows.values())
        self._check_named([found[at] for at in integrity.wrong_urls([row[1] for row in found], [row[2] for row in found])])
        queues = self._queues_of(pages)
        return [(rows[page][1], queues.get(page)) for page in pages]

    def attached(self, pages: Sequence[int]) -> dict[int, bytes]:
        return self._whole("payload", self._among(f"SELECT page, data, {self.crc} FROM payload WHERE page", pages))

    def _among(self, query: str, pages: Sequence[int]) -> Iterator[Any]:
        with Sentences(self.folder, "read"):
            for begin in range(0, len(pages), MAX_ASKED):
                some = pages[begin : begin + MAX_ASKED]
                yield from self.db.execute(f"{query} IN ({', '.join('?' * len(some))})", some)

    def _whole(self, table: str, rows: Iterable[tuple[Any, Any, int | None]]) -> dict[Any, Any]:
        """By page what a table holds of it, each compared with its checksum."""
        found = {}
        with Sentences(self.folder, "read"):
            for number, value, crc in rows:
                if crc != checksum((number, value)) and not (crc is None and any(self.unchecked)):
                    why = f"row {number:,} of table {table} is damaged, its checksum does not match"
                    raise StorageError(f"{self.folder}/{FILE}: {why}; {RESTORE}")
                found[number] = value
        return found

    def _queues_of(self, pages: Sequence[int]) -> dict[int, str]:
        if not self.has_places:
            return {}
        return self._whole("place", self._among(f"SELECT page, queue, {self.crc} FROM place WHERE page", pages))

    def queues(self, first: int, stop: int) -> dict[int, str]:
        if not self.has_places:
            return {}
        query = f"SELECT page, queue, {self.crc} FROM place WHERE page >= ? AND page < ?"
        with Sentences(self.folder, "read"):
            return self._whole("place", self.db.execute(query, (first, stop)))

    def born_at(self, page: int) -> float:
        if not self._born:
            return 0.0
        query = f"SELECT first, time, {self.crc} FROM born WHERE first <= ? ORDER BY first DESC LIMIT 1"
        with Sentences(self.folder, "read"):
            found = self._whole("born", self.db.execute(query, (page,)))
        return float(next(iter(found.values()), 0.0))

    def born_before(self, time: float) -> int:
        if not self._born:
            return self._known()
        query = f"SELECT first, time, {self.crc} FROM born WHERE time >= ? ORDER BY first LIMIT 1"
        with Sentences(self.folder, "read"):
            found = self._whole("born", self.db.execute(query, (time,)))
            return next(iter(found), self._known())

    def _known(self) -> int:
        return int(self.db.execute("SELECT count(*) FROM url").fetchone()[0])

    def has_payloads(self) -> bool:
        with Sentences(self.folder, "read"):
            return self.db.execute("SELECT 1 FROM payload LIMIT 1").fetchone() is not None

    def has_texts(self) -> bool:
        with Sentences(self.folder, "read"):
            return self.db.execute("SELECT 1 FROM body LIMIT 1").fetchone() is not None

    def texts(self, pages: Iterable[int]) -> list[str]:
        query = f"SELECT page, text, {self.crc} FROM body WHERE page = ?"
        with Sentences(self.folder, "read"):
            return [self._whole("body", self.db.execute(query, (page,))).get(page, "") for page in pages]
