"""Memory: bytes a link at the peak while a web is read, bytes a waiting URL in a live crawl. Each in a process of its own.

    python -m benchmarks.memory                       while a web is read
    python -m benchmarks.memory --waiting 1000000     a table of all online orderings, with so many URLs waiting
    python -m benchmarks.memory --known 10000000      one crawl that knows so many pages, closed and opened again

It is the resident set beyond what the process had before (VmHWM at the peak), so pages of arrays that are never touched do not
count. A live crawl is told of pages with 100 new links each, of 20,011 hosts with ten directories: all that is kept of the URLs
that wait, of those that were fetched, of hosts and links. URLs themselves are in SQLite.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.process import figures
from benchmarks.show import Result, table, verdict

PEAK = """
import sys, numpy as np
def resident(which):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(which))
from frontrank.web.web import Web
from frontrank.web.links import tidy
from frontrank.sources.edges import load_edges
what, pages, links, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
draw = np.random.default_rng(1)
Web.from_edges(np.array([0], np.int32), np.array([1], np.int32), 2)  # kernels are compiled or loaded before
small = path + ".small"
open(small, "w").write("0 1\\n1 0\\n")
load_edges(small)
if what != "edge list":
    source, target = (draw.integers(0, pages, links, dtype=np.int32) for _ in range(2))
    indptr = np.linspace(0, links, pages + 1).astype(np.int64)
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
if what == "from_edges":
    web = Web.from_edges(source, target, pages)
elif what == "tidy":
    web = tidy(indptr, target)
else:
    web = load_edges(path)
print((resident("VmHWM") - before) / links)
"""
WAITING = """
import gc, json, sys
from pathlib import Path
from frontrank.crawl.crawl import Crawl
from frontrank.orderings.registry import parse
def rss(): return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("RssAnon"))
def url(n): return f"http://www.h{n % 20011}.example/section-{n // 20011 % 10}/an-article-about-something/{n}.html"
folder, urls, spec = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with Crawl(parse(spec), folder.with_name("warm-" + folder.name)) as warm:
    warm.seed([url(0)]); warm.take(); warm.fetched(url(0), [url(j) for j in range(1, 200)], title="t", text="an article")
gc.collect()
before = rss()
crawl = Crawl(parse(spec), folder, group=100)
crawl.seed([url(0)])
n = 1
while crawl.inspect.waiting < urls:
    (page,) = crawl.take()
    crawl.fetched(page, [url(n + j) for j in range(100)], title="a title", text="an article about something")
    n += 100
gc.collect()
print((rss() - before) / crawl.inspect.waiting)
crawl.abandon()
"""
KNOWN = """
import json, sys, time
from pathlib import Path
from frontrank.crawl.crawl import Crawl
from frontrank.orderings.registry import parse
def status(what): return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(what))
def url(n): return f"http://www.h{n % 200003}.example/section-{n // 200003 % 10}/an-article-about-something/{n}.html"
what, folder, pages = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
with Crawl(parse(sys.argv[4]), folder.with_name("warm-" + what)) as warm:
    warm.seed([url(0)]); warm.take(); warm.fetched(url(0), [url(j) for j in range(1, 200)])
before, begun = status("RssAnon"), time.perf_counter()
if what == "crawl":
    crawl = Crawl(parse(sys.argv[4]), folder, group=1000)
    crawl.seed([url(0)])
    n = 1
    while crawl.inspect.known < pages:
        taken = crawl.take(10)
        with crawl.together():
            for page in taken:
                crawl.fetched(page, [url(n + j) for j in range(100)])
                n += 100
else:
    crawl = Crawl.recover(folder)
seconds = time.perf_counter() - begun
held, peak = status("RssAnon") - before, status("VmHWM")
begun = time.perf_counter()
if what == "crawl":
    crawl.sync()
    best = crawl.inspect.next(5)
    crawl.close()
else:
    best = crawl.inspect.next(5)
told = {"seconds": seconds, "bytes": held / crawl.inspect.known, "peak": peak, "known": crawl.inspect.known}
print(json.dumps({**told, "best": list(map(str, best))}))
crawl.abandon() if what != "crawl" else None
"""
RANKS = "www.h1.example 5\nexample 1\n"
ORDERINGS = (
    *("bfs", "dfs", "random", "backlink", "forward", "location", "similarity:topic=article", "largest-site", "opic", "fica"),
    *("fpr", "fpr:m=100", "rankmass", "surf", "domains", "quality", "group", "prior:file={ranks}"),
    "combine:opic=1,backlink=1",
)
MAX_BYTES_A_LINK = {
    "from_edges": 8.0,
    "tidy": 2.0,
    "edge list": 22.0,
}  # bytes a link; from_edges and tidy are given 8 and 4 of them


def reading(folder: Path, pages: int = 1_000_000, links: int = 20_000_000) -> list[Result]:
    path = folder / "edges.txt"
    write = "import sys, numpy as np; p, n = int(sys.argv[2]), int(sys.argv[3])\n"
    write += "np.savetxt(sys.argv[1], np.random.default_rng(1).integers(0, p, (n, 2)), '%d')"
    subprocess.run([sys.executable, "-c", write, str(path), str(pages), str(links)], check=True)
    rows, results = [], []
    for what, most in MAX_BYTES_A_LINK.items():
        given = [sys.executable, "-c", PEAK, what, str(pages), str(links), str(path)]
        peak = float(subprocess.run(given, check=True, capture_output=True, text=True).stdout)
        rows.append([what, f"{peak:.1f}", f"{most:.0f}"])
        results.append(Result(f"{what}: memory at the peak", peak, most, "bytes a link", most=True))
    table(f"Memory while a web of {links:,} links is read", ["", "bytes a link", "at most"], rows)
    return results


def waiting(folder: Path, urls: int = 1_000_000) -> list[Result]:
    """Every online ordering that a live crawl can have; the oracle is for simulations."""
    ranks = folder / "ranks.txt"
    ranks.write_text(RANKS)
    rows, results = [], []
    for i, spec in enumerate(ORDERINGS):
        given = [sys.executable, "-c", WAITING, str(folder / f"crawl-{i}"), str(urls), spec.format(ranks=ranks)]
        held = float(subprocess.run(given, check=True, capture_output=True, text=True).stdout)
        for made in folder.glob(f"*crawl-{i}"):
            shutil.rmtree(made)
        name = spec.partition(":file")[0]
        rows.append([name, f"{held:.0f}"])
        print(f"{name}: {held:.0f}", file=sys.stderr)
        results.append(Result(f"{name}: memory a waiting URL, {urls:,} of them", held, 100, "bytes", most=True))
    table(f"Memory a waiting URL, {urls:,} of them", ["ordering", "bytes"], rows)
    return results


def known(folder: Path, pages: int = 10_000_000, spec: str = "fpr") -> list[Result]:
    """One crawl that knows so many pages, closed and opened again."""
    crawled, recovered = (figures(KNOWN, what, folder / "known", pages, spec) for what in ("crawl", "recover"))
    rows = [
        [name, f"{it['known']:,}", f"{it['seconds']:,.0f}", f"{it['bytes']:.0f}", f"{it['peak'] / 1e9:.2f}"]
        for name, it in (("crawled", crawled), ("opened again", recovered))
    ]
    table(f"{pages:,} known pages, {spec}", ["", "known", "s", "bytes a page", "GB at the peak"], rows)
    same = crawled["known"] == recovered["known"] and crawled["best"] == recovered["best"]
    return [
        Result(f"{spec}: memory a known page, {pages:,} of them", crawled["bytes"], 100, "bytes", most=True),
        Result(f"{spec}: opened again, it knows the same pages and takes the same next", float(same), 1, ""),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("--waiting", type=int, metavar="URLS", help="how many URLs wait in a live crawl")
    parser.add_argument("--known", type=int, metavar="PAGES", help="how many pages a live crawl is to know")
    parser.add_argument("--dir", help="where the files go: 150 bytes a page")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-", dir=parsed.dir) as made:
        if parsed.known:
            verdict(known(Path(made), parsed.known))
        elif parsed.waiting:
            verdict(waiting(Path(made), parsed.waiting))
        else:
            verdict(reading(Path(made), 200_000, 4_000_000))
