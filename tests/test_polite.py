"""The frontier of a live crawl against lists that are searched, and against the frontiers of the simulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontrank.frontiers import KINDS, heap, polite
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE, LATER, LEASED, WAITING, key_of
from frontrank.frontiers.polite import Polite
from frontrank.frontiers.polite.upcoming import FEW, best_few
from frontrank.kernels.jit import compiled, interpreted

PAGES, HOSTS = 12, 4
Event = tuple[str, int, float]
Link = Callable[..., Any]
pages = st.integers(0, PAGES - 1)
times = st.sampled_from([0.0, 0.5, 1.0, 3.0])
put = st.tuples(st.just("put"), pages, st.sampled_from([0.0, 1.0, 2.0, -3.0, 1e300]))
pop = st.tuples(st.just("pop"), st.just(0), st.just(0.0))
on_page = st.tuples(st.sampled_from(["put_last", "take", "settle", "back", "later", "forget"]), pages, st.just(0.0))
on_host = st.tuples(st.sampled_from(["limit", "block", "join"]), st.integers(0, HOSTS - 1), times)
schedule = st.tuples(st.just("schedule"), pages, st.sampled_from([0.0, 2.0]))
priority = st.tuples(st.just("prioritise"), pages, st.sampled_from([key_of(value) for value in (-2, -1, 0, 1, 7)]))
passes = st.tuples(st.just("pass"), st.just(0), times)
events = st.lists(st.one_of(put, put, pop, pop, on_page, on_host, schedule, priority, passes), max_size=70)
limits = st.fixed_dictionaries(
    {
        "delay_s": times,
        "concurrency": st.integers(0, 2),
        "in_flight": st.sampled_from([0, 0, 3]),
        "budget": st.sampled_from([0, 0, 2]),
    }
)


def new_politeness(at: float) -> tuple[float, int, int, int]:
    """What a ``limit`` event asks for: told by its one number, so that each of the four is changed or left alone."""
    return {0.0: (2.0, -1, -1, 2), 0.5: (-1.0, 1, 1, -1), 1.0: (0.0, 0, -1, 0), 3.0: (-1.0, 2, 0, 1)}[at]


class Searched:
    """What a polite frontier is, said plainly: all facts are searched for, none is kept."""

    def __init__(self, pages: int, hosts: int, delay_s: float, concurrency: int, in_flight: int, budget: int) -> None:
        self.hosts = hosts
        self.key: dict[int, float] = {}
        self.number: dict[int, int] = {}
        self.priority: dict[int, float] = {}
        self.mark = dict.fromkeys(range(pages), ABSENT)
        self.in_flight = in_flight
        self.delay, self.concurrency = [delay_s] * hosts, [concurrency] * hosts
        self.budget, self.limited = [budget] * hosts, [0] * hosts
        self.ready_at = [-math.inf] * hosts
        self.blocked = [-math.inf] * hosts
        self.place = {page: page % hosts for page in range(pages)}
        self.visits = dict.fromkeys(range(pages), 0)  # how often a page was settled after a lease

    def host(self, page: int) -> int:
        return self.place[page]

    def put(self, page: int, key: float) -> None:
        if self.mark[page] in (ABSENT, FORGOTTEN):
            self.number.setdefault(page, len(self.number))
            self.mark[page] = WAITING
        if self.mark[page] != GONE:
            self.key[page] = key

    def prioritise(self, page: int, key: float) -> None:
        self.priority[page] = key

    def put_last(self, page: int) -> None:
        if self.mark[page] == ABSENT:
            self.put(page, len(self.number))

    def having(self, *marks: int, host: int | None = None) -> list[int]:
        return [page for page, mark in self.mark.items() if mark in marks and host in (None, self.host(page))]

    def bears_more(self, host: int) -> bool:
        crowded = 0 < self.concurrency[host] <= len(self.having(LEASED, host=host))
        spent = 0 < self.budget[host] <= self.taken(host)
        enough = 0 < self.limited[host] <= len(self.having(GONE, host=host))
        return not crowded and not spent and not enough

    def taken(self, host: int) -> int:
        return len(self.having(LEASED, host=host)) + sum(n for page, n in self.visits.items() if self.host(page) == host)

    def free_at(self, host: int) -> float:
        return max(self.ready_at[host], self.blocked[host])

    def next_at(self) -> float:
        if 0 < self.in_flight <= len(self.having(LEASED)):
            return math.inf
        return min((self.free_at(h) for h in map(self.host, self.having(WAITING)) if self.bears_more(h)), default=math.inf)

    def best(self, among: list[int]) -> list[int]:
        return sorted(among, key=lambda page: (-(self.priority.get(page) or self.key[page]), self.number[page]))

    def pop(self, now: float) -> int:
        if self.next_at() > now:
            return -1
        may_go = [p for p in self.having(WAITING) if self.bears_more(self.host(p)) and self.free_at(self.host(p)) <= now]
        page = self.best(may_go)[0]
        self.take(page, now)
        return page

    def take(self, page: int, now: float) -> None:
        if self.mark[page] in (LEASED, GONE, FORGOTTEN):
            return
        if self.mark[page] == ABSENT:
            self.put(page, 0.0)
        self.mark[page] = LEASED
        if self.delay[self.host(page)] > 0:
            rested = now + self.delay[self.host(page)]
            self.ready_at[self.host(page)] = max(self.ready_at[self.host(page)], rested)

    def turn(self, page: int, before: tuple[int, ...], after: int) -> None:
        if self.mark[page] in before:
            self.mark[page] = after

    def settle(self, page: int) -> None:
        self.visits[page] += self.mark[page] == LEASED
        if self.mark[page] == ABSENT:
            self.put(page, 0.0)
        self.mark[page] = GONE

    def schedule(self, page: int, key: float) -> None:
        if self.mark[page] in (ABSENT, FORGOTTEN):
            self.put(page, key)
        self.mark[page] = LATER

    def forget(self, page: int) -> None:
        if self.mark[page] != ABSENT:
            self.mark[page] = FORGOTTEN

    def later(self, page: int) -> None:
        self.turn(page, (LEASED,), LATER)

    def back(self, page: int) -> None:
        self.turn(page, (LEASED, LATER), WAITING)

    def limit(self, host: int, *politeness: float) -> None:
        limits: tuple[list[Any], ...] = (self.delay, self.concurrency, self.budget, self.limited)
        for values, value in zip(limits, politeness, strict=True):
            if value >= 0:
                values[host] = value

    def block(self, host: int, until: float) -> None:
        self.blocked[host] = until

    def join(self, host: int, group: int, asked: bool) -> None:
        self.delay[group] = max(self.delay[group], self.delay[host])
        for limits in (self.concurrency, self.budget, self.limited):
            limits[group] = min((value for value in (limits[group], limits[host]) if value), default=0)
        self.blocked[group] = max(self.blocked[group], self.blocked[host])
        if asked:
            self.ready_at[group] = max(self.ready_at[group], self.ready_at[host])
        self.place = {page: group if at == host else at for page, at in self.place.items()}


def arguments(event: Event, now: float, known: int) -> tuple[Any, ...]:
    name, at, value = event
    given: dict[str, Callable[[], tuple[Any, ...]]] = {
        "pop": lambda: (now,),
        "put": lambda: (at, value),
        "schedule": lambda: (at, value),
        "prioritise": lambda: (at, value),
        "take": lambda: (at, now),
        "limit": lambda: (at, *new_politeness(value)),
        "block": lambda: (at, now + value),
        "join": lambda: (at, at + 1, value != 0.5),
    }
    return given[name]() if name in given else (at,)


def follow(link: Link, happened: Iterable[Event], queue: Polite, plain: Searched) -> None:
    """The queue says and counts at each event what a search finds."""
    now, next_at = 100.0, link(polite.next_at)
    for event in happened:
        name, at, value = event
        now += value if name == "pass" else 0.0
        if name == "join" and at + 1 >= plain.hosts:
            continue
        page, host = (0, at + 1) if name in ("limit", "block") else (0, HOSTS) if name == "join" else (at, plain.host(at))
        queue = polite.grown(queue, page + 1, host + 1)
        queue.host[page] = plain.host(page)
        if name == "prioritise":
            queue = polite.with_own_keys(queue)
        if name != "pass":
            told = arguments(event, now, queue.host.size)
            assert link(getattr(polite, name))(queue, *told) == getattr(plain, name)(*told)
        due, expected = next_at(queue), plain.next_at()
        assert due == expected or max(due, expected) <= now  # any time that has come is "now"
        assert queue.counts[:3].tolist() == [len(plain.having(WAITING)), len(plain.number), len(plain.having(LEASED))]
    known = queue.mark.size
    assert [plain.mark[page] for page in range(min(known, len(plain.mark)))] == queue.mark[: len(plain.mark)].tolist()
    assert polite.discovered(queue).tolist() == list(plain.number)
    for count in (0, 1, 3, known):
        assert polite.best(queue, count).tolist() == plain.best(plain.having(WAITING))[:count]
    for h, host in enumerate(queue.hosts[: plain.hosts]):
        counted = [len(plain.having(mark, host=h)) for mark in (WAITING, LEASED, LATER, GONE)]
        assert [host["waiting"], host["leased"], host["later"], host["done"]] == counted
        assert host["taken"] == plain.taken(h)


@pytest.mark.parametrize("link", [interpreted, compiled])
@settings(max_examples=150, deadline=None)
@given(happened=events, politeness=limits, slots=st.integers(1, PAGES))
def test_a_polite_frontier_is_what_a_search_finds(
    link: Link, happened: list[Event], politeness: dict[str, Any], slots: int
) -> None:
    follow(link, happened, polite.new(slots, 1, **politeness), Searched(PAGES, HOSTS, **politeness))


@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_with_many_hosts_for_long(seed: int) -> None:
    rng, n, hosts = np.random.default_rng(seed), 90, 40
    politeness: dict[str, Any] = {"delay_s": 1.0, "concurrency": 2, "in_flight": 0, "budget": 0}
    shares = {
        "put": 20,
        "pop": 25,
        "back": 25,
        "take": 10,
        "later": 8,
        "pass": 6,
        "limit": 3,
        "block": 2,
        "settle": 4,
        "schedule": 8,
        "forget": 2,
    }
    names = rng.choice(list(shares), 1200, p=np.array(list(shares.values())) / sum(shares.values()))
    happened = [
        (str(name), int(rng.integers(hosts if name in ("limit", "block") else n)), float(rng.choice([0.0, 0.5, 1.0, 3.0])))
        for name in names
    ]
    follow(compiled, happened, polite.new(1, 1, **politeness), Searched(n, hosts, **politeness))


@pytest.mark.parametrize("kind", ["heap", "fifo", "lifo"])
@pytest.mark.parametrize("hosts", [1, 7, 2000])
def test_without_politeness_the_order_is_the_simulators(kind: str, hosts: int) -> None:
    rng, n = np.random.default_rng(hosts), 2000
    theirs, ours = KINDS[kind].new(n), polite.new(n, hosts)
    ours.host[:] = rng.integers(0, hosts, n)
    their_put, their_pop, their_remove = (compiled(getattr(KINDS[kind], name)) for name in ("put", "pop", "remove"))
    our_put, our_last, our_pop, our_take = (compiled(f) for f in (polite.put, polite.put_last, polite.pop, polite.take))
    for _ in range(12_000):
        page, key, dice = int(rng.integers(n)), float(rng.integers(50)), rng.random()
        if dice < 0.75:
            their_put(theirs, page, key)
            if kind == "lifo":
                our_last(ours, page)
            else:
                our_put(ours, page, key if kind == "heap" else 0.0)
        elif dice < 0.8 and kind != "lifo":  # a stack does not number pages that leave unseen
            their_remove(theirs, page)
            our_take(ours, page, 0.0)
        else:
            assert our_pop(ours, 0.0) == their_pop(theirs)
        assert polite.waiting(ours) == KINDS[kind].waiting(theirs)
    assert [our_pop(ours, 0.0) for _ in range(n)] == [their_pop(theirs) for _ in range(n)]


def test_many_keys_at_once_are_as_many_puts() -> None:
    rng, n = np.random.default_rng(5), 500
    theirs, ours = heap.new(n), polite.new(n, 9)
    ours.host[:] = np.arange(n) % 9
    for _ in range(4):
        some, keys = rng.integers(0, n, 300).astype(np.int32), rng.random(300).round(1)
        heap.put_all(theirs, some, keys)
        compiled(polite.put_all)(ours, some, keys)
    assert polite.best(ours, n).tolist() == [heap.pop(theirs) for _ in range(heap.waiting(theirs))]


def two_hosts(**politeness: Any) -> Polite:
    """Pages 0, 2 and 4 of one host, then 1, 3 and 5 of another; 0 is best."""
    queue = polite.new(6, 2, **politeness)
    queue.host[:] = [0, 1, 0, 1, 0, 1]
    for key, page in enumerate([5, 3, 1, 4, 2, 0]):
        polite.put(queue, page, float(key))
    return queue


def test_a_host_that_must_wait_does_not_hold_up_the_others() -> None:
    queue = two_hosts(delay_s=10.0)
    assert [polite.pop(queue, 0.0) for _ in range(3)] == [0, 1, -1]
    assert polite.next_at(queue) == 10.0
    assert [polite.pop(queue, 9.99), polite.pop(queue, 10.0), polite.pop(queue, 10.0)] == [-1, 2, 3]


def test_a_host_is_asked_for_so_many_pages_at_once() -> None:
    queue = two_hosts(concurrency=1)
    assert [polite.pop(queue, 0.0) for _ in range(3)] == [0, 1, -1]
    assert polite.next_at(queue) == math.inf
    polite.settle(queue, 1)
    assert [polite.pop(queue, 0.0), polite.pop(queue, 0.0)] == [3, -1]


def test_a_failed_page_does_not_count_against_the_budget_of_its_host() -> None:
    queue = two_hosts(budget=1)
    assert [polite.pop(queue, 0.0) for _ in range(3)] == [0, 1, -1]
    polite.settle(queue, 0)
    polite.later(queue, 1)
    assert [polite.pop(queue, 0.0), polite.pop(queue, 0.0)] == [3, -1]


def test_a_page_that_comes_back_stands_where_it_stood_or_where_it_was_put_meanwhile() -> None:
    queue = two_hosts()
    assert [polite.pop(queue, 0.0), polite.pop(queue, 0.0)] == [0, 2]
    polite.put(queue, 0, -1.0)
    polite.back(queue, 0)
    polite.back(queue, 2)
    assert [polite.pop(queue, 0.0) for _ in range(6)] == [2, 4, 1, 3, 5, 0]


def test_so_many_pages_are_out_and_no_more() -> None:
    queue = two_hosts(in_flight=2)
    assert [polite.pop(queue, 0.0) for _ in range(3)] == [0, 2, -1]
    polite.settle(queue, 2)
    assert [polite.pop(queue, 0.0), polite.pop(queue, 0.0)] == [4, -1]


def test_a_page_costs_at_most_29_bytes() -> None:
    queue = polite.new(1000)
    assert sum(array.nbytes for array in queue if array.size == 1000) <= 29 * 1000


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40), st.integers(1, 45))
def test_the_best_few_are_the_first_of_all_in_their_order(pages: list[tuple[int, int]], count: int) -> None:
    queue = polite.new(64, 4)
    for page, (key, host) in enumerate(pages):
        queue.host[page] = host
        polite.put(queue, page, float(key))
    for _ in range(len(pages) // 3):
        polite.pop(queue, 0.0)
    whole = polite.best(queue, FEW + 1).tolist()
    few = np.empty(count, np.int32)
    assert sorted(few[: best_few(queue, 64, few)].tolist()) == sorted(whole[:count])
    assert polite.best(queue, count).tolist() == whole[:count]
