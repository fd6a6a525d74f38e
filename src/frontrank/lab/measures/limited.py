"""Limited buffer, P_BC: the crawler visits all it can reach, but only B pages can be kept.

When the buffer is full, the page with the lowest ordering value is flushed to make room, and is lost. P_BC is the share
of the buffer's B places that hold a hot page when all has been visited; hot is a page at least as important as the B-th
most important one. An ideal crawler, which knows the importance, has 1.

The ordering value of a fetched page is what the policy's ``ranking`` says at that moment; orderings without one (bfs)
keep what they fetched first. Among equal values the page fetched first is kept.

Reference: cho98, section 3. Differs from the paper, which flushes one page at a time: here the buffer may overflow by
``every`` pages before it is cut back to B, so that values are looked at n/every times. Cost: the crawl, and
O(n + B log B) at each look.
"""

from __future__ import annotations

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures.standing import standing
from frontrank.orderings.policy import Policy
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.web.web import Web

LOOKS = 1000


def buffer(web: Web, policy: Policy, seeds: Array, size: int, metric: str = "pagerank", every: int | None = None) -> float:
    """P_BC with a buffer of this many pages, looked at after every so many fetches (default: 1,000 times in all)."""
    if not 1 <= size <= web.pages:
        raise InputError(f"the buffer must be 1 to {web.pages} pages, all of {web.name}, got {size}")
    if every is not None and every < 1:
        raise InputError(f"every must be at least 1 page between two looks at the buffer, got {every}")
    if len(seeds) == 0:
        raise InputError("there must be at least one seed to start from, got none")
    step = max(1, web.pages // LOOKS) if every is None else every
    engine = GraphDriver(policy, web)
    engine.seed(np.asarray(list(dict.fromkeys(np.asarray(seeds).tolist())), np.int32))
    order = np.empty(web.pages, np.int32)
    kept = order[:0]
    reached = 0
    while reached < web.pages:
        target = min(web.pages, reached + step)
        begin, reached = reached, engine.run(order, reached, target)
        kept = np.concatenate([kept, order[begin:reached]])
        if len(kept) > size:
            kept = _best(kept, policy.ranking(engine.state), size)
        if reached < target or engine.done():
            break
    return int(np.count_nonzero(standing(web, metric).first[kept] <= size)) / size


def _best(kept: Array, ranking: Array | None, size: int) -> Array:
    """The pages to keep, still in the order in which they were fetched."""
    if ranking is None:
        return kept[:size]
    places = np.argsort(-ranking[kept], kind="stable")[:size]
    return kept[np.sort(places)]
