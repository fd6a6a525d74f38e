"""The kernels of surf; ``surf`` has the formula."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, lean
from frontrank.kernels.prefetch import prefetch
from frontrank.orderings.online.random import BITS, mix
from frontrank.orderings.policy import Out, State
from frontrank.orderings.trust import paid
from frontrank.web.links import Links

MAX_LOCAL = 0.95  # of l; it is this where hosts are many or seeds few
SEEDS_EQUAL = 1000.0  # so many seeds on one host share the mass equally with the pages fetched
HOSTS_WEIGH = 30.0  # m is this over the square root of the pages of a typical host
FULL = 100  # pages of a region, about: a page of a full region begins a new one with what it discovers
DEEP = 2.0  # times the binary logarithm of the pages known: from this depth on a page may be of a chain
MIN_CHAIN_E = 2.0  # the minimum of e, the exponent of novelty, there,
MAX_CHAIN_D = 0.8  # and the maximum of d
ONE = 2.0**32  # sums of fractions are kept as whole numbers: they are the same in whatever order they were added
TURN, FETCHED, KNOWN, HOSTS, SEEDS, STARTS, SMALLNESS, NEXT, LAST = range(
    9
)  # of state.count; the last two count from 1, 0 means none
WRITTEN, QUEUED, FETCHED_ONCE = 1, 2, 4  # of state.mark
HAND_ON = 8  # at most so many pages hand on at one fetch, the fetched one among them
MAX_PREFETCHED = 64  # links of the next page


class Habits(NamedTuple):
    """How to surf, by the sizes of hosts: m and v; a, the share of drawn pages; d, and d in chains; where these begin."""

    m: float
    variety: float
    drawn: float
    near: float
    far: float
    deep: float


@lean
def _smallness(pages: int) -> int:
    return int(ONE / np.sqrt(float(pages)))


@lean
def _meet(state: State, page: int, region: int) -> None:
    """A page is discovered: it gets a region, and its host has one page more."""
    host = state.host[page]
    size = state.host_pages[host] + 1
    state.host_pages[host] = size
    state.count[SMALLNESS] += _smallness(size) - (_smallness(size - 1) if size > 1 else 0)
    state.region[page] = region
    state.known[region - 1] += 1
    state.met[state.count[KNOWN]] = page
    state.count[KNOWN] += 1


@lean
def _host_region(state: State, page: int) -> int:
    """The first region of a page's host; its own, if there is none."""
    host = state.host[page]
    if state.host_region[host] == 0:
        state.host_region[host] = page + 1
        state.count[HOSTS] += 1
    return int(state.host_region[host])


@lean
def _region_of(state: State, parent: int, page: int) -> int:
    """The region of a page that ``parent`` has discovered."""
    if state.host[page] != state.host[parent]:
        region = _host_region(state, page)
        if state.speaker[region - 1] == 0:
            state.speaker[region - 1] = parent + 1
        return region
    region = state.region[parent]
    return int(region) if state.known[region - 1] < FULL else parent + 1


@lean
def _restart_at(state: State, page: int, weight: float) -> None:
    state.seed[state.count[SEEDS]] = page
    state.weight[state.count[SEEDS]] = weight
    state.count[SEEDS] += 1
    state.weights[0] += weight


@lean
def on_seed(state: State, page: int, weight: float) -> float:
    if state.region[page] == 0:
        _host_region(state, page)
        _meet(state, page, page + 1)  # seeds of one host have a region each
        state.speaker[page] = page + 1
        trusted = paid(state, page) if state.trusting > 0 else 1.0
        if trusted > 0.0:
            _restart_at(state, page, trusted)
        state.mass[page] += weight
    return float(state.mass[page])


@lean
def local_share(state: State) -> float:
    """l: the share of new mass that starts at the page fetched."""
    if state.local >= 0.0:
        return float(state.local)
    seeds = np.sqrt(state.count[SEEDS] / SEEDS_EQUAL) / state.count[HOSTS]
    return float(min(MAX_LOCAL, 1.0 / (1.0 + seeds)))


@lean
def _weight(state: State) -> float:
    """m: how much more a link between hosts weighs, the more the smaller hosts are."""
    if state.m > 0.0:
        return float(state.m)
    return float(max(1.0, HOSTS_WEIGH * (state.count[SMALLNESS] / ONE) / state.count[HOSTS]))


@lean
def _deep(state: State) -> float:
    """The distance from the seeds beyond which pages may be of a chain."""
    return float(DEEP * np.log2(float(state.count[KNOWN])))


@lean
def novelty(state: State, page: int, variety: float, deep: float) -> float:
    """How much the region of a page has left to discover, compared with all that is known."""
    region = state.region[page]
    power = state.g
    if power < 0.0:
        power = 0.5 + 3.0 * variety
        if state.depth[page] > deep:
            power = max(power, MIN_CHAIN_E)
    everywhere = state.count[FETCHED] / state.count[KNOWN]
    here = state.taken[region - 1] / state.known[region - 1]
    return float(min(1.0, everywhere / here) ** power)


@lean
def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
    if state.region[page] == 0:  # no page links to it: it was asked for out of turn
        _meet(state, page, _host_region(state, page))
    state.taken[state.region[page] - 1] += 1
    state.speaker[state.region[page] - 1] = page + 1
    state.count[FETCHED] += 1
    return surf(state, links, page, out)


@lean
def drawn_page(state: State, page: int) -> int:
    """A page drawn from all that are known, or while it waits the page that speaks for it; without one, the page fetched."""
    state.count[STARTS] += 1
    drawn = state.met[mix(int(state.count[STARTS]) & BITS) % state.count[KNOWN]]
    if state.mark[drawn] & FETCHED_ONCE:
        return int(drawn)
    speaker = state.speaker[state.region[drawn] - 1]
    return int(speaker) - 1 if speaker > 0 else page


@lean
def _look_round(state: State, links: Links, page: int) -> None:
    """Discover the links of a page that has arrived, and count those that lead to other hosts."""
    host, here, away = state.host, state.host[page], 0
    for j in range(links.start[page], links.stop[page]):
        q = links.target[j]
        away += host[q] != here
        if state.region[q] == 0:
            _meet(state, q, _region_of(state, page, q))
            state.depth[q] = state.depth[page] + 1
            if state.trusting > 0:
                trusted = paid(state, q)
                if trusted > 0.0:
                    _restart_at(state, q, trusted)
    state.away[page] = away


@lean
def _enqueue(state: State, page: int) -> None:
    """Put a page at the end of those that are to hand on. todo has the page after each; a ring would break when arrays grow."""
    count = state.count
    state.mark[page] = FETCHED_ONCE | QUEUED
    if count[LAST] > 0:
        state.todo[count[LAST] - 1] = page
    else:
        count[NEXT] = page + 1
    count[LAST] = page + 1


@lean
def dequeue(state: State) -> int:
    count = state.count
    page = int(count[NEXT]) - 1
    state.mark[page] = FETCHED_ONCE
    if count[NEXT] == count[LAST]:
        count[NEXT] = count[LAST] = 0
    else:
        count[NEXT] = state.todo[page] + 1
    return page


@lean
def prefetch_next(state: State, links: Links) -> None:
    """The next pages to hand on are known: prefetch what they will touch, more of it for the nearer ones."""
    start, target, todo, last = links.start, links.target, state.todo, state.count[LAST] - 1
    if last < 0:
        return
    page = state.count[NEXT] - 1
    for j in range(start[page], min(links.stop[page], start[page] + MAX_PREFETCHED)):
        prefetch(state.mass, target[j])
    if page != last:
        page = todo[page]
        prefetch(target, start[page])
        prefetch(target, start[page] + 16)
        prefetch(state.away, page)
        if page != last:
            prefetch(start, todo[page])
            prefetch(todo, todo[page])


@lean
def start_at(state: State, page: int, mass: float, reached: Array, written: int) -> int:
    """A surfer starts at a page: one that waits is written, one that was fetched hands on in its turn."""
    state.mass[page] += mass
    if state.mark[page] == 0:
        state.mark[page] = WRITTEN
        reached[written] = page
        return written + 1
    if state.mark[page] == FETCHED_ONCE and state.mass[page] > state.eps:
        _enqueue(state, page)
    return written


@lean
def habits_of(state: State) -> Habits:
    variety = max(0.0, 1.0 - 1.0 / _weight(state))
    near = state.d if state.d > 0.0 else 0.92 - 0.17 * variety
    far = near if state.d > 0.0 else min(near, MAX_CHAIN_D)
    return Habits(_weight(state), variety, 0.1 + 0.3 * variety, near, far, _deep(state))


@lean
def start(state: State, page: int, habits: Habits, reached: Array) -> int:
    """One unit of mass: l starts at this page, as far as it has something to discover, and at a page drawn; the rest at a seed.

    Returns how many pages were written.
    """
    count, mark, local = state.count, state.mark, local_share(state)
    state.mass[page] += (1.0 - habits.drawn) * local * novelty(state, page, habits.variety, habits.deep)
    waiting_turn = mark[page] & QUEUED  # a revisited page
    mark[page] = FETCHED_ONCE | QUEUED  # it hands on at once: no need to queue
    written = 0
    if count[SEEDS] > 0:
        turn = count[TURN] % count[SEEDS]
        count[TURN] = turn + 1
        part = (1.0 - local) * state.weight[turn] * count[SEEDS] / state.weights[0]
        written = start_at(state, state.seed[turn], part, reached, written)
    written = start_at(state, drawn_page(state, page), habits.drawn * local, reached, written)
    mark[page] = FETCHED_ONCE | waiting_turn
    return written


@lean
def surf(state: State, links: Links, page: int, out: Out) -> int:
    """A surfer starts at this page, one at the next seed, one at a page drawn; write the waiting pages that are reached."""
    # Arrays in local names: looked up in the state for each link, they made it 20 times as slow.
    mass, mark, host = state.mass, state.mark, state.host
    count, reached, eps = state.count, out.page, state.eps
    _look_round(state, links, page)
    habits = habits_of(state)
    m = habits.m
    written = start(state, page, habits, reached)
    p = page
    for step in range(HAND_ON):
        if step > 0:
            if count[NEXT] == 0:
                break
            p = dequeue(state)
        prefetch_next(state, links)
        given = mass[p]
        mass[p] = 0.0
        here = host[p]
        row = links.target[links.start[p] : links.stop[p]]
        total = (row.size - state.away[p]) + m * state.away[p]
        d = habits.far if state.depth[p] > habits.deep else habits.near
        inside = d * given / total if total > 0.0 else 0.0
        outside = inside * m
        for j in range(row.size):
            q = np.uint64(row[j])  # unsigned, so that no negative index has to be checked for at each use
            value = mass[q] + (inside if host[q] == here else outside)
            mass[q] = value
            # Whether a page waits is hard to predict for a processor. So nothing is skipped: one that does not is overwritten.
            before = mark[q]
            waits = before == 0
            reached[written] = row[j]
            written += waits
            mark[q] = before | waits
            if (value > eps) & (before == FETCHED_ONCE):
                _enqueue(state, row[j])
    for i in range(written):
        mark[reached[i]] = 0
        out.key[i] = mass[reached[i]]
    return written
