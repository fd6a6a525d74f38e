"""Why a fetch loop takes no more pages."""

from __future__ import annotations

from enum import StrEnum

PATIENCE_S = 2.0  # for pages in flight when a signal comes: ending takes time, too, and 5 s are all there is


class EndReason(StrEnum):
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    TIME = "time"
    RULE = "stopping rule"
    EMPTY = "frontier empty"
    FAILED = "failed"
    GIVEN_UP = "hosts given up"  # the pages that wait are on hosts that do not answer
    IDLE = "idle"  # there was nothing to fetch for some time
