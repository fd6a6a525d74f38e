"""frontrank ask, impact: what searchers do, told to a crawl by its directory, while it runs or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command(name="ask")
@click.argument("target", metavar="DIR")
@click.argument("queries", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def ask(target: str, queries: str, as_json: bool) -> None:
    """Give the crawl in DIR, running or not, the queries of FILE: its next ranking uses them.

    FILE is a query log: one query per line, or a table of query and frequency. It takes the place of the queries so far.

    \b
    frontrank ask my-crawl this-week.tsv
    """
    from frontrank.search.workload import load_workload
    from frontrank.web.view import workload_notes

    log = load_workload(queries)
    _tell(target, as_json, f"{len(log):,} queries", "ask", workload_notes(log))


@click.command(name="impact")
@click.argument("target", metavar="DIR")
@click.argument("table", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def impact(target: str, table: str, as_json: bool) -> None:
    """Tell the crawl in DIR, running or not, what searchers made of its pages: clicks, views or both.

    FILE is a table with the columns url and clicks, views or both (CSV, TSV, Parquet, SQLite). It holds from the next ranking
    on, and takes the place of what was told of a page before. Pages that the crawl does not know are named and skipped.

    \b
    frontrank impact my-crawl clicks-of-today.csv
    """
    from frontrank.sources.search_team.searchlog import read_impacts

    told = read_impacts(table)
    _tell(target, as_json, f"{len(told):,} pages", "impacts", {"told": told})


def _tell(target: str, as_json: bool, what: str, verb: str, given: dict[str, Any]) -> None:
    from frontrank.cli.screen import show_json
    from frontrank.crawl.inbox import tell

    done = tell(Path(target), verb, **given)
    if as_json:
        show_json({"target": target, "told": what, "done": done})
    elif done:
        print(f"{target}: told of {what}")
    else:
        print(f"{target}: {what} said; the process at work there has not acted on it yet, and will when it takes a page")
