"""RSS and Atom: the links of a feed, each with the title of its entry as anchor; read by libxml2 (no entities, no network).

Called in a worker process, as libxml2 takes long for some files. A feed has a title and links, and no text.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

from frontrank.errors import need
from frontrank.pages import html

PLAIN = {  # what a parser that trusts nothing makes of XML
    **dict.fromkeys(("remove_comments", "remove_pis", "remove_blank_text"), True),
    **dict.fromkeys(("resolve_entities", "collect_ids"), False),
}
TYPES, XML = ("application/rss+xml", "application/atom+xml", "application/rdf+xml"), ("application/xml", "text/xml")
ENTRIES, TOPS = ("item", "entry"), ("channel", "feed")
FOLLOWED = ("", "alternate", "next")  # relations of Atom's links: an entry, the next part of a feed
MAX_TITLE = 1_000  # characters


def is_feed(kind: str, body: bytes) -> bool:
    """Whether this is RSS or Atom: by its type, or as XML whose first element says so.

    >>> is_feed("text/xml", b"<?xml version='1.0'?><rss>"), is_feed("text/xml", b"<urlset>")
    (True, False)
    """
    start = body[:1024].lower() if kind in XML else b""
    return kind in TYPES or any(root in start for root in (b"<rss", b"<feed", b"<rdf:rdf"))


def read_feed(body: bytes, url: str, max_links: int = html.MAX_LINKS) -> html.Page:
    """The feed that these bytes are, as far as they are one.

    >>> item = b"<item><title> A  page </title><link>/a</link></item>"
    >>> read_feed(b"<rss><channel><title>News</title>" + item + b"</channel></rss>", "http://a.example/feed").links
    [('http://a.example/a', 'A page')]
    """
    need("lxml")
    from lxml.etree import LxmlError, iterparse  # type: ignore[import-untyped]

    found: dict[str, list[str]] = {}
    links = html.Further(found, {}, html.parsed(url), max_links)
    title = ""
    try:
        for _, element in iterparse(BytesIO(body), events=("end",), recover=True, **PLAIN):
            name, parent = name_of(element), element.getparent()
            if name in ENTRIES:
                _entry(element, links)
                forget(element)
            elif parent is not None and name_of(parent) in TOPS:
                if name == "title":
                    title = title or _words(element)
                elif name == "link" and (href := _href(element)):
                    links.add(href)
    except LxmlError:
        pass  # no XML, or only up to here
    return html.Page(
        title=title, links=[(target, " ".join(words)) for target, words in found.items()], base=url, dropped=links.dropped
    )


def _entry(entry: Any, links: html.Further) -> None:
    children = [(name_of(child), child) for child in entry]
    title = next((_words(child) for name, child in children if name == "title"), "")
    hrefs = [href for name, child in children if name == "link" and (href := _href(child))]
    guids = [_text(child) for name, child in children if name == "guid" and child.get("isPermaLink") != "false"]
    for href in hrefs or guids:
        links.add(href, anchor=title)


def _href(link: Any) -> str:
    """Where RSS's <link>URL</link> or Atom's <link href=URL rel=...> leads."""
    if "href" not in link.attrib:
        return _text(link)
    return str(link.get("href")).strip() if link.get("rel", "") in FOLLOWED else ""


def _text(element: Any) -> str:
    return (element.text or "").strip()


def _words(element: Any) -> str:
    return " ".join(_text(element).split())[:MAX_TITLE]


def name_of(element: Any) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def forget(element: Any) -> None:
    """Free an element that was read, and those before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
