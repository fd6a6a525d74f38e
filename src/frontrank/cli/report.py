"""frontrank report: one HTML page that compares orderings."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.click_options import asked_in, given_of, trust_option
from frontrank.cli.screen import show_json
from frontrank.cli.simulate import run
from frontrank.lab.lab_options import RunOptions
from frontrank.options import options_of


@click.command(name="report")
@click.argument("web")
@asked_in(RunOptions)
@click.option("--out", default="report.html", show_default=True, metavar="FILE", help="Where the page goes.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Also print the figures as JSON.")
def command(web: str, out: str, as_json: bool, **options: Any) -> None:
    """Compare orderings on WEB (or those in a directory that simulate --out wrote) in one self-contained page."""
    from frontrank.errors import InputError, need
    from frontrank.lab.compare import Runs
    from frontrank.lab.frame import check_ending
    from frontrank.lab.saved_runs import is_saved
    from frontrank.system.files import check_target

    need("jinja2", "matplotlib")
    check_ending(out, ".html", ".htm")
    check_target(out)
    given = given_of(options)
    if given and is_saved(web):
        flag = options_of(RunOptions)[next(iter(given))].flag
        raise InputError(f"{flag} was given, but {web} holds saved runs, which are not run again; drop it")
    runs = Runs.load(web) if is_saved(web) else run(web, RunOptions(**given))
    assert isinstance(runs, Runs)
    runs.report(out)
    if as_json:
        show_json({**runs.json(), "report": out})
    else:
        print(f"report: {out}")
