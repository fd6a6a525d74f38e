"""frontrank rank: the pages of a crawl's frontier to fetch next, here or on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.screen import Output, Progress, output_options, progress, say, show_csv, show_frame, show_json
from frontrank.lab.lab_options import RankOptions

if TYPE_CHECKING:
    from frontrank.lab.next_pages import Ranking
    from frontrank.orderings.ranker import Ranker
    from frontrank.web.view import CrawlView

SHOWN = 20


@click.command(name="rank")
@click.argument("crawl")
@asked_in(RankOptions)
@click.option(
    "--out", default="next.parquet", show_default=True, metavar="FILE", help="Where the pages go: .parquet, .csv or .json."
)
@output_options
def command(crawl: str, out: str, output: Output, **given: Any) -> None:
    """Score the frontier of CRAWL (imported or live) and write the best pages to fetch next.

    \b
    frontrank rank my.crawl --ordering rw-eg:omega=0.5 --budget 5000
    frontrank rank my.crawl --ordering ml --impact clicks --out next.csv
    frontrank rank tables/ --ordering pagerank --engine spark \\
        --master spark://HOST:7077 --work /shared

    CRAWL may also be a folder of two Parquet tables, links and pages (docs/spark.md). If pages has no column "fetched", all
    pages are ranked: with pagerank, by their importance in the whole web.
    """
    from frontrank.errors import InputError
    from frontrank.lab.frame import check_table_target
    from frontrank.sources.parquet_crawl import is_parquet_crawl

    check_table_target(out)
    asked = RankOptions(**given_of(given))
    tables = is_parquet_crawl(crawl)
    for flag, value in {"--master": asked.master, "--conf": asked.conf, "--work": asked.work}.items():
        if value and asked.engine != "spark":
            raise InputError(f"{flag} is for Spark; add --engine spark, or drop it")
    if asked.engine == "spark" and not tables:
        raise InputError(
            f"--engine spark takes a folder of links.parquet and pages.parquet, and {crawl} is not one; drop --engine"
        )
    if asked.scores is not None and not tables:
        raise InputError(f"--scores is for folders of Parquet tables, and {crawl} is not one; drop --scores")
    with progress() as tell:
        if not tables:
            ranked = _ranked_crawl(crawl, asked, tell)
        elif asked.engine == "spark":
            ranked = _ranked_on_spark(crawl, asked, tell)
        else:
            ranked = _ranked_tables(crawl, asked, tell)
    ranked.ranking.save(out)
    _show(ranked, out, output)


class RankResult(NamedTuple):
    """A ranking, and what to say of it."""

    ranker: Ranker
    ranking: Ranking
    pages: dict[str, int]  # how many are fetched (D) and in the frontier (F)
    notes: dict[str, dict[str, float]]  # how iterations converged


def _ranked_crawl(crawl: str, asked: RankOptions, tell: Progress) -> RankResult:
    from frontrank.lab.next_pages import rank, usual_rankers, view_for
    from frontrank.lab.scenario import ranker_of
    from frontrank.sources.imported_crawl import load_crawl

    named = None if asked.ranker is None else ranker_of(asked.ranker)  # a wrong name is refused before a large crawl is read
    tell("reading the crawl", 0, 0)
    loaded = load_crawl(crawl)
    ranker = named or ranker_of(usual_rankers(loaded)[-1])
    view = view_for(loaded, [ranker], asked.impact)
    tell(ranker.spec(), 0, 0)
    return RankResult(ranker, rank(loaded, view, ranker, asked.budget), _counts(view), view.notes)


def _ranked_tables(crawl: str, asked: RankOptions, tell: Progress) -> RankResult:
    from frontrank.lab.best_pages import check_scores_target, local_ranking, save_scores
    from frontrank.orderings.registry import parse_ranker
    from frontrank.sources.parquet_crawl import check_fits, open_crawl
    from frontrank.system.capacity import free_memory, free_temporary

    ranker = parse_ranker(asked.ranker or "pagerank")
    if asked.scores is not None:
        check_scores_target(asked.scores)
    tell("reading the tables", 0, 0)
    tables = open_crawl(crawl)
    check_fits(tables, ranker, free_memory(), free_temporary())
    tell(ranker.spec(), 0, 0)
    ranking, values, view = local_ranking(tables, ranker, asked.impact, asked.budget)
    if asked.scores is not None:
        save_scores(asked.scores, values)
    return RankResult(ranker, ranking, _counts(view), view.notes)


def _ranked_on_spark(crawl: str, asked: RankOptions, tell: Progress) -> RankResult:
    from frontrank.spark.command import ranked

    return RankResult(*ranked(crawl, asked, tell))


def _counts(view: CrawlView) -> dict[str, int]:
    return {"D": len(view.source), "F": view.known - len(view.source)}


def _show(ranked: RankResult, out: str, output: Output) -> None:
    ranker, ranking = ranked.ranker, ranked.ranking
    if output.as_csv:
        show_csv(ranking.frame())
        return
    if output.as_json:
        pages: list[dict[str, Any]] = [
            {"url": url, "score": float(score), "parts": {name: float(values[i]) for name, values in ranking.parts.items()}}
            for i, (url, score) in enumerate(zip(ranking.urls, ranking.scores, strict=True))
        ]
        show_json({"ranker": ranker.spec(), "pages": ranked.pages, "convergence": ranked.notes, "next": pages, "path": out})
        return
    first = ranking.head(SHOWN).frame()
    say(f"{ranker.spec()}: the first {len(first)} of {len(ranking.urls):,} pages")
    show_frame(first)
    for note in ranked.notes.values():
        say(f"converged in {note['iterations']:.0f} iterations, L1 error at most {note['residual']:.1e}")
    print(f"written: {out}")
