"""How long a person waits for --help, and for a second start of simulate on a small web."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

from benchmarks.show import Result


def seconds(*args: str, repeats: int = 5) -> float:
    """The median of some starts."""
    taken = []
    for _ in range(repeats):
        begun = perf_counter()
        subprocess.run([sys.executable, "-m", "frontrank", *args], check=True, stdout=subprocess.DEVNULL)
        taken.append(perf_counter() - begun)
    return sorted(taken)[repeats // 2]


def start_up() -> list[Result]:
    small = ("simulate", "synthetic:pages=1000,seed=3", "--ordering", "fpr", "--json")
    seconds(*small, repeats=1)  # kernels are compiled once for all
    return [
        Result("frontrank --help", seconds("--help"), 0.3, "s", most=True),
        Result("second start of simulate on a small web", seconds(*small), 2.5, "s", most=True),
    ]
