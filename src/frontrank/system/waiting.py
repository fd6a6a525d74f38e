"""Somebody waits and reads a pipe: a line on standard error says every ten seconds what is done, and since when."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_S = 10.0
VARIABLE = "FRONTRANK_PROGRESS_S"  # another number of seconds; 0: no lines


def every_s() -> float:
    """Seconds between two lines, 0 if there are to be none."""
    try:
        return max(0.0, float(os.environ.get(VARIABLE, EVERY_S)))
    except ValueError:
        return EVERY_S


@contextmanager
def lines(line: Callable[[], str]) -> Iterator[None]:
    """Write ``line()`` with a clock every few seconds for as long as the block runs."""
    pause, out, ended = every_s(), sys.stderr, threading.Event()
    if not pause:
        yield
        return
    began = time.monotonic()

    def write() -> None:
        while not ended.wait(pause):
            print(f"frontrank: {line()}, {clock(time.monotonic() - began)}", file=out, flush=True)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


def clock(seconds: float) -> str:
    """
    >>> clock(7.9), clock(3671)
    ('0:00:07', '1:01:11')
    """
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
