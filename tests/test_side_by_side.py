"""Several orderings at a time fetch what each of them fetches alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from frontrank import compare
from frontrank.errors import InputError
from frontrank.orderings.online.surf import Surf
from frontrank.orderings.policy import Policy, State
from frontrank.simulation.layout import together
from frontrank.sources.synthetic import synthetic
from frontrank.system.capacity import free_memory
from frontrank.web.web import Web
from tests.patience import PATIENCE_S

ORDERINGS = ["bfs", "fpr", "opic", "backlink", "fica", "surf", "rankmass", "pagerank:every=100", "oracle"]


@pytest.fixture(scope="module")
def web() -> Web:
    return synthetic("pages=2000,links=8,hosts=20,seed=3")


def test_the_runs_are_those_of_one_at_a_time(web: Web) -> None:
    alone, together = (compare(web, ORDERINGS, "random:20@1", jobs=jobs) for jobs in (1, 4))
    assert [run.spec for run in together] == ORDERINGS
    for one, other in zip(alone, together, strict=True):
        assert one.trace.order.tolist() == other.trace.order.tolist(), one.spec
        assert one.trace.gauges == other.trace.gauges
        one_ranking, other_ranking = (None if run.ranking is None else run.ranking.tolist() for run in (one, other))
        assert one_ranking == other_ranking


def test_progress_counts_the_pages_of_all_and_never_goes_back(web: Web) -> None:
    told: list[tuple[str, int, int]] = []
    compare(web, ["bfs", "fpr", "opic"], "random:20@1", progress=lambda *said: told.append(said), jobs=2)
    assert {total for _, _, total in told} == {3 * web.pages}
    fetched = [done for _, done, _ in told]
    assert fetched == sorted(fetched)
    assert told[0][:2] == ("bfs, fpr", 0)


@dataclass(frozen=True)
class Broken(Policy):
    name = "broken"

    def gauges(self, state: State) -> dict[str, float]:
        raise RuntimeError("the third ordering is broken")


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_of_one_ends_all_and_is_told(web: Web, jobs: int) -> None:
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="the third ordering is broken"):
        compare(web, ["fpr", "surf", Broken()], "random:20@1", jobs=jobs)
    for thread in threading.enumerate()[before:]:
        thread.join(60)
    assert threading.active_count() <= before


def test_jobs_below_one_are_refused(web: Web) -> None:
    with pytest.raises(InputError, match="jobs must be at least 1, got 0"):
        compare(web, "bfs", jobs=0)


def test_columns_that_a_link_touches_lie_in_one_cache_line(web: Web) -> None:
    policy = Surf()
    apart = policy.allocate(web.pages, 20)
    policy.see_web(apart, web)
    beside = together(policy, apart)
    for name in apart._fields:
        assert np.array_equal(getattr(beside, name), getattr(apart, name)), name
    columns = [getattr(beside, name) for name in policy.per_link]
    lines = [{(column.ctypes.data + column.strides[0] * page) // 64 for column in columns} for page in range(web.pages)]
    assert {len(line) for line in lines} == {1}


INTERRUPTED = """
import sys
from dataclasses import dataclass
from frontrank import compare
from frontrank.kernels.jit import lean
from frontrank.orderings.policy import Policy
from frontrank.sources.synthetic import synthetic

@lean
def never_ends(state, links, page, out):
    steps = 0
    while state.fetched[page] == 1:
        steps += 1
    return steps

@dataclass(frozen=True)
class Endless(Policy):
    name = "endless"
    on_fetch = staticmethod(never_ends)

def told(text, done, total):
    if text == "endless":
        print("at work", flush=True)

try:
    compare(synthetic("pages=100,seed=1"), ["bfs", Endless()], progress=told, jobs=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_process_whose_kernels_are_at_work() -> None:
    """Even where a kernel does not come back by itself."""
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, env={**os.environ})
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"  # bfs is done
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE_S)
        assert rest.splitlines()[-1] == "interrupted"
        assert process.returncode == 0
    finally:
        process.kill()


@dataclass(frozen=True)
class Large(Policy):
    of_memory: float = 2.0  # of the memory that is free
    name = "large"

    def bytes_for(self, pages: int, links: int) -> int:
        free = free_memory()
        assert free is not None
        return int(self.of_memory * free)


def test_what_does_not_fit_is_refused_before_the_work_with_what_does(web: Web) -> None:
    told: list[str] = []
    with pytest.raises(InputError, match=r"2,000 pages of .* takes large .* GB of memory, and .*; these do: bfs, fpr"):
        compare(web, ["bfs", Large(), "fpr"], progress=lambda *said: told.append(said[0]))
    with pytest.raises(
        InputError,
        match=r"takes large .* GB of memory, and .* are free; free some memory, or take a web of [\d,]+ pages",
    ):
        compare(web, Large())
    assert told == []


def test_more_at_a_time_than_fit_are_refused_with_how_many_would(web: Web) -> None:
    with pytest.raises(InputError, match=r"3 crawls at a time take .* GB of memory, and .* GB are free; give --jobs 1"):
        compare(web, [Large(0.6), Large(0.55), "bfs"], jobs=3)
    assert len(compare(web, [Large(0.6), Large(0.55), "bfs"], budget=10)) == 3
