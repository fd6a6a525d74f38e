"""Parts of a web: the pages that a start page reaches, the pages of one site; and the start page itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import numpy as np

from frontrank.kernels.jit import Array
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.web.importance import importance
from frontrank.web.strings import Picked
from frontrank.web.web import Web

CANDIDATES = 20  # pages that are tried as a start
NEARLY_ALL = 0.95  # of a part, which a page must reach to be another start
MIN_SITE_PAGES = 50  # pages of a site that is worth a crawl
REMEMBERED = 50_000  # pages whose texts are read once and kept


def part_of(web: Web, pages: Array, name: str) -> Web:
    """The web of these pages alone, with the links among them; pages keep their relative order.

    >>> web = Web.from_edges([0, 0, 2], [1, 2, 0], pages=3)
    >>> part = part_of(web, np.array([2, 0]), "part")
    >>> part.pages, part.targets_of(0).tolist(), part.targets_of(1).tolist(), part.ids.tolist()
    (2, [1], [0], [0, 2])
    """
    pages = np.unique(pages)
    number = np.full(web.pages, -1, np.int32)
    number[pages] = np.arange(len(pages), dtype=np.int32)
    source = np.repeat(np.arange(web.pages, dtype=np.int32), web.out_degree())
    kept = np.flatnonzero((number[source] >= 0) & (number[web.targets] >= 0))
    degrees = np.bincount(number[source[kept]], minlength=len(pages))
    columns: dict[str, Any] = {"ids": web.ids_of(pages), "name": name}
    for column in ("urls", "titles", "texts"):
        values = getattr(web, column)
        if values is not None:
            picked = Picked(values, pages)
            columns[column] = picked if column == "texts" and len(pages) > REMEMBERED else list(picked)
    if web.hosts is not None:
        columns |= {"hosts": web.hosts[pages], "host_names": web.host_names}
    if web.anchors is not None:
        columns["anchors"] = list(Picked(web.anchors, kept))
    return Web(np.concatenate([[0], np.cumsum(degrees)]), number[web.targets[kept]], **columns)


def reached(web: Web, start: int) -> Array:
    """All pages that links lead to from a page, itself first."""
    return simulate(web, parse("bfs"), np.array([start])).trace.order


def start_page(web: Web) -> int:
    """Where a crawl of the whole web starts: the page that reaches the most; among equals that of the greatest PageRank.

    Tried are home pages (URLs without a path), else the web's own seeds, else the pages with the most links.
    """
    if web.urls is not None:
        tried = [page for page, url in enumerate(web.urls) if is_home(url)]
    else:
        tried = [] if web.seeds is None else web.seeds.tolist()
    if not tried:
        tried = np.argsort(-web.out_degree(), kind="stable")[:CANDIDATES].tolist()
    rank = importance(web, "pagerank")
    tried = sorted(tried, key=lambda page: -rank[page])[:CANDIDATES]
    return int(max(tried, key=lambda page: len(reached(web, page))))


def starts(part: Web, first: int, count: int) -> list[int]:
    """Pages from which a crawl of this part can start: the first one, and others that reach nearly all of it.

    Home pages first, then the pages with the most links, then any.
    """
    homes = [page for page, url in enumerate(part.urls or ()) if is_home(url)]
    rank = importance(part, "pagerank")
    homes.sort(key=lambda page: -rank[page])
    linked = np.argsort(-part.out_degree(), kind="stable")[: 2 * CANDIDATES].tolist()
    drawn = np.random.default_rng(0).permutation(part.pages)[: 5 * CANDIDATES].tolist()
    found = [first]
    for page in dict.fromkeys((*homes[: 2 * CANDIDATES], *linked, *drawn)):
        if len(found) == count:
            break
        if page not in found and len(reached(part, page)) >= NEARLY_ALL * part.pages:
            found.append(page)
    return found


def is_home(url: str) -> bool:
    """
    >>> is_home("https://www.example.org/"), is_home("https://www.example.org/a")
    (True, False)
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.path in ("", "/") and not parts.query


def reachable(web: Web) -> tuple[Web, int]:
    """The part of a web that its start page reaches, and the start page's number in it."""
    start = start_page(web)
    part = part_of(web, reached(web, start), web.name)
    return part, part.page_of(str(int(web.ids_of(np.array([start]))[0])))


def site(web: Web, share: float) -> tuple[Web, int] | None:
    """One host as a web of its own, of a size nearest to this share of all pages, as far as its start page reaches.

    Hosts of which the start page reaches less than half are skipped. None if there is no such host.
    """
    assert web.hosts is not None
    sizes = np.bincount(web.hosts)
    nearest = np.argsort(np.abs(sizes - share * web.pages), kind="stable")
    for host in nearest.tolist()[:CANDIDATES]:
        if sizes[host] < MIN_SITE_PAGES or sizes[host] == web.pages:
            continue
        name = web.host_names[host] if web.host_names is not None else f"host {host}"
        part, start = reachable(part_of(web, np.flatnonzero(web.hosts == host), name))
        if part.pages >= max(MIN_SITE_PAGES, sizes[host] / 2):
            return part, start
    return None
