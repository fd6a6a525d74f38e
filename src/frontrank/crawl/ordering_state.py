"""An ordering at work in a live crawl: its columns, which grow, what it writes for a driver, and what it needs to know.

Whoever reads ``columns`` or ``out`` reads them at the moment of a call: both are replaced when they grow, this object never is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontrank.crawl import snapshots
from frontrank.kernels.jit import Array, lazy
from frontrank.orderings.policy import Policy, never, out_for
from frontrank.pages.scorers import Judged

SPARE = 16_384  # more than a page needs: what many pages in a row write lies one behind the other


class OrderingState:
    def __init__(self, policy: Policy, capacity: int, truth: Callable[[str], float] | None = None) -> None:
        self.policy, self.truth = policy, truth
        self.needs = policy.needs()
        self.columns = policy.allocate(capacity, 1)
        self.out, self.room = out_for(0), 0  # for what is written of one page
        self.pages, self.hosts = capacity, 1  # that there is room for
        self.has_scorers = bool(policy.scorers())
        self._reads_names = bool((self.needs | policy.optional_needs()) & {"hosts", "urls", "truth"})
        done = policy.kernels()["done"]
        self._done = None if done is never else lazy(done)  # every take asks
        self.reserve_out(capacity)

    def done(self) -> bool:
        """The ordering's own stopping rule holds."""
        return self._done is not None and bool(self._done.call(self.columns))

    def grow(self, pages: int, hosts: int) -> None:
        self.columns = self.policy.enlarge(self.columns, pages, hosts)
        self.pages, self.hosts = pages, hosts
        self.reserve_out(0)

    def expect(self, links: int, longest: int) -> None:
        """Pages with so many links in all are about to arrive, the longest row of them with ``longest``."""
        self.columns = self.policy.expect(self.columns, links)
        self.reserve_out(longest)

    def reserve_out(self, links: int) -> None:
        """Room for what an ordering writes: twice the longest row of links, or twice all pages if it reaches for them."""
        room = 2 * max(links, self.pages if self.policy.touches != "links" else 0) + 2
        if room > self.room:
            self.out, self.room = out_for(room + SPARE, self.out), room

    def see_pages(self, first: int, urls: Sequence[str], hosts: Array) -> None:
        if self._reads_names:
            truths = [self.truth(url) if self.truth else 0.0 for url in urls]
            self.policy.see_pages(self.columns, first, urls, hosts, truths)

    def see_text(self, page: int, title: str, text: str) -> None:
        self.policy.see_text(self.columns, page, title, text)

    def see_scores(self, page: int, scores: Mapping[str, Judged]) -> None:
        self.policy.see_scores(self.columns, page, scores)

    def is_fetched(self, page: int) -> bool:
        return bool(self.columns.fetched[page])

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        """Parts of a combination share arrays: each is saved once."""
        shared = snapshots.shared(self.columns)
        leaves = enumerate(snapshots.leaves(self.columns))
        return shared, {str(place): leaf for place, leaf in leaves if shared[place] == place}

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self.columns = snapshots.with_leaves(self.columns, iter([arrays[str(place)] for place in json]))
