"""frontrank rank: the pages of a crawl's frontier to fetch next."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.screen import output_options, progress, say, show_frame, show_json

SHOWN = 20


@click.command(name="rank")
@click.argument("crawl")
@click.option(
    "--policy",
    "--ranker",
    "spec",
    metavar="R",
    help="NAME or NAME:KEY=VALUE,...; fusion, rw-eg or pagerank by what CRAWL knows.",
)
@click.option("--budget", type=int, default=1000, show_default=True, metavar="N", help="How many pages.")
@click.option("--impact", type=click.Choice(["views", "clicks"]), help="What fetched pages are known to be worth.")
@click.option(
    "--out", default="next.parquet", show_default=True, metavar="FILE", help="Where the pages go: .parquet, .csv or .json."
)
@output_options
def command(crawl: str, spec: str | None, budget: int, impact: str | None, out: str, as_json: bool, as_csv: bool) -> None:
    """Score the frontier of CRAWL (that import wrote, or a live one) and write the best pages to fetch next.

    \b
    frontrank rank my.crawl --policy rw-eg:omega=0.5 --budget 5000
    frontrank rank my.crawl --policy ml --impact clicks --out next.csv
    """
    from frontrank.errors import InputError
    from frontrank.lab.evaluate import ranker_of
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.next_pages import rank, usual_rankers, view_for
    from frontrank.sources.imported_crawl import load_crawl

    check_table_target(out)
    if budget < 1:
        raise InputError(f"--budget must be at least 1 page, got {budget}")
    given = None if spec is None else ranker_of(spec)  # a wrong name is told before a large crawl is read
    with progress() as tell:
        tell("reading the crawl", 0, 0)
        loaded = load_crawl(crawl)
        ranker = given or ranker_of(usual_rankers(loaded)[-1])
        view = view_for(loaded, [ranker], impact)
        tell(ranker.spec(), 0, 0)
        ranking = rank(loaded, view, ranker, budget)
    ranking.save(out)
    frame = ranking.frame()
    if as_csv:
        print(frame.csv(), end="")
        return
    if as_json:
        pages: list[dict[str, Any]] = [
            {"url": url, "score": float(score), "parts": {name: float(values[i]) for name, values in ranking.parts.items()}}
            for i, (url, score) in enumerate(zip(ranking.urls, ranking.scores, strict=True))
        ]
        counts = {"D": len(view.source), "F": view.known - len(view.source)}
        show_json({"ranker": ranker.spec(), "pages": counts, "convergence": view.notes, "next": pages, "path": out})
        return
    shown = frame.head(SHOWN)
    say(f"{ranker.spec()}: the first {len(shown)} of {len(frame):,} pages")
    show_frame(shown)
    for note in view.notes.values():
        say(f"converged in {note['iterations']:.0f} iterations, L1 error at most {note['residual']:.1e}")
    print(f"written: {out}")
