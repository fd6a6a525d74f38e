"""make bench-service: how many URLs a second the service takes in and hands out, beside URLFrontier's own in the same run.

    python -m benchmarks.service                                   ours alone, 100,000 URLs in 1,000 queues: a minute
    python -m benchmarks.service --peer localhost:7071             beside a service of the same protocol that runs there, empty
    python -m benchmarks.service --urls 1000000 --queues 10000 --minutes 5 --peer localhost:7071

Both get the same messages from the same Python clients, in turns, so that a busy machine is busy for both. Ours is started
here: durable, ordered by surf. A peer's memory is told if its process is one of this machine's (``--peer-pid``).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from benchmarks.show import Result, table, verdict
from frontrank.service import wire

BATCH, TURNS = 100, 5
PER_QUEUE, QUEUES_AT_ONCE = 10, 100
PATH = "/urlfrontier.URLFrontier/"
P99_MS = 50.0


class Side:
    """One service, and the calls that are measured."""

    def __init__(self, name: str, address: str, pid: int = 0) -> None:
        self.name, self.address, self.pid = name, address, pid
        channel = grpc.insecure_channel(address)
        self.put_discovered = channel.stream_stream(PATH + "PutDiscovered")
        self.put_urls = channel.stream_stream(PATH + "PutURLs")
        self.get_urls = channel.unary_stream(PATH + "GetURLs", wire.GetParams.SerializeToString, wire.URLInfo.FromString)
        self.set_delay = channel.unary_unary(PATH + "SetDelay", wire.QueueDelayParams.SerializeToString)
        self.delete_crawl = channel.unary_unary(PATH + "DeleteCrawl", wire.DeleteCrawlMessage.SerializeToString)
        self.set_delay(wire.QueueDelayParams(delay_requestable=0))

    def put(self, batches: list[bytes]) -> float:
        """URLs a second."""
        begun = time.perf_counter()
        answers = sum(1 for _ in self.put_discovered(iter(batches)))
        assert answers == len(batches)
        return answers * BATCH / (time.perf_counter() - begun)

    def get(self, urls: int, crawl: str, per_queue: int = PER_QUEUE) -> tuple[float, int]:
        """URLs a second, and how many there were. Of a queue of which ``per_queue`` are out, none more are given."""
        asked = wire.GetParams(max_urls_per_queue=per_queue, max_queues=QUEUES_AT_ONCE, delay_requestable=3600, crawlID=crawl)
        begun, got = time.perf_counter(), 0
        while got < urls and (some := sum(1 for _ in self.get_urls(asked))):
            got += some
        return got / (time.perf_counter() - begun), got

    def waits(self, seconds: float, crawl: str) -> list[float]:
        """How long each of many small calls took, in milliseconds."""
        asked, took = wire.GetParams(max_urls_per_queue=1, max_queues=10, delay_requestable=1, crawlID=crawl), []
        end = time.perf_counter() + seconds
        while (begun := time.perf_counter()) < end:
            for _ in self.get_urls(asked):
                pass
            took.append(1000 * (time.perf_counter() - begun))
        return took

    def memory_mb(self) -> float:
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * 4096 / 2**20
        except (OSError, IndexError):
            return float("nan")


def url(n: int, queues: int) -> tuple[str, str]:
    host = f"www.h{n % queues}.example"
    return f"http://{host}/section-{n % 97}/an-article-about-something/{n}.html", host


def made(first: int, count: int, queues: int, crawl: str, linked: bool = False) -> list[bytes]:
    """Batches of discovered URLs; linked: all of a batch were found on one page, as a fetcher tells."""
    batches = []
    for start in range(first, first + count, BATCH):
        parent = {"parent": wire.StringList(values=[url(start // BATCH, queues)[0]])} if linked else {}
        found = [url(n, queues) for n in range(start, start + BATCH)]
        items = [wire.URLInfo(url=one, key=key, crawlID=crawl, metadata=parent) for one, key in found]
        batches.append(wire.DiscoveredBatch(ID=str(start), items=items).SerializeToString())
    return batches


@contextmanager
def ours(folder: str) -> Iterator[Side]:
    command = [
        sys.executable,
        "-m",
        "frontrank",
        "serve",
        f"{folder}/served",
        "--port",
        "0",
        "--no-http",
        "--json",
        "--delay",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield Side("ours", json.loads(server.stdout.readline())["grpc"], server.pid)
        finally:
            server.terminate()


def throughput(sides: list[Side], urls: int, queues: int, linked: bool) -> dict[str, dict[str, float]]:
    """Puts in turns, then gets in turns."""
    crawl, each = "linked" if linked else "plain", urls // TURNS
    rates: dict[str, dict[str, list[float]]] = {side.name: {"put": [], "get": []} for side in sides}
    for turn in range(TURNS):
        batches = made(turn * each, each, queues, crawl, linked)
        for side in sides:
            rates[side.name]["put"].append(side.put(batches))
    for turn in range(TURNS):
        for side in sides:
            rate, got = side.get(min(each // 2, PER_QUEUE * queues), crawl, PER_QUEUE * (turn + 1))
            assert got, f"{side.name} has nothing to give"
            rates[side.name]["get"].append(rate)
    return {name: {what: harmonic(found) for what, found in both.items()} for name, both in rates.items()}


def harmonic(rates: list[float]) -> float:
    """The rate of equal pieces of work together."""
    return len(rates) / sum(1 / rate for rate in rates)


def putting(address: str, queues: int, ends: Any) -> None:
    """A client of its own that puts until it is told to end."""
    side, first = Side("", address), 10**8
    while not ends.is_set():
        side.put(made(first, 2_000, queues, "busy"))
        first += 2_000


def latency(side: Side, queues: int, seconds: float) -> list[float]:
    """Waits for GetURLs while another client puts."""
    ends = multiprocessing.get_context("spawn").Event()
    other = multiprocessing.get_context("spawn").Process(target=putting, args=(side.address, queues, ends))
    side.put(made(0, 20_000, queues, "busy"))
    other.start()
    try:
        return sorted(side.waits(seconds, "busy"))
    finally:
        ends.set()
        other.join()


def steady(side: Side, queues: int, minutes: float) -> list[list[str]]:
    """URLs go in, come out, and are done with: what the service takes of the memory, minute by minute."""
    rows, begun, first, done = [], time.perf_counter(), 0, 0
    told = begun
    while (now := time.perf_counter()) < begun + 60 * minutes:
        side.put(made(first, 1_000, queues, "steady"))
        first += 1_000
        asked = wire.GetParams(max_urls_per_queue=PER_QUEUE, max_queues=QUEUES_AT_ONCE, delay_requestable=60, crawlID="steady")
        items = [wire.URLItem(known=wire.KnownURLItem(info=info), ID="x").SerializeToString() for info in side.get_urls(asked)]
        done += sum(1 for _ in side.put_urls(iter(items)))
        if now - told > 30:
            told = now
            rows.append([f"{(now - begun) / 60:.1f} min", f"{first:,}", f"{done:,}", f"{side.memory_mb():,.0f} MB"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service")
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--queues", type=int, default=1_000)
    parser.add_argument("--peer", default="", metavar="HOST:PORT")
    parser.add_argument("--peer-pid", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0, help="of the latency's measurement")
    parser.add_argument("--minutes", type=float, default=0.0, help="of steady work, to watch the memory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontrank-bench-") as folder, ours(folder) as side:
        sides = [side, *([Side("peer", given.peer, given.peer_pid)] if given.peer else [])]
        results, begun = [], {one.name: one.memory_mb() for one in sides}
        side.put(made(0, 1_000, 100, "warm"))
        side.get(100, "warm")
        for linked in (False, True):
            found = throughput(sides, given.urls, given.queues, linked)
            rows = [[name, *(f"{rate:,.0f}" for rate in both.values())] for name, both in found.items()]
            title = "of which a batch has one parent" if linked else "without parents"
            table(
                f"{given.urls:,} URLs in {given.queues:,} queues, {title}: URLs a second",
                ["", "PutDiscovered", "GetURLs"],
                rows,
            )
            if given.peer:
                for what, name in (("put", "PutDiscovered"), ("get", "GetURLs")):
                    ratio = found["ours"][what] / found["peer"][what]
                    results.append(Result(f"{name}, {title}, against the peer", ratio, 1.0, "x"))
        rows = []
        for one in sides:
            waits = latency(one, given.queues, given.seconds)
            p50, p99 = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
            rows.append([one.name, f"{len(waits):,}", f"{p50:.1f}", f"{p99:.1f}", f"{waits[-1]:.1f}"])
            if one is side:
                results.append(Result("p99 of GetURLs while puts go on", p99, P99_MS, "ms", most=True))
        table("GetURLs while puts go on: milliseconds", ["", "calls", "median", "p99", "longest"], rows)
        rows = [[one.name, f"{begun[one.name]:,.0f} MB", f"{one.memory_mb():,.0f} MB"] for one in sides]
        table("Memory", ["", "at the start", "at the end"], rows)
        if given.minutes:
            rows = steady(side, given.queues, given.minutes)
            table("Memory of ours over time", ["after", "URLs put", "URLs done with", "memory"], rows)
        verdict(results)


if __name__ == "__main__":
    main()
