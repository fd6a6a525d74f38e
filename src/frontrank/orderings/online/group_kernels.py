"""The kernels of group: records of pages and groups, and the heap of each group."""

from __future__ import annotations

import numpy as np

from frontrank.frontiers.pairing import wide, with_page, without
from frontrank.kernels.jit import Array, kernel
from frontrank.orderings.policy import Out, State
from frontrank.pages.scorers import LOWEST

QUALITY, BACKLINK = 0, 2
MAX_KEY = 1e38  # of an inner key
MAX_PARENTS = 2**16 - 1  # counted; the score of a further one weighs as if there were no more
UNKNOWN, LEFT = 0, -1  # of a record's seq; of pages that wait it is above 0
BEHIND = -1e304  # the key of a page that is not the first of its group; what is beyond 1e305 is a priority in the frontier
NODE = np.dtype([("key", np.float32), ("seq", np.int32), ("child", np.int32), ("next", np.int32), ("prev", np.int32)])


@kernel
def _mean_of_parents(state: State, q: int) -> float:
    """The mean score of the pages that link to q, if one of them has a score."""
    return float(state.node[q]["key"] if state.parents[q] > 0 else state.prior)


@kernel
def passed_on(state: State, page: int) -> float:
    """The score that a page without a text, such as a redirect, passes on to its targets; NaN if no page links to it."""
    if state.inner != QUALITY or state.parents[page] == 0:
        return np.nan
    return float(state.node[page]["key"])


@kernel
def _single(value: float) -> float:
    """A value as a record stores it: in single precision, which is enough for an expectation, and never infinite."""
    return float(np.float32(min(max(value, -MAX_KEY), MAX_KEY)))


@kernel
def inner_key(state: State, q: int, s: float) -> float:
    """The key of a page among those of its group, now that one more fetched page links to it, with this score."""
    key = float(state.node[q]["key"])
    if state.inner == BACKLINK:
        return _single(key + 1.0)
    if state.inner == QUALITY and s > LOWEST:
        parents = min(int(state.parents[q]) + 1, MAX_PARENTS)
        state.parents[q] = parents
        return _single(key + (s - key) / parents if parents > 1 else s)
    return key


@kernel
def expected_value(state: State, page: int) -> float:
    """The expected score of a page of whose directory nothing is known."""
    if state.inner != QUALITY:
        return float(state.prior)
    expected = _mean_of_parents(state, page)
    for level in range(state.depth):
        group = state.group[page]
        for _ in range(state.depth - level):
            group = state.above[group]
        if state.mean_of[group] > 0:
            expected = 0.5 * (expected + state.mean[group])
    return float(expected)


@kernel
def group_key(state: State, page: int) -> float:
    group = state.group[page]
    weight = state.judged[group] + state.strength
    if weight <= 0.0:
        return expected_value(state, page)
    return float((state.worth[group] + state.strength * expected_value(state, page)) / weight)


@kernel
def waits(state: State, page: int) -> bool:
    return bool(state.node[page]["seq"] > 0)


@kernel
def join(state: State, page: int) -> None:
    """A page begins to wait."""
    group = state.group[page]
    state.count[0] += 1
    state.node[page]["seq"] = state.count[0]
    if state.inner == QUALITY:
        state.node[page]["key"] = _single(_mean_of_parents(state, page))
    state.top[group] = with_page(state.node, wide(state.top[group]), wide(page))


@kernel
def leave(state: State, page: int) -> None:
    group = state.group[page]
    state.top[group] = without(state.node, wide(state.top[group]), wide(page))
    state.node[page]["seq"] = LEFT  # its first links may arrive again
    if state.first[group] == page:
        state.first[group] = -1


@kernel
def count_link(state: State, q: int, s: float) -> None:
    """One more fetched page, with this score, links to q."""
    key = inner_key(state, q, s)
    if key != state.node[q]["key"]:
        group = state.group[q]
        if waits(state, q):
            state.top[group] = without(state.node, wide(state.top[group]), wide(q))
        state.node[q]["key"] = key
        if waits(state, q):
            state.top[group] = with_page(state.node, wide(state.top[group]), wide(q))


@kernel
def touch(state: State, group: int, count: int) -> int:
    """Note that the key of a group has to be written."""
    if state.touched[group] == 0:
        state.touched[group] = 1
        state.todo[count] = group
        count += 1
    return count


@kernel
def judge(state: State, page: int, s: float, count: int) -> int:
    """Count a score for the groups of a page; those below get the new mean when the number of pages has grown by a tenth."""
    group = state.group[page]
    count = touch(state, group, count)
    state.worth[group] += s
    state.judged[group] += 1
    for _ in range(state.depth):
        group = state.above[group]
        state.worth[group] += s
        state.judged[group] += 1
        if state.inner == QUALITY and 10 * state.judged[group] >= 11 * state.mean_of[group]:
            state.mean[group] = state.worth[group] / state.judged[group]
            state.mean_of[group] = state.judged[group]
            count = _touch_below(state, group, count)
    return count


@kernel
def _touch_below(state: State, group: int, count: int) -> int:
    """All groups of the last level in which a page waits."""
    state.stack[0] = group
    height = 1
    while height > 0:
        height -= 1
        below = state.below[state.stack[height]]
        while below >= 0:
            if state.top[below] >= 0:
                count = touch(state, below, count)
            state.stack[height] = below
            height += state.below[below] >= 0
            below = state.beside[below]
    return count


@kernel
def show(state: State, group: int, out: Out, count: int) -> int:
    """Write the group's key for the first of its pages, and take it from the page that was first before."""
    top, before = state.top[group], state.first[group]
    if before >= 0 and before != top:
        out.page[count] = before
        out.key[count] = BEHIND
        count += 1
    if top >= 0:
        out.page[count] = top
        out.key[count] = group_key(state, top)
        count += 1
    state.first[group] = top
    return count


@kernel
def place(state: State, groups: Array, group: Array, known: int) -> None:
    """Put pages into their groups: a row per page, from the host down to the last level; ``known`` groups were there before.

    Memory of further groups is never touched: there is room for many more groups than most webs have.
    """
    for fresh in range(known, state.groups.counts[0]):
        state.above[fresh] = -1
        state.below[fresh] = -1
        state.beside[fresh] = -1
        state.top[fresh] = -1
        state.first[fresh] = -1
    state.placed[0] += group.size
    for i in range(group.size):
        for level in range(1, groups.shape[1]):
            inside, above = groups[i, level], groups[i, level - 1]
            if state.above[inside] < 0:
                state.above[inside] = above
                state.beside[inside] = state.below[above]
                state.below[above] = inside
        group[i] = groups[i, groups.shape[1] - 1]
