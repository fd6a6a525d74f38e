"""Generated webs of any size: ``synthetic:pages=100000,seed=7``. The same specification gives the same bytes anywhere.

Sites. Hosts have Zipfian sizes (the r-th largest holds 1/r of the largest); their pages have consecutive numbers, the
root first, and hosts lie in random order. A site is a tree with 3 to 20 children to a directory; each parent links to
its children, so a site is reachable from its root. A page's topic is its parent's nine times out of ten.

Links. Pages come into being one by one, hosts interleaved, parents before children. A page's out-degree is its
children plus a draw with tail P(D > d) ~ d^-1.6; some leaves have none. A ``locality`` share of all links stays on the
host: first to the root, the parent directory and the menu (the root's children), each with a good chance; then each
link goes with probability ``copying`` where a random link of an earlier page of the host goes, else to a neighbour or
to a page chosen with odds ~ i^-7/8. Links to other hosts copy from any page or go to roots and pages chosen alike,
and prefer the page's own topic. Links copied with probability β alone would give in-degrees a power law with exponent
1 + 1/β; here hosts' sizes and menus make the tail heavier. With 100,000 pages and 20 links the 1% most linked pages
hold 0.44 of the links (0.57 to 0.68 in the real webs looked at), the Gini index of the in-degrees is 0.7 (0.84 to 0.9).

Trap. ``trap`` of the pages form an endless calendar on the second largest host: each day links to the next seven and
to the first, which the host's root and three more pages link to.

Searchers. With ``searchers=1`` pages have views and clicks, and queries are known: see ``synthetic_searchers``.

    R. Kumar, P. Raghavan, S. Rajagopalan, D. Sivakumar, A. Tomkins, E. Upfal:
    Stochastic models for the web graph, FOCS 2000.

Differs from the paper: each link is copied from another page, degrees vary, and there are sites, topics and menus.
Random numbers are splitmix64; of floating point only + - · / and square roots are used, which IEEE 754 fixes to the
last bit. Cost: O(links), about 40 bytes per page and 4 per link.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np

from frontrank.errors import SpecError
from frontrank.kernels.jit import Array, Kernel, by_size
from frontrank.sources.specification import Specification, short
from frontrank.sources.synthetic_links import (
    LinkLists,
    by_topic,
    close_gaps,
    fill_below,
    grow,
    inherit,
    interleaved,
    plan,
    share_staying,
    shuffled,
)
from frontrank.sources.synthetic_searchers import searched
from frontrank.sources.synthetic_text import (
    Anchors,
    Layout,
    TextsOfPages,
    Titles,
    Urls,
    Words,
    host_names,
    topic_names,
)
from frontrank.system.files import Progress
from frontrank.web.links import MAX_PAGES
from frontrank.web.web import Web

TEXT_UP_TO = 20_000  # text=auto
MAX_SEEDS = 10
MAX_TOPICS = 1000
MAX_LINKS = 10_000.0
MIN_CHILDREN, MAX_CHILDREN = 3, 20


def load_synthetic(spec: str, progress: Progress | None = None) -> Web:
    return synthetic(spec)


def synthetic(spec: str) -> Web:
    """The web that the text after ``synthetic:`` describes.

    >>> web = synthetic("pages=500,links=5,seed=7")
    >>> web.pages, web.name, web.urls[0]
    (500, 'synthetic:pages=500,links=5,seed=7', 'http://www.h0.example/')
    """
    return Synthetic.parse(spec).build()


@dataclass(frozen=True)
class Synthetic(Specification):
    """What a generated web is made by; ``build`` makes it.

    >>> Synthetic(pages=50, links=2.5).name
    'synthetic:pages=50,links=2.5'
    """

    pages: int = 10_000
    links: float = 20.0  # mean out-degree
    hosts: int = 0  # 0: an eighth of pages^0.6
    locality: float = 0.8  # share of links that stay on the host
    copying: float = 0.5  # probability that a link is copied
    topics: int = 20
    text: int | str = "auto"  # titles, texts and anchors: 1, 0, or auto: up to 20,000 pages
    trap: int = 0  # pages of the endless calendar, among all pages
    searchers: int = 0  # 1: views, clicks and queries, which follow the links
    seed: int = 0
    kind = "synthetic"
    broken = frozenset({"links", "locality", "copying"})
    words = frozenset({"text"})

    def __post_init__(self) -> None:
        self._whole("pages", 1, MAX_PAGES)
        self._number("links", 1.0, MAX_LINKS, ", since each page is linked from its parent directory")
        self._whole("trap", 0, self.pages - 1, ", fewer than pages")
        self._whole("hosts", 0, self.pages - self.trap, ", at most one for each page outside the trap")
        self._number("locality", 0.0, 1.0)
        self._number("copying", 0.0, 1.0)
        self._whole("topics", 1, MAX_TOPICS)
        self._whole("searchers", 0, 1)
        self._whole("seed", 0, 2**63 - 1)
        if self.text not in (0, 1, "auto"):
            raise SpecError(f"synthetic: text must be 0, 1 or auto, got {self.text}")

    @property
    def has_text(self) -> bool:
        return self.pages <= TEXT_UP_TO if self.text == "auto" else bool(self.text)

    def build(self) -> Web:
        self._check_memory()
        with np.errstate(over="ignore"):  # interpreted, unsigned scalars complain when they wrap; they are meant to
            rng = np.array([self.seed], np.uint64)
            layout, largest_first = self._layout(rng)
            indptr, targets = self._links(layout, rng)
        topics = topic_names(self.topics)
        names = host_names(len(layout.size))
        titles = Titles(layout, Words(topics), names, self.seed) if self.has_text else None
        web = Web(
            indptr,
            targets,
            hosts=layout.host,
            host_names=names,
            urls=Urls(layout, names, topics),
            titles=titles,
            texts=TextsOfPages(titles) if titles else None,
            anchors=Anchors(titles, targets) if titles else None,
            seeds=layout.first[largest_first[:MAX_SEEDS]].astype(np.int32),
            name=self.name,
        )
        return searched(web, self.seed)[0] if self.searchers else web

    def _layout(self, rng: Array) -> tuple[Layout, Array]:
        """Where every page lies, and the hosts from the largest to the smallest."""
        run, hosts = self._kernel, self.hosts or usual_hosts(self.pages, self.pages - self.trap)
        largest_first = run(shuffled)(np.arange(hosts, dtype=np.int32), rng)
        size = np.empty(hosts, np.int64)
        size[largest_first] = zipf_sizes(self.pages - self.trap, hosts)
        whole = size.copy()
        trap_host = largest_first[min(1, hosts - 1)]
        whole[trap_host] += self.trap
        first = np.zeros(hosts + 1, np.int64)
        np.cumsum(whole, out=first[1:])
        trap_first = int(first[trap_host] + size[trap_host])
        branching = np.empty(hosts, np.int64)
        run(fill_below)(branching, MAX_CHILDREN - MIN_CHILDREN + 1, rng)
        branching += MIN_CHILDREN
        main_topic = np.empty(hosts, np.int16)
        order = run(shuffled)(np.arange(self.topics, dtype=np.int16), rng)
        main_topic[largest_first] = np.resize(order, hosts)  # in turn, so that few hosts still have many topics
        host = np.repeat(np.arange(hosts, dtype=np.int32), whole)
        topic = run(inherit)(first, size, branching, main_topic, self.topics, rng)
        start, pages = run(by_topic)(topic, self.topics, trap_first, self.trap)
        layout = Layout(first, size, branching, host, topic, start, pages, trap_first, trap_first + self.trap)
        return layout, largest_first

    def _links(self, layout: Layout, rng: Array) -> tuple[Array, Array]:
        run = self._kernel
        indptr = run(plan)(layout, self.pages, self.links, rng)
        targets = np.empty(int(indptr[-1]), np.int32)
        stay = run(share_staying)(layout, indptr, self.locality)
        order = run(interleaved)(layout, rng)
        rows = LinkLists(indptr, targets, np.zeros(self.pages, np.int32), np.full(self.pages, -1, np.int32))
        run(grow)(layout, order, rows, stay, self.copying, rng)
        links = run(close_gaps)(indptr, rows.filled, targets)
        return indptr, targets[:links]

    def _kernel(self, kernel: Kernel) -> Kernel:
        return by_size(kernel, self.pages)

    def _check_memory(self) -> None:
        needed = self.pages * (44 + 4 * self.links)
        try:
            there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):  # a system that does not tell
            return
        if needed > there:
            raise SpecError(
                f"synthetic: pages={self.pages} with links={short(self.links)} needs {needed / 1e9:,.0f} GB of memory,"
                f" this machine has {there / 1e9:,.0f}; give fewer pages or links"
            )


def usual_hosts(pages: int, limit: int) -> int:
    """An eighth of pages^0.6."""
    usual: int = round(pages**0.6) // 8
    return max(1, min(usual, limit))


def zipf_sizes(pages: int, hosts: int) -> Array:
    """At least one page for each host, the rest in proportion to 1 / rank; what rounding leaves goes to the first."""
    odds = 1.0 / np.arange(1, hosts + 1)
    sizes: Array = 1 + np.floor((pages - hosts) * (odds / math.fsum(odds))).astype(np.int64)
    left = pages - int(sizes.sum())
    sizes[:left] += 1
    return sizes
