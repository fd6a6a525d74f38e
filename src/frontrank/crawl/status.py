"""What a crawl's directory tells: its state at this moment, and its events one by one. The crawl may be running."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frontrank.crawl import journal as log
from frontrank.crawl.crawl import Crawl
from frontrank.crawl.journal import Event, Journal
from frontrank.frontiers import polite
from frontrank.orderings.policy import Policy

NEXT = 20  # pages shown


def status(path: str | os.PathLike[str], policy: Policy | None = None) -> dict[str, Any]:
    """How far a crawl is: pages fetched, waiting, leased, failed by reason, hosts, the next pages in their order."""
    crawl = Crawl.recover(path, policy, read_only=True)
    try:
        return told(crawl)
    finally:
        crawl.close()


def told(crawl: Crawl) -> dict[str, Any]:
    queue = crawl.queue
    hosts = queue.hosts[: int(crawl.host_table.counts[0])]
    return {
        "policy": crawl.policy.spec(),
        "known": crawl.known,
        "fetched": crawl.fetched_count,
        "waiting": crawl.waiting,
        "leased": crawl.leased,
        "failed": crawl.failed_count,
        "failed_by_reason": _reasons(crawl),
        "hosts": {
            "known": len(hosts),
            "with_waiting": int((hosts["top"] >= 0).sum()),
            "in_flight": int((hosts["leased"] > 0).sum()),
            "budget_spent": int(((hosts["budget"] > 0) & (hosts["taken"] >= hosts["budget"])).sum()),
            "resting": int((hosts["ready_at"] > crawl.now).sum()),
        },
        "gauges": crawl.gauges(),
        "events": crawl.journal.seq,
        "last_event": crawl.now or None,
        "next": [
            {"url": crawl.url(page), "priority": float(queue.node["key"][page]), "depth": crawl.depth(page)}
            for page in polite.best(queue, NEXT).tolist()
        ],
    }


def _reasons(crawl: Crawl) -> dict[str, int]:
    if not isinstance(crawl.journal, Journal):
        return {}
    return dict(Counter(crawl.journal.reasons()).most_common())


def events(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Every event of a crawl: seq, kind, url, time, and what else there is to tell of it."""
    journal = Journal.open(Path(path), read_only=True)
    try:
        for event, url in journal.named_events():
            yield _shown(event, url)
    finally:
        journal.close()


def _shown(event: Event, url: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"seq": event.seq, "kind": log.KINDS.get(event.kind, "?"), "url": url, "time": event.time}
    if event.file:
        shown |= {"warc": event.file, "offset": event.start, "length": event.length}
    if event.kind == log.FETCHED:
        shown |= {"status": event.status, "links": int(np.frombuffer(event.links or b"", "<i4").size)}
    elif event.kind == log.FAILED:
        shown["reason"] = event.note
    elif event.kind == log.RETRY:
        shown |= {"reason": event.note, "attempt": event.status, "again_at": event.until}
    elif event.kind == log.HOST:
        shown |= log.read(event.note)
    elif event.kind == log.BLOCK:
        shown |= {"host": event.note, "until": event.until}
    elif event.kind == log.POLICY:
        shown["policy"] = event.note
    elif event.kind == log.PRIORITY:
        shown["priority"] = event.status
    return shown
