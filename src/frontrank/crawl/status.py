"""What a crawl's directory says: its state at this moment, and its events one by one. The crawl may be running."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.crawl import events as kinds
from frontrank.crawl.history import History
from frontrank.crawl.integrity import sentences
from frontrank.crawl.journal import Journal, is_locked
from frontrank.crawl.kernels import count_depths
from frontrank.crawl.log import Row
from frontrank.frontiers.frontier import ABSENT, BEYOND, FORGOTTEN, GONE, LATER, LEASED, WAITING
from frontrank.kernels.jit import Array, by_size
from frontrank.orderings.policy import Policy
from frontrank.orderings.ranker import UNRANKED
from frontrank.pages.urls import host_of

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

STATES = {ABSENT: "not linked yet", WAITING: "waiting", LEASED: "leased", GONE: "settled", FORGOTTEN: "forgotten"}
NEXT = 20  # pages shown
SAMPLE = 4_000  # of waiting pages, whose priorities are looked at
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
WIDE = 50.0  # priorities that differ by more than this factor are shown by powers


def status(path: str | os.PathLike[str], policy: Policy | None = None) -> dict[str, Any]:
    """How far the crawl of a directory is."""
    from frontrank.crawl.crawl import Crawl

    running = is_locked(Path(path))
    crawl = Crawl.recover(path, policy, read_only=True)
    try:
        return {**crawl.inspect.status(), "running": running}
    finally:
        crawl.close()


def of(state: CrawlState, now: float) -> dict[str, Any]:
    return {
        **overview(state, now),
        "failed_by_reason": dict(History(state).reasons().most_common()),
        "withheld": dict(History(state).withheld().most_common()),
        "unscored": dict(History(state).unscored().most_common()) if "scores" in state.needs else {},
        "next": upcoming(state, NEXT),
    }


def overview(state: CrawlState, now: float) -> dict[str, Any]:
    """How far it is, without a look at its log or at all its pages: for whoever asks often."""
    hosts = state.frontier.hosts()
    counts = state.frontier.counts
    return {
        "policy": state.policy.spec(),
        "known": int(sum(hosts[name].sum() for name in ("waiting", "later", "leased", "done"))),
        "fetched": state.progress.fetched,
        "waiting": counts.waiting,
        "scheduled": counts.later,
        "leased": len(state.leases),
        "failed": state.progress.failed,
        "revisits": state.progress.revisits,
        "links_given_up": state.progress.links_given_up,
        "paused": state.progress.paused,
        "rules": state.rules.json(),
        "limits": [{"host": host, "limits": one.limits} for host, one in state.rules.hosts.items()],
        "hosts": {
            "known": len(hosts),
            "with_waiting": int((hosts["waiting"] > 0).sum()),
            "in_flight": int((hosts["leased"] > 0).sum()),
            "budget_spent": int(((hosts["budget"] > 0) & (hosts["taken"] >= hosts["budget"])).sum()),
            "resting": int((np.maximum(hosts["ready_at"], hosts["blocked"]) > now).sum()),
        },
        "gauges": state.policy.gauges(state.ordering.columns),
        "rankings_failed": state.ranking.failures,
        "events": state.log.seq,
        "started": state.log.notes.get("started"),
        "last_event": state.progress.now or None,
    }


def is_known(state: CrawlState, page: int) -> bool:
    """Whether there is anything to tell of a page."""
    return page >= 0 and state.frontier.mark(page) != FORGOTTEN


def scores(state: CrawlState, bins: int = 40) -> dict[str, Any]:
    """How the priorities of waiting pages are distributed, on a scale of powers if they span many. Of many pages, some."""
    frontier = state.frontier
    waiting = frontier.counts.waiting - frontier.counts.later
    step = max(1, -(-waiting // SAMPLE))
    some = step * np.flatnonzero(frontier.marks(slice(0, state.known, step)) == WAITING)
    keys = frontier.keys(some)
    ranked = (np.abs(keys) < BEYOND) & (keys > UNRANKED)
    found = priorities(state, some[ranked], keys[ranked])
    counts: dict[str, Any] = {
        "waiting": waiting,
        "sampled": int(some.size),
        "prioritised": int((np.abs(keys) >= BEYOND).sum()),
        "unranked": int(((keys <= UNRANKED) & (keys > -BEYOND)).sum()),
    }
    return {**counts, **_histogram(found[np.isfinite(found)], bins)}


def _histogram(values: Array, bins: int) -> dict[str, Any]:
    if not values.size:
        return {"scale": "linear", "bins": [], "quantiles": []}
    low, high = float(values.min()), float(values.max())
    powers = low > 0 and high / low > WIDE
    edges = np.geomspace(low, high, bins + 1) if powers else np.linspace(low, high, bins + 1 if high > low else 2)
    edges[0], edges[-1] = low, high
    counts, _ = np.histogram(values, edges) if high > low else (np.array([values.size]), None)
    rows = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return {
        "scale": "powers" if powers else "linear",
        "bins": [{"from": begin, "to": end, "pages": count} for begin, end, count in rows],
        "quantiles": [{"share": share, "priority": float(np.quantile(values, share))} for share in SHARES],
    }


def coverage(state: CrawlState, max_depth: int = 20) -> dict[str, Any]:
    """How much of what is known was fetched: pages, hosts, and pages by their depth."""
    taken = state.frontier.hosts()["taken"]
    seen, settled = np.zeros(max_depth + 1, np.int64), np.zeros(max_depth + 1, np.int64)
    by_size(count_depths, state.known)(
        state.frontier.marks(slice(0, state.known)), state.ordering.columns.fetched, state.pages.depths, seen, settled
    )
    counts = enumerate(zip(seen.tolist(), settled.tolist(), strict=True))
    rows = [{"depth": at, "known": known, "settled": done} for at, (known, done) in counts if known]
    return {
        "known": int(seen.sum()),
        "settled": int(settled.sum()),
        "hosts": len(taken),
        "hosts_asked": int((taken > 0).sum()),
        "deepest": max_depth,  # pages at this depth and below are counted together
        "by_depth": rows,
    }


def upcoming(state: CrawlState, n: int) -> list[dict[str, Any]]:
    """The next pages by priority alone, whatever politeness says."""
    best = state.frontier.best(n).tolist()
    return [
        {"url": url, "queue": queue, "priority": priority(state, page), "depth": int(state.pages.depths[page])}
        for page, (url, queue) in zip(best, state.names(best), strict=True)
    ]


def pages(state: CrawlState, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Where these pages stand: url, queue, state, priority of those that wait, when they are due, depth. Not forgotten ones."""
    shown = []
    there = [page for page in numbers if is_known(state, page)]
    for page, (url, queue) in zip(there, state.names(there), strict=True):
        waits = state.frontier.mark(page) in (WAITING, LEASED, LATER)
        worth = priority(state, page) if waits else None
        place = {"state": state_of(state, page), "due": due(state, page)}
        shown.append({"url": url, "queue": queue, **place, "priority": worth, "depth": int(state.pages.depths[page])})
    return shown


def state_of(state: CrawlState, page: int) -> str:
    """Where a page stands, in words."""
    mark = state.frontier.mark(page)
    if mark != LATER:
        return STATES[mark]
    if state.ordering.columns.fetched[page]:
        return "comes back later"
    return "waiting for a retry" if page in state.leases.attempts else "waiting for its time"


def due(state: CrawlState, page: int) -> float | None:
    """When a page that waits for a time is due; None if it does not, or until something else happens."""
    at = state.frontier.due_at(page) if state.frontier.mark(page) == LATER else np.inf
    return None if at == np.inf else at


def priorities(state: CrawlState, pages: Array, keys: Array) -> Array:
    """The priorities of pages that have these keys, as their ordering means them."""
    if type(state.policy).priority is Policy.priority:
        return keys
    meant = state.policy.priority
    return np.array([meant(state.ordering.columns, page, key) for page, key in zip(pages.tolist(), keys.tolist(), strict=True)])


def priority(state: CrawlState, page: int) -> float:
    """The priority of a waiting page, as its ordering means it."""
    return state.policy.priority(state.ordering.columns, page, state.frontier.key(page))


def hosts(state: CrawlState) -> list[dict[str, Any]]:
    """Each host of which a page is known: its pages settled, failed and waiting, its limits, the depth of its deepest page."""
    names = host_names(state)
    host_of_page, order = state.frontier.hosts_of(slice(0, state.known)), np.array(state.progress.order, np.int64)
    settled = np.bincount(host_of_page[order], minlength=len(names))
    failed = np.bincount(host_of_page[History(state).failed_pages()], minlength=len(names))
    deepest = np.full(len(names), -1, np.int64)
    np.maximum.at(deepest, host_of_page[order], state.pages.depths[order])
    limits = state.frontier.hosts()
    fields = ("host", "settled", "failed", "depth", *(limits.dtype.names or ()))
    columns = (names, settled.tolist(), failed.tolist(), deepest.tolist(), limits.tolist())
    return [dict(zip(fields, (*row[:-1], *row[-1]), strict=True)) for row in zip(*columns, strict=True) if row[0]]


def busiest(state: CrawlState, n: int) -> list[dict[str, Any]]:
    limits = state.frontier.hosts()
    busy = limits["waiting"] + 1e9 * limits["leased"]
    first = np.argpartition(-busy, n)[:n] if len(limits) > n else np.arange(len(limits))
    shown = first[np.argsort(-busy[first], kind="stable")].tolist()
    rows = zip(host_names(state, shown), limits[shown].tolist(), strict=True)
    apart = ((name, row) for name, row in rows if name and name not in state.hosts.joined)  # pages of others are their group's
    return [{"host": name, **dict(zip(limits.dtype.names or (), row, strict=True))} for name, row in apart]


def host_names(state: CrawlState, numbers: list[int] | None = None) -> list[str]:
    """The names of these hosts, or of all; empty where no page of a host is known."""
    asked = range(state.frontier.known_hosts) if numbers is None else numbers
    return [_host_name(state, host, int(state.hosts.first_page[host])) for host in asked]


def _host_name(state: CrawlState, host: int, page: int) -> str:
    """The name of a host, or of a queue, told by the first page that is known of it."""
    if page < 0:
        return ""
    name = host_of(state.log.url(page))
    if state.frontier.hosts_of(slice(page, page + 1))[0] != host:
        return name
    return state.hosts.group_of(state.log.queues(page, page + 1).get(page) or name)


def events(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Every event of a crawl: seq, kind, url, time, and what else there is to say of it."""
    log = Journal.open(Path(path), read_only=True)
    try:
        for rows in log.rows():
            for row in kinds.apart(rows):
                with sentences(log):
                    event = shown(row, log.url(row.page) if row.page >= 0 else None)
                yield event
    finally:
        log.close()


def shown(row: Row, url: str | None) -> dict[str, Any]:
    kind = kinds.kind_of(row)
    fields: dict[str, Any] = {"seq": row.seq, "kind": kind.name, "url": url, "time": row.time}
    if row.file:
        fields |= {"warc": row.file, "offset": row.start, "length": row.length}
    return {**fields, **kind.show(row)}
