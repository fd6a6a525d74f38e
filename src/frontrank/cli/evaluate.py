"""frontrank evaluate: which ranker finds the search impact hidden in a frontier?"""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.screen import Output, output_options, progress
from frontrank.lab.lab_options import FORMS, EvaluateOptions, SearchOptions

USUAL = ("random", "pagerank", "q-overlap", "rw", "rw-eg", "fusion")
QUERIED = ("q-overlap", "fusion")


def queries_of(asked: SearchOptions, draw: int = 0) -> Any:
    """The query log, cut into what drives and what judges."""
    from frontrank.search.divided import load_divided

    return None if asked.queries is None else load_divided(asked.queries, asked.judge, draw)


def seen_by(log: Any, visibility: str | None) -> Any:
    """The same queries, asked by searchers who see so much of a result at each rank."""
    from frontrank.errors import InputError
    from frontrank.search.visibility import Visibility
    from frontrank.search.visibility import visibility as numbers

    if visibility is None:
        return log
    seen = numbers(Visibility.read(visibility))
    if log is None:
        raise InputError(
            f"--visibility {visibility} says what searchers see of results, but no queries are used here; add --queries FILE, "
            "or name a ranker that goes by the queries of the web"
        )
    return log.seen(seen)


@click.command(name="evaluate")
@click.argument("web")
@asked_in(EvaluateOptions)
@click.option("--ordering", "specs", multiple=True, metavar="R", help=f"{FORMS}; repeatable.")
@click.option("--out", metavar="FILE", help="Write the table: .csv, .parquet or .json.")
@output_options
def command(web: str, specs: tuple[str, ...], out: str | None, output: Output, **given: Any) -> None:
    """Pretend that part of WEB has been crawled, rank its frontier, and compare with the ideal ranking.

    \b
    frontrank evaluate uci-ics --queries log.txt.gz --crawled bfs:0.3 \\
        --seeds https://www.ics.uci.edu --ordering pagerank --ordering rw-eg
    frontrank evaluate wikispeedia --impact clicks --ordering rw --ordering rw-eg
    """
    from frontrank.lab.evaluate import evaluate
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.scenario import own_queries
    from frontrank.sources import load

    if out:
        check_table_target(out)
    asked = EvaluateOptions(**given_of(given))
    rankers = specs or tuple(name for name in USUAL if asked.queries is not None or name not in QUERIED)
    with progress() as tell:
        log = queries_of(asked, asked.draw)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        log = seen_by(log or own_queries(loaded, asked.judge, asked.draw, rankers), asked.visibility)
        done = evaluate(
            *(loaded, log, rankers, asked.crawled, asked.seeds, asked.protocol),
            draw=asked.draw,
            progress=tell,
            impact=asked.impact,
        )
    if out:
        done.save_table(out)
    output.show(done)
    if out and output.for_people:
        print(f"written: {out}")
