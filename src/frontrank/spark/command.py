"""Ranking on Spark from the command line: everything that can be checked is checked before Java is started."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext

from frontrank.errors import InputError, need
from frontrank.lab.best_pages import check_scores_target
from frontrank.lab.lab_options import RankOptions
from frontrank.lab.next_pages import Ranking
from frontrank.orderings.ranker import Ranker
from frontrank.orderings.registry import parse_ranker
from frontrank.spark.session import session, settings_of
from frontrank.spark.web import Progress

ALL_CORES = "local[*]"


def ranked(
    path: str, asked: RankOptions, progress: Progress
) -> tuple[Ranker, Ranking, dict[str, int], dict[str, dict[str, float]]]:
    """The best pages of the Parquet tables at a path; see ``rank``."""
    need("pyspark", "pyarrow", "pandas")
    from frontrank.spark.rank import check_ranker, open_web, rank

    ranker, settings = parse_ranker(asked.ranker or "pagerank"), settings_of(asked.conf)
    where, work = asked.master or ALL_CORES, asked.work
    check_ranker(ranker)
    if asked.scores is not None:
        check_scores_target(asked.scores)
    here = where.startswith("local")
    if work is None and not here:
        raise InputError(f"--master {where}: give --work, a folder that all machines of the cluster reach, such as hdfs:///tmp")
    progress("starting Spark", 0, 0)
    own = settings.get("spark.local.dir", "").split(",")[0] or None
    with (
        tempfile.TemporaryDirectory(dir=own, prefix="frontrank-") if work is None else nullcontext(work) as folder,
        session(where, settings) as spark,
        open_web(spark, path, folder, progress, asked.impact) as web,
    ):
        found = rank(web, ranker, asked.budget, asked.scores)
        fetched = web.fetched
    notes = {ranker.spec(): {"iterations": found.iterations, "residual": found.residual}} if found.iterations > 1 else {}
    return ranker, found.ranking, {"D": fetched, "F": web.pages - fetched}, notes
