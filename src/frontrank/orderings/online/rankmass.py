"""RankMass: fetch where the covered share of personalised PageRank grows most, and know how much is covered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontrank.frontiers.heap import ABSENT, NODE
from frontrank.frontiers.shelf import COUNTS, LOWEST_BAR, Shelf, peek, put
from frontrank.frontiers.slots import SLOT
from frontrank.kernels.jit import Column, Kernel, kernel, lean
from frontrank.kernels.prefetch import prefetch
from frontrank.orderings.policy import Out, State
from frontrank.orderings.trust import NO_TRUST, Trust, Trusting, paid
from frontrank.web.links import Links

ROOM = 2**16  # slots for known pages with the largest mass; others wait below the bar
SOON = 64  # links whose places among the ranks are asked for ahead
IN_BATCH = 2.0  # keys of a batch lie above every mass, which is at most 1


@lean
def _pass_on(state: State, links: Links, page: int, out: Out, count: int) -> int:
    """Cover a page's mass and give what remains of it to its links; write the waiting pages among them."""
    mass = state.mass[page]
    state.mass[page] = 0.0
    state.covered[0] += mass
    targets = links.target[links.start[page] : links.stop[page]]
    if targets.size == 0:
        state.leaked[0] += state.d * mass
        return count
    share = state.d * mass / targets.size
    for j in range(targets.size):
        q = targets[j]
        if state.seen[q] == 0:
            _meet(state, q)
            if state.trusting > 0:
                t = paid(state, q)
                state.given[0] += t
                state.mass[q] += (1.0 - state.d) * t
        state.mass[q] += share
        if state.written[q] == 0:
            state.written[q] = 1
            out.page[count] = q
            count += 1
    return count


@lean
def _meet(state: State, page: int) -> None:
    """A page is known from now on."""
    if state.seen[page] == 0:
        state.seen[page] = 1
        if state.window > 0.0:
            state.known[state.size[0]] = page
        state.size[0] += 1


@lean
def _write(state: State, out: Out, count: int) -> int:
    """Turn the list of touched pages into the waiting ones among them, with their keys."""
    kept = 0
    for i in range(count):
        q = out.page[i]
        state.written[q] = 0
        if state.fetched[q] == 0:
            out.page[kept] = q
            place = state.place[q] if state.window > 0.0 else -1
            out.key[kept] = IN_BATCH + (state.size[1] - place) if place >= 0 else state.mass[q]
            kept += 1
    return kept


@lean
def _seed(state: State, page: int, weight: float) -> float:
    _meet(state, page)
    t = paid(state, page) if state.trusting > 0 else weight
    state.given[0] += t
    state.mass[page] += (1.0 - state.d) * t
    return float(state.mass[page])


@lean
def _reachable(state: State) -> float:
    """What can be covered, of all that was given: pages without links have handed on nothing."""
    return float(state.given[0] - state.leaked[0] / (1.0 - state.d))


@lean
def _cascade(state: State, links: Links, page: int, out: Out) -> int:
    """rankmass: hand on at fetched pages until the largest mass lies at a waiting one."""
    ranks = Shelf(state.slot, state.node, state.bar, state.counts)
    _meet(state, page)
    count = 0
    p = page
    while True:
        targets = links.target[links.start[p] : links.stop[p]]
        for j in range(min(targets.size, SOON)):
            prefetch(state.node, targets[j])
        count = _pass_on(state, links, p, out, count)
        put(ranks, p, 0.0)
        for j in range(targets.size):
            put(ranks, targets[j], state.mass[targets[j]])
        p = peek(ranks)
        if state.fetched[p] == 0 or state.mass[p] <= state.epsilon:
            return _write(state, out, count)


@lean
def _seed_ranked(state: State, page: int, weight: float) -> float:
    mass = _seed(state, page, weight)
    put(Shelf(state.slot, state.node, state.bar, state.counts), page, mass)
    return mass


@kernel
def _new_batch(state: State, out: Out, count: int) -> int:
    """Take the top share of all known pages by mass, in order; among equals the first discovered.

    Fetched pages at or below the floor have no turn; there is always a waiting page, so the batch is never empty.
    """
    minus = np.empty(state.size[0], np.float64)
    able = np.empty(state.size[0], np.int32)
    n = 0
    for i in range(state.size[0]):
        p = state.known[i]
        if state.fetched[p] == 0 or state.mass[p] > state.epsilon:
            able[n] = p
            minus[n] = -state.mass[p]
            n += 1
    size = min(n, max(1, int(state.window * state.size[0])))
    last = np.partition(minus[:n], size - 1)[size - 1]
    ties = size - np.sum(minus[:n] < last)
    chosen = np.empty(size, np.int32)
    keys = np.empty(size, np.float64)
    k = 0
    for i in range(n):
        if minus[i] < last or (minus[i] == last and ties > 0):
            if minus[i] == last:
                ties -= 1
            chosen[k] = able[i]
            keys[k] = minus[i]
            k += 1
    by_mass = np.argsort(keys, kind="mergesort")  # stable: chosen stand in the order of their discovery
    state.size[1] = size
    state.size[2] = 0
    for i in range(size):
        p = chosen[by_mass[i]]
        state.batch[i] = p
        state.place[p] = i
        if state.fetched[p] == 0 and state.written[p] == 0:
            state.written[p] = 1
            out.page[count] = p
            count += 1
    return count


@lean
def _windowed(state: State, links: Links, page: int, out: Out) -> int:
    """rankmass with a window: work through the batch up to its next waiting page; then a new batch."""
    _meet(state, page)
    state.size[3] += 1
    state.place[page] = -1
    count = _pass_on(state, links, page, out, 0)
    while True:
        while state.size[2] < state.size[1]:
            p = state.batch[state.size[2]]
            if state.fetched[p] == 0:
                return _write(state, out, count)
            if state.place[p] >= 0:  # fetched before this round began; those fetched in it have handed on already
                state.place[p] = -1
                count = _pass_on(state, links, p, out, count)
            state.size[2] += 1
        if state.size[3] >= state.size[0]:  # nothing waits, so there is nothing to decide
            return _write(state, out, count)
        count = _new_batch(state, out, count)


@lean
def _again(state: State, links: Links, page: int, out: Out) -> int:
    """rankmass with a window: what a page holds that comes back goes to the links that it has now, out of turn."""
    return _write(state, out, _pass_on(state, links, page, out, 0))


@lean
def _first_batch(state: State, out: Out) -> int:
    if state.size[0] == 0 or state.size[1] > 0:
        return 0
    return _write(state, out, _new_batch(state, out, 0))


@dataclass(frozen=True)
class RankMass(Trusting):
    """RankMass: the page, fetched or not, with the most uncovered mass first; and a bound on what is covered.

        seeds: r = (1 - d) t, t = 1/(number of seeds)
        take the page p with the largest r, fetch it if it was not: covered += r(p);
        every q in L(p): r(q) += d r(p)/O(p);  r(p) = 0

    A fetched page costs no fetch but keeps handing mass on, so a fetch sets off a cascade, which ends when the largest r
    lies at a page not fetched. *covered* is a lower bound on the personalised PageRank (random jumps to the seeds) of what
    has been fetched. At every moment covered + (waiting + leaked)/(1 - d) = 1, where leaked is what pages without links could
    not hand on. So 1 - leaked/(1 - d), the gauge ``reachable``, is all that can be covered at all, as far as is known; the
    gauge ``coverage`` is covered as a share of it, a lower bound too, and ``rankmass:until=0.9`` stops when it reaches 0.9.

    With ``trust`` the seeds' t are given by a file: a URL or host a line, and its weight, which are scaled to add up to 1. A
    page has (1 - d) t from the moment it is discovered, seed or not; a host's goes to the page of it that is discovered first.
    Seeds that the file does not name start with nothing. ``coverage`` is of the trust that has been found.

    With ``window`` the same in rounds: at its start all known pages, fetched or not, are sorted by r, and a share of as many
    as are known (at least one) is handled from the top, each with the r it has when its turn comes; then the next round.
    Fetched pages whose r is at or below the floor at the start of a round get no turn in that round.

    Parameters: ``d``, damping; ``epsilon``, at or below which a fetched page keeps its mass, so that cascades end;
    ``window``, 0 for none, 0.05 is fpr10's baseline; ``until``, the stopping rule, 0 for none; ``trust``, a file.

    Reference: Cho, Schonfeld 2007; windowed as compared by fpr10. Cost: at most (number of links) times 1/epsilon, in practice
    a few passes over the links; the window saves the heap.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "rankmass", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    d: float = 0.85
    epsilon: float = 1e-7
    window: float = 0.0
    until: float = 0.0
    trust: Trust = NO_TRUST
    name = "rankmass"
    touches = "known"
    stops = {"coverage": "until"}
    combines = False  # its keys are places in a batch, or fall to nothing without an event of their own
    columns = {
        "mass": Column(),
        "seen": Column(np.uint8),
        "written": Column(np.uint8),
        "known": Column(np.int32),  # pages in the order of their discovery
        "size": Column(np.int64, per="crawl", slots=4),  # [known, batch, done of the batch, fetched]
        "given": Column(per="crawl"),  # the sum of t
        "covered": Column(per="crawl"),
        "leaked": Column(per="crawl"),
        "place": Column(np.int32, -1),  # in the batch
    }

    def validate(self) -> None:
        self.require(0 < self.d < 1, "d", "a number between 0 and 1")
        self.require(0 < self.epsilon < 1, "epsilon", "a number between 0 and 1")
        self.require(0 <= self.window <= 1, "window", "a share from 0 to 1")
        self.require(0 <= self.until <= 1, "until", "a share from 0 to 1")

    def layout(self) -> dict[str, Column]:
        own = super().layout()
        if self.window > 0:
            return {**own, "batch": Column(np.int32)}
        ranks = {
            "known": Column(np.int32, per="crawl"),  # these two are for batches
            "place": Column(np.int32, per="crawl"),
            "slot": Column(SLOT, per="crawl", slots=ROOM),
            "node": Column(NODE, {"pos": ABSENT}),
            "bar": Column(SLOT, LOWEST_BAR, per="crawl"),
            "counts": Column(np.int64, per="crawl", slots=COUNTS),
        }
        return {**own, **ranks}

    def kernels(self) -> dict[str, Kernel]:
        own: dict[str, Kernel] = {"on_seed": _seed_ranked, "on_fetch": _cascade, "on_revisit": _cascade}
        if self.window > 0:
            own = {"on_seed": _seed, "on_start": _first_batch, "on_fetch": _windowed, "on_revisit": _again}
        return {**super().kernels(), **own}

    @staticmethod
    @lean
    def done(state: State) -> bool:
        return bool(state.until > 0.0 and state.covered[0] > 0.0 and state.covered[0] >= state.until * _reachable(state))

    def gauges(self, state: State) -> dict[str, float]:
        given, reachable = float(state.given[0]), _reachable(state)
        known = (
            {"coverage": float(state.covered[0]) / reachable, "reachable": reachable / given}
            if given and reachable > 0.0
            else {}
        )
        return {**(known or {"coverage": 0.0, "reachable": 1.0}), **super().gauges(state)}
