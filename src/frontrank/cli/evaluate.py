"""frontrank evaluate: which ranker finds the search impact that waits in a frontier?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from frontrank.cli.screen import output_options, progress, show

USUAL = ("random", "pagerank", "q-overlap", "rw", "rw-eg", "fusion")
QUERIED = ("q-overlap", "fusion")


def queries_of(path: str | None, judge: str, draw: int = 0) -> Any:
    """The query log, cut into what drives and what judges."""
    from frontrank.search.divided import load_divided

    return None if path is None else load_divided(path, judge, draw)


def seen_by(log: Any, visibility: str | None) -> Any:
    """The same queries, asked by searchers who see so much of a result at each rank."""
    from frontrank.errors import InputError
    from frontrank.search.visibility import Visibility
    from frontrank.search.visibility import visibility as numbers

    if visibility is None:
        return log
    if log is None:
        raise InputError(
            f"--visibility {visibility} says what searchers see of results, but no queries are known; add --queries FILE"
        )
    return log.seen(numbers(Visibility.read(visibility)))


visibility_option = click.option(
    "--visibility", metavar="V", help="What searchers see of a result: step:10 (default), 1/r, 1/log2(1+r), numbers or a file."
)


def search_options(f: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that judges by what searchers do."""
    options = (
        click.option("--queries", metavar="FILE", help="A query log: one query a line, or query, frequency, date."),
        click.option(
            "--judge",
            default="half",
            show_default=True,
            metavar="half|same|dates[:DAY]",
            help="Which queries judge: the other half of the log, those that drive, or the later ones.",
        ),
        click.option("--impact", type=click.Choice(["views", "clicks"]), help="What pages are worth: the web's own counts."),
    )
    for option in reversed(options):
        f = option(f)
    return f


def scene_options(f: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that pretends that a part of a web has been crawled."""
    options = (
        search_options,
        click.option("--crawled", default="bfs:0.3", show_default=True, metavar="P:SHARE", help="What has been fetched."),
        click.option("--seeds", metavar="SEEDS", help="A URL, a file of ids or URLs, top:160 or random:1000@7."),
    )
    for option in reversed(options):
        f = option(f)
    return f


@click.command(name="evaluate")
@click.argument("web")
@scene_options
@click.option("--policy", "--ranker", "specs", multiple=True, metavar="R", help="NAME or NAME:KEY=VALUE,...; repeatable.")
@visibility_option
@click.option("--protocol", metavar="split|deployed", help="How rankers that learn are trained.")
@click.option("--draw", type=int, default=0, show_default=True, help="Seed of the split.")
@click.option("--out", metavar="FILE", help="Write the table: .csv, .parquet or .json.")
@output_options
def command(
    web: str,
    queries: str | None,
    judge: str,
    impact: str | None,
    crawled: str,
    seeds: str | None,
    specs: tuple[str, ...],
    visibility: str | None,
    protocol: str | None,
    draw: int,
    out: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Pretend that a part of WEB has been crawled, rank its frontier, and compare with the ideal.

    \b
    frontrank evaluate uci-ics --queries log.txt.gz --crawled bfs:0.3 --seeds https://www.ics.uci.edu \\
        --policy pagerank --policy rw --policy rw-eg --policy q-overlap
    frontrank evaluate wikispeedia --impact clicks --policy pagerank --policy rw --policy rw-eg
    """
    from frontrank.lab.evaluate import evaluate, own_queries
    from frontrank.lab.frame import check_table_target
    from frontrank.sources import load

    if out:
        check_table_target(out)
    rankers = specs or tuple(name for name in USUAL if queries is not None or name not in QUERIED)
    with progress() as tell:
        log = queries_of(queries, judge, draw)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        log = seen_by(log or own_queries(loaded, judge, draw, rankers), visibility)
        done = evaluate(loaded, log, rankers, crawled, seeds, protocol, draw, tell, impact)
    if out:
        done.save_table(out)
    show(done, as_json, as_csv)
    if out and not as_json and not as_csv:
        print(f"written: {out}")
