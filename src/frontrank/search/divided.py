"""A query log divided: some queries drive an ordering, others judge it.

An ordering that is judged by the very queries that drove it is flattered: it has seen the answers. So a log is cut in two.

    half          each time that a query was asked falls to one side or the other by the toss of a coin
    dates[:DAY]   what was asked before a day drives, what was asked from then on judges: the past foretells the future.
                  Without a day the log is cut where both sides are as equal as days allow
    same          all queries do both: what papers did, and what flatters
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from frontrank.errors import InputError, SpecError
from frontrank.kernels.jit import Array
from frontrank.search.workload import Entry, load_workload, read_entries, workload_of
from frontrank.web.view import Workload

HALF, DATES, SAME = "half", "dates", "same"


@dataclass(frozen=True, eq=False)
class Divided:
    """What drives, and what judges."""

    driving: Workload
    judging: Workload
    how: str  # in words
    whole: Workload
    asked_for: str = HALF  # how a person asks for this division

    def again(self, draw: int) -> Divided:
        """Another draw, where the division is one of chance."""
        return halves(self.whole, draw) if self.asked_for == HALF else self

    def json(self) -> dict[str, Any]:
        return {"driving": len(self.driving), "judging": len(self.judging), "how": self.how}

    def told(self) -> str:
        """In a sentence."""
        if self.driving is self.judging:
            return f"The same {len(self.driving):,} queries drive and judge."
        return f"{len(self.driving):,} different queries drive, {len(self.judging):,} judge: {self.how}."


def same(workload: Workload) -> Divided:
    return Divided(workload, workload, "the same queries do both", workload, SAME)


def halves(workload: Workload, draw: int = 0) -> Divided:
    """A log cut in two at random: a query that was asked often is on both sides, a rare one on one.

    >>> cut = halves(Workload(("bees", "wasps"), np.array([1000.0, 1.0])))
    >>> bool(400 < cut.driving.frequency[0] < 600), len(cut.driving) + len(cut.judging)
    (True, 3)
    """
    toss = np.random.default_rng(draw)
    frequency = np.asarray(workload.frequency, np.float64)
    whole = np.floor(frequency)
    first = toss.binomial(whole.astype(np.int64), 0.5) + (frequency - whole) * toss.integers(0, 2, len(frequency))
    sides = [_only(workload, part) for part in (first, frequency - first)]
    if not all(map(len, sides)):
        raise InputError(
            f"the query log, asked {frequency.sum():g} times in all, is too small to be cut in halves; give a larger one, "
            "or let the same queries judge"
        )
    return Divided(sides[0], sides[1], "halves of the log, drawn at random", workload)


def _only(workload: Workload, frequency: Array) -> Workload:
    """The queries that have a frequency left."""
    at = np.flatnonzero(frequency > 0)
    return Workload(tuple(workload.queries[query] for query in at.tolist()), frequency[at])


def load_divided(path: str | os.PathLike[str], how: str = HALF, draw: int = 0) -> Divided:
    """The queries of a log file, divided: ``half``, ``same``, ``dates`` or ``dates:2024-05-31``."""
    kind, colon, day = how.partition(":")
    if kind not in (HALF, DATES, SAME) or (colon and (kind != DATES or not day)):
        raise SpecError(f"the queries that judge must be half, same, dates or dates:DAY, got {how!r}")
    if kind == DATES:
        since = _time(day, f"judge {how}") if day else None  # before a long log is read
        return replace(by_date([*read_entries(path)], since, os.fspath(path)), asked_for=how)
    workload = load_workload(path)
    return same(workload) if kind == SAME else halves(workload, draw)


def by_date(entries: Sequence[Entry], since: float | None = None, name: str = "query log") -> Divided:
    """What was asked before a moment (seconds since 1970), and what was asked from then on."""
    if not any(entry.date for entry in entries):
        raise InputError(f"{name}: contains no dates to split it by; give a log with a column date, or use --judge half")
    times = np.array([_time(entry.date, f"{name}, {entry.place}") for entry in entries])
    if since is None:
        since = _middle(times, np.array([entry.frequency for entry in entries]), name)
    earlier = [entry for entry, time in zip(entries, times.tolist(), strict=True) if time < since]
    later = [entry for entry, time in zip(entries, times.tolist(), strict=True) if time >= since]
    day = datetime.fromtimestamp(since, UTC)
    shown = f"{day:%Y-%m-%d}" if since % 86_400 == 0 else f"{day:%Y-%m-%d %H:%M:%S}"
    for side, when in ((earlier, "before"), (later, "from")):
        if not any(entry.frequency > 0 for entry in side):
            raise InputError(f"{name}: nothing was asked {when} {shown}; give a day between the first and the last of the log")
    sides = [workload_of((entry[:3] for entry in side), name) for side in (earlier, later)]
    whole = workload_of((entry[:3] for entry in entries), name)
    return Divided(sides[0], sides[1], f"asked before {shown} and from then on", whole, f"{DATES}:{day.isoformat()}")


def _middle(times: Array, frequency: Array, name: str) -> float:
    """The day (or moment, if all is of one day) before which as much was asked as from then on, as near as can be."""
    for unit in (86_400.0, 1.0):
        moment = np.floor(times / unit) * unit
        order = np.argsort(moment, kind="stable")
        starts = np.flatnonzero(np.diff(moment[order])) + 1
        if starts.size:
            asked = np.cumsum(frequency[order])
            nearest = starts[np.argmin(np.abs(asked[starts - 1] - asked[-1] / 2))]
            return float(moment[order][nearest])
    raise InputError(f"{name}: all of it is of one date, so it cannot be cut by date; judge by half")


def _time(date: str | None, place: str) -> float:
    try:
        read = datetime.fromisoformat((date or "").strip())
    except ValueError:
        raise InputError(f"{place}: date must be like 2024-05-31 or 2024-05-31T10:00, got {(date or '')[:40]!r}") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
