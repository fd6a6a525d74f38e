"""The driver of a simulation: one policy, its state and its queue, driven over the links of a web.

Three drivers run the same kernels: ``drive`` compiled over a whole graph (fused), ``drive`` interpreted (the oracle), and
one event at a time (``frontrank.crawl.crawl``). They give byte-equal orders, which ``frontrank.checks`` tests.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers import KINDS, shelf
from frontrank.kernels.jit import Array, Kernel, compiled, interpreted, lean
from frontrank.orderings.policy import (
    Out,
    Policy,
    Queue,
    State,
    done,
    every_link,
    look_ahead,
    on_fetch,
    on_seed,
    on_start,
    pop,
    put,
    put_all,
    remove,
)
from frontrank.orderings.trust import trust_of
from frontrank.search.observe import Observer, fresh
from frontrank.simulation.layout import together
from frontrank.web.links import NO_VALUES, Links
from frontrank.web.view import CrawlView
from frontrank.web.web import Web


@lean
def plant(state: State, queue: Queue, seeds: Array, weight: float, out: Out) -> None:
    """Discover the seeds, in their order."""
    for i in range(seeds.size):
        put(queue, seeds[i], on_seed(state, seeds[i], weight))
    count = on_start(state, out)
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@lean
def drive(state: State, queue: Queue, links: Links, touched: Array, order: Array, begin: int, end: int, out: Out) -> int:
    """Fetch from place begin to place end of the order; stops early when nothing waits or the policy is done."""
    k = begin
    while k < end:
        page = pop(queue)
        if page < 0:
            break
        order[k] = page
        k += 1
        state.fetched[page] = 1
        look_ahead(queue, links, state.fetched, touched)
        count = on_fetch(state, links, page, out)
        put_all(queue, out.page[:count], out.key[:count])
        if done(state):
            break
    return k


@lean
def arrived(state: State, queue: Queue, links: Links, page: int, out: Out) -> None:
    """One page, which has left the queue, is fetched."""
    state.fetched[page] = 1
    count = on_fetch(state, links, page, out)
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@lean
def replay(state: State, queue: Queue, links: Links, order: Array, out: Out) -> None:
    """Fetch in a given order, whatever the priorities say: how a state is restored from what happened."""
    for k in range(order.size):
        page = order[k]
        remove(queue, page)
        state.fetched[page] = 1
        count = on_fetch(state, links, page, out)
        for j in range(count):
            put(queue, out.page[j], out.key[j])


class GraphDriver:
    """A policy at work on a known web."""

    def __init__(self, policy: Policy, web: Web, jit: bool = True) -> None:
        check_needs(policy, web)
        self.policy = policy
        self.web = web
        self.seeds = np.empty(0, np.int32)
        self.kind: ModuleType = KINDS[policy.queue]
        self.put: Kernel = self.kind.put
        self.discovered: Kernel = shelf.discovered
        self.put_all: Kernel = shelf.put_all
        self.links = web.rows(anchor_values(policy, web))
        hosts = 1 if web.hosts is None else int(web.hosts.max()) + 1
        self.state = policy.expect(policy.allocate(web.pages, hosts), web.links)
        policy.see_web(self.state, web)
        self.state = together(policy, self.state)
        self.touched: Array = getattr(self.state, (*policy.per_link, "fetched")[0])  # by links, and asked for ahead
        self.queue: Queue = self.kind.new(web.pages)
        longest = int(web.out_degree().max(initial=0))
        room = 2 * (longest if policy.touches == "links" else web.pages) + 2
        self.out = Out(np.empty(room, np.int32), np.empty(room, np.float64))
        self.view = CrawlView()
        self.viewed = 0
        self.observer: Observer | None = None  # a search team beside the crawl
        self._link = compiled if jit else interpreted

    def seed(self, seeds: Array) -> None:
        self.seeds = np.asarray(seeds, np.int32)
        self._planter()(self.state, self.queue, self.seeds, 1.0 / max(1, len(seeds)), self.out)

    def warm(self, order: Array) -> None:
        """Compile the drivers, or load them from the cache, without an event."""
        self._planter()(self.state, self.queue, order[:0], 1.0, self.out)
        self.drive(order, 0, 0)

    def run(self, order: Array, begin: int, end: int) -> int:
        """Fetch until the order holds end pages; returns how many it holds."""
        interval = self.policy.interval()
        k = begin
        while k < end:
            stop = min(end, (k // interval + 1) * interval) if interval else end
            reached = self.drive(order, k, stop)
            if interval and reached > k and reached % interval == 0:
                self._rescore(order[:reached])
            if reached < stop or self.done():
                return reached
            k = reached
        return k

    def drive(self, order: Array, begin: int, end: int) -> int:
        """Fetch without ranking anew; returns how many pages the order holds."""
        if self.policy.stepwise():
            return self._drive_stepwise(order, begin, end)
        reached: int = self._driver()(self.state, self.queue, self.links, self.touched, order, begin, end, self.out)
        return reached

    def _drive_stepwise(self, order: Array, begin: int, end: int) -> int:
        pop, done = self._link(self.kind.pop), self._kernel("done")
        for k in range(begin, end):
            page = pop(self.queue)
            if page < 0:
                return k
            order[k] = page
            self._arrive(int(page))
            if done(self.state):
                return k + 1
        return end

    def look(self, page: int) -> None:
        """A page arrives whose words an ordering has to see before it is settled."""
        web, row = self.web, slice(int(self.web.indptr[page]), int(self.web.indptr[page + 1]))
        if web.texts is not None:
            self.policy.see_text(self.state, page, web.titles[page] if web.titles is not None else "", web.texts[page])
        if web.anchors is not None and web.urls is not None:
            urls, anchors = web.urls, web.anchors
            texts = [anchors[j] for j in range(row.start, row.stop)]
            of = [urls[int(q)] for q in web.targets[row]]
            self.links.value[row] = self.policy.link_values(self.state, texts, of)

    def _arrive(self, page: int) -> None:
        self.look(page)
        arrive = self._link(arrived, put=self.kind.put, on_fetch=self.policy.kernels()["on_fetch"])
        arrive(self.state, self.queue, self.links, page, self.out)

    def follow(self, order: Array) -> None:
        """Fetch these pages in this order."""
        if self.policy.stepwise():
            for page in order.tolist():
                self._link(self.kind.remove)(self.queue, page)
                self._arrive(page)
            return
        play = self._link(replay, put=self.kind.put, remove=self.kind.remove, on_fetch=self.policy.kernels()["on_fetch"])
        interval = self.policy.interval() or len(order)
        for k in range(0, len(order), max(interval, 1)):
            play(self.state, self.queue, self.links, order[k : k + interval], self.out)
            if self.policy.interval() and k + interval <= len(order):
                self._rescore(order[: k + interval])

    def done(self) -> bool:
        return bool(self._kernel("done")(self.state))

    def _rescore(self, order: Array) -> None:
        if "history" in self.policy.needs():
            self.view.remember()
        self.view.extend(self.links, order[self.viewed :], self.discovered(self.queue), self.queue.node["seq"])
        self.viewed = len(order)
        if "urls" in self.policy.needs():
            self.view.url_value = self.state.url_value[self.view.pages]
        self._watch()
        keys = self.policy.rescore(self.state, self.view, self.policy.scores(self.view))
        self._link(self.put_all)(self.queue, self.view.pages, keys)

    def _watch(self) -> None:
        """Note in the view what searchers have made of the pages fetched so far, if the policy asks for it."""
        needs, view, web = self.policy.needs(), self.view, self.web
        if "queries" in needs or ("impact" in needs and web.impact is None):
            if self.observer is None:
                self.observer = Observer(web.queries)
            self.observer.take_in(fresh(web, view, len(self.observer.urls), self.observer.rows))
            self.observer.look(view)
        if "impact" in needs and web.impact is not None and (view.search is None or web.impact_by):
            view.see_impact(web.impact)

    def _kernel(self, name: str) -> Kernel:
        return self._link(self.policy.kernels()[name])

    def _planter(self) -> Kernel:
        kernels = self.policy.kernels()
        return self._link(plant, put=self.put, on_seed=kernels["on_seed"], on_start=kernels["on_start"])

    def _driver(self) -> Kernel:
        kernels = self.policy.kernels()
        if kernels["on_fetch"] is every_link and hasattr(self.kind, "sweep"):
            return self._link(self.kind.sweep)
        bound = {"on_fetch": kernels["on_fetch"], "done": kernels["done"]}
        frontier = {name: getattr(self.kind, name) for name in ("pop", "put_all", "look_ahead")}
        return self._link(drive, **frontier, **bound)


def check_needs(policy: Policy, web: Web) -> None:
    """Raise InputError if the web lacks what the policy reads."""
    needs = policy.needs()
    missing = sorted(need for need in needs if need in web.COLUMNS and not web.has(need))
    if "scores" in needs and web.texts is None:
        missing.append("texts")
    if "queries" in needs and web.queries is None:
        missing.append("queries")
    if "impact" in needs and web.impact is None and web.queries is None:
        missing.append("views or clicks or queries")
    if missing:
        raise InputError(
            f"{policy.spec()} needs a web with {' and '.join(missing)}, but {web.name} has none; "
            f"use a source that knows them, or another ordering"
        )
    trust_of(policy).check(web)


def anchor_values(policy: Policy, web: Web) -> Array:
    if "anchors" not in policy.needs():
        return NO_VALUES
    assert web.anchors is not None
    if policy.stepwise():
        return np.zeros(web.links)
    known: dict[str, float] = {}
    values = np.empty(web.links, np.float64)
    for j, anchor in enumerate(web.anchors):
        value = known.get(anchor)
        if value is None:
            value = known[anchor] = policy.anchor_value(anchor)
        values[j] = value
    return values
