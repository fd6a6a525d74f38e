"""How long a caller of a live crawl waits at the most, while it grows to a million known pages; and how soon it is back.

By the clock, and by the processor time of the caller's own thread: what a call does, where a busy machine lets it wait.

Two callers crawl at once: one in memory, one with a directory, which writes snapshots beside itself. The peer in the same run
is a dict and a heap of the same size, in plain Python. Then the durable crawl is killed while it runs, and recovered.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.show import Result, table

GROW = """
import json, sys, time
from array import array
from pathlib import Path
import numpy as np
from frontrank.crawl.crawl import Crawl
spec, known, where, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
path = None if where == "memory" else Path(where)
with Crawl(spec, ranking=mode) as warm:
    warm.seed(url(0))
    for n in range(1200):
        got = warm.take()
        if got:
            warm.failed(got[0]) if n % 10 == 0 else warm.fetched(got[0], [url(n * 20 + j) for j in range(20)])
crawl = Crawl(spec, path, ranking=mode)
crawl.seed(url(0))
took = {verb: array("d") for verb in ("take", "fetched", "failed")}  # lists of tuples would have Python collect its garbage
n, out = 1, []
def timed(verb, *given):
    begun, spent = time.perf_counter(), time.thread_time()
    made = getattr(crawl, verb)(*given)
    took[verb].extend((time.perf_counter() - begun, time.thread_time() - spent))
    return made
while crawl.inspect.known < known:
    out += timed("take", 1 + (len(out) < 16))  # up to 16 pages are in flight
    if not out:
        continue
    page = out.pop(0)
    if n % 50 == 0:
        timed("failed", page)
    else:
        timed("fetched", page, [url(20 * n + j) for j in range(20)])
    n += 1
made = {}
for verb, times in took.items():
    waited, spent = 1e3 * np.array(times).reshape(-1, 2).T
    made[verb] = {"max": waited.max(), "p99.9": np.quantile(waited, 0.999), "cpu": spent.max(), "calls": len(waited)}
print(json.dumps(made), flush=True)
if path is not None:
    while True:  # until it is killed
        out += crawl.take(1)
        crawl.fetched(out.pop(0), [url(20 * n + j) for j in range(20)])
        n += 1
"""
PLAIN = """
import gc, heapq, json, time
worst, most, heap, known = 0.0, 0.0, [], {}
for n in range(50_000):
    begun, spent = time.perf_counter(), time.thread_time()
    for j in range(20):
        name = f"http://www.h{n % 20011}.example/{20 * n + j}.html"
        if name not in known:
            known[name] = len(known)
            heapq.heappush(heap, (-1.0 / (1 + n), len(known)))
    heapq.heappop(heap)
    worst, most = max(worst, time.perf_counter() - begun), max(most, time.thread_time() - spent)
print(json.dumps({"max": 1e3 * worst, "cpu": 1e3 * most}))
"""
RECOVER = """
import json, sys, time
from frontrank.crawl.crawl import Crawl
begun, spent = time.perf_counter(), time.process_time()
crawl = Crawl.recover(sys.argv[1])
taken = crawl.take()
took = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - spent}
print(json.dumps({**took, "known": crawl.inspect.known, "tail": crawl.state.log.seq - crawl.inspect.snapshot_seq}))
crawl.abandon()
"""


def grown(spec: str, known: int, where: str, mode: str = "inline") -> tuple[dict[str, Any], subprocess.Popen[str]]:
    child = subprocess.Popen([sys.executable, "-c", GROW, spec, str(known), where, mode], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    return json.loads(child.stdout.readline()), child


def stalls(folder: Path, known: int = 1_000_000) -> list[Result]:
    """The longest calls of crawls that grow to so many known pages."""
    plain = json.loads(subprocess.run([sys.executable, "-c", PLAIN], check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows, results = [["a dict and a heap in Python", "grow", f"{plain['max']:.1f}", "", f"{plain['cpu']:.1f}", ""]], []
    for spec, where, mode in (
        ("fpr", "memory", "inline"),
        ("fpr", str(folder / "fpr"), "inline"),
        ("surf", str(folder / "surf"), "inline"),
        ("pagerank:every=5000", str(folder / "pagerank"), "background"),
    ):
        took, child = grown(spec, known, where, mode)
        child.kill()
        child.wait()
        name = f"{spec}, {'in memory' if where == 'memory' else 'durable'}{', ranking beside' if mode == 'background' else ''}"
        for verb, times in took.items():
            shown = (f"{times['max']:.1f}", f"{times['p99.9']:.2f}", f"{times['cpu']:.1f}", f"{times['calls']:,}")
            rows.append([name, verb, *shown])
        worst = max(times["max"] for times in took.values())
        results.append(Result(f"{name}: longest call up to {known:,} known pages", worst, 50, "ms", most=True))
    table("Longest calls, milliseconds", ["crawl", "call", "max", "p99.9", "max of the processor", "calls"], rows)
    return results


def recovery_after_kill(folder: Path, known: int = 1_200_000) -> list[Result]:
    """kill -9 of a running crawl, then Crawl.recover and the first take."""
    path = folder / "killed"
    _, child = grown("fpr", known, str(path))
    time.sleep(0.5)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    took = json.loads(
        subprocess.run([sys.executable, "-c", RECOVER, str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout
    )
    rows = [[f"{took['seconds']:.2f}", f"{took['cpu']:.2f}", f"{took['known']:,}", f"{took['tail']:,}"]]
    table(
        "Recovery after kill -9 of a running crawl",
        ["seconds", "of the processor", "known pages", "events after the snapshot"],
        rows,
    )
    return [Result(f"recovery of {known:,} known pages after kill -9", took["seconds"], 3, "s", most=True)]
