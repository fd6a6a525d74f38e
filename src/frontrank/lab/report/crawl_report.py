"""The page of a live crawl: what was fetched, from where, what failed, and how to resume."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from frontrank.fetching.crawler.summary import HOSTS_TOLD, Summary, listed
from frontrank.lab.report.figures import FigureLine, lines, styles
from frontrank.lab.report.html import HtmlTable, Section, Value, page, save

POINTS = 300  # of a curve
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
    sections.append(Section("What was fetched, and what was not", table=HtmlTable(["", "why", "count"], reasons)))
    hosts: list[list[Value]] = [[host.name, host.settled, host.failed, host.waiting] for host in summary.hosts]
    sections.append(
        Section("Hosts", "Those with most pages.", table=HtmlTable(["host", "settled", "failed", "waiting"], hosts))
    )
    sections += _traps(summary)
    sections.append(Section("The first pages", "In the order in which they were fetched.", table=_first(summary)))
    facts = [("fetched", f"{summary.fetched:,}"), ("failed", f"{summary.failed:,}"), ("waiting", f"{summary.waiting:,}")]
    facts += [
        ("known", f"{summary.known:,}"),
        ("ordering", summary.policy),
        ("pages per second", f"{summary.pages_per_s:,.1f}"),
    ]
    by = f"for “{summary.goal}”" if summary.goal else f"by {summary.policy}"
    lead = f"{summary.fetched:,} pages fetched {by}: {summary.end}."
    title = f"Crawl of {listed(list(summary.seeds), 2)}"
    if summary.can_continue:
        sections.append(Section("To continue", code=summary.resume))
    save(page(title, lead, sections, facts), path)


def _best(summary: Summary) -> list[Section]:
    """What whoever named a goal came for."""
    rows: list[list[Value]] = [[page.url, f"{page.score:.3f}", page.title] for page in summary.best]
    about = (
        f"Of those fetched, by how well they fit the goal “{summary.goal}”."
        if summary.goal
        else "Of those fetched, by the scorer."
    )
    return [Section("The best pages", about, table=HtmlTable(["URL", "score", "title"], rows))] if rows else []


def _over_time(summary: Summary) -> dict[str, Any]:
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
    rows: list[list[Value]] = [[url, i, title, str(status)] for i, (url, title, status) in enumerate(summary.first, 1)]
    return HtmlTable(["URL", "place", "title", "status"], rows)
