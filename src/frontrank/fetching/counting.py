"""What counts against the budget of a crawl, and how long the rest takes."""

from __future__ import annotations

from collections.abc import Mapping

from frontrank.crawl.recorder import DROPPED
from frontrank.fetching.failures import CONTENT_SIGNAL, NEVER_SENT
from frontrank.fetching.robots import SIGNALS

OUT_OF_REACH = ("other host", "other domain", "not included", "excluded", "depth")
NOT_REQUESTED = (  # reasons for which a page was never requested: they use up no budget
    *(f"{CONTENT_SIGNAL}{signal}=no" for signal in SIGNALS.values()),
    *("robots.txt", "robots.txt unreachable", "private address", *NEVER_SENT),
    *("url too long", "bad url", "unsupported scheme", "not a URL", *DROPPED),
    *OUT_OF_REACH,
)


def requested_pages(fetched: int, revisits: int, failures: Mapping[str, int]) -> int:
    """How many pages were requested: those that arrived, again or not, and those that failed after their request."""
    return fetched + revisits + sum(count for reason, count in failures.items() if reason not in NOT_REQUESTED)


def time_left(pages: int, rate: float) -> float | None:
    """Seconds until so many more pages have arrived; None if that cannot be said."""
    return max(pages, 0) / rate if rate > 0 else None
