"""frontrank leaderboard: every ordering over all webs that are available."""

from __future__ import annotations

import shlex
from typing import Any

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.screen import Output, output_options, progress, show_frame
from frontrank.lab.lab_options import LeaderboardOptions


@click.command(name="leaderboard")
@click.argument("webs", nargs=-1, metavar="[WEB[@SEEDS]]...")
@click.option("--ordering", "policies", multiple=True, metavar="P", help="An ordering to add; repeatable.")
@asked_in(LeaderboardOptions)
@click.option("--out", metavar="FILE", help="Write one page: .md, or the table as .csv, .parquet or .json.")
@output_options
def command(webs: tuple[str, ...], policies: tuple[str, ...], out: str | None, output: Output, **given: Any) -> None:
    """Which ordering is best over several webs? Four generated ones are always included; name others, each with its seeds.

    Every ordering runs that needs no parameter, and some variants. One half of a query log drives, the other judges.

    \b
    frontrank leaderboard
    frontrank leaderboard my-crawl@random:50 --ordering group --out leaderboard.md
    """
    from frontrank.lab.frame import check_table_target
    from frontrank.lab.leaderboard import leaderboard
    from frontrank.lab.report.html import save
    from frontrank.search.divided import HALF, load_divided

    if out is not None:
        check_table_target(out, ".md")
    asked = given_of(given)
    queries = asked.pop("queries", None)
    with progress() as tell:
        log = None if queries is None else load_divided(queries, HALF, 0)
        board = leaderboard(webs, policies, progress=tell, queries=log, **asked)
    if out is not None and out.lower().endswith(".md"):
        typed = [*webs, *(f"--ordering={policy}" for policy in policies)]
        typed += [] if queries is None else [f"--queries={queries}"]
        typed += [f"--draws={board.draws}", f"--budget={board.budget:g}"]
        save(board.markdown(f"frontrank leaderboard {shlex.join([*typed, '--out', out])}"), out)
    elif out is not None:
        board.save_table(out)
    output.show(board)
    if output.for_people:
        for contest in board.contests:
            print()
            show_frame(contest.frame())
