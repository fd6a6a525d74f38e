"""What does an ordering lose if its frontier is cut by host? ``python -m benchmarks.shards [WEB]``. A few minutes.

Four crawls, each with the hosts that a hash gives it, take turns. A page is reported to the crawl of its host with all links to
pages there, and to each other crawl that holds pages it links to, with those: nothing else crosses. Shown: the share of all
PageRank fetched, beside that of one frontier for all.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.show import table
from frontrank.crawl.crawl import Crawl
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.web.importance import importance
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

WEB = "synthetic:pages=30000,hosts=600,links=15,text=0,seed=7"
ORDERINGS = ("bfs", "backlink", "opic", "fpr", "fpr:m=100", "surf")
SHARES = (0.05, 0.1, 0.2, 0.5)
SHARDS = 4


def shards(path: str = WEB) -> None:
    web = load(path)
    assert web.hosts is not None and web.urls is not None
    mass, seeds = importance(web, "pagerank"), find_seeds(web)
    of_host = np.random.default_rng(1).integers(0, SHARDS, int(web.hosts.max()) + 1)
    rows = []
    for spec in ORDERINGS:
        one = simulate(web, parse(spec), seeds).trace.order
        several = _cut(web, spec, seeds.tolist(), of_host[web.hosts])
        for name, order in (("one frontier", one), (f"{SHARDS} by host", several)):
            got = np.cumsum(mass[np.asarray(order)])
            rows.append([spec, name, *(f"{got[int(share * web.pages) - 1]:.3f}" for share in SHARES)])
    table(f"{web.name}: PageRank fetched", ["ordering", "", *(f"at {share:.0%}" for share in SHARES)], rows)


def _cut(web: Web, spec: str, seeds: list[int], shard: np.ndarray) -> list[int]:
    """The order in which crawls that share the hosts among them fetch a web, if they take turns."""
    assert web.urls is not None
    crawls = [Crawl(parse(spec)) for _ in range(SHARDS)]
    number = {url: page for page, url in enumerate(web.urls)}
    for at, crawl in enumerate(crawls):
        if mine := [web.urls[page] for page in seeds if shard[page] == at]:
            crawl.seed(mine)
    order: list[int] = []
    took = True
    while took:
        took = False
        for at, crawl in enumerate(crawls):
            for url in crawl.take(1):
                took = True
                page = number[url]
                order.append(page)
                targets = web.targets_of(page)
                for other, told in enumerate(crawls):
                    links = [web.urls[target] for target in targets.tolist() if shard[target] == other]
                    if other == at:
                        told.fetched(url, links)
                    elif links:
                        told.fetched(told.intern(url), [told.intern(link) for link in links], any_state=True)
    return order


if __name__ == "__main__":
    shards(*sys.argv[1:2])
