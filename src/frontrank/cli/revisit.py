"""frontrank revisit: when to fetch pages again. Revisit policies compared on a web that changes."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from typing import Any

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.screen import Output, output_options, progress
from frontrank.lab.lab_options import FORMS, RevisitOptions


@click.command(name="revisit")
@click.argument("web")
@click.option("--revisit", "revisits", multiple=True, metavar="R", help=f"{FORMS}; repeatable; all.")
@asked_in(RevisitOptions)
@click.option("--out", metavar="FILE", help="Write the report: .html; or the table: .csv, .parquet or .json.")
@output_options
def command(web: str, revisits: tuple[str, ...], out: str | None, output: Output, **given: Any) -> None:
    """When to fetch the pages of WEB again so that copies stay fresh. Compares revisit policies on a web that changes.

    \b
    frontrank revisit synthetic:pages=10000,seed=7 --collected
    frontrank revisit my-crawl --revisit fixed:every=7d --revisit adaptive \\
        --a-day 500 --share 0.3
    """
    from frontrank.errors import need
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.revisits import COMPARED, compare_revisits
    from frontrank.orderings.revisits import parse
    from frontrank.simulation.changes import parse as parse_changes
    from frontrank.sources import load

    if out is not None and check_table_target(out, ".html") == ".html":
        need("jinja2", "matplotlib")
    named = [spec for one in revisits or ("all",) for spec in (COMPARED if one == "all" else (one,))]
    asked = asdict(RevisitOptions(**given_of(given)))
    parsed, changes = [parse(spec) for spec in dict.fromkeys(named)], parse_changes(asked.pop("changes"))
    with progress() as tell:
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        done = compare_revisits(loaded, parsed, changes, progress=tell, seed=asked.pop("draw"), **asked)
    if out is not None and out.lower().endswith(".html"):
        done.save_report(out, shlex.join(["frontrank", *sys.argv[1:]]))
    elif out is not None:
        done.save_table(out)
    output.show(done)
    if out and output.for_people:
        print(f"written: {out}")
