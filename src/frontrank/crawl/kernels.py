"""The kernels of a live crawl: what each event does to an ordering's state and to the polite frontier.

An ordering that names a cheaper queue (fifo, lifo) follows from discovery alone; the polite frontier serves it with keys
that say so. The order is the same as in a simulation.
"""

from __future__ import annotations

from frontrank.frontiers.polite import Polite, settle
from frontrank.kernels.jit import Array, kernel
from frontrank.orderings.policy import Out, State, on_fetch, put
from frontrank.web.links import Links, row

UNLINKED = 65535  # the depth of a page that no link has led to yet


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
