"""Measures: plain functions of a trace and a web that say how good an ordering was.

    hot, hot_curve              crawl and stop, P_CS: are the first k fetched the k most important?      cho98, fica07
    threshold_curve             crawl and stop with threshold, P_ST: how many of the hot pages so far?   cho98
    buffer                      limited buffer, P_BC: only so many pages can be kept                     cho98
    mass, mass_curve            the importance gathered so far                                           fpr10
    kendall, final_scores       the ranking that a crawl leaves behind, against the truth                fica07
    harvest, distinct, max_ndcg, gap    what a crawl for good or relevant pages has brought        Pezzuti et al. 2025
    overhead                    time spent deciding                                                      fpr10

Every curve has an ``ideal_`` and a ``random_`` line of the same shape to be read against. All take the importance
metric by name (see ``frontrank.web.importance``).
"""

from __future__ import annotations

from frontrank.lab.measures.agreement import SAMPLE, final_scores, kendall
from frontrank.lab.measures.curves import (
    Curve,
    hot_curve,
    ideal_hot_curve,
    ideal_mass_curve,
    ideal_threshold_curve,
    mass_curve,
    random_hot_curve,
    random_mass_curve,
    random_threshold_curve,
    threshold_curve,
    threshold_for,
)
from frontrank.lab.measures.effort import links_fetched, overhead
from frontrank.lab.measures.limited import buffer
from frontrank.lab.measures.quality import distinct, gap, harvest, max_ndcg
from frontrank.lab.measures.standing import hot_count
from frontrank.lab.measures.stop import SHARES, hot, mass

__all__ = [
    "SAMPLE",
    "SHARES",
    "Curve",
    "buffer",
    "distinct",
    "final_scores",
    "gap",
    "harvest",
    "hot",
    "hot_count",
    "hot_curve",
    "ideal_hot_curve",
    "ideal_mass_curve",
    "ideal_threshold_curve",
    "kendall",
    "links_fetched",
    "mass",
    "mass_curve",
    "max_ndcg",
    "overhead",
    "random_hot_curve",
    "random_mass_curve",
    "random_threshold_curve",
    "threshold_curve",
    "threshold_for",
]
