"""frontrank reproduce: run a paper's comparisons, and set its claims beside what was measured."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from frontrank.cli.screen import progress, show_json

if TYPE_CHECKING:
    from frontrank.lab import Reproduction

DEFAULT = "synthetic:pages=20000,seed=1"


@click.command(name="reproduce")
@click.argument("paper")
@click.option("--web", default=DEFAULT, show_default=True, metavar="WEB", help="Any web that simulate takes.")
@click.option("--out", metavar="FILE.html", help="Write a page with all figures.")
@click.option("--markdown", metavar="FILE.md", help="Write tables and claims as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print everything for a program.")
def command(paper: str, web: str, out: str | None, markdown: str | None, as_json: bool) -> None:
    """Run the comparisons of PAPER (cho98, fica07 or fpr10) on a web, and say which of its claims hold there.

    \b
    frontrank reproduce fpr10
    frontrank reproduce cho98 --web DATA/uci-ics --out cho98.html
    """
    from frontrank.lab import check, run
    from frontrank.report import save
    from frontrank.runs import check_target
    from frontrank.sources import load

    check(paper)
    for path in (out, markdown):
        if path:
            check_target(path)
    with progress() as tell:
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        told = run(paper, loaded, tell, source=web)
    if out:
        told.html(out)
    if markdown:
        save(told.markdown(), markdown)
    if as_json:
        show_json(told.json())
    else:
        show(told)
        for path in (out, markdown):
            if path:
                print(f"written: {path}")


def show(told: Reproduction) -> None:
    """The claims, one under the other: what the paper says, what was measured, the verdict."""
    print(f"{told.title}: {told.summary()}\n")
    for one in told.experiments:
        if not one.claims:
            continue
        print(one.heading)
        for claim in one.claims:
            print(textwrap.fill(claim.says, 110, initial_indent="  ", subsequent_indent="  "))
            measured = f"{claim.measured}: " if claim.measured else ""
            print(textwrap.fill(f"{measured}{claim.finding}", 110, initial_indent="    ", subsequent_indent="    "))
        print()
