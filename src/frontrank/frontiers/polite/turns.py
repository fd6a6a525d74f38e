"""Whose turn it is: the best pages of hosts that may be asked now, one by one or host by host."""

from __future__ import annotations

from frontrank.frontiers.pairing import wide
from frontrank.frontiers.polite.arrays import READY, Polite
from frontrank.frontiers.polite.hosts import all_out, full, place, unready, wake
from frontrank.frontiers.polite.pace import held_back
from frontrank.frontiers.polite.pages import take
from frontrank.kernels.jit import Array, lean


@lean
def pop(queue: Polite, now: float) -> int:
    """Lease the best waiting page of a host that may be asked now; -1 if there is none, or a better one is waited for."""
    counts = queue.counts
    if all_out(counts):
        return -1
    wake(queue, now)
    if counts[READY] == 0 or held_back(queue, now):
        return -1
    return _best(queue, now)


@lean
def _best(queue: Polite, now: float) -> int:
    page = wide(queue.hosts[queue.ready_items[0]]["top"])
    take(queue, page, now)
    return page


@lean
def pop_some(queue: Polite, now: float, pages: Array) -> int:
    """The same for as many pages as there is room for; returns how many."""
    for i in range(pages.size):
        page = pop(queue, now)
        if page < 0:
            return i
        pages[i] = page
    return int(pages.size)


@lean
def pop_above(queue: Polite, now: float, lowest: float, pages: Array) -> int:
    """The same for pages whose key is at least this one, whatever the pace."""
    wake(queue, now)
    for i in range(pages.size):
        if all_out(queue.counts) or queue.counts[READY] == 0 or queue.ready_node[queue.ready_items[0]]["key"] < lowest:
            return i
        pages[i] = _best(queue, now)
    return int(pages.size)


@lean
def take_queues(queue: Polite, now: float, max_hosts: int, each: int, pages: Array, visited: Array) -> int:
    """Lease up to ``each`` pages of up to ``max_hosts`` hosts, the host with the best page first; 0 is any number.

    Pages of one host count as one request to it. A host of which ``each`` pages are leased already is skipped.
    """
    counts, hosts, at, given, seen = queue.counts, queue.hosts, 0, 0, 0
    wake(queue, now)
    while counts[READY] > 0 and (max_hosts == 0 or given < max_hosts) and at < pages.size and not held_back(queue, now):
        host = wide(queue.ready_items[0])
        begin = at
        if each == 0 or hosts[host]["leased"] < each:
            at = _take_some(queue, host, now, each, pages, at)
        if at > begin:
            given += 1
        elif all_out(counts):
            break
        unready(queue, host)
        visited[seen] = host
        seen += 1
    for i in range(seen):
        place(queue, wide(visited[i]))
    return at


@lean
def _take_some(queue: Polite, host: int, now: float, each: int, pages: Array, at: int) -> int:
    counts, begin = queue.counts, at
    while at < pages.size and (each == 0 or at - begin < each) and not full(queue.hosts, host):
        if all_out(counts):
            break
        page = wide(queue.hosts[host]["top"])
        take(queue, page, now)
        pages[at] = page
        at += 1
    return at


@lean
def take_queue(queue: Polite, host: int, now: float, each: int, pages: Array) -> int:
    """The same for one host, if it may be asked now."""
    wake(queue, now)
    if queue.ready_node[host]["pos"] < 0 or (each > 0 and queue.hosts[host]["leased"] >= each):
        return 0
    return _take_some(queue, host, now, each, pages, 0)
