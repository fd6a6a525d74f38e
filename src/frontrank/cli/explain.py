"""frontrank explain: why does a page stand where it stands?"""

from __future__ import annotations

import click

from frontrank.cli.screen import percent, printable, progress, say, show_json


@click.command(name="explain")
@click.argument("crawl")
@click.argument("url")
@click.option("--policy", "--ranker", "specs", multiple=True, metavar="R", help="NAME or NAME:KEY=VALUE,...; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print it for a program.")
def command(crawl: str, url: str, specs: tuple[str, ...], as_json: bool) -> None:
    """Say in words and numbers why the waiting page URL of CRAWL stands where it stands.

    \b
    frontrank explain my.crawl https://example.org/page --policy rw-eg --policy q-overlap
    """
    from frontrank.lab.evaluate import ranker_of
    from frontrank.lab.next_pages import explain, usual_rankers, view_for
    from frontrank.sources.imported_crawl import load_crawl

    given = [ranker_of(spec) for spec in specs]
    with progress() as tell:
        tell("reading the crawl", 0, 0)
        loaded = load_crawl(crawl)
        rankers = given or [ranker_of(spec) for spec in usual_rankers(loaded)]
        view = view_for(loaded, rankers)
        told = explain(loaded, view, url, rankers)
    if as_json:
        show_json(told)
        return
    print(printable(told["url"]))
    for spec, place in told["rankers"].items():
        made_of = ", ".join(f"{name} {value:.3g}" for name, value in place["parts"].items())
        say(f"{spec}: place {place['place']:,} of {place['of']:,}, score {place['score']:.4g} ({made_of})", "  ", "      ")
    if told["voters"]:
        print("Voted for by:")
        for voter in told["voters"]:
            worth = f"impact {voter['impact']:g}, one of {voter['links']:,} links"
            say(f"{voter['url']} ({worth})", f"  {percent(voter['share']):>6}  ", " " * 10)
    if told["queries"]:
        print("Matches the queries:")
        for query in told["queries"]:
            found = f"{query['results']} results, mean score {query['mean_score']:.2f}"
            say(f"{query['query']!r}, asked {query['frequency']:g} times: {found}", "  ", "      ")
    elif loaded.queries:
        print("Neither its URL nor its anchors match a query of the log.")
