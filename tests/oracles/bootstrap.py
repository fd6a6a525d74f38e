"""The .632+ estimate by its definition (Efron, Tibshirani 1997), slowly: every order of the pages is tried for chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import mean


def error(scores: Sequence[float], impact: Sequence[float], shares: Sequence[float]) -> float:
    """1 minus the impact of the first pages by score over that of the best, on average over shares of the pages."""
    ranked = [impact[p] for p in sorted(range(len(impact)), key=lambda p: (-scores[p], p))]
    ideal = sorted(impact, reverse=True)
    tops = [max(1, round(share * len(impact))) for share in shares]
    return 1 - mean(sum(ranked[:k]) / sum(ideal[:k]) if sum(ideal[:k]) else 0.0 for k in tops)


def plus(scores: Sequence[float], impact: Sequence[float], drawn: Sequence[Sequence[int]], shares: Sequence[float]) -> float:
    """The estimated share of the ideal on pages that were not trained on."""
    pages = range(len(impact))
    apparent = error(scores, impact, shares)
    outs = [[p for p in pages if p not in sample] for sample in drawn]
    tested = [error([scores[p] for p in out], [impact[p] for p in out], shares) for out in outs if any(impact[p] for p in out)]
    out = mean(tested) if tested else apparent
    chance = mean(error(order, impact, shares) for order in permutations(pages))
    rate = min(1.0, (out - apparent) / (chance - apparent)) if min(out, chance) > apparent else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    return 1 - (1 - weight) * apparent - weight * min(out, chance)
