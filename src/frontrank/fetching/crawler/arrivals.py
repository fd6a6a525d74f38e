"""What becomes of a page that arrived, or did not.

    2xx              the links of an HTML page that may be followed are its links in the crawl; all else has none
    3xx + Location   a page with one link
    4xx, 5xx         failed; tried again if the reason may pass (408, 500)
    host trouble     429, 502, 503, 504, network errors: the host rests and the page waits, as ``host_trouble`` says

What came from the server is in the WARC file before the journal says where. Whatever was not followed is counted by reason.
A page whose parser was over its deadline is stored like any other, counted, and has the links that were found.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import can_ada

from frontrank.errors import FrontrankError, InputError, StorageError
from frontrank.fetching.crawler.revisiting import Revisiting
from frontrank.fetching.crawler.scope import scope_of
from frontrank.fetching.failures import Cause
from frontrank.fetching.fetcher import REDIRECTS
from frontrank.fetching.host_trouble import Failure, failure_of
from frontrank.frontiers.frontier import GONE, LEASED
from frontrank.pages import html, urls
from frontrank.pages.scorers import Judged

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Where
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.crawler.scope import Scope
    from frontrank.fetching.fetcher import Answer

logger = logging.getLogger("frontrank.fetching.crawler")

MAX_HOPS = 10

Link = tuple[str, str]
Scores = Mapping[str, Judged]


class Arrivals:
    """Says what pages were, to the crawl of a job."""

    def __init__(self, job: Job, scope: Scope, impact: Callable[[str], float] | None = None) -> None:
        self.job, self.scope, self.impact = job, scope, impact
        self.revisiting = Revisiting(job.crawl, job.options) if job.options.revisit else None
        self.hops: dict[int, int] = {}  # redirects that led to a page which has not arrived yet

    def settle(self, page: int, url: str, answer: Answer, scores: Scores, asked_at: float) -> None:
        """A page that was taken is settled, if it is still ours; whatever goes wrong ends the crawl."""
        job = self.job
        if (
            job.error is not None or job.closed or job.crawl.inspect.mark(page) != LEASED
        ):  # a machine that slept outlives its leases
            return
        with self.or_end():
            where = None
            if job.warc is not None and answer.records is not None:
                where = job.warc.append(*answer.records)
            failure, host = failure_of(answer), job.crawl.inspect.group_of(urls.host_of(url))
            if failure is None or (answer.error is None and failure.cause is Cause.PAGE):
                self._answered(host)
            if failure is None:
                self._settle(page, url, answer, scores, where)
            elif failure.cause is Cause.PAGE:
                self.failed(page, url, failure.reason, failure.retry, where)
            else:
                self._in_trouble(page, url, host, failure, asked_at, where)
            if job.crawl.inspect.mark(page) == GONE:
                job.trouble.settled(host, page)
            job.page_settled(page)
            job.note()

    @contextmanager
    def or_end(self) -> Iterator[None]:
        """What cannot be stored ends the crawl; so does an error of ours, rather than going on with a wrong order."""
        try:
            yield
        except FrontrankError as error:
            self.job.fail(error)
        except OSError as error:
            self.job.fail(StorageError(f"the crawl cannot be stored ({error.strerror or error}); fix this, then resume it"))
        except Exception as error:
            logger.exception("a page cannot be handled", extra={"job": self.job})
            self.job.fail(error)

    # What becomes of a page -------------------------------------------------------------------------------------------------
    def failed(self, page: int, url: str, reason: str, retry: bool, where: Where | None = None) -> None:
        with self.job.crawl.together():  # a page that failed when it came back keeps its date, whenever the process ends
            again = self.job.crawl.failed(page, reason, retry=retry, where=where)
            if not again and self.revisiting is not None:
                self.revisiting.failed(page, reason)
        logger.info("%s%s: %s", reason, ", will be tried again" if again else "", url, extra={"job": self.job})
        if not again:
            self.hops.pop(page, None)
            self.job.lost(reason)

    def _answered(self, host: str) -> None:
        if self.job.trouble.answered(host):  # it had been given up, with pages on their way
            self.job.crawl.control.block_until(host, self.job.crawl.inspect.clock())

    def _in_trouble(self, page: int, url: str, host: str, failure: Failure, asked_at: float, where: Where | None) -> None:
        """It may be the host: then it rests, or is given up, and the page waits with the attempts it has."""
        job, crawl = self.job, self.job.crawl
        if sentence := job.trouble.dead_proxy(failure):
            crawl.give_back([page])
            raise InputError(f"{sentence}, and continue with --resume {crawl.inspect.folder}")
        known = crawl.inspect.host_number(host)
        verdict = job.trouble.failed(
            host, page, failure, asked_at, known=known >= 0 and bool(crawl.state.frontier.hosts(known)["done"][0])
        )
        with crawl.together():
            if verdict.given_up or verdict.rest_s:
                crawl.control.block(host, math.inf if verdict.given_up else verdict.rest_s, reason=failure.reason)
            if verdict.delay_s:
                crawl.control.limit_host(host, delay_s=verdict.delay_s, at_least=True)
            if verdict.attempted:
                self.failed(page, url, failure.reason, verdict.retry, where)
            else:
                crawl.failed(page, failure.reason, retry=True, retry_s=verdict.wait_s, where=where, attempted=False)
        if verdict.given_up:
            logger.warning("%s: %s does not answer, and is given up", failure.reason, host, extra={"job": job})
        elif verdict.rest_s:
            logger.info("%s: %s rests for %.1f s: %s", failure.reason, host, verdict.rest_s, url, extra={"job": job})

    def _settle(self, page: int, url: str, answer: Answer, scores: Scores, where: Where | None) -> None:
        if answer.status in REDIRECTS and answer.location:
            self._redirected(page, url, answer, where)
        elif answer.found is not None:
            self._read(page, url, answer, answer.found, where, scores)
        else:
            self._fetched(page, url, answer, (), where=where)

    def _redirected(self, page: int, url: str, answer: Answer, where: Where | None) -> None:
        hops = self.hops.get(page, 0) + 1
        target = resolved(url, answer.location)
        links: list[Link] = []
        if not target.startswith(("http://", "https://")):
            self.job.count("redirect to another scheme" if target else "not a URL")
        elif len(target) > html.MAX_URL_LENGTH:
            self.job.count("too long")
        elif hops > MAX_HOPS:
            self.job.count("too many redirects")
        elif self._moved(page, target):
            links.append((target, ""))
        else:
            links = self._followed(page, [(target, "")])
        with self.job.crawl.together():
            self._fetched(page, url, answer, links, where=where)
            for target, _ in links:
                number = self.job.crawl.lookup(target)
                if self.job.crawl.inspect.mark(number) != GONE:
                    self.hops[number] = hops
                    self.job.seeds.redirected(page, number)

    def _moved(self, page: int, target: str) -> bool:
        """A seed that says it has moved to another host takes the scope along: that is the site that was meant."""
        reason = self.scope.why_not(target)
        if self.job.crawl.inspect.depth(page) > 0 or reason not in ("other host", "other domain"):
            return False
        moved = [*self.job.crawl.notes.get("moved", ()), target]
        self.job.crawl.note("moved", moved)
        self.scope = scope_of(self.job.options, moved)
        return self.scope.why_not(target) is None

    def _read(self, page: int, url: str, answer: Answer, found: html.Page, where: Where | None, scores: Scores) -> None:
        for scorer, judged in scores.items():
            if isinstance(judged, str):
                logger.warning("scorer %s %s: %s", scorer, judged, url, extra={"job": self.job})
        for reason, times in found.dropped.items():
            self.job.count(reason, times)
        if found.given_up:
            self.job.count(found.given_up)
            logger.info("%s, %d links were found: %s", found.given_up, len(found.links), url, extra={"job": self.job})
        links: Iterable[Link] = found.links
        if found.nofollow:
            self.job.count("nofollow", len(found.links))
            links = ()
        kept = self._followed(page, links)
        self._fetched(page, url, answer, kept, found.title, found.text, where=where, scores=scores)

    def _fetched(
        self,
        page: int,
        url: str,
        answer: Answer,
        links: Iterable[Link],
        title: str = "",
        text: str = "",
        *,
        where: Where | None,
        scores: Scores | None = None,
    ) -> None:
        impact = self.impact(url) if self.impact else 0.0
        first_new = self.job.crawl.inspect.known
        self.hops.pop(page, None)
        told: dict[str, Any] = {"status": answer.status, "where": where, "scores": scores or {}}
        if self.revisiting is not None:
            self.revisiting.fetched(page, url, answer, links, title, text, impact, **told)
        else:
            self.job.crawl.fetched(url, links, title, text, impact, **told)
        self.job.traps.fetched(page, url, title, links, first_new)

    def _followed(self, page: int, links: Iterable[Link]) -> list[Link]:
        """Those that belong to the crawl; the others are counted."""
        why_not, crawl = self.scope.why_not, self.job.crawl
        is_deepest = crawl.inspect.depth(page) >= self.job.options.max_depth
        kept: list[Link] = []
        for link in links:
            reason = why_not(link[0])
            if reason is None and is_deepest and crawl.lookup(link[0]) < 0:
                reason = "depth"
            if reason is None:
                kept.append(link)
            else:
                self.job.count(reason)
        return kept


def resolved(base: str, location: str) -> str:
    """Where a redirect leads, in canonical form; empty if it is no URL.

    >>> resolved("http://a.example/b/c", "../d?sid=1#e"), resolved("http://a.example/", "http://[")
    ('http://a.example/d', '')
    """
    try:
        return urls.clean((can_ada.parse(base) + location.strip()).href)
    except (ValueError, TypeError):
        return ""
