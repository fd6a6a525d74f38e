"""The frontier of a live crawl: who waits, with which priority, and who may go now.

Largest key first, among equals the first discovered, as in ``heap``; but a page goes only if its host may be asked.

    each host       a pairing heap of its waiting pages
    ready hosts     4-ary heap, by the best page of each
    timed hosts     4-ary heap, by the time at which each may be asked again

A host is in neither heap of hosts if nothing of it waits, if as many of its pages are out as it bears at once, or if its
budget is spent. A host whose time may have come is among the timed ones until a pop tells what time it is; a host once found
ready stays so. Each call is O(log n) amortised, whatever the number of hosts.

    ABSENT -put-> WAITING -pop, take-> LEASED -settle-> GONE
                  WAITING <-back------ LEASED
                  WAITING <-back- LATER <-later- LEASED        (a retry waits for its time elsewhere)
                  any mark -settle-> GONE                      (dropped, or fetched without being asked for)
                  any mark -schedule-> LATER                   (it waits, again or at first, from a given time on)
                  any but ABSENT -forget-> FORGOTTEN -put-> WAITING

A page may have a priority of its own (``prioritise``): a key beyond all that orderings give, above or below. What an ordering
says of such a page afterwards does not move it.

A budget counts what was asked for, revisits too; a limit counts pages that are done with.

Memory: 29 bytes for each page (record 24, mark 1, host 4), 104 for each host. Times are seconds; 0 is no limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontrank.frontiers.frontier import ABSENT, BEYOND, FORGOTTEN, GONE, LATER, LEASED, WAITING
from frontrank.frontiers.heap import NODE, enter, leave
from frontrank.frontiers.pairing import cut, joined, wide, with_page, without
from frontrank.kernels.growing import grown as longer
from frontrank.kernels.jit import Array, Kernel, compiled, lean

PAGE = np.dtype([("key", "f8"), ("seq", "i4"), ("child", "i4"), ("next", "i4"), ("prev", "i4")])
HOST = np.dtype(
    [
        ("top", "i4"),  # its best waiting page, -1 if none waits
        ("waiting", "i4"),
        ("leased", "i4"),
        ("later", "i4"),
        ("done", "i4"),
        ("taken", "i4"),  # leased, or gone after a lease: what counts against the budget
        ("concurrency", "i4"),
        ("budget", "i4"),  # how many may be taken
        ("limit", "i4"),  # how many may be done with
        ("spare", "i4"),  # 64 bytes, one cache line
        ("delay", "f8"),
        ("ready_at", "f8"),  # -inf: never had to wait
        ("blocked", "f8"),  # until when nothing is taken, whatever its delay says; -inf: never was
    ]
)
WAIT, KNOWN, OUT, READY, TIMED, IN_FLIGHT = 0, 1, 2, 3, 4, 5  # places in counts
FEW = 1_000  # pages that are looked for in one pass


class Polite(NamedTuple):
    node: Array  # one PAGE record for each page; next and prev are siblings, prev of a first child is the parent
    mark: Array
    host: Array  # of each page; set by the caller before the page is first put
    hosts: Array  # one HOST record for each host
    ready_items: Array
    ready_node: Array  # key and seq of the host's best page
    timer_items: Array
    timer_node: Array  # key is minus the time, as larger is sooner
    counts: Array  # pages waiting, discovered, leased; hosts ready, timed; how many pages may be leased
    politeness: Array  # one HOST record: what a new host begins with
    own: Array  # the ordering's keys of pages that have a priority; empty until one has


def new(pages: int, hosts: int = 1, delay_s: float = 0.0, concurrency: int = 0, in_flight: int = 0, budget: int = 0) -> Polite:
    """delay_s, concurrency and budget are every host's, until ``limit`` says otherwise; in_flight is for all together."""
    politeness = np.zeros(1, HOST)
    politeness[0] = (-1, 0, 0, 0, 0, 0, concurrency, budget, 0, 0, delay_s, -np.inf, -np.inf)
    counts = np.zeros(6, np.int64)
    counts[IN_FLIGHT] = in_flight
    return Polite._make((*_page_arrays(pages), *_host_arrays(hosts, politeness), counts, politeness, np.zeros(0)))


def _page_arrays(pages: int) -> tuple[Array, ...]:
    return np.zeros(pages, PAGE), np.zeros(pages, np.uint8), np.zeros(pages, np.int32)


def _host_arrays(hosts: int, politeness: Array) -> tuple[Array, ...]:
    ready_node, timer_node = np.zeros(hosts, NODE), np.zeros(hosts, NODE)
    ready_node["pos"] = timer_node["pos"] = -1
    return np.repeat(politeness, hosts), np.zeros(hosts, np.int32), ready_node, np.zeros(hosts, np.int32), timer_node


def grown(queue: Polite, pages: int, hosts: int) -> Polite:
    """The same frontier with room for so many pages and hosts."""
    beyond = {"pos": -1}
    return queue._replace(
        node=longer(queue.node, pages),
        mark=longer(queue.mark, pages),
        host=longer(queue.host, pages),
        hosts=longer(queue.hosts, hosts, queue.politeness),
        ready_items=longer(queue.ready_items, hosts),
        ready_node=longer(queue.ready_node, hosts, beyond),
        timer_items=longer(queue.timer_items, hosts),
        timer_node=longer(queue.timer_node, hosts, beyond),
        own=longer(queue.own, pages) if queue.own.size else queue.own,
    )


def with_own_keys(queue: Polite) -> Polite:
    """The same frontier with room for the keys of pages that have a priority."""
    return queue if queue.own.size else queue._replace(own=longer(queue.own, queue.node.size))


def waiting(queue: Polite) -> int:
    return int(queue.counts[WAIT])


def discovered(queue: Polite) -> Array:
    """All pages ever put, in the order of their discovery."""
    seen = np.flatnonzero(queue.mark != ABSENT)
    pages = np.empty(seen.size, np.int32)
    pages[queue.node["seq"][seen]] = seen
    return pages


@lean
def best_few(queue: Polite, known: int, pages: Array) -> int:
    """The best waiting pages of the first so many, in no order: a heap of as many as there is room for, the worst on top."""
    node, mark = queue.node, queue.mark
    size, room = 0, pages.size
    for page in range(known):
        if mark[page] != WAITING:
            continue
        if size < room:
            at = size
            size += 1
            while at > 0 and _after(node, page, pages[(at - 1) // 2]):
                pages[at] = pages[(at - 1) // 2]
                at = (at - 1) // 2
            pages[at] = page
        elif _after(node, pages[0], page):
            at = 0
            while 2 * at + 1 < room:
                child = 2 * at + 1
                if child + 1 < room and _after(node, pages[child + 1], pages[child]):
                    child += 1
                if not _after(node, pages[child], page):
                    break
                pages[at] = pages[child]
                at = child
            pages[at] = page
    return size


@lean
def _after(node: Array, page: int, other: int) -> bool:
    """Whether a page goes after another."""
    if node[page]["key"] != node[other]["key"]:
        return bool(node[page]["key"] < node[other]["key"])
    return bool(node[page]["seq"] > node[other]["seq"])


def best(queue: Polite, count: int) -> Array:
    """The next pages by key alone, whatever politeness says. A few of a million take milliseconds: one pass, nothing copied."""
    if 0 < count <= FEW:
        pages = np.empty(count, np.int32)
        pages = pages[: compiled(best_few)(queue, queue.mark.size, pages)]
        return pages[np.lexsort((queue.node["seq"][pages], -queue.node["key"][pages]))]
    pages = np.flatnonzero(queue.mark == WAITING).astype(np.int32)
    if 0 < count < pages.size:
        key = queue.node["key"][pages]
        pages = pages[key >= np.partition(key, pages.size - count)[pages.size - count]]
    node = queue.node[pages]
    return pages[np.lexsort((node["seq"], -node["key"]))[:count]]


# The hosts: two indexed heaps


@lean
def _ready(queue: Polite, host: int) -> None:
    node, top = queue.node, queue.hosts[host]["top"]
    key, seq = node[top]["key"], wide(node[top]["seq"])
    queue.counts[READY] = enter(queue.ready_items, queue.ready_node, queue.counts[READY], host, key, seq)


@lean
def _unready(queue: Polite, host: int) -> None:
    queue.counts[READY] = leave(queue.ready_items, queue.ready_node, queue.counts[READY], host)


@lean
def _untimed(queue: Polite, host: int) -> None:
    queue.counts[TIMED] = leave(queue.timer_items, queue.timer_node, queue.counts[TIMED], host)


@lean
def _spent(hosts: Array, host: int) -> bool:
    """Whether as many of its pages are out, taken or done with as may be."""
    concurrency, budget, limit = hosts[host]["concurrency"], hosts[host]["budget"], hosts[host]["limit"]
    crowded = concurrency > 0 and hosts[host]["leased"] >= concurrency
    return bool(crowded or (budget > 0 and hosts[host]["taken"] >= budget) or (limit > 0 and hosts[host]["done"] >= limit))


@lean
def _full(hosts: Array, host: int) -> bool:
    """Whether no page of this host may go, whatever the time. (With the whole queue as an argument a call costs 50 ns.)"""
    return bool(hosts[host]["top"] < 0 or _spent(hosts, host))


@lean
def _free_at(hosts: Array, host: int) -> float:
    at: float = max(hosts[host]["ready_at"], hosts[host]["blocked"])
    return at


@lean
def _place(queue: Polite, host: int) -> None:
    """Put a host where it now belongs."""
    counts, free_at = queue.counts, _free_at(queue.hosts, host)
    if _full(queue.hosts, host):
        _unready(queue, host)
        _untimed(queue, host)
    elif queue.ready_node[host]["pos"] >= 0 or free_at == -np.inf:
        _ready(queue, host)
    else:
        counts[TIMED] = enter(queue.timer_items, queue.timer_node, counts[TIMED], host, -free_at, host)


@lean
def _place_anew(queue: Polite, host: int) -> None:
    """Put a host where it belongs whose time was set, be it earlier or later: also one that is ready may have to wait."""
    _unready(queue, host)
    _untimed(queue, host)
    _place(queue, host)


@lean
def _hold(queue: Polite, host: int, until: float) -> None:
    """Nothing from this host before that time. The caller places the host."""
    if until > queue.hosts[host]["ready_at"]:
        queue.hosts[host]["ready_at"] = until
        _unready(queue, host)


@lean
def _wake(queue: Polite, now: float) -> None:
    """Hosts whose time has come are ready."""
    while queue.counts[TIMED] > 0 and _free_at(queue.hosts, wide(queue.timer_items[0])) <= now:
        host = wide(queue.timer_items[0])
        _untimed(queue, host)
        _ready(queue, host)


# What happens to a page


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
def _wait(queue: Polite, page: int) -> None:
    node, hosts, host = queue.node, queue.hosts, wide(queue.host[page])
    node[page]["child"] = -1
    queue.mark[page] = WAITING
    queue.counts[WAIT] += 1
    hosts[host]["waiting"] += 1
    hosts[host]["top"] = with_page(node, wide(hosts[host]["top"]), page)
    if hosts[host]["top"] == page:
        _place(queue, host)


@lean
def _unwait(queue: Polite, page: int) -> None:
    """A waiting page waits no more. The caller marks it."""
    hosts, host = queue.hosts, wide(queue.host[page])
    top = wide(hosts[host]["top"])
    queue.counts[WAIT] -= 1
    hosts[host]["waiting"] -= 1
    hosts[host]["top"] = without(queue.node, top, page)
    if page == top:
        _place(queue, host)


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
    _place(queue, host)


@lean
def put(queue: Polite, page: int, key: float) -> None:
    """Discover a page or change its key. One that is out keeps the key for its return; one that is gone stays so."""
    mark = queue.mark[page]
    if mark in (ABSENT, FORGOTTEN):
        if mark == ABSENT:
            _discover(queue.node, queue.own, queue.counts, page, key)
        else:
            _give(queue.node, queue.own, page, key)
        _wait(queue, page)
    elif _has_priority(queue.node, page):
        queue.own[page] = key
    else:
        host = wide(queue.host[page])
        if _change(queue.node, queue.mark, queue.hosts, page, host, key):
            _place(queue, host)


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
            _place(queue, host)


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
        _wait(queue, page)


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
        _hold(queue, host, now + hosts[host]["delay"])
    _place(queue, host)


@lean
def pop(queue: Polite, now: float) -> int:
    """Lease the best waiting page of a host that may be asked now; -1 if there is none."""
    counts = queue.counts
    if counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]:
        return -1
    _wake(queue, now)
    if counts[READY] == 0:
        return -1
    page = wide(queue.hosts[queue.ready_items[0]]["top"])
    take(queue, page, now)
    return page


@lean
def pop_some(queue: Polite, now: float, pages: Array) -> int:
    """The same for as many pages as there is room for; returns how many."""
    for i in range(pages.size):
        page = pop(queue, now)
        if page < 0:
            return i
        pages[i] = page
    return int(pages.size)


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
            _unwait(queue, page)
        if hosts[host]["limit"] > 0:
            _place(queue, host)


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
        _wait(queue, page)


@lean
def _out(queue: Polite, page: int, mark: int) -> None:
    """A page of any mark but ABSENT gets this one, LATER or FORGOTTEN, and waits no more."""
    hosts, host, before = queue.hosts, wide(queue.host[page]), queue.mark[page]
    if before == LEASED:
        _unlease(queue, page, mark)
        return
    queue.mark[page] = mark
    if before == WAITING:
        _unwait(queue, page)
    elif before == LATER:
        hosts[host]["later"] -= 1
    elif before == GONE:
        hosts[host]["done"] -= 1
    if mark == LATER:
        hosts[host]["later"] += 1
    if before == GONE:
        _place(queue, host)


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
def take_queues(queue: Polite, now: float, most: int, each: int, pages: Array, visited: Array) -> int:
    """Lease up to ``each`` pages of up to ``most`` hosts, the host with the best page first; 0 is any number.

    Pages of one host count as one request to it. A host of which ``each`` pages are out already is passed over.
    """
    counts, hosts, at, given, seen = queue.counts, queue.hosts, 0, 0, 0
    _wake(queue, now)
    while counts[READY] > 0 and (most == 0 or given < most) and at < pages.size:
        host = wide(queue.ready_items[0])
        begin = at
        if each == 0 or hosts[host]["leased"] < each:
            at = _take_some(queue, host, now, each, pages, at)
        if at > begin:
            given += 1
        elif counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]:
            break
        _unready(queue, host)
        visited[seen] = host
        seen += 1
    for i in range(seen):
        _place(queue, wide(visited[i]))
    return at


@lean
def _take_some(queue: Polite, host: int, now: float, each: int, pages: Array, at: int) -> int:
    counts, begin = queue.counts, at
    while at < pages.size and (each == 0 or at - begin < each) and not _full(queue.hosts, host):
        if counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]:
            break
        page = wide(queue.hosts[host]["top"])
        take(queue, page, now)
        pages[at] = page
        at += 1
    return at


@lean
def bears(queue: Polite, host: int) -> bool:
    """Whether one more page of this host may be out, whatever the time."""
    counts = queue.counts
    full = counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]
    return bool(not (full or _spent(queue.hosts, host)))


@lean
def may_go(queue: Polite, host: int, now: float) -> bool:
    """Whether a page of this host that does not wait in its heap may be leased now."""
    return bears(queue, host) and _free_at(queue.hosts, host) <= now


@lean
def take_queue(queue: Polite, host: int, now: float, each: int, pages: Array) -> int:
    """The same for one host, if it may be asked now."""
    _wake(queue, now)
    if queue.ready_node[host]["pos"] < 0 or (each > 0 and queue.hosts[host]["leased"] >= each):
        return 0
    return _take_some(queue, host, now, each, pages, 0)


# What a host bears


@lean
def limit(queue: Polite, host: int, delay: float, concurrency: int, budget: int, done: int) -> None:
    """Set a host's politeness; a negative value leaves one as it is."""
    if delay >= 0:
        queue.hosts[host]["delay"] = delay
    if concurrency >= 0:
        queue.hosts[host]["concurrency"] = concurrency
    if budget >= 0:
        queue.hosts[host]["budget"] = budget
    if done >= 0:
        queue.hosts[host]["limit"] = done
    _place(queue, host)


@lean
def _stricter(limit: int, other: int) -> int:
    """The lower of two limits, of which 0 is none."""
    return limit if other == 0 or 0 < limit < other else other


@lean
def join(queue: Polite, hosts: Array, joins: Array, group: int, known: int, asked: bool) -> None:
    """All pages of these hosts are the group's from now on, with what was taken and is done with; the strictest politeness
    holds. One pass over the pages, whatever the number of hosts; the group is none of them.

    ``joins``: for every host whether it is one of these. ``asked``: the group rests as the hosts would.
    """
    theirs = queue.hosts[group]
    for host in hosts:
        mine = queue.hosts[host]
        theirs["delay"] = max(theirs["delay"], mine["delay"])
        theirs["concurrency"] = _stricter(theirs["concurrency"], mine["concurrency"])
        theirs["budget"] = _stricter(theirs["budget"], mine["budget"])
        theirs["limit"] = _stricter(theirs["limit"], mine["limit"])
        theirs["blocked"] = max(theirs["blocked"], mine["blocked"])
        if asked:
            theirs["ready_at"] = max(theirs["ready_at"], mine["ready_at"])
    for page in range(known):
        if joins[queue.host[page]]:
            waits = queue.mark[page] == WAITING
            if waits:
                _unwait(queue, page)
            queue.host[page] = group
            if waits:
                _wait(queue, page)
    for host in hosts:
        mine = queue.hosts[host]
        theirs["leased"] += mine["leased"]
        theirs["taken"] += mine["taken"]
        theirs["done"] += mine["done"]
        theirs["later"] += mine["later"]
        mine["leased"] = mine["taken"] = mine["done"] = mine["later"] = 0
    _place_anew(queue, group)


@lean
def place_all(queue: Polite, hosts: int) -> None:
    """Put all hosts where they now belong."""
    for host in range(hosts):
        _place(queue, host)


@lean
def block(queue: Polite, host: int, until: float) -> None:
    """Nothing from this host before that time; what was said before holds no more."""
    queue.hosts[host]["blocked"] = until
    _place_anew(queue, host)


@lean
def rest(queue: Polite, host: int, until: float) -> None:
    """This host may be asked again from that time on, whatever its delay says."""
    queue.hosts[host]["ready_at"] = until
    _place_anew(queue, host)


@lean
def next_at(queue: Polite) -> float:
    """When a page may next go: -inf is now, +inf is never by time alone."""
    counts = queue.counts
    if counts[IN_FLIGHT] > 0 and counts[OUT] >= counts[IN_FLIGHT]:
        return np.inf
    if counts[READY] > 0:
        return -np.inf
    if counts[TIMED] > 0:
        return _free_at(queue.hosts, wide(queue.timer_items[0]))
    return np.inf


@lean
def put_first(queue: Polite, page: int, key: float) -> None:
    """First discovered, first fetched: keys are ignored."""
    put(queue, page, 0.0)


@lean
def put_newest(queue: Polite, page: int, key: float) -> None:
    """Last discovered, first fetched."""
    put_last(queue, page)


PUTS: dict[str, Kernel] = {"heap": put, "fifo": put_first, "lifo": put_newest}
