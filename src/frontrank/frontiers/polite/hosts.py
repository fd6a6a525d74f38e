"""Hosts: which may be asked now, which later, and what each of them bears."""

from __future__ import annotations

import numpy as np

from frontrank.frontiers.heap import enter, leave
from frontrank.frontiers.pairing import wide
from frontrank.frontiers.polite.arrays import IN_FLIGHT, OUT, READY, TIMED, Polite
from frontrank.frontiers.polite.pace import free_at, rests, rests_no_more
from frontrank.kernels.jit import Array, lean

# Two indexed heaps: of those that are ready, and of those that are when their time has come


@lean
def _ready(queue: Polite, host: int) -> None:
    node, top = queue.node, queue.hosts[host]["top"]
    key, seq = node[top]["key"], wide(node[top]["seq"])
    queue.counts[READY] = enter(queue.ready_items, queue.ready_node, queue.counts[READY], host, key, seq)


@lean
def unready(queue: Polite, host: int) -> None:
    queue.counts[READY] = leave(queue.ready_items, queue.ready_node, queue.counts[READY], host)


@lean
def _untimed(queue: Polite, host: int) -> None:
    queue.counts[TIMED] = leave(queue.timer_items, queue.timer_node, queue.counts[TIMED], host)


@lean
def _spent(hosts: Array, host: int) -> bool:
    """Whether as many of its pages are out, taken or done with as may be."""
    concurrency, budget, limit = hosts[host]["concurrency"], hosts[host]["budget"], hosts[host]["limit"]
    crowded = concurrency > 0 and hosts[host]["leased"] >= concurrency
    return bool(crowded or (budget > 0 and hosts[host]["taken"] >= budget) or (limit > 0 and hosts[host]["done"] >= limit))


@lean
def full(hosts: Array, host: int) -> bool:
    """Whether no page of this host may go, whatever the time. (With the whole queue as an argument a call costs 50 ns.)"""
    return bool(hosts[host]["top"] < 0 or _spent(hosts, host))


@lean
def _free_at(hosts: Array, host: int) -> float:
    at: float = max(hosts[host]["ready_at"], hosts[host]["blocked"])
    return at


@lean
def place(queue: Polite, host: int) -> None:
    """Put a host where it now belongs."""
    counts, at = queue.counts, _free_at(queue.hosts, host)
    if full(queue.hosts, host):
        unready(queue, host)
        _untimed(queue, host)
    elif queue.ready_node[host]["pos"] >= 0 or at == -np.inf:
        _ready(queue, host)
    else:
        counts[TIMED] = enter(queue.timer_items, queue.timer_node, counts[TIMED], host, -at, host)
    if queue.resting_items.size > 0:
        _place_resting(queue, host)


@lean
def _place_resting(queue: Polite, host: int) -> None:
    """With a pace: a host that has pages and is not ready rests, unless all that it may give is taken."""
    mine = queue.hosts[host]
    given = (mine["budget"] > 0 and mine["taken"] >= mine["budget"]) or (mine["limit"] > 0 and mine["done"] >= mine["limit"])
    if mine["top"] < 0 or queue.ready_node[host]["pos"] >= 0 or given:
        rests_no_more(queue, host)
    else:
        rests(queue, host)


@lean
def place_anew(queue: Polite, host: int) -> None:
    """Put a host where it belongs whose time was set, be it earlier or later: also one that is ready may have to wait."""
    unready(queue, host)
    _untimed(queue, host)
    place(queue, host)


@lean
def hold(queue: Polite, host: int, until: float) -> None:
    """Nothing from this host before that time. The caller places the host."""
    if until > queue.hosts[host]["ready_at"]:
        queue.hosts[host]["ready_at"] = until
        unready(queue, host)


@lean
def wake(queue: Polite, now: float) -> None:
    """Hosts whose time has come are ready."""
    while queue.counts[TIMED] > 0 and _free_at(queue.hosts, wide(queue.timer_items[0])) <= now:
        host = wide(queue.timer_items[0])
        _untimed(queue, host)
        _ready(queue, host)
        if queue.resting_items.size > 0:
            rests_no_more(queue, host)


@lean
def place_all(queue: Polite, hosts: int) -> None:
    """Put all hosts where they now belong."""
    for host in range(hosts):
        place(queue, host)


# Whether a host may be asked


@lean
def all_out(counts: Array) -> bool:
    """Whether as many pages are leased as may be, of all hosts together."""
    return bool(counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT])


@lean
def bears(queue: Polite, host: int) -> bool:
    """Whether one more page of this host may be out, whatever the time."""
    return not (all_out(queue.counts) or _spent(queue.hosts, host))


@lean
def may_go(queue: Polite, host: int, now: float) -> bool:
    """Whether a page of this host that does not wait in its heap may be leased now."""
    return bears(queue, host) and _free_at(queue.hosts, host) <= now


@lean
def next_at(queue: Polite) -> float:
    """When a page may next go: -inf is now, +inf is never by time alone. A crawl ahead of its pace waits for a better page."""
    counts = queue.counts
    if all_out(counts):
        return np.inf
    if counts[READY] > 0:
        return free_at(queue)
    if counts[TIMED] > 0:
        return _free_at(queue.hosts, wide(queue.timer_items[0]))
    return np.inf


# What a host bears


@lean
def limit(queue: Polite, host: int, delay: float, concurrency: int, budget: int, done: int) -> None:
    """Set a host's politeness; a negative value leaves one as it is."""
    if delay >= 0:
        queue.hosts[host]["delay"] = delay
    if concurrency >= 0:
        queue.hosts[host]["concurrency"] = concurrency
    if budget >= 0:
        queue.hosts[host]["budget"] = budget
    if done >= 0:
        queue.hosts[host]["limit"] = done
    place(queue, host)


@lean
def block(queue: Polite, host: int, until: float) -> None:
    """Nothing from this host before that time; what was said before holds no more."""
    queue.hosts[host]["blocked"] = until
    place_anew(queue, host)


@lean
def rest(queue: Polite, host: int, until: float) -> None:
    """This host may be asked again from that time on, whatever its delay says."""
    queue.hosts[host]["ready_at"] = until
    place_anew(queue, host)
