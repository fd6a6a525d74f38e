"""A crawl in this process as the source of a fetch loop.

The frontier hands out a page when its host may be requested. Scorers judge a page before it is settled; those that may take
long do so in processes of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from frontrank.crawl.priorities import waiting_priority
from frontrank.fetching.crawler.arrivals import Arrivals, Scores, Task
from frontrank.fetching.crawler.scope import scope_of
from frontrank.fetching.crawler.sitemaps import seed_from_sitemaps
from frontrank.fetching.failures import NotFetched
from frontrank.fetching.fetcher import FetchOptions
from frontrank.fetching.loop import FetchLoop, FetchTask
from frontrank.fetching.pacing import MAX_WAIT_S, Pacer
from frontrank.fetching.parsing import Judging
from frontrank.fetching.requests import Requests
from frontrank.frontiers.frontier import LEASED
from frontrank.pages.groups import IP
from frontrank.pages.urls import host_of
from frontrank.system.workers import Closed

if TYPE_CHECKING:
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.fetcher import FetchResult
    from frontrank.fetching.host_trouble import Verdict

MAX_IDLE_S = 1.0  # between two looks at the frontier


class CrawlSource:
    """Page numbers are the handles of its tasks."""

    def __init__(self, job: Job, requests: Requests, arrivals: Arrivals) -> None:
        self.job, self.crawl, self.requests, self.arrivals = job, job.crawl, requests, arrivals
        self.trouble = job.trouble
        self.advice = f", and continue with --resume {job.crawl.inspect.folder}"
        self.judging = Judging()
        # scorers first: the threads of `judging` wait for them
        job.closers += [job.crawl.scorers.close, requests.close, self.judging.close]
        self._by_address = job.options.politeness_by == IP

    # Pages out ----------------------------------------------------------------------------------------------------------------
    async def take(self) -> tuple[list[Task], float]:
        if not self.job.may_take():
            return [], MAX_IDLE_S
        wait_s = max(self.job.wait_s(), self.requests.pacer.rest_s(self.crawl.state.politeness.delay_s))
        if wait_s <= 0:
            if tasks := [self._task(page) for page in self.job.take()]:
                return tasks, 0.0
            at = self.job.next_at()
            wait_s = inf if at is None else max(at - self.crawl.inspect.clock(), 0.001)
        return [], min(wait_s, MAX_IDLE_S)

    def _task(self, page: int) -> Task:
        url = self.crawl.url(page)
        if self.job.export is not None:
            self.job.export.taken(page, waiting_priority(self.crawl.state, page))
        revisiting = self.arrivals.revisiting
        before = revisiting.before(page) if revisiting is not None else None
        max_wait_s = inf if self.job.options.one_by_one else MAX_WAIT_S
        return FetchTask(page, url, self.crawl.inspect.group_of(host_of(url)), before, max_wait_s)

    def has_work(self) -> bool:
        return self.job.has_work()

    async def admit(self, task: Task) -> bool:
        if wait := self._stand_back_s(task):
            with self.crawl.together():
                self.crawl.give_back([task.handle])
                self.crawl.queues.schedule(task.handle, self.crawl.inspect.clock() + wait)
            return False
        if self._by_address and not await self._join_address(host_of(task.url)):
            await self.give_back(task)
            return False
        return True

    def _stand_back_s(self, task: Task) -> float:
        """How long a page waits while others of its host go first, as the host may be in trouble."""
        if not self.trouble.has_failed(task.queue, task.url):
            return 0.0
        hosts = self.crawl.state.frontier.hosts(self.crawl.inspect.host_number(task.queue))
        return self.trouble.stand_back_s(task.queue, task.url) if hosts["waiting"][0] else 0.0

    async def _join_address(self, host: str) -> bool:
        """Whether a host may be requested now, once it is known which others have its address."""
        if host in self.crawl.state.hosts.joined or self.requests.own.names.proxies:
            return True
        try:
            addresses = sorted(str(address[0]) for _, address in await self.requests.own.names.addresses(host))
        except NotFetched:
            return True  # the request says why
        return not addresses or self.crawl.control.join(host, addresses[0])

    # Pages back ---------------------------------------------------------------------------------------------------------------
    def _is_leased(self, task: Task) -> bool:
        """Whether a page is still to be settled here: a machine that was asleep may outlive its leases."""
        return self.job.error is None and self.crawl.inspect.mark(task.handle) == LEASED

    async def settle(self, task: Task, result: FetchResult, verdict: Verdict) -> None:
        try:
            scores = await self._scores(task.url, result)
        except Closed:
            return  # the crawl ends at once; the page is fetched when it is resumed
        if self._is_leased(task):
            self.arrivals.settle(task, result, verdict, scores)

    async def _scores(self, url: str, result: FetchResult) -> Scores:
        found = result.found
        if found is None or not result.may_keep:
            return {}
        scores = self.crawl.scorers.judge_at_once(url, found.title, found.text)
        if scores is None:
            scores = await self.judging.wait_for(host_of(url), self.crawl.scores, url, found.title, found.text)
        return scores

    async def give_back(self, task: Task, rest_s: float = 0.0) -> None:
        if self._is_leased(task):
            with self.crawl.together():
                self.crawl.give_back([task.handle])
                if rest_s > 0:
                    self.crawl.control.rest(host_of(task.url), rest_s)

    # The end ------------------------------------------------------------------------------------------------------------------
    @property
    def error(self) -> BaseException | None:
        return self.job.error

    def fail(self, error: BaseException) -> None:
        self.job.fail(error)


async def fetch_pages(job: Job, impact: Callable[[str], float] | None = None) -> None:
    """Run the fetch loop of a job, and read its sitemaps, until the crawl has ended or is abandoned."""
    crawl, options = job.crawl, job.options
    requests = Requests(
        FetchOptions.of(options, crawl.inspect.reads_texts),
        Pacer(crawl.inspect.pace_of, resumed=crawl.inspect.resumed),
        crawl.control if options.robots else None,
        fetchers=options.fetchers,
        warc=job.warc,
    )
    arrivals = Arrivals(job, scope_of(options, crawl.notes.get("moved", ())), impact)
    loop = FetchLoop(CrawlSource(job, requests, arrivals), requests)
    job.wake, job.abandon = loop.wake, loop.abandon
    job.begin()
    reading = asyncio.ensure_future(seed_from_sitemaps(job, requests, arrivals)) if job.reading else None
    try:
        await loop.run()
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        job.closed = True
        for close in job.closers:
            close()
