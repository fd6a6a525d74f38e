"""Fractional PageRank, and FPR@M, which favours links between hosts."""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.kernels.jit import Column, Kernel, lean
from frontrank.orderings.policy import Out, State
from frontrank.orderings.trust import NO_TRUST, Trust, Trusting, paid
from frontrank.web.links import Links


@lean
def _alike(state: State, links: Links, page: int, out: Out) -> int:
    """All links weigh the same: hosts need not be known."""
    targets = links.target[links.start[page] : links.stop[page]]
    mass = state.f[page]
    state.f[page] = 0.0
    if targets.size == 0:
        return 0
    share = state.d * mass / targets.size
    state.gave[page] = share
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0:
            state.f[q] += share
            if state.trusting > 0:
                state.f[q] += (1.0 - state.d) * paid(state, q)
            out.page[count] = q
            out.key[count] = state.f[q]
            count += 1
    return count


@lean
def _fresh(state: State, links: Links, page: int, out: Out) -> int:
    """Links that the page did not have when it was fetched get what its other links got then.

    Which links are new is known only of targets that nobody has given anything.
    """
    targets = links.target[links.start[page] : links.stop[page]]
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0 and state.f[q] == 0.0:
            state.f[q] = state.gave[page] if state.host[q] == state.host[page] else state.m * state.gave[page]
            if state.trusting > 0:
                state.f[q] += (1.0 - state.d) * paid(state, q)
            out.page[count] = q
            out.key[count] = state.f[q]
            count += 1
    return count


@lean
def _fresh_alike(state: State, links: Links, page: int, out: Out) -> int:
    targets = links.target[links.start[page] : links.stop[page]]
    count = 0
    for j in range(targets.size):
        q = targets[j]
        if state.fetched[q] == 0 and state.f[q] == 0.0:
            state.f[q] = state.gave[page]
            if state.trusting > 0:
                state.f[q] += (1.0 - state.d) * paid(state, q)
            out.page[count] = q
            out.key[count] = state.f[q]
            count += 1
    return count


@dataclass(frozen=True)
class FractionalPageRank(Trusting):
    """Fractional PageRank: the page that fetched pages have given the most importance first.

        seeds: f = (1 - d) t, t = 1/(number of seeds)
        fetching p: every q in L(p) not fetched: f(q) += w(p, q) * d f(p)/W(p);  then f(p) = 0
        w = m for a link between hosts, else 1;  W(p) = sum of w over all of L(p);  key(q) = f(q)

    What reaches a fetched page is dropped, so a fetch never sets off a cascade as in rankmass: much faster, and in the paper
    nearly as good. ``fpr:m=100`` is the paper's FPR@100, the best of its comparison: a link from another host is a judgement
    that a page's owner could not write.

    When a page comes back, a link that is surely new (nobody has given its target anything) gets what the other links got
    when the page was fetched.

    With ``trust`` the seeds' t are given by a file: a URL or host a line, and its weight, which are scaled to add up to 1. A
    page has (1 - d) t from the moment it is discovered, seed or not; a host's goes to the page of it that is discovered first.
    Seeds that the file does not name start with nothing.

    Parameters: ``d``, damping; ``m``, the weight of a link between hosts (unless it is 1 the web must know its hosts);
    ``trust``, a file.

    Reference: fpr10, Algorithms 1 and 2. Cost: O(log n) for each link.

    >>> from frontrank import Web, order  # the paper's Fig. 2: A B C D E are 0 .. 4
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "fpr", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    d: float = 0.85
    m: float = 1.0
    trust: Trust = NO_TRUST
    name = "fpr"
    per_link = ("f",)
    needs_past_links = False
    columns = {"f": Column(), "gave": Column()}  # and what a fetched page gave to each link within its host
    on_revisit = staticmethod(_fresh)

    def validate(self) -> None:
        self.require(0 < self.d < 1, "d", "a number between 0 and 1")
        self.require(self.m > 0, "m", "a number above 0")

    def needs(self) -> frozenset[str]:
        return super().needs() | frozenset({"hosts"} if self.m != 1.0 else ())

    def kernels(self) -> dict[str, Kernel]:
        kernels = super().kernels()
        return {**kernels, "on_fetch": _alike, "on_revisit": _fresh_alike} if self.m == 1.0 else kernels

    @staticmethod
    @lean
    def on_seed(state: State, page: int, weight: float) -> float:
        state.f[page] += (1.0 - state.d) * (paid(state, page) if state.trusting > 0 else weight)
        return float(state.f[page])

    @staticmethod
    @lean
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        targets = links.target[links.start[page] : links.stop[page]]
        mass = state.f[page]
        state.f[page] = 0.0
        if targets.size == 0:
            return 0
        here = state.host[page]
        total = 0.0
        for j in range(targets.size):
            total += 1.0 if state.host[targets[j]] == here else state.m
        share = state.d * mass / total
        state.gave[page] = share
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0:
                state.f[q] += share if state.host[q] == here else state.m * share
                if state.trusting > 0:
                    state.f[q] += (1.0 - state.d) * paid(state, q)
                out.page[count] = q
                out.key[count] = state.f[q]
                count += 1
        return count
