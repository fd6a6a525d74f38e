"""frontrank report: one HTML page that compares orderings."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.options import given_of, trust_option
from frontrank.cli.screen import show_json
from frontrank.cli.simulate import run, run_options


@click.command(name="report")
@click.argument("web")
@run_options
@click.option("--out", default="report.html", show_default=True, metavar="FILE", help="Where the page goes.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Also print the figures as JSON.")
def command(web: str, policies: tuple[str, ...], out: str, as_json: bool, **options: Any) -> None:
    """Compare orderings on WEB (or those in a directory that simulate --out wrote) in one self-contained page."""
    from frontrank.errors import InputError, need
    from frontrank.lab.compare import Runs
    from frontrank.lab.frame import check_ending
    from frontrank.lab.saved_runs import is_saved
    from frontrank.system.files import check_target

    need("jinja2", "plotly")
    check_ending(out, ".html", ".htm")
    check_target(out)
    given = ["ordering"] * bool(policies) + list(given_of(options))
    if given and is_saved(web):
        raise InputError(
            f"--{given[0].replace('_', '-')} was given, but {web} holds saved runs, which are not run again; drop it"
        )
    runs = Runs.load(web) if is_saved(web) else run(web, policies, **options)
    assert isinstance(runs, Runs)
    runs.report(out)
    if as_json:
        show_json({**runs.json(), "report": out})
    else:
        print(f"report: {out}")
