"""The events of a crawl by page number: for whoever has looked the pages up already. ``Crawl`` has the same by URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from frontrank.crawl import events, given
from frontrank.crawl.control import MAX_HELD
from frontrank.crawl.events import Where
from frontrank.crawl.live import alone
from frontrank.crawl.queues import Queues
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, LATER, LEASED, WAITING
from frontrank.kernels.jit import Array
from frontrank.pages.scorers import Judged


class Numbered(Queues):
    """What happens to pages, by their numbers."""

    @alone
    def seed_pages(self, pages: Sequence[int], now: float | None = None) -> None:
        pages = self.check_pages(pages)
        at = self._tick(now)
        fresh = [page for page in dict.fromkeys(pages) if self.frontier.mark(page) in (ABSENT, WAITING, FORGOTTEN)]
        if fresh:
            self._do(events.Seeded(at, fresh))
        self._acknowledge()

    @alone
    def take_pages(self, n: int = 1, now: float | None = None) -> list[int]:
        taken, tried = self._take(n, now)
        if tried and not self._held:
            self.log.commit()
        return taken

    @alone
    def take_prioritised(self, n: int, priority: int, now: float | None = None) -> list[int]:
        """As ``take_pages``, but only pages with at least this priority."""
        n, priority = given.whole(n, "n", of=" of pages"), given.whole(priority, "a priority", least=-given.MAX_WHOLE)
        at = self._tick(now)
        drawn: list[int] = []
        if self._may_take(at):
            self.frontier.release(at, None if self.revisit_share is None else self.state.fetched)
            drawn = self.frontier.pop_prioritised(at, priority, n)
        taken = self._taken(drawn, at)
        if drawn and not self._held:
            self.log.commit()
        return taken

    def _take(self, n: int, now: float | None) -> tuple[list[int], int]:
        """Pages that may go, and how many were looked at: if any were, there is something to commit."""
        n = given.whole(n, "n", of=" of pages")
        at = self._tick(now)
        if not self._may_take(at):
            return [], 0
        allowed: list[int] = []
        tried = 0
        while len(allowed) < n and tried < n + MAX_HELD and (taken := self._draw(n - len(allowed), at)):
            tried += len(taken)
            allowed += self._taken(taken, at)
            if self.rules.is_spent:
                break
        return allowed, tried

    def _draw(self, n: int, at: float) -> list[int]:
        """The best pages; with a share for revisits, so many of all that are taken are those that are due for longest."""
        share, drawn = self.revisit_share, self._drawn
        if share is None:
            return self.frontier.take(n, at)
        self.frontier.release(at, self.state.fetched)
        taken: list[int] = []
        while len(taken) < n:
            owed = drawn[1] < share * (drawn[0] + 1)
            page = self.frontier.take_returning(at) if owed else -1
            if page < 0:
                page = (self.frontier.pop(at) or [-1])[0]
            if page < 0 and not owed:
                page = self.frontier.take_returning(at)
            if page < 0:
                break
            drawn[0] += 1
            drawn[1] += int(self.state.fetched[page])
            taken.append(page)
        return taken

    def share_revisits(self, share: float | None) -> None:
        """Give revisits that are due this share of what is taken, if there is enough of both; None: the ordering decides."""
        self.note("revisit_share", None if share is None else checked_share(share))
        self.revisit_share = share

    def scores(self, url: str, title: str, text: str) -> dict[str, Judged]:
        """What the ordering's scorers say of a page, for ``fetched``. It may take seconds, and holds up nobody else."""
        return {scorer: scoring.page(url, title, text) for scorer, scoring in self.scoring.items()}

    def scores_at_once(self, url: str, title: str, text: str) -> dict[str, Judged] | None:
        """The same, if it cannot take long."""
        found = {scorer: scoring.at_once(url, title, text) for scorer, scoring in self.scoring.items()}
        judged = {scorer: value for scorer, value in found.items() if value is not None}
        return judged if len(judged) == len(found) else None

    @alone
    def fetched_page(
        self,
        page: int,
        targets: Sequence[int] | None,
        anchors: Sequence[str] | None = None,
        title: str = "",
        text: str = "",
        impact: float = 0.0,
        *,
        status: int = 200,
        where: Where | None = None,
        now: float | None = None,
        scores: Mapping[str, Judged] | None = None,
        again_at: float | None = None,
        any_state: bool = False,
    ) -> None:
        """``targets=None``: the links that ``discover`` was told of the page. ``any_state``: it need not be leased."""
        page = self.check_page(page)
        if targets is not None:
            targets = self.check_pages(targets)
            if anchors is not None and len(given.texts(anchors, "an anchor")) != len(targets):
                raise InputError(f"there must be one anchor for each of {len(targets)} targets, got {anchors!r}")
        judged = self.scores(self.url(page), title, text) if scores is None else scores
        said = (title, text, impact)
        self._fetched_page(page, targets, anchors, said, status, where, now, judged, again_at, any_state)

    def _fetched_page(
        self,
        page: int,
        targets: Sequence[int] | Array | None,
        anchors: Sequence[str] | None,
        said: tuple[str, str, float],
        status: int,
        where: Where | None,
        now: float | None,
        scores: Mapping[str, Judged],
        again_at: float | None,
        any_state: bool = False,
    ) -> None:
        title, text = given.text(said[0], "a title"), given.text(said[1], "a text")
        impact = given.number(said[2], "the impact of a page")
        status, where = given.whole(status, "the status of a page"), given.where(where)
        if again_at is not None:
            again_at = given.seconds(again_at, "a page must be fetched again at")
        if not isinstance(scores, Mapping):
            raise InputError(f"scores must be a mapping from scorers to what they say, got {scores!r}")
        at = self._tick(now)
        if not any_state:
            self._check_leased(page)
        if targets is None:
            told = self.pending.get(page, {})
            targets, anchors = list(told), list(told.values())
        links, words = _distinct(page, targets, anchors)
        if text and self.keeps_texts:
            self.log.keep_text(page, text)
        self._do(events.Fetched(at, page, links, words, title, text, impact, status, where, scores, again_at))
        self._settled(at)

    @alone
    def failed_page(
        self,
        page: int,
        reason: str = "failed",
        *,
        retry: bool = False,
        retry_s: float | None = None,
        where: Where | None = None,
        now: float | None = None,
        attempted: bool = True,
    ) -> bool:
        """``attempted=False``: it is no fault of the page, which waits again and has as many attempts left as before."""
        page = self.check_page(page)
        reason, where = given.text(reason, "a reason"), given.where(where)
        if retry_s is not None:
            retry_s = given.seconds(retry_s, "a page must be tried again after")
        at = self._tick(now)
        self._check_leased(page)
        attempt = self.attempts.get(page, 0) + bool(attempted)
        if retry and (attempt <= self.politeness.retries or not attempted):
            due = at + (self.politeness.pause(max(attempt, 1)) if retry_s is None else retry_s)
            self._do(events.Retried(at, page, attempt, due, reason, where))
            self._acknowledge()
            return True
        self._do(events.Failed(at, page, reason, where))
        self._settled(at)
        return False

    @alone
    def give_back(self, pages: Sequence[int], now: float | None = None) -> None:
        """Pages that were taken wait again at once, where they stood: whoever had them is gone. Others are left alone."""
        pages = self.check_pages(pages)
        at = self._tick(now)
        for page in pages:
            if self.frontier.mark(page) == LEASED:
                self._do(events.Expired(at, page))
        self._acknowledge()

    @alone
    def drop_page(self, page: int, reason: str = "dropped", now: float | None = None) -> None:
        page = self.check_page(page)
        if self.frontier.mark(page) not in (WAITING, LATER):
            raise InputError(f"page {self.url(page)!r} cannot be dropped: it is not waiting")
        reason, at = given.text(reason, "a reason"), self._tick(now)
        self._do(events.Failed(at, page, reason))
        self._settled(at)

    @alone
    def rescore(self, now: float | None = None) -> None:
        """Rank everything that waits anew, now. Orderings that are always up to date have nothing to do."""
        if self.policy.interval() and not self.ranking.under_way:
            self._rank(self._tick(now))
            self._acknowledge()


def checked_share(share: float) -> float:
    if not (isinstance(share, int | float) and 0 <= share <= 1):
        raise InputError(f"revisit_share must be a share from 0 to 1, got {share!r}")
    return float(share)


def _distinct(page: int, targets: Sequence[int] | Array, anchors: Sequence[str] | None) -> tuple[Array, list[str]]:
    """The targets without repetitions and without the page itself; anchors of one target are joined."""
    pages = targets.tolist() if isinstance(targets, np.ndarray) else targets
    if anchors is None or not any(anchors):
        distinct = dict.fromkeys(pages)
        distinct.pop(page, None)
        if isinstance(targets, np.ndarray) and len(distinct) == len(pages):
            return targets.astype("<i4", copy=False), []
        return np.array(list(distinct), "<i4"), []
    words: dict[int, str] = {}
    for target, anchor in zip(pages, anchors, strict=True):
        if target != page:
            words[target] = f"{words[target]} {anchor}".strip() if target in words else anchor
    return np.array(list(words), "<i4"), [" ".join(anchor.split("\n")) for anchor in words.values()]
