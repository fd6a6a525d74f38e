"""What is served, and how badly: by default a quick and faultless web that is exactly the Web given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from frontrank.errors import InputError, nearest


@dataclass(frozen=True)
class Options:
    hosts: str = "name"  # "name": by Host header or as a proxy; "ip": each host at an address of its own
    crawl_delay: float = 0.0  # seconds, told in robots.txt
    disallow: float = 0.0  # share of the hosts' top directories that robots.txt disallows
    sitemaps: bool = False
    latency: float = 0.0  # mean seconds to an answer; of one URL always the same, between half and one and a half of it
    errors: float = 0.0  # share of pages that always fail
    flaky: float = 0.0  # share of pages that fail the first time
    traps: bool = False
    idle_s: float = 30.0  # a client that sends or reads nothing for so long is hung up on

    def __post_init__(self) -> None:
        if self.hosts not in ("name", "ip"):
            raise InputError(f"hosts must be name or ip, got {self.hosts!r}")
        for share in ("disallow", "errors", "flaky"):
            if not 0.0 <= getattr(self, share) <= 1.0:
                raise InputError(f"{share} must be a share from 0 to 1, got {getattr(self, share)}")
        for seconds in ("crawl_delay", "latency", "idle_s"):
            if not 0.0 <= getattr(self, seconds) < math.inf:
                raise InputError(f"{seconds} must be 0 seconds or more, got {getattr(self, seconds)}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"a served web has no option {name!r}{nearest(name, known)}")
        return cls(**given)
