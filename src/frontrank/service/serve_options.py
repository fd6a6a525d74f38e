"""The options of a service, each with its default, limits and help."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.options import TIME, option
from frontrank.orderings import DEFAULT_ORDERING

PORTS = 65_535
LOG_LEVELS = ("error", "warning", "info", "debug")


@dataclass(frozen=True)
class ServeOptions:
    policy: str = option(DEFAULT_ORDERING, "The ordering of new crawls.", name="ordering", metavar="ORDERING")
    crawl: tuple[str, ...] = option((), "Another ordering for the crawl of this ID; repeatable.", metavar="ID=ORDERING")
    rescore: bool = option(False, "Give crawls that exist the ordering of --ordering or --crawl too.", no=False)
    delay: float = option(1.0, "Seconds between two answers from one queue.", metavar="S", kind=TIME)
    max_crawls: int = option(1_000, "How many crawls there may be.", metavar="N", minimum=1)
    revisit_share: float | None = option(None, "The share of revisits in what is handed out.", metavar="SHARE", maximum=1.0)
    port: int = option(7071, "Port of gRPC; 0 picks a free one.", metavar="N", maximum=PORTS)
    http_port: int = option(7072, "Port of HTTP, with the dashboard; 0 picks a free one.", metavar="N", maximum=PORTS)
    log_level: str = option("warning", "What is written to standard error.", metavar="LEVEL", choices=LOG_LEVELS)
    no_http: bool = option(False, "gRPC alone.", no=False)
