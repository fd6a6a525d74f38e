"""frontrank explain: why a page is where it is in the queue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from frontrank.cli.click_options import trust_option
from frontrank.cli.screen import percent, printable, progress, say, show_json

MAX_LINKS_BESIDE, MAX_STARTS = 8, 2  # links beside starts, and starts of a kind, that a terminal has lines for
BEGAN = {"fetched": "pages when they were fetched", "seed": "seeds", "drawn": "pages drawn from all known"}
ROUNDING = 1e-9  # of a priority: parts of it that are computed apart add up no better


@click.command(name="explain")
@click.argument("crawl")
@click.argument("url")
@click.option("--ordering", "specs", multiple=True, metavar="R", help="NAME or NAME:KEY=VALUE,...; repeatable.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def command(crawl: str, url: str, specs: tuple[str, ...], as_json: bool) -> None:
    """Explain why the waiting page URL of CRAWL is where it is in the queue.

    For a live crawl: how much each link contributed to its priority under the crawl's own ordering, unless you name others.

    \b
    frontrank explain my.crawl https://example.org/page \\
        --ordering rw-eg --ordering q-overlap
    """
    from frontrank.lab.next_pages import explain, usual_rankers, view_for
    from frontrank.lab.scenario import ranker_of
    from frontrank.sources.imported_crawl import load_crawl
    from frontrank.sources.live_crawl import is_crawled

    if is_crawled(crawl) and not specs:
        explain_live(crawl, url, as_json)
        return
    given = [ranker_of(spec) for spec in specs]
    with progress() as tell:
        tell("reading the crawl", 0, 0)
        loaded = load_crawl(crawl)
        rankers = given or [ranker_of(spec) for spec in usual_rankers(loaded)]
        view = view_for(loaded, rankers)
        explanation = explain(loaded, view, url, rankers)
    if as_json:
        show_json(explanation)
        return
    print(printable(explanation["url"]))
    for spec, place in explanation["rankers"].items():
        _show_place(spec, place)
    if explanation["voters"]:
        print("Voted for by:")
        for voter in explanation["voters"]:
            worth = f"impact {voter['impact']:g}, one of {voter['links']:,} links"
            say(f"{voter['url']} ({worth})", f"  {percent(voter['share']):>6}  ", " " * 10)
    if explanation["queries"]:
        print("Matches the queries:")
        for query in explanation["queries"]:
            found = f"{query['results']} results, mean score {query['mean_score']:.2f}"
            say(f"{query['query']!r}, asked {query['frequency']:g} times: {found}", "  ", "      ")
    elif loaded.queries:
        print("Neither its URL nor its anchors match a query of the log.")


def _show_place(spec: str, place: dict[str, Any]) -> None:
    parts = _shown(((value, name) for name, value in place["parts"].items()), place["score"])
    made_of = ", ".join(f"{name} {value:.3g}" for value, name in parts)
    say(
        f"{spec}: place {place['place']:,} of {place['of']:,}, score {place['score']:.4g}"
        + (f" ({made_of})" if made_of else ""),
        "  ",
        "      ",
    )
    if "starts" in place:
        for link in place["links"]:
            _say_part(link["part"], link["url"], "    ")
        _show_starts(place)


def _shown(parts: Iterable[tuple[float, str]], priority: float) -> list[tuple[float, str]]:
    """Those that are more than what rounding leaves of a priority."""
    return [(part, name) for part, name in parts if abs(part) > ROUNDING * abs(priority)]


def _others(explanation: dict[str, Any], cut: float) -> list[tuple[float, str]]:
    """What else a priority is made of; ``cut``: by links that are known and not shown."""
    linked = explanation["counted"] == "that link to it"
    found = [(explanation.get("further_links", 0.0) + cut, "further links" if linked else "further pages")]
    found += [(part, name) for name, part in explanation["parts"].items()]
    rest = explanation["other"] - sum(explanation["parts"].values())
    if explanation["parts"]:
        name = "reported since the ranking"
    elif linked:
        name = "not by a link: its place among seeds, a restart there, its URL, or what a ranking gives to every page"
    else:
        name = "by no page: what is assumed before any is fetched"
    return _shown([*found, (rest, name)], explanation["priority"])


def _show_starts(explanation: dict[str, Any]) -> None:
    """Where a priority came from that pages handed on along many links."""
    print("Where it came from, before links handed it on:")
    for kind, sums in sorted(explanation["started"].items(), key=lambda one: -one[1]["part"]):
        first = [one for one in explanation["starts"] if one["kind"] == kind][:MAX_STARTS]
        _say_part(sums["part"], f"at {sums['pages']:,} {BEGAN[kind]}" + ("; above all:" if len(first) < sums["pages"] else ":"))
        for one in first:
            _say_part(one["part"], one["url"], "    ")


def _say_part(part: float, name: str, indent: str = "  ") -> None:
    say(name, f"{indent}{part:>+10.4g}  ", " " * 14)


def explain_live(directory: str, url: str, as_json: bool) -> None:
    """The same for a live crawl, which may be running, by its own ordering."""
    from frontrank.crawl.crawl import Crawl

    with progress() as tell:
        tell("replaying the crawl", 0, 0)
        with Crawl.recover(directory, read_only=True) as crawl:
            explanation, waiting = crawl.inspect.explain(url), crawl.inspect.waiting
    if as_json:
        show_json({**explanation, "waiting": waiting})
        return
    print(printable(explanation["url"]))
    place = f"place {explanation['place']:,} of {waiting:,} that wait" if "place" in explanation else explanation["state"]
    say(
        f"{explanation['policy']}: {place}, priority {explanation['priority']:.4g}, depth {explanation['depth']}",
        "  ",
        "      ",
    )
    if not explanation["ranked"]:
        say("It is not ranked yet, and waits behind all pages that are, first come, first served.")
        return
    links = explanation["links"]
    if links:
        print(f"Its priority, by fetched pages {explanation['counted']} ({explanation['links_known']:,}):")
    else:
        say(f"Of the fetched pages {explanation['counted']} ({explanation['links_known']:,}), none changed its priority.")
    shown = links[:MAX_LINKS_BESIDE] if explanation["starts"] else links
    for link in shown:
        _say_part(link["part"], link["url"])
    for part, name in _others(explanation, sum(link["part"] for link in links[len(shown) :])):
        _say_part(part, name)
    if explanation["starts"]:
        _show_starts(explanation)
