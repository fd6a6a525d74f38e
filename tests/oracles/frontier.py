"""A frontier as its contract says it, and nothing more: every fact is searched for when it is asked."""

from __future__ import annotations

import math

import numpy as np

from frontrank.frontiers.frontier import ABSENT, GONE, HOSTS, LATER, LEASED, WAITING, Counts
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array


class NaiveFrontier:
    def __init__(self, politeness: Politeness) -> None:
        self.politeness = politeness
        self.host_of: dict[int, int] = {}
        self.marks: dict[int, int] = {}
        self.keys: dict[int, float] = {}
        self.priorities: dict[int, int] = {}
        self.number: dict[int, int] = {}
        self.due: dict[int, float] = {}
        self.limits: list[dict[str, float]] = []
        self.ready_at: list[float] = []

    def grow(self, pages: int, hosts: int) -> None:
        p = self.politeness
        for _ in range(len(self.limits), hosts):
            self.limits.append({"delay_s": p.delay_s, "concurrency": p.per_host, "budget": p.host_budget})
            self.ready_at.append(-math.inf)

    def place(self, first: int, hosts: Array) -> None:
        self.host_of |= dict(enumerate(hosts.tolist(), first))

    @property
    def counts(self) -> Counts:
        marks = list(self.marks.values())
        return Counts(len(self.number), marks.count(WAITING) + marks.count(LATER), marks.count(LEASED))

    def put(self, page: int, key: float) -> None:
        if self.mark(page) == ABSENT:
            self.number[page], self.marks[page] = len(self.number), WAITING
        self.keys[page] = key

    def put_all(self, pages: Array, keys: Array) -> None:
        for page, key in zip(pages.tolist(), keys.tolist(), strict=True):
            self.put(page, key)

    def prioritise(self, page: int, priority: int) -> None:
        self.priorities[page] = priority

    def _rank(self, page: int) -> tuple[int, float, int]:
        return (-self.priorities.get(page, 0), -self.keys[page], self.number[page])

    def _having(self, *marks: int, host: int | None = None) -> list[int]:
        return [p for p, mark in self.marks.items() if mark in marks and host in (None, self.host_of[p])]

    def _open(self, host: int) -> bool:
        limits = self.limits[host]
        full = 0 < limits["concurrency"] <= len(self._having(LEASED, host=host))
        return not full and not 0 < limits["budget"] <= len(self._having(LEASED, GONE, host=host))

    def take(self, n: int, now: float) -> list[int]:
        for page in [p for p, at in self.due.items() if at <= now and self.marks[p] == LATER]:
            del self.due[page]
            self.marks[page] = WAITING
        taken: list[int] = []
        while len(taken) < n and not 0 < self.politeness.in_flight <= len(self._having(LEASED)):
            hosts = [h for h in range(len(self.limits)) if self.ready_at[h] <= now and self._open(h)]
            free = [p for p in self._having(WAITING) if self.host_of[p] in hosts]
            if not free:
                break
            taken.append(min(free, key=self._rank))
            self.lease(taken[-1], now)
        return taken

    def lease(self, page: int, now: float) -> None:
        if self.mark(page) not in (LEASED, GONE):
            self.marks[page] = LEASED
            if delay := self.limits[self.host_of[page]]["delay_s"]:
                self.block(self.host_of[page], now + delay)

    def settle(self, page: int) -> None:
        self.marks[page] = GONE

    def later(self, page: int, until: float) -> None:
        self.marks[page], self.due[page] = LATER, until

    def back(self, page: int) -> None:
        if self.mark(page) in (LEASED, LATER):
            self.marks[page] = WAITING

    def limit(self, host: int, **limits: float) -> None:
        self.limits[host] |= limits

    def block(self, host: int, until: float) -> None:
        self.ready_at[host] = max(self.ready_at[host], until)

    def behave(self, before: Politeness, after: Politeness) -> None:
        for name, old, new in (("delay_s", before.delay_s, after.delay_s), ("concurrency", before.per_host, after.per_host)):
            for limits in self.limits:
                limits[name] = new if limits[name] == old else limits[name]
        self.politeness = after

    def next_at(self) -> float:
        if 0 < self.politeness.in_flight <= len(self._having(LEASED)):
            return math.inf
        times = [self.ready_at[self.host_of[p]] for p in self._having(WAITING) if self._open(self.host_of[p])]
        return min([*times, *(self.due[p] for p in self._having(LATER))], default=math.inf)

    def mark(self, page: int) -> int:
        return self.marks.get(page, ABSENT)

    def key(self, page: int) -> float:
        return self.keys[page]

    def best(self, n: int) -> Array:
        return np.array(sorted(self._having(WAITING), key=self._rank)[:n], np.int32)

    def hosts(self) -> Array:
        return np.zeros(len(self.limits), HOSTS)
