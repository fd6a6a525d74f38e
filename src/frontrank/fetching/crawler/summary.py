"""What a crawl has done, for a person and as JSON; ``lab.report.crawl_report`` makes a page of it.

All but the links that were not followed is read from the journal, so that it is the same after any number of runs.
"""

from __future__ import annotations

import math
import os
import shlex
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.fetching.crawler.traps import limited_hosts
from frontrank.fetching.end_reason import EndReason
from frontrank.fetching.failures import CONTENT_SIGNAL
from frontrank.fetching.url_families import UrlFamily
from frontrank.kernels.jit import Array
from frontrank.options import options_of
from frontrank.orderings.trust import trust_of
from frontrank.specs import text_of

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl
    from frontrank.fetching.crawler.job import Job

REPORT = "report.html"  # in the directory of the crawl
HOSTS_TOLD, FIRST_TOLD, TRAPS_TOLD = 30, 50, 3
BEST_KEPT, BEST_TOLD = 100, 10
WIDTH = 80
SEEDS_TOLD = 20  # in the command
PAGE_ONLY = (
    *("fetching_s", "command", "delay_s", "started", "seeds", "first", "seconds", "arrived"),
)  # what only the page of HTML shows
ENDS: dict[str, str] = {
    EndReason.INTERRUPTED: "stopped by request",
    EndReason.BUDGET: "the budget is spent",
    EndReason.TIME: "the time is up",
    EndReason.RULE: "the stopping rule is met",
    EndReason.EMPTY: "nothing more may be fetched",
    EndReason.GIVEN_UP: "all other pages wait on hosts that were given up",
}


@dataclass(frozen=True)
class Host:
    name: str
    settled: int
    failed: int
    waiting: int


@dataclass(frozen=True)
class GivenUp:
    """A host that does not answer, and how many pages wait for it."""

    name: str
    reason: str
    pages: int


@dataclass(frozen=True)
class Best:
    """A page, and what the ordering's scorer says of it."""

    score: float
    url: str
    title: str


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
    fetching_s: float  # of it, without compiling
    budget: int = 0
    revisits: int = 0
    unchanged: int = 0  # revisits that found the page to be what it was, to the byte
    statuses: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    not_followed: dict[str, int] = field(default_factory=dict)
    withheld: dict[str, int] = field(default_factory=dict)  # fetched pages that are not to be used, by what their owners ask
    gauges: dict[str, float] = field(default_factory=dict)
    unscored: dict[str, int] = field(default_factory=dict)  # pages that a scorer failed on, by scorer and reason
    remarks: list[str] = field(default_factory=list)  # what of the goal or of a trust file has come to nothing
    hosts: list[Host] = field(default_factory=list)
    traps: list[UrlFamily] = field(default_factory=list)
    given_up: list[GivenUp] = field(default_factory=list)
    spent_hosts: list[str] = field(default_factory=list)
    deep_hosts: list[str] = field(default_factory=list)
    seeds: tuple[str, ...] = ()
    goal: str = ""
    delay_s: float = 0.0  # between two requests to a host
    command: str = ""  # what begins the same crawl
    started: float | None = None  # when the crawl began, in seconds since 1970
    best: list[Best] = field(default_factory=list)  # of the pages that a scorer has judged
    first: list[tuple[str, str, int]] = field(default_factory=list)  # URL, title, status of the pages fetched first
    seconds: Array = field(default_factory=lambda: np.zeros(1))  # of each settled page, since the first
    arrived: Array = field(default_factory=lambda: np.zeros(1, bool))  # whether it was fetched, or failed

    @property
    def pages_per_s(self) -> float:
        return self.run_pages / self.fetching_s if self.fetching_s > 0 else 0.0

    @property
    def end(self) -> str:
        """Why it ended, for people."""
        return waits_on(self.given_up) if self.ended == EndReason.GIVEN_UP else ENDS.get(self.ended, self.ended)

    @property
    def can_continue(self) -> bool:
        """Whether resuming it leads further, without another stopping rule."""
        return self.waiting > 0 and self.ended not in (EndReason.EMPTY, EndReason.RULE)

    @property
    def resume(self) -> str:
        """The command that goes on with it."""
        more = ["--budget", str(2 * self.budget)] if self.ended == EndReason.BUDGET else []
        return shlex.join(["frontrank", "crawl", "--resume", self.folder, *more])

    def without(self, family: UrlFamily) -> str:
        """The command that goes on without these URLs."""
        return f"{self.resume} {shlex.join(['--exclude', family.exclude])}"

    def lift(self, family: UrlFamily) -> str:
        """The command that lets these URLs have as many pages as others."""
        return shlex.join(["frontrank", "limit", self.folder, "--family", family.exclude, "--budget", "0"])

    def no_pages_message(self, program: str = "frontrank") -> str:
        """Why the crawl has come to nothing; empty if it has not. ``program``: as for ``text``."""
        came = self.fetched or self.revisits  # a seed that failed and came when it was asked again is a revisit
        if came or self.ended in (EndReason.INTERRUPTED, EndReason.TIME):
            return ""
        reasons = Counter(self.failures)
        for host in self.given_up:
            reasons[host.reason] += host.pages
        advice = f"try them again with {_called(program, self.resume)}, or start from other URLs with a new directory"
        if set(reasons) == {"private address"}:
            advice = f"to fetch from private addresses: {_called(program, self.resume)} --allow-private"
        elif "robots.txt" in reasons or any(reason.startswith(CONTENT_SIGNAL) for reason in reasons):
            advice = "robots.txt of the site does not allow them; start from other URLs, with a new directory"
        return f"no page was fetched, every seed failed: {_listed(reasons)}; {advice}"

    def json(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in PAGE_ONLY}
        values["hosts"] = [asdict(host) for host in self.hosts]
        values["given_up"] = [asdict(host) for host in self.given_up]
        values["best"] = [asdict(page) for page in self.best]
        values["traps"] = [{**family._asdict(), "exclude": family.exclude} for family in self.traps]
        return {**values, "pages_per_s": round(self.pages_per_s, 3), "resume": self.resume}

    def text(self, program: str = "frontrank") -> str:
        """For a terminal of 80 columns; only commands may be longer, so that they can be pasted.

        ``program``: how frontrank is called where they will be.
        """
        lines = [row for line in self._facts() for row in wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False)]
        if self.best:
            about = f" for {self.goal!r}" if self.goal else ""
            lines += wrap(f"the best pages found{about}:", WIDTH)
            for page in self.best[:BEST_TOLD]:
                lines += [f"  {page.score:.3f}  {page.url}", *([f"         {page.title[: WIDTH - 9]}"] if page.title else [])]
        for trap in self.traps[:TRAPS_TOLD]:
            lines += self._about_trap(trap, program)
        if self.can_continue:
            lines += ["to continue:", f"  {_called(program, self.resume)}"]
        lines.append(f"report: {os.path.join(self.folder, REPORT)}")
        return "\n".join(lines)

    def _facts(self) -> list[str]:
        lines = [
            f"{_pages(self.fetched)} fetched, {self.failed:,} failed, {self.waiting:,} waiting, {self.known:,} known",
            f"ordered by {self.policy}; {self.end}",
            f"this run: {_pages(self.run_pages)} in {self.run_s:,.1f} s ({self.pages_per_s:,.1f} pages/s)",
        ]
        if self.revisits:
            lines.append(f"revisits: {self.revisits:,}, of them unchanged to the byte: {self.unchanged:,}")
        lines += [f"{name}: {value:.4g}" for name, value in self.gauges.items()]
        if self.failures:
            lines.append("failed: " + _listed(self.failures))
        if self.withheld:
            lines.append("fetched, but not to be used: " + _listed(self.withheld))
        if self.given_up:
            if self.ended != EndReason.GIVEN_UP:
                lines.append(waits_on(self.given_up))
            lines.append("given up: " + listed([host.name for host in self.given_up]))
        if self.unscored:
            lines.append("no score: " + _listed(self.unscored))
        lines += self.remarks
        if self.not_followed:
            lines.append("links not followed: " + _listed(self.not_followed))
        if self.spent_hosts:
            lines.append("host budget spent: " + listed(self.spent_hosts))
        if self.deep_hosts:
            lines.append("depth limit reached: " + listed(self.deep_hosts))
        return lines

    def _about_trap(self, trap: UrlFamily, program: str) -> list[str]:
        lines = [f"possible trap: {trap.pages:,} pages, {trap.share:.0%} of their host, with URLs like", f"  {trap.pattern}"]
        if trap.limited:
            lines += ["  held to their share of the crawl; to lift this:", f"  {_called(program, self.lift(trap))}"]
        if self.can_continue:
            lines += ["  to continue without them:", f"  {_called(program, self.without(trap))}"]
        return lines


def summarise(job: Job) -> Summary:
    crawl = job.crawl
    crawl.commit()
    history = crawl.inspect.history
    statuses = history.statuses()
    spent, deep = limited_hosts(crawl, job.options.max_depth)
    best = [Best(*page) for page in history.best(BEST_KEPT)] if crawl.state.policy.scorers() else []
    return Summary(
        folder=os.fspath(crawl.inspect.folder or ""),
        policy=crawl.state.policy.spec(),
        ended=job.ended or "",
        fetched=crawl.inspect.fetched_count,
        failed=crawl.inspect.failed_count,
        known=crawl.inspect.known,
        waiting=crawl.inspect.waiting,
        run_pages=job.settled - job.settled_before,
        run_s=job.elapsed_s,
        fetching_s=job.fetching_s,
        budget=job.options.budget,
        revisits=crawl.inspect.revisits,
        unchanged=statuses[304],
        statuses={str(status): count for status, count in statuses.most_common()},
        failures=dict(job.failures.most_common()),
        retries=history.retries(),
        not_followed=dict(job.counts.most_common()),
        withheld=dict(history.withheld().most_common()),
        gauges=crawl.inspect.gauges(),
        unscored=dict(history.unscored().most_common()),
        hosts=_hosts(job),
        traps=[family for family in job.traps.families() if family.exclude not in job.options.exclude],
        given_up=given_up_hosts(crawl),
        spent_hosts=spent,
        deep_hosts=deep,
        seeds=tuple(job.options.seeds),
        goal=job.options.goal,
        best=best,
        remarks=_remarks(job, best),
        **_page_only(job),
    )


def _page_only(job: Job) -> dict[str, Any]:
    """How it was crawled and when, and what came first."""
    notes, history = job.crawl.notes, job.crawl.inspect.history
    known = {"delay_s": job.options.delay, "command": _command(job), "started": notes.get("started")}
    return {**known, "first": history.first(FIRST_TOLD), **_over_time(job.crawl)}


def _command(job: Job) -> str:
    """The command that begins such a crawl, without addresses and secrets of whoever ran it."""
    options: Any = job.options
    kind: type = type(options)
    known = options_of(kind)
    words = ["frontrank", "crawl", *options.seeds[:SEEDS_TOLD]]
    for name in ("policy", "budget", "time_s", "scope", "max_depth", "delay", "per_host", "goal"):
        option, value = known[name], getattr(options, name)
        if value != option.default and not (name == "policy" and options.goal):
            words += [option.flag, text_of(value)]
    return shlex.join([*words, "--out", os.fspath(job.crawl.inspect.folder or "")])


def given_up_hosts(crawl: Crawl) -> list[GivenUp]:
    """Hosts that were given up while pages wait for them, those with most pages first."""
    found = []
    for host, reason, until in crawl.inspect.history.resting(crawl.state.progress.now):
        number = crawl.inspect.host_number(host) if until == math.inf else -1
        if number >= 0 and (pages := int(sum(crawl.state.frontier.hosts(number)[name][0] for name in ("waiting", "later")))):
            found.append(GivenUp(host, reason, pages))
    return sorted(found, key=lambda host: -host.pages)


def waits_on(hosts: list[GivenUp]) -> str:
    """
    >>> waits_on([GivenUp("a.example", "timeout", 40), GivenUp("b.example", "timeout", 1)])
    '41 pages wait on 2 hosts that were given up: timeout (2)'
    """
    pages, reasons = sum(host.pages for host in hosts), Counter(host.reason for host in hosts)
    what = f"{_pages(pages)} wait{'s' * (pages == 1)} on {len(hosts):,} host{'s' * (len(hosts) != 1)}"
    why = next(iter(reasons)) if len(hosts) == 1 else _listed(reasons)
    return f"{what} that {'was' if len(hosts) == 1 else 'were'} given up: {why}"


def _remarks(job: Job, best: list[Best]) -> list[str]:
    crawl, goal = job.crawl, job.options.goal
    remarks = list(
        trust_of(crawl.state.policy).unmet(getattr(crawl.state.ordering.columns, "url_value", None), crawl.inspect.known)
    )
    fetched = crawl.inspect.fetched_count
    if goal and crawl.state.policy.scorers() and not best and fetched:
        remarks.append(f"no page of the {fetched:,} holds a word of the goal {goal!r}; name other words, or other seeds")
    return remarks


def _over_time(crawl: Crawl) -> dict[str, Array]:
    times, arrived = crawl.inspect.history.times()
    if not len(times):  # it was stopped before its first page had come
        return {}
    return {"seconds": times - times[0], "arrived": arrived}


def _hosts(job: Job) -> list[Host]:
    """The hosts of most pages."""
    largest = sorted(job.crawl.inspect.hosts(), key=lambda host: (-host["settled"], -host["waiting"]))[:HOSTS_TOLD]
    return [Host(host["host"], host["settled"], host["failed"], host["waiting"]) for host in largest]


def _listed(counts: dict[str, int], max_shown: int = 8) -> str:
    shown = [f"{reason} ({count:,})" for reason, count in Counter(counts).most_common(max_shown)]
    return ", ".join([*shown, f"{len(counts) - max_shown} more reasons"] if len(counts) > max_shown else shown)


def _called(program: str, command: str) -> str:
    return program + command.removeprefix("frontrank")


def _pages(count: int) -> str:
    return f"{count:,} page{'s' * (count != 1)}"


def listed(names: list[str], max_shown: int = 5) -> str:
    return ", ".join(names[:max_shown]) + (f" and {len(names) - max_shown} more" if len(names) > max_shown else "")
