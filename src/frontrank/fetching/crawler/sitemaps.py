"""Sitemaps (https://www.sitemaps.org/protocol.html): further seeds, from the Sitemap lines of robots.txt, else /sitemap.xml.

Read once, when a crawl begins, for the hosts of its seeds, a few hosts at a time. A host is left alone while its sitemaps are
read; pages of other hosts come and go meanwhile. Indexes are followed, gzip is undone. Everything is bounded: files per host,
size of a file, time to read one, URLs in all. What is in scope becomes seeds, after those that were given; 5,000 of them weigh
as much as all seeds that were given. What is missing or not a sitemap is skipped.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from frontrank.fetching.crawler.sitemap_file import CPU_S, MAX_BYTES, Listed, read_sitemap
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.parsing import Parsing
from frontrank.frontiers.frontier import ABSENT
from frontrank.pages.urls import host_of
from frontrank.system.workers import Closed, TooLong

if TYPE_CHECKING:
    from frontrank.fetching.crawler.arrivals import Arrivals
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.requests import Requests

logger = logging.getLogger("frontrank.fetching.crawler")

MAX_FILES, MAX_URLS = 50, 1_000_000  # files of one host; URLs in all
HOSTS_AT_ONCE = 8
LEFT_ALONE_S, RENEWED_S = 3.0, 0.5  # a host whose sitemaps are read is blocked for so long, again and again
SLICE = 500  # URLs that are looked at before other work has its turn
SEEDED_AT_ONCE = 5_000  # takes the crawl about 50 ms
TOOK_TOO_LONG = "reading a sitemap took too long"


async def seed_from_sitemaps(job: Job, requests: Requests, arrivals: Arrivals) -> None:
    """Read the sitemaps of all seeds' hosts, and seed the frontier with what they list."""
    reading = Reading(job, requests, arrivals)
    try:
        with job.failing():
            await reading.all_hosts()
    finally:
        reading.files.close()
        job.reading = job.on_hold = False
        job.wake()


class Reading:
    """The sitemaps of one crawl, while they are read."""

    def __init__(self, job: Job, requests: Requests, arrivals: Arrivals) -> None:
        self.job, self.requests, self.arrivals = job, requests, arrivals
        self.files = Parsing(workers=1, cpu_s=CPU_S)  # its own: pages do not wait for sitemaps
        self.job.closers.append(self.files.close)
        self.seen: set[str] = set()  # pages that were listed
        self.seeded = 0

    async def all_hosts(self) -> None:
        origins = list(dict.fromkeys("{0.scheme}://{0.netloc}".format(urlsplit(seed)) for seed in self.job.options.seeds))
        room = asyncio.Semaphore(HOSTS_AT_ONCE)
        for origin in origins[:HOSTS_AT_ONCE]:
            self._leave_alone(origin)
        self.job.on_hold = False
        self.job.wake()
        async with asyncio.TaskGroup() as hosts:
            for origin in origins:
                hosts.create_task(self._one_host(origin, room))
        if not self.job.ended:
            self.job.crawl.note("sitemaps", {"urls": self.seeded})
            logger.info("%d URLs from sitemaps", self.seeded, extra={"job": self.job})

    async def _one_host(self, origin: str, room: asyncio.Semaphore) -> None:
        async with room:
            if self.job.ended:
                return
            guard = asyncio.ensure_future(self._keep_alone(origin))
            try:
                with self.job.failing():
                    await self._files_of(origin)
            finally:
                guard.cancel()

    def _leave_alone(self, origin: str) -> None:
        self.job.crawl.control.block(host_of(origin), max(LEFT_ALONE_S, self.job.options.delay))

    async def _keep_alone(self, origin: str) -> None:
        with self.job.failing():
            while not self.job.ended:
                self._leave_alone(origin)
                await asyncio.sleep(RENEWED_S)

    async def _files_of(self, origin: str) -> None:
        waiting = await self._named(origin) or [f"{origin}/sitemap.xml"]
        known = set(waiting)
        for _ in range(MAX_FILES):
            if not waiting or self.job.ended:
                return
            listed = await self._read(origin, waiting.pop(0))
            if not listed.is_index:
                await self._seed(listed.urls)
                continue
            for url in listed.urls[:MAX_FILES]:
                if url not in known and self.arrivals.scope.why_not(url) in (None, "not included"):
                    known.add(url)
                    waiting.append(url)

    async def _read(self, origin: str, url: str) -> Listed:
        body = await self._fetched(url)
        try:
            listed = await self.files.call(origin, read_sitemap, body, MAX_URLS - len(self.seen))
        except Closed:
            return Listed(False, [])
        except Exception as error:  # whatever it is: the crawl does without
            self.job.count(TOOK_TOO_LONG if isinstance(error, TooLong) else "a sitemap cannot be read")
            logger.info("sitemap %s: %r", url, error, extra={"job": self.job})
            return Listed(False, [])
        if listed.cut:
            self.job.count(TOOK_TOO_LONG)
        return listed

    async def _seed(self, urls: list[str]) -> None:
        crawl = self.job.crawl
        fresh: list[str] = []
        for start in range(0, len(urls), SLICE):
            await asyncio.sleep(0)
            for url in urls[start : start + SLICE]:
                if url in self.seen or len(self.seen) >= MAX_URLS:
                    continue
                self.seen.add(url)
                reason = self.arrivals.scope.why_not(url)
                if reason is not None:
                    self.job.count(reason)
                elif (page := crawl.lookup(url)) < 0 or crawl.inspect.mark(page) == ABSENT:
                    fresh.append(url)
            if self.job.ended:
                return
            if fresh and (len(fresh) >= SEEDED_AT_ONCE or start + SLICE >= len(urls)):
                crawl.seed(fresh)
                self.seeded += len(fresh)
                fresh = []
                self.job.wake()

    async def _named(self, origin: str) -> list[str]:
        """The sitemaps on the lines of the host's robots.txt."""
        return await self.requests.robots.learn(origin) if self.requests.robots is not None else []

    async def _fetched(self, url: str) -> bytes:
        try:
            if self.requests.robots is not None:
                await self.requests.robots.check(url)
            response = await self.requests.file(url, MAX_BYTES)
        except NotFetched as error:  # whatever it is: the crawl does without
            logger.info("sitemap %s: %s", url, error, extra={"job": self.job})
            return b""
        if response.status != 200:
            logger.info("sitemap %s: http %s", url, response.status, extra={"job": self.job})
            return b""
        return response.body
