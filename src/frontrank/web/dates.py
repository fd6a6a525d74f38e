"""When searchers did what they did: rows of a log by time, so that the past can foretell the future.

Times are seconds since 1970 (UTC).
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from frontrank.kernels.jit import Array


class AskedOn(NamedTuple):
    """When queries were asked, and how often: a row for each query and date."""

    query: Array  # int32: which of the queries of a workload
    time: Array
    frequency: Array


class SeenOn(NamedTuple):
    """When pages were clicked on or shown: a row for each page and date."""

    page: Array  # int32
    time: Array
    views: Array | None
    clicks: Array | None

    def split(self, name: str, since: float, pages: int) -> tuple[Array, Array] | None:
        """Views or clicks of each page before a moment, and from then on; None if these have no dates."""
        amount: Array | None = getattr(self, name)
        if amount is None:
            return None
        earlier = self.time < since
        before, after = (np.bincount(self.page[rows], amount[rows], pages) for rows in (earlier, ~earlier))
        return before, after


def seconds_of(date: str) -> float:
    """Seconds since 1970 of a date, or of a date and a time; NaN for anything else.

    >>> seconds_of("1970-01-02"), seconds_of("1970-01-01T01:00+01:00"), seconds_of("monday")
    (86400.0, 0.0, nan)
    """
    try:
        read = datetime.fromisoformat(date.strip())
    except ValueError:
        return math.nan
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def by_date(
    key: Array, time: Array, *amounts: Array | None, fold: np.ufunc = np.add
) -> tuple[Array, Array, list[Array | None]]:
    """One row for each key (from 0) and date, with the sums of the amounts; rows without a date (NaN) are left out."""
    kept = np.flatnonzero(~np.isnan(time) & (key >= 0))
    order = kept[np.lexsort((time[kept], key[kept]))]
    if not order.size:
        return np.empty(0, np.int32), np.empty(0), [None if amount is None else np.empty(0) for amount in amounts]
    other = (np.diff(key[order]) != 0) | (np.diff(time[order]) != 0)
    starts = np.concatenate([[0], np.flatnonzero(other) + 1])
    sums = [None if amount is None else np.asarray(fold.reduceat(amount[order], starts)) for amount in amounts]
    first = order[starts]
    return key[first].astype(np.int32), time[first], sums
