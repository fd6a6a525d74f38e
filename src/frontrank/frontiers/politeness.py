"""Politeness: how a crawl treats hosts, and how long it waits for what it has handed out."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from frontrank.errors import InputError
from frontrank.frontiers.pace import parse_pace


@dataclass(frozen=True)
class Politeness:
    """Limits and waits of a crawl; the defaults hold nothing back.

    >>> Politeness(delay_s=1.0, per_host=1).delay_s
    1.0
    """

    delay_s: float = 0.0  # between two requests to one host
    per_host: int = 0  # requests in flight to one host; 0 is any number
    in_flight: int = 0  # requests in flight in all; 0 is any number
    host_budget: int = 0  # pages of one host; 0 is any number
    retries: int = 2  # further attempts after a failure that may pass
    backoff_s: float = 1.0  # before the first retry; doubles with each
    backoff_most_s: float = 300.0
    lease_s: float = 3600.0  # a page taken and not settled by then waits again
    host_patience_s: float = 21_600.0  # a host that does not answer for so long is given up; 0: never
    pace: str = "greedy"  # how fast the crawl goes: greedy, half, "5/s", or "5000 in 7200" (pages in seconds)

    def __post_init__(self) -> None:
        parse_pace(self.pace)
        for f in fields(self):
            if f.name == "pace":
                continue
            value = getattr(self, f.name)
            whole = f.type in ("int", int)
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or value < 0 or (whole and int(value) != value) or (f.name == "lease_s" and value == 0):
                kind = (
                    "a whole number from 0" if whole else f"a number of seconds {'above' if f.name == 'lease_s' else 'from'} 0"
                )
                raise InputError(f"{f.name} must be {kind}, got {value!r}")

    def pause(self, attempt: int) -> float:
        """Seconds before attempt number attempt + 1.

        >>> [Politeness(backoff_s=2.0, backoff_most_s=10.0).pause(n) for n in (1, 2, 3, 4, 5000)]
        [2.0, 4.0, 8.0, 10.0, 10.0]
        """
        return min(self.backoff_most_s, self.backoff_s * 2.0 ** min(attempt - 1, 60))

    def json(self) -> dict[str, Any]:
        return asdict(self)


FREE = Politeness()
