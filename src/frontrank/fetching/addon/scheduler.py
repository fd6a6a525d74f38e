"""The scheduler of a Scrapy crawl, with a Crawl behind it.

    enqueue_request    a request becomes a page, known by Scrapy's own fingerprint; it waits once its source is settled
    next_request       settles what the engine is done with, then takes the best page that may be asked for now

From next_request on, a page is leased. It is settled by the first of: its callback has ended and all that it yielded has
come in; its download failed; a redirect or a retry of it came in; the engine no longer has its request (whatever became of
it). So nothing stays leased, whoever drops a request on the way.

A callback that continues (it awaits something) keeps its lease. If nothing else may be taken, and time alone will not change
that, its page is settled PATIENCE_S after it arrived, with the links so far; later ones are seeds.

A crawl that cannot be opened, or can no longer be stored, logs one sentence and ends with the reason "frontrank_error".
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from frontrank.errors import FrontrankError, InputError
from frontrank.fetching.addon.duplicates import Duplicates
from frontrank.fetching.addon.leases import PATIENCE_S, GatheredSeeds, Lease
from frontrank.fetching.addon.middlewares import Downloads, Failures, Links
from frontrank.fetching.addon.pace import HostPace
from frontrank.fetching.addon.parsing import PageReader
from frontrank.fetching.addon.requests import Missing, Requests
from frontrank.fetching.addon.scrapy_engine import PAGE, CrawlScheduler
from frontrank.fetching.addon.settings import UNASKED, budget_of, directory_of, open_crawl, priority_of, trust_of
from frontrank.frontiers.frontier import ABSENT

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)


class Scheduler(CrawlScheduler):
    """Scrapy's scheduler interface on top of a Crawl."""

    requests: Requests
    pace: HostPace

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.settings = crawler.settings
        self.fingerprint: Callable[[Request], bytes] = crawler.request_fingerprinter.fingerprint
        self.duplicates = Duplicates(crawler)
        self.seeds = GatheredSeeds()
        self.resumed = False
        self.opened = False
        self.stopped = False
        self.budget = 0  # pages in all, 0 is any number
        self.unasked = 0  # pages that were taken and never asked for: they use up no budget
        self.reader: PageReader | None = None  # of titles and texts, for orderings that read them
        self.leases: dict[int, Lease] = {}
        self.sources: dict[int, Lease] = {}  # id of a yielded request -> the page whose callback yielded it
        self.placed: set[int] = set()  # pages that have a request, and wait for their source to be settled

    # Opening and closing ----------------------------------------------------------------------------------------------
    def open(self, spider: Spider) -> Deferred[None] | None:
        self.spider = spider
        with self.or_stop:
            self._meet_middlewares()
            self._open_crawl()
            return self.duplicates.filter.open()
        return None

    def _meet_middlewares(self) -> None:
        links = self.crawler.get_spider_middleware(Links)
        if links is None:
            raise InputError(
                'frontrank\'s Scheduler needs its middlewares; set ADDONS = {"frontrank.fetching.addon.Addon": 500}'
            )
        links.scheduler = self
        for part in (Failures, Downloads):
            found = self.crawler.get_downloader_middleware(part)
            if found is not None:
                found.scheduler = self

    def _open_crawl(self) -> None:
        self.budget, trust = budget_of(self.settings), trust_of(self.settings)
        self.crawl, self.resumed = open_crawl(self.settings)
        self.opened = True
        self.unasked = self.crawl.notes.get(UNASKED, 0)
        durable = directory_of(self.settings) is not None
        self.reader = PageReader(self.crawl) if self.crawl.state.policy.needs() & {"texts", "scores"} else None
        self.reads_anchors = durable or "anchors" in self.crawl.state.policy.needs()
        debug = self.settings.getbool("SCHEDULER_DEBUG")
        self.requests = Requests(self.crawl, self.spider, self.crawler.stats, durable, debug, trust=trust)
        if trust and self.resumed:
            self.requests.sign_all()
        self.pace = HostPace(self.crawler, self.crawl, self.engine, self.or_stop)
        if self.resumed:
            logger.info("Resuming crawl (%d requests scheduled)", self.crawl.inspect.waiting, extra={"spider": self.spider})

    def close(self, reason: str) -> Deferred[None] | None:
        self.engine.forget()
        if self.reader is not None:
            self.reader.close()
        if not self.opened:
            return None
        with self.or_stop:
            self._close_crawl()
        return self.duplicates.filter.close(reason)

    def _close_crawl(self) -> None:
        if not self.stopped:
            self._settle_finished()
            self._sow()
        stats = self.crawler.stats
        for name in ("known", "waiting", "leased"):
            stats.set_value(f"frontrank/{name}", getattr(self.crawl.inspect, name))
        stats.set_value("frontrank/policy", self.crawl.state.policy.spec())
        self.crawl.close()

    def stop(self, error: FrontrankError) -> None:
        if self.stopped:
            return
        self.stopped = True
        logger.error("%s", error, extra={"spider": self.spider})
        self.engine.fail_at_the_end()
        if self.opened:
            self.engine.close_spider("frontrank_error")  # else with the first request that the engine asks for

    # Requests that come in --------------------------------------------------------------------------------------------
    def enqueue_request(self, request: Request) -> bool:
        if self.stopped:
            return False
        with self.or_stop:
            return self._enqueue(request)
        return False

    def _enqueue(self, request: Request) -> bool:
        source = self.sources.get(id(request))
        page = request.meta.pop(PAGE, None)
        if source is not None:
            source.missing -= 1
            accepted = self._place(request, source)
            if source.complete:
                self._settle(source)
            return accepted
        lease = self.leases.get(page)
        if lease is not None and lease.response is None:
            return self._again(lease, request)
        return self._place(request, None)

    def _again(self, lease: Lease, request: Request) -> bool:
        """A downloader middleware made another request of a taken one: a retry of the same page, or a way to another."""
        redirects = request.meta.get("redirect_times", 0)
        same = redirects == lease.request.meta.get("redirect_times", 0)
        if same and self.fingerprint(request) == self.fingerprint(lease.request):
            self.requests.put(lease.page, request)
            self._forget(lease)
            self._prioritise(lease.page, request, lease.request)
            self.crawl.failed(lease.page, lease.reason or "to be tried again", retry=True)
            return True
        accepted = self._place(request, lease)
        reasons = request.meta.get("redirect_reasons") or [0]
        self._forget(lease)
        status = reasons[-1] if isinstance(reasons[-1], int) else 200
        self.crawl.fetched(lease.page, lease.targets, status=status, scores={})
        return accepted

    def _place(self, request: Request, source: Lease | None) -> bool:
        """Give a request its page. False if the page is known, and the request not one that must go through."""
        key = int.from_bytes(self.fingerprint(request)[:8], "little", signed=True)
        page = self.crawl.lookup(request.url, key=key)
        known = page >= 0 and (page in self.placed or self.crawl.inspect.mark(page) != ABSENT)
        if self.duplicates.seen(request, key, known, self.resumed):
            self.duplicates.filter.log(request, self.spider)
            if known and source is not None:
                self._link(source, page, request)
            return False
        self.duplicates.note(request, key, known)
        if known:
            page = self.crawl.intern(request.url, secrets.randbits(64))
        elif page < 0:
            page = self.crawl.intern(request.url, key)
        self.requests.put(page, request)
        self._prioritise(page, request)
        self.placed.add(page)
        if source is not None:
            self._link(source, page, request)
        else:
            self.seeds.add(page)
        return True

    def _prioritise(self, page: int, request: Request, before: Request | None = None) -> None:
        priority = priority_of(request, self.settings)
        if priority != (0 if before is None else priority_of(before, self.settings)):
            self.crawl.control.prioritise(page, priority)

    def _link(self, source: Lease, page: int, request: Request) -> None:
        source.targets.append(page)
        if self.reads_anchors:
            source.anchors.append(str(request.meta.get("link_text") or ""))

    # Requests that go out ---------------------------------------------------------------------------------------------
    def next_request(self) -> Request | None:
        if self.stopped:
            if not self.opened:
                self.engine.close_spider("frontrank_error")
            return None
        with self.or_stop:
            return self._next()
        return None

    def _next(self) -> Request | None:
        self._settle_finished()
        if self.seeds.pages and monotonic() >= self.seeds.due():
            self._sow()
        while not self._budget_spent():
            pages = self.crawl.take_pages(1)
            if pages:
                try:
                    request = self.requests.take(pages[0])
                except Missing as reason:
                    self._fail(pages[0], str(reason), asked=False)
                    continue
                request.meta[PAGE] = pages[0]
                self.leases[pages[0]] = Lease(pages[0], request)
                return request
            if not self._settle_late():
                self._call_again()
                break
        return None

    def has_pending_requests(self) -> bool:
        if self.stopped or self.engine.closing:
            return True  # or the engine, finding us idle, would close the spider for another reason
        return bool(self.seeds.pages or self.leases) or self.crawl.next_at() is not None

    def _budget_spent(self) -> bool:
        """Whether no more pages may be taken. With the last of them settled, the crawl ends."""
        if not self.budget:
            return False
        settled = self.crawl.inspect.fetched_count + self.crawl.inspect.failed_count - self.unasked
        if settled >= self.budget and not self.leases:
            self.engine.close_spider("frontrank_budget")
        return settled + len(self.leases) >= self.budget

    def _sow(self) -> None:
        if self.seeds.pages:
            self.placed.difference_update(self.seeds.pages)
            self.crawl.seed(self.seeds.gathered())

    def _settle_finished(self) -> None:
        in_progress = self.engine.in_progress()
        for lease in [lease for lease in self.leases.values() if lease.request not in in_progress]:
            self._settle(lease)

    def _settle_late(self) -> bool:
        """Settle pages whose callback keeps all else waiting."""
        if self.seeds.pages or self.crawl.inspect.done() or self.crawl.next_at() is not None:
            return False
        now = monotonic()
        settled = False
        for lease in [lease for lease in self.leases.values() if lease.response and now >= lease.arrived + PATIENCE_S]:
            if not lease.late:
                lease.late = now
            elif now >= lease.due():
                self._settle(lease)
                settled = True
        return settled

    def _call_again(self) -> None:
        """Nothing may be taken now: have the engine ask again when that may change by time alone."""
        if self.seeds.pages:
            self.engine.ask_again(self.seeds.due() - monotonic())
        elif self.crawl.next_at() is not None:
            self.ask_when_ready()
        else:
            due = min((lease.due() for lease in self.leases.values() if lease.response), default=inf)
            if due < inf:
                self.engine.ask_again(due - monotonic())

    # What the middlewares report ----------------------------------------------------------------------------------------
    def lease_of(self, request: Request | None) -> Lease | None:
        return None if request is None else self.leases.get(request.meta.get(PAGE, -1))

    def expect(self, lease: Lease, request: Request) -> None:
        """A callback has yielded this request; it will come in, unless something drops it."""
        self.sources[id(request)] = lease
        lease.expected.append(request)
        lease.missing += 1

    def ended(self, lease: Lease) -> None:
        """A callback has yielded all it will."""
        lease.ended = True
        with self.or_stop:
            if lease.complete:
                self._settle(lease)

    def fail(self, lease: Lease, reason: str, asked: bool) -> None:
        self._forget(lease)
        with self.or_stop:
            self._fail(lease.page, reason, asked)

    async def read(self, lease: Lease) -> None:
        """Have title, text and scores of a page ready for its end, if the ordering reads them."""
        if self.reader is not None:
            await self.reader.read(lease)

    def slow_down(self, request: Request, response: Response) -> None:
        """Leave a host alone for as long as it asks."""
        with self.or_stop:
            self.pace.rest(request, response)

    # The end of a page ------------------------------------------------------------------------------------------------
    def _settle(self, lease: Lease) -> None:
        self._forget(lease)
        response = lease.response
        if response is None:
            self._fail(lease.page, lease.reason or "dropped before it was downloaded or parsed", asked=bool(lease.reason))
            return
        if not lease.targets and not 200 <= response.status < 400:
            self._fail(lease.page, f"http {response.status}")
            return
        title, text = (lease.read.title, lease.read.text) if lease.read is not None else ("", "")
        self.crawl.fetched(
            *(lease.page, lease.targets, title, text),
            anchors=lease.anchors or None,
            status=response.status,
            scores=lease.scores or {},
        )
        self.pace.follow_throttle(lease.request)

    def _fail(self, page: int, reason: str, asked: bool = True) -> None:
        if not asked:
            self.unasked += 1
            if self.budget:
                self.crawl.note(UNASKED, self.unasked)
        self.crawl.failed(page, reason)

    def _forget(self, lease: Lease) -> None:
        lease.settled = True
        del self.leases[lease.page]
        self.placed.difference_update(lease.targets)
        for request in lease.expected:
            self.sources.pop(id(request), None)
        lease.expected.clear()
