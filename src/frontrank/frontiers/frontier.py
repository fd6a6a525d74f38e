"""Frontier: who waits, with which priority, and who may go now. What a live crawl asks of it.

Pages and hosts are numbers that the caller gives, from 0 on. Larger keys go sooner, among equals the page that was put first.

    absent -put-> waiting -take, lease-> leased -settle-> gone
                  waiting <-back------- leased
                  waiting <-(its time)- later <-later- leased

``polite_frontier.PoliteFrontier`` is the one that is shipped. Another one holds if ``frontrank.checks.FrontierContract``
holds for it.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array

ABSENT, WAITING, LEASED, LATER, GONE = 0, 1, 2, 3, 4
HOSTS = np.dtype(
    [
        ("waiting", "i4"),
        ("leased", "i4"),
        ("taken", "i4"),  # leased or gone: what counts against the budget
        ("concurrency", "i4"),
        ("budget", "i4"),
        ("delay", "f8"),
        ("ready_at", "f8"),  # when it may be asked again; -inf: at any time
    ]
)


class Counts(NamedTuple):
    discovered: int  # pages ever put
    waiting: int  # now or when a retry is due
    leased: int


class Frontier(Protocol):
    """Times are seconds on the caller's clock; a limit of 0 is none."""

    @property
    def counts(self) -> Counts: ...
    def grow(self, pages: int, hosts: int) -> None:
        """Have room for so many."""

    def place(self, first: int, hosts: Array) -> None:
        """Pages from this one on lie on these hosts. To be said before a page is put."""

    def put(self, page: int, key: float) -> None:
        """Discover a page or change its key. One that is out keeps the key for its return; one that is gone stays so."""

    def put_all(self, pages: Array, keys: Array) -> None: ...
    def prioritise(self, page: int, priority: int) -> None:
        """A page goes before all without a priority (below 0: after them), whatever its key; 0 ends this."""

    def take(self, n: int, now: float) -> list[int]:
        """Lease up to n pages, best first, of hosts that may be asked now. Retries that are due wait again first."""

    def lease(self, page: int, now: float) -> None:
        """Lease this page, out of turn. Nothing happens to one that is leased or gone."""

    def settle(self, page: int) -> None:
        """A leased page is done with."""

    def later(self, page: int, until: float) -> None:
        """A leased page waits again from that time on."""

    def back(self, page: int) -> None:
        """A leased page waits again, where it stood."""

    def limit(
        self, host: int, *, delay_s: float | None = None, concurrency: int | None = None, budget: int | None = None
    ) -> None: ...
    def block(self, host: int, until: float) -> None: ...
    def behave(self, before: Politeness, after: Politeness) -> None:
        """Other politeness from now on; what a host has of its own stays."""

    def next_at(self) -> float:
        """When a page may next be taken: -inf is now, +inf is never by time alone."""

    def mark(self, page: int) -> int:
        """ABSENT, WAITING, LEASED, LATER or GONE."""

    def key(self, page: int) -> float: ...
    def best(self, n: int) -> Array:
        """The next pages by key alone, whatever politeness says."""

    def hosts(self) -> Array:
        """A record (HOSTS) for each host, by number: a copy."""
