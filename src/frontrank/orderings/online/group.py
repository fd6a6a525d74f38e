"""Group: pages of the directories whose fetched pages were good first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontrank.errors import SpecError, nearest
from frontrank.kernels import hashtable as names
from frontrank.kernels.jit import Array, Column, by_size, kernel, state_type
from frontrank.orderings.online.group_kernels import (
    BEHIND,
    NODE,
    UNKNOWN,
    count_link,
    expected_value,
    group_key,
    join,
    judge,
    leave,
    passed_on,
    place,
    show,
    touch,
    waits,
)
from frontrank.orderings.policy import Out, Policy, State
from frontrank.pages.scorers import LOWEST, find
from frontrank.pages.urls import directory
from frontrank.web.links import Links, row
from frontrank.web.quality import scores_of
from frontrank.web.web import Web

INNER = ("quality", "bfs", "backlink")
MAX_DEPTH = 8
OF_GROUPS = {  # by group of any level: directories, and those above them up to the host; -1 is no group
    "above": Column(np.int32),  # the group of the level above
    "below": Column(np.int32),  # the first group of the level below
    "beside": Column(np.int32),  # the next group below the same one
    "worth": Column(),  # sum of the scores of its fetched pages
    "judged": Column(np.int32),  # how many these are
    "mean": Column(),  # of the scores, as the groups below use it
    "mean_of": Column(np.int32),  # of how many pages that is the mean
    "top": Column(np.int32),  # of the last level: the top of its heap
    "first": Column(np.int32),  # and the page that carries its key in the queue
    "touched": Column(np.uint8),
    "todo": Column(np.int32),
    "stack": Column(np.int32),
}


@dataclass(frozen=True)
class Group(Policy):
    """Group: pages of the directories whose fetched pages were good first, by a scorer that reads every fetched page.

        g(c)   the group of c: its host and the first ``depth`` directories of its path, digits as #
        e(c)   what c is expected to be worth, if nothing is known of its group
        key(c) = (sum of s(p) over the fetched pages p of g(c) + strength * e(c))/(number of these p + strength)

    A site keeps pages of a kind in one place, so the fetched pages of a directory predict those that wait there. For a new
    directory, the pages that link to it and the directories above it are the prediction:

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

    Cost: O(log n) per link, and the scorer; at each tenth a pass over the groups of a host.

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
        self.require(0 <= self.depth <= MAX_DEPTH, "depth", f"a whole number from 0 to {MAX_DEPTH}")
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
        room = (self.depth + 1) * pages
        return with_groups(*state, *(column.new(room) for column in OF_GROUPS.values()), names.new(room))

    def enlarge(self, state: State, pages: int, hosts: int = 1) -> State:
        larger = super().enlarge(state, pages, hosts)
        known, new = int(state.groups.counts[names.COUNT]), pages - int(state.placed[0])
        groups = names.with_capacity(state.groups, (self.depth + 1) * new)
        room = known + (self.depth + 1) * new
        return larger._replace(
            groups=groups, **{name: column.grown(getattr(state, name), room) for name, column in OF_GROUPS.items()}
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
            join(state, page)
        return BEHIND

    @staticmethod
    @kernel
    def on_start(state: State, out: Out) -> int:
        count = 0
        for group in range(state.groups.counts[0]):
            count = show(state, group, out, count)
        return count

    @staticmethod
    @kernel
    def on_fetch(state: State, links: Links, page: int, out: Out) -> int:
        if waits(state, page):
            leave(state, page)
        s = state.quality[page]
        groups = touch(state, state.group[page], 0)
        if s > LOWEST:  # neither failed nor NaN
            groups = judge(state, page, s, groups)
        elif np.isnan(s):
            s = passed_on(state, page)
        targets = row(links, page)
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0:
                count_link(state, q, s)
                groups = touch(state, state.group[q], groups)
                if state.node[q]["seq"] == UNKNOWN:
                    join(state, q)
                    out.page[count] = q
                    out.key[count] = BEHIND
                    count += 1
        for i in range(groups):
            state.touched[state.todo[i]] = 0
            count = show(state, state.todo[i], out, count)
        return count

    @staticmethod
    @kernel
    def on_revisit(state: State, links: Links, page: int, out: Out) -> int:
        """Pages that were not known join their groups; what the page is worth now does not count twice."""
        s = state.quality[page]
        if np.isnan(s):
            s = passed_on(state, page)
        targets = row(links, page)
        groups = 0
        count = 0
        for j in range(targets.size):
            q = targets[j]
            if state.fetched[q] == 0 and state.node[q]["seq"] == UNKNOWN:
                count_link(state, q, s)
                groups = touch(state, state.group[q], groups)
                join(state, q)
                out.page[count] = q
                out.key[count] = BEHIND
                count += 1
        for i in range(groups):
            state.touched[state.todo[i]] = 0
            count = show(state, state.todo[i], out, count)
        return count

    # What is told -----------------------------------------------------------------------------------------------------------
    def priority(self, state: State, page: int, key: float) -> float:
        return group_key(state, page)

    def givers(self, state: State, page: int, fetched: Array) -> tuple[list[tuple[int, float]], float]:
        """The fetched pages of its group, and what each adds to the key; what is expected without them is nobody's."""
        judged = fetched[(state.group[fetched] == state.group[page]) & (state.quality[fetched] > LOWEST)]
        weight = len(judged) + self.strength
        if not weight:
            return [], expected_value(state, page)
        parts = [(int(p), float(state.quality[p]) / weight) for p in judged]
        return parts, self.strength * expected_value(state, page) / weight
