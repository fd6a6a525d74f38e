"""One sitemap or sitemap index, as its bytes came: unpacked, and read by libxml2 (lxml; no entities, no network).

Called in a worker process: libxml2 takes minutes for some files of 50 MB. What was found when the time is nearly up counts.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, NamedTuple

from frontrank.errors import need
from frontrank.pages.html import MAX_URL_LENGTH
from frontrank.pages.urls import clean

MAX_BYTES = 50 * 2**20  # unpacked
CPU_S = 10.0  # the largest files that the protocol allows take 3 s
NEARLY_UP = 0.8
PLAIN = {  # what a parser that trusts nothing makes of XML
    **dict.fromkeys(("remove_comments", "remove_pis", "remove_blank_text"), True),
    **dict.fromkeys(("resolve_entities", "collect_ids"), False),
}


class Listed(NamedTuple):
    """What a file lists: pages, or further files."""

    is_index: bool
    urls: list[str]
    cut: bool = False  # there may be more, but the time was up


def read_sitemap(body: bytes, most_urls: int) -> Listed:
    """The URLs that a file lists, in canonical form and their order.

    >>> read_sitemap(b"<urlset><url><loc> http://a.example/[1] </loc></url><!-- <url><loc>http://b/</loc></url> -->", 9)
    Listed(is_index=False, urls=['http://a.example/[1]'], cut=False)
    """
    need("lxml")
    from lxml.etree import LxmlError, iterparse  # type: ignore[import-untyped]

    begun = time.process_time()
    found: dict[str, None] = {}
    is_index = False
    try:
        file = iterparse(BytesIO(unpacked(body)), events=("start", "end"), recover=True, **PLAIN)
        is_index = _name(next(file)[1]) == "sitemapindex"
        for location in _locations(file):
            if len(found) >= most_urls:
                break
            if time.process_time() - begun > NEARLY_UP * CPU_S:
                return Listed(is_index, list(found), cut=True)
            if 0 < len(location) <= MAX_URL_LENGTH:
                found[clean(location)] = None
    except (LxmlError, StopIteration):
        pass  # no XML, or only up to here
    return Listed(is_index, list(found))


def _locations(file: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """What stands in the <loc> of each entry. What was read is forgotten at once."""
    for event, entry in file:
        if event == "start" or _name(entry) not in ("url", "sitemap"):
            continue
        locations = [(child.text or "").strip() for child in entry if _name(child) == "loc"]
        entry.clear()
        parent = entry.getparent()
        while parent is not None and entry.getprevious() is not None:
            del parent[0]
        if locations:
            yield locations[-1]


def _name(element: Any) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def unpacked(body: bytes) -> bytes:
    """The file without gzip, as far as its limit; empty if it is torn at once.

    >>> import gzip
    >>> unpacked(gzip.compress(b"<urlset>")), unpacked(b"<urlset>"), unpacked(b"\\x1f\\x8bnot gzip")
    (b'<urlset>', b'<urlset>', b'')
    """
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_BYTES]
    try:
        return zlib.decompressobj(31).decompress(body, MAX_BYTES)
    except zlib.error:
        return b""
