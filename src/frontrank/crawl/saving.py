"""Snapshots of a crawl's state: a loop over its parts, each of which saves and restores itself.

What a snapshot must agree on to be of use is in its head: kernels that were changed would read what others wrote, or beyond it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import frontrank
from frontrank.crawl import snapshots
from frontrank.crawl.log import Log, Snapshot
from frontrank.crawl.snapshot_checks import check_snapshot
from frontrank.crawl.state import CrawlState
from frontrank.frontiers.polite_frontier import PoliteFrontier
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.growing import reserve
from frontrank.kernels.jit import Array, fingerprint
from frontrank.orderings.stored import to_data

logger = logging.getLogger("frontrank.crawl")

FORMAT = 11


def save_snapshot(state: CrawlState, wait: bool = True) -> bool:
    """Whether one was saved. Not of orderings whose past is more than arrays, nor amid a ranking."""
    log = state.log
    if "history" in state.needs or state.demand.searchers is not None or state.ranking.under_way:
        return False
    log.commit()
    saved = {name: part.save() for name, part in state.parts().items()}
    head = {
        **_wanted(state),
        "seq": log.seq,
        "politeness": state.politeness.json(),
        "parts": {name: json for name, (json, _) in saved.items()},
    }
    arrays = {f"{part}_{name}": array for part, (_, own) in saved.items() for name, array in own.items()}
    return log.save_snapshot(head, arrays, wait)


def _wanted(state: CrawlState) -> dict[str, Any]:
    frontier = type(state.frontier)
    return {
        "format": FORMAT,
        "frontrank": frontrank.__version__,
        "policy": to_data(state.policy),
        "kernels": [fingerprint(kernel) for kernel in state.policy.kernels().values()],
        "state": [str(leaf.dtype) for leaf in snapshots.leaves(state.ordering.columns)],
        "frontier": None if frontier is PoliteFrontier else f"{frontier.__module__}.{frontier.__qualname__}",
    }


def from_snapshot(log: Log, new_state: Callable[[], CrawlState]) -> tuple[CrawlState, int]:
    """The state of the newest snapshot that is of use, and the row that it was made after; 0, and a new state, without one."""
    state = new_state()
    wanted = _wanted(state)
    for head, arrays in log.snapshots():
        if all(head.get(key) == value for key, value in wanted.items()):
            try:
                check_snapshot(state, head, arrays)
                _load(state, (head, arrays))
                return state, int(head["seq"])
            except Exception as error:  # whatever is wrong with it: the journal has all that it has
                logger.warning("a snapshot of event %s is skipped (%s: %s)", head["seq"], type(error).__name__, error)
                state = new_state()
    return state, 0


def _load(state: CrawlState, saved: Snapshot) -> None:
    head, stored = saved
    arrays = {name: reserve(value) for name, value in stored.items()}
    for name, part in state.parts().items():
        part.restore(head["parts"][name], of_part(name, arrays))
    state.politeness = Politeness(**head["politeness"])
    links = state.links.rows
    # one more than there is room for: numbers that count from 1 may be as large as that
    state.ordering.grow(state.links.capacity + 1, state.hosts.first_page.size + 1)
    state.ordering.reserve_out(int((links.stop[: state.known] - links.start[: state.known]).max(initial=0)))


def of_part(part: str, arrays: dict[str, Array]) -> dict[str, Array]:
    prefix = part + "_"
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
