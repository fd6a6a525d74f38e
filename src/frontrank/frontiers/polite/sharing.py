"""Hosts that share one pace and one budget, such as all at one address."""

from __future__ import annotations

from frontrank.frontiers.pairing import wide, with_page
from frontrank.frontiers.polite.arrays import Polite
from frontrank.frontiers.polite.hosts import place, place_anew
from frontrank.kernels.jit import lean


@lean
def join(queue: Polite, host: int, group: int, asked: bool) -> None:
    """All pages of this host are the group's from now on, with what was taken and is done with; the strictest politeness
    holds. Heaps are joined as they are, whatever lies in them; the group is another host.

    ``asked``: the group rests as the host would.
    """
    mine, theirs = queue.hosts[host], queue.hosts[group]
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
    place(queue, host)
    for page in range(queue.host.size):
        if queue.host[page] == host:
            queue.host[page] = group
    place_anew(queue, group)


@lean
def _stricter(limit: int, other: int) -> int:
    """The lower of two limits; 0 means no limit."""
    return limit if other == 0 or 0 < limit < other else other
