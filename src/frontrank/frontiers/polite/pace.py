"""Pace: as choosy as the deadline allows.

A crawl that fills every free slot takes whatever page may go, however poor. One that has time enough lets a slot stand empty:

    a    the best page that may go now;  b  the best one whose host rests (for its delay, or for a page that is out)
    due  the time from which a goes in any case
    a goes if now >= due, or if a goes before b by key and discovery; else nothing goes until then

So it is ranks that are compared, not keys, and it means the same for every ordering. Each page that goes moves due on:

    rate    due = max(due, now - 1 s) + 1 / rate                            N pages per second
    span    due = begin + (end - begin) (2i + 1) / (n^2 - i^2)               n pages in so many seconds, i of them taken
    half    due = max(due, now) + 2 / greedy                                at least half of what politeness would let go

In a span, begin = max(due, now): the pace follows from what is left, anew for each page. Page i of n is due at (i / n)^2 of the
time, since the first pages find hosts, and the more hosts are known the more there is to choose from. For the same reason
``half`` is greedy until as many pages are taken as hosts are known.

greedy is min(hosts known / max(delay, latency), slots / latency); the latency is the time integral of the pages out over the
pages settled (Little's law). Hosts that rest are in a heap by their best page, kept only while there is a pace.

Cost: O(log hosts) for each change of a host's best page; a look at up to 64 hosts where the best rest for long. Nothing else
without a pace.
"""

from __future__ import annotations

import numpy as np

from frontrank.frontiers.heap import enter, leave
from frontrank.frontiers.pace import STEADY, WITHIN
from frontrank.frontiers.pairing import wide
from frontrank.frontiers.polite.arrays import (
    AREA,
    DUE,
    END,
    GAP,
    IN_FLIGHT,
    KNOWN_HOSTS,
    LAST,
    LEFT,
    MODE,
    NOW,
    OUT,
    OUT_BEFORE,
    RATE,
    RESTING,
    SPAN,
    TAKEN,
    TIMED,
    Polite,
)
from frontrank.kernels.jit import Array, lean

LOOKED_AT = 64  # hosts that rest, for one decision
SOON_S = 60.0  # a host that rests for longer is not waited for
BURST_S = 1.0  # a crawl that was held up catches up on so much of its rate at once


@lean
def rests(queue: Polite, host: int) -> None:
    """A host that may not be asked now, and has a page that waits; one that is in the heap has another best page."""
    top = queue.hosts[host]["top"]
    key, seq = queue.node[top]["key"], wide(queue.node[top]["seq"])
    queue.counts[RESTING] = enter(queue.resting_items, queue.resting_node, queue.counts[RESTING], host, key, seq)


@lean
def rests_no_more(queue: Polite, host: int) -> None:
    queue.counts[RESTING] = leave(queue.resting_items, queue.resting_node, queue.counts[RESTING], host)


@lean
def held_back(queue: Polite, now: float) -> bool:
    """Whether the best page that may go now is to wait for a better one. There must be a host that is ready."""
    pace = queue.pace
    if pace[MODE] == 0.0:
        return False
    pace[NOW] = now
    return bool(now < pace[DUE] and _better_rests(queue))


@lean
def free_at(queue: Polite) -> float:
    """When the best page of a ready host goes if nothing happens: -inf is now. There must be a host that is ready."""
    pace = queue.pace
    if pace[MODE] == 0.0 or pace[NOW] >= pace[DUE] or not _better_rests(queue):
        return -np.inf
    if queue.counts[TIMED] == 0:
        return float(pace[DUE])
    first = queue.hosts[queue.timer_items[0]]
    at: float = min(pace[DUE], max(first["ready_at"], first["blocked"]))
    return at


@lean
def _better_rests(queue: Polite) -> bool:
    """Whether a page that goes before the best of the ready hosts waits at a host that will soon be free."""
    best = queue.ready_node[queue.ready_items[0]]
    until = queue.pace[NOW] + SOON_S
    for at in range(min(queue.counts[RESTING], LOOKED_AT)):  # the best is the first, others of the best follow
        host = wide(queue.resting_items[at])
        top = queue.resting_node[host]
        if top["key"] > best["key"] or (top["key"] == best["key"] and top["seq"] < best["seq"]):
            if max(queue.hosts[host]["ready_at"], queue.hosts[host]["blocked"]) <= until:
                return True
        elif at == 0:
            return False
    return False


@lean
def go_on(queue: Polite, now: float) -> None:
    """A page was leased: when the next goes in any case. To be called for each while there is a pace."""
    pace, out = queue.pace, float(queue.counts[OUT])
    if pace[TAKEN] == 0.0:
        pace[END], pace[LAST], pace[DUE] = now + pace[SPAN], now, now
    pace[AREA] += max(now - pace[LAST], 0.0) * (pace[OUT_BEFORE] + out - 1.0) / 2.0
    pace[LAST], pace[OUT_BEFORE] = now, out
    pace[TAKEN] += 1.0
    begin = max(pace[DUE], now - (BURST_S if pace[MODE] == STEADY else 0.0))
    if pace[MODE] == STEADY:
        pace[GAP] = 1.0 / pace[RATE]
    elif pace[MODE] == WITHIN:
        i, left = pace[TAKEN] - 1.0, pace[LEFT]
        pace[GAP] = max(pace[END] - begin, 0.0) * (2.0 * i + 1.0) / (left * (2.0 * i + left)) if left >= 1.0 else 0.0
        pace[LEFT] -= 1.0
    else:
        rate = greedy_rate(queue)
        pace[GAP] = 2.0 / rate if rate > 0.0 and pace[TAKEN] > pace[KNOWN_HOSTS] else 0.0
    pace[DUE] = begin + pace[GAP]


@lean
def greedy_rate(queue: Polite) -> float:
    """Pages per second that politeness would let go now, were every free slot filled; 0 if nothing limits them."""
    pace, counts = queue.pace, queue.counts
    settled = pace[TAKEN] - pace[OUT_BEFORE] / 2.0
    latency = pace[AREA] / settled if settled > 0.0 else 0.0
    turn = max(queue.politeness[0]["delay"], latency)
    if turn <= 0.0:
        return 0.0
    rate = pace[KNOWN_HOSTS] / turn
    if counts[IN_FLIGHT] > 0 and latency > 0.0:
        rate = min(rate, counts[IN_FLIGHT] / latency)
    return float(rate)


def kept_anew(queue: Polite, mode: float, pages: float, seconds: float) -> Polite:
    """The same frontier with this pace from its next page on; the caller places all hosts."""
    pace: Array = np.zeros(queue.pace.size)
    pace[[MODE, LEFT, SPAN, DUE, NOW]] = mode, pages, seconds, -np.inf, -np.inf
    pace[RATE] = pages / seconds if seconds else 0.0
    pace[OUT_BEFORE] = queue.counts[OUT]
    pace[KNOWN_HOSTS] = queue.pace[KNOWN_HOSTS]
    queue.pace[:] = pace
    return without_heap(queue) if mode == 0.0 else with_heap(queue)


def with_heap(queue: Polite) -> Polite:
    """The same frontier with an empty heap of hosts that rest."""
    queue.counts[RESTING] = 0
    node = np.zeros(queue.hosts.size, queue.ready_node.dtype)
    node["pos"] = -1
    return queue._replace(resting_items=np.zeros(queue.hosts.size, np.int32), resting_node=node)


def without_heap(queue: Polite) -> Polite:
    queue.counts[RESTING] = 0
    return queue._replace(resting_items=np.zeros(0, np.int32), resting_node=np.zeros(0, queue.ready_node.dtype))
