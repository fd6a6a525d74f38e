"""One seed, one run."""

from __future__ import annotations

import contextlib
import io
import time
import traceback
from typing import Any

import frontrank.fetching.crawler.source  # noqa: F401  it is imported late, and threads are replaced where they are used
from tests.faults import clock as clocks
from tests.faults import simulation
from tests.faults.crawling import Crawling
from tests.faults.serving import Serving
from tests.faults.simulation import Simulation

SERVED = 4  # one seed in so many is a service


def set_up() -> None:
    simulation.install()


def run_seed(seed: int, show: bool = False) -> dict[str, Any]:
    sim = Simulation(seed, show)
    begun = time.process_time()
    wrong = []
    try:
        sim.close()
        scenario = Serving if seed % SERVED == SERVED - 1 else Crawling
        with contextlib.redirect_stderr(io.StringIO()) as said:
            scenario(sim).run()
        if "Traceback" in said.getvalue():
            sim.fail("defects", said.getvalue()[-2_000:])
    except Exception as error:  # whatever it is: nothing may end a run
        wrong = [f"{type(error).__name__}: {error}", *traceback.format_exception(error)]
    finally:
        sim.close()
        clocks.use(None)
    violations = [str(one) for one in sim.violations] + wrong[:1]
    return {
        "seed": seed,
        "digest": sim.digest.hexdigest(),
        "lives": sim.lives,
        "simulated_s": round(sim.clock.now, 1),
        "cpu_s": round(time.process_time() - begun, 3),
        "violations": violations,
        "last": [*sim.last, *wrong[1:]],
    }
