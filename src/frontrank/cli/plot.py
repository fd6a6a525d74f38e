"""frontrank plot: the curves of saved runs as a picture."""

from __future__ import annotations

import click

from frontrank.cli.screen import show_json


@click.command(name="plot")
@click.argument("runs")
@click.argument("picture")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the curves as JSON.")
def command(runs: str, picture: str, as_json: bool) -> None:
    """Draw the curves of RUNS, which simulate --out wrote, as PICTURE: .svg, .png or .pdf.

    \b
    frontrank simulate synthetic:pages=5000,seed=7 --ordering bfs \\
        --ordering surf --out runs
    frontrank plot runs curve.svg
    """
    from frontrank.lab.plot import check_picture_target, plot, read_curves

    check_picture_target(picture)
    curves = read_curves(runs)
    plot(curves, picture)
    if as_json:
        show_json({"picture": picture, "curves": list(curves)})
    else:
        print(f"picture: {picture}")
