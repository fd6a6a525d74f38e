"""frontrank reproduce: run a paper's comparisons, and set its claims beside what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.evaluate import queries_of, seen_by
from frontrank.cli.screen import progress, say, show_json
from frontrank.lab.lab_options import ReproduceOptions

if TYPE_CHECKING:
    from frontrank.papers import Reproduction

DEFAULT = "synthetic:pages=20000,seed=1"


@click.command(name="reproduce")
@click.argument("paper")
@click.option("--web", default=DEFAULT, show_default=True, metavar="WEB", help="Any web that simulate takes.")
@asked_in(ReproduceOptions)
@click.option("--out", metavar="FILE.html", help="Write a page with all figures.")
@click.option("--markdown", metavar="FILE.md", help="Write tables and claims as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(paper: str, web: str, out: str | None, markdown: str | None, as_json: bool, **given: Any) -> None:
    """Rerun the comparisons of PAPER on a web, and report which of its claims hold there.

    PAPER is cho98, fica07, fpr10, pandey08 or tran15. The last two are about search: they need a query log, and make one up
    from the web if none is given.

    \b
    frontrank reproduce fpr10
    frontrank reproduce cho98 --web DATA/uci-ics --out cho98.html
    frontrank reproduce tran15 --web DATA/uci-ics \\
        --queries DATA/queries/trec-terabyte-2005.txt.gz
    frontrank reproduce tran15 --web DATA/wikispeedia --impact clicks
    """
    from frontrank.errors import InputError, need
    from frontrank.lab.frame import check_ending
    from frontrank.lab.report import save
    from frontrank.papers import SEARCH_PAPERS, check, run
    from frontrank.papers.made_queries import made_workload
    from frontrank.search.divided import halves
    from frontrank.sources import load
    from frontrank.system.files import check_target

    check(paper)
    asked = ReproduceOptions(**given_of(given))
    searched = {"--queries": asked.queries, "--impact": asked.impact, "--visibility": asked.visibility}
    for flag, value in searched.items():
        if value is not None and paper not in SEARCH_PAPERS:
            raise InputError(f"{flag} {value} was given, but {paper} is about links alone; drop {flag}")
    if out:
        need("jinja2", "matplotlib")
    for path, endings in ((out, (".html", ".htm")), (markdown, (".md", ".markdown"))):
        if path:
            check_ending(path, *endings)
            check_target(path)
    with progress() as tell:
        log = queries_of(asked)
        loaded = load(web, progress=lambda text: tell(text, 0, 0))
        if asked.visibility is not None:
            log = seen_by(log or halves(made_workload(loaded)), asked.visibility)
        reproduction = run(paper, loaded, tell, web, log, asked.queries or "", impact=asked.impact, visibility=asked.visibility)
    if out:
        reproduction.html(out)
    if markdown:
        save(reproduction.markdown(), markdown)
    if as_json:
        show_json(reproduction.json())
    else:
        show(reproduction)
        for path in (out, markdown):
            if path:
                print(f"written: {path}")


def show(reproduction: Reproduction) -> None:
    """The claims, one under the other: what the paper says, what was measured, the verdict."""
    say(f"{reproduction.title}: {reproduction.summary()}")
    for one in reproduction.experiments:
        if one.claims:
            print()
            say(one.heading)
        for claim in one.claims:
            say(claim.says, "  ")
            measured = f"{claim.measured}: " if claim.measured else ""
            say(f"{measured}{claim.finding}", "    ")
