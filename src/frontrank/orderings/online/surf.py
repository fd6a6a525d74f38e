"""surf: exact, incremental PageRank of what is known, from the seeds, pages fetched and pages known. Our own ordering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frontrank.kernels.jit import Array, Column, Kernel, lean
from frontrank.kernels.prefetch import prefetch
from frontrank.orderings.online.random import BITS, mix
from frontrank.orderings.policy import Out, Policy, State
from frontrank.orderings.trust import NO_TRUST, Trust, paid
from frontrank.web.links import Links

AUTO, UNSET = "auto", -1.0  # as people say it, and as kernels read it
MAX_LOCAL = 0.95  # l is at most this, and this where hosts are many or seeds few
SEEDS_EQUAL = 1000.0  # so many seeds on one host share the mass equally with the pages fetched
HOSTS_WEIGH = 30.0  # m is this over the square root of the pages of a typical host
FULL = 100  # pages of a region, about: what a page of a full one discovers is a region of its own
DEEP = 2.0  # times the binary logarithm of the pages known: from this depth on a page may be of a chain
IN_CHAINS = 2.0  # the least exponent of novelty there,
HANDED_ON = 0.8  # and the most that is handed on
ONE = 2.0**32  # sums of fractions are kept as whole numbers: they are the same in whatever order they were added
TURN, FETCHED, KNOWN, HOSTS, SEEDS, STARTS, SMALLNESS, NEXT, LAST = range(9)  # of state.count; the last two from 1, 0 is nobody
WRITTEN, QUEUED, FETCHED_ONCE = 1, 2, 4  # of state.mark
HAND_ON = 8  # pages at the most that hand on at one fetch, the fetched one among them
SOON = 64  # links of the next page whose targets are asked for ahead


@lean
def _smallness(pages: int) -> int:
    return int(ONE / np.sqrt(float(pages)))


@lean
def _meet(state: State, page: int, region: int) -> None:
    """A page is discovered: it belongs to a region from now on, and its host has one page more."""
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
    """Where a page belongs that this one has discovered."""
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
def _seed(state: State, page: int, weight: float) -> float:
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
def _local(state: State) -> float:
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
    """So far from the seeds that further pages may be of a chain."""
    return float(DEEP * np.log2(float(state.count[KNOWN])))


@lean
def _novelty(state: State, page: int, variety: float, deep: float) -> float:
    """How much the region of a page has left to discover, compared with all that is known."""
    region = state.region[page]
    power = state.g
    if power < 0.0:
        power = 0.5 + 3.0 * variety
        if state.depth[page] > deep:
            power = max(power, IN_CHAINS)
    everywhere = state.count[FETCHED] / state.count[KNOWN]
    here = state.taken[region - 1] / state.known[region - 1]
    return float(min(1.0, everywhere / here) ** power)


@lean
def _fetch(state: State, links: Links, page: int, out: Out) -> int:
    if state.region[page] == 0:  # nobody has told of it: it was asked for out of turn
        _meet(state, page, _host_region(state, page))
    state.taken[state.region[page] - 1] += 1
    state.speaker[state.region[page] - 1] = page + 1
    state.count[FETCHED] += 1
    return _surf(state, links, page, out)


@lean
def _drawn(state: State, page: int) -> int:
    """A page drawn from all that are known, or who speaks for it while it waits; the page that has arrived, if nobody does."""
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
    """Last of those that are to hand on. todo has who comes after each: a ring would not bear that arrays grow."""
    count = state.count
    state.mark[page] = FETCHED_ONCE | QUEUED
    if count[LAST] > 0:
        state.todo[count[LAST] - 1] = page
    else:
        count[NEXT] = page + 1
    count[LAST] = page + 1


@lean
def _dequeue(state: State) -> int:
    count = state.count
    page = int(count[NEXT]) - 1
    state.mark[page] = FETCHED_ONCE
    if count[NEXT] == count[LAST]:
        count[NEXT] = count[LAST] = 0
    else:
        count[NEXT] = state.todo[page] + 1
    return page


@lean
def _soon(state: State, links: Links) -> None:
    """The next to hand on are known: ask for what they will touch, the nearer in turn the more of it."""
    start, target, todo, last = links.start, links.target, state.todo, state.count[LAST] - 1
    if last < 0:
        return
    page = state.count[NEXT] - 1
    for j in range(start[page], min(links.stop[page], start[page] + SOON)):
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
def _start_at(state: State, page: int, mass: float, reached: Array, written: int) -> int:
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
def _surf(state: State, links: Links, page: int, out: Out) -> int:
    """A surfer starts at this page, one at the next seed, one at a page drawn; write the waiting pages that are reached."""
    # Arrays in local names: looked up in the state for each link, they made it 20 times as slow.
    mass, mark, host = state.mass, state.mark, state.host
    count, reached, eps = state.count, out.page, state.eps
    _look_round(state, links, page)
    # One unit of mass: l starts here, as far as there is something to discover, and at a page drawn; the rest at a seed.
    local, m = _local(state), _weight(state)
    variety = max(0.0, 1.0 - 1.0 / m)
    share = 0.1 + 0.3 * variety
    near = state.d if state.d > 0.0 else 0.92 - 0.17 * variety
    far = near if state.d > 0.0 else min(near, HANDED_ON)
    deep = _deep(state)
    mass[page] += (1.0 - share) * local * _novelty(state, page, variety, deep)
    waiting_turn = mark[page] & QUEUED  # a page that comes back
    mark[page] = FETCHED_ONCE | QUEUED  # it hands on at once: no need to queue
    written = 0
    if count[SEEDS] > 0:
        turn = count[TURN] % count[SEEDS]
        count[TURN] = turn + 1
        part = (1.0 - local) * state.weight[turn] * count[SEEDS] / state.weights[0]
        written = _start_at(state, state.seed[turn], part, reached, written)
    written = _start_at(state, _drawn(state, page), share * local, reached, written)
    mark[page] = FETCHED_ONCE | waiting_turn
    p = page
    for step in range(HAND_ON):
        if step > 0:
            if count[NEXT] == 0:
                break
            p = _dequeue(state)
        _soon(state, links)
        held = mass[p]
        mass[p] = 0.0
        here = host[p]
        row = links.target[links.start[p] : links.stop[p]]
        total = (row.size - state.away[p]) + m * state.away[p]
        d = far if state.depth[p] > deep else near
        inside = d * held / total if total > 0.0 else 0.0
        outside = inside * m
        for j in range(row.size):
            q = np.uint64(row[j])  # no sign, so that none has to be looked for at each use
            value = mass[q] + (inside if host[q] == here else outside)
            mass[q] = value
            # Whether a page waits is hard to guess for the processor. So nothing is skipped: one that does not is written over.
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


def _auto_or(value: float | str, fits: Callable[[float], bool]) -> bool:
    return value == AUTO or (isinstance(value, float) and fits(value))


@dataclass(frozen=True)
class Surf(Policy):
    """surf: the page that a random surfer of what is known would visit most often first.

        seeds: r = 1/(number of seeds), each is a region of its own
        fetching p: r(p) += (1 - a) l n(p);  r(s) += 1 - l, s the next seed in turn;  r(x) += a l, x a known page, drawn
        then p, and the next seven of the fetched x with r(x) > eps, first come, first served, also of those from before:
            every q in L(x): r(q) += w(x, q) * d r(x)/W(x);  r(x) = 0
        w = m for a link between hosts, else 1;  W(x) = sum of w over L(x);  key(q) = r(q) of waiting pages

    So key(q) is what reaches q in PageRank of the known graph, up to what is still to be handed on, restarting at the seeds, at
    the pages fetched and at those known: with l = 0, of RankMass. Nothing is ever solved anew.

    How large hosts are says how to surf. v, *variety*, is 0 where they are large and near 1 where they are many and small:

        m = max(1, 30 * mean of 1/sqrt(known pages of a host) over the known hosts);  v = 1 - 1/m
        a = 0.1 + 0.3 v;  d = 0.92 - 0.17 v;  e = 0.5 + 3 v

    In a few large hosts nearly every link is a vote like any other. Among many small ones, links between hosts lead to what
    is new, and mass that starts only where a crawl fetches would stay in the hosts that it met first.

    n(p), *novelty*, is the defence against traps. A calendar without end feeds itself: each of its pages brings mass, all of
    which stays in it. But it discovers one page for each that is fetched. A page belongs to the region of the page that
    discovered it, if that is of the same host, else to the first region of its host; what a page of a region of 100 or more
    discovers is a new one. f is the share of a region's known pages that have been fetched, F the same for all together:
    n = min(1, F/f)^e. Pages of good regions are fetched early, too; so e is small where there is little variety. For a page
    that was discovered further from a seed than 2 log2(known pages), as those of chains are, e is at least 2, d at most 0.8.

    A page that is drawn and still waits has no known links, and another speaks for it: the one fetched last of its region;
    where none is, the page of another host that found the region; else p. A page that comes back brings a unit of mass again,
    which follows the links that it has now; it counts once for f and F.

    l follows from the seeds: 1/(1 + sqrt(S/1000)/H), S seeds on H known hosts, at most 0.95. Many seeds on one host are a
    sample of it, worth restarting at; where hosts are known, links between them tell more.

    With ``trust`` seeds have turns by weight: pages that the file names, and these alone, from their discovery on.

    Parameters, none of which needs to be known: ``l``, ``m``, ``g`` (for e) and ``d``, each fixed by a number; ``eps``;
    ``trust``, a file. ``g=0`` is no defence.

    Where others are better (docs/decisions.md has figures): on webs grown by preferential attachment backlink; by hot pages,
    on a square grid and on one host of which much is a calendar, pagerank.

    Reference: ours. docs/results/leaderboard.md compares it with all others. Cost: eight pages at the most hand on
    for each that is fetched; 8 to 10 times fpr.

    >>> from frontrank import Web, order
    >>> web = Web.from_edges([0, 0, 1, 1, 2], [1, 2, 3, 4, 4], pages=5)
    >>> order(web, "surf", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    l: float | str = AUTO  # noqa: E741
    m: float | str = AUTO
    g: float | str = AUTO
    d: float | str = AUTO
    eps: float = 0.1
    trust: Trust = NO_TRUST
    name = "surf"
    per_link = ("mass", "mark", "host")
    touches = "known"
    columns = {
        "mass": Column(),
        "mark": Column(np.uint8),
        "todo": Column(np.int32),  # of a page that is to hand on: the next one
        "depth": Column(np.int32),  # links from a seed on the way on which it was discovered
        "away": Column(np.int32),  # links of a fetched page that lead to other hosts
        "region": Column(np.int32),  # the number of its first page, from 1; 0 is a page not discovered
        "known": Column(np.int32),  # pages of a region
        "taken": Column(np.int32),  # pages of a region that were fetched
        "speaker": Column(np.int32),  # who speaks for the waiting pages of a region, from 1
        "met": Column(np.int32),  # pages as they were discovered
        "host_region": Column(np.int32, per="host"),
        "host_pages": Column(np.int32, per="host"),
        "seed": Column(np.int32),
        "weight": Column(),  # of seeds
        "weights": Column(per="crawl"),
        "count": Column(np.int64, per="crawl", slots=9),
    }
    counters = {"count": (TURN, FETCHED, STARTS, SMALLNESS)}

    def validate(self) -> None:
        self.require(_auto_or(self.l, lambda l: 0 <= l <= 1), "l", "a number from 0 to 1, or auto")  # noqa: E741
        self.require(_auto_or(self.m, lambda m: m > 0), "m", "a number above 0, or auto")
        self.require(_auto_or(self.g, lambda g: g >= 0), "g", "a number from 0, or auto")
        self.require(_auto_or(self.d, lambda d: 0 < d < 1), "d", "a number between 0 and 1, or auto")
        self.require(self.eps > 0, "eps", "a number above 0")

    def needs(self) -> frozenset[str]:
        return frozenset({"urls"}) if self.trust else frozenset()

    def optional_needs(self) -> frozenset[str]:
        return frozenset({"hosts"})

    def url_value(self, url: str) -> float:
        return self.trust.line_of(url)

    def layout(self) -> dict[str, Column]:
        return {**self.trust.layout(), **super().layout()}

    def parameters(self) -> dict[str, int | float]:
        fixed = {name: UNSET if isinstance(value := getattr(self, name), str) else value for name in ("m", "g", "d")}
        local = UNSET if isinstance(self.l, str) else self.l
        return {**fixed, "eps": self.eps, "local": local, **self.trust.parameters()}

    def gauges(self, state: State) -> dict[str, float]:
        return self.trust.gauges(state)

    def kernels(self) -> dict[str, Kernel]:
        return {**super().kernels(), "on_seed": _seed, "on_fetch": _fetch, "on_revisit": _surf}
