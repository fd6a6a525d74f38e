"""Rankers that need links and impacts alone, on Spark: which solver a ranker is, with which settings."""

from __future__ import annotations

from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.rw import AUTO, EnrichedWalk, RandomWalk, VirtualWalk, WalkSettings
from frontrank.orderings.ranker import Ranker
from frontrank.spark.learned import learned, neighbours
from frontrank.spark.local_web import SolverWeb
from frontrank.spark.walks import CountNeighbours, SolvedVector, indegree, pagerank, walk
from frontrank.spark.web import SparkWeb


def scores_by_links(web: SparkWeb, ranker: Ranker) -> SolvedVector:
    """The scores of all pages by indegree, pagerank or a walk."""
    return scores_with(web, ranker, edge_settings(web, ranker), lambda: neighbours(web, ranker.name))


def scores_with(web: SolverWeb, ranker: Ranker, settings: WalkSettings, count_neighbours: CountNeighbours) -> SolvedVector:
    """The same, a walk with these settings. ``count_neighbours`` makes the vector of virtual neighbours, if it is needed."""
    if isinstance(ranker, InDegree):
        return indegree(web)
    if isinstance(ranker, PageRank):
        return pagerank(web, ranker.alpha, ranker.tolerance)
    assert isinstance(ranker, RandomWalk)
    return walk(web, ranker, settings, count_neighbours)


def edge_settings(web: SparkWeb, ranker: Ranker) -> WalkSettings:
    """omega and gamma of a walk: given, or learned."""
    if isinstance(ranker, EnrichedWalk):
        if AUTO in (ranker.omega, ranker.gamma):
            return learned(web, ranker)
        return WalkSettings(float(ranker.omega), float(ranker.gamma))
    gamma = float(ranker.gamma) if isinstance(ranker, RandomWalk) else 0.0
    return WalkSettings(0.0 if isinstance(ranker, VirtualWalk) else 1.0, gamma)
