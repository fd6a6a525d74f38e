"""frontrank fetch: takes pages from a service, fetches them with the guards of ``frontrank crawl``, reports what it found.

The loop is that of ``frontrank crawl``; its source is a crawl that a service keeps (``page_source``). Any number of fetchers
may work on one crawl, anywhere: order and pace are the service's. robots.txt is this fetcher's to read. A service that does not
answer for a while is waited for (``patience``). A page whose links are refused has failed; any other call that is refused ends
the fetcher.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from frontrank.fetching.end_reason import PATIENCE_S, EndReason
from frontrank.fetching.fetcher import FetchOptions
from frontrank.fetching.loop import FetchLoop
from frontrank.fetching.requests import Requests
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.warc_writer import Warc
from frontrank.service.async_client import AsyncClient
from frontrank.service.page_source import ServiceSource
from frontrank.service.routed_client import RoutedClient


@dataclass(frozen=True)
class FetchPlan:
    """What a fetcher is to do."""

    options: FetchOptions
    address: str  # or several, with commas between
    crawl: str = "DEFAULT"
    token: str = ""
    tls_ca: str = ""
    insecure: bool = False
    scope: str = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    in_flight: int = 16
    per_host: int = 1
    retries: int = 2
    give_up_after: float = Politeness.host_patience_s
    robots: bool = True
    fetchers: int = 1
    warc: str = ""  # a directory, if pages are to be kept
    revisit: str = ""  # a revisit policy, if pages are to be fetched again
    budget: int = 0  # pages; 0: no limit
    idle_s: float = 0.0  # stop when there was nothing to fetch for so long; 0: never

    @property
    def lease_s(self) -> float:
        return 4 * self.options.timeout_s + 30.0


@dataclass
class FetchCounts:
    """The result of a fetcher's run."""

    ended: str = ""
    fetched: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    not_followed: Counter[str] = field(default_factory=Counter)
    new: int = 0  # URLs that the service had not known

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    @property
    def settled(self) -> int:
        return self.fetched + self.failed

    def json(self) -> dict[str, Any]:
        reasons = {"failures": dict(self.failures), "not_followed": dict(self.not_followed)}
        return {"ended": self.ended, "fetched": self.fetched, "failed": self.failed, "new": self.new, **reasons}


def client_of(plan: FetchPlan) -> AsyncClient | RoutedClient:
    """What calls the service, or the services."""
    clients = [
        AsyncClient(address.strip(), plan.crawl, token=plan.token, tls_ca=plan.tls_ca, insecure=plan.insecure)
        for address in plan.address.split(",")
    ]
    return RoutedClient(clients) if len(clients) > 1 else clients[0]


class FetchRun:
    """One fetcher at work."""

    def __init__(self, plan: FetchPlan) -> None:
        self.counts = FetchCounts()
        self.client = client_of(plan)
        self.warc = Warc(plan.warc) if plan.warc else None
        self.source = ServiceSource(plan, self.client, self.counts, self.warc)
        limits = self.source.paces if plan.robots else None
        self.requests = Requests(plan.options, self.source.pacer, limits, fetchers=plan.fetchers, warc=self.warc)
        self.loop = FetchLoop(self.source, self.requests)

    def end(self, reason: EndReason) -> None:
        """Take no more pages; after a signal, those in flight have a little time to arrive."""
        self.source.end(reason)
        self.loop.wake()
        if reason == EndReason.INTERRUPTED:
            asyncio.get_running_loop().call_later(PATIENCE_S, self.loop.abandon)

    async def run(self, seeds: list[str]) -> FetchCounts:
        try:
            await (self.client.put(seeds) if seeds else self.client.active())  # an address that is wrong is an error now
            await self.loop.run()
        finally:
            await self.source.close()
            self.requests.close()
            if self.warc is not None:
                self.warc.close()
            await self.client.close()
        if self.source.error is not None:
            raise self.source.error
        return self.counts


async def fetch(plan: FetchPlan, seeds: list[str], on_start: Callable[[FetchRun], None] = lambda run: None) -> FetchCounts:
    """Fetch until the plan says so, or ``FetchRun.end`` is called."""
    run = FetchRun(plan)
    on_start(run)
    return await run.run(seeds)
