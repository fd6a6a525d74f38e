"""A known Web served over HTTP on loopback: a web of which everything is known, for testing crawlers.

    addresses.py   which URL a page has, and which page a URL is
    names.py       hosts by name, or each host an address of its own (127.0.0.2 onwards)
    options.py     what is served, and how badly
    faults.py      errors, flaky pages, latency: all by the hash of a URL
    traps.py       an endless calendar, session ids, paths that repeat themselves
    pages.py       HTML, robots.txt, sitemaps
    site.py        the answer to a URL
    protocol.py    as much of HTTP/1.1 as that takes
    server.py      sockets
    process.py     the same in a process of its own

Nothing is bound but addresses in 127.0.0.0/8, and nothing is chosen at random: the same web and options give the same
answers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontrank.lab.webserver.process import run_in_process
    from frontrank.lab.webserver.server import WebServer, serve
    from frontrank.lab.webserver.server_options import ServerOptions

_HOME = {
    "ServerOptions": "server_options",
    "WebServer": "server",
    "run_in_process": "process",
    "serve": "server",
}  # read when asked for
__all__ = ["ServerOptions", "WebServer", "run_in_process", "serve"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
