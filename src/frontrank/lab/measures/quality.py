"""What a crawl for good or relevant pages has brought, by scores s of pages (``--metric quality:scorer=S``).

    harvest(k)    mean of s over the first k fetched: the harvest rate of focused crawling (Chakrabarti et al. 1999)
    distinct(k)   sum of s over the distinct texts among the first k fetched, over the most that k pages can bring
    max_ndcg(k)   mean over queries of (DCG of the first k fetched, in their ideal order)/(DCG of the whole web, in its ideal
                  order): what a perfect ranker could make of the crawl (Pezzuti et al. 2025)
    gap           (x - bfs)/(oracle - bfs): how much of what could be won over bfs was won, with what can be deployed

DCG of gains g1 >= g2 >= ...: the sum of g_i/log2(i + 1) over the first ``depth``. A value is None where nobody knows it, as in
``stop``. Equal texts are equal strings; of the pages with one text the first fetched counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures.standing import pages_at, standing
from frontrank.lab.measures.stop import SHARES, reaches
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web

DEPTH = 100
Values = dict[float, float | None]


def harvest(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "quality") -> Values:
    """Mean score of what was fetched.

    >>> web = Web.from_edges([0, 0], [1, 2], pages=3, texts=["", "a b", ""])
    >>> harvest(Trace(np.array([0]), np.array([0, 1])), web, (0.6, 1.0))
    {0.6: 0.0049504950495049506, 1.0: None}
    """
    value = standing(web, metric).value
    return {share: _mean(trace, value, pages_at(share, web.pages)) for share in shares}


def _mean(trace: Trace, value: Array, k: int) -> float | None:
    return float(value[trace.order[:k]].sum()) / min(k, trace.fetched) if reaches(trace, k) else None


def distinct(trace: Trace, web: Web, shares: Iterable[float] = SHARES, metric: str = "quality") -> Values:
    """Scores of distinct texts, over the most possible; copies bring nothing. None if a score is negative."""
    value, copy = standing(web, metric).value, copies(web)
    if value.min() < 0.0:
        return dict.fromkeys(shares, None)
    best: dict[int, float] = {}
    for page, text in enumerate(copy.tolist()):  # equal texts may have other titles, and so other scores
        best[text] = max(best.get(text, 0.0), float(value[page]))
    ideal = np.concatenate([[0.0], np.cumsum(np.sort(np.array(list(best.values())))[::-1])])
    _, first = np.unique(copy[trace.order], return_index=True)
    counted = np.zeros(trace.fetched)
    counted[first] = value[trace.order[first]]
    got = np.concatenate([[0.0], np.cumsum(counted)])
    values: Values = {}
    for share in shares:
        k = pages_at(share, web.pages)
        possible = float(ideal[min(k, len(ideal) - 1)])
        found = float(got[min(k, trace.fetched)])
        values[share] = None if not reaches(trace, k) else min(1.0, found / possible) if possible > 0.0 else 1.0
    return values


def copies(web: Web) -> Array:
    """For each page the first page with the same text; made once for a web."""
    if web.texts is None:
        raise InputError(f"distinct texts need a web with texts, but {web.name} has none")
    if "copies" not in web.cache:
        first: dict[int, int] = {}
        web.cache["copies"] = np.array([first.setdefault(hash(text), page) for page, text in enumerate(web.texts)])
    found: Array = web.cache["copies"]
    return found


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
    values: Values = {}
    for share in shares:
        k = pages_at(share, web.pages)
        got = [_dcg(gains[trace.order[:k]], depth) / most for gains, most in zip(asked, ideal, strict=True)]
        values[share] = float(np.mean(got)) if reaches(trace, k) else None
    return values


def _dcg(gains: Array, depth: int) -> float:
    best = np.sort(gains)[::-1][:depth]
    return float((best / np.log2(np.arange(len(best)) + 2.0)).sum())


def gap(value: float | None, baseline: float | None, oracle: float | None) -> float | None:
    """How far it is from the baseline to the oracle; None where one is not known, or nothing is to be won.

    >>> gap(0.8, 0.6, 1.0)
    0.5000000000000001
    """
    if value is None or baseline is None or oracle is None or oracle <= baseline:
        return None
    return (value - baseline) / (oracle - baseline)
