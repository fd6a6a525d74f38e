"""The lab: a paper's comparisons run again on any web, its claims beside what was measured.

    cho98     Cho, Garcia-Molina, Page: Efficient Crawling Through URL Ordering, WWW 1998
    fica07    Zareh Bidoki, Yazdani, Ghodsnia: FICA, a Fast Intelligent Crawling Algorithm, 2007
    fpr10     Fractional PageRank crawlers, Korea Computer Congress 2010
    pandey08  Pandey, Olston: Crawl Ordering by Search Impact, WSDM 2008
    tran15    Tran, Turk, Cambazoglu, Nejdl: A Random Walk Model for Optimization of Search Impact in Web Frontier Ranking,
              SIGIR 2015

A paper is a function of a web; those about search, of a web and a query log. A new one is a file here and a name in
``PAPERS`` or ``SEARCH_PAPERS``.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from frontrank.errors import InputError, SpecError, nearest
from frontrank.papers.claims import AGREES, DISAGREES, UNDECIDED, UNTESTED, Claim
from frontrank.papers.reproduction import PaperExperiment, PaperTable, Plot, Reproduction
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


def _silent(text: str, done: int, total: int) -> None:
    """Where nobody asks for progress."""


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
    reproduce = import_module(f"frontrank.papers.{check(key)}").reproduce
    command = f"frontrank reproduce {key} --web {source or web.name}"
    reproduction: Reproduction
    if key in SEARCH_PAPERS:
        reproduction = reproduce(web, workload, progress or _silent, impact)
        command += f" --queries {queries}" if queries else ""
        if isinstance(workload, Divided) and workload.asked_for != HALF:
            command += f" --judge {workload.asked_for}"
        command += f" --impact {impact}" if impact else ""
        command += f" --visibility '{visibility}'" if visibility else ""
    elif workload is not None:
        raise InputError(f"queries given, but {key} is about links alone; drop --queries")
    else:
        reproduction = reproduce(web, progress or _silent)
    return replace(reproduction, command=command)
