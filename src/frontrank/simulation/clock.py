"""A simulated crawl with a clock: requests in flight, the time each takes, and the politeness of a live crawl.

It shows what politeness costs an ordering. With one request in flight and no politeness the order is that of the plain
simulation; more in flight means deciding before the last answers have come, and a delay means that the best page may have to
wait for its host.

The frontier is that of the live crawl (``frontiers.polite``). Every request takes ``latency_s``, so requests end in the order
in which they began. O(log n) for each page and link, as live.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers import polite
from frontrank.frontiers.pace import parse_pace
from frontrank.frontiers.polite import PUTS, Polite, next_at, pop, settle
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array, kernel
from frontrank.orderings.policy import Out, Policy, State, done, on_fetch, put
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.web.links import Links
from frontrank.web.web import Web

NEVER = np.inf


class Flight(NamedTuple):
    """Requests in flight, as a ring, and the time."""

    page: Array
    due: Array
    ring: Array  # [the first, how many]
    clock: Array  # [now]


@kernel
def _send(queue: Polite, flight: Flight, latency_s: float) -> None:
    """Begin requests while there is room, and pages that may be fetched now."""
    now = flight.clock[0]
    while flight.ring[1] < flight.page.size:
        page = pop(queue, now)
        if page < 0:
            break
        at = (flight.ring[0] + flight.ring[1]) % flight.page.size
        flight.page[at] = page
        flight.due[at] = now + latency_s
        flight.ring[1] += 1


@kernel
def _end_first(flight: Flight) -> int:
    """Wait until the first request ends; returns its page."""
    first = flight.ring[0]
    flight.clock[0] = flight.due[first]
    flight.ring[0] = (first + 1) % flight.page.size
    flight.ring[1] -= 1
    return flight.page[first]  # type: ignore[no-any-return]


@kernel
def drive_by_clock(
    state: State,
    queue: Polite,
    links: Links,
    order: Array,
    times: Array,
    begin: int,
    end: int,
    flight: Flight,
    latency_s: float,
    pause: Array,
    out: Out,
) -> int:
    """Fetch from place begin to place end of the order.

    With pause[0] = 1 it returns before a page is settled, so that the caller can look at it; with 2 it settles that page first.
    """
    k = begin
    while k < end:
        _send(queue, flight, latency_s)
        ready = next_at(queue) if flight.ring[1] < flight.page.size else NEVER
        if flight.ring[1] == 0:
            if ready == NEVER:
                break
            flight.clock[0] = max(flight.clock[0], ready)
            continue
        if flight.clock[0] < ready < flight.due[flight.ring[0]]:
            flight.clock[0] = ready
            continue
        if pause[0] == 1:
            return k
        pause[0] = min(pause[0], 1)
        page = _end_first(flight)
        order[k] = page
        times[k] = flight.clock[0]
        k += 1
        settle(queue, page)
        state.fetched[page] = 1
        count = on_fetch(state, links, page, out)
        for j in range(count):
            put(queue, out.page[j], out.key[j])
        if done(state):
            break
    return k


class ClockedDriver(GraphDriver):
    """A policy at work on a known web, at the pace that politeness allows."""

    def __init__(self, policy: Policy, web: Web, politeness: Politeness, latency_s: float, jit: bool = True) -> None:
        super().__init__(policy, web, jit)
        if web.hosts is None and (politeness.delay_s or politeness.per_host or politeness.host_budget):
            raise InputError(f"{web.name} has no hosts, so limits per host mean nothing; drop them")
        self.put = PUTS[policy.queue]
        self.discovered, self.put_all = polite.discovered, polite.put_all
        hosts = 1 if web.hosts is None else int(web.hosts.max()) + 1
        self.queue = polite.new(
            web.pages, hosts, politeness.delay_s, politeness.per_host, politeness.in_flight, politeness.host_budget
        )
        self.queue = polite.kept_anew(self.queue, *parse_pace(politeness.pace))
        if web.hosts is not None:
            self.queue.host[:] = web.hosts
        room = min(politeness.in_flight or web.pages, web.pages)
        self.latency_s = latency_s
        self.flight = Flight(np.zeros(room, np.int32), np.zeros(room), np.zeros(2, np.int64), np.zeros(1))
        self.times = np.empty(0)
        self.pause = np.array([int(policy.stepwise())])

    def drive(self, order: Array, begin: int, end: int) -> int:
        if len(self.times) < len(order):
            self.times = np.concatenate([self.times, np.zeros(len(order) - len(self.times))])
        kernels = self.policy.kernels()
        driver = self._link(drive_by_clock, put=self.put, on_fetch=kernels["on_fetch"], done=kernels["done"])
        flight, k = self.flight, begin
        while True:
            crawl = (self.state, self.queue, self.links, order, self.times)
            k = int(driver(*crawl, k, end, flight, self.latency_s, self.pause, self.out))
            if self.pause[0] == 0 or k >= end or flight.ring[1] == 0 or self.done():
                return k
            self.look(int(flight.page[flight.ring[0]]))
            self.pause[0] = 2
