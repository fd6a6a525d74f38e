"""Sitemaps (https://www.sitemaps.org/protocol.html): further seeds, from the Sitemap lines of robots.txt, else /sitemap.xml.

Read once, before the first page is taken, for the host of each seed; indexes are followed, gzip is undone. Everything is
bounded: files a host, size of a file, URLs in all. What is in scope becomes seeds, after those that were given. A sitemap
that is missing or no sitemap is passed over.

The text between <loc> and </loc> is all that is read, by a regular expression: no XML parser, no entities of others.
"""

from __future__ import annotations

import asyncio
import html
import logging
import re
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from frontrank.errors import FrontrankError
from frontrank.frontiers.frontier import ABSENT
from frontrank.pages.urls import clean

if TYPE_CHECKING:
    from frontrank.fetching.crawler.spider import PageSpider

logger = logging.getLogger("frontrank.fetching.crawler")

MOST_FILES, MOST_BYTES, MOST_URLS = 50, 50 * 2**20, 1_000_000  # files of one host; bytes of one, unpacked; URLs in all
LOC = re.compile(rb"<(?:\w+:)?loc\s*>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]{1,2083})\s*(?:\]\]>)?\s*</", re.IGNORECASE)


async def seed_from_sitemaps(spider: PageSpider) -> None:
    """Have the frontier wait until the sitemaps of all seeds' hosts are read, and seed it with what they list."""
    job = spider.job
    job.held = True
    try:
        found: dict[str, None] = {}
        for origin in dict.fromkeys("{0.scheme}://{0.netloc}".format(urlsplit(seed)) for seed in job.options.seeds):
            if not job.ended:
                await _read_host(spider, origin, found)
        crawl = job.crawl
        fresh = [url for url in found if (page := crawl.find(url)) < 0 or crawl.mark(page) == ABSENT]
        if fresh and not job.ended:
            crawl.seed(fresh)
        crawl.note("sitemaps", {"urls": len(fresh)})
        logger.info("%d URLs from sitemaps", len(fresh), extra={"spider": spider})
    except FrontrankError as error:
        job.fail(error)
    finally:
        job.held = False
        job.nudge()


async def _read_host(spider: PageSpider, origin: str, found: dict[str, None]) -> None:
    waiting = await _named(spider, origin) or [f"{origin}/sitemap.xml"]
    seen = set(waiting)
    for number in range(MOST_FILES):
        if not waiting or spider.job.ended:
            return
        if number:
            await asyncio.sleep(spider.job.options.delay)
        body = await _fetched(spider, waiting.pop(0))
        for place in LOC.finditer(body):
            url = clean(html.unescape(place[1].decode("utf-8", "replace")))
            if b"<sitemapindex" in body[:4096]:
                if url not in seen and spider.scope.why_not(url) in (None, "not included"):
                    seen.add(url)
                    waiting.append(url)
            elif len(found) < MOST_URLS:
                reason = spider.scope.why_not(url)
                if reason is None:
                    found[url] = None
                else:
                    spider.job.count(reason)


async def _named(spider: PageSpider, origin: str) -> list[str]:
    """The sitemaps on the lines of the host's robots.txt."""
    engine: Any = spider.crawler.engine
    for middleware in engine.downloader.middleware.middlewares:
        if hasattr(middleware, "learn"):
            named: list[str] = await middleware.learn(origin)
            return named
    return []


async def _fetched(spider: PageSpider, url: str) -> bytes:
    from scrapy import Request
    from scrapy.http.request import NO_CALLBACK

    engine: Any = spider.crawler.engine
    try:
        request = Request(url, callback=NO_CALLBACK, meta={"download_maxsize": MOST_BYTES})
        response = await engine.download_async(request)
    except Exception as error:  # whatever it is: the crawl does without
        logger.info("sitemap %s: %s", url, error, extra={"spider": spider})
        return b""
    if response.status != 200:
        logger.info("sitemap %s: http %s", url, response.status, extra={"spider": spider})
        return b""
    return unpacked(response.body)


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
