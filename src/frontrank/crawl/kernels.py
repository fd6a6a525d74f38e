"""The kernels of a live crawl: what each event does to an ordering's state and to the polite frontier.

An ordering that names a cheaper queue (fifo, lifo) follows from discovery alone; the polite frontier serves it with keys
that say so. The order is the same as in a simulation.
"""

from __future__ import annotations

from frontrank.simulation.engine import on_fetch, put
from frontrank.frontiers.polite import Polite, pop, settle
from frontrank.frontiers.polite import put as put_polite
from frontrank.frontiers.polite import put_last as put_polite_last
from frontrank.kernels.jit import Array, Kernel, kernel
from frontrank.orderings.policy import Out, State
from frontrank.web.web import Links, row

UNLINKED = 65535  # the depth of a page that no link has led to yet


@kernel
def put_first(queue: Polite, page: int, key: float) -> None:
    """First discovered, first fetched: keys are ignored."""
    put_polite(queue, page, 0.0)


@kernel
def put_last(queue: Polite, page: int, key: float) -> None:
    """Last discovered, first fetched."""
    put_polite_last(queue, page)


PUTS: dict[str, Kernel] = {"heap": put_polite, "fifo": put_first, "lifo": put_last}


@kernel
def put_out(queue: Polite, out: Out, count: int) -> None:
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@kernel
def arrive(state: State, queue: Polite, links: Links, depth: Array, page: int, out: Out) -> None:
    """A page is settled, with the links that lie in its row."""
    targets = row(links, page)
    for j in range(targets.size):
        if depth[targets[j]] == UNLINKED:
            depth[targets[j]] = min(depth[page] + 1, UNLINKED - 1)
    settle(queue, page)
    state.fetched[page] = 1
    count = on_fetch(state, links, page, out)
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@kernel
def take_some(queue: Polite, now: float, pages: Array) -> int:
    for i in range(pages.size):
        page = pop(queue, now)
        if page < 0:
            return i
        pages[i] = page
    return int(pages.size)
