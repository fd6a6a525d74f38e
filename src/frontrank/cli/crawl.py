"""frontrank crawl: a polite, durable crawl of the real web, in the order of any ordering."""

from __future__ import annotations

import os
from typing import Any

import click

from frontrank.cli.screen import show_json

NOT_FOR_JOBS = ("seed_file", "out", "resume_dir", "rescore", "as_json", "quiet")  # options of the command, not of the crawl
UNITS = {"time_s": "duration", "max_size": "size"}


@click.command(name="crawl")
@click.argument("seeds", nargs=-1, metavar="URL...")
@click.option("--seeds", "seed_file", metavar="FILE", help="More URLs to start from, one a line.")
@click.option("--out", metavar="DIR", help="A new directory for the crawl: trace, pages (WARC), log, report.")
@click.option("--resume", "resume_dir", metavar="DIR", help="Go on with the crawl of this directory, where it stopped.")
@click.option("--policy", default="fpr", show_default=True, metavar="P", help="Ordering: NAME or NAME:KEY=VALUE,...")
@click.option(
    "--budget", type=int, default=0, metavar="N", help="Stop after N pages, earlier runs included; no limit if not given."
)
@click.option("--time", "time_s", metavar="S", help="Stop this run after so long: seconds, 30m, 2h.")
@click.option("--until", metavar="RULE", help="Stop rankmass at a coverage: coverage=0.9.")
@click.option("--scope", default="host", show_default=True, metavar="host|domain|any", help="How far from the seeds it may go.")
@click.option("--include", multiple=True, metavar="REGEX", help="Follow only URLs in which one of these is found; repeatable.")
@click.option("--exclude", multiple=True, metavar="REGEX", help="Follow no URL in which one of these is found; repeatable.")
@click.option(
    "--delay", type=float, default=1.0, show_default=True, metavar="S", help="Seconds between two requests to a host."
)
@click.option("--per-host", type=int, default=1, show_default=True, metavar="N", help="Requests in flight to one host.")
@click.option("--in-flight", type=int, default=16, show_default=True, metavar="N", help="Requests in flight in all.")
@click.option("--host-budget", type=int, default=0, metavar="N", help="Pages of one host; any number if not given.")
@click.option("--max-depth", type=int, default=64, show_default=True, metavar="N", help="Links between a seed and a page.")
@click.option("--max-size", default="10MB", show_default=True, metavar="SIZE", help="Larger pages fail.")
@click.option("--max-links", type=int, default=10_000, show_default=True, metavar="N", help="Links followed from one page.")
@click.option("--no-robots", is_flag=True, help="Do not ask for robots.txt; only for sites of your own.")
@click.option("--sitemaps", is_flag=True, help="Start from the URLs of the sites' sitemaps, too.")
@click.option("--no-warc", is_flag=True, help="Keep no pages, only the trace.")
@click.option("--user-agent", metavar="NAME", help="What the crawler calls itself, in requests and to robots.txt.")
@click.option("--proxy", default="", metavar="URL", help="Send all requests through this HTTP proxy.")
@click.option("--allow-private", is_flag=True, help="Fetch from private and loopback addresses.")
@click.option(
    "--retries", type=int, default=2, show_default=True, metavar="N", help="Further attempts after errors that may pass."
)
@click.option("--timeout", type=float, default=30.0, show_default=True, metavar="S", help="Seconds for one page.")
@click.option("--queries", metavar="FILE", help="A query log, for orderings that are driven by queries.")
@click.option("--rescore", is_flag=True, help="With --resume and --policy: go on in the order of another ordering.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary for a program.")
@click.option("-q", "--quiet", is_flag=True, help="Show nothing while it runs.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Crawl the web from these URLs: robots.txt and delays are kept, every step is stored, any end can be resumed from.

    \b
    frontrank crawl https://example.org/ --out crawl --budget 1000
    frontrank crawl https://example.org/ --out crawl --policy opic --scope domain --exclude '/login' --time 2h
    frontrank crawl --resume crawl --budget 5000

    The first Ctrl-C waits for the pages that are on their way, the second does not; nothing is lost either way.
    """
    from frontrank.errors import InputError, MissingExtra
    from frontrank.fetching.crawler import options as units
    from frontrank.fetching.crawler import run
    from frontrank.fetching.crawler.display import watching
    from frontrank.fetching.crawler.summary import REPORT
    from frontrank.lab.report.crawl_report import write_crawl_report

    for name, unit in UNITS.items():
        if given[name] is not None:
            given[name] = getattr(units, unit)(given[name])
    chosen = _chosen(ctx, given)
    if given["seed_file"]:
        chosen["seeds"] = (*given["seeds"], *_lines(given["seed_file"]))
    with watching(given["quiet"]) as watch:
        if given["resume_dir"]:
            if given["out"]:
                raise InputError(
                    "--out and --resume were both given; a crawl is resumed in its own directory: leave --out away"
                )
            if given["rescore"] and "policy" not in chosen:
                raise InputError("--rescore was given without --policy; name the ordering to go on with")
            told = run.resume(given["resume_dir"], chosen, rescore=given["rescore"], watch=watch)
        else:
            if given["rescore"]:
                raise InputError("--rescore was given without --resume; it changes the ordering of a crawl that has begun")
            if not given["out"]:
                raise InputError("no directory given; name a new one with --out DIR, or go on with a crawl by --resume DIR")
            told = run.crawl(units.Options(**chosen), given["out"], watch=watch)
    try:
        write_crawl_report(told, os.path.join(told.folder, REPORT))
    except MissingExtra as missing:  # a scheduler may do without pictures
        click.echo(f"no {REPORT}: {missing}", err=True)
    if given["as_json"]:
        show_json(told.json())
    else:
        click.echo(told.text())


def _lines(path: str) -> list[str]:
    """The URLs of a file; lines that begin with # are remarks."""
    from frontrank.errors import InputError

    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path}: the seeds cannot be read ({reason}); expected a text file, one URL a line") from None
    return [line for line in lines if line and not line.startswith("#")]


def _chosen(ctx: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """The options of the crawl that a person wrote, by the names they have in the library."""
    unsaid = click.core.ParameterSource.DEFAULT
    made: dict[str, Any] = {}
    for name, value in given.items():
        if name in NOT_FOR_JOBS or ctx.get_parameter_source(name) is unsaid or value == ():
            continue
        made[name.removeprefix("no_")] = not value if name.startswith("no_") else value
    return made
