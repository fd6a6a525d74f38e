"""What a durable crawl costs: events a second, bytes of memory a waiting URL, seconds to recover. Each in its own process."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.process import figures
from benchmarks.show import Result, table

WRITE = """
import json, sys, time
from pathlib import Path
from frontrank.crawl.crawl import Crawl
from frontrank.orderings.registry import parse
folder, pages, group, sync_s = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
with Crawl(parse("fpr"), folder.with_name("warm" + folder.name)) as warm:
    warm.seed([url(0)]); warm.take(); warm.fetched(url(0), [url(1)])
made = [[url(21 * n + j + 1) for j in range(20)] for n in range(pages)]
crawl = Crawl(parse("fpr"), folder, group=group, sync_s=sync_s)
crawl.seed([url(0)])
todo = []
begun = time.perf_counter()
for n in range(pages):
    if not todo:
        todo = crawl.take(group)
    crawl.fetched(todo.pop(), made[n])
crawl.sync()
seconds = time.perf_counter() - begun
crawl.abandon()
print(json.dumps({"rate": pages / seconds}))
"""
SQLITE = """
import json, sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE url(id INTEGER PRIMARY KEY, url TEXT)")
pages = int(sys.argv[2])
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
made = [[(21 * n + j, url(21 * n + j)) for j in range(20)] for n in range(pages)]
begun = time.perf_counter()
for n in range(pages):
    db.execute("BEGIN")
    db.executemany("INSERT INTO url VALUES(?, ?)", made[n])
    db.execute("COMMIT")
print(json.dumps({"rate": pages / (time.perf_counter() - begun)}))
"""
MEMORY = """
import gc, json, sys
from pathlib import Path
from frontrank.crawl.crawl import Crawl
from frontrank.orderings.registry import parse
def rss(): return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
folder, urls, spec = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with Crawl(parse(spec), folder.with_name("warm" + folder.name)) as warm:
    warm.seed([url(0)]); warm.take(); warm.fetched(url(0), [url(j) for j in range(1, 200)])
gc.collect()
before = rss()
crawl = Crawl(parse(spec), folder, group=100)
crawl.seed([url(0)])
n = 1
while crawl.inspect.waiting < urls:
    (page,) = crawl.take()
    crawl.fetched(page, [url(n + j) for j in range(100)])
    n += 100
gc.collect()
print(json.dumps({"bytes": (rss() - before) / crawl.inspect.waiting, "waiting": crawl.inspect.waiting}))
"""
SCRAPY_MEMORY = """
import gc, json, sys
from pathlib import Path
from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.utils.test import get_crawler
def rss(): return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
crawler = get_crawler(Spider, {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"})
crawler.spider = crawler._create_spider("x")
scheduler = Scheduler.from_crawler(crawler)
scheduler.open(crawler.spider)
gc.collect()
before = rss()
for n in range(int(sys.argv[1])):
    scheduler.enqueue_request(Request(url(n)))
gc.collect()
print(json.dumps({"bytes": (rss() - before) / int(sys.argv[1])}))
"""
LONG = """
import sys
from pathlib import Path
from frontrank.crawl import crawl as c, recorder
from frontrank.orderings.registry import parse
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
recorder.SNAPSHOT_WORK = recorder.SNAPSHOT_S = 10**9
crawl = c.Crawl(parse("fpr"), Path(sys.argv[1]), group=1000)
crawl.seed([url(0)])
known = 1
todo = []
for n in range(int(sys.argv[2]) // 2):
    todo = todo or crawl.take(100)[::-1]
    page = todo.pop()
    at = int(page.rpartition("/")[2][:-5])
    crawl.fetched(page, [url(known), url(known + 1)] + [url(at * 7 % known + j) for j in range(18)])
    known += 2
crawl.abandon()
"""
RECOVER = """
import json, resource, sys, time
from frontrank.crawl.crawl import Crawl
begun = time.perf_counter()
crawl = Crawl.recover(sys.argv[1])
taken = crawl.take()
seconds, shown = time.perf_counter() - begun, crawl.inspect
print(json.dumps({"seconds": seconds, "known": shown.known, "fetched": shown.fetched_count}))
crawl.fetched(taken[0])
crawl._recorder.snapshot_seq -= 1000
crawl.close() if len(sys.argv) > 2 else crawl.abandon()
"""


def writing(folder: Path, pages: int = 10_000) -> list[Result]:
    rows = []
    bare = figures(SQLITE, folder / "bare.db", pages)["rate"]
    rates = {}
    for name, group, sync_s in (("every event", 1, 1.0), ("groups of 100", 100, 1.0), ("groups of 100, to the disk", 100, 0)):
        rates[name] = figures(WRITE, folder / f"write{group}-{sync_s}", pages, group, sync_s)["rate"]
        rows.append([name, f"{rates[name]:,.0f}", f"{rates[name] / bare:.2f}"])
    table("Durable pages a second, 20 new links each", ["commit", "pages/s", "of bare SQLite, one commit a page"], rows)
    return [Result(f"durable fetched, 20 new links, {name}", rates[name], 2000, "pages/s") for name in rates]


def memory(folder: Path, urls: int = 1_000_000) -> list[Result]:
    stock = figures(SCRAPY_MEMORY, urls // 10)["bytes"]
    rows, results = [["scrapy, memory queue", f"{stock:,.0f}", "1.0"]], []
    for spec in ("bfs", "fpr", "fica"):
        held = figures(MEMORY, folder / f"memory-{spec}", urls, spec)["bytes"]
        rows.append([spec, f"{held:,.0f}", f"{stock / held:.1f}"])
        results.append(Result(f"{spec}: memory a waiting URL, {urls:,} URLs", held, 150, "bytes", most=True))
    table("Memory a waiting URL", ["queue", "bytes", "times less"], rows)
    return results


def recovery(folder: Path, events: int = 1_000_000) -> list[Result]:
    path = folder / "long"
    figures(LONG, path, events)
    figures(RECOVER, path)  # compiles the kernels
    rows, results = [], []
    for name in ("from the journal alone", "with its last snapshot"):
        if not rows:  # a recovered crawl leaves a snapshot soon
            shutil.rmtree(path / "snapshots", ignore_errors=True)
        took = figures(RECOVER, path, "close")
        rows.append([name, f"{took['seconds']:.2f}", f"{took['known']:,.0f}", f"{took['fetched']:,.0f}"])
        results.append(Result(f"recovery of {events:,} events {name}", took["seconds"], 10, "s", most=True))
    table(f"Recovery: a crawl of {events:,} events, 20 links a page", ["how", "seconds", "known", "fetched"], rows)
    return results
