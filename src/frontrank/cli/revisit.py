"""frontrank revisit: when should pages come back? Policies of revisits on a web that changes."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from frontrank.cli.screen import output_options, progress, show
from frontrank.orderings import DEFAULT_ORDERING


@click.command(name="revisit")
@click.argument("web")
@click.option("--revisit", "revisits", multiple=True, metavar="R", help="NAME or NAME:KEY=VALUE,...; repeatable; all.")
@click.option("--changes", default="web", metavar="C", help="How often pages change: web, same:every=10d, gamma:..., file:...")
@click.option("--days", type=float, default=180.0, metavar="D", help="How long the crawl goes on; default: 180.")
@click.option("--a-day", type=float, metavar="N", help="Fetches a day; default: a fifteenth of the pages.")
@click.option("--share", type=float, default=0.5, metavar="S", help="Of fetches, for revisits; default: 0.5.")
@click.option("--collected", is_flag=True, help="All pages are fetched before the clock starts: revisits only.")
@click.option(
    "--policy", default=DEFAULT_ORDERING, metavar="P", help=f"The ordering that discovers pages; default: {DEFAULT_ORDERING}."
)
@click.option("--seeds", metavar="SEEDS", help="A URL, a file of ids or URLs, top:160 or random:1000@7.")
@click.option("--metric", default="pagerank", metavar="M", help="Importance that pages are weighed by; default: pagerank.")
@click.option("--draw", "seed", type=int, default=0, metavar="N", help="Another number draws other rates and changes.")
@click.option("--out", metavar="FILE", help="Write the report: .html; or the table: .csv, .parquet or .json.")
@output_options
def command(web: str, revisits: tuple[str, ...], out: str | None, as_json: bool, as_csv: bool, **options: Any) -> None:
    """When should the pages of WEB come back, so that copies are fresh? Compares policies on a web that changes.

    \b
    frontrank revisit synthetic:pages=10000,seed=7 --collected
    frontrank revisit my-crawl --revisit fixed:every=7d --revisit adaptive --a-day 500 --share 0.3
    """
    from frontrank.errors import need
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.revisits import COMPARED, compare_revisits
    from frontrank.orderings.revisits import parse
    from frontrank.simulation.changes import parse as parse_changes
    from frontrank.sources import load

    if out is not None and check_table_target(out, ".html") == ".html":
        need("jinja2", "plotly")
    named = [spec for one in revisits or ("all",) for spec in (COMPARED if one == "all" else (one,))]
    parsed, told = [parse(spec) for spec in dict.fromkeys(named)], parse_changes(options.pop("changes"))
    with progress() as tell:
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        done = compare_revisits(loaded, parsed, told, progress=tell, **options)
    if out is not None and out.lower().endswith(".html"):
        done.save_report(out, shlex.join(["frontrank", *sys.argv[1:]]))
    elif out is not None:
        done.save_table(out)
    show(done, as_json, as_csv)
    if out and not as_json and not as_csv:
        print(f"written: {out}")
