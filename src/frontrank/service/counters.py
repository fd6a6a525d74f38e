"""What a service counts of itself since it started, under the names that URLFrontier gives its metrics."""

from __future__ import annotations

import threading
from collections import Counter

GET_CALLS, GET_URLS, GET_SECONDS = "frontier_getURLs_calls_total", "frontier_getURLs_total", "frontier_getURLs_latency_seconds"
PUT_CALLS, PUT_URLS = "frontier_putURLs_calls_total", "frontier_putURLs_total"
PUT_DISCOVERED_CALLS = "frontier_putDiscovered_calls_total"
DISCOVERED, IGNORED = "frontier_putURLs_discovered_total", "frontier_putURLs_ignored_total"
COMPLETED = "frontier_putURLs_completed_total"
ABOUT = {
    GET_CALLS: "Calls of GetURLs.",
    GET_URLS: "URLs handed out.",
    PUT_CALLS: "Calls of PutURLs.",
    PUT_DISCOVERED_CALLS: "Calls of PutDiscovered.",
    PUT_URLS: "URLs sent to the frontier.",
    DISCOVERED: "Discovered URLs sent to the frontier.",
    IGNORED: "Discovered URLs that were known already.",
    COMPLETED: "URLs that were completed.",
}


class Counters:
    """Any thread may count at any time.

    >>> counters = Counters()
    >>> counters.add(GET_URLS, 3)
    >>> counters.took(0.5)
    >>> counters.all()[GET_URLS], counters.latency()
    (3, (1, 0.5))
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._calls, self._seconds = 0, 0.0

    def add(self, name: str, count: int = 1) -> None:
        with self._lock:
            self._counts[name] += count

    def took(self, seconds: float) -> None:
        """A call of GetURLs took so long."""
        with self._lock:
            self._calls += 1
            self._seconds += seconds

    def all(self) -> dict[str, int]:
        with self._lock:
            return {name: self._counts[name] for name in ABOUT}

    def latency(self) -> tuple[int, float]:
        """Calls of GetURLs, and the seconds that they took together."""
        with self._lock:
            return self._calls, self._seconds
