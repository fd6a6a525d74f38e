"""The columns of exported pages: name, type, meaning, what a value is made from. Formats, options and docs use this table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from frontrank.errors import InputError, nearest

Kind = Literal["text", "whole", "number", "time"]
TEXT = "text"  # the column whose name and content --text chooses


@dataclass(slots=True)
class PageRow:
    """What is known of a page that was fetched."""

    event: int
    page: int  # its number in the crawl
    url: str
    status: int
    fetched_at: float
    final_url: str = ""
    title: str = ""
    text: str | None = None
    depth: int | None = None
    priority: float | None = None
    reason: str = ""
    score: float | None = None
    language: str | None = None
    canonical: str | None = None
    withheld: str = ""  # why it must not be used, if its owner asks for that
    links_out: int = 0
    digest: str | None = None
    copy_of: str | None = None
    warc: tuple[str, int, int] | None = None  # file, offset, length


@dataclass(frozen=True)
class ExportColumn:
    """One column of a table of pages."""

    name: str
    kind: Kind
    help: str
    value: Callable[[PageRow], Any]
    from_body: bool = False  # it is read from the stored response, not from the log alone


def _of(name: str) -> Callable[[PageRow], Any]:
    return lambda row: getattr(row, name)


def _column(
    name: str, kind: Kind, help: str, value: Callable[[PageRow], Any] | None = None, body: bool = False
) -> ExportColumn:
    return ExportColumn(name, kind, help, value or _of(name), body)


COLUMNS: dict[str, ExportColumn] = {
    column.name: column
    for column in (
        _column("event", "whole", "number of the event in the crawl's log with which the page arrived; no other row has it"),
        _column("url", "text", "the URL that was requested"),
        _column("final_url", "text", "for a redirect the URL that it leads to, otherwise the same as url"),
        _column("title", "text", "content of the page's title element"),
        _column(TEXT, "text", "text of the page, as --text asks; called markdown with --text markdown", body=True),
        _column("status", "whole", "HTTP status"),
        _column("fetched_at", "time", "when the page arrived, UTC", lambda row: datetime.fromtimestamp(row.fetched_at, UTC)),
        _column("depth", "whole", "links between a seed and the page, along the first link that led to it"),
        _column("priority", "number", "priority that the ordering gave the page when it was taken from the frontier"),
        _column("reason", "text", "why the page was in the frontier: a seed, or which fetched pages linked to it"),
        _column("score", "number", "what the scorer of the ordering said of the page, if there is one"),
        _column("language", "text", "language that the page or its Content-Language header declares", body=True),
        _column("canonical", "text", "URL that the page calls its own (rel=canonical), otherwise the same as url"),
        _column("links_out", "whole", "links from the page that the crawl follows"),
        _column("digest", "text", "SHA-256 of the visible text, in lower case and with single blanks", body=True),
        _column("copy_of", "text", "URL of the first exported page with the same digest", body=True),
        _column(
            "warc_file", "text", "WARC file with the response, in the crawl's directory", lambda row: row.warc and row.warc[0]
        ),
        _column("warc_offset", "whole", "byte at which the response begins in that file", lambda row: row.warc and row.warc[1]),
    )
}


def chosen_columns(names: Sequence[str], text: str) -> list[ExportColumn]:
    """These columns in this order, all if none is named; without the text if none is wanted."""
    known = [name for name in COLUMNS if name != TEXT or text != "none"]
    wanted = ["text" if name == "markdown" else name for name in names]
    for name in wanted:
        if name == TEXT and text == "none":
            raise InputError("--columns names the text, but --text none leaves it out; drop one of them")
        if name not in COLUMNS:
            raise InputError(f"--columns: unknown column {name!r}{nearest(name, COLUMNS)}")
    if len(set(wanted)) < len(wanted):
        raise InputError(f"--columns must name each column once, got {','.join(names)}")
    return [_renamed(COLUMNS[name], text) for name in wanted or known]


def _renamed(column: ExportColumn, text: str) -> ExportColumn:
    if column.name != TEXT or text != "markdown":
        return column
    return ExportColumn("markdown", column.kind, column.help, column.value, column.from_body)


def plain(value: Any) -> Any:
    """A value for formats that have no dates."""
    return value.isoformat(timespec="milliseconds").replace("+00:00", "Z") if isinstance(value, datetime) else value
