"""frontrank rank: the pages of a crawl's frontier to fetch next, here or on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.options import number
from frontrank.cli.screen import Progress, output_options, progress, say, show_frame, show_json

if TYPE_CHECKING:
    from frontrank.lab.next_pages import Ranking
    from frontrank.orderings.ranker import Ranker

SHOWN = 20


@click.command(name="rank")
@click.argument("crawl")
@click.option(
    "--ordering",
    "spec",
    metavar="R",
    help="NAME or NAME:KEY=VALUE,...; default: fusion, rw-eg or pagerank, depending on what CRAWL holds.",
)
@number("--budget", 1000, "How many pages.", least=1)
@click.option("--impact", type=click.Choice(["views", "clicks"]), help="What fetched pages are worth: their views or clicks.")
@click.option(
    "--out", default="next.parquet", show_default=True, metavar="FILE", help="Where the pages go: .parquet, .csv or .json."
)
@click.option("--scores", metavar="DIR", help="Also write the scores of all pages, as Parquet files (Parquet tables only).")
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where to compute; Spark reads Parquet tables.",
)
@click.option(
    "--master", metavar="URL", help="Spark master: local[2], spark://HOST:PORT, yarn or k8s://URL; default: local[*]."
)
@click.option(
    "--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting, such as spark.executor.memory=8g; repeatable."
)
@click.option("--work", metavar="DIR", help="Checkpoints of Spark; on a cluster, a directory that every machine can reach.")
@output_options
def command(
    crawl: str,
    spec: str | None,
    budget: int,
    impact: str | None,
    out: str,
    scores: str | None,
    engine: str,
    master: str | None,
    conf: tuple[str, ...],
    work: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
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
    tables = is_parquet_crawl(crawl)
    for option, value in {"--master": master, "--conf": conf, "--work": work}.items():
        if value and engine != "spark":
            raise InputError(f"{option} is for Spark; add --engine spark, or drop it")
    if engine == "spark" and not tables:
        raise InputError(f"--engine spark takes a folder of links.parquet and pages.parquet, not {crawl}; drop --engine")
    if scores is not None and not tables:
        raise InputError(f"--scores is for folders of Parquet tables, and {crawl} is not one; drop --scores")
    with progress() as tell:
        if not tables:
            ranker, ranking, told, notes = _ranked_crawl(crawl, spec, budget, impact, tell)
        elif engine == "spark":
            from frontrank.spark.command import Cluster, RankRequest, ranked

            request, cluster = RankRequest(crawl, spec, budget, impact, scores), Cluster(master, conf, work)
            ranker, ranking, told, notes = ranked(request, cluster, tell)
        else:
            ranker, ranking, told, notes = _ranked_tables(crawl, spec, budget, impact, scores, tell)
    ranking.save(out)
    _show(ranker, ranking, told, notes, out, as_json, as_csv)


RankOutput = tuple["Ranker", "Ranking", dict[str, int], dict[str, dict[str, float]]]


def _ranked_crawl(crawl: str, spec: str | None, budget: int, impact: str | None, tell: Progress) -> RankOutput:
    from frontrank.lab.next_pages import rank, usual_rankers, view_for
    from frontrank.lab.scenario import ranker_of
    from frontrank.sources.imported_crawl import load_crawl

    given = None if spec is None else ranker_of(spec)  # a wrong name is told before a large crawl is read
    tell("reading the crawl", 0, 0)
    loaded = load_crawl(crawl)
    ranker = given or ranker_of(usual_rankers(loaded)[-1])
    view = view_for(loaded, [ranker], impact)
    tell(ranker.spec(), 0, 0)
    ranking = rank(loaded, view, ranker, budget)
    return ranker, ranking, {"D": len(view.source), "F": view.known - len(view.source)}, view.notes


def _ranked_tables(
    crawl: str, spec: str | None, budget: int, impact: str | None, scores: str | None, tell: Progress
) -> RankOutput:
    from frontrank.lab.best_pages import check_scores_target, local_ranking, save_scores
    from frontrank.orderings.registry import parse_ranker
    from frontrank.sources.parquet_crawl import check_fits, open_crawl
    from frontrank.system.capacity import free_memory, free_temporary

    ranker = parse_ranker(spec or "pagerank")
    if scores is not None:
        check_scores_target(scores)
    tell("reading the tables", 0, 0)
    tables = open_crawl(crawl)
    check_fits(tables, ranker, free_memory(), free_temporary())
    tell(ranker.spec(), 0, 0)
    ranking, values, view = local_ranking(tables, ranker, impact, budget)
    if scores is not None:
        save_scores(scores, values)
    return ranker, ranking, {"D": len(view.source), "F": view.known - len(view.source)}, view.notes


def _show(
    ranker: Ranker,
    ranking: Ranking,
    counts: dict[str, int],
    notes: dict[str, dict[str, float]],
    out: str,
    as_json: bool,
    as_csv: bool,
) -> None:
    if as_csv:
        print(ranking.frame().csv(), end="")
        return
    if as_json:
        pages: list[dict[str, Any]] = [
            {"url": url, "score": float(score), "parts": {name: float(values[i]) for name, values in ranking.parts.items()}}
            for i, (url, score) in enumerate(zip(ranking.urls, ranking.scores, strict=True))
        ]
        show_json({"ranker": ranker.spec(), "pages": counts, "convergence": notes, "next": pages, "path": out})
        return
    shown = ranking.head(SHOWN).frame()
    say(f"{ranker.spec()}: the first {len(shown)} of {len(ranking.urls):,} pages")
    show_frame(shown)
    for note in notes.values():
        say(f"converged in {note['iterations']:.0f} iterations, L1 error at most {note['residual']:.1e}")
    print(f"written: {out}")
