"""Revisits: a revisit policy says when a page of a crawl is fetched again.

Everything that is known of a page's last copy is kept with the page in the journal (``Copy``), in the commit that settles it.
Which revisit is next, and how many there are among new pages, is the frontier's to say (``crawl.control.share_revisits``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from frontrank.errors import InputError
from frontrank.fetching.copies import Copy
from frontrank.orderings.revisits import from_data, parse, to_data
from frontrank.orderings.revisits.revisit import Revisit

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.crawler.options import Options
    from frontrank.fetching.fetcher import FetchResult
    from frontrank.fetching.loop import FetchTask

NOTE, KEEPS = "revisit", "keeps_payloads"
FOR_GOOD = ("http 404", "http 410")  # such a page does not come back


class Revisiting:
    def __init__(self, crawl: Crawl, options: Options) -> None:
        self.crawl = crawl
        self._expected: dict[int, float] = {}  # of pages in flight that never came: how long they wait, as sitemaps have it
        stored = crawl.notes.get(NOTE, {})
        if stored.get("spec") == options.revisit:  # a later version may have other defaults
            self.policy = from_data(stored)
        else:
            self.policy = parse(options.revisit, live=True)
            crawl.note(NOTE, {"spec": options.revisit, **to_data(self.policy)})
        if not crawl.state.payloads.keeps_all:
            crawl.note(KEEPS, True)
            crawl.state.payloads.keeps_all = True
        if crawl.control.revisit_share != options.revisit_share:
            crawl.control.share_revisits(options.revisit_share)

    def before(self, page: int) -> Copy | None:
        """The copy that there is of a page."""
        packed = self.crawl.attached([page]).get(page)
        try:
            copy = None if packed is None else Copy.unpack(packed)
            if copy is not None and not copy.first_at:
                self._expected[page] = copy.wait_s
                return None
            return copy
        except (ValueError, TypeError) as error:
            raise InputError(f"what is kept with {self.crawl.url(page)} is not a copy of a page: {error}") from None

    def expect(self, waits: Mapping[int, float]) -> None:
        """Keep with pages that have not come yet how long they should wait after their first visit."""
        self.crawl.attach({page: Copy(wait_s=wait).pack() for page, wait in waits.items()})

    def fetched(self, task: FetchTask[int], result: FetchResult) -> tuple[int, float]:
        """Keep the copy of a page that arrived; returns the status to settle it with, and when it is fetched again.

        With status 304 the crawl keeps the links of a page that is the same as before.
        """
        now = self.crawl.inspect.clock()
        policy = self.policy.expecting(self._expected.pop(task.handle, 0.0))
        copy = visited(policy, result.copy or Copy(), task.before, result.unchanged, now)
        if result.directives.max_age_s > copy.wait_s:
            copy = replace(copy, wait_s=result.directives.max_age_s)
        self.crawl.attach({task.handle: copy.pack()})
        return 304 if result.unchanged else result.status, now + copy.wait_s

    def failed(self, page: int, reason: str) -> None:
        """A page that arrived before did not arrive now: it is fetched again all the same, unless it is gone for good."""
        before = self.before(page)
        if before is not None and reason not in FOR_GOOD:
            self.crawl.queues.schedule(page, self.crawl.inspect.clock() + before.wait_s)


def visited(policy: Revisit, copy: Copy, before: Copy | None, unchanged: bool, now: float) -> Copy:
    """The copy of a page that was visited now, with the visits so far, and how long it waits for the next."""
    if before is None:
        return replace(copy, first_at=now, wait_s=policy.next_wait(0, 0, 0.0, 0.0))
    visits = before.visits + 1
    changes = before.changes + (not unchanged and copy.words != before.words)
    wait = policy.next_wait(visits, changes, now - before.first_at, before.wait_s)
    return replace(copy, first_at=before.first_at, visits=visits, changes=changes, wait_s=wait)
