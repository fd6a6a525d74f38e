"""What a journal was given, what of it was acknowledged and synced, and the rules that its rows obey, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from frontrank.crawl import events
from frontrank.crawl.journal import Journal
from frontrank.crawl.log import Row
from frontrank.fetching.counting import NOT_REQUESTED
from frontrank.pages.urls import host_of

SLACK = 1e-6  # seconds: what adding up times costs
Fail = Callable[[str, str], None]


class Rules:
    """What holds for any journal: pages are settled once, while they are leased; hosts have their pace; budgets hold."""

    def __init__(self, fail: Fail, politeness: Any, budget: int = 0, revisits: bool = False) -> None:
        self.fail, self.politeness, self.budget, self.revisits = fail, politeness, budget, revisits
        self.leased: dict[int, str] = {}
        self.settled: dict[int, str] = {}
        self.asked = 0  # settled pages that count for the budget
        self.by_host: Counter[str] = Counter()  # of settled pages
        self.took: dict[str, float] = {}  # when a page of a host was last taken
        self.time = 0.0

    def see(self, row: Row, host: str) -> None:
        if row.time < self.time:
            self.fail("time", f"event {row} comes before one at {self.time}")
        self.time = max(self.time, row.time)
        kind, page = row.kind, row.page
        if kind == events.Taken.kind:
            self._take(page, host, row.time)
        elif kind in (events.Fetched.kind, events.Failed.kind):
            self._settle(page, host, row)
        elif kind in (events.Retried.kind, events.Expired.kind):
            if self.leased.pop(page, None) is None:
                self.fail("leases", f"page {page} is given back, but was not leased: {row}")
        elif kind == events.Scheduled.kind:
            self.leased.pop(page, None)
            if self.settled.pop(page, None):
                self.asked, self.by_host[host] = max(self.asked - 1, 0), self.by_host[host] - 1

    def _take(self, page: int, host: str, time: float) -> None:
        polite = self.politeness
        if page in self.leased:
            self.fail("leases", f"page {page} is taken, but it is leased already")
        if page in self.settled and not self.revisits:
            self.fail("settled once", f"page {page} is taken, but it is settled")
        if host in self.took and time - self.took[host] < polite.delay_s - SLACK:
            self.fail("turns", f"{host} had its turn {time - self.took[host]:.3f} s ago, its delay is {polite.delay_s} s")
        self.took[host] = time
        self.leased[page] = host
        out = list(self.leased.values())
        if polite.per_host and out.count(host) > polite.per_host:
            self.fail("in flight", f"{out.count(host)} pages of {host} are out, {polite.per_host} may be")
        if polite.in_flight and len(out) > polite.in_flight:
            self.fail("in flight", f"{len(out)} pages are out, {polite.in_flight} may be")
        if polite.host_budget and self.by_host[host] + out.count(host) > polite.host_budget:
            self.fail("budgets", f"more than {polite.host_budget} pages of {host} are taken")
        if self.budget and self.asked + len(out) > self.budget:
            self.fail("budgets", f"{self.asked} pages were asked for and {len(out)} are out, the budget is {self.budget}")

    def _settle(self, page: int, host: str, row: Row) -> None:
        if page in self.settled and not self.revisits:
            self.fail("settled once", f"page {page} is settled again: {row}")
        if self.leased.pop(page, None) is None:
            self.fail("leases", f"page {page} is settled, but was not leased: {row}")
        self.settled[page] = host
        self.by_host[host] += 1
        self.asked += not (row.kind == events.Failed.kind and row.note in NOT_REQUESTED)


class Ledger:
    """One journal through all lives of its process."""

    def __init__(self, fail: Fail, rules: Callable[[Fail], Rules], log: Callable[..., None]) -> None:
        self.fail, self.make_rules, self.log = fail, rules, log
        self.rules = rules(fail)
        self.rows: list[tuple[Any, ...]] = []
        self.urls: list[str] = []
        self.acknowledged = self.acknowledged_urls = 0
        self.synced = self.synced_urls = 0
        self.frozen = False  # the process is gone
        self.loose: set[int] = set()  # events that a power cut has left although they were not synced

    def add_urls(self, urls: Sequence[str]) -> None:
        if self.frozen:
            return
        self.urls += [events.storable(url) for url in urls]

    def append(self, rows: Iterable[Row]) -> None:
        for row in () if self.frozen else rows:
            self.rows.append(tuple(row[1:]))
            self.log("event", len(self.rows), *(value for value in row[1:] if value is not None))
            for one in events.apart([row]):
                self.rules.see(one, self._host(one.page))

    def _host(self, page: int) -> str:
        return host_of(self.urls[page]) if page >= 0 else ""

    def commit(self) -> None:
        if not self.frozen:
            self.acknowledged, self.acknowledged_urls = len(self.rows), len(self.urls)

    def sync(self, path: str) -> None:
        if path.endswith("-wal") and not self.frozen:
            self.synced, self.synced_urls = self.acknowledged, self.acknowledged_urls

    def check_recovered(self, journal: Any, lost_power: bool) -> None:
        """After the end of a process: what was safe is there, and what is there was written."""
        least = self.synced if lost_power else self.acknowledged
        least_urls = self.synced_urls if lost_power else self.acknowledged_urls
        found = [tuple(row[1:]) for rows in journal.rows() for row in rows]
        urls = [url for some, _ in journal.urls() for url in some]
        if len(found) < least or len(urls) < least_urls:
            self.fail("acknowledged", f"{len(found)} events and {len(urls)} URLs are left of {least} and {least_urls}")
        if found != self.rows[: len(found)] or urls != self.urls[: len(urls)]:
            place = next((i for i, (a, b) in enumerate(zip(found, self.rows, strict=False)) if a != b), len(self.rows))
            self.fail("acknowledged", f"event {place + 1} is {found[place : place + 1]}, was {self.rows[place : place + 1]}")
        if lost_power:
            self.loose.update(range(self.synced, len(found)))
        self.rows, self.urls = found, urls
        self.synced, self.synced_urls = min(self.synced, len(found)), min(self.synced_urls, len(urls))
        self.commit()
        self.rules = self.make_rules(lambda name, text: None)
        for row in found:
            for one in events.apart([Row(0, *row)]):
                self.rules.see(one, self._host(one.page))
        self.rules.fail = self.fail


class WatchedJournal(Journal):
    """A journal whose ledger is kept beside it."""

    ledgers: dict[str, Ledger] = {}  # by the name of the directory
    all: list[WatchedJournal] = []

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.ledger = self.ledgers.get(self.folder.name) if self.writable else None
        self.all.append(self)

    @classmethod
    def open(cls, *given: Any, **more: Any) -> WatchedJournal:
        """Also amid the life of a process: a crawl that could not be written is opened as it is stored."""
        journal = super().open(*given, **more)
        assert isinstance(journal, WatchedJournal)
        if journal.ledger is not None and not journal.ledger.frozen:
            journal.ledger.check_recovered(journal, lost_power=False)
        return journal

    def add_urls(self, first: int, urls: Sequence[str], keys: Sequence[int]) -> None:
        super().add_urls(first, urls, keys)
        if self.ledger is not None:
            self.ledger.add_urls(urls)

    def append(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        super().append(rows)
        if self.ledger is not None:
            self.ledger.append(rows)

    def commit(self) -> None:
        super().commit()
        if self.ledger is not None:
            self.ledger.commit()
