"""Where pages came from, and which are copies: what exports know of pages that came before. A few bytes for each known page."""

from __future__ import annotations

import numpy as np

from frontrank.crawl.events import UNCHANGED, Discovered, Fetched, Seeded, pages_of
from frontrank.crawl.log import Row
from frontrank.kernels import hashtable
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array, Direct

UNLINKED, MAX_DEPTH = 65_535, 65_534
NOBODY, SEED = -1, -2


class Provenance:
    """Depth of pages, and which fetched pages link to them, as the rows of a log say one after another."""

    def __init__(self) -> None:
        self._depth = np.full(16, UNLINKED, np.uint16)
        self._parent = np.full(16, NOBODY, np.int32)
        self._linking = np.zeros(16, np.int32)

    def see(self, row: Row) -> None:
        if row.kind == Seeded.kind:
            self._make_room(row.page)
            self._depth[row.page], self._parent[row.page] = 0, SEED
        elif row.kind == Fetched.kind and row.status != UNCHANGED:
            targets = pages_of(row)
            if targets.size:
                self._link(row.page, targets)
        elif row.kind == Discovered.kind:
            self._name(row.page, pages_of(row))

    def of(self, page: int) -> tuple[int | None, int, int]:
        """Depth of a page; the first page that linked to it, or NOBODY or SEED; how many fetched pages link to it."""
        self._make_room(page)
        depth = int(self._depth[page])
        return None if depth == UNLINKED else depth, int(self._parent[page]), int(self._linking[page])

    def _link(self, page: int, targets: Array) -> None:
        self._make_room(max(page, int(targets.max())))
        self._linking[targets] += 1
        fresh = targets[self._depth[targets] == UNLINKED]
        if fresh.size:
            self._depth[fresh] = min(int(self._depth[page]) + 1, MAX_DEPTH)
            self._parent[fresh] = page

    def _name(self, parent: int, targets: Array) -> None:
        """Pages that somebody names: as links of a page that has not arrived yet, or without one, like seeds."""
        if not targets.size:
            return
        self._make_room(max(parent, int(targets.max())))
        fresh = targets[self._depth[targets] == UNLINKED]
        self._depth[fresh] = min(int(self._depth[parent]) + 1, MAX_DEPTH) if parent >= 0 else 0
        self._parent[fresh] = max(parent, NOBODY)

    def _make_room(self, page: int) -> None:
        if page >= self._depth.size:
            self._depth = grown(self._depth, page + 1, UNLINKED)
            self._parent = grown(self._parent, page + 1, NOBODY)
            self._linking = grown(self._linking, page + 1)


class Copies:
    """Which page was the first with a digest: 64 bits of it are kept, and the page's number."""

    def __init__(self) -> None:
        self._table = hashtable.new(1_024)
        self._first = np.zeros(1_024, np.int32)
        self._number = Direct(hashtable.number_all)

    def first(self, digest: str, page: int) -> int:
        """The first page with this digest, which may be the page itself."""
        self._table = hashtable.with_capacity(self._table, 1)
        number = np.zeros(1, np.int32)
        key = np.array([hashtable.signed(int(digest[-16:], 16))], np.int64)
        if self._number.call(self._table, key, number):
            self._first = grown(self._first, int(number[0]) + 1)
            self._first[number[0]] = page
        return int(self._first[number[0]])
