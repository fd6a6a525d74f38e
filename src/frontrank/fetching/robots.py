"""robots.txt (RFC 9309): asked for once an origin, before its first page, by a request of the downloader's own.

    2xx                     its rules hold for 24 hours; only the first 500 KiB are downloaded, inflated and read
    3xx                     followed five times; after that, or to nowhere, as if there were none
    4xx                     there is none: everything is allowed (but 429 asks for patience: as 5xx)
    5xx, network errors     nothing is allowed for now: `Unreachable`, worth another try, and the host rests before that.
                            After as many tries as a page gets, pages fail without another request for an hour

Rules are matched by Protego, whose time is linear in rules times URL. Its parser copies every rule to every agent of a group,
which is quadratic in a hostile file; so the groups of others are dropped before it sees them (`groups_of_ours`). The
memory of all files together is bounded: those of least recent use are forgotten, and asked for again.

Crawl-delay is not in the RFC but often given: `spider.frontier.host(name, delay_s=...)` is told, up to 60 s. Sitemap lines:
`RobotsMiddleware.sitemaps(origin)`. The setting FRONTRANK_ROBOTS = False turns all of it off.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import can_ada
from protego import Protego
from scrapy import Request, signals
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest, NotConfigured, StopDownload
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from frontrank.fetching.private import Refused
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ROBOTS = "frontrank_robots"  # in request.meta: this asks for a robots.txt; the bytes received so far
MOST_BYTES = 500 * 1024
MOST_HOPS = 5
KEPT_S = 24 * 3600.0
GIVEN_UP_S = 3600.0
ORIGINS_KEPT = 10_000
BYTES_KEPT = 128 * 2**20  # of memory, as `memory_of` guesses it
LONG = 32 * 1024  # a longer file is parsed in a thread: 500 KiB of short rules take a second
LONGEST_DELAY_S = 60.0
SITEMAPS_MOST = 1_000
REDIRECTS = (301, 302, 303, 307, 308)
WAY = ("proxy",)  # in request.meta: a robots.txt is asked for the same way as the page

_USER_AGENT = re.compile(r"\s*user[- ]?agent\s*[:\s]\s*([^#]*)", re.IGNORECASE)
_SITEMAP = re.compile(r"\s*(?:site-map|sitemaps?)\s*[:\s]\s*(\S*)", re.IGNORECASE)
_RULE = re.compile(r"\s*(?!host[:\s])(?:[^#:]*:|(?:dis)?allow\s|crawl[- ]delay\s)", re.IGNORECASE)
_NEW_LINE = re.compile(r"\r\n|\r|\n")


class Forbidden(IgnoreRequest):
    """robots.txt does not allow this page."""

    reason = "robots.txt"
    retry = False


class Unreachable(IgnoreRequest):
    """The host's robots.txt could not be read, so nothing of it may be fetched for now."""

    reason = "robots.txt unreachable"

    def __init__(self, retry: bool) -> None:
        super().__init__(self.reason)
        self.retry = retry


@dataclass(slots=True)
class Rules:
    """What is known of one origin: a parser, or nothing to object (None), or why nothing may be fetched."""

    until: float
    parser: Protego | None = None
    error: Callable[[], Exception] | None = None
    sitemaps: list[str] = field(default_factory=list)
    size: int = 0  # in memory
    tries: int = 0  # that failed, in a row


class Kept:
    """Rules by origin: those of least recent use go first when there are too many, or they take too much memory."""

    def __init__(
        self, most: int = ORIGINS_KEPT, most_bytes: int = BYTES_KEPT, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most, self.most_bytes, self.clock = most, most_bytes, clock
        self.size = 0
        self._rules: OrderedDict[str, Rules] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rules)

    def get(self, origin: str) -> Rules | None:
        """The rules of an origin, if they still hold."""
        rules = self._rules.get(origin)
        if rules is None or rules.until <= self.clock():
            return None
        self._rules.move_to_end(origin)
        return rules

    def last(self, origin: str) -> Rules | None:
        """The rules of an origin, even if they no longer hold."""
        return self._rules.get(origin)

    def put(self, origin: str, rules: Rules) -> None:
        before = self._rules.pop(origin, None)
        self.size += rules.size - (before.size if before else 0)
        self._rules[origin] = rules
        while len(self._rules) > 1 and (len(self._rules) > self.most or self.size > self.most_bytes):
            _, oldest = self._rules.popitem(last=False)
            self.size -= oldest.size


class RobotsMiddleware:
    """Holds every request back until the rules of its origin are known."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._agent = product_of(crawler.settings.get("ROBOTSTXT_USER_AGENT") or crawler.settings.get("USER_AGENT") or "")
        self._kept = Kept()
        self._waiting: dict[str, list[Deferred[None]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        if not crawler.settings.getbool("FRONTRANK_ROBOTS", True):
            raise NotConfigured
        middleware = cls(crawler)
        crawler.signals.connect(middleware.received, signals.bytes_received)
        return middleware

    async def process_request(self, request: Request) -> None:
        if ROBOTS in request.meta:
            return
        origin = origin_of(request.url)
        rules = self._kept.get(origin)
        if rules is None:
            rules = await self._learn(origin, {key: request.meta[key] for key in WAY if key in request.meta})
        if rules.error is not None:
            raise rules.error()
        if rules.parser is not None and not rules.parser.can_fetch(request.url, self._agent):
            raise Forbidden(f"robots.txt of {origin} does not allow {request.url[:200]}")

    def received(self, data: bytes, request: Request) -> None:
        """Ends the download of a robots.txt when as much has come as is read."""
        if ROBOTS in request.meta:
            request.meta[ROBOTS] += len(data)
            if request.meta[ROBOTS] >= MOST_BYTES:
                raise StopDownload(fail=False)

    def sitemaps(self, origin: str) -> list[str]:
        """The URLs on the Sitemap lines of an origin's robots.txt; none if it is not known."""
        rules = self._kept.last(origin_of(origin))
        return list(rules.sitemaps) if rules else []

    async def learn(self, origin: str) -> list[str]:
        """The sitemaps of an origin, whose robots.txt is asked for if it is not known."""
        origin = origin_of(origin)
        if self._kept.get(origin) is None:
            await self._learn(origin, {})
        return self.sitemaps(origin)

    async def _learn(self, origin: str, way: dict[str, Any]) -> Rules:
        """Ask once, however many wait: the first to come asks, the others are told."""
        if origin in self._waiting:
            told: Deferred[None] = Deferred()
            self._waiting[origin].append(told)
            await maybe_deferred_to_future(told)
            return self._kept.last(origin) or self._failure(origin, CannotResolveHostError())
        self._waiting[origin] = []
        try:
            rules = await self._ask(origin, way)
            self._kept.put(origin, rules)
        finally:
            for waiting in self._waiting.pop(origin):
                waiting.callback(None)
        return rules

    async def _ask(self, origin: str, way: dict[str, Any]) -> Rules:
        url = f"{origin}/robots.txt"
        for hop in range(MOST_HOPS + 1):
            try:
                response = await self._fetch(url, way)
            except Refused as refused:
                # A page of this origin would be refused as well; a redirect's refusal says nothing of the origin.
                if hop == 0:
                    return Rules(self._kept.clock() + KEPT_S, error=partial(Refused, refused.reason, origin))
                return self._failure(origin, refused)
            except Exception as error:
                return self._failure(origin, error)
            if response.status not in REDIRECTS:
                return await self._judge(origin, response)
            target = redirect_of(url, response)
            if target is None:
                break
            url = target
        return Rules(self._kept.clock() + KEPT_S)

    async def _fetch(self, url: str, way: dict[str, Any]) -> Response:
        meta = {
            **way,
            ROBOTS: 0,
            "dont_redirect": True,
            "dont_retry": True,
            "dont_merge_cookies": True,
            "handle_httpstatus_all": True,
            "download_maxsize": 0,  # a long one is read in part, not refused
            "download_fail_on_dataloss": False,
        }
        engine: Any = self._crawler.engine
        response: Response = await engine.download_async(Request(url, callback=NO_CALLBACK, meta=meta))
        return response

    async def _judge(self, origin: str, response: Response) -> Rules:
        status = response.status
        if status >= 500 or status == 429:
            return self._failure(origin, None)
        if not 200 <= status < 300:
            return Rules(self._kept.clock() + KEPT_S)
        if len(response.body) > LONG:
            reading: Any = deferToThread(read, response.body, self._agent)
            rules: Rules = await maybe_deferred_to_future(reading)
        else:
            rules = read(response.body, self._agent)
        rules.until = self._kept.clock() + KEPT_S
        delay_s = rules.parser.crawl_delay(self._agent) if rules.parser else None
        if delay_s is not None and math.isfinite(delay_s) and delay_s > 0:
            self._slow_down(origin, delay_s)
        return rules

    def _failure(self, origin: str, error: Exception | None) -> Rules:
        before = self._kept.last(origin)
        tries = (before.tries if before else 0) + 1
        politeness = getattr(self._frontier(), "politeness", None)
        again = tries <= (politeness.retries if politeness else 2)
        rest_s = (politeness.pause(tries) if politeness else 2.0**tries) if again else GIVEN_UP_S
        if again and politeness:
            self._frontier().block(host_of(origin), rest_s)
        # A little less, so that the page that comes first after the rest asks again.
        until = self._kept.clock() + 0.9 * rest_s
        if isinstance(error, CannotResolveHostError):
            return Rules(until, error=partial(CannotResolveHostError, str(error)), tries=tries)
        return Rules(until, error=partial(Unreachable, again), tries=tries)

    def _slow_down(self, origin: str, delay_s: float) -> None:
        frontier = self._frontier()
        if frontier is not None:
            frontier.host(host_of(origin), delay_s=max(frontier.politeness.delay_s, min(delay_s, LONGEST_DELAY_S)))

    def _frontier(self) -> Any:
        return getattr(self._crawler.spider, "frontier", None)


def read(body: bytes, agent: str) -> Rules:
    """The rules of a robots.txt for this agent."""
    text, sitemaps = groups_of_ours(body, agent)
    parser = Protego.parse(text) if text else None
    return Rules(math.inf, parser, sitemaps=sitemaps, size=memory_of(text) + sum(map(len, sitemaps)))


def memory_of(text: str) -> int:
    """What Protego's objects take, roughly: several of them a rule, and its pattern in some of them."""
    return 1000 + 500 * text.count("\n") + 4 * len(text)


def groups_of_ours(body: bytes, agent: str) -> tuple[str, list[str]]:
    """The groups of a robots.txt that are for this agent or for all, under these two names only, and its sitemaps.

    >>> groups_of_ours(b"User-agent: Us/2.0\\nUser-agent: a\\nDisallow: /x\\nUser-agent: b\\nDisallow: /\\nSitemap: s\\n", "us")
    ('User-agent: us\\nDisallow: /x', ['s'])
    """
    lines = _NEW_LINE.split(body[:MOST_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    if len(body) > MOST_BYTES:
        lines.pop()  # a path cut short would forbid or allow more than was meant
    kept: list[str] = []
    sitemaps: list[str] = []
    ours = naming = False
    for line in lines:
        named = _USER_AGENT.match(line)
        if named:
            ours = ours and naming
            naming = True
            name = named[1].strip()
            token = name if name == "*" else product_of(name)
            if token and token in ("*", agent):
                kept.append(f"User-agent: {token}")
                ours = True
        elif found := _SITEMAP.match(line):
            if found[1] and len(sitemaps) < SITEMAPS_MOST:
                sitemaps.append(found[1])
        elif _RULE.match(line):
            naming = False
            if ours:
                kept.append(line.strip())
    return "\n".join(kept), sitemaps


def product_of(agent: str) -> str:
    """The product token by which a robots.txt calls a crawler.

    >>> product_of("Frontrank/0.1 (+https://example.org/bot)"), product_of("Mozilla/5.0 (compatible; My-Bot/2.1; +http://a.b)")
    ('frontrank', 'my-bot')
    """
    compatible = re.search(r"compatible;\s*([A-Za-z_-]+)", agent)
    token = compatible or re.match(r"\s*([A-Za-z_-]+)", agent)
    return token[1].lower() if token else ""


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
    location = (response.headers.get("Location") or b"").decode("utf-8", "replace").strip()
    try:
        target = can_ada.parse(urljoin(url, location))
    except (ValueError, TypeError):
        return None
    return str(target.href) if location and target.protocol in ("http:", "https:") else None
