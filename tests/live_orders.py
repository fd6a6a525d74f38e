"""Every ordering, live: a known web is served, crawled one page at a time, and the order set beside the simulated one.

Run as ``python -m tests.live_orders [SPEC...]``: one process, one loop, one crawl after another. Prints JSON: for each
ordering the place at which both orders part (-1: nowhere), and their lengths.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from frontrank.checks.orderings import PAGES, searched
from frontrank.crawl.events import Fetched
from frontrank.crawl.journal import Journal
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import crawl_async, run_loop
from frontrank.lab.webserver import ServerOptions as Served
from frontrank.lab.webserver import WebServer
from frontrank.lab.webserver.site import Site
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.web.importance import importance
from frontrank.web.web import Web
from tests.specs import SPECS

BESIDE = ("fpr", "opic")  # crawled at the same time
SEEDS = [PAGES // 2, 0, PAGES // 3]


async def compared(specs: Sequence[str]) -> dict[str, dict[str, int]]:
    web = searched(synthetic(f"pages={PAGES},links=6,text=1,seed=5"))
    server = WebServer(Site(web, Served()))
    await server.start(0)
    async with server:
        told = {spec: await one(web, server, spec) for spec in specs}
        beside = await asyncio.gather(*(one(web, server, spec) for spec in BESIDE))
    return told | {f"{spec} beside another": how for spec, how in zip(BESIDE, beside, strict=True)}


async def one(web: Web, server: WebServer, spec: str) -> dict[str, int]:
    """Crawl with this ordering, and compare."""
    policy = parse(spec)
    urls = [server.site.addresses.of(page) for page in range(web.pages)]
    assert web.views is not None
    views = dict(zip(urls, web.views.tolist(), strict=True))
    truth = None
    if "truth" in policy.needs():
        truth = dict(zip(urls, importance(web, getattr(policy, "truth", "pagerank")).tolist(), strict=True)).__getitem__
    options = Options(
        seeds=tuple(urls[page] for page in SEEDS),
        policy=spec,
        seeds_first=False,  # as in a simulation
        scope="any",
        delay=0.0,
        per_host=0,
        in_flight=1,
        max_depth=PAGES,
        robots=False,
        warc=False,
        proxy=server.url,
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "crawl"
        if "queries" in policy.needs():
            options = replace(options, queries=str(query_log(web, Path(folder) / "queries.tsv")))
        await crawl_async(options, out, truth=truth, impact=views.__getitem__)
        crawled = fetched(out)
    simulated = [urls[page] for page in simulate(web, policy, np.array(SEEDS)).trace.order.tolist()]
    return {"parts_at": parting(crawled, simulated), "live": len(crawled), "simulated": len(simulated)}


def query_log(web: Web, path: Path) -> Path:
    lines = [f"{query}\t{frequency:g}\n" for query, frequency in zip(web.queries.queries, web.queries.frequency, strict=True)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def fetched(out: Path) -> list[str]:
    """The URLs of a crawl in the order in which they were fetched."""
    journal = Journal.open(out, read_only=True)
    names = [url for urls, _ in journal.urls() for url in urls]
    order = [names[page] for (page,) in journal.select(("page",), (Fetched.kind,))]
    journal.close()
    return order


def parting(one: Sequence[str], other: Sequence[str]) -> int:
    """The first place at which two orders differ; -1 if they are equal."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return -1 if len(one) == len(other) else min(len(one), len(other))


if __name__ == "__main__":
    chosen = sys.argv[1:] or SPECS
    print(json.dumps(run_loop(lambda: compared(chosen))))
