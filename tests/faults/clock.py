"""Time as the simulation has it: ``install`` comes before frontrank is imported, which keeps ``time.time`` in defaults."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

REAL: dict[str, Callable[..., float]] = {name: getattr(time, name) for name in ("time", "monotonic", "perf_counter", "sleep")}
BEGIN = 1_800_000_000.0


class Clock:
    """Simulated time: ``now`` never runs back, the time of day may jump."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.offset = BEGIN
        self.sleep: Callable[[float], None] = self.advance

    def advance(self, seconds: float) -> None:
        self.now += max(seconds, 0.0)

    def advance_to(self, now: float) -> None:
        self.now = max(self.now, now)

    def time(self) -> float:
        return self.now + self.offset


current: Clock | None = None


def _sleep(seconds: Any) -> None:
    (REAL["sleep"] if current is None else current.sleep)(seconds)


def install() -> None:
    """Have the functions of ``time`` ask the simulated clock, while there is one."""
    time.time = lambda: REAL["time"]() if current is None else current.time()
    time.monotonic = lambda: REAL["monotonic"]() if current is None else current.now
    time.perf_counter = lambda: REAL["perf_counter"]() if current is None else current.now
    time.time_ns = lambda: int(time.time() * 1e9)
    in_parts = time.gmtime
    time.gmtime = lambda seconds=None: in_parts(time.time() if seconds is None else seconds)
    time.sleep = _sleep


def use(clock: Clock | None) -> None:
    global current
    current = clock
