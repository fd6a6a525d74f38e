"""The frontier of a live crawl as an object: the arrays and kernels of ``polite``, and which pages wait for which time.

``queue`` is for the kernels of the crawl, which run several of these steps in one call. It is replaced when it grows: whoever
reads it does so after everything that may make it grow.
"""

from __future__ import annotations

import numpy as np

from frontrank.frontiers import polite
from frontrank.frontiers.due import Due
from frontrank.frontiers.frontier import BEYOND, HOSTS, LEASED, Counts, key_of
from frontrank.frontiers.pace import parse_pace
from frontrank.frontiers.politeness import FREE, Politeness
from frontrank.kernels.jit import Array, Direct, by_size, lazy

MAX_PASSED = 50  # revisits whose hosts may not be asked, looked at in one call
MAX_TAKEN = 100_000  # pages leased in one call, if nobody names a number


class PoliteFrontier:
    def __init__(self, politeness: Politeness = FREE) -> None:
        p = politeness
        self.queue = polite.new(16, 1, p.delay_s, p.per_host, p.in_flight, p.host_budget)
        self.queue = polite.kept_anew(self.queue, *parse_pace(p.pace))
        self.known_hosts = 0
        self.due = Due()
        self.returning = Due()  # revisits whose time has come, if they are taken apart from the rest
        self._put, self._pop, self._pop_some = Direct(polite.put), Direct(polite.pop), Direct(polite.pop_some)
        self._lease, self._settle = Direct(polite.take), Direct(polite.settle)
        self._later, self._back, self._forget = Direct(polite.later), Direct(polite.back), Direct(polite.forget)
        self._next_at = Direct(polite.next_at)

    @property
    def counts(self) -> Counts:
        counts, later = self.queue.counts, len(self.due) + len(self.returning)
        return Counts(int(counts[polite.KNOWN]), int(counts[polite.WAIT]) + later, int(counts[polite.OUT]), later)

    def grow(self, pages: int, hosts: int) -> None:
        if pages > self.queue.node.size or hosts > self.queue.hosts.size:
            self.queue = polite.grown(self.queue, pages, hosts)
        self.known_hosts = max(self.known_hosts, hosts)

    def place(self, first: int, hosts: Array) -> None:
        self.queue.host[first : first + len(hosts)] = hosts

    def put(self, page: int, key: float) -> None:
        self._put.call(self.queue, page, float(key))

    def put_all(self, pages: Array, keys: Array) -> None:
        by_size(polite.put_all, len(pages))(self.queue, pages, keys)

    def prioritise(self, page: int, priority: int) -> None:
        self.queue = polite.with_own_keys(self.queue)
        lazy(polite.prioritise).call(self.queue, page, key_of(priority))

    def take(self, n: int, now: float) -> list[int]:
        self.release(now)
        return self.pop(now, n)

    def pop(self, now: float, n: int = 1) -> list[int]:
        """The same, but for pages whose time has come since the last call."""
        if n == 1:
            page = self._pop.call(self.queue, float(now))
            return [page] if page >= 0 else []
        pages = np.empty(min(n, int(self.queue.counts[polite.WAIT])), np.int32)
        taken: list[int] = pages[: self._pop_some.call(self.queue, float(now), pages)].tolist()
        return taken

    def pop_prioritised(self, now: float, priority: int, n: int = 1) -> list[int]:
        """The same, but only pages with at least this priority."""
        pages = np.empty(min(n, int(self.queue.counts[polite.WAIT])), np.int32)
        taken: list[int] = pages[: lazy(polite.pop_above).call(self.queue, now, key_of(priority), pages)].tolist()
        return taken

    def take_queues(self, now: float, max_hosts: int = 0, each: int = 0, host: int = -1) -> list[int]:
        self.release(now)
        return self.pop_queues(now, max_hosts, each, host)

    def pop_queues(self, now: float, max_hosts: int = 0, each: int = 0, host: int = -1) -> list[int]:
        """The same, but for pages whose time has come since the last call."""
        counts = self.queue.counts
        room = min(int(counts[polite.WAIT]), MAX_TAKEN, *([max_hosts * each] if max_hosts and each else []))
        pages = np.empty(room, np.int32)
        if host >= 0:
            count = lazy(polite.take_queue).call(self.queue, host, now, each, pages)
        else:
            visited = np.empty(self.known_hosts, np.int32)
            count = lazy(polite.take_queues).call(self.queue, now, max_hosts, each, pages, visited)
        taken: list[int] = pages[:count].tolist()
        return taken

    def release(self, now: float, apart: Array | None = None) -> None:
        """Pages whose time has come wait for their turn; those that ``apart`` marks, for ``take_returning``."""
        while (at := self.due.first()) <= now:
            page = self.due.pop()
            if apart is not None and apart[page]:
                self.returning.put(page, at)
            else:
                self._back.call(self.queue, page)
        while apart is None and len(self.returning):
            self._back.call(self.queue, self.returning.pop())

    def take_returning(self, now: float) -> int:
        """Lease the revisit that is due for longest among those whose host may be asked; -1 if there is none."""
        passed: list[tuple[int, float]] = []
        found = -1
        while found < 0 and len(self.returning) and len(passed) < MAX_PASSED:
            at, page = self.returning.first(), self.returning.pop()
            if self.may_go(int(self.queue.host[page]), now):
                self._lease.call(self.queue, page, float(now))
                found = page
            else:
                passed.append((page, at))
        for page, at in passed:
            self.returning.put(page, at)
        return found

    def take_returning_queue(self, now: float, each: int = 0, host: int = -1) -> list[int]:
        """Lease up to ``each`` (0: all) revisits of one host that may be asked, or of this one, those due for longest first."""
        if host < 0:
            host = self._host_returning(now, each)
        if host < 0 or not self._asks_for(host, now, each):
            return []
        waiting = self.returning.items[: len(self.returning)]
        mine = sorted(waiting[self.queue.host[waiting] == host].tolist(), key=self.returning.at)
        taken: list[int] = []
        for page in mine[: each or None]:
            if not lazy(polite.bears).call(self.queue, host):
                break
            self.returning.remove(page)
            self._lease.call(self.queue, page, float(now))
            taken.append(page)
        return taken

    def _asks_for(self, host: int, now: float, each: int) -> bool:
        return self.may_go(host, now) and not 0 < each <= int(self.queue.hosts["leased"][host])

    def _host_returning(self, now: float, each: int) -> int:
        """The host of the revisit that is due for longest among those whose host may be asked; -1 if there is none."""
        passed: list[tuple[int, float]] = []
        found = -1
        while found < 0 and len(self.returning) and len(passed) < MAX_PASSED:
            at, page = self.returning.first(), self.returning.pop()
            passed.append((page, at))
            host = int(self.queue.host[page])
            found = host if self._asks_for(host, now, each) else -1
        for page, at in passed:
            self.returning.put(page, at)
        return found

    @property
    def is_timed(self) -> bool:
        """Whether any page waits for a time to come."""
        return len(self.due) > 0 or len(self.returning) > 0

    def undue(self, page: int) -> None:
        """A page waits for no time to come."""
        self.due.remove(page)
        self.returning.remove(page)

    def lease(self, page: int, now: float) -> None:
        if self.queue.mark[page] != LEASED:
            self.undue(page)
            self._lease.call(self.queue, page, float(now))

    def settle(self, page: int) -> None:
        self.undue(page)
        self._settle.call(self.queue, page)

    def later(self, page: int, until: float) -> None:
        self.returning.remove(page)
        self._later.call(self.queue, page)
        self.due.put(page, until)

    def schedule(self, page: int, until: float, key: float) -> None:
        self.returning.remove(page)
        lazy(polite.schedule).call(self.queue, page, key)
        self.due.put(page, until)

    def forget(self, page: int) -> None:
        self.undue(page)
        self._forget.call(self.queue, page)

    def back(self, page: int) -> None:
        self.undue(page)
        self._back.call(self.queue, page)

    def limit(
        self,
        host: int,
        *,
        delay_s: float | None = None,
        concurrency: int | None = None,
        budget: int | None = None,
        limit: int | None = None,
    ) -> None:
        limits = [-1 if value is None else value for value in (concurrency, budget, limit)]
        lazy(polite.limit).call(self.queue, host, -1.0 if delay_s is None else float(delay_s), *limits)

    def delays(self, hosts: Array) -> list[float]:
        found: list[float] = self.queue.hosts["delay"][hosts].tolist()
        return found

    def rest(self, host: int, until: float) -> None:
        """A host may be asked again from that time on, whatever its delay says; a block holds."""
        lazy(polite.rest).call(self.queue, host, until)

    def block(self, host: int, until: float) -> None:
        lazy(polite.block).call(self.queue, host, until)

    def join(self, host: int, group: int, asked: bool = True) -> None:
        by_size(polite.join, self.queue.host.size)(self.queue, host, group, asked)

    def may_go(self, host: int, now: float) -> bool:
        return bool(lazy(polite.may_go).call(self.queue, host, now))

    def behave(self, before: Politeness, after: Politeness) -> None:
        queue, known = self.queue, self.known_hosts
        for name, old, new in (
            ("delay", before.delay_s, after.delay_s),
            ("concurrency", before.per_host, after.per_host),
            ("budget", before.host_budget, after.host_budget),
        ):
            hosts = queue.hosts[name]
            hosts[:known][hosts[:known] == old] = new
            hosts[known:] = new
            queue.politeness[name] = new
        queue.counts[polite.IN_FLIGHT] = after.in_flight
        if before.pace != after.pace:
            self.queue = queue = polite.kept_anew(queue, *parse_pace(after.pace))
        by_size(polite.place_all, known)(queue, known)

    def next_at(self) -> float:
        first = min(float(self._next_at.call(self.queue)), self.due.first())
        some = self.queue.host[self.returning.items[: min(len(self.returning), MAX_PASSED)]]
        free = np.maximum(self.queue.hosts["ready_at"][some], self.queue.hosts["blocked"][some])
        return float(min(first, free.min(initial=np.inf)))

    def mark(self, page: int) -> int:
        return int(self.queue.mark[page])

    def marks(self, pages: Array | slice) -> Array:
        found: Array = self.queue.mark[pages].copy()
        return found

    def hosts_of(self, pages: Array | slice) -> Array:
        found: Array = self.queue.host[pages].copy()
        return found

    def due_at(self, page: int) -> float:
        """The time that a page waits for, or has waited for; infinity if it does not."""
        return min(self.due.at(page), self.returning.at(page))

    def blocked(self, host: int) -> float:
        return float(self.queue.hosts["blocked"][host])

    def key(self, page: int) -> float:
        return float(self.queue.node["key"][page])

    def own_key(self, page: int) -> float:
        key = self.key(page)
        return float(self.queue.own[page]) if BEYOND <= abs(key) < np.inf else key

    def keys(self, pages: Array) -> Array:
        found: Array = self.queue.node["key"][pages]
        return found

    def discovered(self) -> Array:
        return polite.discovered(self.queue)

    def numbers(self) -> Array:
        found: Array = self.queue.node["seq"]
        return found

    def best(self, n: int) -> Array:
        return polite.best(self.queue, n)

    def hosts(self, host: int | None = None) -> Array:
        asked = slice(0, self.known_hosts) if host is None else slice(host, host + 1)
        hosts = np.empty(len(range(self.known_hosts)[asked]), HOSTS)
        for name in HOSTS.names or ():
            hosts[name] = self.queue.hosts[name][asked]
        return hosts

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, Array]:
        return {"known_hosts": np.array([self.known_hosts]), **self._times(), **self.queue._asdict()}

    def _times(self) -> dict[str, Array]:
        """Revisits are due, whoever takes them."""
        due, returning = self.due.arrays(), self.returning.arrays()
        return {name: np.concatenate([due[name], returning[name]]) for name in due}

    def restore(self, arrays: dict[str, Array]) -> None:
        self.known_hosts = int(arrays["known_hosts"][0])
        self.due.restore(arrays)
        self.returning = Due()
        queue = polite.Polite(**{name: arrays[name] for name in polite.Polite._fields})
        self.queue = polite.with_heap(queue) if queue.pace[polite.MODE] else queue
        if queue.pace[polite.MODE]:
            by_size(polite.place_all, self.known_hosts)(self.queue, self.known_hosts)
