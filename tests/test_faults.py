"""A few seeds of the fault simulator (``tests/faults``); ``make simulate-faults`` runs thousands."""

from __future__ import annotations

import subprocess
import sys

from tests.patience import PATIENCE_S

SEEDS = 30


def ran(jobs: int) -> list[str]:
    """The digests of these seeds, from processes of their own: time and the system's calls are replaced in them."""
    command = [sys.executable, "-m", "tests.faults", "--seeds", str(SEEDS), "--jobs", str(jobs), "--digests"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    digests = sorted(line for line in done.stdout.splitlines() if line[:1].isdigit() and len(line.split()) == 2)
    assert len(digests) == SEEDS
    return digests


def test_crawls_keep_their_promises_under_faults_and_a_seed_always_comes_to_the_same() -> None:
    assert ran(jobs=2) == ran(jobs=3), "whatever ran before it in its process"
