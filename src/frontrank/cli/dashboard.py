"""frontrank dashboard: watch and control a crawl in a browser."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import click

from frontrank.cli.click_options import listening_port, trust_option
from frontrank.cli.listening import protection_options
from frontrank.service.serve_options import ServeOptions
from frontrank.system import stopping


@click.command(name="dashboard")
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
@listening_port("--port", ServeOptions.http_port, "Port")
@protection_options
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the address as one line of JSON.")
def command(directories: tuple[str, ...], port: int, as_json: bool, **protection: Any) -> None:
    """Show the crawls in DIR... on a web page until Ctrl-C, whether they are running or not.

    \b
    frontrank dashboard my-crawl
    frontrank dashboard monday tuesday --port 8000
    """
    from frontrank.crawl.journal import check_crawl
    from frontrank.crawl.stored import check_trusted
    from frontrank.service.http import http_server
    from frontrank.service.security import security

    folders = {given: Path(given) for given in directories}
    for folder in folders.values():
        check_crawl(folder)
        check_trusted(folder)
    protected = security(**protection)
    stop = threading.Event()
    http = http_server(folders=folders, host=protection["host"], port=port, token=protected.token, tls=protected.tls)
    with stopping.gracefully(stop.set), http as server:
        shown = f"{server.url} shows {', '.join(folders)}\nCtrl-C stops it."
        print(json.dumps({"http": server.url, "crawls": list(folders)}) if as_json else shown, flush=True)
        stop.wait()
