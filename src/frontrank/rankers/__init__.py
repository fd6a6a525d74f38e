"""Batch orderings, one file each. Online they run through ``Periodic``."""

from __future__ import annotations

from frontrank.ranker import Ranker
from frontrank.rankers.indegree import InDegree
from frontrank.rankers.pagerank import PageRank

RANKERS: tuple[type[Ranker], ...] = (InDegree, PageRank)
