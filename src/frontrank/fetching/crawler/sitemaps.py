"""Sitemaps (https://www.sitemaps.org/protocol.html): further seeds, from the Sitemap lines of robots.txt, else /sitemap.xml.

Read once, when a crawl begins, for the hosts of its seeds, a few hosts at a time. A host is left alone while its sitemaps are
read; pages of other hosts come and go meanwhile. Indexes and redirects within the scope are followed, gzip is undone. A file
lies on the disk while it is read, so that its size costs no memory. Everything is bounded: files per host, size of a file, time
to read one, URLs of one and in all. What is missing or not a sitemap is skipped.

What is in scope becomes seeds, after those that were given; 5,000 of them weigh as much as all seeds that were given. The pages
of a file are seeded by what it says of them, priority and then date, so that an ordering takes equals in this order. What it
says of changes is the first thing that a revisit policy hears of a page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from frontrank.fetching.crawler.sitemap_file import CPU_S, MAX_BYTES, TOOK_TOO_LONG, Hint, Listed, read_file
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.fetcher import REDIRECTS, redirect_target
from frontrank.fetching.limits import codings_of
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
MAX_HOPS = 5  # redirects of one file
UNSAID = Hint()
TOO_LARGE = "a sitemap is too large"


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
                await self._seed(listed)
                continue
            for url in listed.urls[:MAX_FILES]:
                if url not in known and self.arrivals.scope.why_not(url) in (None, "not included"):
                    known.add(url)
                    waiting.append(url)

    async def _read(self, origin: str, url: str) -> Listed:
        try:
            with NamedTemporaryFile(prefix="frontrank-sitemap-") as file:
                codings = await self._fetched(url, file)
                if codings is None:
                    return Listed(False, [])
                listed = await self.files.call(origin, read_file, file.name, codings, MAX_URLS - len(self.seen))
        except Closed:
            return Listed(False, [])
        except Exception as error:  # whatever it is: the crawl does without
            self.job.count(TOOK_TOO_LONG if isinstance(error, TooLong) else "a sitemap cannot be read")
            logger.info("sitemap %s: %r", url, error, extra={"job": self.job})
            return Listed(False, [])
        if listed.cut:
            self.job.count(listed.cut)
        return listed

    async def _seed(self, listed: Listed) -> None:
        crawl, now = self.job.crawl, self.job.crawl.inspect.clock()
        urls = sorted(listed.urls, key=lambda url: listed.hints.get(url, UNSAID).place(now)) if listed.hints else listed.urls
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
                with crawl.together():
                    crawl.seed(fresh)
                    self._hint(fresh, listed.hints)
                self.seeded += len(fresh)
                fresh = []
                self.job.wake()

    async def _named(self, origin: str) -> list[str]:
        """The sitemaps on the lines of the host's robots.txt."""
        return await self.requests.robots.learn(origin) if self.requests.robots is not None else []

    def _hint(self, urls: list[str], hints: Mapping[str, Hint]) -> None:
        """Keep what a sitemap says of pages for their first revisit."""
        revisiting = self.arrivals.revisiting
        if revisiting is not None:
            waits = {url: hints[url].wait_s(self.job.crawl.inspect.clock()) for url in urls if url in hints}
            revisiting.expect({self.job.crawl.lookup(url): wait for url, wait in waits.items() if wait > 0})

    async def _fetched(self, url: str, file: IO[bytes]) -> list[str] | None:
        """Download a sitemap into a file; returns its content codings, or None if there is none."""
        try:
            for _ in range(MAX_HOPS + 1):
                file.seek(0)
                file.truncate()
                if self.requests.robots is not None:
                    await self.requests.robots.check(url)
                response = await self.requests.file(url, MAX_BYTES, file.write)
                file.flush()
                if response.status == 200:
                    if file.tell() >= MAX_BYTES:
                        self.job.count(TOO_LARGE)
                    return codings_of(response.headers)
                location = (response.header(b"location") or b"").decode("utf-8", "replace")
                target = redirect_target(url, location) if response.status in REDIRECTS and location else ""
                if not target or self.arrivals.scope.why_not(target) not in (None, "not included"):
                    logger.info("sitemap %s: http %s %s", url, response.status, location[:200], extra={"job": self.job})
                    return None
                url = target
        except NotFetched as error:  # whatever it is: the crawl does without
            logger.info("sitemap %s: %s", url, error, extra={"job": self.job})
        return None
