"""Families of URLs that are alike but for numbers and ids, and the expressions that match them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from frontrank.pages.urls import host_of

TRAPS_NOTE = "traps"  # with a crawl: the possible traps that were found, by expression
ENDING = "<...>"  # what lies beneath a region, in its name; no URL has such signs
MIN_PAGES, MIN_SHARE = 50, 0.05


class UrlFamily(NamedTuple):
    """Fetched pages whose URLs are alike."""

    pattern: str
    pages: int
    share: float  # of the pages fetched from their host
    limited: bool = False  # to its share of the crawl

    @classmethod
    def of(cls, shape: str, pages: int, on_host: Mapping[str, int]) -> UrlFamily:
        """So many pages of a shape; ``on_host`` counts the pages of each host."""
        return cls(shape, pages, pages / max(on_host.get(host_of(f"http://{shape}"), 0), pages, 1))

    @property
    def possible_trap(self) -> bool:
        return self.pages >= MIN_PAGES and self.share >= MIN_SHARE and any(mark in self.pattern for mark in "#*?")

    @property
    def exclude(self) -> str:
        """A regular expression that matches these URLs and no others.

        >>> print(UrlFamily("a.example/cal/#-#/*?day", 60, 1.0).exclude)
        ://a\\.example/cal/[0-9]+\\-[0-9]+/[0-9a-fA-F*-]+\\?day(=[^&]*)?$
        """
        if ENDING in self.pattern:
            return expression(self.pattern)
        path, mark, keys = self.pattern.partition("?")
        path = re.escape(path).replace(r"\#", "[0-9]+").replace(r"\*", "[0-9a-fA-F*-]+")
        query = "&".join(f"{re.escape(key)}(=[^&]*)?" for key in keys.split("&"))
        return f"://{path}\\?{query}$" if mark else f"://{path}$"


def expression(name: str) -> str:
    """A regular expression that matches the URLs of a region and no others.

    >>> print(expression("a.example/cal/#/<...>"), expression("a.example/x/<...>?<...>"))
    ://a\\.example/cal/[0-9]+/ ://a\\.example/x/[^?]*\\?
    """
    place, _, rest = name.partition(ENDING)
    path = re.escape(place).replace(r"\#", "[0-9]+").replace("#", "[0-9]+").replace(r"\*", "[0-9a-fA-F*-]+")
    return f"://{path}" + (r"[^?]*\?" if rest else "")
