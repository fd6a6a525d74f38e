"""frontrank web: a known web served over HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from frontrank.cli.click_options import asked_in, given_of, listening_port
from frontrank.cli.screen import progress, say
from frontrank.lab.webserver.server_options import ServerOptions
from frontrank.system import stopping
from frontrank.system.files import raise_file_limit

if TYPE_CHECKING:
    from frontrank.lab.webserver.server import WebServer

REFRESH_S = 0.5


@click.command(name="web")
@click.argument("web")
@listening_port("--port", 8080, "Port on loopback")
@asked_in(ServerOptions)
@click.option(
    "--json", "as_json", is_flag=True, help="Print what is served as one line of JSON, and the number of requests at the end."
)
@click.option("--until-eof", is_flag=True, hidden=True)  # for a process that starts this one: its end is the end of our input
def command(web: str, port: int, as_json: bool, until_eof: bool, **options: Any) -> None:
    """Serve the known web WEB (any that simulate takes) over HTTP on loopback, to test crawlers on, until Ctrl-C.

    \b
    frontrank web synthetic:pages=1000,seed=7 --port 8080
    curl -x http://127.0.0.1:8080 http://www.h0.example/
    """
    from frontrank.lab.webserver.server import WebServer
    from frontrank.lab.webserver.site import Site
    from frontrank.sources import load

    served_as = ServerOptions(**given_of(options))
    raise_file_limit()  # each connection is an open file, of which a shell gives a process few
    with progress() as tell:
        tell("reading the web", 0, 0)
        site = Site(load(web, progress=lambda text: tell(text, 0, 0)), served_as, tell)
    server = WebServer(site)
    asyncio.run(_run(server, port, as_json, until_eof))
    print(json.dumps({"requests": server.requests}) if as_json else f"{server.requests:,} requests served", flush=True)


async def _run(server: WebServer, port: int, as_json: bool, until_eof: bool) -> None:
    """Serve until a signal comes."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask_to_stop() -> None:
        loop.call_soon_threadsafe(stop.set)

    def hear_input() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            stop.set()

    if until_eof:
        loop.add_reader(sys.stdin.fileno(), hear_input)
    complaints: set[str] = set()
    loop.set_exception_handler(lambda _, context: _complain(str(context["message"]), complaints))
    with stopping.gracefully(ask_to_stop):
        await server.start(port)
        async with server:
            _tell(server, as_json)
            await (_show_requests(server, stop) if sys.stderr.isatty() else stop.wait())


async def _show_requests(server: WebServer, stop: asyncio.Event) -> None:
    before, done = 0, asyncio.ensure_future(stop.wait())
    while not done.done():
        await asyncio.wait([done], timeout=REFRESH_S)
        rate = (server.requests - before) / REFRESH_S
        before = server.requests
        print(f"\r\x1b[K{server.requests:,} requests, {rate:,.0f}/s", end="", file=sys.stderr, flush=True)
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _complain(message: str, printed: set[str]) -> None:
    """Print what goes wrong with a connection, once, however often it happens."""
    if message not in printed:
        printed.add(message)
        print(f"frontrank: {message}", file=sys.stderr, flush=True)


def _tell(server: WebServer, as_json: bool) -> None:
    site = server.site
    served = site.web.pages - site.addresses.duplicates
    if as_json:
        print(json.dumps({"url": server.url, "pages": served, "hosts": len(site.sizes), "seeds": site.seeds()}), flush=True)
        return
    say(f"{server.url} serves {site.web.name}: {served:,} pages, {site.web.links:,} links, {len(site.sizes):,} hosts")
    if site.addresses.duplicates:
        print(f"{site.addresses.duplicates:,} pages are not served: their URL is taken, or is not an http URL")
    for line in site.commands():
        print(f"  {line}")
    print("Ctrl-C stops it.", flush=True)
