"""What the headers of a page say of it: what its owner asks of crawlers, and links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from frontrank.pages import html
from frontrank.pages.directives import MAX_STATEMENTS, TDM, Statement, of_header
from frontrank.pages.relations import CANONICAL, links_of_header

MAX_LINKS = 50
TAG, RESERVATION, LINK = b"x-robots-tag", TDM.encode(), b"link"
LENGTHS = frozenset(map(len, (TAG, RESERVATION, LINK)))


@dataclass(frozen=True)
class PageHeaders:
    """
    >>> headers = PageHeaders.of([(b"X-Robots-Tag", b"noai"), (b"Link", b"</c>; rel=canonical"), (b"Server", b"x")])
    >>> headers.statements, headers.add_links("http://a.example/b", None).canonical
    ((('', 'noai'),), 'http://a.example/c')
    """

    statements: tuple[Statement, ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # what each is, and where it leads

    @classmethod
    def of(cls, headers: Iterable[tuple[bytes, bytes]]) -> PageHeaders:
        statements: list[Statement] = []
        links: list[tuple[str, str]] = []
        for key, value in headers:
            if len(key) not in LENGTHS:
                continue
            name = key.lower()
            if name == TAG:
                statements += of_header(value.decode("latin-1"))
            elif name == RESERVATION:
                statements.append((TDM, value.decode("latin-1").strip()))
            elif name == LINK:
                links += links_of_header(value.decode("utf-8", "replace"))
        return cls(tuple(statements[:MAX_STATEMENTS]), tuple(links[:MAX_LINKS])) if statements or links else NONE

    def add_links(self, url: str, found: html.Page | None) -> html.Page:
        """The page with the links of its headers too; what it calls its own URL itself goes before what a header does."""
        page = html.Page(base=url) if found is None else found
        resolved = [(kind, html.resolve(url, target)) for kind, target in self.links]
        known = {target for target, _ in page.links}
        further = [(target, "") for target in dict.fromkeys(target for _, target in resolved) if target and target not in known]
        canonical = page.canonical or next((target for kind, target in resolved if kind == CANONICAL and target), "")
        return replace(page, links=[*page.links, *further], canonical=canonical)


NONE = PageHeaders()
