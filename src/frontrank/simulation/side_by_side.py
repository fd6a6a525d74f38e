"""Several orderings on one web at once: a thread for each, so many at a time.

Kernels run without the interpreter's lock, so threads use all cores, and the web is in memory once. Each crawl has a state of
its own: what it fetches is what it fetches alone. States are made one at a time, so what is computed once for a web, such as
its PageRank, is computed once here too.

The caller waits, and can be interrupted at any moment. The threads then end after their current step; a process that ends
does not wait for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from frontrank.kernels.jit import Array
from frontrank.simulation.plan import Plan
from frontrank.simulation.simulate import Run, simulate
from frontrank.web.web import Web

Progress = Callable[[str, int, int], None]  # who is at work, pages fetched, of so many


class _Ended(Exception):
    """Nobody waits for this crawl any more."""


def simulate_all(web: Web, plan: Plan, seeds: Array, progress: Progress | None = None, jobs: int = 1) -> list[Run]:
    """Crawl the web with each ordering of a plan, ``jobs`` at a time. The runs are in the plan's order."""
    reports: SimpleQueue[tuple[int, int | Run | BaseException]] = (
        SimpleQueue()
    )  # who, and how far: in the end a run, or an error
    over = threading.Event()
    end = plan.stop.pages(web.pages)
    waiting = list(range(len(plan.orderings)))
    fetched: dict[int, int] = {}
    runs: dict[int, Run] = {}

    def begin() -> None:
        if waiting:
            at = waiting.pop(0)
            fetched[at] = 0
            threading.Thread(target=_crawl, args=(at, web, plan, seeds, reports, over), daemon=True).start()

    try:
        for _ in range(jobs):
            begin()
        while len(runs) < len(plan.orderings):
            if progress is not None:
                at_work = ", ".join(plan.orderings[at].spec for at in fetched if at not in runs)
                progress(at_work, sum(fetched.values()), end * len(plan.orderings))
            at, report = reports.get()
            if isinstance(report, BaseException):
                raise report
            fetched[at] = report if isinstance(report, int) else end
            if isinstance(report, Run):
                runs[at] = report
                begin()
    finally:
        over.set()
    return [runs[at] for at in range(len(plan.orderings))]


def _crawl(at: int, web: Web, plan: Plan, seeds: Array, reports: SimpleQueue[Any], over: threading.Event) -> None:
    """One ordering, in a thread of its own."""

    def tell(fetched: int, _: int) -> None:
        if over.is_set():
            raise _Ended
        reports.put((at, fetched))

    spec, policy = plan.orderings[at]
    try:
        run = simulate(web, policy, seeds, plan.stop, tell, politeness=plan.politeness, latency_s=plan.latency_s)
        reports.put((at, replace(run, given=spec)))
    except BaseException as error:  # raised again where somebody waits
        reports.put((at, error))
