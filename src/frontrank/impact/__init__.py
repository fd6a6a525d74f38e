"""Search impact under uncertainty: what an unfetched page may be worth to searchers, in expectation and at the worst."""

from frontrank.search.expected_impact import Discrete, Sampled, Sketch, best, expected_impact, rank_distribution, sampled_impact, step
from frontrank.search.worst_impact import Choice, best_worst, worst_impact

__all__ = [
    "Choice",
    "Discrete",
    "Sampled",
    "Sketch",
    "best",
    "best_worst",
    "expected_impact",
    "rank_distribution",
    "sampled_impact",
    "step",
    "worst_impact",
]
