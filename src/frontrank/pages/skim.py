"""The links of a page without its tree: one pass by a regular expression, for pages on which the parser takes too long.

The same links as ``html.parse`` finds on well-formed markup, without anchors and text: comments and content that is not markup
(script, style, textarea and the like) are skipped, <base>, character references and <meta> are honoured. Only their order
may differ: links that are no <a> come where they occur. On broken markup the two may differ, as a pass that builds no tree
cannot know what is open.

Its time is linear in the length of any page: nothing is tried twice, and what is never closed (a comment, a script) reaches to
the end, where the search ends too. A quote without its partner is looked for once, since the next quote would be that partner.
10 MB take 0.1 to 1.3 s. A possessive (...)*+ must not begin to match its inside and then fail: Debian's Python 3.11.2 continues
after what it tried.
"""

from __future__ import annotations

import re
from html import unescape

from frontrank.pages import html
from frontrank.pages.directives import MAX_STATEMENTS, Statement, of_meta
from frontrank.pages.relations import CANONICAL, refresh_target, relation_of

MAX_TAGS = 200_000  # that are looked at: they take about half a second
MAX_TAG_LENGTH = 2**16  # characters; attributes behind them are not read
MAX_VALUE_LENGTH = 4_096  # raw; a longer URL is not followed, and Python refuses to read numbers of more digits
RAW = "script|style|iframe|noembed|noframes|xmp|textarea|title"

_COMMENT = r"!--(?:-?>|[\s\S]*?(?:--!?>|\Z))"
_RAW = rf"(?P<raw>{RAW})(?=[\s/>])(?P<opening>[^>]*+)>?[\s\S]*?(?:</(?P=raw)(?=[\s/>])[^>]*+>?|\Z)"
_PLAIN = r"plaintext(?=[\s/>])[\s\S]*+"
_INSIDE = r"""(?:[^<>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+"""
_TAG = rf"(?P<name>a|area|base|frame|link|meta)(?=[\s/])(?P<inside>{_INSIDE})"
_QUOTED = rf"""[a-z](?=[^<>"']*+["']){_INSIDE}"""  # any other tag, for the sake of a < in its attributes
TAG = re.compile(rf"<(?=[!a-z])(?:{_TAG}|{_COMMENT}|{_RAW}|{_PLAIN}|{_QUOTED})", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]++)))?""")


def skim(body: bytes, url: str, encoding: str | None = None, most_links: int = html.MAX_LINKS) -> html.Page:
    """What can be read off these bytes in one pass.

    >>> skim(b"<li><a href=/a>a</a><!-- <a href=/b> --><A title='>' HREF='c?d&amp;e'>", "http://example.org/x/").links
    [('http://example.org/a', ''), ('http://example.org/x/c?d&e', '')]
    """
    skimming = Skimming(url, most_links)
    number = 0
    for tag in TAG.finditer(html.decode(body, encoding)):
        name, inside = tag["name"], tag["inside"]
        if name is None and (tag["raw"] or "").lower() == "iframe":
            name, inside = "iframe", tag["opening"]
        if name is None:
            continue
        number += 1
        if number > MAX_TAGS or len(skimming.found) > most_links:
            break
        skimming.tag(name.lower(), attributes_of(inside[:MAX_TAG_LENGTH]))
    return skimming.page()


class Skimming:
    """What was found on a page so far."""

    def __init__(self, url: str, max_links: int) -> None:
        self.url, self.max_links = url, max_links
        self.base, self.based = url, False
        self.start = html.parsed(url)
        self.found: dict[str, str] = {}
        self.dropped: dict[str, int] = {}
        self.statements: list[Statement] = []
        self.canonical = ""

    def tag(self, name: str, attributes: dict[str, str]) -> None:
        if name == "meta":
            self.statements += of_meta(attributes)
            if target := refresh_target(attributes):
                self._link(target)
        elif name in ("frame", "iframe"):
            if attributes.get("src"):
                self._link(attributes["src"])
        elif "href" not in attributes:
            return
        elif name == "base":
            if not self.based:
                self.base, self.based = html.resolve(self.url, attributes["href"]) or self.url, True
                self.start = html.parsed(self.base)
        elif name != "link":
            self._link(attributes["href"])
        elif relation := relation_of(attributes):
            target = self._link(attributes["href"])
            if relation == CANONICAL and target.startswith("http"):
                self.canonical = self.canonical or target

    def _link(self, href: str) -> str:
        target = html.target_of(self.start, href)
        if target.startswith("http"):
            self.found[target] = ""
        else:
            self.dropped[target] = self.dropped.get(target, 0) + 1
        return target

    def page(self) -> html.Page:
        if len(self.found) > self.max_links:
            self.found.popitem()
            self.dropped[html.TOO_MANY] = 1  # or more: those behind it were not counted
        links, statements = list(self.found.items()), tuple(self.statements[:MAX_STATEMENTS])
        return html.Page(links=links, base=self.base, statements=statements, canonical=self.canonical, dropped=self.dropped)


def attributes_of(inside: str) -> dict[str, str]:
    """The attributes of a tag; of one that occurs twice the first counts.

    >>> attributes_of(" class=a href = '/x?a&amp;b' HREF=/y hidden")
    {'class': 'a', 'href': '/x?a&b', 'hidden': ''}
    """
    found: dict[str, str] = {}
    for name, double, single, bare in ATTRIBUTE.findall(inside):
        value = double or single or bare
        found.setdefault(name.lower(), unescape(value) if "&" in value and len(value) <= MAX_VALUE_LENGTH else value)
    return found
