"""A reader of sitemaps whose slow file stays in it until a test says so: called in a worker, in place of read_sitemap."""

from __future__ import annotations

import os
import re
import time

from frontrank.fetching.crawler.sitemap_file import Listed, read_sitemap

WAITS = b"<!-- until %s is there -->"


def read(body: bytes, most_urls: int) -> Listed:
    """read_sitemap; a file that names another one waits for that, without using the processor, before it is read."""
    named = re.match(re.escape(WAITS).replace(b"%s", b"(.+?)"), body)
    while named and not os.path.exists(named[1]):
        time.sleep(0.01)
    return read_sitemap(body, most_urls)
