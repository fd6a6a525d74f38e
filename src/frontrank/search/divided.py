"""A query log divided: some queries drive an ordering, others judge it.

An ordering that is judged by the queries that drove it looks too good, as it has seen the answers. So a log is cut in two.

    half          each time that a query was asked falls to one side or the other by the toss of a coin
    dates[:DAY]   what was asked before a day drives, what was asked from then on judges: the past predicts the future.
                  Without a day the log is cut where both sides are as equal as days allow
    same          all queries do both: what papers did, and too favourable
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from frontrank.errors import InputError, SpecError
from frontrank.kernels.jit import Array
from frontrank.search.workload import LogEntry, load_workload, read_entries, workload_of
from frontrank.web.dates import seconds_of
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
    since: float | None = None  # the moment that a log is cut at (seconds since 1970)

    def again(self, draw: int) -> Divided:
        """Another draw, where the division is one of chance."""
        return halves(self.whole, draw) if self.asked_for == HALF else self

    def seen(self, visibility: Array) -> Divided:
        """The same for searchers who see so much of a result at each rank."""
        whole = replace(self.whole, visibility=visibility)
        driving, judging = (replace(side, visibility=visibility) for side in (self.driving, self.judging))
        return replace(self, driving=driving, judging=driving if self.driving is self.judging else judging, whole=whole)

    def json(self) -> dict[str, Any]:
        return {"driving": len(self.driving), "judging": len(self.judging), "how": self.how}

    def sentence(self) -> str:
        """For a person to read."""
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
    return workload.only(at, frequency[at])


def load_divided(path: str | os.PathLike[str], how: str = HALF, draw: int = 0) -> Divided:
    """The queries of a log file, divided: ``half``, ``same``, ``dates`` or ``dates:2024-05-31``."""
    kind, since = _asked_for(how)
    if kind == DATES:
        return replace(by_date([*read_entries(path)], since, os.fspath(path)), asked_for=how)
    workload = load_workload(path)
    return same(workload) if kind == SAME else halves(workload, draw)


def divide(workload: Workload, how: str = HALF, draw: int = 0, name: str = "query log") -> Divided:
    """The same for queries that are in memory; ``dates`` needs to know when they were asked."""
    kind, since = _asked_for(how)
    if kind != DATES:
        return same(workload) if kind == SAME else halves(workload, draw)
    if workload.asked_on is None:
        raise InputError(
            f"{name}: its queries have no dates, but are to be cut by date; import them with a column date, or judge by half"
        )
    query, time, frequency = workload.asked_on
    moment = _middle(time, frequency, name) if since is None else since
    count, earlier = len(workload), time < moment
    sides = [_only(workload, np.bincount(query[rows], frequency[rows], count)) for rows in (earlier, ~earlier)]
    return replace(_cut(sides[0], sides[1], moment, workload, name), asked_for=how)


def _asked_for(how: str) -> tuple[str, float | None]:
    """half, same or dates; and the moment of the last, if one is named."""
    kind, colon, day = how.partition(":")
    if kind not in (HALF, DATES, SAME) or (colon and (kind != DATES or not day)):
        raise SpecError(f"the queries that judge must be half, same, dates or dates:DAY, got {how!r}")
    return kind, _time(day, f"judge {how}") if day else None


def by_date(entries: Sequence[LogEntry], since: float | None = None, name: str = "query log") -> Divided:
    """What was asked before a moment (seconds since 1970), and what was asked from then on."""
    if not any(entry.date for entry in entries):
        raise InputError(f"{name}: contains no dates to split it by; give a log with a column date, or use --judge half")
    times = np.array([_time(entry.date, f"{name}, {entry.place}") for entry in entries])
    if since is None:
        since = _middle(times, np.array([entry.frequency for entry in entries]), name)
    sides = []
    for wanted in (times < since, times >= since):
        side = [entry for entry, inside in zip(entries, wanted.tolist(), strict=True) if inside]
        asked = any(entry.frequency > 0 for entry in side)
        sides.append(workload_of((entry[:3] for entry in side), name) if asked else Workload((), np.empty(0)))
    return _cut(sides[0], sides[1], since, workload_of((entry[:3] for entry in entries), name), name)


def _cut(earlier: Workload, later: Workload, since: float, whole: Workload, name: str) -> Divided:
    day = datetime.fromtimestamp(since, UTC)
    shown = f"{day:%Y-%m-%d}" if since % 86_400 == 0 else f"{day:%Y-%m-%d %H:%M:%S}"
    for side, when in ((earlier, "before"), (later, "from")):
        if not len(side):
            raise InputError(f"{name}: nothing was asked {when} {shown}; give a day between the first and the last of the log")
    return Divided(earlier, later, f"asked before {shown} and from then on", whole, f"{DATES}:{day.isoformat()}", since)


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
    found = seconds_of(date or "")
    if math.isnan(found):
        raise InputError(f"{place}: date must be like 2024-05-31 or 2024-05-31T10:00, got {(date or '')[:40]!r}")
    return found
