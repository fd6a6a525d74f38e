"""The answer to a URL: a page of the web, robots.txt, a sitemap, a trap, a fault, or 404.

URLs that come in here are the web's own and canonical (``names`` sees to that). Nothing is rendered before it is asked
for; of the URLs of link targets the last 65,536 are kept ready, since most links lead to few pages.

Cost: of a page with n links, n URLs and n anchors of the web, and its text. In a generated web with n = 20 that is 0.1 ms,
and 0.23 ms where it has texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from shlex import quote
from typing import NamedTuple
from urllib.parse import urlsplit

from frontrank.lab.webserver import pages
from frontrank.lab.webserver.addresses import SCHEME, Report, addresses, netloc_of
from frontrank.lab.webserver.faults import HANG, RESET, Faults, chance
from frontrank.lab.webserver.names import HOME, ByAddress, ByName, HostNames
from frontrank.lab.webserver.server_options import ServerOptions
from frontrank.lab.webserver.traps import ServedTraps
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

HTML, TEXT, XML = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/xml"
IN_A_SITEMAP = 50_000
HOME_SEEDS = 100
RETRY_AFTER_S = 2
REASONS = {404: "Not Found", 500: "Internal Server Error", 503: "Service Unavailable"}


class Reply(NamedTuple):
    status: int  # or RESET, or HANG
    body: bytes = b""
    kind: str = HTML
    headers: str = ""


class Site:
    def __init__(self, web: Web, options: ServerOptions, report: Report | None = None) -> None:
        self.web, self.options = web, options
        self.addresses = addresses(web, report)
        self.names: HostNames = ByAddress(self.addresses) if options.hosts == "ip" else ByName(self.addresses)
        self.faults = Faults(options)
        self.traps = ServedTraps(self.addresses) if options.traps else None
        self.link = lru_cache(65_536)(self._link)
        self.disallowed = lru_cache(4096)(self._disallowed)
        self.sizes = self.addresses.sizes()

    def answer(self, url: str) -> Reply:
        """The answer to the web's own URL; for robots.txt and sitemaps see ``slow``."""
        session = ""
        if self.traps is not None:
            url, session = self.traps.without_session(url)
        page = self.addresses.find(url)
        if page >= 0:
            fault = self.faults.of(page, url)
            return self._failure(fault, url) if fault else Reply(200, self._page(page, url, session))
        trap = self.traps.page(url) if self.traps is not None else None
        if trap is not None:
            links = (f"{pages.link(self.names.shown(to))}{pages.escaped(anchor)}</a>\n" for to, anchor in trap.links)
            return Reply(200, pages.page(trap.title, links, trap.text))
        return not_found(url)

    def slow(self, url: str) -> bool:
        """Whether the answer takes a look at all pages of a host."""
        return url.endswith(("/robots.txt", ".xml")) and self._file(url) is not None

    def slow_answer(self, url: str) -> Reply:
        """robots.txt or a sitemap. Safe in a thread of its own."""
        found = self._file(url)
        assert found is not None
        host, name, number = found
        if name == "robots":
            sitemap = self.names.shown(f"{SCHEME}{self.addresses.netloc(host)}/sitemap.xml") if self.options.sitemaps else ""
            return Reply(200, pages.robots(self.options.crawl_delay, self.disallowed(host), sitemap), TEXT)
        count = len(self.addresses.pages_of(host))
        files = -(-count // IN_A_SITEMAP)
        if files > 1 and number == 0:
            root = f"{SCHEME}{self.addresses.netloc(host)}"
            return Reply(200, pages.sitemap_index(self.names.shown(f"{root}/sitemap-{k + 1}.xml") for k in range(files)), XML)
        if number > (files if files > 1 else 0):
            return not_found(url)
        return Reply(200, pages.urlset(self._in_sitemap(host, max(0, number - 1))), XML)

    def allows(self, url: str) -> bool:
        """Whether robots.txt lets a crawler fetch the web's own URL."""
        host = self.addresses.host(netloc_of(url))
        return host < 0 or _top_directory(url) not in self.disallowed(host)

    def seeds(self) -> list[str]:
        """Where to start, as a crawler sees it."""
        found = (self.addresses.of(page) for page in find_seeds(self.web).tolist())
        served = [url for url in dict.fromkeys(found) if netloc_of(url)]
        return [self.names.shown(url) for url in served or [self.addresses.of(int(self.addresses.pages_of(0)[0]))]]

    def commands(self) -> list[str]:
        """How to fetch one page, and how to crawl the web."""
        home, seed = f"http://{HOME}:{self.names.port}", quote(self.seeds()[0])
        if self.options.hosts == "ip":
            return [f"curl {seed}", f"frontrank crawl {seed} --allow-private --out crawl --budget 1000"]
        return [f"curl -x {home} {seed}", f"frontrank crawl {seed} --proxy {home} --out crawl --budget 1000"]

    def home(self) -> Reply:
        """The server's own page."""
        counts = f"{self.web.pages - self.addresses.duplicates:,} pages, {self.web.links:,} links, {len(self.sizes):,} hosts"
        linked = self.options.hosts == "ip"
        return Reply(200, pages.home(self.web.name, counts, self.commands(), self.seeds()[:HOME_SEEDS], linked))

    def _page(self, page: int, url: str, session: str) -> bytes:
        web = self.web
        begin, end = int(web.indptr[page]), int(web.indptr[page + 1])
        targets = web.targets[begin:end].tolist()
        anchors = web.anchors[begin:end] if web.anchors is not None else [""] * len(targets)
        heads = [self.link(target) for target in targets]
        escaped = pages.escaped
        pairs = zip(heads, anchors, strict=True)
        links = [f"{head}{escaped(anchor)}</a>\n" for head, anchor in (_firsts(pairs) if self.addresses.duplicates else pairs)]
        if self.traps is not None:
            links = self._trapped(page, url, session, targets, list(anchors))
        title = web.titles[page] if web.titles is not None else ""
        return pages.page(title, links, web.texts[page] if web.texts is not None else "")

    def _trapped(self, page: int, url: str, session: str, targets: list[int], anchors: list[str]) -> list[str]:
        assert self.traps is not None
        seen = self.traps.with_sessions(url, session, [self.addresses.of(target) for target in targets])
        links = [*zip(seen, anchors, strict=True), *self.traps.links_on(page)]
        return [f"{pages.link(self.names.shown(to))}{pages.escaped(anchor)}</a>\n" for to, anchor in _firsts(links)]

    def _link(self, page: int) -> str:
        return pages.link(self.names.shown(self.addresses.of(page)))

    def _failure(self, fault: int, url: str) -> Reply:
        if fault in (RESET, HANG):
            return Reply(fault)
        after = f"Retry-After: {RETRY_AFTER_S}\r\n" if fault == 503 and self.faults.always(url) else ""
        return Reply(fault, message(REASONS[fault], url), HTML, after)

    def _file(self, url: str) -> tuple[int, str, int] | None:
        """The host whose robots.txt or sitemap this is, which of both, and the number of the sitemap."""
        netloc = netloc_of(url)
        host = self.addresses.host(netloc)
        path = url[len(SCHEME) + len(netloc) :]
        if host < 0:
            return None
        if path == "/robots.txt":
            return host, "robots", 0
        if self.options.sitemaps and path == "/sitemap.xml":
            return host, "sitemap", 0
        number = path.removeprefix("/sitemap-").removesuffix(".xml")
        if self.options.sitemaps and path == f"/sitemap-{number}.xml" and number.isdecimal() and len(number) < 6:
            return (host, "sitemap", int(number)) if int(number) else None
        return None

    def _in_sitemap(self, host: int, part: int) -> Iterator[str]:
        found = self.addresses.pages_of(host)[part * IN_A_SITEMAP : (part + 1) * IN_A_SITEMAP]
        refused = self.disallowed(host)
        for page in found.tolist():
            url = self.addresses.of(page)
            if _top_directory(url) not in refused:
                yield self.names.shown(url)

    def _disallowed(self, host: int) -> frozenset[str]:
        share = self.options.disallow
        if not share:
            return frozenset()
        root = SCHEME + self.addresses.netloc(host)
        tops = {_top_directory(self.addresses.of(page)) for page in self.addresses.pages_of(host).tolist()} - {""}
        return frozenset(top for top in tops if chance("disallow", root + top) < share)


def _firsts(links: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of several links to one URL the first."""
    kept: dict[str, str] = {}
    for url, anchor in links:
        kept.setdefault(url, anchor)
    return list(kept.items())


def _top_directory(url: str) -> str:
    """
    >>> _top_directory("http://a/b/c/d"), _top_directory("http://a/b")
    ('/b/', '')
    """
    path = urlsplit(url).path
    end = path.find("/", 1)
    return path[: end + 1] if end > 0 else ""


def not_found(url: str) -> Reply:
    return Reply(404, message("Not Found", url))


def message(title: str, url: str) -> bytes:
    return pages.page(title, [], url)
