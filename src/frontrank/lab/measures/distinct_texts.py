"""distinct: scores of the distinct texts among the first k pages fetched, over the maximum for k pages.

Equal texts are equal strings; of the pages with one text the first fetched counts.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.lab.measures.curves import at_shares
from frontrank.lab.measures.measure import SHARES, Measure, Values
from frontrank.lab.measures.standing import standing
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web


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

    def share_of_possible(k: int) -> float:
        possible = float(ideal[min(k, len(ideal) - 1)])
        return min(1.0, float(got[min(k, trace.fetched)]) / possible) if possible > 0.0 else 1.0

    return at_shares(trace, web, shares, share_of_possible)


def copies(web: Web) -> Array:
    """For each page the first page with the same text; computed once for a web."""
    if web.texts is None:
        raise InputError(f"distinct texts need a web with texts, but {web.name} has none")
    if "copies" not in web.cache:
        first: dict[int, int] = {}
        web.cache["copies"] = np.array([first.setdefault(hash(text), page) for page, text in enumerate(web.texts)])
    found: Array = web.cache["copies"]
    return found


DISTINCT = Measure(
    "distinct",
    "of the best possible, distinct texts, after",
    lambda run, judged: distinct(run.trace, judged.web, SHARES, judged.metric),
    lambda judged: judged.by_scorer is not None,
    shown=False,
)
