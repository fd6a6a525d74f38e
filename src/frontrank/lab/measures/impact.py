"""Search impact of a ranked frontier, as shares of the ideal (tran15, pandey08), and two other qualities of what it picks.

impact(x)     impact of the first x of the frontier over the impact of the x that have most of it
              (of PageRank instead of impact: the normalised PageRank per page of tran15, Fig. 7)
              (of clicks over views of each page, where both are known: the normalised CTR per page of tran15, Fig. 6)
"""

from __future__ import annotations

import numpy as np

from frontrank.kernels.jit import Array

FRONTIER_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)


def picks(scores: Array) -> Array:
    """Places in the frontier by falling score; among equals the first discovered."""
    return np.argsort(-scores, kind="stable")


def impact_shares(scores: Array, truth: Array, shares: tuple[float, ...] = FRONTIER_SHARES) -> dict[float, float]:
    """For each share of the frontier, the impact of what is ranked first over the ideal's; both arrays are of the frontier.

    >>> impact_shares(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1.0, 0.0, 4.0, 0.0]), (0.25, 0.5, 1.0))
    {0.25: 0.25, 0.5: 0.2, 1.0: 1.0}
    """
    got, best = np.cumsum(truth[picks(scores)]), np.cumsum(np.sort(truth)[::-1])
    counts = {share: max(1, round(share * len(truth))) for share in shares}
    return {share: float(got[k - 1] / best[k - 1]) if best[k - 1] > 0 else 0.0 for share, k in counts.items()}


def click_through(clicks: Array, views: Array) -> Array:
    """Clicks over views of each page; 0 where nothing was viewed.

    >>> click_through(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    return np.divide(clicks, views, out=np.zeros(len(views)), where=np.asarray(views) > 0)
