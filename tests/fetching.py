"""Fetches URLs with the guards of a crawl, and says what became of each.

    fetch(["http://127.0.0.1:8000/"], allow_private=True) -> {"http://127.0.0.1:8000/": "200"}

A URL's outcome is the status of its page or the reason why there is none. Redirects are followed, each hop an entry of its own.
`politeness` gives it a Crawl as its frontier, and has `delay_s` told: what it waits between two pages of the first host.
`names` answers lookups from a table; names in `trusted` may be private, as if they stood for the public web.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from frontrank.crawl.crawl import Crawl
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.fetcher import Fetcher, FetchOptions
from frontrank.fetching.private import getaddrinfo
from frontrank.fetching.robots import Robots
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.registry import parse as ordering

AGENT = "frontrank/1.0"
TIMEOUT_S = 5.0


def fetch(
    urls: Sequence[str],
    *,
    allow_private: bool = False,
    robots: bool = True,
    names: Mapping[str, Sequence[str]] | None = None,
    trusted: Sequence[str] = (),
    proxy: str = "",
    politeness: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    looked_up: list[str] = []

    def lookup(name: str) -> Any:
        looked_up.append(name)
        answers = (names or {}).get(name)
        if answers is None:
            return getaddrinfo(name)
        return [(socket.AF_INET6 if ":" in address else socket.AF_INET, (address, 0)) for address in answers]

    async def all_of_them() -> dict[str, Any]:
        fetcher = Fetcher(FetchOptions(AGENT, TIMEOUT_S, proxy=proxy, allow_private=allow_private), lookup)
        fetcher.names.trusted |= set(trusted)
        frontier = Crawl(ordering("bfs"), politeness=Politeness(**politeness)) if politeness is not None else None
        rules = Robots(AGENT, fetcher.robots_txt, frontier.control if frontier else None) if robots else None
        outcomes: dict[str, Any] = {}
        try:
            await asyncio.gather(*(_one(fetcher, rules, url, outcomes) for url in urls))
        finally:
            fetcher.close()
        outcomes["sitemaps"] = rules.sitemaps(urls[0]) if rules else []
        outcomes["delay_s"] = _delay_s(frontier, urls[0]) if frontier else 0.0
        return outcomes

    return asyncio.run(all_of_them()) | {"looked_up": looked_up}


async def _one(fetcher: Fetcher, rules: Robots | None, url: str, outcomes: dict[str, Any]) -> None:
    try:
        fetcher.names.usable(url)
        if rules is not None:
            await rules.check(url)
    except NotFetched as error:
        outcomes[url] = error.reason
        return
    answer = await fetcher.fetch(url)
    outcomes[url] = str(answer.status) if answer.error is None else answer.error.reason
    if answer.location:
        await _one(fetcher, rules, urljoin(url, answer.location), outcomes)


def _delay_s(frontier: Crawl, url: str) -> float:
    """What the frontier waits between two pages of the URL's host."""
    frontier.seed([url, url + "?again"])
    taken = frontier.take(2, now=1e9)
    return 0.0 if len(taken) == 2 else (frontier.next_at() or 0.0) - 1e9
