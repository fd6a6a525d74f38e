"""frontrank fetch: a fetcher for a crawl that is served elsewhere."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import asked, given_of, number
from frontrank.errors import need
from frontrank.fetching.crawler.option_checks import agent_of
from frontrank.fetching.crawler.options import options
from frontrank.options import TIME
from frontrank.system import stopping

if TYPE_CHECKING:
    from frontrank.fetching.fetcher import FetchOptions
    from frontrank.service.fetching import FetchCounts, FetchPlan

USED = (  # of the options of frontrank crawl
    *("budget", "scope", "include", "exclude", "max_links", "max_size", "per_host", "in_flight", "robots", "contact"),
    *("user_agent", "retries", "give_up_after", "timeout", "proxy", "fetchers", "revisit", "allow_private", "purpose"),
    *("accept_language", "cookie_file", "auth_file"),
)
HELP = {  # what is stored and counted with a crawl there is this process's own here
    "budget": "Stop this fetcher after N pages, those that fail included. 0: no limit.",
    "give_up_after": "Ask a host only once an hour that has not answered for S seconds, or 30m, 6h, 1d. 0: never.",
    "proxy": "Send all requests through this HTTP proxy.",
    "fetchers": "Processes that fetch and parse, through one connection to the service. 1: this process alone.",
    "per_host": "Most requests in flight to one host, if the service has no delay; with one: 1. 0: no limit.",
    "revisit": "When to fetch pages again: fixed:every=1d, adaptive or gain.",
}


@click.command(name="fetch")
@click.argument("seeds", nargs=-1, metavar="[URL...]")
@click.option(
    "--from",
    "address",
    required=True,
    metavar="HOST:PORT",
    help="Where frontrank serve listens; several, with commas between, share the hosts.",
)
@click.option("--crawl", default="DEFAULT", show_default=True, metavar="ID", help="Which of its crawls.")
@click.option("--token-file", default="", metavar="FILE", help="The service's token, if it has one.")
@click.option("--tls-ca", default="", metavar="FILE", help="Speak TLS: the certificate (PEM) to trust, or: system.")
@click.option("--insecure", is_flag=True, help="Send the token beyond this machine without TLS.")
@click.option("--warc", default="", metavar="DIR", help="Keep the pages as WARC files in this directory.")
@number("--idle", 0.0, "Stop after S seconds without a page to fetch. 0: never.", metavar="S", kind=TIME)
@asked(replace(options()[name], help=HELP.get(name, options()[name].help)) for name in USED)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    seeds: tuple[str, ...],
    *,
    address: str,
    crawl: str,
    token_file: str,
    tls_ca: str,
    insecure: bool,
    warc: str,
    idle: float,
    as_json: bool,
    **given: Any,
) -> None:
    """Fetch pages for a crawl that frontrank serve holds, until Ctrl-C. Run as many fetchers as you like, anywhere.

    \b
    frontrank serve frontier --ordering surf
    frontrank fetch https://example.org/ --from localhost:7071 \\
        --contact you@example.org
    """
    need("grpc", "selectolax", "publicsuffixlist", "lxml", "brotli", "protego")
    from frontrank.pages.urls import usable_seed
    from frontrank.service.fetching import FetchPlan
    from frontrank.service.security import read_token
    from frontrank.system.files import raise_file_limit

    raise_file_limit()
    chosen = {name: options()[name].default for name in USED} | given_of(given)
    same = {name: chosen[name] for name in FetchPlan.__dataclass_fields__.keys() & chosen.keys()}
    token = read_token(token_file) if token_file else ""
    plan = FetchPlan(
        _options(chosen, seeds, bool(warc)), address, crawl, token, tls_ca, insecure, warc=warc, idle_s=idle, **same
    )
    counts = _run(plan, [usable_seed(url) for url in seeds])
    click.echo(json.dumps(counts.json()) if as_json else _sentence(counts))


def _options(chosen: dict[str, Any], seeds: tuple[str, ...], warc: bool) -> FetchOptions:
    from frontrank.fetching.credentials import Credentials
    from frontrank.fetching.fetcher import FetchOptions

    return FetchOptions(
        agent_of(chosen["user_agent"], chosen["contact"]),
        chosen["timeout"],
        chosen["max_size"],
        chosen["max_links"],
        chosen["proxy"],
        chosen["allow_private"],
        text=bool(chosen["revisit"]),
        warc=warc,
        copies=bool(chosen["revisit"]),
        purpose=chosen["purpose"],
        language=chosen["accept_language"],
        credentials=Credentials.read(seeds, cookie_file=chosen["cookie_file"], auth_file=chosen["auth_file"]),
    )


def _sentence(counts: FetchCounts) -> str:
    reasons = "".join(f", {reason} {count:,}" for reason, count in sorted(counts.failures.items()))
    return f"{counts.fetched:,} pages fetched, {counts.failed:,} failed{reasons}; {counts.new:,} new URLs found"


def _run(plan: FetchPlan, seeds: list[str]) -> FetchCounts:
    from frontrank.fetching.end_reason import EndReason
    from frontrank.service.fetching import FetchRun, fetch

    runs: list[FetchRun] = []
    with asyncio.Runner() as runner:
        loop = runner.get_loop()

        def stop() -> None:
            for run in runs:
                loop.call_soon_threadsafe(run.end, EndReason.INTERRUPTED)

        with stopping.gracefully(stop):
            return runner.run(fetch(plan, seeds, runs.append))
