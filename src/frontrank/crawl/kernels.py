"""The kernels of a live crawl: what each event does to an ordering's state and to the polite frontier.

An ordering that names a cheaper queue (fifo, lifo) follows from discovery alone; the polite frontier serves it with keys
that say so. The order is the same as in a simulation.
"""

from __future__ import annotations

from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE
from frontrank.frontiers.polite import Polite, settle
from frontrank.kernels.jit import Array, lean
from frontrank.orderings.policy import Out, State, on_fetch, on_revisit, on_seed, on_start, put
from frontrank.orderings.ranker import UNRANKED
from frontrank.web.links import Links

UNLINKED = 65535  # the depth of a page that no link has led to yet


@lean
def count_depths(mark: Array, fetched: Array, depth: Array, known: Array, settled: Array) -> None:
    """Count pages by depth, the deepest and those of no depth together: those ever put, and those fetched or gone."""
    for page in range(mark.size):
        if mark[page] != ABSENT and mark[page] != FORGOTTEN:
            at = min(depth[page], known.size - 1)
            known[at] += 1
            if mark[page] == GONE or fetched[page] != 0:  # one that comes back was fetched
                settled[at] += 1


@lean
def plant(state: State, queue: Polite, depth: Array, pages: Array, weight: float, out: Out) -> None:
    """Pages to start from, each of this weight."""
    for i in range(pages.size):
        depth[pages[i]] = 0
        put(queue, pages[i], on_seed(state, pages[i], weight))
    count = on_start(state, out)
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@lean
def deepen(depth: Array, page: int, targets: Array) -> None:
    """A page links to these: the first link that leads to a page says how deep it lies."""
    for j in range(targets.size):
        if depth[targets[j]] == UNLINKED:
            depth[targets[j]] = min(int(depth[page]) + 1, UNLINKED - 1)  # interpreted, a uint16 would overflow


@lean
def meet_all(queue: Polite, depth: Array, page: int, targets: Array) -> None:
    """A page that has not arrived yet links to these: those not known before wait behind all that are ranked."""
    deepen(depth, page, targets)
    for j in range(targets.size):
        if queue.mark[targets[j]] in (ABSENT, FORGOTTEN):
            put(queue, targets[j], UNRANKED)


@lean
def arrive(state: State, queue: Polite, links: Links, depth: Array, page: int, out: Out) -> None:
    """A page is settled, with the links that lie in its row."""
    deepen(depth, page, links.target[links.start[page] : links.stop[page]])
    settle(queue, page)
    state.fetched[page] = 1
    count = on_fetch(state, links, page, out)
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@lean
def arrive_again(state: State, queue: Polite, links: Links, depth: Array, page: int, out: Out) -> None:
    """A page that had arrived before has these links now."""
    count = on_revisit(state, links, page, out)
    for j in range(count):
        put(queue, out.page[j], out.key[j])
    meet_all(queue, depth, page, links.target[links.start[page] : links.stop[page]])
