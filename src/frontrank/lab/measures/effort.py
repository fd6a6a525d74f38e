"""Effort: the time that an ordering spends deciding (fpr10, Fig. 3)."""

from __future__ import annotations

from frontrank.simulation.simulate import Run
from frontrank.simulation.trace import Trace
from frontrank.web.web import Web


def links_fetched(trace: Trace, web: Web) -> int:
    """The number of links on all fetched pages."""
    return int(web.out_degree()[trace.order].sum())


def overhead(run: Run, web: Web) -> dict[str, float]:
    """Seconds of deciding for each fetched page, and for each link on them; 0 where there is none."""
    links = links_fetched(run.trace, web)
    return {
        "seconds_per_page": run.seconds / run.trace.fetched if run.trace.fetched else 0.0,
        "seconds_per_link": run.seconds / links if links else 0.0,
    }
