"""frontrank report: one HTML page that compares orderings."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.screen import show_json
from frontrank.cli.simulate import run, run_options


@click.command(name="report")
@click.argument("web")
@run_options
@click.option("--out", default="report.html", show_default=True, metavar="FILE", help="Where the page goes.")
@click.option("--json", "as_json", is_flag=True, help="Also print the figures as JSON.")
def command(web: str, policies: tuple[str, ...], out: str, as_json: bool, **options: Any) -> None:
    """Compare orderings on WEB (or those in a directory that simulate --out wrote) in one self-contained page."""
    from frontrank.errors import need
    from frontrank.lab.compare import Runs, is_saved
    from frontrank.web.files import check_target

    need("jinja2", "plotly")
    check_target(out)
    runs = Runs.load(web) if is_saved(web) else run(web, policies, **options)
    assert isinstance(runs, Runs)
    runs.report(out)
    if as_json:
        show_json({**runs.json(), "report": out})
    else:
        print(f"report: {out}")
