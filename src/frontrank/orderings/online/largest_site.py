"""Largest site first: pages of the host with the most waiting pages first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Column, kernel
from frontrank.orderings.policy import Out, Policy, State
from frontrank.web.links import Links, row

NONE = -1
WAITS, LEFT = 1, 2  # of state.seen


@kernel
def _join(state: State, page: int) -> None:
    """A page begins to wait: it goes to the end of its host's line."""
    host = state.host[page]
    state.seen[page] = WAITS
    state.behind[page] = NONE
    if state.first[host] == NONE:
        state.first[host] = page
    else:
        state.behind[state.last[host]] = page
    state.last[host] = page
    state.waiting[host] += 1


@kernel
def _leave(state: State, page: int) -> None:
    """A page no longer waits; the line moves up."""
    host = state.host[page]
    state.waiting[host] -= 1
    first = state.first[host]
    while first != NONE and state.fetched[first] == 1:
        first = state.behind[first]
    state.first[host] = first


@kernel
def _discover(state: State, links: Links, page: int, out: Out) -> int:
    """Pages that a page links to begin to wait; all hosts whose lines have changed are written."""
    targets = row(links, page)
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.seen[q] == 0:
            _join(state, q)
            state.touched[state.host[q]] = 1
            out.page[count] = q
            out.key[count] = 0.0
            count += 1
    new = count
    here = state.host[page]
    state.touched[here] = 1
    for i in range(-1, new):
        host = here if i < 0 else state.host[out.page[i]]
        if state.touched[host] == 1:
            state.touched[host] = 0
            if state.first[host] != NONE:
                out.page[count] = state.first[host]
                out.key[count] = state.waiting[host]
                count += 1
    return count


@dataclass(frozen=True)
class LargestSite(Policy):
    """Largest site first: pages of the host with the most waiting pages first.

        key(q) = number of waiting pages on q's host

    All waiting pages of a host have the same key, so only the one discovered first can be next. It alone carries the key
    in the queue, the others stand behind it with key 0: O(log n) for each link, where updating every page of a host at
    every discovery would be O(host size).

    Reference: Castillo, Marin, Rodriguez, Baeza-Yates 2004; compared by fica07.

    >>> from frontrank import Web, order
    >>> hosts = np.array([0, 1, 2, 2], np.int32)
    >>> web = Web.from_edges([0, 0, 0], [1, 2, 3], pages=4, hosts=hosts)
    >>> order(web, "largest-site", seeds=[0])
    [0, 2, 1, 3]
    """

    name = "largest-site"
    needs_past_links = False
    touches = "known"
    combines = False  # its keys change for pages that no event touches
    columns = {
        "seen": Column(np.uint8),
        "touched": Column(np.uint8, per="host"),
        "behind": Column(np.int32, NONE),  # the next page in a host's line
        "first": Column(np.int32, NONE, per="host"),
        "last": Column(np.int32, NONE, per="host"),
        "waiting": Column(np.int32, per="host"),
    }

    def needs(self) -> frozenset[str]:
        return frozenset({"hosts"})

    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        if state.seen[page] == 0:
            _join(state, page)
        return 0.0

    @staticmethod
    @kernel
    def on_start(state: State, out: Out) -> int:
        count = 0
        for host in range(state.first.size):
            if state.first[host] != NONE:
                out.page[count] = state.first[host]
                out.key[count] = state.waiting[host]
                count += 1
        return count

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        if state.seen[page] == WAITS:  # if not, it was asked for out of turn, or arrives once more, with its first links
            _leave(state, page)
        state.seen[page] = LEFT
        return _discover(state, links, page, out)

    on_revisit = staticmethod(_discover)

    def priority(self, state: State, page: int, key: float) -> float:
        return float(state.waiting[state.host[page]])
