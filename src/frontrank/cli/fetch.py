"""frontrank fetch: a fetcher for a crawl that is served elsewhere."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

from frontrank import stopping
from frontrank.errors import need
from frontrank.fetching.crawler.options import agent_of, options
from frontrank.fetching.crawler.values import SWITCH, TEXTS

USED = (  # of the options of frontrank crawl
    *("budget", "scope", "include", "exclude", "max_links", "max_size", "per_host", "in_flight", "robots", "contact"),
    *("user_agent", "retries", "timeout", "proxy", "fetchers", "revisit", "allow_private"),
)


def _generated(command: Any) -> Any:
    for one in reversed([options()[name] for name in USED]):
        text = f"{one.help}  [default: {one.shown()}]" if one.shown() else one.help
        if one.kind == SWITCH:
            command = click.option(one.usage, one.field, default=None, help=text)(command)
        else:
            command = click.option(one.flag, one.field, multiple=one.kind == TEXTS, metavar=one.metavar, help=text)(command)
    return command


@click.command(name="fetch")
@click.argument("seeds", nargs=-1, metavar="[URL...]")
@click.option("--from", "address", required=True, metavar="HOST:PORT", help="Where frontrank serve listens.")
@click.option("--crawl", default="DEFAULT", show_default=True, metavar="ID", help="Which of its crawls.")
@click.option("--token-file", default="", metavar="FILE", help="The service's token, if it has one.")
@click.option("--tls-ca", default="", metavar="FILE", help="Speak TLS: the certificate (PEM) to trust, or: system.")
@click.option("--insecure", is_flag=True, help="Send the token beyond this machine without TLS.")
@click.option("--warc", default="", metavar="DIR", help="Keep the pages as WARC files in this directory.")
@click.option(
    "--idle", type=float, default=0.0, metavar="S", help="Stop when there was nothing to fetch for so long. 0: never."
)
@_generated
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def command(
    seeds: tuple[str, ...],
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
    """Fetch pages for a crawl of frontrank serve, until Ctrl-C. Any number of fetchers may do so, anywhere.

    \b
    frontrank serve frontier --policy surf
    frontrank fetch https://example.org/ --from localhost:7071 --contact you@example.org
    """
    need("grpc", "selectolax", "publicsuffixlist", "protego", "brotli")
    from frontrank.fetching.fetcher import How
    from frontrank.pages.urls import usable_seed
    from frontrank.service.fetching import FetchPlan
    from frontrank.service.security import read_token

    said = {name: value for name, value in given.items() if value is not None and value != ()}
    asked = {name: options()[name].default for name in USED}
    asked |= {name: options()[name].read(value, options()[name].flag) for name, value in said.items()}
    for name, value in asked.items():
        options()[name].check(value, name)
    how = How(
        agent_of(asked["user_agent"], asked["contact"]),
        asked["timeout"],
        asked["max_size"],
        asked["max_links"],
        asked["proxy"],
        asked["allow_private"],
        text=bool(asked["revisit"]),
        warc=bool(warc),
        copies=bool(asked["revisit"]),
    )
    same = {name: asked[name] for name in FetchPlan.__dataclass_fields__.keys() & asked.keys()}
    token = read_token(token_file) if token_file else ""
    plan = FetchPlan(how, address, crawl, token, tls_ca, insecure, warc=warc, idle_s=idle, **same)
    told = _run(plan, [usable_seed(url) for url in seeds])
    if as_json:
        click.echo(json.dumps(told))
        return
    reasons = "".join(f", {reason} {count:,}" for reason, count in sorted(told["failures"].items()))
    click.echo(f"{told['fetched']:,} pages fetched, {told['failed']:,} failed{reasons}; {told['new']:,} new URLs found")


def _run(plan: Any, seeds: list[str]) -> dict[str, Any]:
    from frontrank.service.fetching import Work, fetch

    works: list[Work] = []
    with asyncio.Runner() as runner:
        loop = runner.get_loop()

        def stop() -> None:
            for work in works:
                loop.call_soon_threadsafe(work.end, "interrupted")

        with stopping.gracefully(stop):
            return runner.run(fetch(plan, seeds, works.append)).json()
