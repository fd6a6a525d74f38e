"""The links of a page without its tree: one pass by a regular expression, for pages on which the parser takes too long.

The same links as ``html.parse`` finds on well-formed markup, without anchors and text: comments and content that is not markup
(script, style, textarea and the like) are skipped, <base>, character references and <meta name=robots> are honoured. On broken
markup the two may differ, as a pass that builds no tree cannot know what is open.

Its time is linear in the length of any page: nothing is tried twice, and what is never closed (a comment, a script) reaches to
the end, where the search ends too. A quote without its partner is looked for once, since the next quote would be that partner.
10 MB take 0.1 to 1.3 s. A possessive (...)*+ must not begin to match its inside and then fail: Debian's Python 3.11.2 continues
after what it tried.
"""

from __future__ import annotations

import re
from html import unescape

from frontrank.pages import html

MAX_TAGS = 200_000  # that are looked at: they take about half a second
MAX_TAG_LENGTH = 2**16  # characters; attributes behind them are not read
MAX_VALUE_LENGTH = 4_096  # raw; a longer URL is not followed, and Python refuses to read numbers of more digits
RAW = "script|style|iframe|noembed|noframes|xmp|textarea|title"

_COMMENT = r"!--(?:-?>|[\s\S]*?(?:--!?>|\Z))"
_RAW = rf"(?P<raw>{RAW})(?=[\s/>])[^>]*+>?[\s\S]*?(?:</(?P=raw)(?=[\s/>])[^>]*+>?|\Z)"
_PLAIN = r"plaintext(?=[\s/>])[\s\S]*+"
_INSIDE = r"""(?:[^<>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+"""
_TAG = rf"(?P<name>a|area|base|meta)(?=[\s/])(?P<inside>{_INSIDE})"
_QUOTED = rf"""[a-z](?=[^<>"']*+["']){_INSIDE}"""  # any other tag, for the sake of a < in its attributes
TAG = re.compile(rf"<(?=[!a-z])(?:{_TAG}|{_COMMENT}|{_RAW}|{_PLAIN}|{_QUOTED})", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]++)))?""")


def skim(body: bytes, url: str, encoding: str | None = None, most_links: int = html.MAX_LINKS) -> html.Page:
    """What can be read off these bytes in one pass.

    >>> skim(b"<li><a href=/a>a</a><!-- <a href=/b> --><A title='>' HREF='c?d&amp;e'>", "http://example.org/x/").links
    [('http://example.org/a', ''), ('http://example.org/x/c?d&e', '')]
    """
    base, based = url, False
    start = html.parsed(url)
    found: dict[str, str] = {}
    dropped: dict[str, int] = {}
    asked: set[str] = set()
    number = 0
    for tag in TAG.finditer(html.decode(body, encoding)):
        if tag["name"] is None:
            continue
        number += 1
        if number > MAX_TAGS or len(found) > most_links:
            break
        attributes = attributes_of(tag["inside"][:MAX_TAG_LENGTH])
        name = tag["name"].lower()
        if name == "meta":
            asked |= html.robots_of(attributes)
        elif "href" not in attributes:
            continue
        elif name == "base":
            if not based:
                base, based = html.resolve(url, attributes["href"]) or url, True
                start = html.parsed(base)
        else:
            target = html.target_of(start, attributes["href"])
            if target.startswith("http"):
                found[target] = ""
            else:
                dropped[target] = dropped.get(target, 0) + 1
    if len(found) > most_links:
        found.popitem()
        dropped[html.TOO_MANY] = 1  # or more: those behind it were not counted
    return html.Page(
        links=list(found.items()),
        base=base,
        nofollow=not asked.isdisjoint(html.NOFOLLOW),
        noindex=not asked.isdisjoint(html.NOINDEX),
        dropped=dropped,
    )


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
