"""Crawl: the same orderings, one event at a time, for a crawler that learns of pages as it goes.

    crawl = Crawl(parse("fpr"))
    crawl.seed(["https://example.org/"])
    while urls := crawl.take():
        for url in urls:
            crawl.fetched(url, links=[("https://example.org/a", "its anchor")])

Nothing is known but what the events told: state grows as pages are discovered. The order is the one ``simulate`` gives
when every page is settled before the next is taken. Events live in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers import KINDS, heap
from frontrank.kernel import GROWTH, Array, Kernel, compiled
from frontrank.policy import Out, Policy
from frontrank.ranker import CrawlView
from frontrank.urls import host_of
from frontrank.web import NO_VALUES, Links

Link = str | tuple[str, str]
LEASED, SETTLED = 1, 2


class Crawl:
    """A policy at work on pages that are named by the events: URLs, or any other text."""

    def __init__(self, policy: Policy, capacity: int = 16, truth: Callable[[str], float] | None = None) -> None:
        if "queries" in policy.needs():
            raise InputError(f"{policy.spec()} is driven by queries over the texts of a whole crawl; use simulate or rank")
        self.policy = policy
        self.truth = truth
        self.impact: dict[int, float] = {}
        self.kind: ModuleType = KINDS[policy.queue]
        self.state = policy.allocate(capacity, 1)
        self.queue: Any = self.kind.new(capacity)
        anchors = np.empty(capacity) if "anchors" in policy.needs() else NO_VALUES
        empty = np.zeros(capacity, np.int64)
        self.links = Links(empty, empty.copy(), np.empty(capacity, np.int32), anchors)
        self.used = 0  # links held
        self.out = Out(np.empty(2 * capacity + 2, np.int32), np.empty(2 * capacity + 2))
        self.number: dict[str, int] = {}
        self.names: list[str] = []
        self.hosts: dict[str, int] = {}
        self.status: dict[int, int] = {}
        self.order: list[int] = []
        self.view = CrawlView()
        self.viewed = 0
        kernels = policy.kernels()
        self._on_seed, self._on_start, self._on_fetch, self._done = (
            compiled(kernels[event]) for event in ("on_seed", "on_start", "on_fetch", "done")
        )
        self._put: Kernel = compiled(self.kind.put)
        self._pop: Kernel = compiled(self.kind.pop)

    @property
    def waiting(self) -> int:
        return int(self.kind.waiting(self.queue))

    def seed(self, urls: Iterable[str]) -> None:
        """Start from these pages; the weights of one call's seeds add up to 1."""
        pages = list(dict.fromkeys(self._page(url) for url in urls))
        if not pages:
            raise InputError("no seeds given, at least one page to start from expected")
        for page in pages:
            self._put(self.queue, page, self._on_seed(self.state, page, 1.0 / len(pages)))
        self._apply(self._on_start(self.state, self.out))

    def take(self, count: int = 1) -> list[str]:
        """The next pages to fetch, best first; they are yours until you settle them. Empty if none waits."""
        taken: list[str] = []
        while len(taken) < count and not self._done(self.state):
            page = int(self._pop(self.queue))
            if page < 0:
                break
            self.status[page] = LEASED
            taken.append(self.names[page])
        return taken

    def fetched(self, url: str, links: Iterable[Link] = (), title: str = "", text: str = "", impact: float = 0.0) -> None:
        """A taken page has arrived, with these links (each a URL, or a URL and its anchor), this text and this impact."""
        page = self._settle(url)
        self.impact[page] = impact
        self._note_links(page, links)
        self.policy.see_text(self.state, page, title, text)
        self.state.fetched[page] = 1
        self._apply(self._on_fetch(self.state, self.links, page, self.out))
        self.order.append(page)
        interval = self.policy.interval()
        if interval and len(self.order) % interval == 0:
            self._rescore()

    def failed(self, url: str) -> None:
        """A taken page will not arrive. It counts as fetched, and keeps no links."""
        self.fetched(url)

    def _settle(self, url: str) -> int:
        page = self.number.get(url, -1)
        if self.status.get(page) != LEASED:
            raise InputError(f"page {url!r} was settled, but it is not one that was taken and is still open")
        self.status[page] = SETTLED
        return page

    def _note_links(self, page: int, links: Iterable[Link]) -> None:
        anchors: dict[int, str] = {}
        for link in links:
            url, anchor = (link, "") if isinstance(link, str) else link
            target = self._page(url)
            if target != page:
                anchors[target] = f"{anchors[target]} {anchor}".strip() if target in anchors else anchor
        end = self.used + len(anchors)
        if end > self.links.target.size:
            self._grow_links(end)
        self.links.target[self.used : end] = list(anchors)
        if self.links.value.size:
            self.links.value[self.used : end] = [self.policy.anchor_value(anchor) for anchor in anchors.values()]
        self.links.start[page], self.links.stop[page] = self.used, end
        self.used = end

    def _page(self, url: str) -> int:
        page = self.number.get(url)
        if page is None:
            page = self.number[url] = len(self.names)
            self.names.append(url)
            known = len(self.hosts)
            host = self.hosts.setdefault(host_of(url), known)
            if page >= self.links.start.size or host == known:
                self._grow(page + 1)
            self.policy.see_page(self.state, page, url, host, self.truth(url) if self.truth else 0.0)
        return page

    def _grow(self, pages: int) -> None:
        self.state = self.policy.enlarge(self.state, pages, len(self.hosts))
        if pages <= self.links.start.size:
            return
        self.queue = self.kind.grown(self.queue, pages)
        size = max(pages, GROWTH * self.links.start.size)
        start, stop = (_longer(array, size) for array in self.links[:2])
        self.links = self.links._replace(start=start, stop=stop)
        self.out = Out(np.empty(2 * size + 2, np.int32), np.empty(2 * size + 2))

    def _grow_links(self, links: int) -> None:
        size = max(links, GROWTH * self.links.target.size)
        value = _longer(self.links.value, size) if self.links.value.size else NO_VALUES
        self.links = self.links._replace(target=_longer(self.links.target, size), value=value)

    def _apply(self, count: int) -> None:
        for j in range(count):
            self._put(self.queue, self.out.page[j], self.out.key[j])

    def _rescore(self) -> None:
        if "history" in self.policy.needs():
            self.view.remember()
        fetched = np.array(self.order[self.viewed :], np.int32)
        self.view.extend(self.links, fetched, self.kind.discovered(self.queue), self.queue.node["seq"])
        self.viewed = len(self.order)
        self.view.impact = np.array([self.impact.get(page, 0.0) for page in self.view.pages.tolist()])
        compiled(heap.put_all)(self.queue, self.view.pages, self.policy.rescore(self.state, self.view))


def _longer(array: Array, size: int) -> Array:
    longer = np.zeros(size, array.dtype)
    longer[: array.size] = array
    return longer
