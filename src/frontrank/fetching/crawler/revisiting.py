"""Pages of a crawl come back: when, and before or after pages that are new.

Everything that is known of a page's last copy is kept with the page in the journal (``Copy``), in the commit that settles it.
A page whose time has come waits behind all that are new, so that it fills gaps; and for a share of the pages that are taken
the one that is due longest is put before all others. Politeness towards its host holds as for any other page.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from frontrank.errors import InputError
from frontrank.fetching.copies import Copy
from frontrank.orderings.revisits import from_data, parse, to_data

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl, Link, Where
    from frontrank.fetching.crawler.options import Options
    from frontrank.fetching.fetcher import Answer
    from frontrank.pages.scorers import Judged

NOTE, KEEPS = "revisit", "keeps_payloads"
BEFORE, BEHIND = 1, -1  # priorities, where all other pages have none
SAVED_UP = 2.0  # of what revisits did not need, no more is kept for them
FOR_GOOD = ("http 404", "http 410")  # such a page does not come back


class Revisiting:
    def __init__(self, crawl: Crawl, options: Options) -> None:
        self.crawl, self.share = crawl, options.revisit_share
        self.policy = parse(options.revisit, live=True)
        held = crawl.notes.get(NOTE)
        if held is None or from_data(held) != self.policy:
            crawl.note(NOTE, to_data(self.policy))
        if not crawl.keeps_payloads:
            crawl.note(KEEPS, True)
            crawl.keeps_payloads = True
        self._credit = 0.0
        self._due = self._scheduled()

    def _scheduled(self) -> list[tuple[float, int]]:
        """The pages that come back, of a crawl that goes on."""
        copies = self.crawl.attached_all(self.crawl.waiting_pages()) if self.crawl.known else {}
        due = [(self.crawl.due(page), page) for page in copies]
        heapq.heapify(due)
        return due

    def before(self, page: int) -> Copy | None:
        """The copy that there is of a page."""
        packed = self.crawl.attached(page)
        try:
            return None if packed is None else Copy.unpack(packed)
        except (ValueError, TypeError) as error:
            raise InputError(f"what is kept with {self.crawl.url(page)} is no copy of a page: {error}") from None

    # Which page is next -----------------------------------------------------------------------------------------------------
    def took(self, pages: int) -> None:
        """So many pages were taken: a share of the next ones are revisits, if any are due."""
        self._credit = min(SAVED_UP, self._credit + pages * self.share)

    def lift(self) -> None:
        """Put pages that are due before all others, as many as may be."""
        now = self.crawl.clock()
        while self._credit >= 1.0 and self._due and self._due[0][0] <= now:
            _, page = heapq.heappop(self._due)
            self.crawl.prioritise(page, BEFORE)
            self._credit -= 1.0

    # What became of a page --------------------------------------------------------------------------------------------------
    def fetched(
        self,
        page: int,
        url: str,
        answer: Answer,
        links: Iterable[Link],
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int,
        where: Where | None,
        scores: dict[str, Judged],
    ) -> None:
        """Settle a page that arrived, and say when it comes back: all in one commit."""
        crawl, now, before = self.crawl, self.crawl.clock(), self.before(page)
        copy = self._visited(answer.copy or Copy(), before, answer.unchanged, now)
        again_at = now + copy.wait_s
        with crawl.together():
            crawl.attach(page, copy.pack())
            said = 304 if answer.unchanged else status  # the crawl keeps the links of a page that is what it was
            crawl.fetched(url, links, title, text, impact, status=said, where=where, scores=scores, again_at=again_at)
            crawl.prioritise(page, BEHIND)
        heapq.heappush(self._due, (again_at, page))

    def failed(self, page: int, reason: str) -> None:
        """A page that had been there did not arrive: it comes back all the same, unless it is gone for good."""
        before = self.before(page)
        if before is not None and reason not in FOR_GOOD:
            at = self.crawl.clock() + before.wait_s
            with self.crawl.together():
                self.crawl.schedule_page(page, at)
                self.crawl.prioritise(page, BEHIND)
            heapq.heappush(self._due, (at, page))

    def _visited(self, copy: Copy, before: Copy | None, unchanged: bool, now: float) -> Copy:
        if before is None:
            return replace(copy, first_at=now, wait_s=self.policy.next_wait(0, 0, 0.0, 0.0))
        visits = before.visits + 1
        changes = before.changes + (not unchanged and copy.words != before.words)
        wait = self.policy.next_wait(visits, changes, now - before.first_at, before.wait_s)
        return replace(copy, first_at=before.first_at, visits=visits, changes=changes, wait_s=wait)
