"""frontrank serve: crawls as a service, for fetchers in any language."""

from __future__ import annotations

import json
import logging
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from frontrank import stopping
from frontrank.cli.listening import NAMES, protection_options
from frontrank.cli.screen import progress
from frontrank.errors import InputError, need

if TYPE_CHECKING:
    from frontrank.service.crawls import Crawls


@click.command(name="serve")
@click.argument("directory", metavar="DIR")
@click.option("--policy", metavar="ORDERING", help="Ordering of crawls that are yet to come. [default: surf]")
@click.option(
    "--crawl", "orderings", multiple=True, metavar="ID=ORDERING", help="Another one for the crawl of this ID; repeatable."
)
@click.option("--rescore", is_flag=True, help="Crawls that are there get the ordering of --policy and --crawl too.")
@click.option("--delay", "delay_s", type=float, metavar="S", help="Seconds between two answers from one queue. [default: 1]")
@click.option("--max-crawls", default=1_000, show_default=True, metavar="N", help="How many crawls there may be.")
@click.option("--revisit-share", type=float, metavar="SHARE", help="Of what is handed out, for pages that come back; 0 to 1.")
@click.option("--port", default=7071, show_default=True, help="Port of gRPC; 0 picks a free one.")
@click.option("--http-port", default=7072, show_default=True, help="Port of HTTP, with the dashboard; 0 picks a free one.")
@click.option("--no-http", is_flag=True, help="gRPC alone.")
@protection_options
@click.option("--json", "as_json", is_flag=True, help="Print where it listens as one line of JSON.")
def command(directory: str, as_json: bool, **options: Any) -> None:
    """Serve the crawls in DIR until Ctrl-C: over gRPC, in URLFrontier's protocol, which StormCrawler speaks, and over HTTP.

    \b
    frontrank serve frontier --policy surf
    frontrank serve frontier --crawl news=opic --crawl shops=fica
    """
    need("h2", "google", *(() if options["no_http"] else ("starlette", "uvicorn")))
    from frontrank.service.counters import Counters
    from frontrank.service.frontier import FrontierService
    from frontrank.service.grpc_server import GrpcServer
    from frontrank.service.http import http_server
    from frontrank.service.security import check_address, security

    host, stop, counters = options["host"], threading.Event(), Counters()
    protected = security(**{name: options[name] for name in NAMES})
    for port in (options["port"], *(() if options["no_http"] else (options["http_port"],))):
        check_address(host, port)
    _log()
    with _crawls(directory, options) as crawls, stopping.gracefully(stop.set), ExitStack() as parts:
        where = {
            "grpc": parts.enter_context(GrpcServer(FrontierService(crawls, counters), host, options["port"], protected)).address
        }
        if not options["no_http"]:
            port, token, tls = options["http_port"], protected.token, protected.tls
            pages = http_server(crawls, host=host, port=port, token=token, tls=tls, counters=counters)
            where["http"] = parts.enter_context(pages).url
        _tell(directory, where, crawls.ids(), as_json)
        stop.wait()


def _log() -> None:
    """What the service says of itself goes to standard error: warnings, and more if SetLogLevel asks for it."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("frontrank")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)


def _crawls(directory: str, options: dict[str, Any]) -> Crawls:
    from frontrank.service.crawls import POLITE, Crawls
    from frontrank.service.warm import warm

    orderings = {}
    for given in options["orderings"]:
        name, found, ordering = given.partition("=")
        if not found or not ordering:
            raise InputError(f"--crawl must be ID=ORDERING, such as news=opic, got {given!r}")
        orderings[name] = ordering
    if options["rescore"] and not (options["policy"] or orderings):
        raise InputError("--rescore must be told the ordering; give --policy ORDERING, or --crawl ID=ORDERING for one crawl")
    delay_s = options["delay_s"]
    politeness = None if delay_s is None else replace(POLITE, delay_s=delay_s)
    with progress() as tell:
        tell(f"opening {directory}", 0, 0)
        given = {name: options[name] for name in ("rescore", "revisit_share")}
        crawls = Crawls(directory, options["policy"], politeness, orderings, most=options["max_crawls"], **given)
        try:
            for name, why in crawls.broken.items():
                print(f"frontrank: crawl {name!r} is not served, the others are: {why}", file=sys.stderr, flush=True)
            if delay_s is not None:
                crawls.delay(delay_s)
            for one in {ordering.spec(): ordering for ordering in crawls.all_orderings()}.values():
                tell(one.spec(), 0, 0)
                warm(one)
        except BaseException:
            crawls.close()
            raise
    for sentence in crawls.kept:
        print(f"frontrank: {sentence}", file=sys.stderr)
    return crawls


def _tell(directory: str, where: dict[str, str], crawls: list[str], as_json: bool) -> None:
    if as_json:
        print(json.dumps({**where, "crawls": crawls}), flush=True)
        return
    print(f"{directory} is served; crawls: {', '.join(crawls) or 'none yet'}")
    for name, address in where.items():
        print(f"  {name:<6}{address}")
    print("Ctrl-C stops it.", flush=True)
