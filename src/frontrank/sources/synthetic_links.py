"""How the links of a generated web are drawn: the kernels behind ``synthetic:``.

All of them draw from one stream of splitmix64 numbers; ``synthetic`` describes the model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.jit import Array, kernel
from frontrank.kernels.splitmix import below, unit
from frontrank.sources.synthetic_text import Layout

TRAP_NEXT = 7  # days that a day of the calendar links to
TRAP_DOORS = 4  # pages of the host, its root among them, that link to the first day

DANGLING = 0.05  # of the leaves; small draws of the out-degree add about as many
MAX_DRAW = 60.0  # of the out-degree, in units of the smallest mean
INHERIT = 0.9  # a page has its parent's topic
NAVIGATION = 0.7  # a page links to its root, and to its parent
SAME_TOPIC = 0.7  # a link to another host is looked for on the same topic
MENU = 0.6  # a page links to a child of its root
NEAR = 0.1  # a link on the host that is not copied goes to one of the neighbours
TO_ROOT = 0.5  # a link to another host that is not copied goes to the root
TRIES = 16


@kernel
def shuffled(values: Array, rng: Array) -> Array:
    for k in range(values.size - 1, 0, -1):
        j = below(rng, k + 1)
        kept = values[k]
        values[k] = values[j]
        values[j] = kept
    return values


@kernel
def fill_below(values: Array, n: int, rng: Array) -> None:
    for k in range(values.size):
        values[k] = below(rng, n)


@kernel
def inherit(first: Array, size: Array, branching: Array, main_topic: Array, topics: int, rng: Array) -> Array:
    topic = np.empty(first[-1], np.int16)
    for h in range(size.size):
        lo = first[h]
        topic[lo : first[h + 1]] = main_topic[h]
        for i in range(1, size[h]):
            if unit(rng) < INHERIT:
                topic[lo + i] = topic[lo + (i - 1) // branching[h]]
            else:
                topic[lo + i] = below(rng, topics)
    return topic


@kernel
def by_topic(topic: Array, topics: int, trap_first: int, trap: int) -> tuple[Array, Array]:
    """The pages of each topic, those of the calendar left out."""
    start = np.zeros(topics + 1, np.int64)
    for p in range(topic.size):
        if not trap_first <= p < trap_first + trap:
            start[topic[p] + 1] += 1
    for t in range(topics):
        start[t + 1] += start[t]
    fill = start[:-1].copy()
    pages = np.empty(start[topics], np.int32)
    for p in range(topic.size):
        if not trap_first <= p < trap_first + trap:
            pages[fill[topic[p]]] = p
            fill[topic[p]] += 1
    return start, pages


@kernel
def children_of(layout: Layout, host: Any, page: Any) -> Any:
    """How many children a page of a host has."""
    left = layout.size[host] - 1 - (page - layout.first[host]) * layout.branching[host]
    return min(max(left, 0), layout.branching[host])


@kernel
def plan(layout: Layout, pages: int, links: float, rng: Array) -> Array:
    """Where the links of each page begin: room for its children, its draw, its door to the calendar."""
    hosts = layout.size.size
    draw = np.zeros(pages, np.float64)
    total = 0.0
    sites = 0
    for h in range(hosts):
        sites += layout.size[h]
        for i in range(layout.size[h]):
            if children_of(layout, h, layout.first[h] + i) > 0 or unit(rng) >= DANGLING:
                root = np.sqrt(1.0 - unit(rng))
                draw[layout.first[h] + i] = min(MAX_DRAW, unit(rng) / (root * np.sqrt(np.sqrt(root))))
                total += draw[layout.first[h] + i]
    scale = max(0.0, links * sites - (sites - hosts)) / max(total, 1.0)
    indptr = np.zeros(pages + 1, np.int64)
    for h in range(hosts):
        for i in range(layout.size[h]):
            p = layout.first[h] + i
            free = min(np.int64(scale * draw[p] + unit(rng)), sites // 2) if draw[p] > 0 else 0
            indptr[p + 1] = children_of(layout, h, layout.first[h] + i) + free + is_door(layout, p)
    for p in range(layout.trap_first, layout.trap_last):
        indptr[p + 1] = min(TRAP_NEXT, layout.trap_last - 1 - p) + (1 if p > layout.trap_first else 0)
    for p in range(pages):
        indptr[p + 1] += indptr[p]
    return indptr


@kernel
def is_door(layout: Layout, page: Any) -> Any:
    """1 if the page links to the first day of the calendar, else 0."""
    if layout.trap_first == layout.trap_last:
        return 0
    host = layout.host[layout.trap_first]
    behind = page - layout.first[host]
    return 1 if 0 <= behind < min(TRAP_DOORS, layout.size[host]) else 0


@kernel
def share_staying(layout: Layout, indptr: Array, locality: float) -> Any:
    """The share of each page's links, those to children apart, that must stay on the host for ``locality`` of all
    links to stay: more than that, since a small host soon has no page left to link to. By bisection."""
    low, high = 0.0, 1.0
    for _ in range(20):
        share = (low + high) / 2
        staying, links = 0.0, 0
        for h in range(layout.size.size):
            n = layout.size[h]
            for i in range(n):
                p = layout.first[h] + i
                room = indptr[p + 1] - indptr[p]
                children = children_of(layout, h, layout.first[h] + i)
                links += room
                staying += children + min(share * (room - children), n - 1.0 - children)
        if staying < locality * links:
            low = share
        else:
            high = share
    return high


@kernel
def interleaved(layout: Layout, rng: Array) -> Array:
    """The pages in the order of their birth: hosts mixed, each host's pages in their order."""
    order = np.empty(layout.topic_pages.size, np.int32)
    k = 0
    for h in range(layout.size.size):
        order[k : k + layout.size[h]] = h
        k += layout.size[h]
    shuffled(order, rng)
    following = layout.first.copy()
    for k in range(order.size):
        h = order[k]
        order[k] = following[h]
        following[h] += 1
    return order


class LinkLists(NamedTuple):
    """The links while they are being written."""

    indptr: Array
    targets: Array
    filled: Array  # of each page, the places of its row that are filled
    seen: Array  # of each page, the last one that linked to it


@kernel
def grow(layout: Layout, order: Array, rows: LinkLists, stay: float, copying: float, rng: Array) -> None:
    """Write the links of all pages; ``stay`` is the share of links, those to children apart, that stay on the host.

    A page may find fewer targets than planned: then its row is not filled.
    """
    for k in range(order.size):
        page = np.int64(order[k])
        begin = rows.indptr[page]
        rows.seen[page] = page
        free = rows.indptr[page + 1] - begin - children_of(layout, layout.host[page], page) - is_door(layout, page)
        local = 0
        for _ in range(free):
            if unit(rng) < stay:
                local += 1
        used = _navigate(layout, page, local, rows, rng)
        _wander(layout, order, page, local - used, free - local, rows, copying, rng)
    _wind_up(layout, rows)


@kernel
def _add(q: Any, p: Any, rows: LinkLists) -> None:
    rows.targets[rows.indptr[p] + rows.filled[p]] = q
    rows.filled[p] += 1
    rows.seen[q] = p


@kernel
def _navigate(layout: Layout, p: Any, local: int, rows: LinkLists, rng: Array) -> Any:
    """Links to the root, the parent and the menu, as far as the local ones go, then to the children and the calendar.

    Returns how many of the local ones were used.
    """
    h = layout.host[p]
    root, n, b = layout.first[h], layout.size[h], layout.branching[h]
    i = p - root
    used = 0
    if used < local and i > 0 and unit(rng) < NAVIGATION:
        _add(root, p, rows)
        used += 1
    if used < local and i > b and unit(rng) < NAVIGATION:
        _add(root + (i - 1) // b, p, rows)
        used += 1
    for q in range(root + 1, root + 1 + min(b, n - 1)):
        if used < local and i > 0 and rows.seen[q] != p and unit(rng) < MENU:
            _add(q, p, rows)
            used += 1
    for c in range(children_of(layout, h, p)):
        _add(root + i * b + 1 + c, p, rows)
    if is_door(layout, p):
        _add(layout.trap_first, p, rows)
    return used


@kernel
def _wander(layout: Layout, order: Array, p: Any, local: int, remote: int, rows: LinkLists, copying: float, rng: Array) -> None:
    """The other links, those that stay and those that leave mixed; where one kind finds no page, the other is tried."""
    h = layout.host[p]
    n = layout.size[h]
    on_host = np.int64(rows.filled[p])
    for left in range(local + remote, 0, -1):
        here = below(rng, left) < local
        if here:
            local -= 1
        q = -1
        if here and on_host < n - 1:
            q = _on_host(layout, p, rows, copying, rng)
        if q < 0 and n < order.size:
            q = _elsewhere(layout, order, p, rows, copying, rng)
        if q < 0 and on_host < n - 1:
            q = _on_host(layout, p, rows, copying, rng)
        if q >= 0:
            on_host += layout.host[q] == h
            _add(q, p, rows)


@kernel
def _noticed(layout: Layout, host: int, rng: Array) -> Any:
    """A page of a host; the earlier, so the nearer to the root, the likelier: page i with odds ~ i^-7/8."""
    u = unit(rng)
    u *= u
    u *= u
    return layout.first[host] + np.int64(u * u * layout.size[host])


@kernel
def _on_host(layout: Layout, p: Any, rows: LinkLists, copying: float, rng: Array) -> Any:
    """A page of p's host that p does not link to yet, or -1."""
    h = layout.host[p]
    lo, n = layout.first[h], layout.size[h]
    for trial in range(TRIES):
        if trial >= TRIES - 3:  # to any page, lest a host whose links are all alike yields nothing new
            q = lo + below(rng, n)
        elif p > lo and unit(rng) < copying:
            earlier = lo + below(rng, p - lo)
            if rows.filled[earlier] == 0:
                continue
            q = np.int64(rows.targets[rows.indptr[earlier] + below(rng, rows.filled[earlier])])
        elif unit(rng) < NEAR:
            b = layout.branching[h]
            q = p - b + below(rng, 2 * b + 1)
        else:
            q = _noticed(layout, h, rng)
            if layout.topic[q] != layout.topic[p] and unit(rng) < SAME_TOPIC:
                q = _noticed(layout, h, rng)
        if lo <= q < lo + n and rows.seen[q] != p:
            return q
    return np.int64(-1)


@kernel
def _elsewhere(layout: Layout, order: Array, p: Any, rows: LinkLists, copying: float, rng: Array) -> Any:
    """A page of another host that p does not link to yet, or -1. A large host is met more often."""
    h = layout.host[p]
    begin, end = layout.topic_start[layout.topic[p]], layout.topic_start[layout.topic[p] + 1]
    for _ in range(TRIES):
        if unit(rng) < SAME_TOPIC:
            met = np.int64(layout.topic_pages[begin + below(rng, end - begin)])
        else:
            met = np.int64(order[below(rng, order.size)])
        if unit(rng) < copying:
            if met == p or rows.filled[met] == 0:
                continue
            q = np.int64(rows.targets[rows.indptr[met] + below(rng, rows.filled[met])])
        else:
            there = layout.host[met]
            q = layout.first[there] if unit(rng) < TO_ROOT else _noticed(layout, there, rng)
        if layout.host[q] != h and rows.seen[q] != p and not layout.trap_first <= q < layout.trap_last:
            return q
    return np.int64(-1)


@kernel
def _wind_up(layout: Layout, rows: LinkLists) -> None:
    """The links of the calendar: the next days, then the first."""
    for p in range(layout.trap_first, layout.trap_last):
        for q in range(p + 1, min(p + TRAP_NEXT + 1, layout.trap_last)):
            _add(q, p, rows)
        if p > layout.trap_first:
            _add(layout.trap_first, p, rows)


@kernel
def close_gaps(indptr: Array, filled: Array, targets: Array) -> Any:
    """Move the rows together, in place; returns the number of links."""
    k = 0
    for p in range(filled.size):
        begin = indptr[p]
        indptr[p] = k
        for j in range(begin, begin + filled[p]):
            targets[k] = targets[j]
            k += 1
    indptr[filled.size] = k
    return k
