"""The frontier of a live crawl: which pages wait, with which priority, and which may go now.

Largest key first, among equals the first discovered, as in ``heap``; but a page goes only if its host may be asked.

    each host       a pairing heap of its waiting pages
    ready hosts     4-ary heap, by the best page of each
    timed hosts     4-ary heap, by the time at which each may be asked again

A host is in neither heap of hosts if nothing of it waits, if as many of its pages are leased as its limit allows, or if
its budget is spent. A host whose time may have come is among the timed ones until a pop gives the time; a host found ready
stays so. Each call is O(log n) amortised, whatever the number of hosts.

    ABSENT -put-> WAITING -pop, take-> LEASED -settle-> GONE
                  WAITING <-back------ LEASED
                  WAITING <-back- LATER <-later- LEASED        (a retry waits for its time elsewhere)
                  any mark -settle-> GONE                      (dropped, or fetched without being asked for)
                  any mark -schedule-> LATER                   (it waits, again or at first, from a given time on)
                  any but ABSENT -forget-> FORGOTTEN -put-> WAITING

A page may have a priority of its own (``prioritise``): a key beyond all that orderings give, above or below. What an ordering
says of such a page afterwards does not move it.

A budget counts what was asked for, revisits too; a limit counts pages that are done with.

    arrays      the memory of it, made and grown
    hosts       which may be asked, and what each bears
    pages       what happens to a page
    turns       whose turn it is
    pace        whether it goes at once, or a better page is waited for
    sharing     hosts that share one pace and one budget
    upcoming    what comes next, by key alone

Memory: 29 bytes for each page (record 24, mark 1, host 4), 104 for each host. Times are seconds; 0 is no limit.
"""

from __future__ import annotations

from frontrank.frontiers.polite.arrays import (
    IN_FLIGHT,
    KNOWN,
    MODE,
    OUT,
    WAIT,
    Polite,
    discovered,
    grown,
    new,
    waiting,
    with_own_keys,
)
from frontrank.frontiers.polite.hosts import bears, block, limit, may_go, next_at, place_all, rest
from frontrank.frontiers.polite.pace import greedy_rate, kept_anew, with_heap
from frontrank.frontiers.polite.pages import (
    PUTS,
    back,
    forget,
    later,
    prioritise,
    put,
    put_all,
    put_last,
    schedule,
    settle,
    take,
)
from frontrank.frontiers.polite.sharing import join
from frontrank.frontiers.polite.turns import pop, pop_above, pop_some, take_queue, take_queues
from frontrank.frontiers.polite.upcoming import best

__all__ = [
    "IN_FLIGHT",
    "KNOWN",
    "MODE",
    "OUT",
    "PUTS",
    "WAIT",
    "Polite",
    "back",
    "bears",
    "best",
    "block",
    "discovered",
    "forget",
    "greedy_rate",
    "grown",
    "join",
    "kept_anew",
    "later",
    "limit",
    "may_go",
    "new",
    "next_at",
    "place_all",
    "pop",
    "pop_above",
    "pop_some",
    "prioritise",
    "put",
    "put_all",
    "put_last",
    "rest",
    "schedule",
    "settle",
    "take",
    "take_queue",
    "take_queues",
    "waiting",
    "with_heap",
    "with_own_keys",
]
