"""frontrank convert: write any web as a web directory, or in Parquet."""

from __future__ import annotations

import click

from frontrank.cli.screen import progress, show_json


@click.command(name="convert")
@click.argument("source")
@click.argument("target")
@click.option(
    "--uncaptured", is_flag=True, help="For WARC or WAT files: keep link targets that were not captured as pages, too."
)
@click.option(
    "--force", is_flag=True, help="Replace TARGET even if it is an imported crawl, or has files or tables of your own."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(source: str, target: str, uncaptured: bool, force: bool, as_json: bool) -> None:
    """Write the web SOURCE (any that simulate takes) as the web directory TARGET, which loads instantly.

    A TARGET that ends with .parquet is a folder of Parquet tables, links and pages. Edge lists, BVGraphs, Common Crawl's
    graphs and Parquet may be larger than memory.

    \b
    frontrank convert uk-2007-05 uk.web
    frontrank convert crawl-00000.warc.gz crawl.web
    frontrank convert synthetic:pages=1000000,seed=7 million.web
    frontrank convert uk.web uk.parquet
    """
    from frontrank.sources import convert
    from frontrank.sources.parquet_web import WRITTEN, is_parquet_target

    with progress() as tell:
        web = convert(source, target, force, lambda text: tell(text, 0, 0), uncaptured)
    known = [column for column in web.COLUMNS if web.has(column)]
    columns = [column for column in known if not is_parquet_target(target) or column in WRITTEN]
    if as_json:
        show_json({"web": {"pages": web.pages, "links": web.links}, "columns": columns, "path": target})
        return
    print(f"{target}: {web.pages:,} pages, {web.links:,} links, {', '.join(columns) or 'links only'}")
    if columns != known:
        print(f"  not written, as this format cannot hold them: {', '.join(c for c in known if c not in columns)}")
