"""A crawl that a service keeps as the source of a fetch loop.

got          best first, leased; no more than ``in_flight`` at a time, and ``per_host`` of one queue
fetched      its links that are in scope are put into the service, then the page is reported
failed       it waits for 1, 2, 4, ... seconds if the reason may pass, at most ``retries`` times; the metadata ``attempts``
             and ``error`` say so. Then it is done with
a host in    its queue is blocked for a while, and the page waits with the attempts it had (``host_trouble``); a host that
trouble      is given up is requested once per hour
politeness   each report says how long ago the last request to its queue was sent, so that the service hands out the next
             page of it, to whichever fetcher, when its delay is over
the end      pages in flight are given back at once; after a kill they wait again when their leases end
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from frontrank.errors import FrontrankError, InputError
from frontrank.fetching.crawler.revisiting import FOR_GOOD
from frontrank.fetching.end_reason import EndReason
from frontrank.fetching.host_trouble import HostTrouble
from frontrank.fetching.loop import FetchTask
from frontrank.fetching.pacing import MAX_WAIT_S, Pacer
from frontrank.frontiers.politeness import Politeness
from frontrank.service.client_calls import Page
from frontrank.service.followed import Followed, number_in
from frontrank.service.paces import QueuePaces
from frontrank.service.patience import PatientCalls
from frontrank.service.reports import ERROR, RETURNED, STATUS
from frontrank.service.revisits import Returning

if TYPE_CHECKING:
    from frontrank.fetching.fetcher import FetchResult
    from frontrank.fetching.host_trouble import Verdict
    from frontrank.pages.warc_writer import Warc
    from frontrank.service.async_client import AsyncClient
    from frontrank.service.fetching import FetchCounts, FetchPlan
    from frontrank.service.routed_client import RoutedClient

LOOK_S = 0.25  # between two questions to a service that has nothing to give
GIVEN_UP_S = 3600.0  # between two requests to a host that was given up
ATTEMPTS = "attempts"  # metadata of a page
NOT_TAKEN = "refused by the service"
OF_THE_LAST_VISIT = (ERROR, STATUS, RETURNED)

Task = FetchTask[Page]


class ServiceSource:
    """Pages as the service handed them out are the handles of its tasks."""

    advice = ""

    def __init__(self, plan: FetchPlan, client: AsyncClient | RoutedClient, counts: FetchCounts, warc: Warc | None) -> None:
        self.plan, self.client, self.counts, self.warc = plan, client, counts, warc
        self.calls = PatientCalls(self.fail)
        self.paces = QueuePaces(
            Politeness(retries=plan.retries, host_patience_s=plan.give_up_after),
            lambda queue, delay_s, at_least: self.calls.make_aside(
                lambda: self.client.delay(delay_s, queue=queue, at_least=at_least)
            ),
        )
        self.pacer = Pacer(self.paces.pace_of)
        self.trouble = HostTrouble(lambda: self.paces.politeness)
        self.returning = Returning(plan.revisit) if plan.revisit else None
        self.followed = Followed(plan, counts)
        self.error: BaseException | None = None
        self._out: dict[Task, None] = {}  # not reported yet; an ordered set
        self._busy_at = time.monotonic()

    # Pages out ----------------------------------------------------------------------------------------------------------------
    async def take(self) -> tuple[list[Task], float]:
        if self.counts.ended:
            return [], math.inf
        plan = self.plan
        room = plan.in_flight - len(self._out)
        if plan.budget:
            room = min(room, plan.budget - self.counts.settled - len(self._out))
        tasks = [self._task(page) for page in (await self._get(room) if room > 0 else [])]
        self._out.update(dict.fromkeys(tasks))
        if self._out:
            self._busy_at = time.monotonic()
        if plan.budget and self.counts.settled >= plan.budget:
            self.end(EndReason.BUDGET)
        elif plan.idle_s and time.monotonic() - self._busy_at >= plan.idle_s:
            self.end(EndReason.IDLE)
        return tasks, LOOK_S

    async def _get(self, room: int) -> list[Page]:
        """One page of each queue where there are delays: what another fetcher may request next is then what is not leased."""
        per_queue = 1 if self.paces.may_have_delays else min(self.plan.per_host or room, room)
        return await self.calls.make(lambda: self.client.get(room // per_queue, per_queue, self.plan.lease_s)) or []

    def _task(self, page: Page) -> Task:
        self.paces.see(page)
        before = self.returning.before(page.metadata) if self.returning is not None else None
        max_wait_s = MAX_WAIT_S if page.delay_s else math.inf  # a service that names no delay would hand it out again at once
        return FetchTask(page, page.url, page.queue, before, max_wait_s)

    def has_work(self) -> bool:
        return not self.counts.ended

    async def admit(self, task: Task) -> bool:
        wait_s = self.trouble.stand_back_s(task.queue, task.url)
        if wait_s:
            await self._return(task, wait_s)
        return not wait_s

    # Pages back ---------------------------------------------------------------------------------------------------------------
    async def settle(self, task: Task, result: FetchResult, verdict: Verdict) -> None:
        if self.warc is not None and result.records is not None:
            self.warc.append(*result.records)
        if not verdict.reason:
            await self._fetched(task, result)
            return
        await self._treat_queue(task.queue, verdict)
        if verdict.attempted:
            await self._fail(task, verdict.reason, verdict.retry)
        else:
            attempts = number_in(task.handle.metadata, ATTEMPTS)
            await self._report(task, time.time() + verdict.wait_s, {ATTEMPTS: [str(attempts)], ERROR: [verdict.reason]})

    async def _fetched(self, task: Task, result: FetchResult) -> None:
        links, metadata = self.followed.links(task, result)
        if links:
            try:
                new = await self.calls.make(lambda: self.client.put(links, parent=task.url, metadata=metadata))
            except FrontrankError:  # of these links: the next call says if the fetcher may make no calls at all
                await self._fail(task, NOT_TAKEN, False)
                return
            if new is None:  # the fetcher ends, and the service does not know the links: the page is for another one
                await self.give_back(task)
                return
            self.counts.new += sum(new)
        due = 0.0
        kept: dict[str, list[str]] = {}
        if self.returning is not None:
            due, kept = self.returning.fetched(task.before, result, time.time())
        self.trouble.settled(task.queue, task.url)
        await self._report(task, due, {**kept, STATUS: ["304" if result.unchanged else str(result.status)]})
        self.counts.fetched += 1

    async def _treat_queue(self, queue: str, verdict: Verdict) -> None:
        """Its host rests, or gets a longer delay."""
        if rest_s := GIVEN_UP_S if verdict.given_up else verdict.rest_s:
            until = math.ceil(time.time() + rest_s)  # services count in whole seconds
            await self.calls.make(lambda: self.client.block(queue, until))
        if verdict.delay_s:
            self.paces.limit_host(queue, delay_s=verdict.delay_s, at_least=True)

    async def _fail(self, task: Task, reason: str, retry: bool) -> None:
        """One of the page's attempts has failed."""
        attempt = number_in(task.handle.metadata, ATTEMPTS) + 1
        again = retry and attempt <= self.plan.retries
        due = time.time() + Politeness().pause(attempt) if again else 0.0
        if not again and task.before is not None and reason not in FOR_GOOD:  # it arrived before: it is fetched again
            due, attempt = time.time() + task.before.wait_s, 0
        await self._report(task, due, {ATTEMPTS: [str(attempt)], ERROR: [reason]})
        if not again:
            self.trouble.settled(task.queue, task.url)
            self.counts.failures[reason] += 1

    async def give_back(self, task: Task, rest_s: float = 0.0) -> None:
        """The service knows how long the queue rests: the report says when the last request was sent."""
        await self._return(task)

    async def _return(self, task: Task, wait_s: float = 0.0) -> None:
        await self._report(task, time.time() + wait_s, {RETURNED: ["1"]})

    async def _report(self, task: Task, due: float, news: Mapping[str, list[str]]) -> None:
        """The page is done with (``due`` is 0), or is to be fetched again at that time."""
        await self.calls.wait_for_asides()  # a delay of this queue may be under way
        dropped = OF_THE_LAST_VISIT if RETURNED in news else (*OF_THE_LAST_VISIT, ATTEMPTS)
        old = {name: values for name, values in task.handle.metadata.items() if name not in dropped}
        try:
            await self._known(task, due, {**old, **news})
        except InputError:  # together they are more than a service keeps of a page
            await self._known(task, due, news)
        self._out.pop(task, None)

    async def _known(self, task: Task, due: float, metadata: Mapping[str, list[str]]) -> None:
        page = task.handle

        def sent_ago() -> float:
            seconds = self.pacer.sent_ago(page.url)
            return max(seconds, 1e-9) if seconds < math.inf else 0.0

        await self.calls.make(
            lambda: self.client.known(page.url, due, queue=page.queue, metadata=metadata, sent_ago=sent_ago(), lease=page.lease)
        )

    # The end ------------------------------------------------------------------------------------------------------------------
    def end(self, reason: EndReason) -> None:
        """Take no more pages; those in flight are still reported."""
        self.counts.ended = self.counts.ended or reason
        self.calls.end()

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error
        self.end(EndReason.FAILED)

    async def close(self) -> None:
        """Give back what was not reported; if the service is away, that waits for the end of its leases."""
        self.end(EndReason.FAILED)  # unless it has ended for another reason: no call is made twice any more
        await self.calls.wait_for_asides()
        with suppress(Exception):
            await asyncio.gather(*(self._return(task) for task in list(self._out)))
