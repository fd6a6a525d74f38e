"""A crawl that is killed again and again: ``python -m tests.killed DIR KILLS SEED``. Prints what was found wrong, as JSON.

Children are forked from a process whose kernels are compiled, so that most of a child's life is crawling. A child tells
through a pipe what was acknowledged to it; the pipe outlives it.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frontrank.crawl.crawl import Crawl
from frontrank.crawl.events import Failed, Fetched, Taken
from frontrank.crawl.journal import FILE
from frontrank.frontiers.politeness import Politeness
from frontrank.orderings.policy import Policy
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources.synthetic import synthetic
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web
from tests.patience import PATIENCE_S

Tell = Callable[[str, str], None]
MANNERS = Politeness(retries=3, backoff_s=0.001)


def one_in_flight(crawl: Crawl, web: Web, number: dict[str, int], tell: Tell) -> None:
    while taken := crawl.take():
        tell("take", taken[0])
        crawl.fetched(taken[0], links_of(web, number[taken[0]]))
        tell("fetched", taken[0])


def many_in_flight(crawl: Crawl, web: Web, number: dict[str, int], tell: Tell) -> None:
    """Up to eight pages at once, settled in any order; some fail for now, some for good; snapshots in between."""
    draw = random.Random(time.time_ns())
    flying: list[str] = []
    while True:
        taken = crawl.take(draw.randint(1, 8 - len(flying)) if len(flying) < 8 else 0)
        for url in taken:
            tell("take", url)
        flying += taken
        if not flying and crawl.next_at() is None:
            return
        for _ in range(draw.randint(0, len(flying))):
            url = flying.pop(draw.randrange(len(flying)))
            chance = draw.random()
            if chance < 0.15:
                crawl.failed(url, "http 503", retry=True)
                tell("failed", url)
            else:
                crawl.fetched(url, links_of(web, number[url]))
                tell("fetched", url)
        if draw.random() < 0.02:
            crawl.snapshot()


def links_of(web: Web, page: int) -> list[str]:
    assert web.urls is not None
    return [web.urls[q] for q in web.targets_of(page).tolist()]


def crawl_in_child(folder: Path, policy: Policy, web: Web, number: dict[str, int], way: Callable[..., None]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    try:
        crawl = Crawl.recover(folder, policy, sync_s=60.0)
        way(crawl, web, number, lambda kind, url: os.write(writing, f"{kind} {url}\n".encode()) and None)
        os.write(writing, b"end .\n")
    finally:
        os._exit(0)


def lives(folder: Path, kills: int, seed: int, way: Callable[..., None], spec: str) -> dict[str, Any]:
    """Let a crawl live and die so many times, then end; returns what is wrong with what it left."""
    web = synthetic(f"pages={max(2000, 150 * kills)},links=6,text=0,seed=3")
    assert web.urls is not None
    number = {url: page for page, url in enumerate(web.urls)}
    policy = parse(spec)
    seeds = find_seeds(web)
    with Crawl(policy, folder, politeness=MANNERS, sync_s=60.0) as crawl:
        crawl.seed([web.urls[page] for page in seeds.tolist()])
    with Crawl.recover(folder, policy, sync_s=60.0, read_only=True):  # the kernels that children need are compiled now
        pass
    warm(policy, folder.with_name("warm"))
    draw = random.Random(seed)
    told: list[str] = []
    died = amid = 0
    while True:
        child, pipe = crawl_in_child(folder, policy, web, number, way)
        if died < kills:
            if draw.random() < 0.7:  # most die while they crawl, the others as they start
                select.select([pipe], [], [], PATIENCE_S)
            time.sleep(draw.uniform(0.0, 0.05))
            os.kill(child, signal.SIGKILL)
            died += 1
        heard = b""
        while piece := os.read(pipe, 1 << 16):
            heard += piece
        os.close(pipe)
        os.waitpid(child, 0)
        lines = heard.decode().splitlines()
        told += lines
        if lines and lines[-1] == "end .":
            break
        amid += bool(lines)
    wrong = faults(folder, told)
    if way is one_in_flight:
        expected = [web.urls[page] for page in simulate(web, policy, seeds).trace.order.tolist()]
        wrong += [] if fetched_order(folder) == expected else ["the order differs from that of the uninterrupted crawl"]
    return {"wrong": wrong, "deaths": died, "amid crawling": amid, "events": len(told)}


def warm(policy: Policy, folder: Path) -> None:
    with Crawl(policy, folder, politeness=MANNERS) as crawl:
        crawl.seed(["http://a/"])
        crawl.take()
        crawl.failed("http://a/", retry=True, retry_s=0.0)
        crawl.take()
        crawl.fetched("http://a/", ["http://b/"])
        crawl.take()
        crawl.next_at()
        crawl.snapshot()
    crawl = Crawl.recover(folder, policy)
    crawl.take()
    crawl.abandon()


def faults(folder: Path, told: list[str]) -> list[str]:
    """What the trace does not keep of what was acknowledged, and pages fetched twice without an expired lease."""
    db = sqlite3.connect(folder / FILE)
    rows = db.execute("SELECT kind, url FROM event JOIN url ON url.id = event.page ORDER BY seq").fetchall()
    db.close()
    wrong: list[str] = []
    state: dict[str, int] = {}
    settled: set[str] = set()
    taken: dict[str, int] = {}
    for kind, url in rows:
        if kind == Taken.kind:
            taken[url] = taken.get(url, 0) + 1
            if url in settled or state.get(url) == Taken.kind:
                wrong.append(f"{url} was taken while leased or settled")
        elif kind in (Fetched.kind, Failed.kind):
            if state.get(url) != Taken.kind:
                wrong.append(f"{url} was settled without a lease")
            settled.add(url)
        state[url] = kind
    for line in told:
        kind, url = line.split(" ")
        if kind == "fetched" and url not in settled:
            wrong.append(f"{url} was acknowledged as fetched and is lost")
        if kind == "take" and url not in taken:
            wrong.append(f"{url} was handed out without a lease in the trace")
    fetched = [line for line in told if line.startswith("fetched ")]
    wrong += [f"{line} twice" for line in set(fetched) if fetched.count(line) > 1] if len(set(fetched)) < len(fetched) else []
    return wrong


def fetched_order(folder: Path) -> list[str]:
    db = sqlite3.connect(folder / FILE)
    query = "SELECT url FROM event JOIN url ON url.id = event.page WHERE kind = ? ORDER BY seq"
    order = [url for (url,) in db.execute(query, (Fetched.kind,))]
    db.close()
    return order


if __name__ == "__main__":
    where, count, start = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    found = {
        "one": lives(where / "one" / "crawl", count, start, one_in_flight, "fpr"),
        "many": lives(where / "many" / "crawl", count, start + 1, many_in_flight, "opic"),
    }
    print(json.dumps(found))
