"""frontrank recommend: which ordering to take."""

from __future__ import annotations

import click

from frontrank.cli.screen import output_options, progress, show, show_json


@click.command(name="recommend")
@click.argument("web", required=False)
@click.option(
    "--for",
    "wish",
    metavar="WISH",
    help="importance (default), quality, quality:SCORER, votes, topic:WORDS, searchers or coverage.",
)
@click.option("--draws", type=int, metavar="N", help="How many sets of random seeds to try; default: 5.")
@click.option("--budget", metavar="B", help="Pages to fetch: a share such as 0.1 (the default), or a count.")
@click.option("--seeds", type=int, metavar="N", help="Pages in a set of seeds; default: a thousandth of the web.")
@click.option("--queries", metavar="FILE", help="A query log, for searchers: one query a line, or query and frequency.")
@output_options
def command(
    web: str | None,
    wish: str | None,
    draws: int | None,
    budget: str | None,
    seeds: int | None,
    queries: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Which ordering? Without WEB: a table of what to take when. With WEB (or a crawl's directory): try them on it.

    \b
    frontrank recommend
    frontrank recommend synthetic:pages=20000,seed=1
    frontrank recommend my-crawl --for topic:security
    frontrank recommend DATA/uci-ics --for searchers --queries log.txt.gz
    """
    from frontrank.errors import InputError
    from frontrank.lab.advice import advice_for
    from frontrank.lab.recommend import DRAWS, Wish, recommend

    chosen = None if wish is None else Wish.of(wish)
    if web is None:
        given = {"--draws": draws, "--budget": budget, "--seeds": seeds, "--queries": queries}
        for option, value in given.items():
            if value is not None:
                raise InputError(f"{option} given, but no WEB to try orderings on; name one, or drop {option}")
        if as_csv:
            raise InputError("--csv given, but no WEB to try orderings on; name one, or take --json")
        rows = advice_for(chosen)
        if as_json:
            show_json([row.json() for row in rows])
            return
        for row in rows:
            print(f"{row.want}; you have {row.have}")
            print(f"  take    {row.ordering}")
            print(f"  why     {row.why}")
            print(f"  try     {row.command}")
        print("Tried on your own web: frontrank recommend WEB --for WISH")
        return
    from frontrank.search.workload import load_workload
    from frontrank.sources import load

    with progress() as tell:
        log = None if queries is None else load_workload(queries)
        loaded = load(web, lambda text: tell(text, 0, 0))
        tell("the first draw takes longer: kernels are compiled, importance is computed", 0, 0)
        done = recommend(
            loaded, chosen or Wish("importance"), DRAWS if draws is None else draws, budget, seeds, log, tell, queries or ""
        )
    show(done, as_json, as_csv)
    if not as_json and not as_csv:
        print(f"\nTake {done.recommended.spec}: {done.why()}.")
        for line in done.next:
            print(f"  {line}")
