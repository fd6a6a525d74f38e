"""How fast does a live frontier give out pages? Against Scrapy's own queues, filled with the same URLs in the same run.

Scrapy's default queue looks at every host at each take, its priority queue at every distinct priority. Both are so slow
that only a few hundred of their takes are timed; ours are called one at a time from Python, as a live crawl does.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.show import Result, table
from frontrank.frontiers import polite
from frontrank.kernels.jit import Array, compiled

URLS = 100_000
ROUNDS, OURS, THEIRS = 3, 5_000, 100  # takes in a round
MIN_GAIN = 100.0
STEP_S = 1e-5  # by how much the clock moves at each take


def ours(host: Array, key: Array, delay_s: float) -> Callable[[], int]:
    """Takes from our frontier, with a clock that moves."""
    queue = polite.new(URLS, int(host.max()) + 1, delay_s=delay_s)
    queue.host[:] = host
    compiled(polite.put_all)(queue, np.arange(URLS, dtype=np.int32), key)
    pop, now = compiled(polite.pop), 0.0
    pop(polite.new(1), now)

    def take() -> int:
        nonlocal now
        now += STEP_S
        page: int = pop(queue, now)
        return page

    return take


def scrapys(name: str, host: Array, key: Array) -> Callable[[], int]:
    """Takes from a queue of Scrapy's, made as its scheduler makes it: in memory, over a downloader that is idle."""
    from scrapy import Request
    from scrapy.core.downloader import Downloader
    from scrapy.utils.misc import build_from_crawler, load_object
    from scrapy.utils.test import get_crawler

    idle = dict.fromkeys(("http", "https", "ftp", "s3", "file", "data"))  # handlers are not asked, and want an event loop
    crawler: Any = get_crawler(settings_dict={"DOWNLOAD_HANDLERS": idle})
    crawler.engine = SimpleNamespace(downloader=Downloader(crawler))
    memory, start = (load_object(crawler.settings[f"SCHEDULER_{kind}MEMORY_QUEUE"]) for kind in ("", "START_"))
    queue = build_from_crawler(load_object(name), crawler, downstream_queue_cls=memory, key="", start_queue_cls=start)
    for page in range(URLS):
        url = f"http://h{host[page]}.example/{page}"
        queue.push(Request(url, priority=int(key[page]), cb_kwargs={"page": page}))

    def take() -> int:
        page: int = queue.pop().cb_kwargs["page"]
        return page

    return take


def per_second(take: Callable[[], int], count: int, taken: list[int]) -> float:
    begun = perf_counter()
    for _ in range(count):
        taken.append(take())
    return count / (perf_counter() - begun)


def compared(name: str, hosts: int, priorities: int, polite_too: bool) -> tuple[float, float]:
    """Takes per second of ours and theirs: the best of a few rounds, taking turns, so that a busy moment hits both."""
    rng = np.random.default_rng(7)
    host = rng.permutation(np.arange(URLS) % hosts)
    key = rng.permutation(np.arange(URLS) % priorities).astype(np.float64)
    delay_s = hosts / 2 * STEP_S if polite_too else 0.0  # then half of the hosts must wait at any time
    mine, other = ours(host, key, delay_s), scrapys(name, host, key)
    taken: tuple[list[int], list[int]] = ([], [])
    rates = [(per_second(mine, OURS, taken[0]), per_second(other, THEIRS, taken[1])) for _ in range(ROUNDS)]
    first, second = (np.array(pages[: ROUNDS * THEIRS]) for pages in taken)
    assert min(taken[0]) >= 0, "a take came away with nothing, so its time says nothing"
    if polite_too:
        assert all(np.unique(host[pages]).size == pages.size for pages in (first, second)), "a host was asked twice too soon"
    else:
        assert (key[first] == key[second]).all(), "the queues differ in what goes first, so their times say nothing"
    return max(rate for rate, _ in rates), max(rate for _, rate in rates)


def takes() -> list[Result]:
    from scrapy.settings.default_settings import SCHEDULER_PRIORITY_QUEUE as DEFAULT

    cases = [  # what, queue, hosts, distinct priorities, does it spread takes over hosts, promised
        ("1,000 hosts", DEFAULT, 1_000, 1, True, 0.0),
        ("20,000 hosts", DEFAULT, 20_000, 1, True, MIN_GAIN),
        ("50,000 priorities", "scrapy.pqueues.ScrapyPriorityQueue", 1_000, 50_000, False, MIN_GAIN),
    ]
    lines, results = [], []
    for what, name, hosts, priorities, polite_too, least in cases:
        mine, other = compared(name, hosts, priorities, polite_too)
        ratio = mine / other
        lines.append([what, name.rpartition(".")[2], f"{mine:,.0f}", f"{other:,.0f}", f"{ratio:,.0f}"])
        if least > 0:
            results.append(Result(f"takes at {what} against Scrapy", ratio, least, "times as fast"))
    title = f"Takes per second from {URLS:,} waiting URLs ({ROUNDS * OURS:,} takes of ours, {ROUNDS * THEIRS} of Scrapy's)"
    table(title, ["", "Scrapy's queue", "ours", "Scrapy", "ratio"], lines)
    return results
