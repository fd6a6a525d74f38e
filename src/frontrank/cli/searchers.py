"""frontrank ask, impact: tell a crawl what searchers do: in its directory, whether it runs or not, or through its service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from frontrank.cli.control import Recipient, to_recipient

PART = 5_000  # pages of one request to a service


@click.command(name="ask")
@to_recipient
@click.argument("queries", metavar="FILE")
def ask(to: Recipient, queries: str) -> None:
    """Give a crawl the queries of FILE: its next ranking uses them.

    DIR is a crawl, running or not; ADDRESS is the HTTP address of a service, such as 127.0.0.1:7072. FILE is a query log: one
    query per line, or a table of query and frequency. It replaces the queries so far.

    \b
    frontrank ask my-crawl this-week.tsv
    frontrank ask 127.0.0.1:7072 this-week.tsv --crawl news
    """
    from frontrank.search.workload import load_workload
    from frontrank.web.view import workload_notes

    log = load_workload(queries)
    what = f"{len(log):,} queries"
    if to.is_service:
        rows = [{"query": query, "frequency": many} for query, many in zip(log.queries, log.frequency.tolist(), strict=True)]
        seen = {} if log.visibility is None else {"visibility": log.visibility.tolist()}
        done = bool(to.post("queries", {"queries": rows, **seen})["applied"])
    else:
        done = to.send("ask", workload_notes(log))
    _show(to, what, done)


@click.command(name="impact")
@to_recipient
@click.argument("table", metavar="FILE")
def impact(to: Recipient, table: str) -> None:
    """Tell a crawl what searchers made of its pages: clicks, views or both.

    DIR is a crawl, running or not; ADDRESS is the HTTP address of a service, such as 127.0.0.1:7072. FILE is a table with the
    columns url and clicks, views or both (CSV, TSV, Parquet, SQLite). It counts from the next ranking on, and replaces
    what was reported of a page before. Pages that the crawl does not know are named and skipped.

    \b
    frontrank impact my-crawl clicks-of-today.csv
    frontrank impact 127.0.0.1:7072 clicks-of-today.csv
    """
    from frontrank.sources.search_team.searchers import read_impacts

    rows = read_impacts(table)
    what = f"{len(rows):,} pages"
    if not to.is_service:
        _show(to, what, to.send("impacts", {"rows": rows}))
        return
    answers = [to.post("impacts", {"pages": part}) for part in _parts(rows)]
    unknown = [url for answer in answers for url in answer["unknown"]]
    missing = sum(answer["unknown_pages"] for answer in answers)
    if missing:
        named = ", ".join(unknown[:3]) + (", ..." if missing > 3 else "")
        click.echo(f"{missing:,} of {len(rows):,} pages with an impact are not known to this crawl: {named}", err=True)
    _show(to, what, all(answer["applied"] for answer in answers))


def _parts(impacts: Sequence[Sequence[Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows of one request each."""
    rows = [dict(zip(("url", "clicks", "views"), row, strict=True)) for row in impacts]
    rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
    for first in range(0, len(rows), PART):
        yield rows[first : first + PART]


def _show(to: Recipient, what: str, done: bool) -> None:
    later = f"{what} noted; the running process will use them when it takes its next page"
    to.show(done, f"told of {what}", later, told=what)
