"""frontrank export: the pages of a crawl as a table, as Markdown files, or as a web archive."""

from __future__ import annotations

import sys
from typing import Any

import click

from frontrank.cli.click_options import asked_in, given_of, trust_option
from frontrank.cli.screen import progress, show_json
from frontrank.exports.options import ExportOptions


@click.command(name="export")
@click.argument("directory", metavar="CRAWL")
@click.argument("out", metavar="OUT")
@asked_in(ExportOptions)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(directory: str, out: str, *, force: bool, as_json: bool, **given: Any) -> None:
    """Write the pages of the crawl in CRAWL, one row for each, in the format that the ending of OUT names.

    .jsonl, .jsonl.gz, .csv, .parquet, .md (a folder of Markdown files) or .wacz (a web archive). The crawl may be running.

    \b
    frontrank export my-crawl pages.parquet
    frontrank export my-crawl pages.jsonl --text main --where status=200
    frontrank export my-crawl pages.csv --columns url,title --since 2h
    frontrank export my-crawl pages.md
    """
    from frontrank.exports import export

    with progress() as tell:
        done = export(directory, out, force=force, progress=lambda count: tell("pages", count, 0), **given_of(given))
    for example in done.examples:
        print(f"left out: {example}", file=sys.stderr)
    if as_json:
        show_json(
            {
                "path": done.path,
                "pages": done.pages,
                "columns": list(done.columns),
                "left_out": {**done.withheld, "damaged": done.damaged},
                "problems": done.problems,
            }
        )
        return
    print(f"{done.path}: {done.pages:,} pages, {', '.join(done.columns)}")
    for reason, count in done.withheld.items():
        print(f"  left out, as their owners ask ({reason}): {count:,}")
    if done.damaged:
        print(f"  left out, as their WARC records are damaged: {done.damaged:,}")
    for problem, count in done.problems.items():
        print(f"  {problem}: {count:,}")
