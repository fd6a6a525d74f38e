"""A small crawl with all that can go wrong in a page, served over HTTP, and how tests ask it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from frontrank.crawl.crawl import Crawl
from frontrank.frontiers.politeness import FREE
from frontrank.service.crawls import Crawls
from frontrank.service.http import http_server
from frontrank.service.http.server import HttpServer

MARKUP = "http://b.example/<script>alert(1)</script>?\"'&amp;"
TITLE = "<script>alert(2)</script>"
CALENDAR = 80
API = "/api/v1/crawls/DEFAULT"


def grow(crawl: Crawl) -> None:
    """A home page, a calendar without end, a page that fails, and one whose URL is markup."""
    crawl.seed(["http://a.example/"])
    (home,) = crawl.take()
    crawl.fetched(home, [(f"http://a.example/cal/{day}", "day") for day in range(CALENDAR)] + [(MARKUP, TITLE)], title=TITLE)
    for turn in range(6):
        (url,) = crawl.take()
        if turn == 2:
            crawl.failed(url, "http 404 <b>")
        else:
            crawl.fetched(url, [f"http://c.example/{turn}", MARKUP], title=TITLE)


class Asked:
    """A server, and what it answers: status and JSON."""

    def __init__(self, server: HttpServer) -> None:
        self.server, self.url = server, server.url

    def raw(self, method: str, path: str, body: bytes | None = None, **heads: str) -> tuple[int, dict[str, str], bytes]:
        where = urlsplit(self.url)
        line = http.client.HTTPConnection(where.hostname or "", where.port)
        try:
            line.request(method, path, body, {name.replace("_", "-"): value for name, value in heads.items()})
            answer = line.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            line.close()

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        status, _, body = self.raw("GET", f"{path}?{asked}" if asked else path)
        return status, json.loads(body)

    def post(self, path: str, body: Any, **heads: str) -> tuple[int, Any]:
        status, _, said = self.raw("POST", path, json.dumps(body).encode(), **{"Content_Type": "application/json", **heads})
        return status, json.loads(said)


@contextmanager
def serving(crawls: Crawls, token: str = "") -> Iterator[Asked]:
    with http_server(crawls, port=0, token=token) as server:
        yield Asked(server)


@contextmanager
def grown(folder: Path, policy: str = "backlink") -> Iterator[Crawls]:
    with Crawls(folder, policy, FREE) as crawls:
        grow(crawls.get_or_start())
        yield crawls
