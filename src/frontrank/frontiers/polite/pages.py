"""What happens to a page: it is discovered, has its key changed, is leased, settled, put off, forgotten."""

from __future__ import annotations

import numpy as np

from frontrank.frontiers.frontier import ABSENT, BEYOND, FORGOTTEN, GONE, LATER, LEASED, WAITING
from frontrank.frontiers.pairing import cut, joined, wide, with_page, without
from frontrank.frontiers.polite.arrays import KNOWN, KNOWN_HOSTS, MODE, OUT, WAIT, Polite
from frontrank.frontiers.polite.hosts import hold, place
from frontrank.frontiers.polite.pace import go_on
from frontrank.kernels.jit import Array, Kernel, lean


@lean
def _has_priority(node: Array, page: int) -> bool:
    away: float = abs(node[page]["key"])
    return BEYOND <= away < np.inf


@lean
def _give(node: Array, own: Array, page: int, key: float) -> None:
    """A page that does not wait has this key; with a priority, once that ends."""
    if _has_priority(node, page):
        own[page] = key
    else:
        node[page]["key"] = key


@lean
def _discover(node: Array, own: Array, counts: Array, page: int, key: float) -> None:
    _give(node, own, page, key)
    node[page]["seq"] = counts[KNOWN]
    counts[KNOWN] += 1


@lean
def wait(queue: Polite, page: int) -> None:
    node, hosts, host = queue.node, queue.hosts, wide(queue.host[page])
    node[page]["child"] = -1
    queue.mark[page] = WAITING
    queue.counts[WAIT] += 1
    if hosts[host]["top"] < 0 and hosts[host]["taken"] + hosts[host]["done"] + hosts[host]["later"] == 0:
        queue.pace[KNOWN_HOSTS] += 1.0
    hosts[host]["waiting"] += 1
    hosts[host]["top"] = with_page(node, wide(hosts[host]["top"]), page)
    if hosts[host]["top"] == page:
        place(queue, host)


@lean
def unwait(queue: Polite, page: int) -> None:
    """A waiting page waits no more. The caller marks it."""
    hosts, host = queue.hosts, wide(queue.host[page])
    top = wide(hosts[host]["top"])
    queue.counts[WAIT] -= 1
    hosts[host]["waiting"] -= 1
    hosts[host]["top"] = without(queue.node, top, page)
    if page == top:
        place(queue, host)


@lean
def _unlease(queue: Polite, page: int, mark: int) -> None:
    host = wide(queue.host[page])
    queue.mark[page] = mark
    queue.counts[OUT] -= 1
    queue.hosts[host]["leased"] -= 1
    if mark == GONE:
        queue.hosts[host]["done"] += 1
    else:
        queue.hosts[host]["taken"] -= 1
    if mark == LATER:
        queue.hosts[host]["later"] += 1
    place(queue, host)


@lean
def put(queue: Polite, page: int, key: float) -> None:
    """Discover a page or change its key. One that is out keeps the key for its return; one that is gone stays so."""
    mark = queue.mark[page]
    if mark in (ABSENT, FORGOTTEN):
        if mark == ABSENT:
            _discover(queue.node, queue.own, queue.counts, page, key)
        else:
            _give(queue.node, queue.own, page, key)
        wait(queue, page)
    elif _has_priority(queue.node, page):
        queue.own[page] = key
    else:
        host = wide(queue.host[page])
        if _change(queue.node, queue.mark, queue.hosts, page, host, key):
            place(queue, host)


@lean
def prioritise(queue: Polite, page: int, key: float) -> None:
    """From now on this page goes by a key of ``key_of``, whatever an ordering says of it; one not yet put, once it is.

    Priority 0 gives it back to the ordering, with the key that it gave last. There must be room in ``own``.
    """
    if _has_priority(queue.node, page):
        if key == 0.0:
            key = queue.own[page]
    elif key == 0.0:
        return
    else:
        queue.own[page] = queue.node[page]["key"]
    if queue.mark[page] == ABSENT:
        queue.node[page]["key"] = key
    else:
        host = wide(queue.host[page])
        if _change(queue.node, queue.mark, queue.hosts, page, host, key):
            place(queue, host)


@lean
def _change(node: Array, mark: Array, hosts: Array, page: int, host: int, key: float) -> bool:
    """A page has another key; whether its host is to be placed anew. (Arrays, not the queue: a call costs 100 ns less.)"""
    old = node[page]["key"]
    if mark[page] == GONE or key == old:
        return False
    if mark[page] != WAITING:
        node[page]["key"] = key
        return False
    top = wide(hosts[host]["top"])
    if key > old:
        node[page]["key"] = key
        if page != top:
            cut(node, page)
            hosts[host]["top"] = joined(node, top, page)
    else:
        rest = without(node, top, page)
        node[page]["key"] = key
        hosts[host]["top"] = with_page(node, rest, page)
    return bool(page == top or page == hosts[host]["top"])


@lean
def put_last(queue: Polite, page: int) -> None:
    """Discover a page that goes before all known ones: last in, first out. A known page is not moved."""
    if queue.mark[page] == ABSENT:
        _discover(queue.node, queue.own, queue.counts, page, float(queue.counts[KNOWN]))
        wait(queue, page)


@lean
def put_all(queue: Polite, pages: Array, keys: Array) -> None:
    for j in range(pages.size):
        put(queue, wide(pages[j]), keys[j])


@lean
def take(queue: Polite, page: int, now: float) -> None:
    """Lease this page, out of turn and whatever politeness says. Nothing happens to one that is leased or gone."""
    node, hosts, host, mark = queue.node, queue.hosts, wide(queue.host[page]), queue.mark[page]
    if mark in (LEASED, GONE, FORGOTTEN):
        return
    if mark == ABSENT:
        _discover(queue.node, queue.own, queue.counts, page, 0.0)
    elif mark == LATER:
        hosts[host]["later"] -= 1
    else:
        queue.counts[WAIT] -= 1
        hosts[host]["waiting"] -= 1
        hosts[host]["top"] = without(node, wide(hosts[host]["top"]), page)
    queue.mark[page] = LEASED
    queue.counts[OUT] += 1
    hosts[host]["leased"] += 1
    hosts[host]["taken"] += 1
    if hosts[host]["delay"] > 0:
        hold(queue, host, now + hosts[host]["delay"])
    place(queue, host)
    if queue.pace[MODE] != 0.0:
        go_on(queue, now)


@lean
def settle(queue: Polite, page: int) -> None:
    """A page is done with. If it was not leased, its host neither rests for it nor spends budget on it."""
    hosts, host, mark = queue.hosts, wide(queue.host[page]), queue.mark[page]
    if mark == LEASED:
        _unlease(queue, page, GONE)
    elif mark != GONE:
        if mark == ABSENT:
            _discover(queue.node, queue.own, queue.counts, page, 0.0)
        queue.mark[page] = GONE
        hosts[host]["done"] += 1
        if mark == LATER:
            hosts[host]["later"] -= 1
        elif mark == WAITING:
            unwait(queue, page)
        if hosts[host]["limit"] > 0:
            place(queue, host)


@lean
def later(queue: Polite, page: int) -> None:
    """A leased page will be tried again, at a time that is kept elsewhere."""
    if queue.mark[page] == LEASED:
        _unlease(queue, page, LATER)


@lean
def back(queue: Polite, page: int) -> None:
    """A page waits again, where it stood: its lease ran out, or the time of its retry has come."""
    later(queue, page)
    if queue.mark[page] == LATER:
        queue.hosts[wide(queue.host[page])]["later"] -= 1
        wait(queue, page)


@lean
def _out(queue: Polite, page: int, mark: int) -> None:
    """A page of any mark but ABSENT gets this one, LATER or FORGOTTEN, and waits no more."""
    hosts, host, before = queue.hosts, wide(queue.host[page]), queue.mark[page]
    if before == LEASED:
        _unlease(queue, page, mark)
        return
    queue.mark[page] = mark
    if before == WAITING:
        unwait(queue, page)
    elif before == LATER:
        hosts[host]["later"] -= 1
    elif before == GONE:
        hosts[host]["done"] -= 1
    if mark == LATER:
        hosts[host]["later"] += 1
    if before == GONE:
        place(queue, host)


@lean
def schedule(queue: Polite, page: int, key: float) -> None:
    """A page waits, again or at first, from a time on that is kept elsewhere; one never heard of, with this key."""
    if queue.mark[page] == ABSENT:
        _discover(queue.node, queue.own, queue.counts, page, key)
    elif queue.mark[page] == FORGOTTEN:
        _give(queue.node, queue.own, page, key)
    _out(queue, page, LATER)


@lean
def forget(queue: Polite, page: int) -> None:
    """As if a page had never been heard of; whoever puts it discovers it anew."""
    if queue.mark[page] != ABSENT:
        _out(queue, page, FORGOTTEN)
        left = queue.hosts[wide(queue.host[page])]
        if left["waiting"] + left["leased"] + left["later"] + left["done"] == 0:
            left["taken"] = 0  # nothing is known of its host any more: its budget begins anew


@lean
def put_first(queue: Polite, page: int, key: float) -> None:
    """First discovered, first fetched: keys are ignored."""
    put(queue, page, 0.0)


@lean
def put_newest(queue: Polite, page: int, key: float) -> None:
    """Last discovered, first fetched."""
    put_last(queue, page)


PUTS: dict[str, Kernel] = {"heap": put, "fifo": put_first, "lifo": put_newest}
