"""Metrics in the text format of Prometheus: URLFrontier's names for what the service was asked, ours for its crawls."""

from __future__ import annotations

import os
from collections.abc import Iterable

from frontrank import __version__
from frontrank.service.counters import ABOUT, GET_SECONDS, Counters
from frontrank.service.http import shapes

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
STATES = ("known", "waiting", "leased", "fetched", "failed")
Sample = tuple[dict[str, str], float]


def text(counters: Counters, crawls: Iterable[shapes.Status], active: bool = True) -> str:
    told = list(crawls)
    lines: list[str] = []
    for name, count in counters.all().items():
        labels = {"discovered": "true"} if name.endswith("_discovered_total") else {}
        lines += _metric(name, "counter", ABOUT[name], [(labels, count)])
    calls, seconds = counters.latency()
    lines += [f"# HELP {GET_SECONDS} How long GetURLs takes.", f"# TYPE {GET_SECONDS} summary"]
    lines += [f"{GET_SECONDS}_count {calls}", f"{GET_SECONDS}_sum {_number(seconds)}"]
    lines += _metric("frontrank_info", "gauge", "The version of frontrank.", [({"version": __version__}, 1)])
    lines += _metric("frontrank_active", "gauge", "Whether the service hands out pages at all.", [({}, active)])
    pages = [({"crawl": one["id"], "state": state}, one[state]) for one in told for state in STATES]  # type: ignore[literal-required]
    lines += _metric("frontrank_pages", "gauge", "Pages of a crawl by state.", pages)
    hosts = [({"crawl": one["id"], "state": state}, count) for one in told for state, count in one["hosts"].items()]
    lines += _metric("frontrank_hosts", "gauge", "Hosts of a crawl by state.", hosts)  # type: ignore[arg-type]
    lines += _of_each(told, "frontrank_events_total", "counter", "Events in the journal of a crawl.", "events")
    lines += _of_each(told, "frontrank_rankings_failed_total", "counter", "Rankings that failed.", "rankings_failed")
    lines += _of_each(told, "frontrank_paused", "gauge", "Whether a crawl is paused.", "paused")
    rates: list[Sample] = [({"crawl": one["id"]}, one["pages_per_s"]["lately"]) for one in told]
    lines += _metric("frontrank_pages_per_second", "gauge", "Pages settled a second, over the last five minutes.", rates)
    gauges = [({"crawl": one["id"], "gauge": name}, value) for one in told for name, value in one["gauges"].items()]
    lines += _metric("frontrank_ordering", "gauge", "What the ordering of a crawl measures.", gauges)
    lines += _metric("process_resident_memory_bytes", "gauge", "Memory of the service.", [({}, _memory())])
    return "\n".join(lines) + "\n"


def _of_each(told: list[shapes.Status], name: str, kind: str, about: str, field: str) -> list[str]:
    return _metric(name, kind, about, [({"crawl": one["id"]}, one[field]) for one in told])  # type: ignore[literal-required]


def _metric(name: str, kind: str, about: str, samples: Iterable[Sample]) -> list[str]:
    return [
        f"# HELP {name} {about}",
        f"# TYPE {name} {kind}",
        *(f"{name}{_labels(labels)} {_number(v)}" for labels, v in samples),
    ]


def _labels(labels: dict[str, str]) -> str:
    """
    >>> print(_labels({"crawl": 'a"b'}))
    {crawl="a\\"b"}
    """
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return repr(float(value)) if isinstance(value, float) else str(int(value))


def _memory() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # elsewhere than on Linux
        return 0
