"""The lab: a paper's comparisons run again on any web, its claims beside what was measured.

    cho98     Cho, Garcia-Molina, Page: Efficient Crawling Through URL Ordering, WWW 1998
    fica07    Zareh Bidoki, Yazdani, Ghodsnia: FICA, a Fast Intelligent Crawling Algorithm, 2007
    fpr10     Fractional PageRank crawlers, Korea Computer Congress 2010

A paper is a function of a web. A new one is a file here and a line in ``PAPERS``.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from frontrank.errors import SpecError, nearest
from frontrank.lab.claims import AGREES, DISAGREES, UNTESTED, Claim
from frontrank.lab.crawls import Progress, silent
from frontrank.lab.reproduction import Experiment, Plot, Reproduction, Table
from frontrank.web import Web

__all__ = [
    "AGREES",
    "DISAGREES",
    "PAPERS",
    "UNTESTED",
    "Claim",
    "Experiment",
    "Plot",
    "Reproduction",
    "Table",
    "check",
    "run",
]

PAPERS = ("cho98", "fica07", "fpr10")


def check(key: str) -> str:
    """The key of a paper, if it is one."""
    if key not in PAPERS:
        raise SpecError(f"unknown paper {key!r}{nearest(key, PAPERS)}")
    return key


def run(key: str, web: Web, progress: Progress | None = None, source: str = "") -> Reproduction:
    """All experiments of a paper on a web. ``source`` is how the web was named, for the command that repeats this."""
    told: Reproduction = import_module(f"frontrank.lab.{check(key)}").reproduce(web, progress or silent)
    return replace(told, command=f"frontrank reproduce {key} --web {source or web.name}")
