"""frontrank recommend: which ordering to take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import asked_in, given_of
from frontrank.cli.screen import Output, output_options, progress, say, show_json
from frontrank.lab.lab_options import RecommendOptions
from frontrank.options import options_of

if TYPE_CHECKING:
    from frontrank.lab.purpose import Purpose

INDENT = " " * 10  # before a line of advice that continues


@click.command(name="recommend")
@click.argument("web", required=False)
@click.option(
    "--for",
    "purpose",
    metavar="PURPOSE",
    help="importance (default), quality, quality:SCORER, votes, topic:WORDS, searchers or coverage.",
)
@asked_in(RecommendOptions)
@output_options
def command(web: str | None, purpose: str | None, output: Output, **given: Any) -> None:
    """Which ordering to use. Without WEB: a table of advice. With WEB (or a crawl's directory): try orderings on it.

    \b
    frontrank recommend
    frontrank recommend synthetic:pages=20000,seed=1
    frontrank recommend my-crawl --for topic:security
    frontrank recommend my-crawl --ordering fpr:m=10 \\
        --ordering shop.orderings:Mine
    frontrank recommend DATA/uci-ics --for searchers --queries log.txt.gz
    """
    from frontrank.lab.purpose import Purpose

    chosen, options = None if purpose is None else Purpose.of(purpose), given_of(given)
    if web is None:
        _advise(chosen, options, output)
    else:
        _try_on(web, chosen or Purpose("importance"), RecommendOptions(**options), output)


def _advise(purpose: Purpose | None, options: Mapping[str, Any], output: Output) -> None:
    """Print the table of advice."""
    from frontrank.errors import InputError
    from frontrank.lab.advice import advice_for

    for name in options:
        flag = options_of(RecommendOptions)[name].flag
        raise InputError(f"{flag} was given, but no WEB to try orderings on; name one, or drop {flag}")
    if output.as_csv:
        raise InputError("--csv was given, but no WEB to try orderings on; name one, or use --json")
    rows = advice_for(purpose)
    if output.as_json:
        show_json([row.json() for row in rows])
        return
    for row in rows:
        say(f"{row.want}; you have {row.have}", "", "  ")
        say(row.ordering, "  take    ", INDENT)
        say(row.why, "  why     ", INDENT)
        print(f"  try     {row.command}")
    print("Tried on your own web: frontrank recommend WEB --for PURPOSE")


def _try_on(web: str, purpose: Purpose, asked: RecommendOptions, output: Output) -> None:
    """Run orderings on a web, and print which is best."""
    from frontrank.lab.recommend import recommend
    from frontrank.search.workload import load_workload
    from frontrank.sources import load

    with progress() as tell:
        log = None if asked.queries is None else load_workload(asked.queries)
        loaded = load(web, lambda text: tell(text, 0, 0))
        tell("the first draw takes longer: kernels are compiled, importance is computed", 0, 0)
        done = recommend(
            *(loaded, purpose, asked.draws, asked.budget, asked.seeds, log),
            progress=tell,
            queries=asked.queries or "",
            policies=asked.policy,
        )
    output.show(done)
    if output.for_people:
        print(f"\nTake {done.recommended.spec}: {done.why()}.")
        for line in done.next:
            print(f"  {line}")
