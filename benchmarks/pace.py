"""What does a pace give back of what politeness costs? ``python -m benchmarks.pace [WEB IN_FLIGHT]``. A minute.

A tenth of each web is fetched by surf, one request per host and second, answers after 0.2 s: as fast as it may (greedy), with
twice and ten times that time (``within``), and at the pace ``half``. *Back* is the share of what greedy loses against the same
ordering without a clock that the paced crawl has back, of hot pages and of mass; "-" where greedy loses less than .02.
*time* is that of greedy, or a multiple of it; *of wish* the time taken, as a share of the time given.
"""

from __future__ import annotations

import sys
from time import process_time

from benchmarks.show import table
from frontrank.frontiers.pace import pace_within
from frontrank.frontiers.politeness import Politeness
from frontrank.lab.measures import hot, mass
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.simulation.trace import Trace
from frontrank.sources import load
from frontrank.web.seeds import find_seeds
from frontrank.web.web import Web

SYNTHETIC = "synthetic:pages=100000,hosts={hosts},seed={seed},text=0"
WEBS = [(SYNTHETIC.format(hosts=hosts, seed=seed), 256) for hosts in (2000, 200) for seed in (7, 12, 13)]
SHARE, LATENCY_S, DELAY_S = 0.1, 0.2, 1.0
LOST = 0.02  # less than this is not worth having back
HEADS = ["pace", "hot", "mass", "back: hot", "mass", "time", "of wish", "CPU s"]


def pace(path: str, in_flight: int) -> None:
    web = load(path)
    seeds = find_seeds(web)
    pages = max(1, round(SHARE * web.pages))

    def crawled(pace: str) -> tuple[Trace, float]:
        polite = Politeness(delay_s=DELAY_S, in_flight=in_flight, pace=pace) if pace else None
        simulate(web, parse("surf"), seeds, 1, politeness=polite, latency_s=LATENCY_S)  # compiled
        begun = process_time()
        trace = simulate(web, parse("surf"), seeds, pages, politeness=polite, latency_s=LATENCY_S).trace
        return trace, process_time() - begun

    free = _found(crawled("")[0], web)
    trace, cpu_s = crawled("greedy")
    greedy, greedy_s = _found(trace, web), _seconds(trace)
    rows = [["no clock", *_shares(free), "", "", "", "", ""]]
    rows.append(["greedy", *_shares(greedy), "", "", f"{greedy_s:.1f} s", "", f"{cpu_s:.2f}"])
    for name, given in (("half", 0.0), ("within 2 x", 2.0), ("within 10 x", 10.0)):
        trace, cpu_s = crawled(pace_within(pages, given * greedy_s) if given else "half")
        found, times = _found(trace, web), _seconds(trace) / greedy_s
        wish = f"{times / given:.1%}" if given else ""
        rows.append([name, *_shares(found), *_back(free, greedy, found), f"{times:.2f} x", wish, f"{cpu_s:.2f}"])
    table(f"{web.name}, {in_flight} in flight: surf, {pages:,} pages", HEADS, rows)


def _found(trace: Trace, web: Web) -> tuple[float, float]:
    return hot(trace, web, (SHARE,))[SHARE] or 0.0, mass(trace, web, (SHARE,))[SHARE] or 0.0


def _seconds(trace: Trace) -> float:
    assert trace.times is not None
    return float(trace.times[-1])


def _shares(found: tuple[float, float]) -> list[str]:
    return [f"{value:.3f}" for value in found]


def _back(free: tuple[float, float], greedy: tuple[float, float], found: tuple[float, float]) -> list[str]:
    every = zip(free, greedy, found, strict=True)
    return [f"{(has - was) / (best - was):.0%}" if best - was >= LOST else "-" for best, was, has in every]


if __name__ == "__main__":
    for path, in_flight in [(sys.argv[1], int(sys.argv[2]))] if len(sys.argv) > 2 else WEBS:
        pace(path, in_flight)
