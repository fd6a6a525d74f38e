"""Hosts that become one, a group with the pages of all of them, and stand by themselves again."""

from __future__ import annotations

from frontrank.frontiers.frontier import GONE, LATER, LEASED, WAITING
from frontrank.frontiers.pairing import wide
from frontrank.frontiers.polite.arrays import Polite
from frontrank.frontiers.polite.hosts import place_anew
from frontrank.frontiers.polite.pages import unwait, wait
from frontrank.kernels.jit import Array, lean


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
                unwait(queue, page)
            queue.host[page] = group
            if waits:
                wait(queue, page)
    for host in hosts:
        mine = queue.hosts[host]
        theirs["leased"] += mine["leased"]
        theirs["taken"] += mine["taken"]
        theirs["done"] += mine["done"]
        theirs["later"] += mine["later"]
        mine["leased"] = mine["taken"] = mine["done"] = mine["later"] = 0
    place_anew(queue, group)


@lean
def part(queue: Polite, group: int, hosts: Array, pages: Array, into: Array) -> None:
    """These pages of a group are those of the hosts beside them, with what was taken and is done with. ``hosts``: all that
    leave it; each has the limits that it had, but no shorter delay, rest or block than the group."""
    theirs = queue.hosts[group]
    for i in range(pages.size):
        page, mark = wide(pages[i]), queue.mark[pages[i]]
        mine = queue.hosts[into[i]]
        if mark == WAITING:
            unwait(queue, page)
        queue.host[page] = into[i]
        if mark == WAITING:
            wait(queue, page)
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
    for host in hosts:
        mine = queue.hosts[host]
        mine["delay"] = max(mine["delay"], theirs["delay"])
        mine["blocked"] = max(mine["blocked"], theirs["blocked"])
        mine["ready_at"] = max(mine["ready_at"], theirs["ready_at"])
        place_anew(queue, host)
    new = queue.politeness[0]
    theirs["concurrency"], theirs["budget"], theirs["limit"] = new["concurrency"], new["budget"], new["limit"]
    place_anew(queue, group)


@lean
def _stricter(limit: int, other: int) -> int:
    """The lower of two limits, of which 0 is none."""
    return limit if other == 0 or 0 < limit < other else other
