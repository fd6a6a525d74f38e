"""The frontier of a live crawl: who waits, with which priority, and who may go now.

Largest key first, among equals the first discovered, as in ``heap``; but a page goes only if its host may be asked.

    each host       a pairing heap of its waiting pages
    ready hosts     4-ary heap, by the best page of each
    timed hosts     4-ary heap, by the time at which each may be asked again

A host is in neither heap of hosts if nothing of it waits, if as many of its pages are out as it bears at once, or if its
budget is spent. A host whose time may have come is among the timed ones until a pop tells what time it is; a host once found
ready stays so. Each call is O(log n) amortised, whatever the number of hosts.

    ABSENT -put-> WAITING -pop, take-> LEASED -settle-> GONE
                  WAITING <-back------ LEASED
                  WAITING <-back- LATER <-later- LEASED        (a retry waits for its time elsewhere)
                  WAITING, LATER -settle-> GONE                (dropped: it will never be asked for)

A page may have a priority of its own (``prioritise``): a key beyond all that orderings give, above or below. What an ordering
says of such a page afterwards does not move it.

Memory: 29 bytes for each page (record 24, mark 1, host 4), 80 for each host. Times are seconds; 0 is no limit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from frontrank.frontiers.frontier import ABSENT, GONE, LATER, LEASED, WAITING
from frontrank.frontiers.heap import NODE, _down, _up
from frontrank.frontiers.pairing import cut, joined, wide, with_page, without
from frontrank.kernels.growing import grown as longer
from frontrank.kernels.jit import Array, Kernel, kernel

PAGE = np.dtype([("key", "f8"), ("seq", "i4"), ("child", "i4"), ("next", "i4"), ("prev", "i4")])
HOST = np.dtype(
    [
        ("top", "i4"),  # its best waiting page, -1 if none waits
        ("waiting", "i4"),
        ("leased", "i4"),
        ("taken", "i4"),  # leased, or gone after a lease: what counts against the budget
        ("concurrency", "i4"),
        ("budget", "i4"),
        ("delay", "f8"),
        ("ready_at", "f8"),  # -inf: never had to wait
    ]
)
WAIT, KNOWN, OUT, READY, TIMED, IN_FLIGHT = 0, 1, 2, 3, 4, 5  # places in counts
BEYOND = 1e305  # keys at least so far from 0 are priorities
STEP = 2.0**-40  # so many distinct ones, above and below


class Polite(NamedTuple):
    node: Array  # one PAGE record for each page; next and prev are siblings, prev of a first child is the parent
    mark: Array
    host: Array  # of each page; set by the caller before the page is first put
    hosts: Array  # one HOST record for each host
    ready_items: Array
    ready_node: Array  # key and seq of the host's best page
    timer_items: Array
    timer_node: Array  # key is minus the time, as larger is sooner
    counts: Array  # pages waiting, discovered, leased; hosts ready, timed; how many pages may be leased
    politeness: Array  # one HOST record: what a new host begins with


def new(pages: int, hosts: int = 1, delay_s: float = 0.0, concurrency: int = 0, in_flight: int = 0, budget: int = 0) -> Polite:
    """delay_s, concurrency and budget are every host's, until ``limit`` says otherwise; in_flight is for all together."""
    politeness = np.zeros(1, HOST)
    politeness[0] = (-1, 0, 0, 0, concurrency, budget, delay_s, -np.inf)
    counts = np.zeros(6, np.int64)
    counts[IN_FLIGHT] = in_flight
    return Polite._make((*_page_arrays(pages), *_host_arrays(hosts, politeness), counts, politeness))


def _page_arrays(pages: int) -> tuple[Array, ...]:
    return np.zeros(pages, PAGE), np.zeros(pages, np.uint8), np.zeros(pages, np.int32)


def _host_arrays(hosts: int, politeness: Array) -> tuple[Array, ...]:
    ready_node, timer_node = np.zeros(hosts, NODE), np.zeros(hosts, NODE)
    ready_node["pos"] = timer_node["pos"] = -1
    return np.repeat(politeness, hosts), np.zeros(hosts, np.int32), ready_node, np.zeros(hosts, np.int32), timer_node


def grown(queue: Polite, pages: int, hosts: int) -> Polite:
    """The same frontier with room for so many pages and hosts."""
    beyond = {"pos": -1}
    return queue._replace(
        node=longer(queue.node, pages),
        mark=longer(queue.mark, pages),
        host=longer(queue.host, pages),
        hosts=longer(queue.hosts, hosts, queue.politeness),
        ready_items=longer(queue.ready_items, hosts),
        ready_node=longer(queue.ready_node, hosts, beyond),
        timer_items=longer(queue.timer_items, hosts),
        timer_node=longer(queue.timer_node, hosts, beyond),
    )


def key_of(priority: int) -> float:
    """The key that stands for a priority: larger is sooner, 0 is none.

    >>> key_of(-1) > key_of(-2), key_of(2) > key_of(1) >= BEYOND, key_of(0)
    (True, True, 0.0)
    """
    return math.copysign(BEYOND * (1 + min(abs(priority) * STEP, 1.0)), priority) if priority else 0.0


def waiting(queue: Polite) -> int:
    return int(queue.counts[WAIT])


def discovered(queue: Polite) -> Array:
    """All pages ever put, in the order of their discovery."""
    seen = np.flatnonzero(queue.mark != ABSENT)
    pages = np.empty(seen.size, np.int32)
    pages[queue.node["seq"][seen]] = seen
    return pages


def best(queue: Polite, count: int) -> Array:
    """The next pages by key alone, whatever politeness says."""
    pages = np.flatnonzero(queue.mark == WAITING).astype(np.int32)
    if 0 < count < pages.size:
        key = queue.node["key"][pages]
        pages = pages[key >= np.partition(key, pages.size - count)[pages.size - count]]
    node = queue.node[pages]
    return pages[np.lexsort((node["seq"], -node["key"]))[:count]]


# The hosts: two indexed heaps


@kernel
def _set(items: Array, node: Array, size: int, host: int, key: float, seq: int) -> int:
    """A host has this key, whether it was in the heap or not. Returns the heap's size."""
    if node[host]["pos"] < 0:
        node[host]["key"] = key
        node[host]["seq"] = seq
        items[size] = host
        _up(items, node, size)
        return size + 1
    if node[host]["key"] != key or node[host]["seq"] != seq:
        node[host]["key"] = key
        node[host]["seq"] = seq
        _up(items, node, wide(node[host]["pos"]))
        _down(items, node, size, wide(node[host]["pos"]))
    return size


@kernel
def _unset(items: Array, node: Array, size: int, host: int) -> int:
    """A host is not in the heap, whether it was or not. Returns the heap's size."""
    at = wide(node[host]["pos"])
    if at < 0:
        return size
    size -= 1
    if at < size:
        items[at] = items[size]
        _up(items, node, at)
        _down(items, node, size, at)
    node[host]["pos"] = -1
    return size


@kernel
def _ready(queue: Polite, host: int) -> None:
    node, top = queue.node, queue.hosts[host]["top"]
    key, seq = node[top]["key"], wide(node[top]["seq"])
    queue.counts[READY] = _set(queue.ready_items, queue.ready_node, queue.counts[READY], host, key, seq)


@kernel
def _unready(queue: Polite, host: int) -> None:
    queue.counts[READY] = _unset(queue.ready_items, queue.ready_node, queue.counts[READY], host)


@kernel
def _untimed(queue: Polite, host: int) -> None:
    queue.counts[TIMED] = _unset(queue.timer_items, queue.timer_node, queue.counts[TIMED], host)


@kernel
def _place(queue: Polite, host: int) -> None:
    """Put a host where it now belongs."""
    hosts, counts = queue.hosts, queue.counts
    concurrency, budget, ready_at = hosts[host]["concurrency"], hosts[host]["budget"], hosts[host]["ready_at"]
    full = concurrency > 0 and hosts[host]["leased"] >= concurrency
    spent = budget > 0 and hosts[host]["taken"] >= budget
    if hosts[host]["top"] < 0 or full or spent:
        _unready(queue, host)
        _untimed(queue, host)
    elif queue.ready_node[host]["pos"] >= 0 or ready_at == -np.inf:
        _ready(queue, host)
    else:
        counts[TIMED] = _set(queue.timer_items, queue.timer_node, counts[TIMED], host, -ready_at, host)


@kernel
def _hold(queue: Polite, host: int, until: float) -> None:
    """Nothing from this host before that time. The caller places the host."""
    if until > queue.hosts[host]["ready_at"]:
        queue.hosts[host]["ready_at"] = until
        _unready(queue, host)


@kernel
def _wake(queue: Polite, now: float) -> None:
    """Hosts whose time has come are ready."""
    while queue.counts[TIMED] > 0 and queue.hosts[queue.timer_items[0]]["ready_at"] <= now:
        host = wide(queue.timer_items[0])
        _untimed(queue, host)
        _ready(queue, host)


# What happens to a page


@kernel
def _has_priority(queue: Polite, page: int) -> bool:
    away: float = abs(queue.node[page]["key"])
    return BEYOND <= away < np.inf


@kernel
def _discover(queue: Polite, page: int, key: float) -> None:
    if not _has_priority(queue, page):
        queue.node[page]["key"] = key
    queue.node[page]["seq"] = queue.counts[KNOWN]
    queue.counts[KNOWN] += 1


@kernel
def _wait(queue: Polite, page: int) -> None:
    node, hosts, host = queue.node, queue.hosts, wide(queue.host[page])
    node[page]["child"] = -1
    queue.mark[page] = WAITING
    queue.counts[WAIT] += 1
    hosts[host]["waiting"] += 1
    hosts[host]["top"] = with_page(node, wide(hosts[host]["top"]), page)
    if hosts[host]["top"] == page:
        _place(queue, host)


@kernel
def _unlease(queue: Polite, page: int, mark: int) -> None:
    host = wide(queue.host[page])
    queue.mark[page] = mark
    queue.counts[OUT] -= 1
    queue.hosts[host]["leased"] -= 1
    if mark != GONE:
        queue.hosts[host]["taken"] -= 1
    _place(queue, host)


@kernel
def put(queue: Polite, page: int, key: float) -> None:
    """Discover a page or change its key. One that is out keeps the key for its return; one that is gone stays so."""
    if queue.mark[page] == ABSENT:
        _discover(queue, page, key)
        _wait(queue, page)
    elif not _has_priority(queue, page):
        _change(queue, page, key)


@kernel
def prioritise(queue: Polite, page: int, key: float) -> None:
    """From now on this page goes by a key of ``key_of``, whatever an ordering says of it; one not yet put, once it is.

    Priority 0 gives it back to the ordering, with key 0 until the next put.
    """
    if queue.mark[page] == ABSENT:
        queue.node[page]["key"] = key
    else:
        _change(queue, page, key)


@kernel
def _change(queue: Polite, page: int, key: float) -> None:
    node, mark = queue.node, queue.mark[page]
    old = node[page]["key"]
    if mark == GONE or key == old:
        return
    if mark != WAITING:
        node[page]["key"] = key
        return
    host = wide(queue.host[page])
    top = wide(queue.hosts[host]["top"])
    if key > old:
        node[page]["key"] = key
        if page != top:
            cut(node, page)
            queue.hosts[host]["top"] = joined(node, top, page)
    else:
        rest = without(node, top, page)
        node[page]["key"] = key
        queue.hosts[host]["top"] = with_page(node, rest, page)
    if page == top or page == queue.hosts[host]["top"]:
        _place(queue, host)


@kernel
def put_last(queue: Polite, page: int) -> None:
    """Discover a page that goes before all known ones: last in, first out. A known page is not moved."""
    if queue.mark[page] == ABSENT:
        _discover(queue, page, float(queue.counts[KNOWN]))
        _wait(queue, page)


@kernel
def put_all(queue: Polite, pages: Array, keys: Array) -> None:
    for j in range(pages.size):
        put(queue, wide(pages[j]), keys[j])


@kernel
def take(queue: Polite, page: int, now: float) -> None:
    """Lease this page, out of turn and whatever politeness says. Nothing happens to one that is leased or gone."""
    node, hosts, host, mark = queue.node, queue.hosts, wide(queue.host[page]), queue.mark[page]
    if mark in (LEASED, GONE):
        return
    if mark == ABSENT:
        _discover(queue, page, 0.0)
    elif mark == WAITING:
        queue.counts[WAIT] -= 1
        hosts[host]["waiting"] -= 1
        hosts[host]["top"] = without(node, wide(hosts[host]["top"]), page)
    queue.mark[page] = LEASED
    queue.counts[OUT] += 1
    hosts[host]["leased"] += 1
    hosts[host]["taken"] += 1
    if hosts[host]["delay"] > 0:
        _hold(queue, host, now + hosts[host]["delay"])
    _place(queue, host)


@kernel
def pop(queue: Polite, now: float) -> int:
    """Lease the best waiting page of a host that may be asked now; -1 if there is none."""
    counts = queue.counts
    if counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]:
        return -1
    _wake(queue, now)
    if counts[READY] == 0:
        return -1
    page = wide(queue.hosts[queue.ready_items[0]]["top"])
    take(queue, page, now)
    return page


@kernel
def settle(queue: Polite, page: int) -> None:
    """A page is done with. One that was not leased is dropped: its host neither rests for it nor spends budget on it."""
    hosts, host, mark = queue.hosts, wide(queue.host[page]), queue.mark[page]
    if mark == LEASED:
        _unlease(queue, page, GONE)
    elif mark == LATER:
        queue.mark[page] = GONE
    elif mark == WAITING:
        queue.mark[page] = GONE
        queue.counts[WAIT] -= 1
        hosts[host]["waiting"] -= 1
        top = wide(hosts[host]["top"])
        hosts[host]["top"] = without(queue.node, top, page)
        if page == top:
            _place(queue, host)


@kernel
def later(queue: Polite, page: int) -> None:
    """A leased page will be tried again, at a time that is kept elsewhere."""
    if queue.mark[page] == LEASED:
        _unlease(queue, page, LATER)


@kernel
def back(queue: Polite, page: int) -> None:
    """A page waits again, where it stood: its lease ran out, or the time of its retry has come."""
    later(queue, page)
    if queue.mark[page] == LATER:
        _wait(queue, page)


# What a host bears


@kernel
def limit(queue: Polite, host: int, delay: float, concurrency: int, budget: int) -> None:
    """Set a host's politeness; a negative value leaves one as it is."""
    if delay >= 0:
        queue.hosts[host]["delay"] = delay
    if concurrency >= 0:
        queue.hosts[host]["concurrency"] = concurrency
    if budget >= 0:
        queue.hosts[host]["budget"] = budget
    _place(queue, host)


@kernel
def place_all(queue: Polite, hosts: int) -> None:
    """Put all hosts where they now belong."""
    for host in range(hosts):
        _place(queue, host)


@kernel
def block(queue: Polite, host: int, until: float) -> None:
    """Nothing from this host before that time."""
    _hold(queue, host, until)
    _place(queue, host)


@kernel
def next_at(queue: Polite) -> float:
    """When a page may next go: -inf is now, +inf is never by time alone."""
    counts = queue.counts
    if counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]:
        return np.inf
    if counts[READY] > 0:
        return -np.inf
    if counts[TIMED] > 0:
        at: float = queue.hosts[queue.timer_items[0]]["ready_at"]
        return at
    return np.inf


@kernel
def put_first(queue: Polite, page: int, key: float) -> None:
    """First discovered, first fetched: keys are ignored."""
    put(queue, page, 0.0)


@kernel
def put_newest(queue: Polite, page: int, key: float) -> None:
    """Last discovered, first fetched."""
    put_last(queue, page)


PUTS: dict[str, Kernel] = {"heap": put, "fifo": put_first, "lifo": put_newest}
