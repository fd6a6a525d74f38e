"""Work on all cores: fixed pieces, each done by whichever thread is free.

The pieces must not depend on the number of threads, so that the same links give the same bits on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from frontrank.kernels.jit import Array

SHARE = 250_000  # links from which a second piece pays
MAX_PIECES = 64
T = TypeVar("T")
Cut = tuple[int, int]


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def cuts(starts: Array, weight: int = 0) -> list[Cut]:
    """Rows 0 .. len(starts) - 1 in pieces of about as many links (or entries); a row counts as ``weight`` more of them.

    >>> import numpy as np
    >>> cuts(np.array([0, 5, 9]))
    [(0, 2)]
    """
    rows = len(starts) - 1
    links = int(starts[rows])
    pieces = min(links // SHARE, MAX_PIECES) if links >= 2 * SHARE else 1
    total = links + weight * rows
    return list(pairwise([0, *(_row_at(starts, weight, total * i // pieces) for i in range(1, pieces)), rows]))


def _row_at(starts: Array, weight: int, wanted: int) -> int:
    low, high = 0, len(starts) - 1
    while low < high:
        middle = (low + high) // 2
        if int(starts[middle]) + weight * middle < wanted:
            low = middle + 1
        else:
            high = middle
    return low


class Team:
    """Threads for pieces of work; none where there is one piece, or one core."""

    def __init__(self, pieces: int, threads: int | None = None) -> None:
        count = min(pieces, threads or cores())
        self.pool = ThreadPoolExecutor(count) if count > 1 else None

    def each(self, work: Callable[[Cut], T], pieces: list[Cut]) -> list[T]:
        """Do all pieces, and wait; what they return is in the order of the pieces."""
        if self.pool is None:
            return [work(piece) for piece in pieces]
        return list(self.pool.map(work, pieces))

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()
