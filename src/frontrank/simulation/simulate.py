"""simulate: crawl a known web with an ordering, and keep what happened."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np

from frontrank.errors import InputError
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.simulation.clock import ClockedDriver
from frontrank.simulation.graph_driver import GraphDriver
from frontrank.simulation.plan import Budget, Stop
from frontrank.simulation.trace import Trace
from frontrank.web.seeds import distinct
from frontrank.web.web import Web

STEPS = 100  # how often progress and gauges are looked at in a run
Progress = Callable[[int, int], None]
_making = threading.RLock()  # what is computed once for a web is computed by one thread


@dataclass(frozen=True, eq=False)
class Run:
    """One simulated crawl: the ordering, its trace, the ranking it leaves behind, and the time it took to decide."""

    policy: Policy
    trace: Trace
    ranking: Array | None
    seconds: float
    given: str = ""  # the specification as a person wrote it
    crawled: bool = False  # over HTTP: seconds are those of the whole crawl, and say nothing about deciding
    processor_s: float = 0.0  # of the process while this one decided; with others beside it, theirs too

    @property
    def spec(self) -> str:
        return f"{self.given or self.policy.spec()}{' (crawled)' if self.crawled else ''}"


def simulate(
    web: Web,
    policy: Policy,
    seeds: Array,
    budget: Budget | Stop = None,
    progress: Progress | None = None,
    jit: bool = True,
    *,
    steps: int = STEPS,
    politeness: Politeness | None = None,
    latency_s: float = 1.0,
) -> Run:
    """Crawl the web from the seeds until the budget is spent, nothing waits, or the ordering's stopping rule holds.

    ``jit=False`` interprets the kernels: slow, and the oracle of the compiled run. The order does not depend on steps.
    ``politeness`` gives the crawl a clock: requests in flight that take ``latency_s`` each, delays and budgets of hosts.
    """
    if len(seeds) == 0:
        raise InputError("there must be at least one seed to start from, got none")
    seeds = distinct(seeds)
    stop = budget if isinstance(budget, Stop) else Stop(budget)
    policy = stop.given_to(policy)
    end = stop.pages(web.pages)
    order = np.empty(end, np.int32)
    gauges: dict[str, list[tuple[int, float]]] = {}
    with _making:
        engine = GraphDriver(policy, web, jit) if politeness is None else ClockedDriver(policy, web, politeness, latency_s, jit)
        if jit:
            engine.warm(order)  # compile or load kernels before the clock starts
    begun, worked = perf_counter(), process_time()
    engine.seed(seeds)
    k, ended = _crawl(engine, order, gauges, progress, steps)
    seconds, processor_s = perf_counter() - begun, process_time() - worked
    times = engine.times[:k] if isinstance(engine, ClockedDriver) else None
    trace = Trace(seeds, order[:k].copy() if k < end else order, ended, gauges, times)
    return Run(policy, trace, policy.ranking(engine.state), seconds, processor_s=processor_s)


def _crawl(
    engine: GraphDriver, order: Array, gauges: dict[str, list[tuple[int, float]]], progress: Progress | None, steps: int
) -> tuple[int, str]:
    """Fill the order, with a look at the gauges at each step; returns how many pages were fetched, and how it ended."""
    k, end = 0, len(order)
    for step in range(1, steps + 1):
        target = end * step // steps
        reached = engine.run(order, k, target)
        short = reached < target
        k = reached
        for name, value in engine.policy.gauges(engine.state).items():
            gauges.setdefault(name, []).append((k, value))
        if progress is not None:
            progress(k, end)
        if engine.done():
            return k, "stopping rule"
        if short:
            return k, "frontier empty"
    return k, "budget"
