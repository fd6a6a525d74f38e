"""Hosts that become one, a group with the pages of all of them, and stand by themselves again."""

from __future__ import annotations

from frontrank.frontiers.frontier import GONE, LATER, LEASED, WAITING
from frontrank.frontiers.pairing import wide, with_page
from frontrank.frontiers.polite.arrays import Polite
from frontrank.frontiers.polite.hosts import place, place_anew
from frontrank.kernels.jit import Array, lean


@lean
def join(queue: Polite, hosts: Array, joins: Array, group: int, known: int, asked: bool) -> None:
    """All pages of these hosts are the group's from now on, with what was taken and is done with; the strictest politeness
    holds. Heaps are joined as they are, whatever lies in them; the group is none of the hosts.

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
        if mine["top"] >= 0:
            theirs["top"] = with_page(queue.node, wide(theirs["top"]), wide(mine["top"]))
        theirs["waiting"] += mine["waiting"]
        theirs["leased"] += mine["leased"]
        theirs["taken"] += mine["taken"]
        theirs["done"] += mine["done"]
        theirs["later"] += mine["later"]
        mine["top"] = -1
        mine["waiting"] = mine["leased"] = mine["taken"] = mine["done"] = mine["later"] = 0
        place(queue, wide(host))
    for page in range(known):
        if joins[queue.host[page]]:
            queue.host[page] = group
    place_anew(queue, group)


@lean
def part(queue: Polite, group: int, hosts: Array, pages: Array, into: Array) -> None:
    """These pages of a group are those of the hosts beside them, with what was taken and is done with. ``hosts``: all that
    leave it; each has the limits that it had, but no shorter delay, rest or block than the group."""
    theirs = queue.hosts[group]
    for i in range(pages.size):
        mark, mine = queue.mark[pages[i]], queue.hosts[into[i]]
        queue.host[pages[i]] = into[i]
        if mark == WAITING:
            theirs["waiting"] -= 1
            mine["waiting"] += 1
        elif mark == LATER:
            theirs["later"] -= 1
            mine["later"] += 1
        elif mark == LEASED:
            theirs["leased"] -= 1
            mine["leased"] += 1
        elif mark == GONE:
            theirs["done"] -= 1
            mine["done"] += 1
        if mark in (LEASED, GONE):
            theirs["taken"] = max(0, theirs["taken"] - 1)  # revisits of a page are not told apart: they stay with the group
            mine["taken"] += 1
    _take_apart(queue, group, pages, into)
    for host in hosts:
        mine = queue.hosts[host]
        mine["delay"] = max(mine["delay"], theirs["delay"])
        mine["blocked"] = max(mine["blocked"], theirs["blocked"])
        mine["ready_at"] = max(mine["ready_at"], theirs["ready_at"])
        place_anew(queue, wide(host))
    new = queue.politeness[0]
    theirs["concurrency"], theirs["budget"], theirs["limit"] = new["concurrency"], new["budget"], new["limit"]
    place_anew(queue, group)


@lean
def _take_apart(queue: Polite, group: int, pages: Array, into: Array) -> None:
    """The heap of a group is taken apart as a whole, and its pages laid into those of their hosts."""
    hosts = queue.hosts
    hosts[group]["top"] = -1
    for page in range(queue.mark.size):
        if queue.mark[page] == WAITING and queue.host[page] == group:
            _lay(queue, page, group)
    for i in range(pages.size):
        if queue.mark[pages[i]] == WAITING:
            _lay(queue, wide(pages[i]), wide(into[i]))
    for i in range(pages.size):  # hosts may get pages that were not part of the group
        if hosts[into[i]]["top"] == pages[i]:
            place(queue, wide(into[i]))


@lean
def _lay(queue: Polite, page: int, host: int) -> None:
    queue.node[page]["child"] = -1
    queue.hosts[host]["top"] = with_page(queue.node, wide(queue.hosts[host]["top"]), page)


@lean
def _stricter(limit: int, other: int) -> int:
    """The lower of two limits, of which 0 is none."""
    return limit if other == 0 or 0 < limit < other else other
