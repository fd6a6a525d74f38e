"""What a crawler reads from an HTML page: title, text, and links with their anchors. It raises on no input.

    links    <a href> and <area href> in their order, then frames, <meta http-equiv=refresh>, rel=canonical and feeds; absolute
             and canonical (without fragment), each target once: at its first place, with all its anchors joined by a blank.
             <base href> is honoured. URLs are as the WHATWG's URL Standard has them, and so as browsers ask for them: | [ ]
             are not escaped, an empty segment of a path stays (href="http//x" has one). Scrapy's extractor differs there.
    anchor   the text of the link; of a link without text, the alt texts of its images
    text     of <main> if there is one, else of <body> without <nav>; never of script, style, template or noscript
    blanks   every tag and every run of white space is one blank; none at the ends

Characters: a byte order mark, else the charset of the HTTP header, else that of <meta>, else UTF-8 if the bytes are, else
windows-1252; labels mean what the WHATWG's Encoding Standard says, bytes that fit none become U+FFFD.

The tree is lexbor's (selectolax). On ordinary pages its time is linear in their size; hostile ones cost the square or the cube
of it (unclosed elements, formatting elements, thousands of attributes), minutes for a few megabytes. For untrusted pages call
``bounded.parse``, which returns the same page or gives up in time. Cost: about 3 microseconds per link besides the tree;
100,000 links in about a second.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import can_ada

from frontrank.errors import need
from frontrank.pages.directives import MAX_STATEMENTS, NOTHING, Directives, Statement, of_meta
from frontrank.pages.relations import CANONICAL, refresh_target, relation_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_URL_LENGTH = 2_083
MAX_LINKS = 10_000
TOO_MANY = "too many links"
SNIFFED = 1_024  # bytes in which a page says what it is
MAGIC = (b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"\x1f\x8b", b"\x7fELF", b"wOFF", b"wOF2", b"RIFF")
BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
META_CHARSET = re.compile(rb"""<meta[^>]{0,512}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
SUPERSETS = {  # labels that browsers read as a larger set than Python's codec of that name
    **dict.fromkeys(("iso8859-1", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
KNOWN_CODECS = re.compile(r"utf-8|utf-16|iso8859|cp125|cp932|cp949|cp874|cp866|koi8|gb18030|big5|euc_|iso2022_|mac-|hz")
ONE_BYTE = re.compile(r"iso8859|cp125|cp874|cp866|koi8|mac-")
HTML_TYPES = ("text/html", "application/xhtml+xml")
UNTYPED = ("", "application/octet-stream", "text/plain", "unknown/unknown")  # types that servers give when they do not know
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")
UNSEEN = ("script", "style", "template", "noscript", "iframe", "noembed", "noframes")
OTHER_SCHEME = re.compile(r"[\s\0]*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True)
class Page:
    """What stood on a page."""

    title: str = ""
    text: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)  # canonical URL, anchor
    base: str = ""  # what relative links were resolved against
    statements: tuple[Statement, ...] = ()  # what its <meta> elements ask of crawlers
    canonical: str = ""  # the URL that it calls its own, if it calls one so
    language: str = ""  # as <html lang> has it
    dropped: dict[str, int] = field(default_factory=dict)  # links left out, by reason
    given_up: str = ""  # why the page was not parsed to its end: its links are then those of skim.py, and it has no text

    def directives(self, agent: str = "", in_headers: Sequence[Statement] = ()) -> Directives:
        """What it asks of a crawler, its headers included."""
        return Directives.of((*in_headers, *self.statements), agent) if in_headers or self.statements else NOTHING


def parse(body: bytes, url: str, encoding: str | None = None, most_links: int = MAX_LINKS, text: bool = True) -> Page:
    """The page that these bytes are. ``encoding`` is the charset of the HTTP header.

    >>> page = parse(b"<title> A  page </title><nav><a href='/b#x'>to <b>b</b></a></nav><main>Its text.</main>", "http://example.org/a")
    >>> page.title, page.text, page.links
    ('A page', 'Its text.', [('http://example.org/b', 'to b')])
    """
    return read(decode(body, encoding), url, most_links, text)


def read(markup: str, url: str, most_links: int = MAX_LINKS, text: bool = True) -> Page:
    """The page that these characters are."""
    need("selectolax")
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    base = _base(tree, url)
    anchors, dropped = _links(tree, base, most_links, len(markup)) if most_links else ({}, {})
    statements, refreshes = _metas(tree)
    further = Further(anchors, dropped, parsed(base), most_links)
    _frames(tree, further)
    for href in refreshes:
        further.add(href)
    _relations(tree, further)
    title = tree.css_first("title")
    return Page(
        title="" if title is None else _words(title),
        text=_text(tree) if text else "",
        links=[(target, " ".join(words)) for target, words in anchors.items()],
        base=base,
        statements=statements,
        canonical=further.canonical,
        language=language_of((tree.root.attributes.get("lang") if tree.root is not None else "") or ""),
        dropped=dropped,
    )


def language_of(label: str) -> str:
    """A language tag (BCP 47), the first of a list; empty if there is none.

    >>> language_of("de-AT, en"), language_of("en_US"), language_of("<no language>")
    ('de-AT', 'en-US', '')
    """
    tag = label.partition(",")[0].strip().replace("_", "-")
    return tag if LANGUAGE.fullmatch(tag) else ""


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a page is HTML by its type, or by its looks where the server does not know."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in HTML_TYPES:
        return True
    start = body[:SNIFFED].lstrip().lower()
    return kind in UNTYPED and start.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def charset_in(content_type: str) -> str | None:
    """The encoding that a content type names, if it names one.

    >>> charset_in('text/html; charset="Latin-1"'), charset_in("text/html")
    ('latin-1', None)
    """
    _, found, rest = content_type.lower().partition("charset=")
    return rest.partition(";")[0].strip(" \"'") or None if found else None


def looks_binary(body: bytes) -> bool:
    """Whether these bytes are no text, whatever they were called: a known magic number, or NULs that no UTF-16 explains."""
    if body.startswith(MAGIC):
        return True
    return b"\0" in body[:SNIFFED] and not body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decode(body: bytes, encoding: str | None = None) -> str:
    """The characters of a page."""
    for mark, name in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    declared = _codec(encoding)
    if declared is None and (found := META_CHARSET.search(body[:SNIFFED])):
        declared = _codec(found[1].decode("ascii", "replace"))
        if declared is not None and declared.startswith("utf-16"):  # it was read as ASCII, so it is not UTF-16
            declared = "utf-8"
    if declared is not None:
        return _decoded(body, declared)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not body[: error.start].isascii():  # cut off within a character
            return body.decode("utf-8", "replace")
        return _decoded(body, "cp1252")


def _decoded(body: bytes, codec: str) -> str:
    """The characters of these bytes. Sets of one byte a character go by a table: Python handles each byte that stands for
    none by a call, which takes seconds for a body full of them."""
    if ONE_BYTE.match(codec):
        return codecs.charmap_decode(body, "strict", _table(codec))[0]
    return body.decode(codec, "replace")


@cache
def _table(codec: str) -> str:
    return "".join(bytes([byte]).decode(codec, "replace") for byte in range(256))


def _codec(label: str | None) -> str | None:
    """Python's name of the encoding that a label means; None if it means none of the web's."""
    try:
        name = codecs.lookup((label or "").strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    name = SUPERSETS.get(name, name)
    return name if KNOWN_CODECS.match(name) else None


def resolve(base: str, href: str) -> str:
    """The canonical http(s) URL that a link on a page leads to; empty if there is none.

    >>> resolve("http://example.org/a/b", "../c#d"), resolve("http://example.org/", "mailto:x@example.org")
    ('http://example.org/c', '')
    """
    found = target_of(parsed(base), href)
    return found if found.startswith("http") else ""


def _base(tree: LexborHTMLParser, url: str) -> str:
    for node in tree.tags("base"):
        attributes = node.attributes
        if "href" in attributes:
            return resolve(url, attributes["href"] or "") or url
    return url


def parsed(url: str) -> can_ada.URL | None:
    try:
        return can_ada.parse(url)
    except (ValueError, TypeError):
        return None


def _links(tree: LexborHTMLParser, base: str, max_links: int, max_words: int) -> tuple[dict[str, list[str]], dict[str, int]]:
    start = parsed(base)
    anchors: dict[str, list[str]] = {}
    resolved: dict[str, str] = {}
    dropped: dict[str, int] = {}
    room = max_words  # nested links could repeat a page's text without end
    for node in tree.css("a[href],area[href]") if tree.tags("area") else tree.tags("a"):
        attributes = node.attributes
        href = attributes.get("href")
        if href is None:
            if "href" not in attributes:
                continue
            href = ""
        url = resolved.get(href)
        if url is None:
            url = resolved[href] = target_of(start, href)
        why = ""
        if not url.startswith("http"):
            why = url
        elif url not in anchors and len(anchors) >= max_links:
            why = TOO_MANY
        if why:
            dropped[why] = dropped.get(why, 0) + 1
            continue
        words_of_url = anchors.setdefault(url, [])
        if room > 0:
            words = node.text(separator=" ").split() or _alt(node, attributes)
            if words:
                words_of_url.extend(words)
                room -= sum(map(len, words)) + len(words)
    return anchors, dropped


class Further:
    """Links that are no <a>, behind those that are. The first rel=canonical counts."""

    def __init__(
        self, anchors: dict[str, list[str]], dropped: dict[str, int], base: can_ada.URL | None, max_links: int
    ) -> None:
        self.anchors, self.dropped, self.base, self.max_links = anchors, dropped, base, max_links
        self.canonical = ""

    def add(self, href: str, relation: str = "", anchor: str = "") -> None:
        url = target_of(self.base, href)
        why = ""
        if not url.startswith("http"):
            why = url
        elif url not in self.anchors and len(self.anchors) >= self.max_links:
            why = TOO_MANY
        if why:
            self.dropped[why] = self.dropped.get(why, 0) + 1
        else:
            self.anchors.setdefault(url, []).extend(anchor.split())
        if relation == CANONICAL and url.startswith("http"):
            self.canonical = self.canonical or url


def _frames(tree: LexborHTMLParser, further: Further) -> None:
    for node in (*tree.tags("iframe"), *(tree.tags("frame") if tree.body is None else ())):  # a frameset has no body
        if source := node.attributes.get("src"):
            further.add(source)


def _relations(tree: LexborHTMLParser, further: Further) -> None:
    """The <link> elements of the head; those of the body are not the page's own, they may be in what its readers wrote."""
    for node in tree.head.iter() if tree.head is not None else ():
        if node.tag == "link":
            attributes = node.attributes
            if (relation := relation_of(attributes)) and (href := attributes.get("href")):
                further.add(href, relation, attributes.get("title") or "")


def target_of(base: can_ada.URL | None, href: str) -> str:
    """The canonical URL that a link leads to; or the reason why it leads nowhere."""
    if len(href) > MAX_URL_LENGTH:
        return "scheme" if OTHER_SCHEME.match(href) else "too long"
    try:
        url: str = (can_ada.parse(href.strip()) if base is None else base + href).href
    except (ValueError, TypeError):
        return "not a URL"
    if not url.startswith(("http://", "https://")):
        return "scheme"
    if "#" in url:
        url = url.partition("#")[0]
    return url if len(url) <= MAX_URL_LENGTH else "too long"


def _alt(node: LexborNode, attributes: dict[str, str | None]) -> list[str]:
    """The words of the images in a link, or of an area."""
    if node.first_child is None:
        return (attributes.get("alt") or "").split()
    return " ".join(image.attributes.get("alt") or "" for image in node.css("img[alt]")).split()


def _text(tree: LexborHTMLParser) -> str:
    main = tree.css_first("main")
    tree.strip_tags([*UNSEEN, *(["nav"] if main is None else [])], recursive=True)
    main = tree.css_first("main") if main is not None else None  # it may have stood in what was stripped
    where = main if main is not None else tree.body
    return "" if where is None else _words(where)


def _words(node: LexborNode) -> str:
    return _blanks(node.text(separator=" "))


def _blanks(text: str) -> str:
    return " ".join(text.split())


def _metas(tree: LexborHTMLParser) -> tuple[tuple[Statement, ...], list[str]]:
    """What <meta> elements ask of crawlers, and where they send browsers."""
    statements: list[Statement] = []
    refreshes: list[str] = []
    for node in tree.tags("meta"):
        attributes = node.attributes
        statements += of_meta(attributes)
        if target := refresh_target(attributes):
            refreshes.append(target)
    return tuple(statements[:MAX_STATEMENTS]), refreshes
