"""Frontier: which pages wait, with which priority, and which may go now. What a live crawl asks of it.

Pages and hosts are numbers that the caller gives, from 0 on. Larger keys go sooner, among equals the page that was put first.

    absent -put-> waiting -take, lease-> leased -settle-> gone
                  waiting <-back------- leased
                  waiting <-(its time)- later <-later- leased
                                        later <-schedule- any of them
                  waiting <-put- forgotten <-forget- any of them

``polite_frontier.PoliteFrontier`` is the one that is shipped. Another one is correct if it passes
``frontrank.checks.FrontierContract``: ``Crawl(policy, frontier=Another)`` then gives the same order.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array

ABSENT, WAITING, LEASED, LATER, GONE, FORGOTTEN = 0, 1, 2, 3, 4, 5
HOSTS = np.dtype(
    [
        ("waiting", "i4"),
        ("leased", "i4"),
        ("later", "i4"),
        ("done", "i4"),  # gone: what counts against the limit
        ("taken", "i4"),  # leased or gone: what counts against the budget
        ("concurrency", "i4"),
        ("budget", "i4"),
        ("limit", "i4"),
        ("delay", "f8"),
        ("ready_at", "f8"),  # when it may be asked again; -inf: at any time
        ("blocked", "f8"),  # until when nothing is asked of it; -inf: it never was
    ]
)


BEYOND = 1e305  # keys at least so far from 0 are priorities
STEP = 2.0**-40  # so many distinct ones, above and below


def key_of(priority: int) -> float:
    """The key that stands for a priority: larger is sooner, 0 means no priority.

    >>> key_of(-1) > key_of(-2), key_of(2) > key_of(1) >= BEYOND, key_of(0)
    (True, True, 0.0)
    """
    return math.copysign(BEYOND * (1 + min(abs(priority) * STEP, 1.0)), priority) if priority else 0.0


class Counts(NamedTuple):
    discovered: int  # pages ever put
    waiting: int  # now or when a retry is due
    leased: int
    later: int  # of those that wait, how many wait for a time


class Frontier(Protocol):
    """Times are seconds on the caller's clock; 0 means no limit."""

    @property
    def counts(self) -> Counts: ...
    @property
    def known_hosts(self) -> int:
        """How many hosts there is room for, as ``grow`` was told."""

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

    def release(self, now: float, apart: Array | None = None) -> None:
        """Pages whose time has come wait for their turn; those that ``apart`` marks, for ``take_returning``."""

    def pop(self, now: float, n: int = 1) -> list[int]:
        """As ``take``, without pages whose time has come since they were last released."""

    def pop_prioritised(self, now: float, priority: int, n: int = 1) -> list[int]:
        """As ``pop``, but only pages with at least this priority."""

    def take_returning(self, now: float) -> int:
        """Lease, of the pages that wait apart, the one due for longest whose host may be asked; -1 if there is none."""

    def take_returning_queue(self, now: float, each: int = 0, host: int = -1) -> list[int]:
        """Lease up to ``each`` (0: all) pages that wait apart, of this host or of the one with the page due for longest."""

    def take_queues(self, now: float, max_hosts: int = 0, each: int = 0, host: int = -1) -> list[int]:
        """Lease up to ``each`` pages of up to ``max_hosts`` hosts (or of this one), the host with the best page first; 0: all.

        Pages of one host go as one request to it. A host of which ``each`` pages are leased already is skipped.
        """

    def pop_queues(self, now: float, max_hosts: int = 0, each: int = 0, host: int = -1) -> list[int]:
        """As ``take_queues``, without pages whose time has come since they were last released."""

    def lease(self, page: int, now: float) -> None:
        """Lease this page, out of turn. Nothing happens to one that is leased or gone."""

    def settle(self, page: int) -> None:
        """A page is done with, leased or not."""

    def later(self, page: int, until: float) -> None:
        """A leased page waits again from that time on."""

    def schedule(self, page: int, until: float, key: float) -> None:
        """A page waits, again or at first, from that time on; one never heard of before, with this key."""

    def forget(self, page: int) -> None:
        """As if the page had never been heard of: it may be put again."""

    def back(self, page: int) -> None:
        """A leased page waits again, where it stood."""

    def limit(
        self,
        host: int,
        *,
        delay_s: float | None = None,
        concurrency: int | None = None,
        budget: int | None = None,
        limit: int | None = None,
    ) -> None:
        """budget: pages that may be taken; limit: pages that may be done with."""

    def delays(self, hosts: Array) -> list[float]:
        """The delay of each of these hosts."""

    def rest(self, host: int, until: float) -> None:
        """This host may be asked again from that time on, whatever its delay says; a block holds."""

    def block(self, host: int, until: float) -> None:
        """Take nothing of this host before that time, whatever was said before; -inf: at any time."""

    def join(self, host: int, group: int, asked: bool = True) -> None:
        """All pages of this host are those of a group, another host, from now on; the strictest limits of both hold.

        ``asked``: the group rests as long as the host would. A page that is placed later is placed in the group.
        """

    def may_go(self, host: int, now: float) -> bool:
        """Whether a page of this host, waiting or not, may be leased now."""

    def behave(self, before: Politeness, after: Politeness) -> None:
        """Other politeness from now on; what a host has of its own stays."""

    def next_at(self) -> float:
        """When a page may next be taken: -inf is now, +inf is never by time alone."""

    def due_at(self, page: int) -> float:
        """The time that a page waits for, or has waited for; infinity if it does not."""

    def mark(self, page: int) -> int:
        """ABSENT, WAITING, LEASED, LATER, GONE or FORGOTTEN."""

    def marks(self, pages: Array | slice) -> Array:
        """The marks of several pages."""

    def hosts_of(self, pages: Array | slice) -> Array:
        """The hosts of several pages."""

    def blocked(self, host: int) -> float:
        """Until when nothing is taken of a host; -inf: it was never blocked."""

    def key(self, page: int) -> float:
        """By which a page goes: its own, or that of its priority (``key_of``)."""

    def own_key(self, page: int) -> float:
        """The key that a page was put with, whatever its priority."""

    def keys(self, pages: Array) -> Array:
        """The keys of several pages."""

    def discovered(self) -> Array:
        """All pages ever put, in the order in which they were first put."""

    def numbers(self) -> Array:
        """For each page its place in that order; for those never put, anything."""

    def best(self, n: int) -> Array:
        """The next pages by key alone, whatever politeness says."""

    def hosts(self, host: int | None = None) -> Array:
        """A record (HOSTS) for each host, by number, or for this one: a copy."""

    # Snapshots
    def arrays(self) -> dict[str, Array]:
        """All that ``restore`` needs."""

    def restore(self, arrays: dict[str, Array]) -> None:
        """Be what another one was whose arrays these are."""
