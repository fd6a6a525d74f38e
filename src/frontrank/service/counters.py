"""What a service counts since it started, under the names of URLFrontier's metrics."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, ProcessCollector, Summary, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # URLFrontier has no such series


class Counters:
    """Any thread may count at any time; ``registry`` has the counts.

    >>> counters = Counters()
    >>> counters.get_urls.inc(3)
    >>> counters.registry.get_sample_value("frontier_getURLs_total")
    3.0
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.get_calls = self._counter("frontier_getURLs_calls", "Calls of GetURLs.")
        self.get_urls = self._counter("frontier_getURLs", "URLs handed out.")
        self.get_seconds = Summary("frontier_getURLs_latency_seconds", "How long GetURLs takes.", registry=self.registry)
        self.put_calls = self._counter("frontier_putURLs_calls", "Calls of PutURLs.")
        self.put_discovered_calls = self._counter("frontier_putDiscovered_calls", "Calls of PutDiscovered.")
        self.put_urls = self._counter("frontier_putURLs", "URLs sent to the frontier.")
        discovered = Counter(
            "frontier_putURLs_discovered", "Discovered URLs sent to the frontier.", ["discovered"], registry=self.registry
        )
        self.discovered = discovered.labels("true")
        self.ignored = self._counter("frontier_putURLs_ignored", "Discovered URLs that were known already.")
        self.completed = self._counter("frontier_putURLs_completed", "URLs that were completed.")
        ProcessCollector(registry=self.registry)

    def _counter(self, name: str, about: str) -> Counter:
        return Counter(name, about, registry=self.registry)
