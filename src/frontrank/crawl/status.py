"""What a crawl's directory says: its state at this moment, and its events one by one. The crawl may be running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.crawl import events as kinds
from frontrank.crawl.journal import Journal, is_locked
from frontrank.crawl.log import Row
from frontrank.orderings.policy import Policy
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from frontrank.crawl.crawl import Crawl

NEXT = 20  # pages shown


def status(path: str | os.PathLike[str], policy: Policy | None = None) -> dict[str, Any]:
    """How far the crawl of a directory is."""
    from frontrank.crawl.crawl import Crawl

    running = is_locked(Path(path))
    crawl = Crawl.recover(path, policy, read_only=True)
    try:
        return {**of(crawl), "running": running}
    finally:
        crawl.close()


def of(crawl: Crawl) -> dict[str, Any]:
    hosts = crawl.frontier.hosts()
    counts = crawl.frontier.counts
    return {
        "policy": crawl.policy.spec(),
        "known": crawl.known,
        "fetched": crawl.fetched_count,
        "waiting": counts.waiting,
        "leased": crawl.leased,
        "failed": crawl.failed_count,
        "failed_by_reason": dict(crawl.history.reasons().most_common()),
        "hosts": {
            "known": len(hosts),
            "with_waiting": int((hosts["waiting"] > 0).sum()),
            "in_flight": int((hosts["leased"] > 0).sum()),
            "budget_spent": int(((hosts["budget"] > 0) & (hosts["taken"] >= hosts["budget"])).sum()),
            "resting": int((hosts["ready_at"] > crawl.now).sum()),
        },
        "gauges": crawl.gauges(),
        "rankings_failed": crawl.ranking.failures,
        "unscored": dict(crawl.history.unscored().most_common()) if "scores" in crawl.needs else {},
        "events": crawl.log.seq,
        "started": crawl.notes.get("started"),
        "last_event": crawl.now or None,
        "next": upcoming(crawl, NEXT),
    }


def upcoming(crawl: Crawl, n: int) -> list[dict[str, Any]]:
    """The next pages by priority alone, whatever politeness says."""
    return [
        {"url": crawl.url(page), "priority": priority(crawl, page), "depth": crawl.depth(page)}
        for page in crawl.frontier.best(n).tolist()
    ]


def priority(crawl: Crawl, page: int) -> float:
    """The priority of a waiting page, as its ordering means it."""
    return crawl.policy.priority(crawl.state, page, crawl.frontier.key(page))


def hosts(crawl: Crawl) -> list[dict[str, Any]]:
    """Each host of which a page is known: its pages settled, failed and waiting, its limits, the depth of its deepest page."""
    names = host_names(crawl)
    host_of_page, order = crawl.frontier.queue.host, np.array(crawl.order, np.int64)
    settled = np.bincount(host_of_page[order], minlength=len(names))
    failed = np.bincount(host_of_page[crawl.history.failed_pages()], minlength=len(names))
    deepest = np.full(len(names), -1, np.int64)
    np.maximum.at(deepest, host_of_page[order], crawl.depths[order])
    limits = crawl.frontier.hosts()
    fields = ("host", "settled", "failed", "depth", *(limits.dtype.names or ()))
    columns = (names, settled.tolist(), failed.tolist(), deepest.tolist(), limits.tolist())
    return [dict(zip(fields, (*row[:-1], *row[-1]), strict=True)) for row in zip(*columns, strict=True) if row[0]]


def busiest(crawl: Crawl, n: int) -> list[dict[str, Any]]:
    limits = crawl.frontier.hosts()
    busy = limits["waiting"] + 1e9 * limits["leased"]
    first = np.argpartition(-busy, n)[:n] if len(limits) > n else np.arange(len(limits))
    shown = first[np.argsort(-busy[first], kind="stable")].tolist()
    rows = zip(host_names(crawl, shown), limits[shown].tolist(), strict=True)
    return [{"host": name, **dict(zip(limits.dtype.names or (), row, strict=True))} for name, row in rows if name]


def host_names(crawl: Crawl, numbers: list[int] | None = None) -> list[str]:
    """The names of these hosts, or of all; empty where no page of a host is known."""
    asked = range(crawl.frontier.known_hosts) if numbers is None else numbers
    pages = [int(crawl.host_page[host]) for host in asked]
    return [host_of(crawl.url(page)) if page >= 0 else "" for page in pages]


def events(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Every event of a crawl: seq, kind, url, time, and what else there is to say of it."""
    log = Journal.open(Path(path), read_only=True)
    try:
        for rows in log.rows():
            for row in rows:
                yield shown(row, log.url(row.page) if row.page >= 0 else None)
    finally:
        log.close()


def shown(row: Row, url: str | None) -> dict[str, Any]:
    kind = kinds.kind_of(row)
    made: dict[str, Any] = {"seq": row.seq, "kind": kind.name, "url": url, "time": row.time}
    if row.file:
        made |= {"warc": row.file, "offset": row.start, "length": row.length}
    return {**made, **kind.show(row)}
