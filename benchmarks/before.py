"""Two source trees beside each other: what live events, memory, recovery and simulation cost in this one and in another.

    git worktree add ../before v0.1.0
    python -m benchmarks.before ../before           --quick: a fifth of the size, for a look

Each figure is the least of several runs, the trees by turns, each run in a process of its own: seconds of the processor, so
that whatever else the machine does counts for little. Only names are used that ``import frontrank`` has had from the first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.show import table

HERE = Path(__file__).parents[1]
URL = """
import gc, json, os, shutil, sys, time
from pathlib import Path
import frontrank as fr
try:
    from frontrank.kernels.jit import compile_at_once
except ImportError:
    pass  # an earlier tree, which interprets no kernel
else:
    compile_at_once()
def url(n): return f"http://www.h{n % 20011}.example/section-{n % 97}/an-article-about-something/{n}.html"
def crawl(folder, spec="fpr", group=1): return fr.Crawl(fr.parse(spec), folder, group=group)
folder, size = Path(sys.argv[1]), int(sys.argv[2])
warmed = folder / f"warm-{os.getpid()}"
warm = crawl(warmed)
warm.seed([url(0)])
for n in range(30):  # kernels are compiled or loaded, and arrays have grown once
    for page in warm.take(1):
        warm.fetched(page, [url(21 * n + j + 1) for j in range(20)])
cpu = time.process_time
"""
EVENTS = """
made = [[url(21 * n + j + 1) for j in range(20)] for n in range(size)]
live = crawl(folder / "crawl")
live.seed([url(0)])
takes = fetches = 0.0
for n in range(size):
    begun = cpu()
    (page,) = live.take()
    between = cpu()
    live.fetched(page, made[n])
    takes, fetches = takes + between - begun, fetches + cpu() - between
print(json.dumps({"take": takes / size, "fetched": fetches / size}))
"""
MEMORY = """
def held(): return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("RssAnon"))
gc.collect()
before = held()
live = crawl(folder / "crawl", group=100)
live.seed([url(0)])
n = 1
while getattr(live, "inspect", live).waiting < 20 * size:
    (page,) = live.take()
    live.fetched(page, [url(n + j) for j in range(100)])
    n += 100
gc.collect()
print(json.dumps({"memory": (held() - before) / getattr(live, "inspect", live).waiting}))
"""
CRAWLED = """
live = crawl(folder / "crawl", group=1000)
live.seed([url(0)])
todo, known = [], 1
for n in range(3 * size):
    todo = todo or live.take(100)[::-1]
    live.fetched(todo.pop(), [url(known), url(known + 1)] + [url(n * 7 % known + j) for j in range(18)])
    known += 2
live.sync()
print("{}", flush=True)
os._exit(0)
"""
RECOVERED = """
warm.close()
for where in (warmed, folder / "crawl"):
    shutil.rmtree(where / "snapshots", ignore_errors=True)
fr.Crawl.recover(warmed).close()
begun = cpu()
live = fr.Crawl.recover(folder / "crawl")
(page,) = live.take()
print(json.dumps({"recovery": cpu() - begun}), flush=True)
os._exit(0)
"""
SIMULATED = """
web = fr.load(f"synthetic:pages={20 * size},links=20,text=0,seed=7")
small = fr.load("synthetic:pages=500,links=5,text=0,seed=7")
took = {}
for spec in ("fpr", "opic"):
    fr.order(small, spec)
    begun = cpu()
    fr.order(web, spec)
    took[spec] = cpu() - begun
print(json.dumps(took))
"""


class Figure(NamedTuple):
    name: str
    what: str
    unit: str
    scale: float


FIGURES = (
    Figure("fetched", "a fetched page with 20 new links, durable", "µs", 1e6),
    Figure("take", "a take", "µs", 1e6),
    Figure("memory", "memory a waiting URL", "bytes", 1.0),
    Figure("recovery", "recovery from the journal alone", "s", 1.0),
    Figure("fpr", "simulation of fpr", "s", 1.0),
    Figure("opic", "simulation of opic", "s", 1.0),
)


def measured(tree: Path, code: str, folder: Path, size: int) -> dict[str, Any]:
    """What a program prints that runs with the packages of this Python and the source of a tree."""
    env = {**os.environ, "PYTHONPATH": str(tree.absolute() / "src")}
    command = [sys.executable, "-c", URL + code, str(folder), str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env, cwd=folder)
    return dict(json.loads(done.stdout))


def one_turn(tree: Path, size: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for programs in ((EVENTS,), (MEMORY,), (CRAWLED, RECOVERED), (SIMULATED,)):
        with tempfile.TemporaryDirectory(prefix="frontrank-before-") as folder:
            for code in programs:
                found |= measured(tree, code, Path(folder), size)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before", description=__doc__)
    parser.add_argument("tree", type=Path, help="the root of another checkout")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    if not (given.tree / "src" / "frontrank").is_dir():
        parser.error(f"{given.tree} must be the root of a checkout, but there is no src/frontrank in it")
    size = 2_000 if given.quick else 10_000
    runs: dict[Path, list[dict[str, float]]] = {given.tree: [], HERE: []}
    for tree in runs:
        one_turn(tree, 200)  # compiles
    for _ in range(given.turns):
        for tree, found in runs.items():
            found.append(one_turn(tree, size))
    rows = []
    for name, what, unit, scale in FIGURES:
        before, after = (scale * min(found[name] for found in runs[tree]) for tree in (given.tree, HERE))
        rows.append([what, f"{before:,.3g} {unit}", f"{after:,.3g} {unit}", f"{after / before:.2f}"])
    table(f"Before ({given.tree}) and after", ["what", "before", "after", "after / before"], rows)


if __name__ == "__main__":
    main()
