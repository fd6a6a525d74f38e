"""frontrank leaderboard: every ordering over all webs at hand."""

from __future__ import annotations

import shlex

import click

from frontrank.cli.screen import output_options, progress, show, show_frame


@click.command(name="leaderboard")
@click.argument("webs", nargs=-1, metavar="[WEB[@SEEDS]]...")
@click.option("--policy", "policies", multiple=True, metavar="P", help="An ordering to try beside the others; repeatable.")
@click.option("--queries", metavar="FILE", help="A query log: what pages with texts are worth where no clicks are known.")
@click.option("--draws", type=int, metavar="N", help="Draws of random seeds; default: 5.")
@click.option("--budget", type=float, metavar="SHARE", help="How far crawls go; default: 0.5, half of the web.")
@click.option("--out", metavar="FILE", help="Write one page: .md, or the table as .csv, .parquet or .json.")
@output_options
def command(
    webs: tuple[str, ...],
    policies: tuple[str, ...],
    queries: str | None,
    draws: int | None,
    budget: float | None,
    out: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Which ordering is best, over all webs at hand? Four generated webs always, and those you name, each with its seeds.

    Every ordering runs that needs no parameter, and some variants. One half of a query log drives, the other judges.

    \b
    frontrank leaderboard
    frontrank leaderboard my-crawl@random:50 --policy group:scorer=rules --out leaderboard.md
    """
    from frontrank.cli.evaluate import queries_of
    from frontrank.lab.leaderboard import BUDGET, DRAWS, leaderboard
    from frontrank.lab.report.html import save
    from frontrank.web.files import check_target

    if out is not None:
        check_target(out)
    with progress() as tell:
        log = queries_of(queries, "half")
        board = leaderboard(webs, policies, DRAWS if draws is None else draws, BUDGET if budget is None else budget, tell, log)
    if out is not None and out.endswith(".md"):
        given = [*webs, *(f"--policy={policy}" for policy in policies), *([] if queries is None else [f"--queries={queries}"])]
        given += [f"--draws={board.draws}", f"--budget={board.budget:g}"]
        save(board.markdown(f"frontrank leaderboard {shlex.join([*given, '--out', out])}"), out)
    elif out is not None:
        board.save_table(out)
    show(board, as_json, as_csv)
    if not as_json and not as_csv:
        for contest in board.contests:
            print()
            show_frame(contest.frame())
