"""Service: crawls as a server, for fetchers in any language: gRPC (URLFrontier's protocol), HTTP, a dashboard, clients.

    from frontrank.service import Client

    with Client("localhost:7071") as client:
        client.put(["https://example.org/"])
        for page in client.get():
            ...

The order of pages is not decided here but by the ordering of each crawl. May import: lab and the packages below.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from frontrank.errors import need

if TYPE_CHECKING:
    from frontrank.service.async_client import AsyncClient
    from frontrank.service.client import Client
    from frontrank.service.crawls import Crawls
    from frontrank.service.routed_client import RoutedClient

__all__ = ["AsyncClient", "Client", "Crawls", "RoutedClient"]
_HOME = {  # read when first asked for
    "AsyncClient": "async_client",
    "Client": "client",
    "Crawls": "crawls",
    "RoutedClient": "routed_client",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "Crawls":
        need("grpc", "google")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
