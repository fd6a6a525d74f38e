"""One sitemap or sitemap index, as its bytes came: unpacked, and read by Scrapy's own parser (lxml; no entities, no network).

Called in a worker process: libxml2 takes minutes for some files of 50 MB. What was found when the time is nearly up counts.
"""

from __future__ import annotations

import time
import zlib
from typing import NamedTuple

from lxml.etree import LxmlError  # type: ignore[import-untyped]
from scrapy.utils.sitemap import Sitemap

from frontrank.pages.html import LONGEST_URL
from frontrank.pages.urls import clean

MOST_BYTES = 50 * 2**20  # unpacked
CPU_S = 10.0  # the largest files that the protocol allows take 3 s
NEARLY_UP = 0.8


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
    begun = time.process_time()
    found: dict[str, None] = {}
    is_index = False
    try:
        file = Sitemap(unpacked(body))
        is_index = file.type == "sitemapindex"
        for entry in file:
            if len(found) >= most_urls:
                break
            if time.process_time() - begun > NEARLY_UP * CPU_S:
                return Listed(is_index, list(found), cut=True)
            if len(entry["loc"]) <= LONGEST_URL:
                found[clean(entry["loc"])] = None
    except (LxmlError, StopIteration):
        pass  # no XML, or only up to here
    return Listed(is_index, list(found))


def unpacked(body: bytes) -> bytes:
    """The file without gzip, as far as its limit; empty if it is torn at once.

    >>> import gzip
    >>> unpacked(gzip.compress(b"<urlset>")), unpacked(b"<urlset>"), unpacked(b"\\x1f\\x8bnot gzip")
    (b'<urlset>', b'<urlset>', b'')
    """
    if not body.startswith(b"\x1f\x8b"):
        return body[:MOST_BYTES]
    try:
        return zlib.decompressobj(31).decompress(body, MOST_BYTES)
    except zlib.error:
        return b""
