"""frontrank recommend: which ordering to take."""

from __future__ import annotations

from typing import Any

import click

from frontrank.cli.options import asked_in, given_of
from frontrank.cli.screen import output_options, progress, say, show, show_json
from frontrank.lab.lab_options import RecommendOptions
from frontrank.options import options_of

AT = " " * 10  # where the advice stands


@click.command(name="recommend")
@click.argument("web", required=False)
@click.option(
    "--for",
    "wish",
    metavar="WISH",
    help="importance (default), quality, quality:SCORER, votes, topic:WORDS, searchers or coverage.",
)
@asked_in(RecommendOptions)
@output_options
def command(web: str | None, wish: str | None, as_json: bool, as_csv: bool, **given: Any) -> None:
    """Which ordering to use. Without WEB: a table of advice. With WEB (or a crawl's directory): try orderings on it.

    \b
    frontrank recommend
    frontrank recommend synthetic:pages=20000,seed=1
    frontrank recommend my-crawl --for topic:security
    frontrank recommend my-crawl --ordering fpr:m=10 \\
        --ordering shop.orderings:Mine
    frontrank recommend DATA/uci-ics --for searchers --queries log.txt.gz
    """
    from frontrank.errors import InputError
    from frontrank.lab.advice import advice_for
    from frontrank.lab.purpose import Purpose
    from frontrank.lab.recommend import recommend

    chosen = None if wish is None else Purpose.of(wish)
    if web is None:
        for name in given_of(given):
            flag = options_of(RecommendOptions)[name].flag
            raise InputError(f"{flag} was given, but no WEB to try orderings on; name one, or drop {flag}")
        if as_csv:
            raise InputError("--csv was given, but no WEB to try orderings on; name one, or use --json")
        rows = advice_for(chosen)
        if as_json:
            show_json([row.json() for row in rows])
            return
        for row in rows:
            say(f"{row.want}; you have {row.have}", "", "  ")
            say(row.ordering, "  take    ", AT)
            say(row.why, "  why     ", AT)
            print(f"  try     {row.command}")
        print("Tried on your own web: frontrank recommend WEB --for WISH")
        return
    from frontrank.search.workload import load_workload
    from frontrank.sources import load

    asked = RecommendOptions(**given_of(given))
    with progress() as tell:
        log = None if asked.queries is None else load_workload(asked.queries)
        loaded = load(web, lambda text: tell(text, 0, 0))
        tell("the first draw takes longer: kernels are compiled, importance is computed", 0, 0)
        wished, named = chosen or Purpose("importance"), asked.queries or ""
        done = recommend(
            loaded, wished, asked.draws, asked.budget, asked.seeds, log, progress=tell, queries=named, policies=asked.policy
        )
    show(done, as_json, as_csv)
    if not as_json and not as_csv:
        print(f"\nTake {done.recommended.spec}: {done.why()}.")
        for line in done.next:
            print(f"  {line}")
