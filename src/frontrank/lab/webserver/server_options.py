"""What is served, and how badly: by default a quick and faultless web that is exactly the Web given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from frontrank.errors import InputError, nearest
from frontrank.options import TIME, option, options_of


@dataclass(frozen=True)
class ServerOptions:
    hosts: str = option(
        "name",
        "Hosts by name, reached through the server as a proxy; or an address of its own for each, from 127.0.0.2.",
        choices=("name", "ip"),
    )
    crawl_delay: float = option(0.0, "Crawl-delay in robots.txt.", metavar="S", kind=TIME)
    disallow: float = option(0.0, "Share of hosts' top directories that robots.txt disallows.", metavar="SHARE", maximum=1.0)
    sitemaps: bool = option(False, "Give each host a sitemap.xml, named in its robots.txt.", no=False)
    # Of one URL always the same, between half and one and a half of it.
    latency: float = option(0.0, "Mean time to an answer.", metavar="S", kind=TIME)
    errors: float = option(
        0.0, "Share of pages that always fail: 404, 500, 503, reset or nothing.", metavar="SHARE", maximum=1.0
    )
    flaky: float = option(0.0, "Share of pages that answer 503 the first time.", metavar="SHARE", maximum=1.0)
    traps: bool = option(False, "An endless calendar, session ids and repeating paths on the three largest hosts.", no=False)
    idle_s: float = 30.0  # a client that sends or reads nothing for so long is hung up on

    def __post_init__(self) -> None:
        for name, one in options_of(ServerOptions).items():
            one.check(getattr(self, name), name)
        if not 0.0 <= self.idle_s < float("inf"):
            raise InputError(f"idle_s must be a number of seconds from 0, got {self.idle_s}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> ServerOptions:
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"a served web has no option {name!r}{nearest(name, known)}")
        return cls(**given)
