"""simulate: crawl a known web with an ordering, and keep what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from frontrank.errors import InputError, SpecError
from frontrank.frontiers.politeness import Politeness
from frontrank.kernels.jit import Array
from frontrank.orderings.online.rankmass import RankMass
from frontrank.orderings.policy import Policy
from frontrank.simulation.clock import ClockedEngine
from frontrank.simulation.engine import Engine
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web

STEPS = 100  # how often progress and gauges are looked at in a run
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Run:
    """One simulated crawl: the ordering, its trace, the ranking it leaves behind, and the time it took to decide."""

    policy: Policy
    trace: Trace
    ranking: Array | None
    seconds: float
    given: str = ""  # the specification as a person wrote it

    @property
    def spec(self) -> str:
        return self.given or self.policy.spec()


def pages_of(budget: float | int | str | None, pages: int) -> int:
    """How many pages a budget means: a whole number counts pages, a number with a point is a share of the web.

    >>> pages_of(0.3, 1000), pages_of("50", 1000), pages_of(None, 1000), pages_of(5000, 1000)
    (300, 50, 1000, 1000)
    """
    if budget is None:
        return pages
    if isinstance(budget, str):
        try:
            budget = int(budget) if budget.strip().isdigit() else float(budget)
        except ValueError:
            raise InputError(f"budget {budget!r} given, a number of pages or a share such as 0.3 expected") from None
    if isinstance(budget, int):
        if budget < 1:
            raise InputError(f"budget {budget} given, at least 1 page expected")
        return min(budget, pages)
    if not 0.0 < budget <= 1.0:
        if budget > 1.0 and float(budget).is_integer():
            return min(int(budget), pages)
        raise InputError(f"budget {budget} given, a share above 0 and up to 1, or a whole number of pages expected")
    return max(1, round(budget * pages))


def with_stop(policy: Policy, until: str | None) -> Policy:
    """The policy with a stopping rule such as ``coverage=0.9``, if its ordering offers one."""
    if until is None:
        return policy
    rule, _, value = until.partition("=")
    if rule != "coverage" or not isinstance(policy, RankMass):
        raise SpecError(f"{policy.spec()}: stopping rule {until!r} given; only rankmass has one, coverage=SHARE")
    try:
        return replace(policy, until=float(value))
    except ValueError:
        raise SpecError(f"stopping rule {until!r} given, coverage=SHARE with a number from 0 to 1 expected") from None


def simulate(
    web: Web,
    policy: Policy,
    seeds: Array,
    budget: float | int | str | None = None,
    progress: Progress | None = None,
    jit: bool = True,
    steps: int = STEPS,
    politeness: Politeness | None = None,
    latency_s: float = 1.0,
) -> Run:
    """Crawl the web from the seeds until the budget is spent, nothing waits, or the ordering's stopping rule holds.

    ``jit=False`` interprets the kernels: slow, and the oracle of the compiled run. The order does not depend on steps.
    ``politeness`` gives the crawl a clock: requests in flight that take ``latency_s`` each, delays and budgets of hosts.
    """
    if len(seeds) == 0:
        raise InputError("no seeds given, at least one page to start from expected")
    seeds = np.asarray(list(dict.fromkeys(np.asarray(seeds).tolist())), np.int32)
    engine = Engine(policy, web, jit) if politeness is None else ClockedEngine(policy, web, politeness, latency_s, jit)
    end = pages_of(budget, web.pages)
    order = np.empty(end, np.int32)
    gauges: dict[str, list[tuple[int, float]]] = {}
    if jit:
        engine.warm(order)  # compile or load kernels before the clock starts
    begun = perf_counter()
    engine.seed(seeds)
    k = 0
    ended = "budget"
    for step in range(1, steps + 1):
        target = end * step // steps
        reached = engine.run(order, k, target)
        short = reached < target
        k = reached
        for name, value in policy.gauges(engine.state).items():
            gauges.setdefault(name, []).append((k, value))
        if progress is not None:
            progress(k, end)
        if engine.done():
            ended = "stopping rule"
            break
        if short:
            ended = "frontier empty"
            break
    seconds = perf_counter() - begun
    times = engine.times[:k] if isinstance(engine, ClockedEngine) else None
    trace = Trace(seeds, order[:k].copy() if k < end else order, ended, gauges, times)
    return Run(policy, trace, policy.ranking(engine.state), seconds)
