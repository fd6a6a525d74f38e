"""Domains: pages that many other registered domains link to first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.errors import need
from frontrank.kernels import hashtable as names
from frontrank.kernels.hashtable import added
from frontrank.kernels.jit import Array, Column, by_size, kernel, state_type
from frontrank.orderings.policy import Out, Policy, State
from frontrank.pages.urls import host_of, registered_domain
from frontrank.web.links import Links, row
from frontrank.web.web import Web

SPREAD = 2654435761  # times a domain's number: keys of pairs lie apart in the table
LOW = 2**31 - 1


@dataclass(frozen=True)
class Domains(Policy):
    """Domains: pages that many other registered domains link to first.

        key(q) = number of distinct registered domains, other than q's own, with a fetched page that links to q

    A thousand links of one owner are one voice, and the owner's own do not count: what a site says of itself, or buys from one
    other, counts for little. The registered domain is the name under a public suffix that one owner has: bbc.co.uk of
    news.bbc.co.uk (the list of the package ``publicsuffixlist``, which works offline). Within a crawl of one domain all keys
    are 0, and the order is breadth first. In the study, above breadth first, and best with a limit of pages a site
    (``--host-budget``).

    Reference: Fetterly, Craswell, Vinay 2009. Cost: O(log n) a link, and 16 bytes for each pair of a page and a domain that
    links to it.

    >>> from frontrank import Web, order
    >>> urls = ["http://a.org/", "http://b.org/", "http://x.a.org/1", "http://c.org/2", "http://c.org/3"]
    >>> web = Web.from_edges([0, 0, 0, 1], [2, 3, 4, 4], pages=5, urls=urls)
    >>> order(web, "domains", seeds=[0, 1])
    [0, 3, 4, 1, 2]
    """

    name = "domains"
    needs_past_links = False
    columns = {
        "domain": Column(np.int32),
        "voices": Column(np.int32),
        "placed": Column(np.int64, per="crawl"),  # pages whose domain is known
    }

    def validate(self) -> None:
        need("publicsuffixlist")

    def needs(self) -> frozenset[str]:
        return frozenset({"urls"})

    # Domains, and pairs of a page and a domain that links to it, are known by tables that are part of the state -----------
    def layout(self) -> dict[str, Column]:
        return {name: column for name, column in super().layout().items() if name != "url_value"}

    def allocate(self, pages: int, hosts: int = 1) -> State:
        state = super().allocate(pages, hosts)
        with_tables: Any = state_type((*state._fields, "domains", "pairs"))
        return with_tables(*state, names.new(pages), names.new(pages))

    def enlarge(self, state: State, pages: int, hosts: int = 1) -> State:
        larger = super().enlarge(state, pages, hosts)
        return larger._replace(domains=names.with_capacity(state.domains, larger.domain.size - int(state.placed[0])))

    def expect(self, state: State, links: int) -> State:
        return state._replace(pairs=names.with_capacity(state.pairs, links))

    def see_web(self, state: State, web: Web) -> None:
        self._number(state, 0, [registered_domain(host_of(url)) for url in web.urls or ()])

    def see_pages(self, state: State, first: int, urls: Sequence[str], hosts: Array, truths: Sequence[float]) -> None:
        self._number(state, first, [registered_domain(host_of(url)) for url in urls])

    def _number(self, state: State, first: int, domains: list[str]) -> None:
        room = state.domains.keys.size - int(state.domains.counts[names.COUNT])
        assert len(domains) <= room, "no room for the domains of these pages; enlarge comes first"
        state.placed[0] += len(domains)
        by_size(names.number_all, len(domains))(
            state.domains, names.fingerprints(domains), state.domain[first : first + len(domains)]
        )

    # Events -----------------------------------------------------------------------------------------------------------------
    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        return float(state.voices[page])

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = row(links, page)
        here = np.int64(state.domain[page])
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0:
                if state.domain[q] != here and added(state.pairs, (here << 32) | ((q + here * SPREAD) & LOW)):
                    state.voices[q] += 1
                out.page[count] = q
                out.key[count] = state.voices[q]
                count += 1
        return count

    on_revisit = on_fetch  # a domain that has spoken before is not counted again
