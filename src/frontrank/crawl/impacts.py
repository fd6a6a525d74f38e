"""Impacts of pages as they are reported: clicks, views or both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from frontrank.crawl import validation
from frontrank.crawl.state import CrawlState
from frontrank.errors import InputError
from frontrank.pages.urls import canonical


def known_as(state: CrawlState, url: str) -> int:
    """The number of a page by its URL as it is written, or else by its canonical form."""
    page = state.lookup(url)
    return page if page >= 0 else state.lookup(canonical(url))


def impact_rows(rows: Any) -> list[tuple[Any, Any, Any]]:
    """URL, clicks and views of each page."""
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise InputError(f"impacts must be rows of a URL, clicks and views, got {rows!r}")
    found = list(rows)
    for row in found:
        if not (isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 3 and isinstance(row[0], str)):
            raise InputError(f"an impact must be a URL, clicks and views, got {row!r}")
    return found


def check_impact(impact_by: str, url: str, clicks: float | None, views: float | None) -> None:
    """Refuse what a crawl that goes by ``impact_by`` cannot use."""
    for name, value in (("clicks", clicks), ("views", views)):
        if value is not None:
            validation.number(value, f"{name} of page {url!r}")
    reported = [name for name, value in (("views", views), ("clicks", clicks)) if value is not None]
    if not reported:
        raise InputError(f"page {url!r} must be given clicks, views or both, got neither")
    if impact_by and impact_by not in reported:
        raise InputError(
            f"this crawl goes by {impact_by}, but {reported[0]} were given for page {url!r}; give {impact_by} too, "
            f"or start the crawl with impact_by={reported[0]!r}"
        )
