"""Ranking on Spark from the command line: everything that can be checked is checked before Java is started."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from typing import NamedTuple

from frontrank.errors import InputError, need
from frontrank.lab.best_pages import check_scores_target
from frontrank.lab.next_pages import Ranking
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.registry import parse_ranker
from frontrank.spark.session import session, settings_of
from frontrank.spark.web import Progress

ALL_CORES = "local[*]"


class RankRequest(NamedTuple):
    """What to rank: the Parquet tables at a path, and how many pages are wanted."""

    path: str
    spec: str | None
    budget: int
    impact: str | None
    scores: str | None  # a folder for the scores of all pages


class Cluster(NamedTuple):
    """Where to rank: --master, --conf and --work."""

    master: str | None
    conf: tuple[str, ...]
    work: str | None


def ranked(
    request: RankRequest, cluster: Cluster, progress: Progress
) -> tuple[Ranker, Ranking, dict[str, int], dict[str, dict[str, float]]]:
    """The ranker, its best pages, the numbers of fetched and waiting pages, and how the scores converged."""
    need("pyspark", "pyarrow", "pandas")
    from frontrank.spark.rank import check_ranker, open_web, rank

    ranker, settings, master = parse_ranker(request.spec or "pagerank"), settings_of(cluster.conf), cluster.master or ALL_CORES
    check_ranker(ranker)
    if request.scores is not None:
        check_scores_target(request.scores)
    if cluster.work is None and not master.startswith("local"):
        raise InputError(
            f"--master {master}: give --work, a folder that all machines of the cluster reach, such as hdfs:///tmp"
        )
    progress("starting Spark", 0, 0)
    local = settings.get("spark.local.dir", "").split(",")[0] or None
    work = nullcontext(cluster.work) if cluster.work else tempfile.TemporaryDirectory(dir=local, prefix="frontrank-")
    with (
        work as folder,
        session(master, settings) as spark,
        open_web(spark, request.path, folder, progress, request.impact) as web,
    ):
        found = rank(web, ranker, request.budget, request.scores)
        fetched = web.fetched
    notes = {ranker.spec(): {"iterations": found.iterations, "residual": found.residual}} if found.iterations > 1 else {}
    return ranker, found.ranking, {"D": fetched, "F": web.pages - fetched}, notes
