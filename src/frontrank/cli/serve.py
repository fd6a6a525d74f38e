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

from frontrank.cli.click_options import asked_in, given_of, trust_option
from frontrank.cli.listening import NAMES, protection_options
from frontrank.cli.screen import own_name, progress
from frontrank.errors import InputError, need
from frontrank.service.serve_options import ServeOptions
from frontrank.system import stopping
from frontrank.system.files import raise_file_limit

if TYPE_CHECKING:
    from frontrank.service.crawls import Crawls


@click.command(name="serve")
@click.argument("directory", metavar="DIR")
@asked_in(ServeOptions)
@protection_options
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the addresses as one line of JSON.")
def command(directory: str, as_json: bool, **given: Any) -> None:
    """Serve the crawls in DIR until Ctrl-C: over gRPC, in URLFrontier's protocol, which StormCrawler speaks, and over HTTP.

    \b
    frontrank serve frontier --ordering surf
    frontrank serve frontier --crawl news=opic --crawl shops=fica
    """
    protection = {name: given.pop(name) for name in NAMES}
    given = given_of(given)
    asked = ServeOptions(**given)
    need("h2", "google", "prometheus_client", *(() if asked.no_http else ("msgspec", "starlette", "uvicorn")))
    from frontrank.service.counters import Counters
    from frontrank.service.frontier import FrontierService
    from frontrank.service.grpc_server import GrpcServer
    from frontrank.service.http import http_server
    from frontrank.service.security import check_address, security
    from frontrank.service.warm import Compiler

    raise_file_limit()
    host, stop, counters = protection["host"], threading.Event(), Counters()
    protected = security(**protection)
    for port in (asked.port, *(() if asked.no_http else (asked.http_port,))):
        check_address(host, port)
    _log(asked.log_level)
    with _crawls(directory, given) as crawls, stopping.gracefully(stop.set), ExitStack() as parts:
        orderings = {ordering.spec(): ordering for ordering in crawls.all_orderings()}
        parts.enter_context(Compiler([*orderings.values()]))
        where = {
            "grpc": parts.enter_context(GrpcServer(FrontierService(crawls, counters), host, asked.port, protected)).address
        }
        if not asked.no_http:
            token, tls = protected.token, protected.tls
            pages = http_server(crawls, host=host, port=asked.http_port, token=token, tls=tls, counters=counters)
            where["http"] = parts.enter_context(pages).url
        _tell(directory, where, crawls.ids(), as_json)
        stop.wait()


def _log(level: str) -> None:
    """What the service, and the packages that it uses, say goes to standard error."""
    from frontrank.service.bounded_log import BoundedHandler

    logging.getLogger().addHandler(BoundedHandler())
    logging.getLogger("frontrank").setLevel(level.upper())


def _crawls(directory: str, given: dict[str, Any]) -> Crawls:
    """The crawls of a directory. What is not given is as it was served before."""
    from frontrank.service.crawls import POLITE, Crawls

    orderings = {}
    for pair in given.get("crawl", ()):
        name, found, ordering = pair.partition("=")
        if not found or not ordering:
            raise InputError(f"--crawl must be ID=ORDERING, such as news=opic, got {pair!r}")
        orderings[name] = ordering
    policy, rescore, delay_s = given.get("policy"), given.get("rescore", False), given.get("delay")
    if rescore and not (policy or orderings):
        raise InputError("--rescore needs an ordering; give --ordering ORDERING, or --crawl ID=ORDERING for one crawl")
    politeness = None if delay_s is None else replace(POLITE, delay_s=delay_s)
    with progress() as tell:
        tell(f"opening {directory}", 0, 0)
        asked = ServeOptions(**given)
        share, max_crawls = asked.revisit_share, asked.max_crawls
        crawls = Crawls(directory, policy, politeness, orderings, rescore=rescore, revisit_share=share, max_crawls=max_crawls)
        try:
            for name, why in crawls.broken.items():
                print(f"frontrank: crawl {name!r} is not served, the others are: {why}", file=sys.stderr, flush=True)
            if delay_s is not None:
                crawls.set_delay(delay_s)
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
    if not crawls:
        print("A crawl begins with its first URL; in another terminal:")
        print(f"  {own_name()} fetch https://YOUR-SITE/ --from {where['grpc']}")
    print("Ctrl-C stops it.", flush=True)
