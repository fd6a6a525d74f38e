"""frontrank tune: omega and gamma of rw-eg by the .632+ bootstrap."""

from __future__ import annotations

import click

from frontrank.cli.evaluate import queries_of, scene_options
from frontrank.cli.screen import output_options, progress, show


def _numbers(ctx: click.Context, option: click.Parameter, text: str) -> tuple[float, ...]:
    from frontrank.errors import SpecError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(f"--{option.name} must be numbers joined by commas, got {text}") from None


@click.command(name="tune")
@click.argument("web")
@scene_options
@click.option("--omega", default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1", show_default=True, callback=_numbers)
@click.option("--gamma", default="0", show_default=True, callback=_numbers)
@click.option("--draw", type=int, default=0, show_default=True, help="Seed of the split and of the bootstrap.")
@click.option("--out", metavar="FILE", help="Write the table: .csv, .parquet or .json.")
@output_options
def command(
    web: str,
    queries: str | None,
    judge: str,
    impact: str | None,
    crawled: str,
    seeds: str | None,
    omega: tuple[float, ...],
    gamma: tuple[float, ...],
    draw: int,
    out: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Choose omega and gamma of rw-eg on 65% of the frontier of WEB, and test the choice on the rest."""
    from frontrank.lab.evaluate import own_queries, stage
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.tune import tune
    from frontrank.sources import load

    if out:
        check_table_target(out)
    with progress() as tell:
        log = queries_of(queries, judge, draw)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        log = log or own_queries(loaded, judge, draw, ())
        scene = stage(loaded, log, crawled, seeds, "split", draw=draw, progress=tell, impact=impact)
        settings = tune(scene, omega, gamma, seed=draw, progress=tell)
    if out:
        settings.save_table(out)
    show(settings, as_json, as_csv)
    if not as_json and not as_csv:
        print(f"best: {settings.spec}")
        if out:
            print(f"written: {out}")
