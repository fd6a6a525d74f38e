"""Rankers that need links and impacts alone, on Spark: which solver a ranker is, with which settings."""

from __future__ import annotations

from collections.abc import Callable

from frontrank.orderings.batch.indegree import InDegree
from frontrank.orderings.batch.pagerank import PageRank
from frontrank.orderings.batch.rw import AUTO, EnrichedWalk, RandomWalk, VirtualWalk
from frontrank.orderings.ranker import Ranker
from frontrank.spark.learned import learned, neighbours
from frontrank.spark.walks import Solved, indegree, pagerank, walk
from frontrank.spark.web import SparkWeb, Web


def by_links(web: SparkWeb, ranker: Ranker) -> Solved:
    """The scores of all pages by indegree, pagerank or a walk."""
    settings = settings_of_walk(web, ranker) if isinstance(ranker, RandomWalk) else (1.0, 0.0)
    return with_settings(web, ranker, *settings, lambda: neighbours(web, ranker.name))


def with_settings(web: Web, ranker: Ranker, omega: float, gamma: float, counted: Callable[[], str]) -> Solved:
    """The same, of a walk with this omega and gamma. ``counted`` gives the vector of virtual neighbours, if it is asked for."""
    if isinstance(ranker, InDegree):
        return indegree(web)
    if isinstance(ranker, PageRank):
        return pagerank(web, ranker.alpha, ranker.tolerance)
    assert isinstance(ranker, RandomWalk)
    return walk(web, ranker.alpha, omega, gamma, ranker.eps, ranker.tolerance, ranker.name, counted)


def settings_of_walk(web: SparkWeb, ranker: RandomWalk) -> tuple[float, float]:
    """omega and gamma: given, or learned."""
    if isinstance(ranker, EnrichedWalk):
        if AUTO in (ranker.omega, ranker.gamma):
            return learned(web, ranker)
        return float(ranker.omega), float(ranker.gamma)
    return (0.0 if isinstance(ranker, VirtualWalk) else 1.0), float(ranker.gamma)
