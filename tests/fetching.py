"""Fetches URLs by Scrapy with the settings that guard a crawl, in a process of its own, since a reactor starts once.

    fetch(["http://127.0.0.1:8000/"], {"FRONTRANK_ALLOW_PRIVATE": True}) -> {"http://127.0.0.1:8000/": "200"}

A URL's outcome is the status of its page or the reason why there is none. Redirects are followed, each hop an entry of its own.
`politeness` gives it a Crawl as its frontier, and has `delay_s` told: what it waits between two pages of the first host.
`names` answers lookups from a table; names in `trusted` may be private, as if they stood for the public web.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S


def fetch(urls: list[str], settings: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    given = json.dumps({"urls": urls, "settings": settings or {}, **more})
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "tests.fetching"],
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=root,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _main() -> None:
    import socket

    import scrapy
    from scrapy.crawler import AsyncCrawlerProcess

    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.limits import HARDENING, reason_of
    from frontrank.fetching.private import Resolver, getaddrinfo
    from frontrank.fetching.robots import RobotsMiddleware
    from frontrank.frontiers.politeness import Politeness
    from frontrank.orderings.registry import parse as ordering

    given = json.load(sys.stdin)
    outcomes: dict[str, Any] = {}

    class TableResolver(Resolver):
        looked_up: list[str] = []

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.trusted |= set(given.get("trusted", ()))

        @staticmethod
        def lookup(name: str) -> Any:
            TableResolver.looked_up.append(name)
            answers = given.get("names", {}).get(name)
            if answers is None:
                return getaddrinfo(name)
            families = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in answers]
            return [
                (family, (address, 0, 0, 0) if family == socket.AF_INET6 else (address, 0))
                for family, address in zip(families, answers, strict=True)
            ]

    class Fetching(scrapy.Spider):
        name = "fetching"
        frontier = Crawl(ordering("bfs"), politeness=Politeness(**given["politeness"])) if "politeness" in given else None

        async def start(self) -> Any:
            for url in given["urls"]:
                yield self.ask(url)

        def ask(self, url: str) -> Any:
            meta = {"handle_httpstatus_all": True, **({"proxy": given["proxy"]} if "proxy" in given else {})}
            return scrapy.Request(url, errback=self.lost, dont_filter=True, meta=meta)

        def parse(self, response: Any) -> Any:
            outcomes[response.url] = str(response.status)
            location = response.headers.get("Location")
            if location:
                yield self.ask(response.urljoin(location.decode()))

        def lost(self, failure: Any) -> None:
            outcomes[failure.request.url] = reason_of(failure.value)[0]

        def closed(self, reason: str) -> None:
            middleware = self.crawler.get_downloader_middleware(RobotsMiddleware)
            outcomes["sitemaps"] = middleware.sitemaps(given["urls"][0]) if middleware else []
            outcomes["delay_s"] = self._delay_s() if self.frontier else 0.0
            outcomes["looked_up"] = TableResolver.looked_up

        def _delay_s(self) -> float:
            """What the frontier waits between two pages of the first URL's host."""
            assert self.frontier is not None
            self.frontier.seed([given["urls"][0], given["urls"][0] + "?again"])
            taken = self.frontier.take(2, now=1e9)
            return 0.0 if len(taken) == 2 else (self.frontier.next_at() or 0.0) - 1e9

    settings = {
        **HARDENING,
        "LOG_ENABLED": False,
        "USER_AGENT": "frontrank/1.0",
        "DOWNLOAD_TIMEOUT": 5,
        "URLLENGTH_LIMIT": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 100,
        "TWISTED_DNS_RESOLVER": TableResolver,
        **given["settings"],
    }
    process = AsyncCrawlerProcess(settings)
    process.crawl(Fetching)
    process.start()
    print(json.dumps(outcomes))


if __name__ == "__main__":
    _main()
