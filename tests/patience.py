"""How long a test waits for what must come: a guard against hanging for ever, never a measure of speed.

Machines may be busy. What is about time is asserted on a clock of the test's own, or measured by `make bench`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 3600.0


def eventually(fact: Callable[[], object]) -> None:
    """Wait for what another thread or process is about to make true."""
    until = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < until, "this never came true"
        time.sleep(0.01)
