"""Group: pages of the directories whose fetched pages were good first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.frontiers.pairing import wide, with_page, without
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array, Column, by_size, kernel, state_type
from frontrank.orderings.policy import Out, Policy, State
from frontrank.pages.scorers import LOWEST, find
from frontrank.pages.urls import directory
from frontrank.web.links import Links, row
from frontrank.web.quality import scores_of
from frontrank.web.web import Web

INNER = ("quality", "bfs", "backlink")
QUALITY, BACKLINK = 0, 2
DEEPEST = 8
MAX_KEY = 1e38  # of an inner key
MAX_PARENTS = 2**16 - 1  # counted; the score of a further one weighs as if there were no more
UNKNOWN, LEFT = 0, -1  # of a record's seq; of pages that wait it is above 0
BEHIND = -1e304  # the key of a page that is not the first of its group; what is beyond 1e305 is a priority in the frontier
NODE = np.dtype([("key", np.float32), ("seq", np.int32), ("child", np.int32), ("next", np.int32), ("prev", np.int32)])
OF_GROUPS = {  # by group of any level: directories, and those above them up to the host; -1 is none
    "above": Column(np.int32),  # the group of the level above
    "below": Column(np.int32),  # the first group of the level below
    "beside": Column(np.int32),  # the next group below the same one
    "worth": Column(),  # sum of the scores of its fetched pages
    "judged": Column(np.int32),  # how many these are
    "mean": Column(),  # what the groups below are told of it
    "mean_of": Column(np.int32),  # of how many pages that is the mean
    "top": Column(np.int32),  # of the last level: the top of its heap
    "first": Column(np.int32),  # and the page that carries its key in the queue
    "touched": Column(np.uint8),
    "todo": Column(np.int32),
    "stack": Column(np.int32),
}


@kernel
def _given(state: State, q: int) -> float:
    """What the pages that link to q make one expect of it: the mean of their scores, if one of them has any."""
    return float(state.node[q]["key"] if state.parents[q] > 0 else state.prior)


@kernel
def _handed_on(state: State, page: int) -> float:
    """What a page that says nothing, such as a redirect, is to those it links to; NaN if nobody has told of it."""
    if state.inner != QUALITY or state.parents[page] == 0:
        return np.nan
    return float(state.node[page]["key"])


@kernel
def _single(value: float) -> float:
    """As a record keeps it: in single precision, which is plenty for what is only expected, and never infinite."""
    return float(np.float32(min(max(value, -MAX_KEY), MAX_KEY)))


@kernel
def _inner(state: State, q: int, s: float) -> float:
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
def _expected(state: State, page: int) -> float:
    """What a page is expected to be worth if nothing is known of its directory."""
    if state.inner != QUALITY:
        return float(state.prior)
    expected = _given(state, page)
    for level in range(state.depth):
        group = state.group[page]
        for _ in range(state.depth - level):
            group = state.above[group]
        if state.mean_of[group] > 0:
            expected = 0.5 * (expected + state.mean[group])
    return float(expected)


@kernel
def _key(state: State, page: int) -> float:
    group = state.group[page]
    weight = state.judged[group] + state.strength
    if weight <= 0.0:
        return _expected(state, page)
    return float((state.worth[group] + state.strength * _expected(state, page)) / weight)


@kernel
def _waits(state: State, page: int) -> bool:
    return bool(state.node[page]["seq"] > 0)


@kernel
def _join(state: State, page: int) -> None:
    """A page begins to wait."""
    group = state.group[page]
    state.count[0] += 1
    state.node[page]["seq"] = state.count[0]
    if state.inner == QUALITY:
        state.node[page]["key"] = _single(_given(state, page))
    state.top[group] = with_page(state.node, wide(state.top[group]), wide(page))


@kernel
def _leave(state: State, page: int) -> None:
    group = state.group[page]
    state.top[group] = without(state.node, wide(state.top[group]), wide(page))
    state.node[page]["seq"] = LEFT  # it may arrive once more, with its first links
    if state.first[group] == page:
        state.first[group] = -1


@kernel
def _linked(state: State, q: int, s: float) -> None:
    """One more fetched page, with this score, links to q."""
    key = _inner(state, q, s)
    if key != state.node[q]["key"]:
        group = state.group[q]
        if _waits(state, q):
            state.top[group] = without(state.node, wide(state.top[group]), wide(q))
        state.node[q]["key"] = key
        if _waits(state, q):
            state.top[group] = with_page(state.node, wide(state.top[group]), wide(q))


@kernel
def _touch(state: State, group: int, count: int) -> int:
    """The key of a group is to be written anew."""
    if state.touched[group] == 0:
        state.touched[group] = 1
        state.todo[count] = group
        count += 1
    return count


@kernel
def _judge(state: State, page: int, s: float, count: int) -> int:
    """Count a score for the groups that a page lies in; those below are told when the number of pages has grown by a tenth."""
    group = state.group[page]
    count = _touch(state, group, count)
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
                count = _touch(state, below, count)
            state.stack[height] = below
            height += state.below[below] >= 0
            below = state.beside[below]
    return count


@kernel
def _show(state: State, group: int, out: Out, count: int) -> int:
    """Write the group's key for the first of its pages, and take it from the page that was the first before."""
    top, before = state.top[group], state.first[group]
    if before >= 0 and before != top:
        out.page[count] = before
        out.key[count] = BEHIND
        count += 1
    if top >= 0:
        out.page[count] = top
        out.key[count] = _key(state, top)
        count += 1
    state.first[group] = top
    return count


@kernel
def place(state: State, groups: Array, group: Array, known: int) -> None:
    """These pages lie in these groups, from the host down to the last level, a row a page; so many groups were known before.

    What is known of no group is never touched: there is room for many more groups than most webs have.
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


@dataclass(frozen=True)
class Group(Policy):
    """Group: pages of the directories whose fetched pages were good first, by a scorer that reads every fetched page.

        g(c)   the group of c: its host and the first ``depth`` directories of its path, digits as #
        e(c)   what c is expected to be worth, if nothing is known of its group
        key(c) = (sum of s(p) over the fetched pages p of g(c) + strength * e(c))/(number of these p + strength)

    A site keeps pages of a kind in one place, so what was fetched from a directory tells of what waits there. Of a directory
    that is new, the pages that link to it and the directories above it tell:

        e(c) = mean of s over the fetched pages that link to c (``prior`` for a seed);
               then for the host, and each directory above the group: e(c) = (e(c) + mean of s over its fetched pages)/2

    In a group pages go by the first line of e. ``inner=bfs`` and ``inner=backlink`` are the plain rule: e(c) = prior, and pages
    of a group in the order of their discovery, or of the fetched pages that link to them. On a real site it loses to breadth
    first where scores lie close together, for it goes astray in directories that happened to begin well (docs/quality.md).

    Only the first page of a group carries the key in the queue, the others stand behind it. Among groups of equal keys the page
    discovered first goes first. The mean of a host or directory that e is made of is renewed when the number of its pages has
    grown by a tenth. A page on which the scorer fails says nothing of its group; a redirect hands on what it was given.
    What pages that link to c make one expect is kept in single precision; of more than 65,535 the later weigh a little more.

    Parameters: ``scorer``, the name of a scorer (``words``, ``rules``, ``topic:WORDS``, one of a package, or
    ``module:function``; docs/quality.md); ``depth``; ``prior``; ``strength``, how many pages e weighs; ``inner``.

    Cost: O(log n) a link, and the scorer; at each tenth a pass over the groups of a host.

    >>> from frontrank import Web, order
    >>> urls = ["http://a/", "http://a/x/1", "http://a/y/1", "http://a/x/2", "http://a/y/2"]
    >>> texts = ["", "poor", " ".join(map(str, range(300))), "", ""]
    >>> web = Web.from_edges([0, 0, 0, 0], [1, 3, 2, 4], pages=5, urls=urls, texts=texts)
    >>> order(web, "group:scorer=words,inner=bfs", seeds=[0])
    [0, 1, 2, 4, 3]
    """

    scorer: str = "words"
    depth: int = 2
    prior: float = 0.5
    strength: float = 1.0
    inner: str = "quality"
    name = "group"
    needs_past_links = False
    touches = "known"
    explained_by = "of its directory"
    combines = False  # its keys change for pages that no event touches
    columns = {
        "group": Column(np.int32),
        "parents": Column(np.uint16),  # fetched pages with a score that link here; the mean of the scores is the inner key
        "node": Column(NODE, {"child": -1, "next": -1, "prev": -1}),  # a heap for each group, by inner key
        "count": Column(np.int64, per="crawl"),
        "placed": Column(np.int64, per="crawl"),  # pages whose group is known
    }

    def validate(self) -> None:
        self.require(0 <= self.depth <= DEEPEST, "depth", f"a whole number from 0 to {DEEPEST}")
        self.require(self.strength >= 0, "strength", "a number from 0")
        if self.inner not in INNER:
            raise SpecError(f"group: inner must be quality, bfs or backlink{nearest(self.inner, INNER)}")
        find(self.scorer)

    def needs(self) -> frozenset[str]:
        return frozenset({"scores", "urls"})

    def parameters(self) -> dict[str, int | float]:
        known = {"prior": self.prior, "strength": self.strength, "depth": self.depth}
        return {**known, "inner": INNER.index(self.inner)}

    # Groups are numbered as they become known, by a table that is part of the state ------------------------------------------
    def layout(self) -> dict[str, Column]:
        own = {name: column for name, column in super().layout().items() if name != "url_value"}
        return own if self.inner == "quality" else {**own, "parents": Column(np.uint16, per="crawl")}

    def allocate(self, pages: int, hosts: int = 1) -> State:
        state = super().allocate(pages, hosts)
        with_groups: Any = state_type((*state._fields, *OF_GROUPS, "groups"))
        most = (self.depth + 1) * pages
        return with_groups(*state, *(column.new(most) for column in OF_GROUPS.values()), names.new(most))

    def enlarge(self, state: State, pages: int, hosts: int = 1) -> State:
        larger = super().enlarge(state, pages, hosts)
        known, new = int(state.groups.counts[names.COUNT]), pages - int(state.placed[0])
        groups = names.with_capacity(state.groups, (self.depth + 1) * new)
        most = known + (self.depth + 1) * new
        return larger._replace(
            groups=groups, **{name: column.grown(getattr(state, name), most) for name, column in OF_GROUPS.items()}
        )

    def see_web(self, state: State, web: Web) -> None:
        state.quality[:] = scores_of(web, self.scorer)
        self._place(state, 0, list(web.urls or ()))

    def see_pages(self, state: State, first: int, urls: Sequence[str], hosts: Array, truths: Sequence[float]) -> None:
        self._place(state, first, urls)

    def _place(self, state: State, first: int, urls: Sequence[str]) -> None:
        levels = [f"{level} {directory(url, level)}" for url in urls for level in range(self.depth + 1)]
        numbers = np.empty(len(levels), np.int32)
        known = int(state.groups.counts[names.COUNT])
        assert known + len(levels) <= state.above.size, "no room for the groups of these pages; enlarge comes first"
        by_size(names.number_all, len(levels))(state.groups, names.fingerprints(levels), numbers)
        by_size(place, len(levels))(state, numbers.reshape(len(urls), -1), state.group[first : first + len(urls)], known)

    # Events -----------------------------------------------------------------------------------------------------------------
    @staticmethod
    @kernel
    def on_seed(state: State, page: int, weight: float) -> float:
        if state.node[page]["seq"] == UNKNOWN:
            _join(state, page)
        return BEHIND

    @staticmethod
    @kernel
    def on_start(state: State, out: Out) -> int:
        count = 0
        for group in range(state.groups.counts[0]):
            count = _show(state, group, out, count)
        return count

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        if _waits(state, page):
            _leave(state, page)
        s = state.quality[page]
        groups = _touch(state, state.group[page], 0)
        if s > LOWEST:  # neither failed nor NaN
            groups = _judge(state, page, s, groups)
        elif np.isnan(s):
            s = _handed_on(state, page)
        targets = row(links, page)
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0:
                _linked(state, q, s)
                groups = _touch(state, state.group[q], groups)
                if state.node[q]["seq"] == UNKNOWN:
                    _join(state, q)
                    out.page[count] = q
                    out.key[count] = BEHIND
                    count += 1
        for i in range(groups):
            state.touched[state.todo[i]] = 0
            count = _show(state, state.todo[i], out, count)
        return count

    @staticmethod
    @kernel
    def on_revisit(state: State, links: Links, page: int, out: Out) -> int:
        """Pages that were not known join their groups; what the page is worth now does not count twice."""
        s = state.quality[page]
        if np.isnan(s):
            s = _handed_on(state, page)
        targets = row(links, page)
        groups = 0
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0 and state.node[q]["seq"] == UNKNOWN:
                _linked(state, q, s)
                groups = _touch(state, state.group[q], groups)
                _join(state, q)
                out.page[count] = q
                out.key[count] = BEHIND
                count += 1
        for i in range(groups):
            state.touched[state.todo[i]] = 0
            count = _show(state, state.todo[i], out, count)
        return count

    # What is told -----------------------------------------------------------------------------------------------------------
    def priority(self, state: State, page: int, key: float) -> float:
        return _key(state, page)

    def givers(self, state: State, page: int, fetched: Array) -> tuple[list[tuple[int, float]], float]:
        """The fetched pages of its group, and what each adds to the key; what is expected without them is nobody's."""
        judged = fetched[(state.group[fetched] == state.group[page]) & (state.quality[fetched] > LOWEST)]
        weight = len(judged) + self.strength
        if not weight:
            return [], _expected(state, page)
        parts = [(int(p), float(state.quality[p]) / weight) for p in judged]
        return parts, self.strength * _expected(state, page) / weight
