"""frontrank ask, impact: what searchers do, told to a crawl by its directory, while it runs or not, or by its service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from frontrank.cli.control import Said, is_address, post, to_target

PART = 5_000  # pages of one request to a service


@click.command(name="ask")
@to_target
@click.argument("queries", metavar="FILE")
def ask(said: Said, queries: str) -> None:
    """Give a crawl the queries of FILE: its next ranking uses them.

    DIR is a crawl, running or not; ADDRESS is the HTTP address of a service, such as 127.0.0.1:7072. FILE is a query log: one
    query per line, or a table of query and frequency. It takes the place of the queries so far.

    \b
    frontrank ask my-crawl this-week.tsv
    frontrank ask 127.0.0.1:7072 this-week.tsv --crawl news
    """
    from frontrank.search.workload import load_workload
    from frontrank.web.view import workload_notes

    log = load_workload(queries)
    what = f"{len(log):,} queries"
    if is_address(said.target):
        rows = [{"query": query, "frequency": many} for query, many in zip(log.queries, log.frequency.tolist(), strict=True)]
        seen = {} if log.visibility is None else {"visibility": log.visibility.tolist()}
        _show(said, what, bool(post(said, "queries", {"queries": rows, **seen})["applied"]))
    else:
        _tell(said, what, "ask", workload_notes(log))


@click.command(name="impact")
@to_target
@click.argument("table", metavar="FILE")
def impact(said: Said, table: str) -> None:
    """Tell a crawl what searchers made of its pages: clicks, views or both.

    DIR is a crawl, running or not; ADDRESS is the HTTP address of a service, such as 127.0.0.1:7072. FILE is a table with the
    columns url and clicks, views or both (CSV, TSV, Parquet, SQLite). It holds from the next ranking on, and takes the place of
    what was told of a page before. Pages that the crawl does not know are named and skipped.

    \b
    frontrank impact my-crawl clicks-of-today.csv
    frontrank impact 127.0.0.1:7072 clicks-of-today.csv
    """
    from frontrank.sources.search_team.searchlog import read_impacts

    told = read_impacts(table)
    what = f"{len(told):,} pages"
    if not is_address(said.target):
        _tell(said, what, "impacts", {"told": told})
        return
    answers = [post(said, "impacts", {"pages": part}) for part in _parts(told)]
    unknown = [url for answer in answers for url in answer["unknown"]]
    missing = sum(answer["unknown_pages"] for answer in answers)
    if missing:
        named = ", ".join(unknown[:3]) + (", ..." if missing > 3 else "")
        click.echo(f"{missing:,} of {len(told):,} pages with an impact are not known to this crawl: {named}", err=True)
    _show(said, what, all(answer["applied"] for answer in answers))


def _parts(told: Sequence[Sequence[Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows of one request each."""
    rows = [dict(zip(("url", "clicks", "views"), row, strict=True)) for row in told]
    rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
    for first in range(0, len(rows), PART):
        yield rows[first : first + PART]


def _tell(said: Said, what: str, verb: str, given: dict[str, Any]) -> None:
    from frontrank.crawl.inbox import send_command

    _show(said, what, send_command(Path(said.target), verb, **given))


def _show(said: Said, what: str, done: bool) -> None:
    from frontrank.cli.screen import show_json

    if said.as_json:
        show_json({"target": said.target, "told": what, "done": done})
    elif done:
        print(f"{said.target}: told of {what}")
    else:
        print(f"{said.target}: {what} said; the process at work there has not acted on it yet, and will when it takes a page")
