"""A frontier as its contract says it, and nothing more: every fact is searched for when it is asked."""

from __future__ import annotations

import math

import numpy as np

from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, HOSTS, LATER, LEASED, WAITING, Counts, key_of
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array


class NaiveFrontier:
    def __init__(self, politeness: Politeness) -> None:
        self.politeness = politeness
        self.host_of: dict[int, int] = {}
        self.at: dict[int, int] = {}  # the mark of each page
        self.key_of_page: dict[int, float] = {}
        self.priorities: dict[int, int] = {}
        self.number: dict[int, int] = {}
        self.due: dict[int, float] = {}
        self.returning: dict[int, float] = {}
        self.room = 0
        self.limits: list[dict[str, float]] = []
        self.ready_at: list[float] = []
        self.blocked_until: list[float] = []

    @property
    def known_hosts(self) -> int:
        return len(self.limits)

    def grow(self, pages: int, hosts: int) -> None:
        p = self.politeness
        self.room = max(self.room, pages)
        for _ in range(len(self.limits), hosts):
            self.limits.append({"delay_s": p.delay_s, "concurrency": p.per_host, "budget": p.host_budget, "limit": 0})
            self.blocked_until.append(-math.inf)
            self.ready_at.append(-math.inf)

    def place(self, first: int, hosts: Array) -> None:
        self.host_of |= dict(enumerate(hosts.tolist(), first))

    @property
    def counts(self) -> Counts:
        marks = list(self.at.values())
        return Counts(len(self.number), marks.count(WAITING) + marks.count(LATER), marks.count(LEASED), marks.count(LATER))

    def put(self, page: int, key: float) -> None:
        if self.mark(page) in (ABSENT, FORGOTTEN):
            self.number.setdefault(page, len(self.number))
            self.at[page] = WAITING
        self.key_of_page[page] = key

    def put_all(self, pages: Array, keys: Array) -> None:
        for page, key in zip(pages.tolist(), keys.tolist(), strict=True):
            self.put(page, key)

    def prioritise(self, page: int, priority: int) -> None:
        self.priorities[page] = priority

    def _rank(self, page: int) -> tuple[int, float, int]:
        priority = self.priorities.get(page, 0)  # among equals of these, too, who was put first
        return (-priority, 0.0 if priority else -self.key_of_page[page], self.number[page])

    def _having(self, *marks: int, host: int | None = None) -> list[int]:
        return [p for p, mark in self.at.items() if mark in marks and host in (None, self.host_of[p])]

    def _open(self, host: int) -> bool:
        limits = self.limits[host]
        full = 0 < limits["concurrency"] <= len(self._having(LEASED, host=host))
        spent = 0 < limits["budget"] <= len(self._having(LEASED, GONE, host=host))
        return not full and not spent and not 0 < limits["limit"] <= len(self._having(GONE, host=host))

    def _free(self, now: float, hosts: list[int]) -> list[int]:
        """Waiting pages of these hosts that may go, best first."""
        if 0 < self.politeness.in_flight <= len(self._having(LEASED)):
            return []
        hosts = [h for h in hosts if max(self.ready_at[h], self.blocked_until[h]) <= now and self._open(h)]
        return sorted((p for p in self._having(WAITING) if self.host_of[p] in hosts), key=self._rank)

    def release(self, now: float, apart: Array | None = None) -> None:
        for page in sorted((p for p, at in self.due.items() if at <= now), key=lambda p: (self.due[p], p)):
            if apart is not None and apart[page]:
                self.returning[page] = self.due.pop(page)
            else:
                self._unwait(page)
                self.at[page] = WAITING
        if apart is None:
            for page in list(self.returning):
                self._unwait(page)
                self.at[page] = WAITING

    def _unwait(self, page: int) -> None:
        """It waits for no time."""
        self.due.pop(page, None)
        self.returning.pop(page, None)

    def take_returning(self, now: float) -> int:
        free = [page for page in self.returning if self.may_go(self.host_of[page], now)]
        page = min(free, key=lambda p: (self.returning[p], p), default=-1)
        if page >= 0:
            self.lease(page, now)
        return page

    def take_returning_queue(self, now: float, each: int = 0, host: int = -1) -> list[int]:
        def asks(one: int) -> bool:
            return self.may_go(one, now) and not 0 < each <= len(self._having(LEASED, host=one))

        oldest = sorted(self.returning, key=lambda p: (self.returning[p], p))
        chosen = host if host >= 0 else next((self.host_of[p] for p in oldest if asks(self.host_of[p])), -1)
        taken: list[int] = []
        if chosen < 0 or not asks(chosen):
            return taken
        rest = self.ready_at[chosen]
        for page in [p for p in oldest if self.host_of[p] == chosen][: each or None]:
            self.ready_at[chosen] = rest  # one request: it rests after all of them
            if not self.may_go(chosen, now):
                break
            self.lease(page, now)
            taken.append(page)
        if taken and (delay := self.limits[chosen]["delay_s"]):
            self.ready_at[chosen] = max(rest, now + delay)
        return taken

    def take(self, n: int, now: float) -> list[int]:
        self.release(now)
        return self.pop(now, n)

    def pop(self, now: float, n: int = 1) -> list[int]:
        taken: list[int] = []
        while len(taken) < n and (free := self._free(now, list(range(len(self.limits))))):
            taken.append(free[0])
            self.lease(taken[-1], now)
        return taken

    def pop_prioritised(self, now: float, priority: int, n: int = 1) -> list[int]:
        taken: list[int] = []
        while len(taken) < n and (free := self._free(now, list(range(len(self.limits))))):
            if self.priorities.get(free[0], 0) < priority:
                break
            taken.append(free[0])
            self.lease(taken[-1], now)
        return taken

    def take_queues(self, now: float, max_hosts: int = 0, each: int = 0, host: int = -1) -> list[int]:
        self.release(now)
        return self.pop_queues(now, max_hosts, each, host)

    def pop_queues(self, now: float, max_hosts: int = 0, each: int = 0, host: int = -1) -> list[int]:
        hosts = [h for h in range(len(self.limits)) if host in (-1, h)]
        hosts = [h for h in hosts if not 0 < each <= len(self._having(LEASED, host=h))]
        taken: list[int] = []
        visited = 0
        while not 0 < max_hosts <= visited and (free := self._free(now, hosts)):
            first = self.host_of[free[0]]
            rest, count = self.ready_at[first], 0
            while (each == 0 or count < each) and (free := self._free(now, [first])):
                taken.append(free[0])
                self.lease(free[0], now)
                held, self.ready_at[first] = self.ready_at[first], rest  # one request: it rests after all of them
                count += 1
            self.ready_at[first] = held
            hosts.remove(first)
            visited += 1
        return taken

    def lease(self, page: int, now: float) -> None:
        if self.mark(page) not in (LEASED, GONE, FORGOTTEN):
            self._unwait(page)
            if page not in self.number:
                self.put(page, 0.0)
            self.at[page] = LEASED
            host = self.host_of[page]
            if delay := self.limits[host]["delay_s"]:
                self.ready_at[host] = max(self.ready_at[host], now + delay)

    def settle(self, page: int) -> None:
        self._unwait(page)
        if page not in self.number:
            self.put(page, 0.0)
        self.at[page] = GONE

    def later(self, page: int, until: float) -> None:
        self._unwait(page)
        self.at[page], self.due[page] = LATER, until

    def schedule(self, page: int, until: float, key: float) -> None:
        if self.mark(page) in (ABSENT, FORGOTTEN):
            self.put(page, key)
        self.later(page, until)

    def forget(self, page: int) -> None:
        self._unwait(page)
        if self.mark(page) != ABSENT:
            self.at[page] = FORGOTTEN

    def back(self, page: int) -> None:
        self._unwait(page)
        if self.mark(page) in (LEASED, LATER):
            self.at[page] = WAITING

    def limit(self, host: int, **limits: float) -> None:
        self.limits[host] |= limits

    def delays(self, hosts: Array) -> list[float]:
        return [self.limits[host]["delay_s"] for host in hosts.tolist()]

    def rest(self, host: int, until: float) -> None:
        self.ready_at[host] = until

    def block(self, host: int, until: float) -> None:
        self.blocked_until[host] = until

    def join(self, host: int, group: int, asked: bool = True) -> None:
        mine, theirs = self.limits[host], self.limits[group]
        theirs["delay_s"] = max(mine["delay_s"], theirs["delay_s"])
        for name in ("concurrency", "budget", "limit"):
            theirs[name] = min((value for value in (mine[name], theirs[name]) if value), default=0)
        self.blocked_until[group] = max(self.blocked_until[group], self.blocked_until[host])
        if asked:
            self.ready_at[group] = max(self.ready_at[group], self.ready_at[host])
        self.host_of = {page: group if at == host else at for page, at in self.host_of.items()}

    def may_go(self, host: int, now: float) -> bool:
        full = 0 < self.politeness.in_flight <= len(self._having(LEASED))
        return not full and max(self.ready_at[host], self.blocked_until[host]) <= now and self._open(host)

    def behave(self, before: Politeness, after: Politeness) -> None:
        for name, old, new in (("delay_s", before.delay_s, after.delay_s), ("concurrency", before.per_host, after.per_host)):
            for limits in self.limits:
                limits[name] = new if limits[name] == old else limits[name]
        self.politeness = after

    def next_at(self) -> float:
        if 0 < self.politeness.in_flight <= len(self._having(LEASED)):
            return math.inf
        open_hosts = [h for h in {self.host_of[p] for p in self._having(WAITING)} if self._open(h)]
        times = [max(self.ready_at[h], self.blocked_until[h]) for h in open_hosts]
        hosts = [self.host_of[page] for page in self.returning]
        apart = [max(self.ready_at[h], self.blocked_until[h]) for h in hosts]
        return min([*times, *self.due.values(), *apart], default=math.inf)

    def due_at(self, page: int) -> float:
        return self.due.get(page, self.returning.get(page, math.inf))

    def mark(self, page: int) -> int:
        return self.at.get(page, ABSENT)

    def marks(self, pages: Array | slice) -> Array:
        some = range(*pages.indices(len(self.host_of))) if isinstance(pages, slice) else pages.tolist()
        return np.array([self.mark(page) for page in some], np.uint8)

    def hosts_of(self, pages: Array | slice) -> Array:
        some = range(*pages.indices(len(self.host_of))) if isinstance(pages, slice) else pages.tolist()
        return np.array([self.host_of[page] for page in some], np.int32)

    def blocked(self, host: int) -> float:
        return self.blocked_until[host]

    def key(self, page: int) -> float:
        return key_of(self.priorities.get(page, 0)) or self.key_of_page[page]

    def own_key(self, page: int) -> float:
        return self.key_of_page[page]

    def keys(self, pages: Array) -> Array:
        return np.array([self.key(page) for page in pages.tolist()])

    def discovered(self) -> Array:
        return np.array(sorted(self.number, key=self.number.__getitem__), np.int32)

    def numbers(self) -> Array:
        made = np.zeros(self.room, np.int32)
        made[list(self.number)] = list(self.number.values())
        return made

    def best(self, n: int) -> Array:
        return np.array(sorted(self._having(WAITING), key=self._rank)[:n], np.int32)

    def hosts(self, host: int | None = None) -> Array:
        made = np.zeros(len(self.limits), HOSTS)
        for name, mark in (("waiting", WAITING), ("leased", LEASED), ("later", LATER), ("done", GONE)):
            made[name] = [len(self._having(mark, host=h)) for h in range(len(self.limits))]
        for name, limit in (("delay", "delay_s"), *((name, name) for name in ("concurrency", "budget", "limit"))):
            made[name] = [limits[limit] for limits in self.limits]
        made["ready_at"], made["blocked"] = self.ready_at, self.blocked_until
        made["taken"] = made["leased"] + made["done"]
        return made if host is None else made[host : host + 1]

    def arrays(self) -> dict[str, Array]:
        """A frontier this plain is stored as it is written down."""
        kept = {name: value for name, value in vars(self).items() if name != "politeness"}
        return {"kept": np.frombuffer(repr(kept).encode(), np.uint8)}

    def restore(self, arrays: dict[str, Array]) -> None:
        vars(self).update(eval(arrays["kept"].tobytes(), {"inf": math.inf}))
