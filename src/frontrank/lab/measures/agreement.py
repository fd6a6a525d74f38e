"""Agreement: how well the ranking that a crawl leaves behind agrees with the true one, as Kendall's tau-b.

    tau-b = (concordant - discordant pairs) / sqrt(pairs untied in one ranking * pairs untied in the other)

1 for the same ranking, -1 for its reverse, 0 on average for a random one; nan if one ranking is all ties. Values that
differ by no more than rounding does are tied (``TIE``). Reference: fica07, Table 1, which samples 30,000 pages. Cost:
O(n log n), so all pages can be taken.
"""

from __future__ import annotations

import math

import numpy as np

from frontrank.errors import InputError, need
from frontrank.kernels.jit import Array
from frontrank.simulation.simulate import Run
from frontrank.web.importance import at_least
from frontrank.web.web import Web

SAMPLE = 30_000  # fica07's


def kendall(scores: Array, truth: Array, sample: int | None = None, seed: int = 0) -> float:
    """tau-b of two rankings of the same pages, of all of them or of a uniform sample.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0]))  # two pairs agree, one does not
    0.3333...
    """
    need("scipy")
    from scipy.stats import kendalltau

    if len(scores) != len(truth):
        raise InputError(f"there must be one score for each of {len(truth):,} pages, got {len(scores):,}")
    if sample is not None and sample < 2:
        raise InputError(f"sample must be at least 2 pages, got {sample}")
    if sample is not None and sample < len(scores):
        drawn = np.random.default_rng(seed).choice(len(scores), sample, replace=False)
        scores, truth = scores[drawn], truth[drawn]
    if len(scores) < 2:
        return math.nan
    return float(kendalltau(_levels(scores), _levels(truth)).statistic)


def _levels(values: Array) -> Array:
    """The values as whole numbers in the same order, one for all that are tied."""
    order = np.argsort(values, kind="stable")
    rising = values[order]
    level = np.empty(len(values), np.int64)
    level[order] = np.concatenate([[0], np.cumsum(~at_least(rising[:-1], rising[1:]))])
    return level


def final_scores(run: Run, web: Web) -> Array:
    """The ranking that a crawl leaves behind: the ordering's own, else its fetch order, never fetched last."""
    if run.ranking is not None:
        return run.ranking
    return -run.trace.when(web.pages).astype(np.float64)
