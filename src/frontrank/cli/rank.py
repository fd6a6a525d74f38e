"""frontrank rank: the pages of a crawl's frontier to fetch next."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.screen import progress, show_json, show_table


@click.command(name="rank")
@click.argument("crawl")
@click.option("--ranker", "spec", metavar="R", help="NAME or NAME:KEY=VALUE,...; default: the best for what CRAWL knows.")
@click.option("--budget", type=int, default=1000, show_default=True, metavar="N", help="How many pages.")
@click.option("--impact", type=click.Choice(["views", "clicks"]), help="What fetched pages are known to be worth.")
@click.option("--out", default="next.parquet", show_default=True, metavar="FILE", help="Where the pages go.")
@click.option("--json", "as_json", is_flag=True, help="Print the pages for a program too.")
def command(crawl: str, spec: str | None, budget: int, impact: str | None, out: str, as_json: bool) -> None:
    """Score the frontier of CRAWL (that import wrote, or a live one) and write the best pages to fetch next.

    \b
    frontrank rank my.crawl --ranker rw-eg:omega=0.5 --budget 5000
    frontrank rank my.crawl --ranker ml --impact clicks
    """
    from frontrank.lab.evaluate import ranker_of
    from frontrank.lab.next_pages import rank, usual_rankers, view_for
    from frontrank.sources.imported_crawl import load_crawl
    from frontrank.web.files import check_target

    check_target(out)
    if spec is not None:
        ranker_of(spec)  # a wrong one is told before the crawl is read
    with progress() as tell:
        tell("reading the crawl", 0, 0)
        loaded = load_crawl(crawl)
        ranker = ranker_of(spec or usual_rankers(loaded)[-1])
        view = view_for(loaded, [ranker], impact)
        tell(ranker.spec(), 0, 0)
        ranking = rank(loaded, view, ranker, budget)
    ranking.save(out)
    pages: list[dict[str, Any]] = [
        {"url": url, "score": float(score), "parts": {name: float(values[i]) for name, values in ranking.parts.items()}}
        for i, (url, score) in enumerate(zip(ranking.urls, ranking.scores, strict=True))
    ]
    if as_json:
        counts = {"D": len(view.source), "F": view.known - len(view.source)}
        show_json({"ranker": ranker.spec(), "pages": counts, "convergence": view.notes, "next": pages, "path": out})
        return
    rows = [[page["url"], f"{page['score']:.4g}"] for page in pages[:20]]
    show_table(["url", "score"], rows, f"{ranker.spec()}: the first {len(rows)} of {len(pages):,} pages")
    for note in view.notes.values():
        print(f"converged in {note['iterations']:.0f} iterations, L1 error at most {note['residual']:.1e}")
    print(f"written: {out}")
