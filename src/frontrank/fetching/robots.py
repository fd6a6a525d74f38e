"""robots.txt (RFC 9309): requested once per origin, before its first page.

    2xx                     its rules hold for 24 hours; only the first 500 KiB are downloaded, inflated and read
    3xx                     followed five times; after that, or to nowhere, as if there were no file
    4xx                     there is no file: everything is allowed (but 429 asks for patience: as 5xx)
    5xx, network errors     nothing is allowed for now: `Unreachable`, or what the network said. It is the host's trouble
                            (``host_trouble``), which rests before the next page asks again

``robots_file`` reads a file and checks URLs in linear time, whatever the file holds; large ones in a thread, so that the
pages of other hosts are served meanwhile. The memory of all files together is bounded: those of least recent use are
forgotten, and asked for again.

Crawl-delay is not in the RFC but common: it becomes a limit of the host, up to 60 s (`limit_host`). Sitemap lines:
`Robots.sitemaps(origin)`. A Content-Signal line that says no to the purpose of the crawl forbids all pages of its origin.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

import can_ada

from frontrank.fetching.failures import CONTENT_SIGNAL, Cause, Forbidden, NotFetched, Refused, Unreachable
from frontrank.fetching.http.message import Response
from frontrank.fetching.robots_file import RobotsFile, product_of, read_robots
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.directives import SEARCH, TRAIN
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from frontrank.fetching.private import Names

MAX_HOPS = 5
KEPT_S = 24 * 3600.0
ORIGINS_KEPT = 10_000
BYTES_KEPT = 128 * 2**20  # of memory, as `RobotsFile.size` guesses it
LONG = 16 * 1024  # a longer file is read in a thread: 500 KiB of short rules take tenths of a second
MAX_DELAY_S = 60.0
SIGNALS = {SEARCH: "search", TRAIN: "ai-train"}  # by purpose, what a Content-Signal line calls it
REDIRECTS = (301, 302, 303, 307, 308)


class TakesHostLimits(Protocol):
    """Where the wishes of hosts go: a Crawl."""

    @property
    def politeness(self) -> Politeness: ...
    def limit_host(self, host: str, *, delay_s: float, at_least: bool) -> None: ...


Get = Callable[[str], Awaitable[Response]]  # one robots.txt: its first robots_file.MAX_BYTES, inflated


@dataclass(slots=True)
class OriginRules:
    """What is known of one origin: its file, or that there is none, or why nothing may be fetched."""

    until: float
    file: RobotsFile | None = None
    error: NotFetched | None = None
    size: int = 0  # in memory


class RulesCache:
    """OriginRules by origin: those of least recent use go first when there are too many, or they take too much memory."""

    def __init__(
        self, max_origins: int = ORIGINS_KEPT, max_bytes: int = BYTES_KEPT, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.max_origins, self.max_bytes, self.clock = max_origins, max_bytes, clock
        self.size = 0
        self._rules: OrderedDict[str, OriginRules] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rules)

    def get(self, origin: str) -> OriginRules | None:
        """The rules of an origin, if they still hold."""
        rules = self._rules.get(origin)
        if rules is None or rules.until <= self.clock():
            return None
        self._rules.move_to_end(origin)
        return rules

    def last(self, origin: str) -> OriginRules | None:
        """The rules of an origin, even if they no longer hold."""
        return self._rules.get(origin)

    def put(self, origin: str, rules: OriginRules) -> None:
        before = self._rules.pop(origin, None)
        self.size += rules.size - (before.size if before else 0)
        self._rules[origin] = rules
        while len(self._rules) > 1 and (len(self._rules) > self.max_origins or self.size > self.max_bytes):
            _, oldest = self._rules.popitem(last=False)
            self.size -= oldest.size


class Robots:
    """What the hosts of one crawl allow."""

    def __init__(self, agent: str, get: Get, frontier: TakesHostLimits | None = None, purpose: str = SEARCH) -> None:
        self.agent, self.get, self.frontier = product_of(agent), get, frontier
        self.signal = SIGNALS.get(purpose, "")
        self._kept = RulesCache()
        self._asked: dict[str, asyncio.Future[None]] = {}

    def known(self, url: str) -> bool:
        """Whether this page may be fetched, if that can be said now; raises NotFetched if not. False: ``check`` says it."""
        origin = origin_of(url)
        rules = self._kept.get(origin)
        if rules is None or (rules.file is not None and rules.file.is_slow(url)):
            return False
        _judge(rules, origin, url, rules.file is None or rules.file.allows(url))
        return True

    async def check(self, url: str) -> None:
        """Raise NotFetched if this page may not be fetched. The first page of an origin waits for its robots.txt."""
        origin = origin_of(url)
        rules = self._kept.get(origin) or await self._learn(origin)
        allowed = True
        if rules.file is not None and rules.file.is_slow(url):
            allowed = await asyncio.to_thread(rules.file.allows, url)
        elif rules.file is not None:
            allowed = rules.file.allows(url)
        _judge(rules, origin, url, allowed)

    def sitemaps(self, origin: str) -> list[str]:
        """The URLs on the Sitemap lines of an origin's robots.txt; none if it is not known."""
        rules = self._kept.last(origin_of(origin))
        return list(rules.file.sitemaps) if rules and rules.file else []

    async def learn(self, origin: str) -> list[str]:
        """The sitemaps of an origin, whose robots.txt is asked for if it is not known."""
        origin = origin_of(origin)
        if self._kept.get(origin) is None:
            await self._learn(origin)
        return self.sitemaps(origin)

    async def _learn(self, origin: str) -> OriginRules:
        """Ask once, however many wait: the first caller asks, the others get its result."""
        asked = self._asked.get(origin)
        if asked is not None:
            await asyncio.shield(asked)
            return self._kept.last(origin) or self._failure(Unreachable())
        asked = self._asked[origin] = asyncio.get_running_loop().create_future()
        try:
            rules = await self._ask(origin)
            self._kept.put(origin, rules)
        finally:
            del self._asked[origin]
            asked.set_result(None)
        return rules

    async def _ask(self, origin: str) -> OriginRules:
        url = f"{origin}/robots.txt"
        for hop in range(MAX_HOPS + 1):
            try:
                response = await self.get(url)
            except Refused as refused:
                # A page of this origin would be refused as well; a redirect's refusal says nothing of the origin.
                if hop == 0:
                    return OriginRules(self._kept.clock() + KEPT_S, error=Refused(refused.reason, origin))
                return self._failure(Unreachable(str(refused)))
            except NotFetched as error:
                return self._failure(error if error.cause is not Cause.PAGE else Unreachable(str(error)))
            if response.status not in REDIRECTS:
                return await self._rules(origin, response)
            target = redirect_of(url, response)
            if target is None:
                break
            url = target
        return OriginRules(self._kept.clock() + KEPT_S)

    async def _rules(self, origin: str, response: Response) -> OriginRules:
        status = response.status
        if status >= 500 or status == 429:
            return self._failure(Unreachable(f"http {status}", response.header(b"retry-after")))
        if not 200 <= status < 300:
            return OriginRules(self._kept.clock() + KEPT_S)
        if len(response.body) > LONG:
            file = await asyncio.to_thread(read_robots, response.body, self.agent)
        else:
            file = read_robots(response.body, self.agent)
        if not file.signals.get(self.signal, True):
            error = Forbidden(f"robots.txt of {origin} says so", f"{CONTENT_SIGNAL}{self.signal}=no")
            return OriginRules(self._kept.clock() + KEPT_S, file, error, file.size)
        if file.delay_s:
            self._slow_down(origin, file.delay_s)
        return OriginRules(self._kept.clock() + KEPT_S, file, size=file.size)

    def _failure(self, error: NotFetched) -> OriginRules:
        """For all callers that wait now. It expires before the host's rest ends, so that the next page asks again."""
        politeness = self.frontier.politeness if self.frontier is not None else Politeness()
        return OriginRules(self._kept.clock() + 0.9 * politeness.pause(1), error=error)

    def _slow_down(self, origin: str, delay_s: float) -> None:
        if self.frontier is not None:
            self.frontier.limit_host(host_of(origin), delay_s=min(delay_s, MAX_DELAY_S), at_least=True)


def _judge(rules: OriginRules, origin: str, url: str, allowed: bool) -> None:
    if rules.error is not None:
        raise rules.error.with_traceback(None)
    if not allowed:
        raise Forbidden(f"robots.txt of {origin} does not allow {url[:200]}")


async def refusal(url: str, names: Names, robots: Robots | None) -> NotFetched | None:
    """Why a page is not to be asked for: its address, or a robots.txt, which is read if it is not known."""
    try:
        names.usable(url)
        if robots is not None and not robots.known(url):
            await robots.check(url)
    except NotFetched as error:
        return error
    return None


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL.

    >>> origin_of("http://Example.org:80/a?b"), origin_of("https://example.org:8443/")
    ('http://example.org', 'https://example.org:8443')
    """
    try:
        origin: str = can_ada.parse(url).origin
    except (ValueError, TypeError):
        return ""
    return origin


def redirect_of(url: str, response: Response) -> str | None:
    """Where a response sends to, if that is http or https."""
    location = (response.header(b"location") or b"").decode("utf-8", "replace").strip()
    try:
        target = can_ada.parse(urljoin(url, location))
    except (ValueError, TypeError):
        return None
    return str(target.href) if location and target.protocol in ("http:", "https:") else None
