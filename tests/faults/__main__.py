"""python -m tests.faults --seeds 1000 --from 0"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

from tests.faults import clock


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.faults", description="Crawls under faults, each from a seed.")
    asked.add_argument("--seeds", type=int, default=1000, help="how many")
    asked.add_argument("--from", type=int, default=0, dest="first", help="the first one")
    asked.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    asked.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    asked.add_argument("--digests", action="store_true", help="print what each seed came to, to compare two runs of it")
    asked.add_argument("--show", action="store_true", help="print everything that happens")
    given = asked.parse_args()
    if os.environ.get("PYTHONHASHSEED") == "0" and (given.jobs == 1 or given.seeds == 1):
        return work(given)
    return start(given)


def start(given: argparse.Namespace) -> int:
    """Processes that share the seeds; each runs one seed after the other."""
    jobs = max(1, min(given.jobs, given.seeds))
    begun = time.perf_counter()
    more = [f"--{name}" for name in ("digests", "show") if getattr(given, name)]
    processes = []
    for job in range(jobs):
        seeds = ["--seeds", str(len(range(job, given.seeds, jobs))), "--from", str(given.first + job), "--step", str(jobs)]
        command = [sys.executable, "-m", "tests.faults", "--jobs", "1", *seeds, *more]
        processes.append(subprocess.Popen(command, env={**os.environ, "PYTHONHASHSEED": "0"}))
    failed = max(process.wait() for process in processes)
    took = time.perf_counter() - begun
    if given.seeds > 1:
        print(f"{given.seeds:,} seeds in {took:,.1f} s ({60 * given.seeds / took:,.0f} a minute, {jobs} processes)")
    return failed


def work(given: argparse.Namespace) -> int:
    clock.install()
    from tests.faults.runs import run_seed, set_up

    set_up()
    failed = 0
    for seed in range(given.first, given.first + given.seeds * given.step, given.step):
        result = run_seed(seed, show=given.show)
        if given.digests:
            print(f"{seed} {result['digest']}\n", end="", flush=True)  # one write: others print to the same pipe
        wrong = result["violations"]
        if given.show or given.seeds == 1:
            print(json.dumps({name: value for name, value in result.items() if name != "last"}, indent=1))
        if wrong:
            failed += 1
            lines = [
                f"seed {seed} failed: {wrong[0]}",
                *result["last"],
                f"again: python -m tests.faults --seeds 1 --from {seed}",
            ]
            print("\n  ".join(lines) + "\n", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
