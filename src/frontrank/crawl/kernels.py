"""The kernels of a live crawl: what each event does to an ordering's state, and what to the polite frontier.

They are two sets, with an ``Out`` between them: what the frontier does is compiled once for all orderings of one kind of queue.
An ordering that names a cheaper queue (fifo, lifo) follows from discovery alone; the polite frontier serves it with keys
that say so. The order is the same as in a simulation.
"""

from __future__ import annotations

from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, GONE
from frontrank.frontiers.polite import Polite, settle
from frontrank.kernels.jit import Array, lean
from frontrank.orderings.policy import Out, State, on_fetch, on_seed, put
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
def plant(queue: Polite, depth: Array, pages: Array, keys: Array) -> None:
    """Pages to start from, with these keys."""
    for i in range(pages.size):
        depth[pages[i]] = 0
        put(queue, pages[i], keys[i])


@lean
def put_out(queue: Polite, out: Out, count: int) -> None:
    """Pages have the keys that an ordering wrote."""
    for j in range(count):
        put(queue, out.page[j], out.key[j])


@lean
def arrive(queue: Polite, links: Links, depth: Array, page: int, out: Out, count: int) -> None:
    """A page is settled, with the links that lie in its row, and pages have the keys that its ordering wrote for it."""
    deepen(depth, page, links.target[links.start[page] : links.stop[page]])
    settle(queue, page)
    put_out(queue, out, count)


@lean
def arrive_again(queue: Polite, links: Links, depth: Array, page: int, out: Out, count: int) -> None:
    """A page that had arrived before has these links now."""
    put_out(queue, out, count)
    meet_all(queue, depth, page, links.target[links.start[page] : links.stop[page]])


# What an ordering does, which reads and writes its own state alone ---------------------------------------------------
@lean
def key_seeds(state: State, pages: Array, weight: float, keys: Array) -> None:
    """The keys of pages to start from, each of this weight."""
    for i in range(pages.size):
        keys[i] = on_seed(state, pages[i], weight)


@lean
def key_links(state: State, links: Links, page: int, out: Out) -> int:
    """A page is settled: write what changes, and return how much."""
    state.fetched[page] = 1
    return on_fetch(state, links, page, out)


@lean
def key_all(state: State, links: Links, pages: Array, room: int, out: Out, ends: Array) -> int:
    """The same for pages in this order, one behind the other in ``out``; how many it was, while each had ``room``."""
    end = 0
    for i in range(pages.size):
        if end + room > out.page.size:
            return i
        state.fetched[pages[i]] = 1
        end += on_fetch(state, links, pages[i], Out(out.page[end:], out.key[end:]))
        ends[i] = end
    return pages.size
