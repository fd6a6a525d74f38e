"""Queue caps: the most pages of a host that may wait.

Pages that are linked to beyond that are dropped, each by an event of its own right after the event that linked to it, so that
a replay need not know of caps. Of the links of one page the first wait. Pages that wait already, seeds, retries and revisits
are not dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontrank.crawl.events import Discovered, Event, Fetched
from frontrank.frontiers.frontier import ABSENT, FORGOTTEN, WAITING

if TYPE_CHECKING:
    from frontrank.crawl.state import CrawlState

OVER_QUEUE_CAP = "over the host's queue cap"  # why a page was dropped


def capped_targets(state: CrawlState, event: Event) -> dict[int, list[int]]:
    """Pages that an event is about to discover by a link, in order, by their queues, if these have a cap."""
    if isinstance(event, Fetched):
        pages = event.links
    elif isinstance(event, Discovered) and event.parent >= 0:
        pages = event.pages
    else:
        return {}
    marks, queues = state.frontier.marks(pages), state.frontier.hosts_of(pages)
    is_new = (marks == ABSENT) | (marks == FORGOTTEN)
    return {queue: pages[is_new & (queues == queue)].tolist() for queue in _caps(state)}


def over_cap(state: CrawlState, targets: dict[int, list[int]]) -> list[int]:
    """Those of these pages that wait, although their queues were full without them."""
    found: list[int] = []
    for queue, pages in targets.items():
        queued = [page for page in pages if state.frontier.mark(page) == WAITING]
        beyond = int(state.frontier.hosts(queue)["waiting"][0]) - _caps(state)[queue]
        found += queued[max(len(queued) - beyond, 0) :] if beyond > 0 else []
    return found


def _caps(state: CrawlState) -> dict[int, int]:
    """By the number of the queue, which is another one once a host has joined a group."""
    caps = ((host, one.limits.get("queue_cap", 0)) for host, one in state.rules.hosts.items())
    return {state.hosts.find(state.hosts.grouped(host)): cap for host, cap in caps if cap}
