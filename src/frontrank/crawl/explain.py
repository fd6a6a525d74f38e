"""Why a page has its place in the order of a live crawl: which fetched pages gave which part of its priority.

The log is replayed in memory, and the page's key is read before and after each page that links to it was settled. So it holds
for every ordering, as it really ran: changes in between, without a link (a cascade of mass, a page's own name), are shown as
"other". An ordering that ranks now and then is asked itself, after the last ranking that the page was in, what links gave, and
what the rest is made of ("parts"). One that hands on what it has got records its steps in the replay (``Tracer``), and says
where all of it began ("starts"). Links, parts and other add up to the priority. Cost: one replay of the crawl.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontrank.crawl.events import Discovered, Failed, Fetched, RankingHeld, Rescored, Seeded, pages_of
from frontrank.crawl.integrity import checked_rows
from frontrank.crawl.log import Log, Row
from frontrank.crawl.memory_log import MemoryLog
from frontrank.crawl.ranking import INLINE
from frontrank.crawl.status import due, is_known, priorities, priority, state_of
from frontrank.errors import InputError
from frontrank.frontiers.frontier import ABSENT, GONE, WAITING
from frontrank.kernels.jit import Array
from frontrank.orderings.ranker import UNRANKED
from frontrank.orderings.tracer import Start, Tracer, starts_json

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

MAX_SHOWN = 20  # links shown; the others are summed up
DIRECT = "as a seed"


class _Names:
    """The log of the crawl that is explained, for a replay that writes nothing."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._writes = MemoryLog(keep=False)
        self.notes = log.notes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log if name in ("url", "urls", "texts", "rows", "select") else self._writes, name)


def explain(state: CrawlState, url: str, queue: str | None = None) -> dict[str, Any]:
    page = state.lookup(url, queue)
    if not is_known(state, page):
        raise InputError(f"{url}: this crawl does not know the page; give a URL that a fetched page links to")
    if not state.log.seq or next(state.log.rows(), None) is None:
        raise InputError(f"{url}: this crawl keeps no events, so its priorities cannot be explained; crawl into a directory")
    found = _known_givers(state, page) or _replayed(state, page)
    gave, key = found.gave, found.key
    explained: dict[str, Any] = {
        "url": url,
        "queue": state.names([page])[0][1],
        "policy": state.policy.spec(),
        "state": state_of(state, page),
        "due": due(state, page),
        "priority": key,
        "depth": int(state.pages.depths[page]),
        "links": [{"url": state.log.url(source), "part": part} for source, part in heapq.nlargest(MAX_SHOWN, gave, key=_size)],
        "links_known": found.links,
        "other": key - sum(part for _, part in gave),
        **starts_json(found.starts, state.log.url),
        "parts": found.parts,
        "ranked": found.ranked,
        "counted": state.policy.explained_by,
    }
    if len(gave) > MAX_SHOWN:
        explained["further_links"] = sum(part for _, part in heapq.nsmallest(len(gave) - MAX_SHOWN, gave, key=_size))
    if state.frontier.mark(page) == WAITING:
        explained["place"] = _place(state, page)
    return explained


class _Found(NamedTuple):
    gave: list[tuple[int, float]]  # fetched pages, and what each changed
    key: float  # that a page has, or had when it was taken
    links: int  # fetched pages that link here
    parts: dict[str, float] = {}  # of what links did not give, if the ordering has names for them
    starts: Sequence[Start] = ()  # where it began, if the ordering can say
    ranked: bool = True  # not found since the last ranking, or on a page that has not arrived


def _size(part: tuple[int, float]) -> float:
    return abs(part[1])


def _place(state: CrawlState, page: int) -> int:
    """How many waiting pages go before it, by priority alone, and itself."""
    frontier = state.frontier
    waiting = np.flatnonzero(frontier.marks(slice(0, state.known)) == WAITING)
    numbers, keys = frontier.numbers(), priorities(state, waiting, frontier.keys(waiting))
    mine, before = priority(state, page), numbers[waiting] < numbers[page]
    return int(((keys > mine) | ((keys == mine) & before)).sum()) + 1


def _known_givers(state: CrawlState, page: int) -> _Found | None:
    """The same, for an ordering that knows by itself which fetched pages count for a page, linked or not."""
    order = np.array(state.progress.order, np.int64)
    before = order[: int(np.argmax(order == page))] if page in state.progress.order else order
    givers = state.policy.givers(state.ordering.columns, page, before)
    if givers is None:
        return None
    gave, other = givers
    return _Found(gave, sum((part for _, part in gave), other), len(gave))


def _replayed(state: CrawlState, page: int) -> _Found:
    from frontrank.crawl.recovery import SMALL
    from frontrank.crawl.replay import BATCH, take_names
    from frontrank.crawl.state import CrawlState
    from frontrank.crawl.stored import first_workload, stored_politeness

    names: Any = _Names(state.log)
    politeness, workload = stored_politeness(state.log), first_workload(state.log)
    at_first = replace(state.setup, politeness=politeness, workload=workload, capacity=SMALL, ranking=INLINE)
    tracer = state.policy.tracer()
    shadow = CrawlState(tracer.policy if tracer else state.policy, names, at_first)
    shadow.replaying = True
    player = _Traced(shadow, page, tracer) if tracer else _Watched(shadow, page, _last_ranking(state, page))
    take_names(shadow, names, state)
    for rows in names.rows(0, BATCH):
        player.batch(checked_rows(state.log.folder or "the log", rows, shadow.known))
    return player.found()


def _last_ranking(state: CrawlState, page: int) -> int:
    """The row of the last ranking that gave a page its key, 0 if there was none."""
    number, settled = int(state.frontier.numbers()[page]), math.inf
    if not state.policy.interval():
        return 0
    if state.frontier.mark(page) == GONE:
        rows = state.log.select(("seq", "page"), (Fetched.kind, Failed.kind))
        settled = max((seq for seq, one in rows if one == page), default=math.inf)
    rankings = state.log.select(("seq", "kind", "status", "note"), (Rescored.kind, RankingHeld.kind))
    return max(
        (
            seq
            for seq, kind, first, count in rankings
            if seq < settled and (kind == Rescored.kind or first <= number < first + int(count))
        ),
        default=0,
    )


class _Watched:
    """A replay that stops around each page with a link to the one that is watched."""

    def __init__(self, shadow: CrawlState, page: int, ranked_at: int) -> None:
        from frontrank.crawl.replay import LogReplay

        self.shadow, self.page, self.ranked_at = shadow, page, ranked_at
        self.player = LogReplay(shadow, shadow.log.notes, fused=True)
        self.gave: dict[int, float] = {}  # by a page that came back: what all its visits changed
        self.parts: dict[str, float] = {}
        self.key, self.ranked = 0.0, True
        self.linking: set[int] = set()

    def found(self) -> _Found:
        return _Found(list(self.gave.items()), self.key, len(self.linking), self.parts, ranked=self.ranked)

    def batch(self, rows: list[Row]) -> None:
        begin = 0
        for at, row in enumerate(rows):
            if row.kind == Fetched.kind and self._links_here(row):
                self._play(rows[begin:at])
                before = self.key
                self._play(rows[at : at + 1])
                begin = at + 1
                self.linking.add(row.page)
                if self.key != before:
                    self.gave[row.page] = self.gave.get(row.page, 0.0) + self.key - before
            elif row.seq == self.ranked_at:
                failures = self.shadow.ranking.failures
                self._play(rows[begin : at + 1])
                begin = at + 1
                if self.shadow.ranking.failures == failures:
                    self._ask()
            elif row.page == self.page and row.kind in (Fetched.kind, Failed.kind):
                self._play(rows[begin:at])
                begin = at
        self._play(rows[begin:])

    def _ask(self) -> None:
        """What the ranking that was just made goes by."""
        shadow, view = self.shadow, self.shadow.ranking.view
        seen = self.ranked and self.page in view.pages
        if seen and (known := shadow.policy.ranked_by(shadow.ordering.columns, view, self.page)) is not None:
            self.gave, self.parts = dict(known[0]), known[1]

    def _links_here(self, row: Row) -> bool:
        wanted = self.page.to_bytes(4, "little")
        at = (row.links or b"").find(wanted)
        while at >= 0:
            if at % 4 == 0:
                return True
            at = (row.links or b"").find(wanted, at + 1)
        return False

    def _play(self, rows: list[Row]) -> None:
        if rows:
            self.player.batch(rows)
        frontier = self.shadow.frontier
        if frontier.mark(self.page) not in (ABSENT, GONE):
            key = frontier.key(self.page)
            self.ranked = key != UNRANKED
            self.key = key if self.ranked else 0.0


class _Traced(_Watched):
    """A replay that ends before the page is fetched, of an ordering that records where its priorities come from."""

    def __init__(self, shadow: CrawlState, page: int, tracer: Tracer) -> None:
        super().__init__(shadow, page, 0)
        self.tracer, self.settled = tracer, False

    def found(self) -> _Found:
        if not self.ranked:
            return super().found()
        origins = self.tracer.origins(self.shadow.ordering.columns, self.shadow.links.rows.target, self.page)
        direct = sum(start.part for start in origins.starts if start.page == self.page)  # no link handed this on
        parts = {DIRECT: direct} if direct else {}
        return _Found(origins.handed, self.key, len(self.linking), parts, origins.starts)

    def batch(self, rows: list[Row]) -> None:
        for plants, together in groupby(rows, lambda row: row.kind if row.kind in (Seeded.kind, Discovered.kind) else 0):
            stretch = list(together)
            size = {0: self.tracer.events, Discovered.kind: 1}.get(plants, len(stretch))
            for begin in range(0, len(stretch), size):
                self._stretch(stretch[begin : begin + size])

    def _stretch(self, rows: list[Row]) -> None:
        settles = (row.page == self.page and row.kind in (Fetched.kind, Failed.kind) for row in rows)
        until = next((at for at, is_it in enumerate(settles) if is_it), len(rows))
        if self.settled or not until:
            self.settled = True
            return
        self.settled = until < len(rows)
        self.tracer.watch(self.shadow.ordering.columns, _planted(rows))
        self._play(rows[:until])
        self.tracer.collect(self.shadow.ordering.columns)
        self.linking |= {row.page for row in rows[:until] if row.kind == Fetched.kind and self._links_here(row)}


def _planted(rows: list[Row]) -> Array:
    """The pages that these events may plant as seeds."""
    seeds = [np.array([row.page for row in rows if row.kind == Seeded.kind], np.int64)]
    named = [pages_of(row) for row in rows if row.kind == Discovered.kind and row.page < 0]
    return np.unique(np.concatenate(seeds + named))
