"""frontrank dashboard: a page to watch a crawl on, and to control it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import click

from frontrank import stopping


@click.command(name="dashboard")
@click.argument("directories", metavar="DIR...", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen at.")
@click.option("--port", default=7072, show_default=True, help="Port; 0 picks a free one.")
@click.option("--token-file", default="", metavar="FILE", help="Requests must bring the token in this file.")
@click.option("--tls-cert", default="", metavar="FILE", help="Certificate (PEM), with --tls-key: serve over TLS.")
@click.option("--tls-key", default="", metavar="FILE", help="Key of the certificate (PEM).")
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without a token or TLS.")
@click.option("--json", "as_json", is_flag=True, help="Print where it listens as one line of JSON.")
def command(directories: tuple[str, ...], host: str, port: int, as_json: bool, **options: Any) -> None:
    """Show the crawls in DIR... on a page, until Ctrl-C; each may be running in another process, or not.

    \b
    frontrank dashboard my-crawl
    frontrank dashboard monday tuesday --port 8000
    """
    from frontrank.crawl.journal import FILE
    from frontrank.errors import InputError
    from frontrank.service.http import http_server
    from frontrank.service.security import security

    folders: dict[str, Path] = {}
    for given in directories:
        if not (Path(given) / FILE).is_file():
            raise InputError(f"{given}: not a crawl ({FILE} is missing); name the directory of one")
        folders[given] = Path(given)
    protected = security(host, *(options[name] for name in ("token_file", "tls_cert", "tls_key", "insecure")))
    stop = threading.Event()
    made = http_server(folders=folders, host=host, port=port, token=protected.token, tls=protected.tls)
    with stopping.gracefully(stop.set), made as server:
        told = f"{server.url} shows {', '.join(folders)}\nCtrl-C stops it."
        print(json.dumps({"http": server.url, "crawls": list(folders)}) if as_json else told, flush=True)
        stop.wait()
