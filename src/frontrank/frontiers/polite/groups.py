"""Hosts that become one: a group, with the pages of all of them."""

from __future__ import annotations

from frontrank.frontiers.frontier import WAITING
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
def _stricter(limit: int, other: int) -> int:
    """The lower of two limits, of which 0 is none."""
    return limit if other == 0 or 0 < limit < other else other
