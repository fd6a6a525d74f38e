"""frontrank tune: omega and gamma of rw-eg by the .632+ bootstrap."""

from __future__ import annotations

import click

from frontrank.cli.evaluate import scene_options, workload_of
from frontrank.cli.screen import percent, progress, show_json, show_table


def _numbers(ctx: click.Context, option: click.Parameter, text: str) -> tuple[float, ...]:
    from frontrank.errors import SpecError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(f"--{option.name} {text} given, numbers joined by commas expected") from None


@click.command(name="tune")
@click.argument("web")
@scene_options
@click.option("--omega", default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1", show_default=True, callback=_numbers)
@click.option("--gamma", default="0", show_default=True, callback=_numbers)
@click.option("--draw", type=int, default=0, show_default=True, help="Seed of the split and of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures for a program.")
def command(
    web: str,
    queries: str | None,
    crawled: str,
    seeds: str | None,
    omega: tuple[float, ...],
    gamma: tuple[float, ...],
    draw: int,
    as_json: bool,
) -> None:
    """Choose omega and gamma of rw-eg on 65% of the frontier of WEB, and test the choice on the rest."""
    from frontrank.lab.evaluate import stage
    from frontrank.lab.tune import as_json as figures_of
    from frontrank.lab.tune import tune
    from frontrank.sources import load

    with progress() as tell:
        log = workload_of(queries)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        scene = stage(loaded, log, crawled, seeds, "split", draw=draw, progress=tell)
        settings = tune(scene, omega, gamma, seed=draw, progress=tell)
    if as_json:
        show_json(figures_of(settings))
        return
    by_value = sorted(settings, key=lambda setting: (setting.gamma, setting.omega))
    rows = [[f"{s.omega:g}", f"{s.gamma:g}", percent(s.estimate), percent(s.training), percent(s.test)] for s in by_value]
    show_table(["omega", "gamma", ".632+", "training", "test"], rows, "share of the ideal impact at 5% and 10%, mean")
    print(f"best: rw-eg:omega={settings[0].omega:g},gamma={settings[0].gamma:g}")
