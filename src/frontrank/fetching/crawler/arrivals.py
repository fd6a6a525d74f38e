"""What becomes of a page that arrived, or did not.

    2xx              the links of an HTML page that may be followed are its links in the crawl; anything else has no links
    3xx + Location   a page with one link
    4xx, 5xx         failed; tried again if the reason may pass (408, 500)
    host trouble     429, 502, 503, 504, network errors: the host rests and the page waits, as ``host_trouble`` says

The bytes of a response are in the WARC file before the journal refers to them. Links that are not followed are counted by
reason. A page whose parser was over its deadline is stored like any other, counted, and has the links that were found.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from frontrank.fetching.crawler.revisiting import Revisiting
from frontrank.fetching.crawler.scope import scope_of
from frontrank.fetching.fetcher import MAX_HOPS, redirect_target
from frontrank.fetching.loop import FetchTask
from frontrank.frontiers.frontier import GONE
from frontrank.pages import html
from frontrank.pages.scorers import Judged

if TYPE_CHECKING:
    from frontrank.fetching.crawler.job import Job
    from frontrank.fetching.crawler.scope import Scope
    from frontrank.fetching.fetcher import FetchResult
    from frontrank.fetching.host_trouble import Verdict

logger = logging.getLogger("frontrank.fetching.crawler")

Link = tuple[str, str]
Scores = Mapping[str, Judged]
Task = FetchTask[int]  # its handle is the number of the page


class Arrivals:
    """Settles pages in the crawl of a job."""

    def __init__(self, job: Job, scope: Scope, impact: Callable[[str], float] | None = None) -> None:
        self.job, self.crawl, self.scope, self.impact = job, job.crawl, scope, impact
        self.revisiting = Revisiting(job.crawl, job.options) if job.options.revisit else None
        self.hops: dict[int, int] = {}  # redirects that led to a page which has not arrived yet

    def settle(self, task: Task, result: FetchResult, verdict: Verdict, scores: Scores) -> None:
        job = self.job
        if job.warc is not None and result.records is not None:
            result.where = job.warc.append(*result.records)
        if verdict.revived:
            self.crawl.control.block_until(task.queue, self.crawl.inspect.clock())
        if verdict.reason:
            with self.crawl.together():
                self._failed(task, result, verdict)
        elif result.redirects:
            self._redirected(task, result)
        else:
            self._fetched(task, result, self._links(task, result), scores)
            self._log_parsing(task.url, result.found, scores)
        if self.crawl.inspect.mark(task.handle) == GONE:
            job.trouble.settled(task.queue, task.url)
        job.seeds.settled(task.handle)
        job.note()

    # A page that did not arrive ---------------------------------------------------------------------------------------------
    def _failed(self, task: Task, result: FetchResult, verdict: Verdict) -> None:
        self._treat_host(task.queue, verdict)
        page, reason, where = task.handle, verdict.reason, result.where
        if not verdict.attempted:
            self.crawl.failed(page, reason, retry=True, retry_s=verdict.wait_s, where=where, attempted=False)
            return
        again = self.crawl.failed(page, reason, retry=verdict.retry, where=where)
        logger.info("%s%s: %s", reason, ", will be tried again" if again else "", task.url, extra={"job": self.job})
        if not again:
            if self.revisiting is not None:  # in the same commit: it keeps its date, whenever the process ends
                self.revisiting.failed(page, reason)
            self.hops.pop(page, None)
            self.job.record_failure(reason)

    def _treat_host(self, host: str, verdict: Verdict) -> None:
        """It rests, is given up, or gets a longer delay."""
        reason = verdict.reason
        if verdict.given_up:
            self.crawl.control.block(host, math.inf, reason=reason)
            logger.warning("%s: %s does not answer, and is given up", reason, host, extra={"job": self.job})
        elif verdict.rest_s:
            self.crawl.control.block(host, verdict.rest_s, reason=reason)
            logger.info("%s: %s rests for %.1f s", reason, host, verdict.rest_s, extra={"job": self.job})
        if verdict.delay_s:
            self.crawl.control.limit_host(host, delay_s=verdict.delay_s, at_least=True)

    # A page that arrived ------------------------------------------------------------------------------------------------------
    def _fetched(self, task: Task, result: FetchResult, links: Iterable[Link], scores: Scores) -> None:
        crawl, found = self.crawl, result.found
        title, text = (found.title, found.text) if found is not None and not result.withheld else ("", "")
        impact = self.impact(task.url) if self.impact else 0.0
        first_new = crawl.inspect.known
        self.hops.pop(task.handle, None)
        with crawl.together():
            status, again_at = result.status, None
            if self.revisiting is not None:
                status, again_at = self.revisiting.fetched(task, result)
            crawl.fetched(
                *(task.handle, links, title, text, impact),
                status=status,
                where=result.where,
                scores=scores,
                again_at=again_at,
                metadata=result.metadata(task.url),
            )
            if self.job.export is not None:  # before the commit: the file has what is acknowledged
                self.job.export.arrived(task.handle, found, result.records[1] if result.records else None)
        self.job.traps.fetched(task.handle, task.url, found.title if found is not None else "", links, first_new)

    def _redirected(self, task: Task, result: FetchResult) -> None:
        hops = self.hops.get(task.handle, 0) + 1
        target = redirect_target(task.url, result.location)
        links: list[Link] = []
        if not target.startswith(("http://", "https://")):
            self.job.count("redirect to another scheme" if target else "not a URL")
        elif len(target) > html.MAX_URL_LENGTH:
            self.job.count("too long")
        elif hops > MAX_HOPS:
            self.job.count("too many redirects")
        elif self._moved(task.handle, target):
            links.append((target, ""))
        else:
            links = self._followed(task.handle, [(target, "")])
        with self.crawl.together():
            self._fetched(task, result, links, {})
            for target, _ in links:
                number = self.crawl.lookup(target)
                if self.crawl.inspect.mark(number) != GONE:
                    self.hops[number] = hops
                    self.job.seeds.redirected(task.handle, number)

    def _moved(self, page: int, target: str) -> bool:
        """A seed that redirects to another host takes the scope along: that is the site that was meant."""
        reason = self.scope.why_not(target)
        if self.crawl.inspect.depth(page) > 0 or reason not in ("other host", "other domain"):
            return False
        moved = [*self.crawl.notes.get("moved", ()), target]
        self.crawl.note("moved", moved)
        self.scope = scope_of(self.job.options, moved)
        return self.scope.why_not(target) is None

    def _links(self, task: Task, result: FetchResult) -> list[Link]:
        """The links of a page that are followed; the others are counted."""
        found = result.found
        if found is None:
            return []
        for reason, times in found.dropped.items():
            self.job.count(reason, times)
        if result.directives.nofollow:
            self.job.count("nofollow", len(found.links))
            return []
        return self._followed(task.handle, found.links)

    def _log_parsing(self, url: str, found: html.Page | None, scores: Scores) -> None:
        for scorer, judged in scores.items():
            if isinstance(judged, str):
                logger.warning("scorer %s %s: %s", scorer, judged, url, extra={"job": self.job})
        if found is not None and found.given_up:
            self.job.count(found.given_up)
            logger.info("%s, %d links were found: %s", found.given_up, len(found.links), url, extra={"job": self.job})

    def _followed(self, page: int, links: Iterable[Link]) -> list[Link]:
        why_not, crawl = self.scope.why_not, self.crawl
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
