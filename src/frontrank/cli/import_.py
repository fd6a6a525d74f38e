"""frontrank import: a crawl and its search log from the tables that a search team has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.screen import progress, show_json
from frontrank.errors import InputError

if TYPE_CHECKING:
    from frontrank.sources.search_team.importing import ImportCounts
    from frontrank.sources.search_team.searchlog import Observed

NOTICES = {
    "duplicate_pages": "duplicate rows of a page; the first counts",
    "repeated_queries": "duplicate rows of a query; frequencies are added",
    "unknown_log_rows": "rows of the log whose URL is not a page of the crawl",
    "unknown_result_rows": "results whose URL is not a page of the crawl",
    "unasked_result_rows": "results of a query that nobody asked",
    "repeated_results": "results given twice; the best rank counts",
    "undated_rows": "rows of queries or of the log whose date cannot be read; they count where no dates are needed",
    "unlinked_frontier": "unfetched pages without a link from a fetched page; not yet in the frontier",
}


@click.command(name="import")
@click.option("--pages", metavar="TABLE", help="url, fetched [, clicks, views, title, text, host]")
@click.option("--links", metavar="TABLE", help="source, target [, anchor]")
@click.option("--queries", metavar="TABLE", help="query, frequency [, date]")
@click.option("--log", metavar="TABLE", help="query, url, clicks, views [, date]")
@click.option("--results", metavar="TABLE", help="query, url, rank [, score]")
@click.argument("target")
@click.option("--skip-bad", is_flag=True, help="Skip rows that cannot be used, and report how many.")
@click.option("--force", is_flag=True, help="Replace TARGET if it is an imported crawl or a web.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(target: str, skip_bad: bool, force: bool, as_json: bool, **given: str | None) -> None:
    """Write the crawl directory TARGET from tables: Parquet, CSV or TSV (also .gz), SQLite (file.db#table) or DuckDB.

    \b
    frontrank import --pages pages.parquet --links links.parquet \\
        --log clicks.csv.gz team.crawl
    frontrank import --pages crawl.db --links crawl.db \\
        --queries crawl.db#asked team.crawl
    """
    from frontrank.sources.imported_crawl import check_crawl_target, save_crawl

    check_crawl_target(target, force)
    with progress() as tell:
        crawl, counts = _read(target, given, skip_bad, lambda text: tell(text, 0, 0))
        tell(f"writing {target}", 0, 0)
        save_crawl(target, crawl, force)
    figures = _figures(crawl, counts.json())
    if as_json:
        show_json({"path": target, **figures})
        return
    listed = ", ".join(f"{figures[name]:,} {name}" for name in ("pages", "fetched", "links", "queries", "results"))
    print(f"{target}: {listed}; {' and '.join(figures['impacts']) or 'neither clicks nor views'} known")
    for table, rows in figures["skipped"].items():
        print(f"  {rows:,} bad rows of {table} skipped")
    for name, notice in NOTICES.items():
        if figures.get(name):
            print(f"  {figures[name]:,} {notice}")


def _read(target: str, given: dict[str, str | None], skip_bad: bool, tell: Any) -> tuple[Observed, ImportCounts]:
    from frontrank.sources.search_team.searchlog import TeamFiles, read_observed

    pages, links = given["pages"], given["links"]
    if pages is None or links is None:
        missing = "--pages" if pages is None else "--links"
        raise InputError(f"{missing} is missing; expected --pages and --links")
    name = os.path.basename(os.path.normpath(target)).removesuffix(".crawl")
    files = TeamFiles(pages, links, given["queries"], given["log"], given["results"])
    return read_observed(files, skip_bad=skip_bad, name=name, progress=tell)


def _figures(crawl: Observed, counts: dict[str, Any]) -> dict[str, Any]:
    return {
        "pages": crawl.web.pages,
        "fetched": len(crawl.fetched),
        "links": crawl.web.links,
        "queries": 0 if crawl.queries is None else len(crawl.queries),
        "results": 0 if crawl.results is None else len(crawl.results.query),
        "impacts": [name for name in ("clicks", "views") if crawl.web.has(name)],
        "columns": [column for column in crawl.web.COLUMNS if crawl.web.has(column)],
        **counts,
    }
