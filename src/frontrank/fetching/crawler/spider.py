"""The spider: what becomes of a page that arrived, or did not.

    2xx              the links of an HTML page that may be followed are its links in the crawl; all else has none
    3xx + Location   a page with one link
    4xx, 5xx         failed; tried again if the reason may pass (408, 429, 500, 502, 503, 504), as network errors are
    Retry-After      the host is left alone for so long

What came from the server is in the WARC file before the journal says where. Whatever was not followed is counted by reason.

Pages that might take long are parsed elsewhere (fetching/parsing.py), and are settled when that is done; until then other
pages come and go. A page over its deadline is stored like any other, counted, and has the links that were found.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import can_ada
from scrapy import Request, Spider

from frontrank.fetching.crawler.scope import scope_of
from frontrank.fetching.limits import reason_of
from frontrank.fetching.parsing import Parsing
from frontrank.fetching.retry_after import rest_s
from frontrank.fetching.scrapy_engine import PAGE, OrStop
from frontrank.frontiers.frontier import GONE, LEASED
from frontrank.pages import html, urls
from frontrank.pages.scorers import Judged
from frontrank.pages.workers import Closed

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from frontrank.crawl.crawl import Where
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.crawler.scope import Scope

logger = logging.getLogger("frontrank.fetching.crawler")

REDIRECTS = (301, 302, 303, 307, 308)
MAY_PASS = (408, 429, 500, 502, 503, 504)
MOST_HOPS = 10
HTML_TYPES = ("text/html", "application/xhtml+xml")
UNSAID = ("", "application/octet-stream", "text/plain", "unknown/unknown")  # types that servers give when they do not know

Link = tuple[str, str]
Scores = Mapping[str, Judged]


class PageSpider(Spider):
    """Pages come from the scheduler; this says what they were."""

    name = "frontrank"

    def __init__(self, job: Job, scope: Scope, impact: Callable[[str], float] | None = None) -> None:
        super().__init__()
        self.job, self.scope, self.impact = job, scope, impact
        self.frontier = job.crawl  # where the robots.txt middleware tells of a host's delay
        self.wants_text = job.crawl.reads_texts
        self.parsing = Parsing()
        self.judging = Parsing()  # apart: a scorer that hangs keeps no page from being parsed
        scorings = [one.close for one in job.crawl.scoring.values()]  # first: threads that wait for them are joined
        job.closers += [*scorings, self.parsing.close, self.judging.close]
        self.hops: dict[int, int] = {}  # redirects that led to a page which has not arrived yet

    async def start(self) -> AsyncIterator[Any]:
        """Nothing comes from here but the URLs of sitemaps, and these go to the frontier."""
        if self.job.reading:
            from frontrank.fetching.crawler.sitemaps import seed_from_sitemaps

            await seed_from_sitemaps(self)
        for nothing in list[Any]():
            yield nothing

    # What Scrapy calls ------------------------------------------------------------------------------------------------------
    def arrived(self, response: Response) -> Coroutine[Any, Any, None] | None:
        if not has_links(response):
            self._settle_safely(response, None, {})
            return None
        with self._or_end():
            found = self.parsing.at_once(*self._to_parse(response))
            scores = None if found is None else self.job.crawl.scores_at_once(response.url, found.title, found.text)
            if found is None or scores is None:
                return self._read_elsewhere(response, found)
            self._settle_safely(response, found, scores)
        return None

    async def _read_elsewhere(self, response: Response, found: html.Page | None) -> None:
        host, crawl = urls.host_of(response.url), self.job.crawl
        with self._or_end(), suppress(Closed):  # then the crawl ends at once: the page is asked for when it goes on
            if found is None:
                found = await self.parsing.page(host, *self._to_parse(response))
            scores = crawl.scores_at_once(response.url, found.title, found.text)
            if scores is None:
                scores = await self.judging.wait_for(host, crawl.scores, response.url, found.title, found.text)
            self._settle_safely(response, found, scores)

    def _to_parse(self, response: Response) -> tuple[bytes, str, str | None, int, bool]:
        url = self.job.crawl.url(response.meta[PAGE])
        return response.body, url, charset_of(response), self.job.options.max_links, self.wants_text

    def _settle_safely(self, response: Response, found: html.Page | None, scores: Scores) -> None:
        page = response.meta[PAGE]
        self._safely(page, lambda: self._settle(page, response, found, scores))

    def lost(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]
        reason, retry = reason_of(failure.value or ValueError("nothing came"))
        page = request.meta[PAGE]
        self._safely(page, lambda: self.failed(page, request.url, reason, retry))

    def _safely(self, page: int, settle: Callable[[], None]) -> None:
        job = self.job
        if job.error is not None or job.closed or job.crawl.mark(page) != LEASED:  # a machine that slept outlives its leases
            return
        with self._or_end():
            settle()
            self.job.note()

    @contextmanager
    def _or_end(self) -> Iterator[None]:
        """What cannot be stored ends the crawl; so does an error of ours, rather than going on with a wrong order."""
        try:
            with OrStop(self.job.fail):
                yield
        except Exception as error:
            logger.exception("a page cannot be handled", extra={"spider": self})
            self.job.fail(error)

    # What becomes of a page -------------------------------------------------------------------------------------------------
    def failed(self, page: int, url: str, reason: str, retry: bool, where: Where | None = None) -> None:
        again = self.job.crawl.failed_page(page, reason, retry=retry, where=where)
        logger.info("%s%s: %s", reason, ", will be tried again" if again else "", url, extra={"spider": self})
        if not again:
            self.hops.pop(page, None)
            self.job.lost(reason)

    def _settle(self, page: int, response: Response, found: html.Page | None, scores: Scores) -> None:
        status, url = response.status, self.job.crawl.url(page)
        where = self._stored(url, response)
        self._rest(page, url, response)
        if status in REDIRECTS and response.headers.get("Location"):
            self._redirected(page, url, response, where)
        elif status >= 400 or status < 200:
            self.failed(page, url, f"http {status}", status in MAY_PASS, where)
        elif found is not None:
            self._read(page, url, found, where, status, scores)
        else:
            self._fetched(page, url, (), where=where, status=status)

    def _rest(self, page: int, url: str, response: Response) -> None:
        """Leave a host alone that asks for it."""
        crawl = self.job.crawl
        pause = crawl.politeness.pause(crawl.attempts.get(page, 0) + 1)
        rest = rest_s(response.status, response.headers.get("Retry-After"), pause)
        if rest:
            crawl.block(urls.host_of(url), rest)

    def _stored(self, url: str, response: Response) -> Where | None:
        if self.job.warc is None:
            return None
        asked = response.request.headers if response.request is not None else {}
        return self.job.warc.write(
            url,
            response.status,
            _pairs(response.headers),
            response.body,
            request_headers=_pairs(asked),
            protocol=response.protocol or "HTTP/1.1",
            address=None if response.ip_address is None or self.job.options.proxy else str(response.ip_address),
        )

    def _redirected(self, page: int, url: str, response: Response, where: Where | None) -> None:
        location = (response.headers.get("Location") or b"").decode("utf-8", "replace")
        hops = self.hops.get(page, 0) + 1
        target = resolved(url, location)
        links: list[Link] = []
        if not target.startswith(("http://", "https://")):
            self.job.count("redirect to another scheme" if target else "not a URL")
        elif len(target) > html.LONGEST_URL:
            self.job.count("too long")
        elif hops > MOST_HOPS:
            self.job.count("too many redirects")
        elif self._moved(page, target) or self._may_follow(page, target):
            links.append((target, ""))
        self._fetched(page, url, links, where=where, status=response.status)
        for target, _ in links:
            number = self.job.crawl.find(target)
            if self.job.crawl.mark(number) != GONE:
                self.hops[number] = hops

    def _moved(self, page: int, target: str) -> bool:
        """A seed that says it has moved to another host takes the scope along: that is the site that was meant."""
        reason = self.scope.why_not(target)
        if self.job.crawl.depth(page) > 0 or reason not in ("other host", "other domain"):
            return False
        moved = [*self.job.crawl.notes.get("moved", ()), target]
        self.job.crawl.note("moved", moved)
        self.scope = scope_of(self.job.options, moved)
        return self.scope.why_not(target) is None

    def _read(self, page: int, url: str, found: html.Page, where: Where | None, status: int, scores: Scores) -> None:
        for scorer, judged in scores.items():
            if isinstance(judged, str):
                logger.warning("scorer %s %s: %s", scorer, judged, url, extra={"spider": self})
        for reason, times in found.dropped.items():
            self.job.count(reason, times)
        if found.given_up:
            self.job.count(found.given_up)
            logger.info("%s, %d links were found: %s", found.given_up, len(found.links), url, extra={"spider": self})
        links: Iterable[Link] = found.links
        if found.nofollow:
            self.job.count("nofollow", len(found.links))
            links = ()
        cleaned = ((urls.clean(target), anchor) for target, anchor in links)
        kept = [link for link in cleaned if self._may_follow(page, link[0])]
        self._fetched(page, url, kept, found.title, found.text, where=where, status=status, scores=scores)

    def _fetched(
        self,
        page: int,
        url: str,
        links: Iterable[Link],
        title: str = "",
        text: str = "",
        *,
        where: Where | None,
        status: int,
        scores: Scores | None = None,
    ) -> None:
        impact = self.impact(url) if self.impact else 0.0
        self.hops.pop(page, None)
        self.job.crawl.fetched(url, links, title, text, impact, status=status, where=where, scores=scores or {})

    def _may_follow(self, page: int, url: str) -> bool:
        reason = self.scope.why_not(url)
        crawl = self.job.crawl
        if reason is None and crawl.depth(page) >= self.job.options.max_depth and crawl.find(url) < 0:
            reason = "depth"
        if reason is not None:
            self.job.count(reason)
        return reason is None


def _pairs(headers: Mapping[bytes, Sequence[bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, values in headers.items() for value in values]


def resolved(base: str, location: str) -> str:
    """Where a redirect leads, in canonical form; empty if it is no URL.

    >>> resolved("http://a.example/b/c", "../d?sid=1#e"), resolved("http://a.example/", "http://[")
    ('http://a.example/d', '')
    """
    try:
        return urls.clean((can_ada.parse(base) + location.strip()).href)
    except (ValueError, TypeError):
        return ""


def has_links(response: Response) -> bool:
    """Whether this is a page to be parsed."""
    is_page = 200 <= response.status < 400 and not (response.status in REDIRECTS and response.headers.get("Location"))
    return is_page and is_html(response) and not html.looks_binary(response.body)


def is_html(response: Response) -> bool:
    """By its type, or by its looks where the server does not know."""
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind in HTML_TYPES:
        return True
    start = response.body[:1024].lstrip().lower()
    return kind in UNSAID and start.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def charset_of(response: Response) -> str | None:
    """The encoding that the server names, if it names one.

    >>> from scrapy.http import Response
    >>> charset_of(Response("http://a/", headers={"Content-Type": 'text/html; charset="Latin-1"'}))
    'latin-1'
    """
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1").lower()
    _, found, rest = kind.partition("charset=")
    return rest.partition(";")[0].strip(" \"'") or None if found else None
