"""How fast a crawl goes: as fast as it may, or so that it can choose (``polite/pace.py``).

greedy        every page that may go, at once
half          at least half as fast
5/s           five pages per second
5000 in 7200  so many pages in so many seconds
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from frontrank.errors import InputError
from frontrank.options import said_of

GREEDY_PACE, HALF_PACE = "greedy", "half"
STEADY, WITHIN, HALF = 1.0, 2.0, 3.0  # modes; 0 is no pace
SLACK = 1e-9  # of rounding
NUMBER = r"\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*"


class Pace(NamedTuple):
    """What the frontier keeps of it."""

    mode: float = 0.0
    pages: float = 0.0
    seconds: float = 0.0


def parse_pace(text: str) -> Pace:
    """The pace that a text names, or InputError.

    >>> parse_pace("5/s"), parse_pace("5000 in 7200")
    (Pace(mode=1.0, pages=5.0, seconds=1.0), Pace(mode=2.0, pages=5000.0, seconds=7200.0))
    >>> parse_pace("greedy")
    Pace(mode=0.0, pages=0.0, seconds=0.0)
    """
    if isinstance(text, str):
        if text in (GREEDY_PACE, HALF_PACE):
            return Pace() if text == GREEDY_PACE else Pace(HALF)
        steady = re.fullmatch(rf"{NUMBER}/\s*s", text)
        within = re.fullmatch(rf"{NUMBER}in{NUMBER}", text)
        found = (
            Pace(STEADY, float(steady[1]), 1.0) if steady else Pace(WITHIN, *map(float, within.groups())) if within else Pace()
        )
        if found.pages > 0 and found.seconds > 0 and math.isfinite(found.pages) and math.isfinite(found.seconds):
            return found
    raise InputError(
        f"pace must be greedy, half, pages per second such as 5/s, or pages in seconds such as 5000 in 7200, got {text!r}"
    )


def wrong_pace(text: str) -> str:
    """What is wrong with a pace that a person gave, or nothing."""
    return said_of(parse_pace, text, "pace")


def pace_within(pages: int, seconds: float) -> str:
    """The pace of so many pages in so many seconds.

    >>> pace_within(5000, 7200.0)
    '5000 in 7200'
    """
    return f"{pages} in {seconds:.12g}"


def chosen_pace(pace: str, within_s: float, budget: int) -> str:
    """The pace that --pace and --within mean together with a budget; InputError if they mean none."""
    if not within_s:
        return pace
    if not budget:
        raise InputError("--within needs --budget: how many pages are to be fetched in that time")
    if pace != GREEDY_PACE:
        raise InputError(f"--within sets the pace, and --pace {pace} another; give one of them")
    return pace_within(budget, within_s)


def check_pace(pace: str, hosts: int, delay_s: float, slots: int = 0, latency_s: float = 0.0) -> None:
    """Raise InputError if not even a crawl that asks all hosts all the time can keep this pace."""
    asked = parse_pace(pace)
    if not asked.seconds:
        return
    rate = asked.pages / asked.seconds
    for highest, why in (
        (hosts / delay_s if delay_s else math.inf, f"{hosts:,} host{'s' * (hosts != 1)} with {delay_s:g} s between requests"),
        (slots / latency_s if slots and latency_s else math.inf, f"{slots:,} requests in flight of {latency_s:g} s each"),
    ):
        if rate > highest * (1 + SLACK):
            raise InputError(f"a pace of {rate:.4g} pages per second cannot be kept: {why} give {highest:.4g}; give more time")
