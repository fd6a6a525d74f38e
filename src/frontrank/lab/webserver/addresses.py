"""Which URL a page has, and which page a URL is.

Pages are found by canonical URL. The table holds no strings: for each page a 64-bit hash of its URL, sorted, and the
page beside it (12 bytes per page, 4 more for its host); a page that is found is checked against its own URL. A web that
knows no URLs gets made-up ones, http://www.h<host>.example/p<page>, which are read off instead of looked up.

Everything is served over plain HTTP: https://a/ becomes http://a/. Of several pages with one URL the first is served;
pages whose URL is of another scheme (ftp:, mailto:) are not served.

Cost: about 7 s to index a million pages of a generated web, 7 µs to find one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import canonical
from frontrank.web.web import Web

SCHEME = "http://"
MADE_UP = re.compile(r"http://www\.h(0|[1-9][0-9]{0,9})\.example/p(0|[1-9][0-9]{0,9})", re.ASCII)
MADE_UP_HOST = re.compile(r"www\.h(0|[1-9][0-9]{0,9})\.example", re.ASCII)
TOLD_EVERY = 20_000

Report = Callable[[str, int, int], None]  # what is being done, how much of it, of how much


def served_url(url: str) -> str:
    """The canonical URL, over plain HTTP and without user names.

    >>> served_url("HTTPS://me@Example.org/a/../b#c"), served_url("http://a")
    ('http://example.org/b', 'http://a/')
    """
    url = canonical(url)
    if url.startswith("https://"):
        url = SCHEME + url[8:]
    return _without_user(url) if "@" in url else url


def _without_user(url: str) -> str:
    netloc = netloc_of(url)
    return url if "@" not in netloc else SCHEME + netloc.rpartition("@")[2] + url[len(SCHEME) + len(netloc) :]


def netloc_of(url: str) -> str:
    """
    >>> netloc_of("http://a:81/b?c"), netloc_of("mailto:me"), netloc_of("http://a?b")
    ('a:81', '', '')
    """
    end = url.find("/", len(SCHEME))
    return url[len(SCHEME) : end] if end > 0 and url.startswith(SCHEME) else ""


class Indexed:
    """URLs that the web knows. ``duplicates`` are pages not served: another has their URL, or theirs is no http URL."""

    def __init__(self, web: Web, report: Report | None = None) -> None:
        assert web.urls is not None
        self.urls = web.urls
        self.names: dict[str, int] = {}
        self.host_of = np.full(web.pages, -1, np.int32)
        hashes = np.fromiter(self._hashes(web.pages, report), np.int64, web.pages)
        order = np.argsort(hashes, kind="stable")
        order = order[self.host_of[order] >= 0]
        if not len(order):
            raise InputError(f"{web.name}: none of its {web.pages:,} pages has an http URL, so that none can be served")
        self.hashes = hashes[order]
        self.page_at = order.astype(np.int32)
        first = np.append(True, self.hashes[1:] != self.hashes[:-1])
        self.host_of[self.page_at[~first]] = -1
        self.duplicates = web.pages - int(first.sum())
        self._netlocs = list(self.names)

    def _hashes(self, pages: int, report: Report | None) -> Iterator[int]:
        for page, given in enumerate(self.urls):
            url = served_url(given)
            netloc = netloc_of(url)
            if netloc:
                self.host_of[page] = self.names.setdefault(netloc, len(self.names))
            if report is not None and page % TOLD_EVERY == 0:
                report("indexing the URLs", page, pages)
            yield hash(url)

    def of(self, page: int) -> str:
        """The URL that a page is served under."""
        return served_url(self.urls[page])

    def find(self, url: str) -> int:
        """The page that is served under a canonical URL; -1 if there is none."""
        wanted = hash(url)
        at = int(self.hashes.searchsorted(wanted))
        while at < len(self.hashes) and self.hashes[at] == wanted:
            page = int(self.page_at[at])
            if self.of(page) == url:
                return page
            at += 1
        return -1

    def host(self, netloc: str) -> int:
        """The number of a host, given as in a URL (name, or name:port); -1 if it is not of this web."""
        return self.names.get(netloc, -1)

    def sizes(self) -> Array:
        """The number of pages of each host."""
        return np.bincount(self.host_of[self.host_of >= 0], minlength=len(self.names))

    def netloc(self, host: int) -> str:
        return self._netlocs[host]

    def pages_of(self, host: int) -> Array:
        return np.flatnonzero(self.host_of == host)


class MadeUp:
    """URLs that are made up.

    >>> made = MadeUp(Web.from_edges([0, 1], [1, 2], pages=3, hosts=np.array([0, 0, 1])))
    >>> made.of(2), made.find("http://www.h1.example/p2"), made.find("http://www.h0.example/p2")
    ('http://www.h1.example/p2', 2, -1)
    """

    def __init__(self, web: Web) -> None:
        self.pages = web.pages
        self.hosts = web.hosts
        self.count = 1 if web.hosts is None else int(web.hosts.max()) + 1
        self.duplicates = 0

    def of(self, page: int) -> str:
        host = 0 if self.hosts is None else self.hosts[page]
        return f"http://www.h{host}.example/p{page}"

    def find(self, url: str) -> int:
        match = MADE_UP.fullmatch(url)
        page = int(match[2]) if match else -1
        return page if 0 <= page < self.pages and self.of(page) == url else -1

    def host(self, netloc: str) -> int:
        match = MADE_UP_HOST.fullmatch(netloc)
        return int(match[1]) if match and int(match[1]) < self.count else -1

    def sizes(self) -> Array:
        return np.array([self.pages]) if self.hosts is None else np.bincount(self.hosts)

    def netloc(self, host: int) -> str:
        return f"www.h{host}.example"

    def pages_of(self, host: int) -> Array:
        return np.arange(self.pages) if self.hosts is None else np.flatnonzero(self.hosts == host)


Addresses = Indexed | MadeUp


def addresses(web: Web, report: Report | None = None) -> Addresses:
    return Indexed(web, report) if web.urls is not None else MadeUp(web)
