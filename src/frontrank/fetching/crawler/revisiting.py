"""Pages of a crawl come back, when a policy of revisits says so.

Everything that is known of a page's last copy is kept with the page in the journal (``Copy``), in the commit that settles it.
Which revisit is next, and how many there are among new pages, is the frontier's to say (``Crawl.share_revisits``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from frontrank.errors import InputError
from frontrank.fetching.copies import Copy
from frontrank.orderings.revisits import from_data, parse, to_data
from frontrank.orderings.revisits.revisit import Revisit

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl, Link, Where
    from frontrank.fetching.crawler.options import Options
    from frontrank.fetching.fetcher import Answer
    from frontrank.pages.scorers import Judged

NOTE, KEEPS = "revisit", "keeps_payloads"
FOR_GOOD = ("http 404", "http 410")  # such a page does not come back


class Revisiting:
    def __init__(self, crawl: Crawl, options: Options) -> None:
        self.crawl = crawl
        held = crawl.notes.get(NOTE, {})
        if held.get("spec") == options.revisit:  # as it was meant, should a later version have other defaults
            self.policy = from_data(held)
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
            return None if packed is None else Copy.unpack(packed)
        except (ValueError, TypeError) as error:
            raise InputError(f"what is kept with {self.crawl.url(page)} is not a copy of a page: {error}") from None

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
        crawl, now, before = self.crawl, self.crawl.inspect.clock(), self.before(page)
        copy = visited(self.policy, answer.copy or Copy(), before, answer.unchanged, now)
        with crawl.together():
            crawl.attach({page: copy.pack()})
            said = 304 if answer.unchanged else status  # the crawl keeps the links of a page that is what it was
            crawl.fetched(url, links, title, text, impact, status=said, where=where, scores=scores, again_at=now + copy.wait_s)

    def failed(self, page: int, reason: str) -> None:
        """A page that had been there did not arrive: it comes back all the same, unless it is gone for good."""
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
