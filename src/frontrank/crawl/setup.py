"""What a crawl is started or recovered with, checked once, before anything is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from frontrank.crawl import validation
from frontrank.crawl.ranking import BACKGROUND, INLINE
from frontrank.errors import InputError
from frontrank.frontiers.frontier import Frontier
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.stored import to_data
from frontrank.pages.groups import DOMAIN, HOST, IP, Groups
from frontrank.web.view import Workload, workload_notes
from frontrank.web.web import IMPACTS

MAX_S = 10_000_000.0  # between two times at which the disk has everything; threads cannot wait for centuries


class SetupOptions(TypedDict, total=False):
    """Options of ``Crawl`` and ``Crawl.recover``: the fields of ``CrawlSetup``."""

    truth: Callable[[str], float] | None
    workload: Workload | None
    clock: Callable[[], float]
    group: int
    sync_s: float
    ranking: str
    frontier: Callable[[Politeness], Frontier]


@dataclass(frozen=True, kw_only=True)
class CrawlSetup:
    """How a crawl runs in this process."""

    politeness: Politeness | None = None  # None: as it is stored
    truth: Callable[[str], float] | None = None  # the true importance of a URL, for orderings that need it
    workload: Workload | None = None  # what searchers ask
    clock: Callable[[], float] = time.time
    group: int = 1  # events that share a commit
    sync_s: float = 1.0
    ranking: str = INLINE
    frontier: Callable[[Politeness], Frontier] = PoliteFrontier  # makes one; your own is given again to ``recover``
    capacity: int = 16  # pages that there is room for at first

    def __post_init__(self) -> None:
        if self.politeness is not None:
            validation.politeness(self.politeness)
        if self.workload is not None:
            validation.workload(self.workload)
        validation.whole(self.capacity, "capacity", minimum=1, of=" of pages")
        if not (isinstance(self.group, int) and self.group >= 1):
            raise InputError(f"group must be a whole number of events from 1, got {self.group!r}")
        if not (isinstance(self.sync_s, int | float) and 0 <= self.sync_s <= MAX_S):
            raise InputError(f"sync_s must be a number of seconds from 0, got {self.sync_s!r}")
        if not isinstance(self.ranking, str) or self.ranking not in (INLINE, BACKGROUND):
            raise InputError(f"ranking must be {INLINE!r} or {BACKGROUND!r}, got {self.ranking!r}")
        for name, value in (("clock", self.clock), ("frontier", self.frontier)):
            if not callable(value):
                raise InputError(f"{name} must be a function, got {value!r}")
        if not (self.truth is None or callable(self.truth)):
            raise InputError(f"truth must be a function from a URL to its importance, got {self.truth!r}")


@dataclass(frozen=True, kw_only=True)
class NewCrawl:
    """What a crawl is, from its start to its end."""

    impact_by: str = ""  # views or clicks
    revisit_share: float | None = None
    queue_by: Groups = HOST
    notes: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        queue_by = self.queue_by
        if not (isinstance(queue_by, Mapping) or (isinstance(queue_by, str) and queue_by in (HOST, DOMAIN, IP))):
            raise InputError(f"queue_by must be {HOST}, {DOMAIN}, {IP}, or the group of each host, got {queue_by!r}")
        if self.notes is not None and not isinstance(self.notes, Mapping):
            raise InputError(f"notes must be a mapping from keys to what JSON can hold, got {self.notes!r}")
        if not isinstance(self.impact_by, str) or self.impact_by not in ("", *IMPACTS):
            raise InputError(f"impact_by must be views or clicks, got {self.impact_by!r}")
        if self.revisit_share is not None:
            validation.share(self.revisit_share, "revisit_share")

    def stored(self, policy: Policy, setup: CrawlSetup) -> dict[str, Any]:
        """The notes of its log."""
        politeness = setup.politeness or Politeness()
        stored = {**(self.notes or {}), "policy": to_data(policy), "politeness": politeness.json()}
        stored["started"] = validation.checked_clock(setup.clock)()
        if setup.workload is not None:
            stored["workload"] = workload_notes(setup.workload)
        if self.impact_by:
            stored["impact_by"] = self.impact_by
        if self.queue_by != HOST:
            stored["queue_by"] = self.queue_by
        if self.revisit_share is not None:
            stored["revisit_share"] = float(self.revisit_share)
        return stored
