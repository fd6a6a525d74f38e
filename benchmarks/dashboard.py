"""What the dashboard costs a crawl: how long each of its quick reads holds the crawl's lock, and how fast a crawl is with a
dashboard open beside it and without.

    python benchmarks/dashboard.py [PAGES]          default: 1,000,000 known pages in 10,000 hosts; about ten minutes

Times are of the processor, of this thread: those of the clock mean little on a shared machine.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from frontrank.crawl.crawl import Crawl
from frontrank.frontiers.politeness import FREE
from frontrank.service.crawls import Crawls
from frontrank.service.http import http_server

HOSTS, LINKS, TURNS, FETCHES = 10_000, 60, 25, 3_000
READS = (("overview", ()), ("next", (50,)), ("score_distribution", (40,)), ("coverage", ()), ("busiest_hosts", (50,)))
PANELS = ("status", "next", "hosts", "errors", "history", "scores", "coverage", "families")


def grow(crawl: Crawl, pages: int) -> None:
    draw = random.Random(1)
    crawl.seed(["http://h0.example/"])
    while crawl.inspect.known < pages:
        first = crawl.inspect.known
        urls = crawl.take(20)
        for at, url in enumerate(urls):
            numbers = range(first + at * LINKS, first + (at + 1) * LINKS)
            crawl.fetched(url, [f"http://h{draw.randrange(HOSTS)}.example/s{n % 30}/p{n}" for n in numbers])


def held(crawl: Crawl) -> None:
    for name, given in READS:
        getattr(crawl, name)(*given)
        times = []
        for _ in range(TURNS):
            begun = time.thread_time()
            getattr(crawl, name)(*given)
            times.append((time.thread_time() - begun) * 1e3)
        print(f"{name:<20} {statistics.median(times):6.1f} ms, at most {max(times):.1f}")


def fetched_per_s(crawl: Crawl) -> float:
    begun = time.perf_counter()
    for at in range(FETCHES):
        for url in crawl.take(1):
            crawl.fetched(url, [f"{url}/{at}"])
    return FETCHES / (time.perf_counter() - begun)


def watch(url: str, done: threading.Event) -> None:
    """What an open page asks for, each panel once a second: more often than it does."""
    while not done.wait(1.0):
        for panel in PANELS:
            with urllib.request.urlopen(f"{url}/api/v1/crawls/DEFAULT/{panel}") as answer:
                json.load(answer)


def main(pages: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Crawls(Path(folder) / "crawls", "surf", FREE) as crawls:
        crawl = crawls.get_or_start()
        grow(crawl, pages)
        print(f"{crawl.inspect.known:,} pages known, {crawl.inspect.waiting:,} wait; time of the processor for one read:")
        held(crawl)
        alone = fetched_per_s(crawl)
        with http_server(crawls, port=0) as server:
            for panel in PANELS:  # the log is read, the processes are started
                urllib.request.urlopen(f"{server.url}/api/v1/crawls/DEFAULT/{panel}").close()
            done = threading.Event()
            watcher = threading.Thread(target=watch, args=(server.url, done))
            watcher.start()
            watched = fetched_per_s(crawl)
            done.set()
            watcher.join()
        print(f"pages settled a second: alone {alone:,.0f}, watched {watched:,.0f}: {watched / alone:.2f} times")


if __name__ == "__main__":
    main(int(sys.argv[1].replace(",", "")) if len(sys.argv) > 1 else 1_000_000)
