"""Readers of pages, sitemaps and robots.txt whose file stays in them until a test says so: put in the place of the real ones.

A file that begins with ``WAITS`` and the path of another is read once that one is there; waiting takes no processor time.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

from frontrank.fetching.crawler.sitemap_file import Listed, read_file
from frontrank.fetching.robots_file import RobotsFile, read_robots
from frontrank.pages import html

WAITS = b"<!-- # until %s is there -->\n"
parse_html = html.parse


def sitemap(path: str, codings: list[str], most_urls: int) -> Listed:
    _wait(Path(path).read_bytes())
    return read_file(path, codings, most_urls)


def page(body: bytes, *given: Any) -> html.Page:
    _wait(body)
    return parse_html(body, *given)


def robots(body: bytes, agent: str) -> RobotsFile:
    _wait(body)
    return read_robots(body, agent)


def _wait(body: bytes) -> None:
    named = re.match(re.escape(WAITS).replace(b"%s", b"(.+?)"), body)
    while named and not os.path.exists(named[1]):
        time.sleep(0.01)
