"""The arrays of the polite frontier: made, grown, and what can be read off them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.frontiers.frontier import ABSENT
from frontrank.frontiers.heap import NODE
from frontrank.kernels.growing import grown as longer
from frontrank.kernels.jit import Array

PAGE = np.dtype([("key", "f8"), ("seq", "i4"), ("child", "i4"), ("next", "i4"), ("prev", "i4")])
HOST = np.dtype(
    [
        ("top", "i4"),  # its best waiting page, -1 if none waits
        ("waiting", "i4"),
        ("leased", "i4"),
        ("later", "i4"),
        ("done", "i4"),
        ("taken", "i4"),  # leased, or gone after a lease: what counts against the budget
        ("concurrency", "i4"),
        ("budget", "i4"),  # how many may be taken
        ("limit", "i4"),  # how many may be done with
        ("spare", "i4"),  # 64 bytes, one cache line
        ("delay", "f8"),
        ("ready_at", "f8"),  # -inf: never had to wait
        ("blocked", "f8"),  # until when nothing is taken, whatever its delay says; -inf: never was
    ]
)
WAIT, KNOWN, OUT, READY, TIMED, IN_FLIGHT, RESTING = range(7)  # places in counts
MODE, RATE, LEFT, SPAN, END, DUE, GAP, NOW, LAST, OUT_BEFORE, AREA, TAKEN, KNOWN_HOSTS = range(13)  # places in pace (see there)


class Polite(NamedTuple):
    node: Array  # one PAGE record for each page; next and prev are siblings, prev of a first child is the parent
    mark: Array
    host: Array  # of each page; set by the caller before the page is first put
    hosts: Array  # one HOST record for each host
    ready_items: Array
    ready_node: Array  # key and seq of the host's best page
    timer_items: Array
    timer_node: Array  # key is minus the time, as larger is sooner
    counts: Array  # pages waiting, discovered, leased; hosts ready, timed; how many pages may be leased; hosts that rest
    politeness: Array  # one HOST record: what a new host begins with
    own: Array  # the ordering's keys of pages that have a priority; empty until one has
    pace: Array
    resting_items: Array  # hosts that have pages and may not be asked now; empty without a pace
    resting_node: Array


def new(pages: int, hosts: int = 1, delay_s: float = 0.0, concurrency: int = 0, in_flight: int = 0, budget: int = 0) -> Polite:
    """delay_s, concurrency and budget are every host's, until ``limit`` says otherwise; in_flight is for all together."""
    politeness = np.zeros(1, HOST)
    politeness[0] = (-1, 0, 0, 0, 0, 0, concurrency, budget, 0, 0, delay_s, -np.inf, -np.inf)
    counts = np.zeros(7, np.int64)
    counts[IN_FLIGHT] = in_flight
    free = (np.zeros(13), np.zeros(0, np.int32), np.zeros(0, NODE))
    return Polite._make((*_page_arrays(pages), *_host_arrays(hosts, politeness), counts, politeness, np.zeros(0), *free))


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
        own=longer(queue.own, pages) if queue.own.size else queue.own,
        resting_items=longer(queue.resting_items, hosts) if queue.pace[MODE] else queue.resting_items,
        resting_node=longer(queue.resting_node, hosts, beyond) if queue.pace[MODE] else queue.resting_node,
    )


def with_own_keys(queue: Polite) -> Polite:
    """The same frontier with room for the keys of pages that have a priority."""
    return queue if queue.own.size else queue._replace(own=longer(queue.own, queue.node.size))


def waiting(queue: Polite) -> int:
    return int(queue.counts[WAIT])


def discovered(queue: Polite) -> Array:
    """All pages ever put, in the order of their discovery."""
    seen = np.flatnonzero(queue.mark != ABSENT)
    pages = np.empty(seen.size, np.int32)
    pages[queue.node["seq"][seen]] = seen
    return pages
