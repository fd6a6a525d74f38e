"""Whether the arrays of a snapshot can be given to kernels, which trust every number in them.

A flipped bit is found by the checksum of each array. This is for files that somebody made: whatever is used as an index lies
in its range, tables have a free slot, heaps have no circles. It reads each array once, at some GB/s, and each waiting page.

Columns of orderings are checked by what all of them have in common: a whole number counts pages or hosts, or is one, or is
what the column is filled with. A snapshot that breaks this is skipped, and the journal is replayed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontrank.errors import StorageError
from frontrank.frontiers import polite
from frontrank.frontiers.frontier import FORGOTTEN, WAITING
from frontrank.frontiers.polite.arrays import READY, TIMED
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.kernels.hashtable import COUNT, HashTable
from frontrank.kernels.jit import INTERPRETED_STEPS, Array, by_size, kernel
from frontrank.orderings.policy import Out, Policy
from frontrank.web.links import MAX_PAGES

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

INTS, REALS = np.dtype(np.int32), np.dtype(np.float64)


INDICES = (  # arrays of page numbers
    "links_target",
    "progress_order",
    "progress_reopened",
    "leases_pages",
    "leases_tried",
    "rules_held_up",
    "pending_parent",
    "pending_target",
    "frontier_due",
)


def check_snapshot(state: CrawlState, head: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Raise StorageError if an array is of another type or size than a crawl's, or holds an index out of its range."""
    known = _table("pages_", arrays)
    hosts = _table("hosts_", arrays)
    _table("pages_by_url_", arrays)
    pages = arrays["links_start"].size
    require(known <= pages <= MAX_PAGES and hosts <= arrays["hosts_first_page"].size, "numbers of pages")
    _check_links(state, head["parts"]["links"], arrays, known)
    for name in INDICES:
        if name in arrays:
            in_range(arrays, name, known)
    in_range(arrays, "hosts_first_page", known, minimum=-1)
    in_range(arrays, "pages_by_url_newest", known, minimum=-1)
    before = arrays["pages_by_url_before"]
    require(before.ndim == 2 and before.shape[1:] == (2,), "pages_by_url_before")
    same_size(arrays, "leases_pages", "leases_ends", REALS)
    same_size(arrays, "leases_tried", "leases_attempts", INTS)
    require(not bool(np.isnan(arrays["leases_ends"]).any()), "leases_ends")
    lengths = arrays["pending_length"]
    require(bool(lengths.dtype == np.int64) and int(lengths.min(initial=0)) >= 0, "pending_length")
    require(int(lengths.sum()) == arrays["pending_target"].size, "pending_length")
    require(arrays["pages_depths"].dtype == np.uint16 and arrays["pages_depths"].size >= pages, "pages_depths")
    impacts, own = arrays["demand_impacts"], state.demand.impacts
    require(impacts.dtype == REALS and impacts.size >= (pages if own.size else 0), "demand_impacts")
    viewed, now = head["parts"]["ranking"], head["parts"]["progress"]["now"]
    require(0 <= viewed <= arrays["progress_order"].size and math.isfinite(now), "head")
    scores = [array for name, array in arrays.items() if name.startswith("ranking_")]
    require(all(bool(score.dtype == REALS) and score.size <= pages for score in scores), "ranking")
    if type(state.frontier) is PoliteFrontier:
        _check_frontier(state.frontier, arrays, pages, known, hosts)
    _check_columns(state, head["parts"]["ordering"], arrays, pages, hosts)


def require(holds: bool, name: str) -> None:
    if not holds:
        raise StorageError(f"array {name} of a snapshot holds what no crawl writes")


def in_range(arrays: dict[str, Array], name: str, limit: int, minimum: int = 0) -> None:
    array = arrays[name]
    require(array.dtype.kind == "i" and array.itemsize <= 8, name)
    require(not array.size or (int(array.min()) >= minimum and int(array.max()) < limit), name)


def same_size(arrays: dict[str, Array], name: str, other: str, dtype: Any) -> None:
    require(arrays[name].shape == arrays[other].shape and arrays[other].dtype == dtype and arrays[other].ndim == 1, other)


def _table(prefix: str, arrays: dict[str, Array]) -> int:
    """How many numbers a hash table has given."""
    slots, old, keys, counts = (arrays[prefix + name] for name in HashTable._fields)
    require(counts.shape == (2,) and counts.dtype == np.int64 and keys.dtype == np.int64, prefix + "counts")
    count = int(counts[COUNT])
    require(0 <= count <= keys.size and int(counts.min()) >= 0, prefix + "counts")
    for name, some in (("slots", slots), ("old", old)):
        require(some.dtype == INTS and some.size > 0 and some.size & (some.size - 1) == 0, prefix + name)
        require(int(some.min()) >= 0 and int(some.max()) <= count, prefix + name)
        require(int(np.count_nonzero(some)) < some.size, prefix + name)  # a search ends at a free slot
    return count


def _check_links(state: CrawlState, stored: int, arrays: dict[str, Array], known: int) -> None:
    start, stop, target, value = (arrays[f"links_{name}"] for name in ("start", "stop", "target", "value"))
    require(start.dtype == stop.dtype == target.dtype == INTS and start.ndim == stop.ndim == 1, "links_start")
    require(stop.size >= start.size, "links_stop")  # 0.2 let it grow further
    require(target.shape == (stored,), "links_target")
    first, end = start[:known], stop[:known]
    used = stored if state.links.keeps else 2**31 - 1
    require(not known or (int(first.min()) >= 0 and int(end.max()) <= used), "links_start")
    require(bool(np.all(first <= end)) and int((end - first).max(initial=0)) <= known, "links_stop")
    require(value.dtype == REALS and value.size == (stored if state.links.reads_anchors else 0), "links_value")


def _check_frontier(frontier: PoliteFrontier, arrays: dict[str, Array], pages: int, known: int, hosts: int) -> None:
    queue = polite.Polite(**{name: arrays["frontier_" + name] for name in polite.Polite._fields})
    for name, array, own in zip(queue._fields, queue, frontier.queue, strict=True):
        require(array.dtype == own.dtype and array.ndim == 1, name)
    room = queue.hosts.size
    places = int(arrays["frontier_known_hosts"][0])
    require(hosts <= places <= room and queue.politeness.size == 1, "hosts")
    require(queue.counts.size == frontier.queue.counts.size and queue.pace.size == frontier.queue.pace.size, "counts")
    require(all(array.size >= room for array in queue[4:8]), "ready_items")
    require(min(queue.node.size, queue.mark.size, queue.host.size) >= pages, "node")
    require(queue.own.size == 0 or queue.own.size >= pages, "own")
    seen = int(queue.counts[polite.KNOWN])
    require(0 <= seen <= known and int(queue.mark.max(initial=0)) <= FORGOTTEN, "mark")
    fields = {f"node.{name}": queue.node[name] for name in ("child", "next", "prev")} | {"hosts.top": queue.hosts["top"]}
    for name, array in fields.items():
        in_range({name: array}, name, pages, minimum=-1)
    in_range({"seq": queue.node["seq"]}, "seq", max(seen, 1))
    numbered = {"host": queue.host, "ready_items": queue.ready_items, "timer_items": queue.timer_items}
    numbered |= {"ready_node.pos": queue.ready_node["pos"], "timer_node.pos": queue.timer_node["pos"]}
    for name, array in numbered.items():
        in_range({name: array}, name, room, minimum=-1 if name.endswith("pos") else 0)
    require(0 <= queue.counts[READY] <= room and 0 <= queue.counts[TIMED] <= room, "counts")
    heaps_hold = by_size(_heaps_hold, known, INTERPRETED_STEPS)
    require(heaps_hold(queue.node, queue.mark, queue.host, queue.hosts["top"], queue.counts[polite.WAIT]), "node")
    require(arrays["frontier_due_at"].shape == arrays["frontier_due"].shape and arrays["frontier_due_at"].dtype == REALS, "due")


@kernel
def _heaps_hold(node: Array, mark: Array, host: Array, tops: Array, waiting: int) -> bool:
    """Whether every heap is a tree of waiting pages of its host, and all of them together hold so many."""
    left = waiting
    for h in range(tops.size):
        top = tops[h]
        page = top
        down = True
        while page >= 0:
            if down:
                left -= 1
                if left < 0 or mark[page] != WAITING or host[page] != h:
                    return False
                child = node[page]["child"]
                if child >= 0:
                    if node[child]["prev"] != page:
                        return False
                    page = child
                    continue
            if page == top:
                break
            after = node[page]["next"]
            if after >= 0:
                if node[after]["prev"] != page:
                    return False
                page = after
                down = True
                continue
            before = node[page]["prev"]  # every page on the way back was counted on the way here, by the same links
            while before >= 0 and node[before]["child"] != page:
                page = before
                before = node[page]["prev"]
            page = before
            down = False
    return left == 0


def _check_columns(state: CrawlState, firsts: Any, arrays: dict[str, Array], pages: int, hosts: int) -> None:
    """``firsts``: for each column the first one that it shares its array with."""
    fresh = list(_columns(state.policy, state.policy.allocate(1, 1)))
    require(len(firsts) == len(fresh) and all(type(at) is int and 0 <= at < len(fresh) for at in firsts), "ordering")
    limit = max(pages, arrays["hosts_first_page"].size)
    stored = [arrays[f"ordering_{first}"] for first in firsts]
    tables = {column.table + column.name: array for column, array in zip(fresh, stored, strict=True) if column.table}
    for prefix in {column.table for column in fresh} - {""}:
        _table(prefix, tables)
    for column, array in zip(fresh, stored, strict=True):
        own = column.array
        require(array.dtype == own.dtype and array.ndim == 1 and array.size >= own.size, column.name)
        fields = array.dtype.names
        for part in [array] if fields is None else [array[field] for field in fields]:
            if column.indices and part.dtype.kind == "i" and part.itemsize >= 4 and part.size:
                if column.name == "host":
                    in_range({"host": part}, "host", max(hosts, 1))
                else:
                    _check_numbers(column, np.delete(part, column.counters) if column.counters else part, limit)


class StateColumn(NamedTuple):
    name: str
    array: Array
    indices: bool  # whether its whole numbers may be used as indices
    counters: tuple[int, ...]  # but for these slots
    table: str  # the hash table that it is a part of, if it is


def _columns(policy: Policy, state: Any) -> Iterator[StateColumn]:
    """The arrays of a nested state in the order of ``snapshots.leaves``."""
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, np.ndarray):
            table = f"state{id(state)}_" if isinstance(state, HashTable) else ""
            yield StateColumn(name, value, not table and not isinstance(state, Out), policy.counters.get(name, ()), table)
        elif isinstance(value, tuple):
            part = getattr(policy, name, None)
            yield from _columns(part if isinstance(part, Policy) else policy, value)


def _check_numbers(column: StateColumn, part: Array, limit: int) -> None:
    if part.size and (int(part.min()) < -1 or int(part.max()) > limit):
        own = column.array
        fills = np.unique(own if own.dtype.names is None else np.concatenate([own[field] for field in own.dtype.names]))
        odd = part[(part < -1) | (part > limit)]
        require(bool(np.isin(odd, fills).all()), column.name)
