"""A small web in one task: every step that would be a job is done in one process, with the same code.

Planning a job over a few million links takes longer than its work, and a ranking is a hundred jobs. Where several rankers of a
small web are wanted, each is one task: it maps all blocks, keeps the vectors that it computes in memory, and writes the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.blocks import pull_block
from frontrank.kernels.jit import Array
from frontrank.spark.blocks import Blocks
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import RESULT, Result, Stretches, Totals, combined, each_task, in_arrow, result_row, totals_of
from frontrank.spark.tables import PageFacts
from frontrank.spark.web import SparkWeb


class WebParts(NamedTuple):
    """What a task needs to have a web for itself."""

    stretches: Stretches
    blocks: Blocks
    turned: Blocks
    page_facts: PageFacts
    max_links: float
    fetched_before: dict[int, int]


@dataclass(frozen=True)
class OwnVectors(Folder):
    """A folder as one task sees it: vectors of its own are in memory, the others lie where they are."""

    under: Folder
    pages: int
    vectors: dict[str, Array] = field(default_factory=dict, compare=False)

    def place(self, name: str, begin: int, values: Array) -> None:
        if name not in self.vectors:
            self.vectors[name] = np.zeros(self.pages, values.dtype)
        self.vectors[name][begin : begin + len(values)] = values

    def part(self, name: str, dtype: Any, begin: int, end: int) -> Array:
        if name in self.vectors:
            return self.vectors[name][begin:end].copy()
        return self.under.part(name, dtype, begin, end)

    def drop(self, *names: str) -> None:
        for name in names:
            self.vectors.pop(name, None)


class LocalWeb:
    """A web in one task; rankers use it like a ``SparkWeb``."""

    def __init__(self, parts: WebParts) -> None:
        self.blocks, self.turned, self.page_facts = parts.blocks, parts.turned, parts.page_facts
        self.max_links, self.fetched_before = parts.max_links, parts.fetched_before
        self.shared, self.shape, bounds = parts.stretches
        self.folder = OwnVectors(self.shared.path, self.shared, self.pages)
        self.stretches = Stretches(self.folder, self.shape, bounds)
        self.cache: dict[str, Any] = {}
        self.named = 0

    @property
    def pages(self) -> int:
        return self.shape.pages

    @property
    def fetched(self) -> int:
        return self.page_facts.fetched

    def progress(self, what: str, done: int, total: int) -> None:
        """Nobody watches a task."""

    def name(self, kind: str) -> str:
        self.named += 1
        return f"{kind}-{self.named}"

    def for_each_stretch(self, work: Callable[..., Result], *arguments: Any) -> Totals:
        tasks = range(len(self.stretches.bounds))
        return combined([work(*arguments, self.stretches.stretch(task)) for task in tasks])

    def pull(self, blocks: Blocks, give: str, settle: Callable[..., Result], *arguments: Any, largest: bool = False) -> Totals:
        results, ranges = [], self.stretches._replace(bounds=blocks.ranges)
        for number in range(len(blocks.ranges)):
            stretch = ranges.stretch(number)
            sums = np.zeros(stretch.size)
            for span in range(self.shape.spans):
                first = span * self.shape.span
                values = self.folder.vectors[give][first : first + self.shape.span]
                pull_block(blocks.block(number, span), values, sums, largest=largest)
            results.append(settle(*arguments, stretch, sums))
        return combined(results)

    def drop(self, *vectors: str) -> None:
        self.folder.drop(*vectors)

    def vector(self, name: str, dtype: Any = np.float64) -> Array:
        """All of a vector."""
        return self.folder.part(name, dtype, 0, self.pages)

    def publish(self, name: str, values: Array) -> None:
        """Write a vector to the folder that all tasks reach."""
        self.shared.place(name, 0, values)


SolverWeb = SparkWeb | LocalWeb  # what rankers by links work on


def run_locally(web: SparkWeb, works: list[Callable[[LocalWeb], Result]]) -> Totals:
    """Run each of these in a task that has the web for itself."""
    parts = WebParts(web.stretches, web.blocks, web.turned, web.page_facts, web.max_links, web.fetched_before)
    return totals_of(in_arrow(web.tasks.frame(len(works)), partial(_run, parts, works), RESULT), len(works))


def _run(parts: WebParts, works: list[Callable[[LocalWeb], Result]], rows: Iterable[Any]) -> Iterator[Any]:
    parts.stretches.folder.check()
    for task in each_task(rows):
        yield result_row(task, task + 1, works[task](LocalWeb(parts)))
