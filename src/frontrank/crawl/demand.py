"""What searchers say to a crawl: their queries, and what they made of its pages."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from frontrank.crawl import events, given
from frontrank.crawl.live import alone
from frontrank.crawl.needs import check_asked
from frontrank.crawl.numbered import Numbered
from frontrank.errors import InputError
from frontrank.pages.urls import canonical
from frontrank.web.view import Workload

logger = logging.getLogger("frontrank.crawl")


class Demand(Numbered):
    """What searchers say."""

    @alone
    def impact(self, url: str, *, clicks: float | None = None, views: float | None = None, now: float | None = None) -> None:
        """What searchers made of a page so far: how often they chose it (clicks), were shown it (views), or both.

        It holds from the next ranking on, and replaces what was told of the page before. A page that waits may be told of
        too: it counts once the page is fetched. A crawl goes by views or by clicks (``impact_by``), or else by what it is
        told first, views before clicks.
        """
        page = self.find_page(url)
        if page < 0:
            raise InputError(f"page {url!r} cannot be given an impact: this crawl does not know it")
        self._check_impact(url, clicks, views)
        told = {"clicks": clicks, "views": views}
        self._do(events.Valued(self._tick(now), page, **{k: None if v is None else float(v) for k, v in told.items()}))
        self._acknowledge()

    @alone
    def impacts(self, told: Iterable[Sequence[Any]], now: float | None = None) -> list[str]:
        """The same for many pages: rows of URL, clicks and views, None for what is not known. Returns unknown pages."""
        rows = [(self._known_as(url), url, clicks, views) for url, clicks, views in _rows(told)]
        for _, url, clicks, views in rows:
            self._check_impact(url, clicks, views)
        with self.together():
            for page, _, clicks, views in rows:
                if page >= 0:
                    self.impact(self.log.url(page), clicks=clicks, views=views, now=now)
        unknown = [url for page, url, _, _ in rows if page < 0]
        if unknown:
            named = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
            logger.warning("%d of %d pages with an impact are not known to this crawl: %s", len(unknown), len(rows), named)
        return unknown

    @alone
    def unknown_urls(self, urls: Iterable[str]) -> list[str]:
        """Those of which this crawl has never heard."""
        return [url for url in given.urls(urls, "a page") if self._known_as(url) < 0]

    def _known_as(self, url: str) -> int:
        """The number of a page by its URL as it is given, or else by its canonical form."""
        page = self.find(url)
        return page if page >= 0 else self.find(canonical(url))

    def _check_impact(self, url: str, clicks: float | None, views: float | None) -> None:
        for name, value in (("clicks", clicks), ("views", views)):
            if value is not None:
                given.number(value, f"{name} of page {url!r}")
        told = [name for name, value in (("views", views), ("clicks", clicks)) if value is not None]
        if not told:
            raise InputError(f"page {url!r} must be given clicks, views or both, got neither")
        if self.impact_by and self.impact_by not in told:
            raise InputError(
                f"this crawl goes by {self.impact_by}, but {told[0]} were given for page {url!r}; give {self.impact_by} too, "
                f"or start the crawl with impact_by={told[0]!r}"
            )

    @alone
    def ask(self, workload: Workload, now: float | None = None) -> None:
        """Searchers ask these queries from now on: what later rankings go by, in place of those before.

        If there were none before, the search engine behind the crawl knows the pages fetched so far by their URLs alone.
        """
        if "workload" not in self.notes:
            check_asked(self.policy)
        if not len(given.workload(workload)) or not np.any(np.asarray(workload.frequency) > 0):
            raise InputError("a workload must have at least one query with a frequency above 0, got none")
        self._do(events.Asked(self._tick(now), workload))
        self._acknowledge()


def _rows(told: Any) -> list[tuple[Any, Any, Any]]:
    """URL, clicks and views of each page."""
    if isinstance(told, str) or not isinstance(told, Iterable):
        raise InputError(f"impacts must be rows of a URL, clicks and views, got {told!r}")
    rows = list(told)
    for row in rows:
        if not (isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 3 and isinstance(row[0], str)):
            raise InputError(f"an impact must be a URL, clicks and views, got {row!r}")
    return rows
