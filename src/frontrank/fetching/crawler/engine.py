"""A crawl at work: pages are taken as they may go, fetched side by side, and settled as they arrive.

robots.txt      is asked for before the first page of an origin
politeness      the frontier hands out a page when its host may be asked; each request, of whatever kind, waits for its turn
                in ``Pacer``. A page whose turn is not soon goes back to the frontier, which hands out others meanwhile
the ordering's scorers judge a page before it is settled; those that may take long do so in processes of their own
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Protocol

from frontrank.fetching.copies import Copy
from frontrank.fetching.crawler.arrivals import Arrivals, Scores
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.fetcher import Answer, Fetcher, How
from frontrank.fetching.fetchers import FetcherDied, Fetchers
from frontrank.fetching.http.message import Response
from frontrank.fetching.pacing import MAX_WAIT_S, NotYet, Pacer
from frontrank.fetching.parsing import Judging
from frontrank.fetching.robots import Robots, refusal
from frontrank.pages.groups import IP
from frontrank.pages.urls import host_of
from frontrank.system.workers import Closed

if TYPE_CHECKING:
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.crawler.scope import Scope

logger = logging.getLogger("frontrank.fetching.crawler")

MAX_DEATHS = 3  # of fetchers: then it may be the page that kills them
IDLE_S = 1.0  # the longest wait between two looks at the frontier


class Fetching(Protocol):
    """Who fetches pages: a Fetcher in this process, or several in processes of their own."""

    async def fetch(
        self, url: str, info: bytes = b"", before: Copy | None = None, sent: Callable[[], None] | None = None
    ) -> Answer: ...

    def close(self) -> None: ...


class Engine:
    def __init__(self, job: Job, scope: Scope, impact: Callable[[str], float] | None = None) -> None:
        self.job, self.crawl = job, job.crawl
        self.arrivals = Arrivals(job, scope, impact)
        self.own = Fetcher(How.of(job.options, job.crawl.inspect.reads_texts))
        count = job.options.fetchers
        self.fetching: Fetching = Fetchers(self.own.how, count) if count > 1 else self.own
        self.deaths: Counter[int] = Counter()  # of fetchers that had a page
        self.pacer = Pacer(job.crawl.inspect.pace_of, resumed=job.crawl.inspect.resumed)
        self.max_wait_s = inf if job.options.one_by_one else MAX_WAIT_S
        self.robots = Robots(job.options.agent, self._robots_txt, job.crawl.control) if job.options.robots else None
        self.by_address = job.options.politeness_by == IP
        self.judging = Judging()
        # scorers first: threads wait for them
        job.closers += [job.crawl.scorers.close, self.own.close, self.fetching.close, self.judging.close]
        self.out: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Until nothing is out and nothing may go."""
        job = self.job
        job.nudge = self._wake.set
        reading = asyncio.ensure_future(self._sitemaps())
        try:
            while True:
                self._wake.clear()
                wait = inf
                with self.arrivals.or_end():
                    wait = self._take()
                if job.error is not None or not (self.out or self._goes_on()):
                    break
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(wait, IDLE_S)):
                        await self._wake.wait()
        finally:
            job.nudge = lambda: None
            for task in (reading, *self.out):
                task.cancel()
            await asyncio.gather(reading, *self.out, return_exceptions=True)

    async def _sitemaps(self) -> None:
        if self.job.reading:
            from frontrank.fetching.crawler.sitemaps import seed_from_sitemaps

            await seed_from_sitemaps(self)

    def _goes_on(self) -> bool:
        verdict = [False]
        with self.arrivals.or_end():
            verdict.append(self.job.goes_on())
        return verdict[-1]

    def _take(self) -> float:
        """Take all pages that may go now; returns in how many seconds more may."""
        job = self.job
        while job.may_take():
            wait = max(job.wait_s(), self.pacer.rest_s(self.crawl.state.politeness.delay_s))
            if wait > 0:
                return wait
            pages = job.take()
            if not pages:
                at = job.next_at()
                return inf if at is None else max(at - self.crawl.inspect.clock(), 0.001)
            job.took()
            for page in pages:
                task = asyncio.ensure_future(self._one(page))
                self.out.add(task)
                task.add_done_callback(self._ended)
        return inf

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.out.discard(task)
        self._wake.set()
        if not task.cancelled() and task.exception() is not None:
            error = task.exception()
            logger.error("a page cannot be handled", exc_info=error, extra={"job": self.job})
            self.job.fail(error if isinstance(error, Exception) else RuntimeError(repr(error)))

    # One page ----------------------------------------------------------------------------------------------------------------
    async def _one(self, page: int) -> None:
        url = self.crawl.url(page)
        if self.by_address and not await self._may_ask(host_of(url)):
            with self.arrivals.or_end():
                self.crawl.give_back([page])
            return
        asked_at = self.job.trouble.clock()
        try:
            answer = await self._answer(page, url)
            scores = await self._scores(url, answer)
        except Closed:
            return  # the crawl ends at once: the page is asked for when it goes on
        except NotYet as error:
            with self.arrivals.or_end(), self.crawl.together():
                self.crawl.give_back([page])
                self.crawl.control.rest(host_of(url), error.seconds)
            return
        except FetcherDied:
            self.deaths[page] += 1
            if self.deaths[page] < MAX_DEATHS:
                with self.arrivals.or_end():
                    self.crawl.give_back([page])
                return
            answer, scores = Answer(NotFetched("fetcher died", True)), {}
        self.deaths.pop(page, None)
        self.arrivals.settle(page, url, answer, scores, asked_at)

    async def _may_ask(self, host: str) -> bool:
        """Whether a host may be asked now, once it is known which others have its address."""
        if host in self.crawl.state.hosts.joined or self.own.names.proxies:
            return True
        try:
            addresses = sorted(str(address[0]) for _, address in await self.own.names.addresses(host))
        except NotFetched:
            return True  # whoever fetches says why
        verdict = [True]
        if addresses:
            with self.arrivals.or_end():
                verdict.append(self.crawl.control.join(host, addresses[0]))
        return verdict[-1]

    async def _answer(self, page: int, url: str) -> Answer:
        if self.crawl.inspect.resumed:
            self.pacer.check(url, self.max_wait_s)  # its robots.txt is to be read anew, and would wait here
        refused = await refusal(url, self.own.names, self.robots)
        if refused is not None:
            return Answer(refused)
        info = self.job.warc.info() if self.job.warc is not None else b""
        before = self.arrivals.revisiting.before(page) if self.arrivals.revisiting is not None else None
        return await self.pacer.send(url, lambda sent: self.fetching.fetch(url, info, before, sent), self.max_wait_s)

    async def _robots_txt(self, url: str) -> Response:
        return await self.pacer.send(url, lambda sent: self.own.robots_txt(url, sent))

    async def file(self, url: str, max_bytes: int) -> Response:
        """A file of at most so many bytes that is not a page of the crawl, in the turn of its host."""
        return await self.pacer.send(url, lambda sent: self.own.file(url, max_bytes, sent))

    async def _scores(self, url: str, answer: Answer) -> Scores:
        found = answer.found
        if found is None:
            return {}
        scores = self.crawl.scorers.judge_at_once(url, found.title, found.text)
        if scores is None:
            scores = await self.judging.wait_for(host_of(url), self.crawl.scores, url, found.title, found.text)
        return scores
