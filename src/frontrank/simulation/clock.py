"""A simulated crawl with a clock: requests in flight, the time each takes, and the politeness of a live crawl.

It shows what politeness costs an ordering. With one request in flight and no politeness the order is that of the plain
simulation; more in flight means deciding before the last answers have come, and a delay means that the best page may have to
wait for its host.

The frontier is that of the live crawl (``frontiers.polite``). Every request takes ``latency_s``; so requests end in the
order in which they began, and a ring holds them. O(log n) for each page and link, as live.
"""

from __future__ import annotations

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers import polite
from frontrank.frontiers.polite import PUTS, Polite, next_at, pop, settle
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array, kernel
from frontrank.orderings.policy import Out, Policy, State, done, on_fetch, put
from frontrank.simulation.engine import Engine
from frontrank.web.links import Links
from frontrank.web.web import Web

NEVER = np.inf


@kernel
def drive_by_clock(
    state: State,
    queue: Polite,
    links: Links,
    order: Array,
    times: Array,
    begin: int,
    end: int,
    page_out: Array,
    due: Array,
    ring: Array,
    clock: Array,
    latency_s: float,
    hold: Array,
    out: Out,
) -> int:
    """Fetch from place begin to place end of the order. ring is [first out, how many are out], clock is [now].

    With hold[0] = 1 it returns before each page is settled, which has then to be looked at; with 2 it settles that one first.
    """
    room = page_out.size
    k = begin
    while k < end:
        now = clock[0]
        while ring[1] < room:
            page = pop(queue, now)
            if page < 0:
                break
            at = (ring[0] + ring[1]) % room
            page_out[at] = page
            due[at] = now + latency_s
            ring[1] += 1
        ready = next_at(queue) if ring[1] < room else NEVER
        if ring[1] == 0:
            if ready == NEVER:
                break
            clock[0] = max(now, ready)
            continue
        if now < ready < due[ring[0]]:
            clock[0] = ready
            continue
        if hold[0] == 1:
            return k
        if hold[0] == 2:
            hold[0] = 1
        page = page_out[ring[0]]
        clock[0] = due[ring[0]]
        ring[0] = (ring[0] + 1) % room
        ring[1] -= 1
        order[k] = page
        times[k] = clock[0]
        k += 1
        settle(queue, page)
        state.fetched[page] = 1
        count = on_fetch(state, links, page, out)
        for j in range(count):
            put(queue, out.page[j], out.key[j])
        if done(state):
            break
    return k


class ClockedEngine(Engine):
    """A policy at work on a known web, at the pace that politeness allow."""

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
        if web.hosts is not None:
            self.queue.host[:] = web.hosts
        room = min(politeness.in_flight or web.pages, web.pages)
        self.latency_s = latency_s
        self.flight = (np.zeros(room, np.int32), np.zeros(room), np.zeros(2, np.int64), np.zeros(1))
        self.times = np.empty(0)
        self.hold = np.array([int(policy.stepwise())])

    def drive(self, order: Array, begin: int, end: int) -> int:
        if len(self.times) < len(order):
            self.times = np.concatenate([self.times, np.zeros(len(order) - len(self.times))])
        kernels = self.policy.kernels()
        driver = self._link(drive_by_clock, put=self.put, on_fetch=kernels["on_fetch"], done=kernels["done"])
        pages, _, ring, _ = self.flight
        k = begin
        while True:
            k = int(
                driver(
                    *(self.state, self.queue, self.links, order, self.times, k, end),
                    *(*self.flight, self.latency_s, self.hold, self.out),
                )
            )
            if self.hold[0] == 0 or k >= end or ring[1] == 0 or self.done():
                return k
            self.look(int(pages[ring[0]]))
            self.hold[0] = 2
