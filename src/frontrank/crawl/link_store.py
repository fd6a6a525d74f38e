"""The links of pages that have arrived, for orderings that read them again; for others, those of the last page alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frontrank.errors import StorageError
from frontrank.kernels.growing import grown
from frontrank.kernels.jit import Array
from frontrank.orderings.policy import Policy
from frontrank.web.links import NO_VALUES, Links

MAX_LINKS = 2**31 - 1  # that are kept: 8 GB of them


class LinkStore:
    """``rows`` says where in ``target`` the links of each page are, and what an ordering makes of their anchors."""

    def __init__(self, policy: Policy, capacity: int) -> None:
        self.name = policy.name
        self.keeps = policy.needs_past_links or policy.interval() > 0
        self.reads_anchors = "anchors" in policy.needs()
        values = np.empty(capacity) if self.reads_anchors else NO_VALUES
        empty = np.zeros(capacity, np.int32)
        self.rows = Links(empty, empty.copy(), np.empty(capacity, np.int32), values)
        self.used = 0  # links that are stored

    def has(self, page: int) -> bool:
        return bool(self.rows.stop[page] > self.rows.start[page])

    def of(self, page: int) -> Array:
        return self.rows.target[self.rows.start[page] : self.rows.stop[page]]

    def reserve(self, count: int) -> int:
        """Have room for so many further links; where they begin."""
        if not self.keeps:
            self.used = 0  # nobody reads the links of earlier pages again
        end = self.used + count
        if end > self.rows.target.size:
            if end > MAX_LINKS:
                raise StorageError(
                    f"{self.name} reads links again, and at most {MAX_LINKS:,} of them are kept; "
                    "resume with an ordering that does not, such as fpr or opic"
                )
            value = grown(self.rows.value, end, capacity=MAX_LINKS) if self.reads_anchors else NO_VALUES
            self.rows = self.rows._replace(target=grown(self.rows.target, end, capacity=MAX_LINKS), value=value)
        return self.used

    def put(self, page: int, targets: Array, values: Array | Sequence[float] = ()) -> None:
        """A page has these links now."""
        begin = self.reserve(len(targets))
        end = begin + len(targets)
        self.rows.target[begin:end] = targets
        if self.reads_anchors:
            self.rows.value[begin:end] = values
        self.rows.start[page], self.rows.stop[page] = begin, end
        self.used = end

    def put_all(self, pages: Array, lengths: Array, targets: Array, values: Sequence[float] = ()) -> None:
        """Each of these pages has so many of these links now, one after the other."""
        begin = self.reserve(len(targets))
        ends = begin + np.cumsum(lengths)
        self.used = begin + len(targets)
        self.rows.target[begin : self.used] = targets
        if self.reads_anchors:
            self.rows.value[begin : self.used] = values
        self.rows.start[pages], self.rows.stop[pages] = ends - lengths, ends

    def grow(self, pages: int) -> None:
        self.rows = self.rows._replace(start=grown(self.rows.start, pages), stop=grown(self.rows.stop, pages))

    @property
    def capacity(self) -> int:
        """Pages that there is room for."""
        return self.rows.start.size

    # Snapshots ----------------------------------------------------------------------------------------------------------
    def save(self) -> tuple[Any, dict[str, Array]]:
        start, stop, target, value = self.rows
        return self.used, {"start": start, "stop": stop, "target": target[: self.used], "value": value[: self.used]}

    def restore(self, json: Any, arrays: dict[str, Array]) -> None:
        self.used = json
        self.rows = Links(arrays["start"], arrays["stop"], arrays["target"], arrays["value"])
