"""Metrics in the text format of Prometheus: URLFrontier's names for what the service was asked, ours for its crawls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from frontrank import __version__
from frontrank.service.counters import Counters
from frontrank.service.http import shapes

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
STATES = ("known", "waiting", "leased", "fetched", "failed")
Row = tuple[Sequence[str], float]


def text(counters: Counters, crawls: Sequence[shapes.CrawlStatus], active: bool = True) -> bytes:
    registry = CollectorRegistry()
    registry.register(CrawlMetrics(crawls, active))
    return generate_latest(counters.registry) + generate_latest(registry)


class CrawlMetrics(Collector):
    """What is known of crawls at one moment."""

    def __init__(self, crawls: Sequence[shapes.CrawlStatus], active: bool) -> None:
        self.crawls, self.active = crawls, active

    def collect(self) -> Iterable[Metric]:
        crawls = self.crawls
        yield InfoMetricFamily("frontrank", "The version of frontrank.", {"version": __version__})
        yield GaugeMetricFamily("frontrank_active", "Whether the service hands out pages at all.", self.active)
        pages = [((one.id, state), getattr(one, state)) for one in crawls for state in STATES]
        yield _gauge("frontrank_pages", "Pages of a crawl by state.", pages, "state")
        hosts = [((one.id, state), getattr(one.hosts, state)) for one in crawls for state in one.hosts.__struct_fields__]
        yield _gauge("frontrank_hosts", "Hosts of a crawl by state.", hosts, "state")
        yield _counter("frontrank_events", "Events in the journal of a crawl.", [((one.id,), one.events) for one in crawls])
        failed = [((one.id,), one.rankings_failed) for one in crawls]
        yield _counter("frontrank_rankings_failed", "Rankings that failed.", failed)
        yield _gauge("frontrank_paused", "Whether a crawl is paused.", [((one.id,), one.paused) for one in crawls])
        rates = [((one.id,), one.pages_per_s.lately) for one in crawls]
        yield _gauge("frontrank_pages_per_second", "Pages settled per second, over the last five minutes.", rates)
        gauges = [((one.id, name), value) for one in crawls for name, value in one.gauges.items()]
        yield _gauge("frontrank_ordering", "What the ordering of a crawl measures.", gauges, "gauge")


def _gauge(name: str, about: str, rows: Iterable[Row], *labels: str) -> Metric:
    return _filled(GaugeMetricFamily(name, about, labels=["crawl", *labels]), rows)


def _counter(name: str, about: str, rows: Iterable[Row]) -> Metric:
    return _filled(CounterMetricFamily(name, about, labels=["crawl"]), rows)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, rows: Iterable[Row]) -> Metric:
    for labels, value in rows:
        family.add_metric(labels, value)
    return family
