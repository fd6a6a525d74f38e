"""Trace: what happened, in order. Measures are functions of a trace and a web."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frontrank.kernels.jit import Array


@dataclass(frozen=True, eq=False)
class Trace:
    """The pages of one crawl in the order in which they were fetched, and how it came to its end."""

    seeds: Array
    order: Array
    ended: str = "budget"  # or "frontier empty", or the stopping rule that held
    gauges: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # name -> (pages fetched, value)
    times: Array | None = None  # when each page arrived, in seconds, if the crawl had a clock

    @property
    def fetched(self) -> int:
        return len(self.order)

    def when(self, pages: int) -> Array:
        """For every page of a web its place in the fetch order; those never fetched come after all others."""
        place = np.full(pages, len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        return place
