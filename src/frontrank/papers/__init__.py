"""The lab: a paper's comparisons run again on any web, its claims beside what was measured.

    cho98     Cho, Garcia-Molina, Page: Efficient Crawling Through URL Ordering, WWW 1998
    fica07    Zareh Bidoki, Yazdani, Ghodsnia: FICA, a Fast Intelligent Crawling Algorithm, 2007
    fpr10     Fractional PageRank crawlers, Korea Computer Congress 2010
    pandey08  Pandey, Olston: Crawl Ordering by Search Impact, WSDM 2008
    tran15    Tran, Turk, Cambazoglu, Nejdl: A Random Walk Model for Optimization of Search Impact in Web Frontier Ranking,
              SIGIR 2015

A paper is a module with its reference (``PAPER``), the number of its ``EXPERIMENTS``, for the progress, and ``reproduce``: a
function of a web (those about search, of a query log and an impact too) and of ``tell``, which gives the setting and the
experiments, one after the other. A new one is a file here and a name in ``PAPERS`` or ``SEARCH_PAPERS``.
"""

from __future__ import annotations

from importlib import import_module

from frontrank.errors import InputError, SpecError, nearest
from frontrank.papers.claims import AGREES, DISAGREES, UNDECIDED, UNTESTED, Claim
from frontrank.papers.reproduction import PaperExperiment, PaperTable, Plot, Reproduction, describe
from frontrank.search.divided import HALF, Divided
from frontrank.simulation.side_by_side import Progress
from frontrank.web.view import Workload
from frontrank.web.web import Web

__all__ = [
    "AGREES",
    "DISAGREES",
    "PAPERS",
    "SEARCH_PAPERS",
    "UNDECIDED",
    "UNTESTED",
    "Claim",
    "PaperExperiment",
    "PaperTable",
    "Plot",
    "Reproduction",
    "check",
    "run",
]

PAPERS = ("cho98", "fica07", "fpr10")
SEARCH_PAPERS = ("pandey08", "tran15")  # whose orderings are driven by what searchers ask


def check(key: str) -> str:
    """The key of a paper, if it is one."""
    if key not in PAPERS + SEARCH_PAPERS:
        raise SpecError(f"unknown paper {key!r}{nearest(key, PAPERS + SEARCH_PAPERS)}")
    return key


def run(
    key: str,
    web: Web,
    progress: Progress | None = None,
    source: str = "",
    workload: Workload | Divided | None = None,
    queries: str = "",
    *,
    impact: str | None = None,
    visibility: str | None = None,
) -> Reproduction:
    """All experiments of a paper on a web.

    ``workload`` is what searchers ask; without one a paper about search makes its own from the web. ``impact`` names what
    pages are worth, the web's own views or clicks. ``source``, ``queries`` and ``visibility`` are how web, workload and what
    its searchers see were named, for the command that repeats this.
    """
    paper = import_module(f"frontrank.papers.{check(key)}")
    done: list[PaperExperiment] = []

    def tell(text: str) -> None:
        if progress is not None:
            progress(f"{key}: {text}", min(len(done), paper.EXPERIMENTS - 1), paper.EXPERIMENTS)

    command = f"frontrank reproduce {key} --web {source or web.name}"
    if key in SEARCH_PAPERS:
        setting, experiments = paper.reproduce(web, tell, workload, impact)
        command += f" --queries {queries}" if queries else ""
        if isinstance(workload, Divided) and workload.asked_for != HALF:
            command += f" --judge {workload.asked_for}"
        command += f" --impact {impact}" if impact else ""
        command += f" --visibility '{visibility}'" if visibility else ""
    elif workload is not None:
        raise InputError(f"queries given, but {key} is about links alone; drop --queries")
    else:
        setting, experiments = paper.reproduce(web, tell)
    for experiment in experiments:
        done.append(experiment)  # noqa: PERF402 - one by one: the progress counts them
    return Reproduction(key, f"{key} on {web.name}", paper.PAPER, describe(web), setting, done, command)
