"""The report of a comparison: which ordering found the important pages first, by how much, and at what cost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from frontrank.report.figures import Style, styles
from frontrank.report.html import page, save
from frontrank.runs import Runs

SHARE = 0.1  # of the web: where the verdict is given, if the crawls went so far
HOT = 0.05  # of all pages are hot in the figure with a threshold
LISTED = 2000  # seeds that a snippet spells out
FETCHED = "share of the web fetched"
IDEAL, RANDOM = "ideal", "drawn at random"


def write(runs: Runs, path: str | os.PathLike[str]) -> None:
    """Write the report of these runs as one self-contained HTML page."""
    told = Comparison(runs)
    sections = [told.hot(), told.mass(), told.threshold(), told.coverage(), told.table(), told.time()]
    lead = f"{told.verdict()}\n\n{told.setting()}"
    title = f"{told.count()} on {runs.web.name}"
    command = runs.command or snippet(runs, os.path.basename(path))
    save(page(title, lead, [section for section in sections if section], told.facts(), command), path)


@dataclass(frozen=True)
class Comparison:
    """What the report says of some runs, piece by piece."""

    runs: Runs

    @cached_property
    def names(self) -> list[str]:
        """The specifications; of equal ones the later are numbered, so that each run has a name of its own."""
        specs = [run.spec for run in self.runs]
        return [spec if spec not in specs[:i] else f"{spec} ({specs[:i].count(spec) + 1})" for i, spec in enumerate(specs)]

    @cached_property
    def looks(self) -> dict[str, Style]:
        return styles(self.names)

    @cached_property
    def until(self) -> float:
        """How far the longest crawl went, as a share of the web."""
        return max(max((run.trace.fetched for run in self.runs), default=1), 1) / self.runs.web.pages

    def count(self) -> str:
        return f"{len(self.runs)} orderings" if len(self.runs) > 1 else self.names[0]

    # Words ----------------------------------------------------------------------------------------------------------
    def verdict(self) -> str:
        """The best ordering and by how much, after 10% of the web or as near to it as all crawls went."""
        share = min(SHARE, min(run.trace.fetched for run in self.runs if run.trace.ended != "frontier empty") / self.runs.web.pages) if any(
            run.trace.ended != "frontier empty" for run in self.runs) else SHARE
        return share and ""
