"""Crawler traps: what bounds them while a crawl runs, and what points at them when it has ended.

A site that invents pages without end is bounded by the depth of links (--max-depth), the pages of a host (--host-budget), and
paths that go in circles, which are never followed. Afterwards URLs that differ only in numbers and ids are counted together:
a family with at least LEAST pages that makes up at least SHARE of its host is a possible trap. It may also be a
well-kept archive, so it is reported, with the --exclude that leaves it out, and dropped only if a person says so.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from frontrank.pages.urls import host_of, pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from frontrank.crawl.crawl import Crawl

LEAST, SHARE, TOLD = 50, 0.05, 20
MOST_PATTERNS = 200_000  # beyond that many different ones, those seen once are forgotten


class Family(NamedTuple):
    """Fetched pages whose URLs are alike."""

    pattern: str
    pages: int
    share: float  # of the pages fetched from their host

    @classmethod
    def of(cls, shape: str, pages: int, on_host: Mapping[str, int]) -> Family:
        """So many pages of a shape; ``on_host`` counts the pages of each host."""
        return cls(shape, pages, pages / max(on_host.get(host_of(f"http://{shape}"), 0), pages, 1))

    @property
    def possible_trap(self) -> bool:
        return self.pages >= LEAST and self.share >= SHARE and any(mark in self.pattern for mark in "#*?")

    @property
    def exclude(self) -> str:
        """A regular expression that matches these URLs and no others.

        >>> print(Family("a.example/cal/#-#/*?day", 60, 1.0).exclude)
        ://a\\.example/cal/[0-9]+\\-[0-9]+/[0-9a-fA-F*-]+\\?day(=[^&]*)?$
        """
        path, mark, keys = self.pattern.partition("?")
        path = re.escape(path).replace(r"\#", "[0-9]+").replace(r"\*", "[0-9a-fA-F*-]+")
        query = "&".join(f"{re.escape(key)}(=[^&]*)?" for key in keys.split("&"))
        return f"://{path}\\?{query}$" if mark else f"://{path}$"


def families(urls: Iterable[str]) -> list[Family]:
    """The families that may be traps, largest first.

    >>> families(f"http://a.example/cal/{day}" for day in range(60))
    [Family(pattern='a.example/cal/#', pages=60, share=1.0)]
    """
    alike: Counter[str] = Counter()
    on_host: Counter[str] = Counter()
    for url in urls:
        alike[pattern(url)] += 1
        on_host[host_of(url)] += 1
        if len(alike) > MOST_PATTERNS:
            alike = Counter({shape: count for shape, count in alike.items() if count > 1})
    found: list[Family] = []
    for shape, pages in alike.most_common():
        if pages < LEAST or len(found) == TOLD:
            break
        family = Family.of(shape, pages, on_host)
        if family.possible_trap:
            found.append(family)
    return found


def limited_hosts(crawl: Crawl, max_depth: int) -> tuple[list[str], list[str]]:
    """Hosts whose budget is spent while pages of theirs wait; hosts of which a page was fetched at the greatest depth."""
    hosts = crawl.hosts()
    spent = [host["host"] for host in hosts if 0 < host["budget"] <= host["taken"] and host["waiting"]]
    return spent, [host["host"] for host in hosts if host["depth"] >= max_depth]
