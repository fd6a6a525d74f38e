"""What is exported: which pages, which columns, which text."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from frontrank.errors import InputError, nearest
from frontrank.exports.columns import PageRow
from frontrank.options import duration, option, said_of
from frontrank.pages.urls import host_of

TEXTS = ("visible", "main", "markdown", "none")
KEYS = ("host", "status", "depth")  # what --where may ask for


def conditions(text: str) -> dict[str, set[str]]:
    """The values that each key of a filter may have.

    >>> sorted(conditions("host=a.org,host=b.org,status=200")["host"])
    ['a.org', 'b.org']
    """
    found: dict[str, set[str]] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InputError(f"must be KEY=VALUE,... with the keys {', '.join(KEYS)}, got {text!r}")
        if key not in KEYS:
            raise InputError(f"must be KEY=VALUE,..., got the unknown key {key!r}{nearest(key, KEYS)}")
        if key != "host" and not value.isdigit():
            raise InputError(f"must have a whole number for {key}, got {value!r}")
        found.setdefault(key, set()).add(value if key == "host" else str(int(value)))
    return found


def moment(text: str) -> float:
    """Seconds since 1970 of a date, or of so long ago.

    >>> moment("2026-01-01"), moment("2026-01-01T12:00+02:00") - moment("2026-01-01")
    (1767225600.0, 36000.0)
    """
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        try:
            return time.time() - duration(text)
        except InputError:
            raise InputError(f"must be a date such as 2026-01-31, or a time ago such as 2h or 7d, got {text!r}") from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class ExportOptions:
    """Which pages are exported, and how."""

    text: str = option(
        "visible",
        "The text of a page: all that is visible, its main content without navigation and boilerplate, the same as "
        "Markdown, or none. Main content and Markdown need the extra [text].",
        metavar="|".join(TEXTS),
        choices=TEXTS,
    )
    columns: str = option("", "Only these columns, in this order: url,title,text.", metavar="NAME,...")
    where: str = option(
        "",
        "Only pages that fulfil all of these: host=example.org,status=200,depth=1. A key given twice allows both values.",
        metavar="KEY=VALUE,...",
        wrong=lambda text: said_of(conditions, text),
    )
    since: str = option(
        "",
        "Only pages that arrived since a date (2026-01-31, UTC), or in the last 2h, 7d.",
        metavar="TIME",
        wrong=lambda text: said_of(moment, text) if text else "",
    )

    @cached_property
    def names(self) -> list[str]:
        return [name.strip() for name in self.columns.split(",") if name.strip()]

    @cached_property
    def _conditions(self) -> dict[str, set[str]]:
        return conditions(self.where)

    @cached_property
    def _first(self) -> float:
        return moment(self.since) if self.since else -1.0

    def admits(self, row: PageRow) -> bool:
        """Whether a page fulfils the filters; its text need not be known."""
        if row.fetched_at < self._first:
            return False
        values = {"host": host_of(row.url), "status": str(row.status), "depth": str(row.depth)}
        return all(values[key] in allowed for key, allowed in self._conditions.items())
