"""frontrank plot: the curves of saved runs as a picture."""

from __future__ import annotations

import click


@click.command(name="plot")
@click.argument("runs")
@click.argument("picture")
def command(runs: str, picture: str) -> None:
    """Draw the curves of RUNS, which simulate --out wrote, as PICTURE: .svg, .png or .pdf.

    \b
    frontrank simulate synthetic:pages=5000,seed=7 --ordering bfs \\
        --ordering surf --out runs
    frontrank plot runs curve.svg
    """
    from frontrank.lab.plot import check_picture_target, plot, read_curves

    check_picture_target(picture)
    plot(read_curves(runs), picture)
    print(f"picture: {picture}")
