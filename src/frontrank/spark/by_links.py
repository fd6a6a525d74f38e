"""Rankers that need links and impacts alone, on Spark: which solver a ranker is, with which settings."""

from __future__ import annotations

from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.rw import AUTO, EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.spark.learned import learned, neighbours
from frontrank.spark.walks import Solved, indegree, pagerank, walk
from frontrank.spark.web import SparkWeb


def by_links(web: SparkWeb, ranker: Ranker) -> Solved:
    """The scores of all pages by indegree, pagerank or a walk."""
    if isinstance(ranker, InDegree):
        return indegree(web)
    if isinstance(ranker, PageRank):
        return pagerank(web, ranker.alpha, ranker.tolerance)
    assert isinstance(ranker, RandomWalk)
    omega, gamma = settings_of_walk(web, ranker)
    return walk(web, ranker.alpha, omega, gamma, ranker.eps, ranker.tolerance, ranker.name, neighbours)


def settings_of_walk(web: SparkWeb, ranker: RandomWalk) -> tuple[float, float]:
    """omega and gamma: given, or learned."""
    if isinstance(ranker, EnrichedWalk):
        if AUTO in (ranker.omega, ranker.gamma):
            return learned(web, ranker)
        return float(ranker.omega), float(ranker.gamma)
    return (0.0 if isinstance(ranker, VirtualWalk) else 1.0), float(ranker.gamma)
