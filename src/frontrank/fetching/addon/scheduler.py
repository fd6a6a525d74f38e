"""The scheduler of a Scrapy crawl, with a Crawl behind it.

    enqueue_request    a request becomes a page, known by Scrapy's own fingerprint; it waits once its source is settled
    next_request       settles what the engine is done with, then takes the best page that may be asked for now

From next_request on, a page is leased. It is settled by the first of: its callback has ended and all that it yielded has
come in; its download failed; a redirect or a retry of it came in; the engine no longer has its request (whatever became of
it). So nothing stays leased, whoever drops a request on the way.

A callback that goes on (it awaits something) holds its lease. If nothing else may be taken, and time alone will not change
that, its page is settled PATIENCE_S after it arrived, with the links so far; later ones are seeds.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import HtmlResponse
from scrapy.utils.misc import build_from_crawler, load_object

from frontrank.errors import FrontrankError, InputError
from frontrank.fetching.addon.middlewares import PAGE, Downloads, Failures, Links
from frontrank.fetching.addon.requests import Requests
from frontrank.fetching.addon.settings import directory_of, open_crawl
from frontrank.fetching.scrapy_engine import Engine
from frontrank.frontiers.polite import ABSENT
from frontrank.pages import html
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser
    from twisted.internet.defer import Deferred

    from frontrank.crawl.crawl import Crawl

logger = logging.getLogger(__name__)

PATIENCE_S = 5.0  # how long a callback may keep everything else waiting
GATHER_S = 0.5  # how long seeds are gathered while start() goes on
QUIET_S = 0.1  # start() has paused: what it gave so far are the seeds


@dataclass(slots=True, eq=False)
class Lease:
    """A page whose request is with the engine, and what is known of its links."""

    page: int
    request: Request
    response: Response | None = None
    reason: str = ""  # why its last download was no good
    arrived: float = 0.0
    late: float = 0.0  # when its callback was first found to take too long
    targets: list[int] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    expected: list[Request] = field(default_factory=list)  # what its callback yielded
    missing: int = 0  # how many of these have not come in
    ended: bool = False
    settled: bool = False


F = TypeVar("F", bound=Callable[..., Any])


def or_stop(instead: Any) -> Callable[[F], F]:
    """A crawl whose directory fails (the disk is full, say) ends with a sentence; the engine would ask for ever."""

    def guarded(method: F) -> F:
        @wraps(method)
        def call(self: Scheduler, *args: Any) -> Any:
            try:
                return method(self, *args)
            except FrontrankError as error:
                self.stop(error)
                return instead

        return cast("F", call)

    return guarded


class Scheduler(BaseScheduler):
    """Scrapy's scheduler interface on top of a Crawl."""

    crawl: Crawl

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.engine = Engine(crawler)
        self.settings = crawler.settings
        self.fingerprint: Callable[[Request], bytes] = crawler.request_fingerprinter.fingerprint
        chosen = load_object(self.settings["DUPEFILTER_CLASS"])
        self.own_filter = chosen is RFPDupeFilter
        debug = self.settings.getbool("DUPEFILTER_DEBUG")
        self.filter: BaseDupeFilter = RFPDupeFilter(None, debug) if self.own_filter else build_from_crawler(chosen, crawler)
        self.starting = False  # start() is being read
        self.resumed = False
        self.opened = False
        self.stopped = False
        self.leases: dict[int, Lease] = {}
        self.sources: dict[int, Lease] = {}  # id of a yielded request -> the page whose callback yielded it
        self.placed: set[int] = set()  # pages that have a request, and wait for their source to be settled
        self.seeds: list[int] = []
        self.seeds_since = self.seeds_until = 0.0
        self.unfiltered: dict[int, Any] = {}  # key of a page that came with dont_filter -> its callback
        self.delays: dict[str, float] = {}  # of hosts, by AutoThrottle

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # Opening and closing ----------------------------------------------------------------------------------------------
    def open(self, spider: Spider) -> Deferred[None] | None:
        self.spider = spider
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
        self.crawl, self.resumed = open_crawl(self.settings)
        self.opened = True
        durable = directory_of(self.settings) is not None
        self.reads_texts = "texts" in self.crawl.policy.needs()
        self.reads_anchors = durable or "anchors" in self.crawl.policy.needs()
        self.throttled = self.settings.getbool("AUTOTHROTTLE_ENABLED")
        self.requests = Requests(self.crawl, spider, self.crawler.stats, durable, self.settings.getbool("SCHEDULER_DEBUG"))
        for host, slot in self.settings.getdict("DOWNLOAD_SLOTS").items():
            self.crawl.host(host, delay_s=slot.get("delay"), concurrency=slot.get("concurrency"))
        if hasattr(signals, "robots_parsed"):  # Scrapy 2.18
            self.crawler.signals.connect(self._robots_parsed, signals.robots_parsed)
        if self.resumed:
            logger.info("Resuming crawl (%d requests scheduled)", self.crawl.waiting, extra={"spider": spider})
        return self.filter.open()

    def close(self, reason: str) -> Deferred[None] | None:
        self.engine.forget()
        if not self.opened:
            return None
        self._close_crawl()
        return self.filter.close(reason)

    @or_stop(None)
    def _close_crawl(self) -> None:
        if not self.stopped:
            self._settle_finished()
            self._sow()
        stats = self.crawler.stats
        for name in ("known", "waiting"):
            stats.set_value(f"frontrank/{name}", getattr(self.crawl, name))
        stats.set_value("frontrank/leased", self.crawl.leased)
        stats.set_value("frontrank/policy", self.crawl.policy.spec())
        self.crawl.close()

    def stop(self, error: FrontrankError) -> None:
        if not self.stopped:
            self.stopped = True
            logger.error("%s", error, extra={"spider": self.spider})
            self.engine.close_spider("frontrank_error")

    # Requests that come in --------------------------------------------------------------------------------------------
    @or_stop(False)
    def enqueue_request(self, request: Request) -> bool:
        source = self.sources.get(id(request))
        page = request.meta.pop(PAGE, None)
        if source is not None:
            source.missing -= 1
            accepted = self._place(request, source)
            self._settle_if_complete(source)
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
            self.crawl.failed_page(lease.page, lease.reason or "to be tried again", retry=True)
            return True
        accepted = self._place(request, lease)
        reasons = request.meta.get("redirect_reasons") or [0]
        self._forget(lease)
        status = reasons[-1] if isinstance(reasons[-1], int) else 200
        self.crawl.fetched_page(lease.page, lease.targets, status=status)
        return accepted

    def _place(self, request: Request, source: Lease | None) -> bool:
        """Give a request its page. False if the page is known, and the request not one that must go through."""
        key = int.from_bytes(self.fingerprint(request)[:8], "little", signed=True)
        page = self.crawl.find(request.url, key)
        known = page >= 0 and (page in self.placed or self.crawl.mark(page) != ABSENT)
        if self._seen(request, key, known):
            self.filter.log(request, self.spider)
            if known and source is not None:
                self._link(source, page, request)
            return False
        if request.dont_filter and not known:
            self.unfiltered[key] = self._callback(request)
        elif not request.dont_filter:
            self.unfiltered.pop(key, None)
        if known:
            page = self.crawl.page(request.url, secrets.randbits(64))
        elif page < 0:
            page = self.crawl.page(request.url, key)
        self.requests.put(page, request)
        self.placed.add(page)
        if source is not None:
            self._link(source, page, request)
        else:
            self.seeds_until = monotonic()
            self.seeds_since = self.seeds_since if self.seeds else self.seeds_until
            self.seeds.append(page)
        return True

    def _seen(self, request: Request, key: int, known: bool) -> bool:
        """As RFPDupeFilter, which does not remember what came with dont_filter. But the same work is not done twice: such a
        page is fetched once more for another callback only, and once a crawl is resumed, start requests were sent already."""
        if request.dont_filter:
            again = known and self.resumed and request.meta.get("is_start_request", False)
            if again:
                self.unfiltered.setdefault(key, self._callback(request))
            return bool(again)
        if not self.own_filter:
            return self.filter.request_seen(request)
        return known and (key not in self.unfiltered or self.unfiltered[key] == self._callback(request))

    def _callback(self, request: Request) -> Any:
        return request.callback or getattr(self.spider, "parse", None)

    def _link(self, source: Lease, page: int, request: Request) -> None:
        source.targets.append(page)
        if self.reads_anchors:
            source.anchors.append(str(request.meta.get("link_text") or ""))

    # Requests that go out ---------------------------------------------------------------------------------------------
    @or_stop(None)
    def next_request(self) -> Request | None:
        self._settle_finished()
        if self.seeds and not self._more_seeds_to_come():
            self._sow()
        while True:
            pages = self.crawl.take_pages(1)
            if pages:
                request = self.requests.take(pages[0])
                if request is None:
                    self.crawl.failed_page(pages[0], "its request was in the memory of an earlier process")
                    continue
                request.meta[PAGE] = pages[0]
                self.leases[pages[0]] = Lease(pages[0], request)
                return request
            if not self._settle_late():
                self._call_again()
                return None

    def has_pending_requests(self) -> bool:
        if self.seeds or self.leases:
            return True
        return self.crawl.next_at() is not None

    def _more_seeds_to_come(self) -> bool:
        now = monotonic()
        return self.starting and now < self.seeds_until + QUIET_S and now < self.seeds_since + GATHER_S

    def _sow(self) -> None:
        if self.seeds:
            self.placed.difference_update(self.seeds)
            self.crawl.seed_pages(self.seeds)
            self.seeds = []

    def _settle_finished(self) -> None:
        in_progress = self.engine.in_progress()
        for lease in [lease for lease in self.leases.values() if lease.request not in in_progress]:
            self._settle(lease)

    def _settle_late(self) -> bool:
        """Settle pages whose callback keeps all else waiting. At the second look, as a busy process may be late itself."""
        if self.seeds or self.crawl.done() or self.crawl.next_at() is not None:
            return False
        now = monotonic()
        settled = False
        for lease in [lease for lease in self.leases.values() if lease.response and now >= lease.arrived + PATIENCE_S]:
            if not lease.late:
                lease.late = now
            elif now >= lease.late + QUIET_S:
                self._settle(lease)
                settled = True
        return settled

    def _call_again(self) -> None:
        """Nothing may be taken now: have the engine ask again when that may change by time alone."""
        now = monotonic()
        at = self.crawl.next_at()
        if self.seeds:
            due = min(self.seeds_until + QUIET_S, self.seeds_since + GATHER_S)
        elif at is not None:
            due = now + at - self.crawl.clock()
        else:
            callbacks = [lease for lease in self.leases.values() if lease.response]
            waits = [lease.late + QUIET_S if lease.late else lease.arrived + PATIENCE_S for lease in callbacks]
            due = min(waits, default=inf)
        if due < inf:
            self.engine.ask_again(max(due - now, 0.001))

    # What the middlewares tell ----------------------------------------------------------------------------------------
    def lease_of(self, request: Request | None) -> Lease | None:
        return None if request is None else self.leases.get(request.meta.get(PAGE, -1))

    def expect(self, lease: Lease, request: Request) -> None:
        """A callback has yielded this request; it will come in, unless something drops it."""
        self.sources[id(request)] = lease
        lease.expected.append(request)
        lease.missing += 1

    @or_stop(None)
    def ended(self, lease: Lease) -> None:
        """A callback has yielded all it will."""
        lease.ended = True
        self._settle_if_complete(lease)

    @or_stop(None)
    def fail(self, lease: Lease, reason: str) -> None:
        self._forget(lease)
        self.crawl.failed_page(lease.page, reason)

    @or_stop(None)
    def block(self, host: str, rest_s: float) -> None:
        self.crawl.block(host, rest_s)

    @or_stop(None)
    def slow_down(self, host: str, delay_s: float) -> None:
        self.crawl.host(host, delay_s=delay_s)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        agent = self.settings["ROBOTSTXT_USER_AGENT"] or request.headers.get("User-Agent") or self.settings["USER_AGENT"]
        delay = robotparser.crawl_delay(agent)
        if delay is not None and delay > self.settings.getfloat("DOWNLOAD_DELAY"):
            self.slow_down(host_of(request.url), delay)
            self.engine.slow_down(request, delay)  # for those of this host that were taken before

    # The end of a page ------------------------------------------------------------------------------------------------
    def _settle_if_complete(self, lease: Lease) -> None:
        if lease.ended and not lease.missing and not lease.settled:
            self._settle(lease)

    def _settle(self, lease: Lease) -> None:
        self._forget(lease)
        response = lease.response
        if response is None:
            self.crawl.failed_page(lease.page, lease.reason or "dropped before it was downloaded or parsed")
            return
        if not lease.targets and not 200 <= response.status < 400:
            self.crawl.failed_page(lease.page, f"http {response.status}")
            return
        title = text = ""
        if self.reads_texts and isinstance(response, HtmlResponse):
            read = html.parse(response.body, response.url, response.encoding)
            title, text = read.title, read.text
        self.crawl.fetched_page(lease.page, lease.targets, lease.anchors or None, title, text, status=response.status)
        if self.throttled:
            self._follow_throttle(lease.request)

    def _forget(self, lease: Lease) -> None:
        lease.settled = True
        del self.leases[lease.page]
        self.placed.difference_update(lease.targets)
        for request in lease.expected:
            self.sources.pop(id(request), None)
        lease.expected.clear()

    def _follow_throttle(self, request: Request) -> None:
        host = host_of(request.url)
        delay = self.engine.delay_of(request)
        before = self.delays.get(host, 0.0)
        if abs(delay - before) > 0.1 * before:  # each change is an event
            self.delays[host] = delay
            self.crawl.host(host, delay_s=delay)
