"""Measures: how good a crawl was. A measure is a file here, and a line in the registry below (``measure``).

    hot, hot_curve              crawl and stop, P_CS: are the first k fetched the k most important?      cho98, fica07
    threshold_curve             crawl and stop with threshold, P_ST: how many of the hot pages so far?   cho98
    buffer                      limited buffer, P_BC: only so many pages can be kept                     cho98
    mass, mass_curve            the importance gathered so far                                           fpr10
    kendall, final_scores       the ranking that a crawl leaves behind, against the truth                fica07
    harvest, distinct, max_ndcg, gap    what a crawl for good or relevant pages has brought        Pezzuti et al. 2025
    overhead                    time spent deciding                                                      fpr10

They are plain functions of a trace and a web. Every curve has an ``ideal_`` and a ``random_`` line of the same shape to be read
against. All take the importance metric by name (see ``frontrank.web.importance``).
"""

from __future__ import annotations

from frontrank.lab.measures.agreement import SAMPLE, final_scores, kendall
from frontrank.lab.measures.distinct_texts import DISTINCT, distinct
from frontrank.lab.measures.effort import links_fetched, overhead
from frontrank.lab.measures.gap_to_oracle import GAP, gap
from frontrank.lab.measures.harvest_rate import HARVEST, harvest
from frontrank.lab.measures.hot_pages import HOT, hot, hot_curve, ideal_hot_curve, random_hot_curve
from frontrank.lab.measures.limited import buffer
from frontrank.lab.measures.mass_gathered import MASS, ideal_mass_curve, mass, mass_curve, random_mass_curve
from frontrank.lab.measures.measure import EXHAUSTED, REGISTRY, SHARES, Curve, Figure, Judged, Measure, measured, register
from frontrank.lab.measures.relevance import NDCG, max_ndcg
from frontrank.lab.measures.standing import hot_count
from frontrank.lab.measures.threshold import (
    THRESHOLD,
    ideal_threshold_curve,
    random_threshold_curve,
    threshold_curve,
    threshold_for,
)

for _measure in (HOT, MASS, THRESHOLD, HARVEST, DISTINCT, NDCG, GAP):  # the order of tables and reports
    register(_measure)

__all__ = [
    "EXHAUSTED",
    "REGISTRY",
    "SAMPLE",
    "SHARES",
    "Curve",
    "Figure",
    "Judged",
    "Measure",
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
    "measured",
    "overhead",
    "random_hot_curve",
    "random_mass_curve",
    "random_threshold_curve",
    "register",
    "threshold_curve",
    "threshold_for",
]
