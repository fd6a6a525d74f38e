"""frontrank tune: omega and gamma of rw-eg by the .632+ bootstrap."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.evaluate import queries_of
from frontrank.cli.screen import Output, output_options, progress
from frontrank.lab.lab_options import TuneOptions


@click.command(name="tune")
@click.argument("web")
@asked_in(TuneOptions)
@click.option("--out", metavar="FILE", help="Write the table: .csv, .parquet or .json.")
@output_options
def command(web: str, out: str | None, output: Output, **given: Any) -> None:
    """Choose omega and gamma of rw-eg on 65% of the frontier of WEB, and test the choice on the rest."""
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.scenario import build_scenario, own_queries
    from frontrank.lab.tune import tune
    from frontrank.sources import load

    if out:
        check_table_target(out)
    asked = TuneOptions(**given_of(given))
    with progress() as tell:
        log = queries_of(asked, asked.draw)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        log = log or own_queries(loaded, asked.judge, asked.draw, ())
        scene = build_scenario(
            loaded, log, asked.crawled, asked.seeds, "split", draw=asked.draw, progress=tell, impact=asked.impact
        )
        settings = tune(scene, asked.omega, asked.gamma, seed=asked.draw, progress=tell)
    if out:
        settings.save_table(out)
    output.show(settings)
    if output.for_people:
        print(f"best: {settings.spec}")
        if out:
            print(f"written: {out}")
