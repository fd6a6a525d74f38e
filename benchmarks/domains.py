"""What do ranks of hosts and voices of domains bring? ``python -m benchmarks.domains [WEB]``. About half a minute.

A generated web on many domains, from five draws of 20 random seeds. ``prior`` is told the PageRank of every host, summed over
its pages in the whole web: what Common Crawl's ranks say of the real one before a crawl begins. A cap lets a crawl have so many
pages of one host, no more; here each host is a domain of its own. Shown: how many of the best pages are among as many fetched.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.show import table
from frontrank.frontiers.politeness import Politeness
from frontrank.lab.measures import hot
from frontrank.orderings.registry import parse
from frontrank.pages.urls import host_of
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

WEB = "synthetic:pages=50000,hosts=1000,text=0,seed=7"
SHARES = (0.02, 0.05, 0.1)
DRAWS, SEEDS = 5, 20
CAP = 50  # pages of one host: the mean of the web
ORDERINGS = ("bfs", "domains", "prior:inner=bfs", "fpr", "prior:inner=fpr", "surf")


def write_ranks(web: Web, path: Path) -> None:
    """A host and its rank a line."""
    assert web.urls is not None
    hosts = np.array([host_of(url) for url in web.urls])
    names, at = np.unique(hosts, return_inverse=True)
    ranks = np.bincount(at, importance(web, "pagerank"))
    path.write_text("".join(f"{name}\t{rank:.9g}\n" for name, rank in zip(names, ranks, strict=True)), encoding="utf-8")


def found(web: Web, spec: str, cap: int) -> list[str]:
    """The share of the best pages at each share of the web, over the draws."""
    values: dict[float, list[float]] = {share: [] for share in SHARES}
    for draw in range(DRAWS):
        seeds = find_seeds(web, f"random:{SEEDS}@{draw}")
        pace = Politeness(in_flight=1, host_budget=cap) if cap else None
        trace = simulate(web, parse(spec), seeds, max(SHARES), politeness=pace).trace
        for share, value in hot(trace, web, SHARES).items():
            values[share].append(value or 0.0)
    return [f"{100 * fmean(one):.1f}±{100 * stdev(one):.1f}%" for one in values.values()]


def domains(path: str = WEB) -> None:
    web = load(path)
    rows = []
    with TemporaryDirectory() as folder:
        ranks = Path(folder) / "ranks.tsv"
        write_ranks(web, ranks)
        for spec in ORDERINGS:
            given = spec.replace("prior:", f"prior:file={ranks},")
            for cap in (0, CAP):
                rows.append([spec, str(cap or "none"), *found(web, given, cap)])
    table(f"{web.name}: hot pages found", ["ordering", "cap", *(f"{share:.0%}" for share in SHARES)], rows)


if __name__ == "__main__":
    domains(*sys.argv[1:2])
