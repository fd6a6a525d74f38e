"""A race: real crawls of one served web beside each other, and how many of its best pages each has found so far.

The web is known to the judge, not to the crawlers: they fetch pages over HTTP, and follow the links they find.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from frontrank.crawl.status import events
from frontrank.fetching.crawler.job import Job
from frontrank.fetching.crawler.options import Options
from frontrank.fetching.crawler.run import new_job, run_job, run_loop
from frontrank.fetching.end_reason import EndReason
from frontrank.kernels.jit import Array
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import Run
from frontrank.simulation.trace import Trace
from frontrank.web.importance import importance
from frontrank.web.web import Web

Show = Callable[["list[Lane]"], None]


@dataclass
class Lane:
    """One crawl of the race, as far as it has got."""

    spec: str
    folder: Path
    job: Job
    hot: float = 0.0  # share of the best pages found
    found: list[int] = field(default_factory=list)  # pages of the web, in the order in which they arrived
    seconds: float = 0.0

    def look(self, number: dict[str, int], best: Array) -> None:
        crawl = self.job.crawl
        self.found += [number[crawl.url(page)] for page in crawl.state.progress.order[len(self.found) :]]
        self.hot = float(best[self.found].sum() / best.sum())


def race(
    web: Web,
    proxy: str,
    specs: tuple[str, ...],
    budget: int,
    folder: str | os.PathLike[str],
    share: float = 0.1,
    *,
    show: Show | None = None,
) -> list[Run]:
    """Crawl the web that is served behind the proxy once with each ordering, all at the same time.

    ``share`` of the pages, the most important ones, are those to find. Each crawl is left in a directory of its own. A race
    that is stopped has no result: KeyboardInterrupt.
    """
    assert web.urls is not None and web.seeds is not None
    number = {url: page for page, url in enumerate(web.urls)}
    value = importance(web, "pagerank")
    best = np.zeros(web.pages, bool)
    best[np.argsort(-value, kind="stable")[: max(1, round(share * web.pages))]] = True
    seeds = tuple(web.urls[page] for page in web.seeds.tolist())
    lanes = []
    for spec in specs:
        asked = Options(
            seeds, spec, budget, scope="any", delay=0.0, per_host=0, in_flight=8, robots=True, proxy=proxy, timeout=10.0
        )
        place = Path(folder) / spec.replace(":", "-").replace("=", "")
        lanes.append(Lane(spec, place, new_job(asked, place)))
    return run_loop(lambda: _all(lanes, web, number, best, show))


async def _all(lanes: list[Lane], web: Web, number: dict[str, int], best: Array, show: Show | None) -> list[Run]:
    watcher = asyncio.ensure_future(_watch(lanes, number, best, show))
    try:
        runs = list(await asyncio.gather(*(_one(lane, web, number, best) for lane in lanes)))
    finally:
        watcher.cancel()
    if any(lane.job.ended == EndReason.INTERRUPTED for lane in lanes):
        fetched = ", ".join(f"{len(lane.found):,} by {lane.spec}" for lane in lanes)
        raise KeyboardInterrupt(f"interrupted while crawling, pages fetched: {fetched}")
    return runs


async def _one(lane: Lane, web: Web, number: dict[str, int], best: Array) -> Run:
    await run_job(lane.job)
    lane.seconds = lane.job.fetching_s
    lane.found = [number[event["url"]] for event in events(lane.folder) if event["kind"] == "fetched"]
    lane.hot = float(best[lane.found].sum() / best.sum())
    assert web.seeds is not None
    trace = Trace(web.seeds, np.array(lane.found, np.int32), lane.job.ended or "")
    return Run(parse(lane.spec), trace, None, lane.seconds, lane.spec, crawled=True)


async def _watch(lanes: list[Lane], number: dict[str, int], best: Array, show: Show | None) -> None:
    while show is not None:
        for lane in lanes:
            if not lane.seconds:
                lane.look(number, best)
        show(lanes)
        await asyncio.sleep(0.5)
