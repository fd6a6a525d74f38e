"""The measures by their definitions, slowly: sorting, counting, all pairs, and PageRank by a dense solve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

TIE = 1e-9  # importances this near to each other, relatively, are equal


def crawl_and_stop(order: Sequence[int], importance: Sequence[float], k: int) -> float:
    """P_CS(k): pages as important as the k-th most important, among the first k fetched, over k.

    With ties at the k-th place more than k pages are hot, yet no crawl of k pages has more than k of them.
    """
    threshold = sorted(importance, reverse=True)[k - 1]
    return sum(reaches(importance[p], threshold) for p in order[:k]) / k


def reaches(value: float, level: float) -> bool:
    """Whether an importance is as great as another, or less by no more than rounding."""
    return value >= level or level - value <= TIE * abs(level)


def crawl_with_threshold(order: Sequence[int], importance: Sequence[float], threshold: float, k: int) -> float:
    """P_ST: the share of all pages with importance at or above the threshold that is among the first k fetched."""
    hot = {p for p, value in enumerate(importance) if reaches(value, threshold)}
    return len(hot.intersection(order[:k])) / len(hot)


def mass(order: Sequence[int], importance: Sequence[float], k: int) -> float:
    """The importance of the first k fetched pages, summed."""
    return math.fsum(importance[p] for p in order[:k])


def relative_mass(order: Sequence[int], importance: Sequence[float], k: int) -> float:
    """The same over what the k most important pages have."""
    return mass(order, importance, k) / math.fsum(sorted(importance, reverse=True)[:k])


def harvest(order: Sequence[int], score: Sequence[float], k: int) -> float:
    """The mean score of the first k fetched."""
    return mass(order, score, k) / k


def distinct(order: Sequence[int], score: Sequence[float], texts: Sequence[str], k: int) -> float:
    """Scores of the first k fetched without copies of earlier ones, over the k best texts of the web."""
    seen: set[str] = set()
    got = 0.0
    for p in order[:k]:
        if texts[p] not in seen:
            seen.add(texts[p])
            got += score[p]
    best = sorted((max(s for s, t in zip(score, texts, strict=True) if t == text) for text in set(texts)), reverse=True)
    possible = math.fsum(best[:k])
    return min(1.0, got / possible) if possible else 1.0


def max_ndcg(order: Sequence[int], queries: Sequence[Sequence[float]], k: int, depth: int) -> float:
    """DCG of the fetched pages in their ideal order over that of all pages, mean over the queries with a relevant page."""

    def dcg(gains: Sequence[float]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(sorted(gains, reverse=True)[:depth], 1))

    shares = [dcg([gains[p] for p in order[:k]]) / dcg(gains) for gains in queries if any(gains)]
    return sum(shares) / len(shares)


def kendall_tau_b(x: Sequence[float], y: Sequence[float]) -> float:
    """Concordant minus discordant pairs over the geometric mean of the pairs untied in x and in y; nan if none are."""
    score = untied_x = untied_y = 0
    for i in range(len(x)):
        for j in range(i):
            dx = (x[i] > x[j]) - (x[i] < x[j])
            dy = (y[i] > y[j]) - (y[i] < y[j])
            score += dx * dy
            untied_x += dx != 0
            untied_y += dy != 0
    return score / math.sqrt(untied_x * untied_y) if untied_x and untied_y else math.nan


def pagerank(rows: Sequence[Sequence[int]], damping: float = 0.85) -> list[float]:
    """(I - damping P)^-1 (1 - damping)/n, where a page without links leads to every page alike."""
    n = len(rows)
    step = np.zeros((n, n))
    for p, row in enumerate(rows):
        step[list(row) if row else slice(None), p] = 1.0 / (len(row) or n)
    return list(np.linalg.solve(np.eye(n) - damping * step, np.full(n, (1.0 - damping) / n)).tolist())
