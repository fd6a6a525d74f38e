"""A simulated crawl of a web that changes: a budget of fetches per day, shared between discovery and revisits.

Fetches are evenly spaced. Each goes to the page that has been due for a revisit longest, or to the next page of the ordering:
where both are possible, a given share of fetches are revisits; where one is not, the other gets the fetch. Pages change as
Poisson processes, each with its own rate. A visit is an event for the ordering too (``on_revisit``); links do not change.

Measures, all over the time from ``since`` on (Cho, Garcia-Molina: Effective page refresh policies for web crawlers, TODS 2003):

    freshness   of a page at a time: 1 if its copy is what the page is, else 0
    age         of a page at a time: 0 if it is fresh, else the time since the first change that the copy lacks
    of the collection: the mean over the pages fetched so far, over time; weighted: by the importance of pages

Integrals over time are exact, not sampled: between two visits of a page only its first change matters, and its time is drawn
anew at each visit, as a Poisson process has no memory. O(log n) for a visit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers import heap
from frontrank.frontiers.heap import ABSENT, Heap
from frontrank.frontiers.heap import peek as first_due
from frontrank.frontiers.heap import pop as take_due
from frontrank.frontiers.heap import put as put_due
from frontrank.kernels.jit import Array, Kernel, interpreted, kernel
from frontrank.orderings.online.random import BITS, draw, mix
from frontrank.orderings.policy import Out, Policy, Queue, State, on_fetch, on_revisit, pop, put
from frontrank.orderings.revisits.revisit import Revisit, Settings
from frontrank.simulation.changes import DAY
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.web.links import Links
from frontrank.web.seeds import distinct
from frontrank.web.web import Web

SAMPLES = 200  # points of a curve


def wait(settings: Settings, page: int, visits: int, changes: int, watched_s: float, before_s: float) -> float:
    raise NotImplementedError  # an open name, bound when the driver is linked


class Copies(NamedTuple):
    """What is known of the copy of each page, and what is not."""

    rate: Array  # changes per second
    weight: Array
    first_at: Array  # of the first fetch; NaN: none yet
    at: Array  # of the last visit
    changed_at: Array  # the first change after it
    before: Array  # the wait before it
    visits: Array  # at which the copy could be compared
    changes: Array  # how often it was another then
    seed: Array  # one number: the changes of all pages follow from it, whatever the policy


class Sums(NamedTuple):
    """Integrals over time from ``since`` on: [of all pages, of pages by weight]."""

    collected: Array
    fresh: Array
    age: Array
    turns: Array  # fetches of new pages, revisits, revisits that found a change, idle turns


class FetchSchedule(NamedTuple):
    """How fast pages are fetched, how long, and since when is measured."""

    every_s: float
    end_s: float
    since_s: float
    share: float  # of fetches that are revisits, while there is something to discover


class FreshnessCurve(NamedTuple):
    """The state of the collection at evenly spaced times."""

    collected: Array
    fresh: Array
    age: Array
    weight: Array
    weight_fresh: Array


@kernel
def _account(copies: Copies, sums: Sums, page: int, now: float, since: float) -> None:
    """Add the freshness and age of a page's copy from its last visit until now."""
    begin = max(copies.at[page], since)
    if now <= begin:
        return
    changed = copies.changed_at[page]
    fresh = max(0.0, min(changed, now) - begin)
    old = max(changed, begin)
    age = 0.0
    if now > old:
        age = 0.5 * ((now - changed) ** 2 - (old - changed) ** 2)
    weight = copies.weight[page]
    sums.collected[0] += now - begin
    sums.fresh[0] += fresh
    sums.age[0] += age
    sums.collected[1] += weight * (now - begin)
    sums.fresh[1] += weight * fresh
    sums.age[1] += weight * age


@kernel
def _copied(copies: Copies, page: int, now: float) -> None:
    """The copy of a page is what the page is now."""
    copies.at[page] = now
    copies.changed_at[page] = np.inf
    if copies.rate[page] > 0.0:
        u = draw(mix((copies.seed[0] + page) & BITS), copies.visits[page])
        copies.changed_at[page] = now - np.log(1.0 - u) / copies.rate[page]


@kernel
def _schedule(copies: Copies, settings: Settings, due: Heap, page: int, now: float) -> None:
    """Schedule the next visit of a page that was visited just now."""
    watched = now - copies.first_at[page]
    after = wait(settings, page, copies.visits[page], copies.changes[page], watched, copies.before[page])
    copies.before[page] = after
    due.node[page]["pos"] = ABSENT  # the heap lets a page in once, unless it forgets it
    if after < np.inf:
        put_due(due, page, -(now + after))


@kernel
def _sample(copies: Copies, curve: FreshnessCurve, i: int, now: float) -> None:
    for page in range(copies.at.size):
        if not np.isnan(copies.first_at[page]):
            curve.collected[i] += 1.0
            curve.weight[i] += copies.weight[page]
            if copies.changed_at[page] > now:
                curve.fresh[i] += 1.0
                curve.weight_fresh[i] += copies.weight[page]
            else:
                curve.age[i] += now - copies.changed_at[page]


@kernel
def collect(copies: Copies, settings: Settings, due: Heap, phase: Array) -> None:
    """Everything is fetched when the clock starts, at moments that lie apart: pages are due in turn, not all at once."""
    for page in range(phase.size):
        after = wait(settings, page, 0, 0, 0.0, 0.0)
        begun = -phase[page] * after if after < np.inf else 0.0
        copies.first_at[page] = begun
        _copied(copies, page, begun)
        copies.before[page] = after
        if after < np.inf:
            put_due(due, page, -(begun + after))


@kernel
def _sample_until(copies: Copies, curve: FreshnessCurve, sampled: int, now: float, end_s: float) -> int:
    """Take the samples that are due; returns how many are taken."""
    while sampled < curve.collected.size and now >= (sampled + 1) * end_s / curve.collected.size:
        _sample(copies, curve, sampled, (sampled + 1) * end_s / curve.collected.size)
        sampled += 1
    return sampled


@kernel
def _revisit(copies: Copies, sums: Sums, page: int, now: float, since_s: float) -> None:
    """Compare the copy of a page with the page, and replace it."""
    _account(copies, sums, page, now, since_s)
    copies.visits[page] += 1
    sums.turns[1] += 1
    if copies.changed_at[page] <= now:
        copies.changes[page] += 1
        sums.turns[2] += 1
    _copied(copies, page, now)


@kernel
def _finish(copies: Copies, sums: Sums, curve: FreshnessCurve, sampled: int, pace: FetchSchedule) -> None:
    """Account for all copies until the end, and take the samples that are left."""
    for page in range(copies.at.size):
        if not np.isnan(copies.first_at[page]):
            _account(copies, sums, page, pace.end_s, pace.since_s)
    while sampled < curve.collected.size:
        _sample(copies, curve, sampled, pace.end_s)
        sampled += 1


@kernel
def refresh(
    state: State,
    queue: Queue,
    links: Links,
    out: Out,
    settings: Settings,
    copies: Copies,
    due: Heap,
    sums: Sums,
    curve: FreshnessCurve,
    pace: FetchSchedule,
) -> None:
    """Fetch every so many seconds until the end."""
    credit = 0.0
    sampled = 0
    for k in range(int(pace.end_s / pace.every_s)):
        now = k * pace.every_s
        sampled = _sample_until(copies, curve, sampled, now, pace.end_s)
        credit = min(2.0, credit + pace.share)  # what revisits did not need is not saved up
        back = first_due(due)
        ready = back >= 0 and -due.node[back]["key"] <= now
        page = -1 if ready and credit >= 1.0 else pop(queue)
        if page >= 0:
            copies.first_at[page] = now
            _copied(copies, page, now)
            sums.turns[0] += 1
            state.fetched[page] = 1
            count = on_fetch(state, links, page, out)
        elif ready:
            credit = max(0.0, credit - 1.0)
            page = take_due(due)
            _revisit(copies, sums, page, now, pace.since_s)
            count = on_revisit(state, links, page, out)
        else:
            sums.turns[3] += 1
            continue
        for j in range(count):
            put(queue, out.page[j], out.key[j])
        _schedule(copies, settings, due, page, now)
    _finish(copies, sums, curve, sampled, pace)


@dataclass(frozen=True, eq=False)
class Refreshed:
    """The result of a revisit policy on a changing web."""

    revisit: Revisit
    pages: int  # of the collection
    revisits: int
    found: int  # revisits that found a change
    idle: int  # fetches for which no page was due
    freshness: float
    age_days: float
    weighted_freshness: float
    weighted_age_days: float
    days: Array  # of the curves
    curve: FreshnessCurve


def keep_fresh(
    web: Web,
    policy: Policy,
    revisit: Revisit,
    rates: Array,
    seeds: Array,
    *,
    days: float,
    a_day: float,
    share: float = 0.5,
    weights: Array | None = None,
    collected: bool = False,
    since_days: float | None = None,
    seed: int = 0,
    jit: bool = True,
) -> Refreshed:
    """Crawl a web that changes for so many days.

    ``rates``: changes per second of each page; ``a_day``: fetches per day; ``share``: of them for revisits, as long as there is
    something to discover; ``collected``: all pages are fetched before the clock starts. Measures are taken from
    ``since_days`` on, by default over the second half.
    """
    if policy.interval() or policy.stepwise():
        raise InputError(f"{policy.spec()} cannot be simulated with revisits: it ranks now and then, or reads texts; use surf")
    engine = GraphDriver(policy, web, jit)
    copies = _no_copies(rates, np.full(web.pages, 1.0) if weights is None else weights, seed)
    since = days / 2 if since_days is None else since_days
    found_by_then = collected or web.pages <= (1.0 - share) * a_day * since  # then all fetches are for revisits
    settings = revisit.settings(copies.rate, copies.weight, a_day / DAY * (1.0 if found_by_then else share))
    due = heap.new(web.pages)
    bound: dict[str, Kernel] = {"wait": type(revisit).wait}
    engine.seed(distinct(seeds))
    if collected:
        engine.follow(np.arange(web.pages, dtype=np.int32))
        phase = np.random.default_rng(seed).random(web.pages)
        engine._link(collect, **bound)(copies, settings, due, phase)
    kernels = {name: policy.kernels()[name] for name in ("on_fetch", "on_revisit")}
    kernels |= {"pop": engine.kind.pop, "put": engine.put, "_schedule": interpreted(_schedule, **bound)}
    sums = Sums(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(4, np.int64))
    curve = FreshnessCurve(*(np.zeros(SAMPLES) for _ in FreshnessCurve._fields))
    crawl = (engine.state, engine.queue, engine.links, engine.out)
    pace = FetchSchedule(DAY / a_day, days * DAY, since * DAY, float(share))
    engine._link(refresh, **kernels)(*crawl, settings, copies, due, sums, curve, pace)
    return _refreshed(revisit, copies, sums, curve, days)


def _no_copies(rates: Array, weights: Array, seed: int) -> Copies:
    """Of pages that change at these rates, before the first is fetched."""
    pages = len(rates)
    return Copies(
        *(np.asarray(rates, np.float64), np.asarray(weights, np.float64), np.full(pages, np.nan), np.zeros(pages)),
        *(np.full(pages, np.inf), np.zeros(pages)),
        *(np.zeros(pages, np.int64), np.zeros(pages, np.int64), np.array([mix(seed & BITS)])),
    )


def _refreshed(revisit: Revisit, copies: Copies, sums: Sums, curve: FreshnessCurve, days: float) -> Refreshed:
    """Means over time."""
    watched = np.where(sums.collected > 0, sums.collected, np.nan)
    fresh, age_days = (sums.fresh / watched).tolist(), (sums.age / watched / DAY).tolist()
    _, revisits, found, idle = sums.turns.tolist()
    pages, at = int(np.isfinite(copies.first_at).sum()), np.arange(1, SAMPLES + 1) * days / SAMPLES
    return Refreshed(revisit, pages, revisits, found, idle, fresh[0], age_days[0], fresh[1], age_days[1], at, curve)
