"""The page of a live crawl: what was fetched, from where, what failed, and how to resume."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.fetching.crawler.pace import spoken
from frontrank.fetching.crawler.summary import HOSTS_TOLD, Summary, listed
from frontrank.lab.report.figures import Figure, FigureLine, lines, styles
from frontrank.lab.report.html import Cell, HtmlTable, Section, Value, page, page_link, save

POINTS = 300  # of a curve
FILES = (
    ("warc/*", "the pages, as they came"),
    ("trace.db", "every event of the crawl, which it is resumed from"),
    ("snapshots/*", "its state at one moment, for a quick start"),
    ("crawl.log", "what happened, in words"),
)
UNITS = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def write_crawl_report(summary: Summary, path: str | os.PathLike[str]) -> None:
    sections = [*_best(summary), Section("Pages over time", figure=_over_time(summary))]
    if summary.gauges:
        rows: list[list[Value]] = [[name, value] for name, value in summary.gauges.items()]
        sections.append(Section("What the ordering measures", table=HtmlTable(["gauge", "value"], rows)))
    reasons: list[list[Value]] = [["fetched", f"status {status}", count] for status, count in summary.statuses.items()]
    reasons += [["failed", reason, count] for reason, count in summary.failures.items()]
    reasons += [["fetched, but not to be used", reason, count] for reason, count in summary.withheld.items()]
    reasons += [["waiting", f"{host.name} was given up: {host.reason}", host.pages] for host in summary.given_up[:HOSTS_TOLD]]
    reasons += [["link not followed", reason, count] for reason, count in summary.not_followed.items()]
    sections.append(Section("What was fetched, and what was not", table=HtmlTable(["what", "why", "count"], reasons)))
    hosts: list[list[Value]] = [[host.name, host.settled, host.failed, host.waiting] for host in summary.hosts]
    sections.append(
        Section("Hosts", "Those with most pages.", table=HtmlTable(["host", "settled", "failed", "waiting"], hosts))
    )
    sections += _traps(summary)
    sections.append(Section("The first pages", "In the order in which they were fetched.", table=_first(summary)))
    by = f"for “{summary.goal}”" if summary.goal else f"by {summary.policy}"
    lead = f"{summary.fetched:,} pages fetched {by}: {summary.end}."
    title = f"Crawl of {listed(list(summary.seeds), 2)}"
    sections.insert(0, _next_step(summary))
    sections.append(_files(summary))
    save(page(title, lead, sections, _facts(summary), summary.command), path)


def _facts(summary: Summary) -> list[tuple[str, str]]:
    """What the crawl was, and how far it has come."""
    began = [] if summary.started is None else [("began", f"{datetime.fromtimestamp(summary.started, UTC):%Y-%m-%d %H:%M} UTC")]
    budget = f"{summary.budget:,} pages" if summary.budget else "none"
    delay = f"{summary.delay_s:g} s between requests to a host" if summary.delay_s else "no delay between requests"
    return [
        *began,
        ("lasted" if not summary.can_continue else "this run lasted", spoken(summary.run_s)),
        ("fetched", f"{summary.fetched:,}"),
        ("failed", f"{summary.failed:,}"),
        ("waiting", f"{summary.waiting:,}"),
        ("known", f"{summary.known:,}"),
        ("budget", budget),
        ("ordering", summary.policy),
        ("politeness", delay),
        ("pages per second", f"{summary.pages_per_s:,.1f}"),
    ]


def _next_step(summary: Summary) -> Section:
    folder = shlex.quote(summary.folder)
    commands = [f"frontrank simulate {folder} --ordering all   # what other orderings would have fetched first"]
    if summary.can_continue:
        commands = [f"{summary.resume}   # fetch further pages", f"frontrank status {folder}   # what comes next", *commands]
    return Section("What to do next", code="\n".join(commands))


def _files(summary: Summary) -> Section:
    """What lies in the crawl's directory, and what for."""
    found = [
        (name, text) for pattern, text in FILES for name in sorted(path.name for path in Path(summary.folder).glob(pattern))
    ]
    rows: list[list[Value]] = [[name, text] for name, text in found]
    return Section("Files", f"In {summary.folder}.", table=HtmlTable(["file", "what it is"], rows))


def _best(summary: Summary) -> list[Section]:
    """What whoever named a goal came for."""
    rows: list[list[Value]] = [[_url(page.url), f"{page.score:.3f}", page.title] for page in summary.best]
    about = (
        f"Of those fetched, by how well they fit the goal “{summary.goal}”."
        if summary.goal
        else "Of those fetched, by the scorer."
    )
    return [Section("The best pages", about, table=HtmlTable(["URL", "score", "title"], rows))] if rows else []


def _over_time(summary: Summary) -> Figure:
    looks = styles(["fetched", "failed"])
    at = np.unique(np.linspace(0, len(summary.seconds) - 1, POINTS).astype(np.int64))
    counts = {"fetched": np.cumsum(summary.arrived), "failed": np.cumsum(~summary.arrived)}
    unit, length = next((unit for unit in UNITS if summary.seconds[-1] >= 3 * unit[1]), UNITS[-1])
    series = [FigureLine(name, summary.seconds[at] / length, count[at], looks[name]) for name, count in counts.items()]
    return lines(series, unit, "pages", percent=False, unit_range=False)


def _traps(summary: Summary) -> list[Any]:
    rows: list[list[Value]] = [[family.pattern, family.pages, f"{family.share:.0%}"] for family in summary.traps]
    sections = []
    if rows:
        text = "URLs that lead to nothing but more of their kind, and that little else links to."
        sections.append(Section("Possible traps", text, table=HtmlTable(["URLs", "pages", "of the host"], rows)))
        if summary.can_continue:
            commands = "\n".join(summary.without(family) for family in summary.traps)
            sections.append(Section("To continue without them", "One line for each, if they are of no use.", code=commands))
    limits = [("host budget", summary.spent_hosts), ("depth", summary.deep_hosts)]
    limited: list[list[Value]] = [[name, limit] for limit, names in limits for name in names]
    if limited:
        sections.append(Section("Hosts at a limit", table=HtmlTable(["host", "limit"], limited[:HOSTS_TOLD])))
    return sections


def _first(summary: Summary) -> HtmlTable:
    rows: list[list[Value]] = [[_url(url), i, title, str(status)] for i, (url, title, status) in enumerate(summary.first, 1)]
    return HtmlTable(["URL", "place", "title", "status"], rows)


def _url(url: str) -> Cell:
    return Cell(url, url, link=page_link(url))
