"""Search impact under uncertainty: what an unfetched page may be worth to searchers, in expectation and at the worst."""

from frontrank.impact.expected import Discrete, Sampled, Sketch, best, expected_impact, rank_distribution, sampled_impact, step
from frontrank.impact.worst import Choice, best_worst, worst_impact

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
