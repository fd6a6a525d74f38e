"""ndcg: the best ranking that the pages of a crawl allow (Pezzuti et al. 2025).

    max_ndcg(k) = mean over queries of (DCG of the first k fetched)/(DCG of the whole web), each in its ideal order

DCG of gains g1 >= g2 >= ...: the sum of g_i/log2(i + 1) over the first ``depth``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures.curves import at_shares
from frontrank.lab.measures.measure import SHARES, Measure, Values
from frontrank.simulation.trace import Trace
from frontrank.web.importance import importance
from frontrank.web.web import Web

DEPTH = 100


def max_ndcg(
    trace: Trace, web: Web, relevance: Sequence[Array], shares: Iterable[float] = SHARES, depth: int = DEPTH
) -> Values:
    """What a perfect ranker could make of the crawl; ``relevance`` has an array of gains, one a page, for each query.

    >>> web = Web.from_edges([0, 0], [1, 2], pages=3)
    >>> max_ndcg(Trace(np.array([0]), np.array([0, 2])), web, [np.array([0.0, 1.0, 1.0])], (0.6,))
    {0.6: 0.6131471927654584}
    """
    asked = [gains for gains in relevance if gains.max(initial=0.0) > 0.0]
    if not asked:
        raise InputError("no query has a relevant page; give gains above 0")
    ideal = [_dcg(gains, depth) for gains in asked]

    def mean_ndcg(k: int) -> float:
        return float(np.mean([_dcg(gains[trace.order[:k]], depth) / best for gains, best in zip(asked, ideal, strict=True)]))

    return at_shares(trace, web, shares, mean_ndcg)


def _dcg(gains: Array, depth: int) -> float:
    best = np.sort(gains)[::-1][:depth]
    return float((best / np.log2(np.arange(len(best)) + 2.0)).sum())


NDCG = Measure(
    "ndcg",
    "of the ideal DCG after",
    lambda run, judged: max_ndcg(run.trace, judged.web, [importance(judged.web, judged.metric)]),
    lambda judged: (judged.by_scorer or {}).get("scorer", "").startswith("topic:"),
    shown=False,
)
