"""frontrank evaluate: which ranker finds the search impact that waits in a frontier?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from frontrank.cli.screen import percent, progress, show_json, show_table


def workload_of(path: str | None) -> Any:
    from frontrank.search.workload import load_workload

    return None if path is None else load_workload(path)


def scene_options(f: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that pretends that a part of a web has been crawled."""
    options = (
        click.option("--queries", metavar="FILE", help="A query log: one query a line, or query and frequency."),
        click.option("--crawled", default="bfs:0.3", show_default=True, metavar="P:SHARE", help="What has been fetched."),
        click.option("--seeds", metavar="SEEDS", help="A URL, a file of ids or URLs, top:160 or random:1000@7."),
    )
    for option in reversed(options):
        f = option(f)
    return f


@click.command(name="evaluate")
@click.argument("web")
@scene_options
@click.option("--ranker", "specs", multiple=True, metavar="R", help="NAME or NAME:KEY=VALUE,...; repeatable.")
@click.option("--protocol", metavar="split|deployed", help="How rankers that learn are trained.")
@click.option("--draw", type=int, default=0, show_default=True, help="Seed of the split.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures for a program.")
def command(
    web: str,
    queries: str | None,
    crawled: str,
    seeds: str | None,
    specs: tuple[str, ...],
    protocol: str | None,
    draw: int,
    as_json: bool,
) -> None:
    """Pretend that a part of WEB has been crawled, rank its frontier, and compare with the ideal.

    \b
    frontrank evaluate uci-ics --queries log.txt.gz --crawled bfs:0.3 --seeds https://www.ics.uci.edu \\
        --ranker pagerank --ranker rw --ranker rw-eg --ranker q-overlap
    """
    from frontrank.lab.evaluate import evaluate
    from frontrank.sources import load

    rankers = specs or ("random", "pagerank", "q-overlap", "rw", "rw-eg", "fusion")
    with progress() as tell:
        log = workload_of(queries)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        done = evaluate(loaded, log, rankers, crawled, seeds, protocol, draw, tell)
    figures = done.json()
    if as_json:
        show_json(figures)
        return
    counts = figures["pages"]
    title = f"{loaded.name}, {crawled}: {counts['D']:,} pages fetched, {counts['F']:,} wait, {counts['tested']:,} tested"
    shares = ["0.01", "0.02", "0.05", "0.1", "0.2"]
    rows = [
        [name, *(percent(value["impact"][share]) for share in shares), f"{value['seconds']:.2f}"]
        for name, value in figures["rankers"].items()
    ]
    show_table(["ranker", *(f"{float(share):.0%} of F" for share in shares), "s"], rows, title)
    print(f"share of the ideal impact ({figures['judged_by']}) among the first pages of the frontier")
