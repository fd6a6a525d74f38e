"""The HTTP side of a service: REST with an OpenAPI document, Prometheus metrics, health, live updates, and the dashboard.

    params.py       the parameters of requests: structs that check, explain and document
    shapes.py       the answers: structs, from which the JSON schemas are made
    past.py         the history of a crawl, read from its log bit by bit            (in a process of its own)
    replays.py      explanations and other orderings: a replay of the log each      (in a process of its own)
    reader.py       how crawls are read: quick reads here, slow ones there, all of them bounded
    answers.py      the operations that read, a function each; actions.py: those that change something
    routes.py       the table of operations: routes and the OpenAPI document are made from it
    openapi.py      the document
    guard.py        which requests are admitted
    stream.py       live updates (server-sent events)
    metrics.py      Prometheus
    app.py          the application; server.py runs it in a thread
    rest_client.py  the other end: a client of the HTTP side
    page/           the dashboard: plain HTML, CSS and JavaScript

Nothing here slows a crawl: a quick read holds its lock for milliseconds, and its answer is kept for a moment for others.

    with http_server(crawls, port=0) as server:      # a service's crawls, or folders={"my-crawl": Path("my-crawl")} to watch
        print(server.url)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from frontrank.errors import need

if TYPE_CHECKING:
    from frontrank.service.counters import Counters
    from frontrank.service.crawls import Crawls
    from frontrank.service.http.server import HttpServer

PORT = 7072


def http_server(
    crawls: Crawls | None = None,
    folders: dict[str, Path] | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str = "",
    tls: tuple[str, str] | None = None,
    counters: Counters | None = None,
) -> HttpServer:
    """The HTTP side of these crawls, or of crawls in directories, whether they run or not. ``tls``: certificate and key."""
    need("msgspec", "prometheus_client", "starlette", "uvicorn")
    from frontrank.service.http.app import App
    from frontrank.service.http.reader import CrawlReader
    from frontrank.service.http.server import HttpServer

    return HttpServer(App(CrawlReader(crawls, folders), token, counters), host, port, tls)
