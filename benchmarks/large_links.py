"""The kernels of ``large_web``: the links of a page computed from its number and the seed only.

Each page has random numbers of its own, so pages can be made in any order, by any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, kernel
from frontrank.kernels.splitmix import GOLDEN, below, mixed, unit
from frontrank.sources.synthetic_links import DANGLING, MAX_DRAW, MENU, NAVIGATION, NEAR, TO_ROOT, TRIES

DEGREE, TARGETS, IMPACT, FETCHED = (
    np.uint64(1),
    np.uint64(2),
    np.uint64(3),
    np.uint64(4),
)  # what the random numbers of a page are for
MAX_IMPACT = 1e6


class LinkPlan(NamedTuple):
    """Where the pages lie, and how many links they have."""

    first: Array  # of each host, its first page (its root); one more entry ends the last host
    branching: Array  # of each host, the children of a directory
    waiting: float  # the probability that a page is not fetched if its parent is
    impact: float  # share of pages with impact
    stay: float  # share of links, those to children apart, that stay on the host
    scale: float  # of the draws
    seed: int


@kernel
def _start(rng: Array, plan: LinkPlan, page: Any, salt: Any) -> None:
    rng[0] = mixed(np.uint64(plan.seed) * GOLDEN + mixed(np.uint64(page) * GOLDEN + salt))


@kernel
def host_of(first: Array, page: Any) -> Any:
    low, high = np.int64(0), np.int64(first.size - 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if first[middle] <= page:
            low = middle
        else:
            high = middle
    return low


@kernel
def _children(plan: LinkPlan, h: Any, p: Any) -> Any:
    left = plan.first[h + 1] - plan.first[h] - 1 - (p - plan.first[h]) * plan.branching[h]
    return min(max(left, 0), plan.branching[h])


@kernel
def _waits(plan: LinkPlan, h: Any, p: Any, rng: Array) -> bool:
    """Whether a page is not fetched. Its parent is then, and links to it."""
    root, b = plan.first[h], plan.branching[h]
    above = 0
    while p > root:
        _start(rng, plan, p, FETCHED)
        if unit(rng) >= plan.waiting:
            break
        above += 1
        p = root + (p - root - 1) // b
    return above % 2 == 1


@kernel
def _draw_degree(plan: LinkPlan, h: Any, p: Any, rng: Array) -> Any:
    """What the page's links, those to its children apart, are in proportion to; -1 if it is not fetched."""
    if plan.waiting > 0.0 and _waits(plan, h, p, rng):
        return -1.0
    _start(rng, plan, p, DEGREE)
    if _children(plan, h, p) == 0 and unit(rng) < DANGLING:
        return 0.0
    root = np.sqrt(1.0 - unit(rng))
    return min(MAX_DRAW, unit(rng) / (root * np.sqrt(np.sqrt(root))))


@kernel
def sum_draws(plan: LinkPlan, begin: int, end: int) -> tuple[float, float]:
    """The sum of the draws of these pages, and the number of their children."""
    rng = np.zeros(1, np.uint64)
    h = host_of(plan.first, begin)
    total, children = 0.0, 0.0
    for p in range(begin, end):
        while plan.first[h + 1] <= p:
            h += 1
        drawn = _draw_degree(plan, h, p, rng)
        if drawn >= 0.0:
            total += drawn
            children += _children(plan, h, p)
    return total, children


@kernel
def fill_degrees(plan: LinkPlan, begin: int, degree: Array, hosts: Array, views: Array) -> int:
    """Of the pages from ``begin``: the number of links (-1 if not fetched), the host, the impact; returns all links."""
    rng = np.zeros(1, np.uint64)
    pages = plan.first[-1]
    h = host_of(plan.first, begin)
    links = 0
    for k in range(degree.size):
        p = begin + k
        while plan.first[h + 1] <= p:
            h += 1
        hosts[k] = h
        drawn = _draw_degree(plan, h, p, rng)
        degree[k] = -1
        if drawn >= 0.0:
            children = _children(plan, h, p)
            free = np.int64(plan.scale * drawn + unit(rng)) if drawn > 0.0 else 0
            degree[k] = max(children, min(children + free, pages // 2))
            links += degree[k]
        _start(rng, plan, p, IMPACT)
        views[k] = 0.0
        if unit(rng) < plan.impact:
            views[k] = np.floor(min(MAX_IMPACT, 1.0 / (1.0 - unit(rng))))
    return links


@kernel
def _is_new(row: Array, slots: Array, mask: int, q: Any) -> bool:
    """Enter a target of the row; whether it was not there yet."""
    at = (q * 0x9E3779B1 >> 7) & mask
    while slots[at] >= 0:
        if slots[at] == q:
            return False
        at = (at + 1) & mask
    slots[at] = q
    return True


@kernel
def fill_targets(plan: LinkPlan, begin: int, degree: Array, targets: Array) -> None:
    """The links of the pages from ``begin``, one page after the other."""
    rng = np.zeros(1, np.uint64)
    most = np.int64(0)
    for k in range(degree.size):
        most = max(most, degree[k])
    room = 4
    while room < 2 * (most + 1):
        room *= 2
    table = np.empty(room, np.int64)
    h = host_of(plan.first, begin)
    at = 0
    for k in range(degree.size):
        p = begin + k
        while plan.first[h + 1] <= p:
            h += 1
        if degree[k] > 0:
            slots = 4
            while slots < 2 * (degree[k] + 1):
                slots *= 2
            table[:slots] = -1
            _fill_row(plan, h, p, targets[at : at + degree[k]], table, slots - 1, rng)
            at += degree[k]


@kernel
def _fill_row(plan: LinkPlan, h: Any, p: Any, row: Array, slots: Array, mask: int, rng: Array) -> None:
    root, n, b = plan.first[h], plan.first[h + 1] - plan.first[h], plan.branching[h]
    i = p - root
    _start(rng, plan, p, TARGETS)
    _is_new(row, slots, mask, p)  # no page links to itself
    children = _children(plan, h, p)
    for c in range(children):
        _is_new(row, slots, mask, root + i * b + 1 + c)
    local = 0
    for _ in range(row.size - children):
        if unit(rng) < plan.stay:
            local += 1
    k = 0
    if k < local and i > 0 and unit(rng) < NAVIGATION and _is_new(row, slots, mask, root):
        row[k] = root
        k += 1
    if k < local and i > b and unit(rng) < NAVIGATION and _is_new(row, slots, mask, root + (i - 1) // b):
        row[k] = root + (i - 1) // b
        k += 1
    for q in range(root + 1, root + 1 + min(b, n - 1)):
        if k < local and i > 0 and unit(rng) < MENU and _is_new(row, slots, mask, q):
            row[k] = q
            k += 1
    local -= k
    for c in range(children):
        row[k] = root + i * b + 1 + c
        k += 1
    while k < row.size:
        here = below(rng, row.size - k) < local
        if here:
            local -= 1
        row[k] = _target(plan, h, p, here, row, slots, mask, rng)
        k += 1


@kernel
def _target(plan: LinkPlan, h: Any, p: Any, here: bool, row: Array, slots: Array, mask: int, rng: Array) -> Any:
    """A page that the row does not hold yet: on the host, or elsewhere; where none is found, the next one that is free."""
    root, n, b = plan.first[h], plan.first[h + 1] - plan.first[h], plan.branching[h]
    pages = plan.first[-1]
    for trial in range(2 * TRIES):
        if here == (trial < TRIES):
            q = _noticed(plan, h, rng) if unit(rng) >= NEAR else p - b + below(rng, 2 * b + 1)
            if not root <= q < root + n:
                continue
        else:
            there = host_of(plan.first, below(rng, pages))
            if there == h:
                continue
            q = plan.first[there] if unit(rng) < TO_ROOT else _noticed(plan, there, rng)
        if _is_new(row, slots, mask, q):
            return q
    q = below(rng, pages)
    while not _is_new(row, slots, mask, q):
        q = (q + 1) % pages
    return q


@kernel
def _noticed(plan: LinkPlan, host: Any, rng: Array) -> Any:
    """A page of a host; the nearer to the root, the likelier: page i with odds ~ i^-7/8."""
    u = unit(rng)
    u *= u
    u *= u
    return plan.first[host] + np.int64(u * u * (plan.first[host + 1] - plan.first[host]))
