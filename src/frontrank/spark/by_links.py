"""Rankers that need links and impacts alone, on Spark: which solver a ranker is, with which settings."""

from __future__ import annotations

from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.rw import AUTO, EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.spark.learned import learned, neighbours
from frontrank.spark.walks import CountNeighbours, EdgeSettings, Scores, indegree, pagerank, walk
from frontrank.spark.web import SparkWeb, Web


def scores_by_links(web: SparkWeb, ranker: Ranker) -> Scores:
    """The scores of all pages by indegree, pagerank or a walk."""
    return scores_with(web, ranker, edge_settings(web, ranker), lambda: neighbours(web, ranker.name))


def scores_with(web: Web, ranker: Ranker, settings: EdgeSettings, count_neighbours: CountNeighbours) -> Scores:
    """The same, a walk with these settings. ``count_neighbours`` makes the vector of virtual neighbours, if it is needed."""
    if isinstance(ranker, InDegree):
        return indegree(web)
    if isinstance(ranker, PageRank):
        return pagerank(web, ranker.alpha, ranker.tolerance)
    assert isinstance(ranker, RandomWalk)
    return walk(web, ranker, settings, count_neighbours)


def edge_settings(web: SparkWeb, ranker: Ranker) -> EdgeSettings:
    """omega and gamma of a walk: given, or learned."""
    if isinstance(ranker, EnrichedWalk):
        if AUTO in (ranker.omega, ranker.gamma):
            return learned(web, ranker)
        return EdgeSettings(float(ranker.omega), float(ranker.gamma))
    gamma = float(ranker.gamma) if isinstance(ranker, RandomWalk) else 0.0
    return EdgeSettings(0.0 if isinstance(ranker, VirtualWalk) else 1.0, gamma)
