"""What a crawl has done: for a person, for a program, and as a page of HTML beside the crawl.

All but the links that were not followed is read from the journal, so that it is the same after any number of runs.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.crawl.crawl import journal as log
from frontrank.fetching.crawler import job as state
from frontrank.fetching.crawler.traps import Family, families, host_names, limited_hosts
from frontrank.crawl.journal import Journal
from frontrank.kernels.jit import Array

if TYPE_CHECKING:
    from frontrank.fetching.crawler.job import Job
    from frontrank.lab.report.html import Value

HOSTS_TOLD, FIRST_TOLD, POINTS = 30, 50, 300
ENDS = {
    state.INTERRUPTED: "stopped by request",
    state.BUDGET: "the budget is spent",
    state.TIME: "the time is up",
    state.RULE: "the stopping rule holds",
    state.EMPTY: "nothing more may be fetched",
}


@dataclass(frozen=True)
class Host:
    name: str
    settled: int
    failed: int
    waiting: int


@dataclass(frozen=True)
class Summary:
    """A crawl after a run. Times are of this run, all other figures of the whole crawl."""

    folder: str
    policy: str
    ended: str
    fetched: int
    failed: int
    known: int
    waiting: int
    run_pages: int
    run_s: float
    statuses: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    not_followed: dict[str, int] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    traps: list[Family] = field(default_factory=list)
    spent_hosts: list[str] = field(default_factory=list)
    deep_hosts: list[str] = field(default_factory=list)

    @property
    def pages_per_s(self) -> float:
        return self.run_pages / self.run_s if self.run_s > 0 else 0.0

    @property
    def goes_on(self) -> bool:
        """Whether resuming it leads further."""
        return self.waiting > 0 and self.ended != state.EMPTY

    @property
    def resume(self) -> str:
        return shlex.join(["frontrank", "crawl", "--resume", self.folder])

    def json(self) -> dict[str, Any]:
        made = asdict(self)
        made["traps"] = [family._asdict() for family in self.traps]
        return {**made, "pages_per_s": round(self.pages_per_s, 3), "resume": self.resume}

    def text(self) -> str:
        lines = [
            f"{self.fetched:,} pages fetched, {self.failed:,} failed, {self.waiting:,} waiting, {self.known:,} known "
            f"({self.policy}; {ENDS.get(self.ended, self.ended)})",
            f"this run: {self.run_pages:,} pages in {self.run_s:,.1f} s, {self.pages_per_s:,.1f} a second",
        ]
        lines += [f"{name}: {value:.4g}" for name, value in self.gauges.items()]
        if self.failures:
            lines.append("failed: " + _listed(self.failures))
        if self.not_followed:
            lines.append("links not followed: " + _listed(self.not_followed))
        lines += [f"possible trap: {one.pattern} ({one.pages:,} pages, {one.share:.0%} of its host)" for one in self.traps[:3]]
        if self.spent_hosts:
            lines.append("host budget spent: " + _some(self.spent_hosts))
        if self.deep_hosts:
            lines.append("depth limit reached: " + _some(self.deep_hosts))
        if self.goes_on:
            lines.append(f"to go on: {self.resume}" + (" --budget N" if self.ended == state.BUDGET else ""))
        lines.append(f"report: {os.path.join(self.folder, 'report.html')}")
        return "\n".join(lines)


def summed_up(job: Job) -> Summary:
    crawl = job.crawl
    journal = crawl.journal
    assert isinstance(journal, Journal)
    journal.commit()
    query = journal.db.execute
    statuses = dict(query("SELECT status, count(*) FROM event WHERE kind = ? GROUP BY status ORDER BY 2 DESC", (log.FETCHED,)))
    retries: int = query("SELECT count(*) FROM event WHERE kind = ?", (log.RETRY,)).fetchone()[0]
    fetched = query("SELECT url FROM event JOIN url ON url.id = event.page WHERE kind = ?", (log.FETCHED,))
    spent, deep = limited_hosts(crawl, job.options.max_depth)
    return Summary(
        folder=os.fspath(journal.folder),
        policy=crawl.policy.spec(),
        ended=job.ended,
        fetched=crawl.fetched_count,
        failed=crawl.failed_count,
        known=crawl.known,
        waiting=crawl.waiting,
        run_pages=len(crawl.order) - job.settled_before,
        run_s=job.elapsed_s,
        statuses={str(status): count for status, count in statuses.items()},
        failures=dict(job.failures.most_common()),
        retries=retries,
        not_followed=dict(job.counts.most_common()),
        gauges=crawl.gauges(),
        hosts=_hosts(job),
        traps=families(row[0] for row in fetched),
        spent_hosts=spent,
        deep_hosts=deep,
    )


def _hosts(job: Job) -> list[Host]:
    """The hosts of most pages."""
    crawl = job.crawl
    known = int(crawl.host_table.counts[0])
    waiting = crawl.queue.hosts["waiting"][:known]
    settled = np.bincount(crawl.queue.host[np.array(crawl.order, np.int64)], minlength=known)[:known]
    assert isinstance(crawl.journal, Journal)
    lost = [page for (page,) in crawl.journal.db.execute("SELECT page FROM event WHERE kind = ?", (log.FAILED,))]
    failed = np.bincount(crawl.queue.host[np.array(lost, np.int64)], minlength=known)[:known]
    first = [host for host in np.lexsort((-waiting, -settled))[:HOSTS_TOLD].tolist() if crawl.host_page[host] >= 0]
    names = host_names(crawl, first)
    return [Host(name, int(settled[h]), int(failed[h]), int(waiting[h])) for name, h in zip(names, first, strict=True)]


def _listed(counts: dict[str, int], most: int = 8) -> str:
    shown = [f"{reason} {count:,}" for reason, count in Counter(counts).most_common(most)]
    return ", ".join([*shown, f"{len(counts) - most} more reasons"] if len(counts) > most else shown)


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


# The page of HTML ------------------------------------------------------------------------------------------------------------
def write_report(job: Job, told: Summary, path: str | os.PathLike[str]) -> None:
    from frontrank.lab.report import Section, Table, page, save

    sections = [Section("Pages over time", figure=_over_time(job))]
    if told.gauges:
        rows: list[list[Value]] = [[name, value] for name, value in told.gauges.items()]
        sections.append(Section("What the ordering measures", table=Table(["gauge", "value"], rows)))
    reasons: list[list[Value]] = [["fetched", f"status {status}", count] for status, count in told.statuses.items()]
    reasons += [["failed", reason, count] for reason, count in told.failures.items()]
    reasons += [["link not followed", reason, count] for reason, count in told.not_followed.items()]
    sections.append(Section("What came, and what did not", table=Table(["", "why", "count"], reasons)))
    hosts: list[list[Value]] = [[host.name, host.settled, host.failed, host.waiting] for host in told.hosts]
    sections.append(Section("Hosts", "Those with most pages.", table=Table(["host", "settled", "failed", "waiting"], hosts)))
    sections += _traps(told)
    sections.append(Section("The first pages", "In the order in which they were fetched.", table=_first(job)))
    facts = [("fetched", f"{told.fetched:,}"), ("failed", f"{told.failed:,}"), ("waiting", f"{told.waiting:,}")]
    facts += [("known", f"{told.known:,}"), ("ordering", told.policy), ("pages a second", f"{told.pages_per_s:,.1f}")]
    lead = f"{told.fetched:,} pages fetched by {told.policy}: {ENDS.get(told.ended, told.ended)}."
    title = f"Crawl of {_some(list(job.options.seeds), 2)}"
    if told.goes_on:
        sections.append(Section("To go on", code=told.resume))
    save(page(title, lead, sections, facts), path)


def _over_time(job: Job) -> dict[str, Any]:
    from frontrank.lab.report import Series, lines, styles

    assert isinstance(job.crawl.journal, Journal)
    rows = job.crawl.journal.db.execute(
        "SELECT time, kind FROM event WHERE kind IN (?, ?) ORDER BY seq", (log.FETCHED, log.FAILED)
    )
    held: Array = np.array(rows.fetchall() or [(0.0, 0)], np.float64)
    minutes = (held[:, 0] - held[0, 0]) / 60.0
    looks = styles(["fetched", "failed"])
    made = []
    for name, kind in (("fetched", log.FETCHED), ("failed", log.FAILED)):
        count = np.cumsum(held[:, 1] == kind)
        at = np.unique(np.linspace(0, len(held) - 1, POINTS).astype(np.int64))
        made.append(Series(name, minutes[at], count[at], looks[name]))
    return lines(made, "minutes", "pages", percent=False, unit_range=False)


def _traps(told: Summary) -> list[Any]:
    from frontrank.lab.report import Section, Table

    rows: list[list[Value]] = [[family.pattern, family.pages, f"{family.share:.0%}"] for family in told.traps]
    made = []
    if rows:
        text = "URLs that are alike but for numbers and ids, many of one host. If they are of no use, exclude them next time."
        made.append(Section("Possible traps", text, table=Table(["URLs", "pages", "of the host"], rows)))
    limits = [("host budget", told.spent_hosts), ("depth", told.deep_hosts)]
    limited: list[list[Value]] = [[name, limit] for limit, names in limits for name in names]
    if limited:
        made.append(Section("Hosts at a limit", table=Table(["host", "limit"], limited[:HOSTS_TOLD])))
    return made


def _first(job: Job) -> Any:
    from frontrank.lab.report import Table

    assert isinstance(job.crawl.journal, Journal)
    query = "SELECT url, title, status FROM event JOIN url ON url.id = event.page WHERE kind = ? ORDER BY seq LIMIT ?"
    found = job.crawl.journal.db.execute(query, (log.FETCHED, FIRST_TOLD))
    rows = [[url, i, title or "", str(status)] for i, (url, title, status) in enumerate(found, 1)]
    return Table(["URL", "place", "title", "status"], rows)
