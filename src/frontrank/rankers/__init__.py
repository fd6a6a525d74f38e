"""Batch orderings, one file each. Online they run through ``Periodic``."""

from __future__ import annotations

from frontrank.ranker import Ranker
from frontrank.rankers.fusion import Fusion
from frontrank.rankers.indegree import InDegree
from frontrank.rankers.ml import Ml
from frontrank.rankers.pagerank import PageRank
from frontrank.rankers.q_hybrid import QHybrid
from frontrank.rankers.q_overlap import QOverlap
from frontrank.rankers.rw import EnrichedWalk, RandomWalk, VirtualWalk

RANKERS: tuple[type[Ranker], ...] = (
    InDegree,
    PageRank,
    QOverlap,
    QHybrid,
    RandomWalk,
    EnrichedWalk,
    VirtualWalk,
    Fusion,
    Ml,
)
