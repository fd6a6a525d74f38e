"""The options of the lab's commands, each with its default, limits and help.

The library takes its defaults from here, and the command line is made from it (``frontrank.options``).
"""

from __future__ import annotations

from dataclasses import dataclass

from frontrank.frontiers.pace import GREEDY_PACE, wrong_pace
from frontrank.options import TIME, option, said_of
from frontrank.orderings import DEFAULT_ORDERING

FORMS = "NAME or NAME:KEY=VALUE,..."
WHERE = "Where to start: a URL, a file of ids or URLs, top:160 or random:1000@7."


VISIBLE = "What searchers see of a result: step:10 (default), 1/r, 1/log2(1+r), numbers or a file."


def _wrong_budget(given: str) -> str:
    from frontrank.simulation.plan import Stop

    return said_of(Stop, given, "budget")


def _wrong_rule(given: str) -> str:
    from frontrank.simulation.plan import Stop

    return said_of(lambda text: Stop(until=text), given, "a stopping rule")


def _wrong_crawled(given: str) -> str:
    ordering, _, share = given.rpartition(":")
    return "" if ordering and share else f"must be ORDERING:SHARE, such as bfs:0.3, got {given!r}"


@dataclass(frozen=True)
class SearchOptions:
    """Of every command that judges by what searchers do."""

    queries: str | None = option(None, "A query log: one query per line, or query, frequency, date.", metavar="FILE")
    judge: str = option(
        "half",
        "Which queries judge: the other half of the log, the ones that drive, or the later ones.",
        metavar="half|same|dates[:DAY]",
    )
    impact: str | None = option(None, "What pages are worth: the web's own counts.", choices=("views", "clicks"))


@dataclass(frozen=True)
class ReproduceOptions(SearchOptions):
    visibility: str | None = option(None, VISIBLE, metavar="V")


@dataclass(frozen=True)
class SceneOptions(SearchOptions):
    """Of every command that pretends that a part of a web has been crawled."""

    crawled: str = option(
        "bfs:0.3", "What has been fetched: an ordering, and its share of the web.", metavar="P:SHARE", wrong=_wrong_crawled
    )
    seeds: str | None = option(None, WHERE, metavar="SEEDS")
    draw: int = option(0, "Seed of the random split and of the bootstrap.", metavar="N")


@dataclass(frozen=True)
class EvaluateOptions(SceneOptions):
    visibility: str | None = option(None, VISIBLE, metavar="V")
    protocol: str | None = option(None, "How rankers that learn are trained.", choices=("split", "deployed"))


@dataclass(frozen=True)
class TuneOptions(SceneOptions):
    omega: tuple[float, ...] = option(
        tuple(round(0.1 * i, 1) for i in range(11)), "Values of omega to try.", metavar="X,Y,...", maximum=1.0
    )
    gamma: tuple[float, ...] = option((0.0,), "Values of gamma to try.", metavar="X,Y,...")


@dataclass(frozen=True)
class RunOptions:
    """Of every command that simulates crawls."""

    policy: tuple[str, ...] = option((), f"{FORMS}; repeatable; all.", name="ordering", metavar="P")
    seeds: str | None = option(None, WHERE, metavar="SEEDS")
    budget: str | None = option(
        None, "Pages to fetch: a share such as 0.3, or a count. All if not given.", metavar="B", wrong=_wrong_budget
    )
    until: str | None = option(None, "Stop rankmass early: coverage=0.9.", metavar="RULE", wrong=_wrong_rule)
    in_flight: int | None = option(None, "Requests at a time, with a clock; default: one, without a clock.", metavar="N")
    host_delay: float | None = option(None, "Seconds between two requests to one host, with a clock.", metavar="S")
    latency: float | None = option(None, "Seconds a request takes, with a clock; default: 1.", metavar="S")
    within: float = option(
        0.0, "Have the pages of --budget within S seconds, or 30m, 2h, 1d, with a clock.", metavar="S", kind=TIME
    )
    pace: str = option(
        GREEDY_PACE, "With a clock: greedy, 5/s, or half: at least half as fast as greedy.", metavar="PACE", wrong=wrong_pace
    )
    impact: str | None = option(None, "What pages are worth to searchers.", choices=("views", "clicks"))
    metric: str | None = option(None, "What importance is: --impact if it is given, else pagerank.", metavar="M")
    jobs: int | None = option(None, "Orderings at a time; default: what cores and memory allow.", metavar="N", minimum=1)


@dataclass(frozen=True)
class RevisitOptions:
    changes: str = option("web", "How often pages change: web, same:every=10d, gamma:... or file:...", metavar="C")
    days: float = option(180.0, "How many days the crawl runs.", metavar="D", above=True)
    a_day: float | None = option(None, "Fetches a day; default: a fifteenth of the pages.", metavar="N", above=True)
    share: float = option(0.5, "Share of fetches that are revisits.", metavar="S", maximum=1.0)
    collected: bool = option(False, "Start with every page already fetched: revisits only.", no=False)
    policy: str = option(DEFAULT_ORDERING, "The ordering that discovers pages.", name="ordering", metavar="P")
    seeds: str | None = option(None, WHERE, metavar="SEEDS")
    metric: str = option("pagerank", "What importance is, for the weighted figures.", metavar="M")
    draw: int = option(0, "Another number draws other rates and changes.", metavar="N")


@dataclass(frozen=True)
class RecommendOptions:
    draws: int = option(5, "How many sets of random seeds to try.", metavar="N", minimum=1)
    budget: str | None = option(
        None, "Pages to fetch: a share such as 0.1 (the default), or a count.", metavar="B", wrong=_wrong_budget
    )
    seeds: int | None = option(None, "Pages in a set of seeds; default: a thousandth of the web.", metavar="N", minimum=1)
    queries: str | None = option(
        None, "A query log, for searchers: one query per line, or query and frequency.", metavar="FILE"
    )
    policy: tuple[str, ...] = option((), "An ordering to add to the candidates; repeatable.", name="ordering", metavar="P")


@dataclass(frozen=True)
class RankOptions:
    ranker: str | None = option(
        None, f"{FORMS}; default: fusion, rw-eg or pagerank, depending on what CRAWL holds.", name="ordering", metavar="R"
    )
    budget: int = option(1000, "How many pages.", metavar="N", minimum=1)
    impact: str | None = option(None, "What fetched pages are worth: their views or clicks.", choices=("views", "clicks"))
    scores: str | None = option(
        None, "Also write the scores of all pages, as Parquet files (Parquet tables only).", metavar="DIR"
    )
    engine: str = option("local", "Where to compute; Spark reads Parquet tables.", choices=("local", "spark"))
    master: str | None = option(
        None, "Spark master: local[2], spark://HOST:PORT, yarn or k8s://URL; default: local[*].", metavar="URL"
    )
    conf: tuple[str, ...] = option((), "A Spark setting, such as spark.executor.memory=8g; repeatable.", metavar="KEY=VALUE")
    work: str | None = option(
        None, "Checkpoints of Spark; on a cluster, a directory that every machine can reach.", metavar="DIR"
    )


@dataclass(frozen=True)
class LeaderboardOptions:
    queries: str | None = option(None, "A query log: what texts are worth where no clicks are known.", metavar="FILE")
    draws: int = option(5, "How many draws of random seeds.", metavar="N", minimum=1)
    budget: float = option(0.5, "How far crawls go, as a share of the web.", metavar="SHARE", above=True, maximum=1.0)
