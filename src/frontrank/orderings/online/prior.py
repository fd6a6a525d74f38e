"""Prior: another ordering, weighted by ranks of hosts that are known in advance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels.jit import Array, Column, Kernel, interpreted, kernel, state_type
from frontrank.orderings.online.backlink import Backlink
from frontrank.orderings.online.fpr import FractionalPageRank
from frontrank.orderings.online.opic import Opic
from frontrank.orderings.policy import Out, Policy, State, out_for
from frontrank.orderings.rank_file import NO_RANKS, RankFile
from frontrank.pages.urls import host_of
from frontrank.web.links import Links, row
from frontrank.web.ranks import COLUMNS
from frontrank.web.web import Web

SPENT = -1e300  # the key of a page whose host has had its share


@kernel
def _one(state: State, page: int, weight: float) -> float:
    return 1.0


@kernel
def _ones(state: State, links: Links, page: int, out: Out) -> int:
    targets = row(links, page)
    for j in range(targets.size):
        out.page[j] = targets[j]
        out.key[j] = 1.0
    return targets.size


@dataclass(frozen=True)
class Alike(Policy):
    """Alike: all pages have the key 1, so that the ranks of hosts alone decide."""

    name = "alike"
    needs_past_links = False
    on_seed = staticmethod(_one)
    on_fetch = staticmethod(_ones)
    on_revisit = staticmethod(_ones)


INNER: dict[str, Policy] = {"fpr": FractionalPageRank(), "opic": Opic(), "backlink": Backlink(), "bfs": Alike()}


def seed_inside(state: State, page: int, weight: float) -> float:  # open names, bound when an inner ordering is linked
    raise NotImplementedError


def fetch_inside(state: State, links: Links, page: int, out: Out) -> int:
    raise NotImplementedError


def revisit_inside(state: State, links: Links, page: int, out: Out) -> int:
    raise NotImplementedError


@kernel
def _spent(state: State, host: int) -> bool:
    return bool(state.budget > 0 and state.taken[host] >= max(1.0, np.floor(state.budget * state.rank[host])))


@kernel
def _key(state: State, page: int, key: float) -> float:
    host = state.host[page]
    return SPENT if _spent(state, host) else float(state.rank[host] * key)


@kernel
def _meet(state: State, page: int) -> None:
    """A page is discovered: it joins the others of its host."""
    if state.seen[page] == 0:
        state.seen[page] = 1
        state.other[page] = state.newest[state.host[page]]
        state.newest[state.host[page]] = page


@kernel
def _seed(state: State, page: int, weight: float) -> float:
    _meet(state, page)
    return _key(state, page, seed_inside(state.inside, page, weight))


@kernel
def _fetch(state: State, links: Links, page: int, out: Out) -> int:
    host = state.host[page]
    within = not _spent(state, host)
    state.taken[host] += 1
    part = state.out_inside
    count = fetch_inside(state.inside, links, page, part)
    for i in range(count):
        _meet(state, part.page[i])
        out.page[i] = part.page[i]
        out.key[i] = _key(state, part.page[i], part.key[i])
    if within and _spent(state, host):
        other = state.newest[host]
        while other >= 0:
            if state.fetched[other] == 0:
                out.page[count] = other
                out.key[count] = SPENT
                count += 1
            other = state.other[other]
    return count


@kernel
def _revisit(state: State, links: Links, page: int, out: Out) -> int:
    part = state.out_inside
    count = revisit_inside(state.inside, links, page, part)
    for i in range(count):
        _meet(state, part.page[i])
        out.page[i] = part.page[i]
        out.key[i] = _key(state, part.page[i], part.key[i])
    return count


@cache
def _linked(on_seed: Kernel, on_fetch: Kernel, on_revisit: Kernel) -> dict[str, Kernel]:
    return {
        "on_seed": interpreted(_seed, seed_inside=on_seed),
        "on_fetch": interpreted(_fetch, fetch_inside=on_fetch),
        "on_revisit": interpreted(_revisit, revisit_inside=on_revisit),
    }


@dataclass(frozen=True)
class Prior(Policy):
    """Prior: another ordering, weighted by ranks of hosts that are known in advance.

        w(h)   = (rank of host h/greatest rank in the file)^power
        key(q) = w(host of q) * the inner ordering's key of q
        budget B: once B w(h) pages of h are fetched (one at least), those that remain come after all others

    The ranks of a whole web, such as Common Crawl's harmonic centrality and PageRank of hosts, are free to fetch, and say
    what a crawl that begins cannot know yet. A host that the file does not name has the rank of the domain above it, else
    the smallest of all.

    Parameters: ``file``, with one host and its rank per line, or Common Crawl's table (plain or gzip; docs/sources.md);
    ``column`` of Common Crawl's: harmonicc_val or pr_val; ``inner``: fpr, opic, backlink, or bfs, where ranks alone decide;
    ``power``, less than 1 makes hosts more alike; ``budget``, pages of the host of the greatest rank (0: no limit). A live
    crawl keeps the ranks that it began with; of a file with more than 20,000 hosts it keeps a digest, and reads the file again.

    Cost: that of the inner ordering.

    >>> from frontrank import Web, order
    >>> import tempfile; file = tempfile.NamedTemporaryFile("w"); _ = file.write("b.org 4\\na.org 1\\n"); file.flush()
    >>> urls = ["http://a.org/", "http://a.org/1", "http://b.org/", "http://b.org/1"]
    >>> web = Web.from_edges([0, 0, 0], [1, 2, 3], pages=4, urls=urls, hosts=np.array([0, 0, 1, 1], np.int32))
    >>> order(web, f"prior:file={file.name}", seeds=[0])
    [0, 2, 3, 1]
    >>> order(web, f"prior:file={file.name},budget=1", seeds=[0])
    [0, 2, 1, 3]
    """

    file: RankFile = NO_RANKS
    column: str = "harmonicc_val"
    inner: str = "fpr"
    power: float = 1.0
    budget: float = 0.0
    name = "prior"
    needs_past_links = False
    touches = "known"
    combines = False  # its keys change for pages that no event touches
    columns = {
        "rank": Column(np.float64, 1.0, per="host"),
        "taken": Column(np.int64, per="host"),
        "newest": Column(np.int32, -1, per="host"),  # the page of a host that was discovered last
        "other": Column(np.int32, -1),  # and the one before it
        "seen": Column(np.uint8),
    }

    def validate(self) -> None:
        if self.column not in COLUMNS:
            raise SpecError(f"prior: column must be {' or '.join(COLUMNS)}{nearest(self.column, COLUMNS)}")
        if self.inner not in INNER:
            raise SpecError(f"prior: inner must be fpr, opic, backlink or bfs{nearest(self.inner, INNER)}")
        self.require(self.power >= 0, "power", "a number from 0")
        self.require(self.budget >= 0, "budget", "a number of pages from 0")
        if not self.file:
            raise SpecError("prior: no file given; write prior:file=FILE, with one host and its rank per line")
        named = RankFile.read(self.file) if isinstance(self.file, str) else self.file  # a name, as it was stored once
        object.__setattr__(self, "file", named.resolved(self.column))

    def needs(self) -> frozenset[str]:
        return frozenset({"hosts", "urls"})

    def parameters(self) -> dict[str, int | float]:
        return {"budget": self.budget}

    @property
    def part(self) -> Policy:
        return INNER[self.inner]

    def kernels(self) -> dict[str, Kernel]:
        inside = self.part.kernels()
        return {**super().kernels(), **_linked(inside["on_seed"], inside["on_fetch"], inside["on_revisit"])}

    # The inner ordering's state is part of this one ---------------------------------------------------------------------------
    def layout(self) -> dict[str, Column]:
        return {name: column for name, column in super().layout().items() if name != "url_value"}

    def allocate(self, pages: int, hosts: int = 1) -> State:
        return self._with(super().allocate(pages, hosts), self.part.allocate(pages, hosts), out_for(0))

    def enlarge(self, state: State, pages: int, hosts: int = 1) -> State:
        plain = state_type(state._fields[:-2])(*state[:-2])
        return self._with(super().enlarge(plain, pages, hosts), self.part.enlarge(state.inside, pages, hosts), state.out_inside)

    def _with(self, state: State, inside: State, out: Out) -> State:
        values = (*state, self.part.share(inside, state.fetched), out_for(2 * state.fetched.size + 2, out))
        return state_type((*state._fields, "inside", "out_inside"))(*values)

    def share(self, state: State, fetched: Array) -> State:
        return state._replace(fetched=fetched, inside=self.part.share(state.inside, fetched))

    def see_web(self, state: State, web: Web) -> None:
        assert web.hosts is not None
        state.host[:] = web.hosts
        _, first = np.unique(web.hosts, return_index=True)
        for page in first.tolist():
            self._weigh(state, int(web.hosts[page]), (web.urls or ())[page])

    def see_pages(self, state: State, first: int, urls: Sequence[str], hosts: Array, truths: Sequence[float]) -> None:
        state.host[first : first + len(urls)] = hosts
        for host, url in zip(hosts.tolist(), urls, strict=True):
            self._weigh(state, host, url)

    def _weigh(self, state: State, host: int, url: str) -> None:
        state.rank[host] = self.file.ranks.of(host_of(url)) ** self.power
