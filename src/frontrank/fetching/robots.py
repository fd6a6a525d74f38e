"""robots.txt (RFC 9309): asked for once an origin, before its first page.

    2xx                     its rules hold for 24 hours; only the first 500 KiB are downloaded, inflated and read
    3xx                     followed five times; after that, or to nowhere, as if there were none
    4xx                     there is none: everything is allowed (but 429 asks for patience: as 5xx)
    5xx, network errors     nothing is allowed for now: `Unreachable`, worth another try, and the host rests before that.
                            After as many tries as a page gets, pages fail without another request for an hour

Rules are matched by Protego, whose time is linear in rules times URL. Its parser copies every rule to every agent of a group,
which is quadratic in a hostile file; so the groups of others are dropped before it sees them (`groups_of_ours`). The
memory of all files together is bounded: those of least recent use are forgotten, and asked for again.

Crawl-delay is not in the RFC but often given: the frontier is told, `host(name, delay_s=...)`, up to 60 s. Sitemap lines:
`Robots.sitemaps(origin)`.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

import can_ada

from frontrank.errors import need
from frontrank.fetching.failures import Forbidden, NotFetched, Refused, Unreachable
from frontrank.fetching.http.message import Response
from frontrank.frontiers.politeness import Politeness
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from protego import Protego

    from frontrank.fetching.private import Names

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

_USER_AGENT = re.compile(r"\s*user[- ]?agent\s*[:\s]\s*([^#]*)", re.IGNORECASE)
_SITEMAP = re.compile(r"\s*(?:site-map|sitemaps?)\s*[:\s]\s*(\S*)", re.IGNORECASE)
_RULE = re.compile(r"\s*(?!host[:\s])(?:[^#:]*:|(?:dis)?allow\s|crawl[- ]delay\s)", re.IGNORECASE)
_NEW_LINE = re.compile(r"\r\n|\r|\n")


class HostLimits(Protocol):
    """Who is told how a host wants to be treated: a Crawl."""

    politeness: Politeness

    def host(self, name: str, *, delay_s: float, at_least: bool) -> None: ...

    def block(self, name: str, seconds: float) -> None: ...


Get = Callable[[str], Awaitable[Response]]  # one robots.txt: its first MOST_BYTES, inflated


@dataclass(slots=True)
class Rules:
    """What is known of one origin: a parser, or nothing to object (None), or why nothing may be fetched."""

    until: float
    parser: Protego | None = None
    error: NotFetched | None = None
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


class Robots:
    """What the hosts of one crawl allow."""

    def __init__(self, agent: str, get: Get, frontier: HostLimits | None = None) -> None:
        self.agent, self.get, self.frontier = product_of(agent), get, frontier
        self._kept = Kept()
        self._asked: dict[str, asyncio.Future[None]] = {}

    def known(self, url: str) -> bool:
        """Whether this page may be fetched, if that can be said now; raises NotFetched if not. False: ``check`` has to ask."""
        origin = origin_of(url)
        rules = self._kept.get(origin)
        if rules is None:
            return False
        self._judge(rules, origin, url)
        return True

    async def check(self, url: str) -> None:
        """Raise NotFetched if this page may not be fetched. The first page of an origin waits for its robots.txt."""
        origin = origin_of(url)
        self._judge(self._kept.get(origin) or await self._learn(origin), origin, url)

    def _judge(self, rules: Rules, origin: str, url: str) -> None:
        if rules.error is not None:
            raise rules.error.with_traceback(None)
        if rules.parser is not None and not rules.parser.can_fetch(url, self.agent):
            raise Forbidden(f"robots.txt of {origin} does not allow {url[:200]}")

    def sitemaps(self, origin: str) -> list[str]:
        """The URLs on the Sitemap lines of an origin's robots.txt; none if it is not known."""
        rules = self._kept.last(origin_of(origin))
        return list(rules.sitemaps) if rules else []

    async def learn(self, origin: str) -> list[str]:
        """The sitemaps of an origin, whose robots.txt is asked for if it is not known."""
        origin = origin_of(origin)
        if self._kept.get(origin) is None:
            await self._learn(origin)
        return self.sitemaps(origin)

    async def _learn(self, origin: str) -> Rules:
        """Ask once, however many wait: the first to come asks, the others are told."""
        asked = self._asked.get(origin)
        if asked is not None:
            await asyncio.shield(asked)
            return self._kept.last(origin) or self._failure(origin, None)
        asked = self._asked[origin] = asyncio.get_running_loop().create_future()
        try:
            rules = await self._ask(origin)
            self._kept.put(origin, rules)
        finally:
            del self._asked[origin]
            asked.set_result(None)
        return rules

    async def _ask(self, origin: str) -> Rules:
        url = f"{origin}/robots.txt"
        for hop in range(MOST_HOPS + 1):
            try:
                response = await self.get(url)
            except Refused as refused:
                # A page of this origin would be refused as well; a redirect's refusal says nothing of the origin.
                if hop == 0:
                    return Rules(self._kept.clock() + KEPT_S, error=Refused(refused.reason, origin))
                return self._failure(origin, refused)
            except NotFetched as error:
                return self._failure(origin, error)
            if response.status not in REDIRECTS:
                return await self._rules(origin, response)
            target = redirect_of(url, response)
            if target is None:
                break
            url = target
        return Rules(self._kept.clock() + KEPT_S)

    async def _rules(self, origin: str, response: Response) -> Rules:
        status = response.status
        if status >= 500 or status == 429:
            return self._failure(origin, None)
        if not 200 <= status < 300:
            return Rules(self._kept.clock() + KEPT_S)
        if len(response.body) > LONG:
            rules = await asyncio.to_thread(read, response.body, self.agent)
        else:
            rules = read(response.body, self.agent)
        rules.until = self._kept.clock() + KEPT_S
        delay_s = rules.parser.crawl_delay(self.agent) if rules.parser else None
        if delay_s is not None and math.isfinite(delay_s) and delay_s > 0:
            self._slow_down(origin, delay_s)
        return rules

    def _failure(self, origin: str, error: NotFetched | None) -> Rules:
        before = self._kept.last(origin)
        tries = (before.tries if before else 0) + 1
        politeness = self.frontier.politeness if self.frontier is not None else Politeness()
        again = tries <= politeness.retries
        rest_s = politeness.pause(tries) if again else GIVEN_UP_S
        if again and self.frontier is not None:
            self.frontier.block(host_of(origin), rest_s)
        # A little less, so that the page that comes first after the rest asks again.
        until = self._kept.clock() + 0.9 * rest_s
        if error is not None and error.reason == "host not found":
            return Rules(until, error=error, tries=tries)
        return Rules(until, error=Unreachable(again), tries=tries)

    def _slow_down(self, origin: str, delay_s: float) -> None:
        if self.frontier is not None:
            self.frontier.host(host_of(origin), delay_s=min(delay_s, LONGEST_DELAY_S), at_least=True)


async def refusal(url: str, names: Names, robots: Robots | None) -> NotFetched | None:
    """Why a page is not to be asked for: its address, or a robots.txt, which is read if it is not known."""
    try:
        names.usable(url)
        if robots is not None and not robots.known(url):
            await robots.check(url)
    except NotFetched as error:
        return error
    return None


def read(body: bytes, agent: str) -> Rules:
    """The rules of a robots.txt for this agent."""
    need("protego")
    from protego import Protego

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
    location = (response.header(b"location") or b"").decode("utf-8", "replace").strip()
    try:
        target = can_ada.parse(urljoin(url, location))
    except (ValueError, TypeError):
        return None
    return str(target.href) if location and target.protocol in ("http:", "https:") else None
