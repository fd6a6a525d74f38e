"""The pages of a crawl, one at a time, in the order in which they arrived: from its log, and the responses in its WARC files.

A page that arrived several times is one row: the last response with content counts. Memory: a few hundred rows, and some 30
bytes for each page that the crawl knows (130 with the column priority, which needs the crawl's own state).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from frontrank.crawl.events import UNCHANGED, Fetched, apart, pages_of
from frontrank.crawl.events.pages import parts_of_note
from frontrank.crawl.integrity import checked_rows, sentences
from frontrank.crawl.journal import Journal
from frontrank.crawl.log import Log, Row
from frontrank.crawl.priorities import TakenPriorities
from frontrank.errors import SourceError
from frontrank.exports.columns import ExportColumn, PageRow
from frontrank.exports.content import Content, ContentReader
from frontrank.exports.options import ExportOptions
from frontrank.exports.provenance import NOBODY, SEED, Copies, Provenance
from frontrank.exports.records import StoredRecords, StoredResponse
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array
from frontrank.pages import html
from frontrank.pages.directives import OWN_NAME, SEARCH

WARCS = "warc"  # the folder in a crawl's directory
BATCH = 500  # rows of the log
MAX_NAMED = 5  # damaged records that are named
REDIRECTS = (301, 302, 303, 307, 308)


@dataclass
class Omissions:
    """What an export left out, and why."""

    withheld: Counter[str] = field(default_factory=Counter)  # pages that must not be used, by what their owners ask
    damaged: int = 0
    examples: list[str] = field(default_factory=list)  # sentences on damaged records

    def add_damaged(self, error: SourceError) -> None:
        self.damaged += 1
        if len(self.examples) < MAX_NAMED:
            self.examples.append(str(error))


class RowBuilder:
    """Makes rows of fetched pages, from rows of a log that are seen one after another."""

    def __init__(self, log: Log, text: str) -> None:
        self.log, self.text = log, text
        self.provenance, self.copies = Provenance(), Copies()
        self._has_texts = getattr(log, "has_texts", lambda: False)()

    def rows(self, rows: Sequence[Row], wanted: Sequence[bool]) -> Iterator[PageRow]:
        """The wanted ones of these rows, as pages without content."""
        found: list[tuple[Row, tuple[int | None, int, int], int]] = []
        for row, is_wanted in zip(rows, wanted, strict=True):
            if is_wanted:
                links = pages_of(row)
                target = int(links[0]) if row.status in REDIRECTS and links.size else row.page
                found.append((row, self.provenance.of(row.page), target))
            self.provenance.see(row)
        pages = sorted({page for row, (_, parent, _), target in found for page in (row.page, parent, target) if page >= 0})
        urls = dict(zip(pages, (url for url, _ in self.log.names(pages)), strict=True))
        for row, (depth, parent, linking), target in found:
            scores, metadata = parts_of_note(row.note)
            yield PageRow(
                row.seq,
                row.page,
                urls[row.page],
                row.status or 200,
                row.time,
                final_url=urls[target],
                title=row.title or "",
                depth=depth,
                reason=_reason(parent, linking, urls),
                score=next((float(score) for score in scores.values() if isinstance(score, int | float)), None),
                canonical=str(metadata.get("canonical") or urls[row.page]) if row.status not in REDIRECTS else None,
                withheld=str(metadata.get("withheld", "")),
                links_out=len(row.links or b"") // 4,
                warc=(row.file, row.start or 0, row.length or 0) if row.file else None,
            )

    def fill(self, page: PageRow, content: Content) -> None:
        """Add what stands on a page."""
        page.text, page.language, page.digest = content.text, content.language, content.digest
        if page.text is None and self._has_texts and self.text != "none":
            page.text = self.log.texts([page.page])[0] or None
        if page.digest is not None:
            first = self.copies.first(page.digest, page.page)
            page.copy_of = None if first == page.page else self.log.url(first)


def content_of(page: PageRow, response: StoredResponse, reader: ContentReader, known: html.Page | None = None) -> Content:
    """What stands on a page by its response; a redirect leads on, and has no text."""
    if page.status in REDIRECTS:
        if page.final_url == page.url:
            page.final_url = html.resolve(page.url, response.header("location")) or page.url
        return Content()
    return reader.read(page.url, response, known)


def _reason(parent: int, linking: int, urls: dict[int, str]) -> str:
    if parent == SEED:
        return "seed"
    if parent == NOBODY:
        return "named without a link"
    return f"linked from {urls[parent]}" + (f" and {linking - 1:,} more" if linking > 1 else "")


class PageReader:
    """Reads the crawl of a directory, which may be running: what had arrived when the reading began."""

    def __init__(self, folder: Path, options: ExportOptions, columns: Sequence[ExportColumn], after: int = 0) -> None:
        """``after``: the number of an event; pages that arrived with it or before are left out."""
        self.folder, self.options, self.after = folder, options, after
        self.omissions = Omissions()
        self.content = ContentReader(options.text, *_agent_and_purpose(folder))
        self._priorities = any(column.name == "priority" for column in columns)

    def pages(self, builder: RowBuilder | None = None) -> Iterator[PageRow]:
        """Row by row; whoever stops early closes the iterator. ``builder``: one that then knows all rows of the log."""
        with (
            closing(Journal.open(self.folder, read_only=True)) as log,
            StoredRecords(self.folder / WARCS) as records,
            self.content,
            sentences(log),
        ):
            if builder is None:
                self._check_texts(log)
                builder = RowBuilder(log, self.options.text)
            for page in self._chosen(log, builder):
                if self._fill(page, builder, records):
                    yield page

    def _check_texts(self, log: Journal) -> None:
        if self.options.text == "none" or log.has_texts() or any((self.folder / WARCS).glob("*")):
            return
        raise SourceError(
            f"{self.folder}: this crawl has stored no texts (it has no WARC files); crawl with --warc, or export the other "
            "columns with --text none"
        )

    def _chosen(self, log: Journal, builder: RowBuilder) -> Iterator[PageRow]:
        """The pages that the options ask for, without content."""
        end = log.seq
        last = _last_events(log)
        replay = TakenPriorities(log) if self._priorities else None
        for rows in _batches(log, end):
            if replay is not None:
                replay.batch(rows)
            rows = apart(rows)
            wanted = [row.kind == Fetched.kind and row.seq > self.after and last[row.page] == row.seq for row in rows]
            for page in builder.rows(rows, wanted):
                if replay is not None:
                    page.priority = replay.pop(page.event)
                if self.options.admits(page):
                    yield page

    def _fill(self, page: PageRow, builder: RowBuilder, records: StoredRecords) -> bool:
        """Add the content of a page; whether it may be exported."""
        content = Content(withheld=page.withheld)
        if page.warc is not None and not page.withheld:
            try:
                content = content_of(page, records.response(page.warc), self.content)
            except SourceError as error:
                self.omissions.add_damaged(error)
                return False
        if content.withheld:
            self.omissions.withheld[content.withheld] += 1
            return False
        builder.fill(page, content)
        return True


def _agent_and_purpose(folder: Path) -> tuple[str, str]:
    """To whom the sites of a crawl made their statements, and for what it was."""
    with closing(Journal.open(folder, read_only=True)) as log:
        options = log.notes.get("options") or {}
    agent = str(options.get("user_agent") or OWN_NAME).partition("/")[0].strip().lower()
    return agent, str(options.get("purpose") or SEARCH)


def _batches(log: Journal, end: int) -> Iterator[list[Row]]:
    """All rows up to this one, each batch read by itself: a running crawl must be able to move its log on."""
    after = 0
    known = 2**31
    while after < end:
        reading = log.rows(after, BATCH)
        rows = [row for row in next(iter(reading), []) if row.seq <= end]
        reading.close()  # type: ignore[attr-defined]
        if not rows:
            return
        yield checked_rows(log.folder, rows, known)
        after = rows[-1].seq


def _last_events(log: Journal) -> Array:
    """By page: the event with which it last arrived with content."""
    last = np.zeros(16, np.int64)
    for seq, page, status in log.select(("seq", "page", "status"), (Fetched.kind,)):
        if page >= last.size:
            last = grown(last, page + 1)
        if status != UNCHANGED:
            last[page] = seq
    return last
