"""frontrank fetch: takes pages from a service, fetches them with the guards of ``frontrank crawl``, reports what it found.

    got          best first, leased; no more than ``in_flight`` at a time, of one queue no more than ``per_host``
    arrived      its links that stay in scope are told to the service, then that it is done with
    failed       it comes back after 1, 2, 4, ... seconds if the reason may pass, at most ``retries`` times; the metadata
                 ``attempts`` and ``error`` say so. Then it is done with
    a host in    its queue is blocked for a while, and the page comes back with the attempts it had (``host_trouble``); a
    trouble      host that is given up is asked once an hour
    revisits     if they are asked for: each page comes back, with what is known of its last copy in its metadata
    politeness   a queue is asked again after its delay, which comes with its pages and begins when a request was sent; the
                 service is told when the last one was, and hands out the next page to whichever fetcher accordingly
    robots.txt   is this fetcher's to read; a Crawl-delay, and a host that asks to be left alone, are told to the service,
                 which keeps a delay that is longer
    the end      pages that are out are given back at once; after a kill they wait again when their leases end

Any number of fetchers may work on one crawl, anywhere: order and pace are the service's. The scope is that of the page on which
a link was found, since a service knows no seeds. A service that does not answer for a while is waited for. A call that breaks
off is made again, ``BREAKS`` times at most. One that is refused is not: a page whose links are refused has failed, and anything
else ends the fetcher.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from frontrank.errors import FrontrankError, InputError, ServiceAway, ServiceFailed
from frontrank.fetching.crawler.arrivals import MAX_HOPS, resolved
from frontrank.fetching.crawler.revisiting import FOR_GOOD
from frontrank.fetching.crawler.scope import Scope
from frontrank.fetching.failures import Cause
from frontrank.fetching.fetcher import REDIRECTS, Fetcher, FetchOptions, FetchResult
from frontrank.fetching.fetchers import FetcherDied, Fetchers
from frontrank.fetching.host_trouble import Failure, HostTrouble, failure_of
from frontrank.fetching.http.message import Response
from frontrank.fetching.pacing import MAX_WAIT_S, NotYet, Pacer
from frontrank.fetching.robots import Robots, refusal
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.html import MAX_URL_LENGTH
from frontrank.pages.urls import host_of
from frontrank.pages.warc_writer import Warc
from frontrank.service.asks import Page
from frontrank.service.async_client import AsyncClient
from frontrank.service.reports import ERROR, RETURNED, STATUS
from frontrank.service.revisits import Returning
from frontrank.system.workers import Closed

T = TypeVar("T")

HOSTS_KEPT = 10_000  # whose delays are known
LOOK_S = 0.25  # between two questions to a service that has nothing to give
LOST_S, LOST_MOST_S = 1.0, 30.0  # before a service that does not answer is asked again; doubles
BREAKS = 3  # of one call: a message that the service cannot digest would come again for ever
GIVEN_UP_S = 3600.0  # between two requests to a host that was given up
PATIENCE_S = 2.0  # with pages that are on their way when a signal comes
ATTEMPTS, HOPS = "attempts", "redirects"  # metadata of a page
MAX_ANCHOR = 1_000  # characters that are told: a page of one link may be all anchor
NOT_TAKEN = "refused by the service"


@dataclass(frozen=True)
class FetchPlan:
    """What a fetcher is asked to do."""

    options: FetchOptions
    address: str
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
    revisit: str = ""  # a policy of revisits, if pages are to come back
    budget: int = 0  # pages; 0: no limit
    idle_s: float = 0.0  # stop when there was nothing to fetch for so long; 0: never

    @property
    def lease_s(self) -> float:
        return 4 * self.options.timeout_s + 30.0


@dataclass
class FetchCounts:
    """What came of it."""

    ended: str = ""
    fetched: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    not_followed: Counter[str] = field(default_factory=Counter)
    new: int = 0  # URLs that the service had not known

    def json(self) -> dict[str, Any]:
        failed = sum(self.failures.values())
        counts = {"failures": dict(self.failures), "not_followed": dict(self.not_followed)}
        return {"ended": self.ended, "fetched": self.fetched, "failed": failed, "new": self.new, **counts}


class Paces:
    """What robots.txt says of hosts, passed on to the service."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.politeness = Politeness(retries=work.plan.retries, host_patience_s=work.plan.give_up_after)

    def limit_host(self, host: str, *, delay_s: float, at_least: bool) -> None:
        queue, before = self.work.pace_of(host)
        self.work.paces[host] = queue, max(delay_s, before)
        self.work.later(lambda: self.work.client.delay(math.ceil(delay_s), queue=host, at_least=at_least))


class Work:
    """One fetcher at work."""

    def __init__(self, plan: FetchPlan) -> None:
        self.plan, self.told = plan, FetchCounts()
        self.client = AsyncClient(plan.address, plan.crawl, token=plan.token, tls_ca=plan.tls_ca, insecure=plan.insecure)
        self.paces: OrderedDict[str, tuple[str, float]] = OrderedDict()  # queue and delay of hosts, those last seen at the end
        self.paced = False  # the service has named a delay
        self.pacer = Pacer(self.pace_of)
        self.own = Fetcher(plan.options)
        self.fetching = Fetchers(plan.options, plan.fetchers) if plan.fetchers > 1 else self.own
        self.limits = Paces(self)
        self.trouble = HostTrouble(lambda: self.limits.politeness)
        self.robots = Robots(plan.options.agent, self._robots_txt, self.limits) if plan.robots else None
        self.warc = Warc(plan.warc) if plan.warc else None
        self.returning = Returning(plan.revisit) if plan.revisit else None
        self.scope = lru_cache(4096)(lambda host: Scope((f"http://{host}/",), plan.scope, plan.include, plan.exclude))
        self.out: dict[asyncio.Task[None], Page] = {}
        self.wake = asyncio.Event()
        self.error: BaseException | None = None
        self._asides: set[asyncio.Future[Any]] = set()

    def end(self, reason: str) -> None:
        self.told.ended = self.told.ended or reason
        self.wake.set()

    async def run(self, seeds: list[str]) -> FetchCounts:
        try:
            await (self.client.put(seeds) if seeds else self.client.active())  # an address that is wrong is told now
            await self._take()
            if self.out:
                await asyncio.wait(self.out, timeout=PATIENCE_S if self.told.ended == "interrupted" else None)
        finally:
            await self._close()
        if self.error is not None:
            raise self.error
        return self.told

    async def _close(self) -> None:
        self.end("failed")  # unless it has ended for another reason: nobody is waited for any more
        left = dict(self.out)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, *self._asides, return_exceptions=True)
        with suppress(Exception):  # they wait again when their leases end
            await asyncio.gather(*(self._give_back(page) for page in left.values()))
        self.fetching.close()
        self.own.close()
        if self.warc is not None:
            self.warc.close()
        await self.client.close()

    # Pages from the service ---------------------------------------------------------------------------------------------------
    async def _take(self) -> None:
        busy = time.monotonic()
        while not self.told.ended:
            self.wake.clear()
            room = self.plan.in_flight - len(self.out)
            if self.plan.budget:
                room = min(room, self.plan.budget - self._done() - len(self.out))
            pages = await self._pages(room) if room > 0 else []
            for page in pages:
                self._pace(page)
                task = asyncio.ensure_future(self._one(page))
                self.out[task] = page
                task.add_done_callback(self._ended)
            if self.out or pages:
                busy = time.monotonic()
            if self.plan.budget and self._done() >= self.plan.budget:
                self.end("budget")
            elif self.plan.idle_s and time.monotonic() - busy >= self.plan.idle_s:
                self.end("idle")
            elif not pages:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self.wake.wait()

    def pace_of(self, host: str) -> tuple[str, float]:
        return self.paces.get(host, (host, 0.0))

    def _pace(self, page: Page) -> None:
        host = host_of(page.url)
        self.paced = self.paced or page.delay_s > 0
        self.paces[host] = page.queue, page.delay_s or self.pace_of(host)[1]  # other services than ours name none
        self.paces.move_to_end(host)
        if len(self.paces) > HOSTS_KEPT:
            self.paces.popitem(last=False)

    async def _pages(self, room: int) -> list[Page]:
        """One of a queue where there are delays: what another fetcher may ask for next is then what nobody has out."""
        of_one = 1 if self.paced or not self.paces else min(self.plan.per_host or room, room)
        return await self._patiently(lambda: self.client.get(room // of_one, of_one, self.plan.lease_s)) or []

    def _done(self) -> int:
        return self.told.fetched + sum(self.told.failures.values())

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.out.pop(task, None)
        self.wake.set()
        if not task.cancelled() and task.exception() is not None:
            self.error = self.error or task.exception()
            self.end("failed")

    def later(self, call: Callable[[], Awaitable[Any]]) -> None:
        """Have the service told beside all else."""
        aside = asyncio.ensure_future(self._patiently(call))
        self._asides.add(aside)
        aside.add_done_callback(self._told)

    def _told(self, aside: asyncio.Future[Any]) -> None:
        self._asides.discard(aside)
        if not aside.cancelled() and aside.exception() is not None:
            self.error = self.error or aside.exception()
            self.end("failed")

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Ask until the service answers, or the fetcher is to end."""
        wait, broken = LOST_S, 0
        while True:
            try:
                return await call()
            except (ServiceAway, ServiceFailed) as error:
                broken += isinstance(error, ServiceFailed)
                if broken > BREAKS:
                    raise
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        while not self.told.ended:
                            self.wake.clear()
                            await self.wake.wait()
                if self.told.ended:
                    return None
                wait = min(2 * wait, LOST_MOST_S)

    # One page -----------------------------------------------------------------------------------------------------------------
    async def _one(self, page: Page) -> None:
        if wait := self.trouble.stand_back_s(page.queue, page.url):
            await self._give_back(page, wait)
            return
        asked_at = self.trouble.clock()
        try:
            answer = await self._answer(page)
        except (FetcherDied, Closed, NotYet):
            await self._give_back(page)
            return
        if self.warc is not None and answer.records is not None:
            self.warc.append(*answer.records)
        failure = failure_of(answer)
        if failure is None or (answer.error is None and failure.cause is Cause.PAGE):
            self.trouble.answered(page.queue)
        if failure is None:
            await self._fetched(page, answer)
        elif failure.cause is Cause.PAGE:
            await self._failed(page, failure.reason, failure.retry)
        else:
            await self._in_trouble(page, failure, asked_at)

    async def _in_trouble(self, page: Page, failure: Failure, asked_at: float) -> None:
        """It may be the host: then its queue rests, and the page comes back with the attempts it has."""
        if sentence := self.trouble.dead_proxy(failure):
            await self._give_back(page)
            raise InputError(sentence)
        verdict = self.trouble.failed(page.queue, page.url, failure, asked_at, known=False)
        if rest := GIVEN_UP_S if verdict.given_up else verdict.rest_s:
            until = math.ceil(time.time() + rest)  # services count in whole seconds
            await self._patiently(lambda: self.client.block(page.queue, until))
        if verdict.delay_s:
            self.limits.limit_host(page.queue, delay_s=verdict.delay_s, at_least=True)
        if verdict.attempted:
            await self._failed(page, failure.reason, verdict.retry)
        else:
            said = {ATTEMPTS: [str(self._number(page, ATTEMPTS))], ERROR: [failure.reason]}
            await self._report(page, time.time() + verdict.wait_s, said)

    async def _robots_txt(self, url: str) -> Response:
        return await self.pacer.send(url, lambda sent: self.own.robots_txt(url, sent))

    async def _answer(self, page: Page) -> FetchResult:
        refused = await refusal(page.url, self.own.names, self.robots)
        if refused is not None:
            return FetchResult(refused)
        before = self.returning.before(page.metadata) if self.returning is not None else None
        info = self.warc.info() if self.warc is not None else b""
        max_wait_s = MAX_WAIT_S if page.delay_s else math.inf  # a service that names no delay would hand it out at once again
        return await self.pacer.send(page.url, lambda sent: self.fetching.fetch(page.url, info, before, sent), max_wait_s)

    async def _fetched(self, page: Page, answer: FetchResult) -> None:
        links, metadata = self._links(page, answer)
        if links:
            try:
                new = await self._patiently(lambda: self.client.put(links, parent=page.url, metadata=metadata))
            except FrontrankError:  # of these links: whoever may not call at all is told so by the next call
                await self._failed(page, NOT_TAKEN, False)
                return
            if new is None:  # the fetcher ends, and nobody was told of the links: the page is for another one
                await self._give_back(page)
                return
            self.told.new += sum(new)
        due: float = 0.0
        kept: dict[str, list[str]] = {}
        if self.returning is not None:
            due, kept = self.returning.fetched(page.metadata, answer, time.time())
        self.trouble.settled(page.queue, page.url)
        await self._report(page, due, {**kept, STATUS: ["304" if answer.unchanged else str(answer.status)]})
        self.told.fetched += 1

    def _links(self, page: Page, answer: FetchResult) -> tuple[list[tuple[str, str]], dict[str, list[str]] | None]:
        """The links of a page that are followed, and what goes with them."""
        scope = self.scope(host_of(page.url))
        links, metadata = answer.found.links if answer.found is not None and not answer.found.nofollow else [], None
        if answer.status in REDIRECTS and answer.location:
            hops = self._number(page, HOPS) + 1
            target = resolved(page.url, answer.location)
            links = [(target, "")] if target and len(target) <= MAX_URL_LENGTH and hops <= MAX_HOPS else []
            metadata = {HOPS: [str(hops)]}
        kept = []
        for link in links:
            reason = scope.why_not(link[0])
            if reason is None:
                kept.append((link[0], link[1][:MAX_ANCHOR].encode("utf-8", "replace").decode()))
            else:
                self.told.not_followed[reason] += 1
        return kept, metadata

    async def _failed(self, page: Page, reason: str, retry: bool) -> None:
        attempt = self._number(page, ATTEMPTS) + 1
        again = retry and attempt <= self.plan.retries
        said = {ATTEMPTS: [str(attempt)], ERROR: [reason]}
        due = time.time() + Politeness().pause(attempt) if again else 0.0
        before = self.returning.before(page.metadata) if self.returning is not None and not again else None
        if before is not None and reason not in FOR_GOOD:  # it had been there: it comes back all the same
            due, said[ATTEMPTS] = time.time() + before.wait_s, ["0"]
        await self._report(page, due, said)
        if not again:
            self.trouble.settled(page.queue, page.url)
            self.told.failures[reason] += 1

    async def _give_back(self, page: Page, wait_s: float = 0.0) -> None:
        """It waits again, where it stood, from now or from then on."""
        await self._report(page, time.time() + wait_s, {RETURNED: ["1"]})

    async def _report(self, page: Page, due: float, said: dict[str, list[str]]) -> None:
        """What became of a page: it is done with (0), or comes back at a time."""
        if self._asides:  # a delay or a block of this host may be on its way
            await asyncio.wait(set(self._asides))
        over = (ERROR, STATUS, RETURNED, *(() if RETURNED in said else (ATTEMPTS,)))  # told of the visit before
        old = {name: values for name, values in page.metadata.items() if name not in over}
        try:
            await self._known(page, due, {**old, **said})
        except InputError:  # together they are more than a service keeps of a page: then without what it had
            await self._known(page, due, said)

    async def _known(self, page: Page, due: float, metadata: dict[str, list[str]]) -> None:
        def ago() -> float:
            since = self.pacer.sent_ago(page.url)
            return max(since, 1e-9) if since < math.inf else 0.0

        await self._patiently(
            lambda: self.client.known(page.url, due, queue=page.queue, metadata=metadata, sent_ago=ago(), lease=page.lease)
        )

    def _number(self, page: Page, name: str) -> int:
        said = page.metadata.get(name, ["0"])[0]
        return int(said) if said.isascii() and said.isdecimal() and len(said) < 6 else 0


async def fetch(plan: FetchPlan, seeds: list[str], begun: Callable[[Work], None] = lambda work: None) -> FetchCounts:
    """Fetch until the plan says so, or ``work.end`` is called."""
    work = Work(plan)
    begun(work)
    return await work.run(seeds)
