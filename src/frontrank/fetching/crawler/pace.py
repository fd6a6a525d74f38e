"""How fast a crawl is, and when it will have spent its budget or its time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

LOOKS = 300  # once a second: five minutes


class Pace:
    """Pages per second, over the last seconds that were looked at."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.seen: deque[tuple[float, int]] = deque(maxlen=LOOKS + 1)

    def note(self, pages: int) -> None:
        self.seen.append((self.clock(), pages))

    def over(self, seconds: float) -> float:
        """The rate over about so many seconds; of all that was seen, if that is less."""
        if not self.seen:
            return 0.0
        last, now = self.seen[-1]
        first, before = next(look for look in self.seen if look[0] >= last - seconds)
        return (now - before) / (last - first) if last > first else 0.0


def spoken(seconds: float) -> str:
    """A duration for people, to two places.

    >>> [spoken(s) for s in (0.4, 59, 61, 3600, 3700, 100_000, 10_000_000)]
    ['0 s', '59 s', '1 min', '1 h', '1 h 1 min', '1 d 3 h', '115 d']
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    for size, unit, part, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        count, rest = divmod(whole, size)
        if count >= 100 or (count and rest < part):
            return f"{count:,} {unit}"
        if count:
            return f"{count} {unit} {rest // part} {smaller}"
    return f"{whole // 60} min"
