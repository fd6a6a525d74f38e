"""Where surf's mass comes from: its kernels with a record of each step, and the record read backwards from one page.

Mass starts at a seed, at a page fetched or at a page drawn, and a page that hands on divides all it has among its links. So the
mass of a page is a sum over all starts: what started there, times the share of it that arrives. That share is found for all
starts at once, from the last step to the first. Cost: a replay of the crawl, and some 300 bytes per fetch.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from frontrank.kernels.jit import INTERPRETED_STEPS, Array, Column, Kernel, by_size, interpreted, lean
from frontrank.orderings.online import surf_kernels as kernels
from frontrank.orderings.online.surf import Surf
from frontrank.orderings.online.surf_kernels import (
    Habits,
    dequeue,
    drawn_page,
    habits_of,
    local_share,
    novelty,
    start,
    start_at,
)
from frontrank.orderings.policy import Policy, State
from frontrank.orderings.tracer import Origins, Start
from frontrank.web.links import Links

FETCHED, SEED, DRAWN, HANDED_ON = range(4)  # kinds of steps
STARTS = ("fetched", "seed", "drawn")
EVENTS = 500  # at most so many fetches are recorded before the record is taken over
ROOM = EVENTS * (3 + kernels.HAND_ON)
COUNT, NEXT_KIND = range(2)  # of state.record


@lean
def _record(state: State, kind: int, page: int, mass: float) -> None:
    at = state.record[COUNT]
    state.record[COUNT] = at + 1
    state.step_kind[at] = kind
    state.step_page[at] = page
    state.step_mass[at] = mass


@lean
def _start_at(state: State, page: int, mass: float, reached: Array, written: int) -> int:
    _record(state, state.record[NEXT_KIND], page, mass)
    return start_at(state, page, mass, reached, written)


@lean
def _drawn_page(state: State, page: int) -> int:
    state.record[NEXT_KIND] = DRAWN
    return drawn_page(state, page)


_start_elsewhere = interpreted(start, start_at=_start_at, drawn_page=_drawn_page)


@lean
def _start(state: State, page: int, habits: Habits, reached: Array) -> int:
    own = (1.0 - habits.drawn) * local_share(state) * novelty(state, page, habits.variety, habits.deep)
    _record(state, FETCHED, page, own)
    state.record[NEXT_KIND] = SEED
    written = _start_elsewhere(state, page, habits, reached)
    _record(state, HANDED_ON, page, state.mass[page])
    return int(written)


@lean
def _dequeue(state: State) -> int:
    page = dequeue(state)
    _record(state, HANDED_ON, page, state.mass[page])
    return int(page)


@lean
def _before_links(state: State, links: Links) -> None:
    """Where surf prefetches: the page of the last step is about to hand on."""
    at = state.record[COUNT] - 1
    page = state.step_page[at]
    habits = habits_of(state)
    first, last = links.start[page], links.stop[page]
    total = (last - first - state.away[page]) + habits.m * state.away[page]
    d = habits.far if state.depth[page] > habits.deep else habits.near
    state.step_first[at], state.step_last[at] = first, last
    state.step_inside[at] = d / total if total > 0.0 else 0.0
    state.step_outside[at] = state.step_inside[at] * habits.m


_surf = interpreted(kernels.surf, start=_start, dequeue=_dequeue, prefetch_next=_before_links)
_on_fetch = interpreted(kernels.on_fetch, surf=_surf)


@lean
def _trace_back(
    steps: tuple[Array, ...], links: Array, host: Array, page: int, arriving: Array, started: Array, handed: Array
) -> None:
    """From the last step to the first: the share of a page's mass that arrives at ``page``, and what that share brings."""
    kind, at, mass, first, last, inside, outside = steps
    arriving[page] = 1.0
    for i in range(kind.size - 1, -1, -1):
        p = at[i]
        if kind[i] != HANDED_ON:
            started[kind[i], p] += mass[i] * arriving[p]
            continue
        share = 0.0
        for j in range(first[i], last[i]):
            q = links[j]
            part = inside[i] if host[q] == host[p] else outside[i]
            share += part * arriving[q]
            if q == page:
                handed[p] += part * mass[i]
        arriving[p] = share


RECORD = {
    "step_kind": np.int8,
    "step_page": np.int32,
    "step_mass": np.float64,
    "step_first": np.int32,
    "step_last": np.int32,
    "step_inside": np.float64,  # the share of what a page hands on that each link within its host gets
    "step_outside": np.float64,
}


@dataclass(frozen=True)
class TracedSurf(Surf):
    """surf with a record of its steps."""

    columns = {
        **Surf.columns,
        **{name: Column(dtype, per="crawl", slots=ROOM) for name, dtype in RECORD.items()},
        "record": Column(np.int64, per="crawl", slots=2),
    }

    def kernels(self) -> dict[str, Kernel]:
        return {**super().kernels(), "on_fetch": _on_fetch, "on_revisit": _surf}


class SurfTracer:
    """A ``Tracer``."""

    events = EVENTS

    def __init__(self, policy: Surf) -> None:
        self.policy: Policy = TracedSurf(**{field.name: getattr(policy, field.name) for field in fields(policy)})
        self._steps: list[list[Array]] = []
        self._seeds = self._before = np.empty(0, np.int64)

    def watch(self, state: State, seeds: Array) -> None:
        self._seeds, self._before = seeds, state.mass[seeds]

    def collect(self, state: State) -> None:
        planted = {"step_kind": SEED, "step_page": self._seeds, "step_mass": state.mass[self._seeds] - self._before}
        self._steps.append([np.full(len(self._seeds), planted.get(name, 0), dtype) for name, dtype in RECORD.items()])
        count = int(state.record[COUNT])
        state.record[COUNT] = 0
        self._steps.append([getattr(state, name)[:count].copy() for name in RECORD])

    def origins(self, state: State, links: Array, page: int) -> Origins:
        steps = tuple(np.concatenate(column) for column in zip(*self._steps, strict=True))
        pages = state.mass.size
        arriving, started, handed = np.zeros(pages), np.zeros((len(STARTS), pages)), np.zeros(pages)
        work = int((steps[4] - steps[3]).sum())
        by_size(_trace_back, work, INTERPRETED_STEPS)(steps, links, state.host, page, arriving, started, handed)
        return Origins(
            [(int(p), float(handed[p])) for p in np.flatnonzero(handed)],
            [Start(int(p), STARTS[kind], float(started[kind, p])) for kind, p in np.argwhere(started)],
        )
