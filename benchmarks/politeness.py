"""What do requests in flight and delays cost an ordering? ``python -m benchmarks.politeness [WEB]``. About a minute.

A tenth of a web is fetched with a clock: requests take 0.2 s, some are in flight at once, and hosts are asked once in so many
seconds. Shown: the share of the best tenth among the pages fetched, and pages a second of the clock.
"""

from __future__ import annotations

import sys

from benchmarks.show import table
from frontrank.frontiers.politeness import Politeness
from frontrank.lab.measures import hot
from frontrank.orderings.registry import parse
from frontrank.simulation.simulate import simulate
from frontrank.sources import load
from frontrank.web.seeds import find_seeds

WEB = "synthetic:pages=100000,hosts=2000,links=20,text=0,seed=7"
ORDERINGS = ("bfs", "backlink", "domains", "opic", "rankmass", "fpr", "fpr:m=100", "surf")
PACES = (
    Politeness(in_flight=1),
    Politeness(in_flight=16),
    Politeness(in_flight=256),
    Politeness(in_flight=16, delay_s=1.0),
    Politeness(in_flight=16, delay_s=10.0),
    Politeness(in_flight=256, delay_s=1.0),
    Politeness(in_flight=256, delay_s=10.0),
)


def politeness(path: str = WEB, share: float = 0.1) -> None:
    web = load(path)
    seeds = find_seeds(web)
    rows = []
    for pace in PACES:
        cells = [str(pace.in_flight), f"{pace.delay_s:g} s"]
        speed = 0.0
        for spec in ORDERINGS:
            trace = simulate(web, parse(spec), seeds, share, politeness=pace, latency_s=0.2).trace
            cells.append(f"{100 * (hot(trace, web, (share,))[share] or 0.0):.1f}%")
            assert trace.times is not None
            speed = max(speed, trace.fetched / trace.times[-1])
        rows.append([*cells, f"{speed:.0f}"])
    table(f"{web.name}: hot@{share:.0%} at several paces", ["in flight", "host delay", *ORDERINGS, "pages/s"], rows)


if __name__ == "__main__":
    politeness(*sys.argv[1:2])
