"""Batch orderings, one file each. Online they run through ``Periodic``."""

from __future__ import annotations

from frontrank.orderings.batch.fusion import Fusion
from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.ml.ml import Ml
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.q_expected import QExpected
from frontrank.orderings.batch.q_hybrid import QHybrid
from frontrank.orderings.batch.q_overlap import QOverlap
from frontrank.orderings.batch.rw import EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker

RANKERS: tuple[type[Ranker], ...] = (
    InDegree,
    PageRank,
    QOverlap,
    QExpected,
    QHybrid,
    RandomWalk,
    EnrichedWalk,
    VirtualWalk,
    Fusion,
    Ml,
)
