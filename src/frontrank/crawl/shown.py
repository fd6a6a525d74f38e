"""What can be known of a crawl, and what a person asks of it. Nothing here is an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.crawl import given, status
from frontrank.crawl.control import PAUSED_S
from frontrank.crawl.demand import Demand
from frontrank.crawl.history import History
from frontrank.crawl.live import alone
from frontrank.errors import InputError
from frontrank.frontiers.frontier import LATER, WAITING

SOON_S = 0.02  # a take that waits for a ranking looks again


class Shown(Demand):
    """A crawl as it is looked at."""

    # What is known --------------------------------------------------------------------------------------------------------
    @property
    @alone
    def waiting(self) -> int:
        """Pages that wait to be taken, now or when a retry is due."""
        return self.frontier.counts.waiting

    @property
    def leased(self) -> int:
        return len(self.leases)

    @property
    def fetched_count(self) -> int:
        return len(self.order) - self.failed_count - len(self.reopened)

    @property
    def folder(self) -> Path | None:
        """The directory of a durable crawl."""
        return self.log.folder

    @property
    def broken(self) -> str:
        """Why nothing can be stored any more; empty if all is well."""
        return self.log.broken

    @property
    def disk_full(self) -> bool:
        """Whether nothing can be stored because the disk has no room."""
        return bool(getattr(self.log, "disk_full", False))

    @alone
    def find(self, url: str, key: int | None = None) -> int:
        return super().find(url, key)

    @alone
    def page(self, url: str, key: int | None = None) -> int:
        return super().page(url, key)

    @alone
    def url(self, page: int) -> str:
        page = self.check_page(page)
        return super().url(page)

    @alone
    def mark(self, page: int) -> int:
        """Where a page stands: ABSENT, WAITING, LEASED, LATER or GONE of ``frontiers.frontier``."""
        page = self.check_page(page)
        return self.frontier.mark(page)

    @alone
    def waiting_pages(self) -> list[int]:
        """All pages that wait, for their turn or for a retry, in the order of their numbers."""
        return [page for page in range(self.known) if self.frontier.mark(page) in (WAITING, LATER)]

    @alone
    def attach(self, page: int, payload: bytes) -> None:
        """Keep something with a page until it is settled. It is acknowledged with the next event."""
        page = self.check_page(page)
        if not isinstance(payload, bytes):
            raise InputError(f"what is kept with a page must be bytes, got {payload!r}")
        self.holds_payloads = True
        self.log.attach(page, payload)

    @alone
    def attached(self, page: int) -> bytes | None:
        page = self.check_page(page)
        return self.log.attached(page)

    @alone
    def next_at(self) -> float | None:
        """When a page may next be taken; None if time alone brings none."""
        if self.done():
            return None
        first = self.frontier.next_at()
        if first == np.inf:
            return None
        if self._waits_for_ranking() or self.paused:
            return self.clock() + (PAUSED_S if self.paused else SOON_S)
        return max(first - self.shift, 0.0)

    @alone
    def gauges(self) -> dict[str, float]:
        return self.policy.gauges(self.state)

    @property
    def history(self) -> History:
        """What happened so far, counted: for reports."""
        return History(self)

    def before_sync(self, call: Callable[[], None]) -> None:
        """Have this called before events reach the disk: files that they point to must be there first."""
        self.log.before_sync = call

    # What a person asks ---------------------------------------------------------------------------------------------------
    @alone
    def status(self) -> dict[str, Any]:
        """How far it is: pages fetched, waiting, leased, failed by reason, hosts, the next pages in their order."""
        return status.of(self)

    @alone
    def overview(self) -> dict[str, Any]:
        """The same but for failures by reason and the next pages, at a price that does not grow with the crawl's past."""
        return status.overview(self)

    @alone
    def score_distribution(self, bins: int = 40) -> dict[str, Any]:
        """How the priorities of waiting pages are distributed; of many pages, some are looked at."""
        return status.scores(self, given.whole(bins, "bins", least=1))

    @alone
    def coverage(self) -> dict[str, Any]:
        """How much of what is known was fetched: pages, hosts, and pages by their depth."""
        return status.coverage(self)

    @alone
    def next(self, n: int = 20) -> list[dict[str, Any]]:
        """The next pages by priority: url, queue, priority, depth."""
        return status.upcoming(self, given.whole(n, "n", of=" of pages"))

    @alone
    def pages_shown(self, pages: Sequence[int]) -> list[dict[str, Any]]:
        """Where these pages stand: url, queue, state, due, priority of those that wait, depth. Not forgotten ones."""
        pages = self.check_pages(pages)
        return status.pages(self, pages)

    @alone
    def hosts(self) -> list[dict[str, Any]]:
        """What is known of each host: name, pages waiting, leased and taken, limits, when it may be asked again."""
        return status.hosts(self)

    @alone
    def busiest_hosts(self, n: int) -> list[dict[str, Any]]:
        """The hosts with most pages in flight and waiting, without looking at all pages: for a screen."""
        return status.busiest(self, given.whole(n, "n", of=" of hosts"))

    @alone
    def explain(self, url: str, queue: str | None = None) -> dict[str, Any]:
        """Why a page stands where it stands: its place, and which fetched pages gave which part of its priority.

        ``queue``: which page of the URL, if it waits in several queues.
        """
        from frontrank.crawl.explain import explain

        return explain(self, url, queue)
