"""A small web in the hands of one task: what would be a job for every step is done in one process, with the same code.

A job over a few million links is more planning than work, and a ranking is a hundred of them. Where several rankers of a web of
bounded size are wanted, each is a task: it maps all blocks, keeps the vectors that it makes in memory, and writes the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.kernels.blocks import pull_block
from frontrank.kernels.jit import Array
from frontrank.spark.blocks import Blocks, block_of_range
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import NUMBERS, Numbers, Shape, Stretch, Told, added_up, each_task, in_arrow, numbers_row, told_by
from frontrank.spark.tables import GivenPages
from frontrank.spark.web import SparkWeb


class Small(NamedTuple):
    """What a task needs to have a web for itself."""

    folder: Folder
    shape: Shape
    stretches: list[Stretch]
    blocks: Blocks
    turned: Blocks
    given: GivenPages
    most_links: float
    fetched_before: dict[int, int]


@dataclass(frozen=True)
class OwnVectors(Folder):
    """A folder as one task sees it: vectors of its own are in memory, the others lie where they are."""

    under: Folder
    pages: int
    held: dict[str, Array] = field(default_factory=dict, compare=False)

    def place(self, name: str, begin: int, values: Array) -> None:
        if name not in self.held:
            self.held[name] = np.zeros(self.pages, values.dtype)
        self.held[name][begin : begin + len(values)] = values

    def part(self, name: str, dtype: Any, begin: int, end: int) -> Array:
        if name in self.held:
            return self.held[name][begin:end].copy()
        return self.under.part(name, dtype, begin, end)

    def drop(self, *names: str) -> None:
        for name in names:
            self.held.pop(name, None)


class Alone:
    """A web as one task has it; rankers ask it for the same as a ``SparkWeb``."""

    def __init__(self, small: Small) -> None:
        self.under, self.shape, self.stretches, self.blocks, self.turned, self.given = small[:6]
        self.most_links, self.fetched_before = small[6:]
        self.folder = OwnVectors(self.under.path, self.under, self.pages)
        self.solved: dict[str, Any] = {}
        self.named = 0

    @property
    def pages(self) -> int:
        return self.shape.pages

    @property
    def fetched(self) -> int:
        return self.given.fetched

    def tell(self, what: str, done: int, total: int) -> None:
        """Nobody listens to a task."""

    def name(self, kind: str) -> str:
        self.named += 1
        return f"{kind}-{self.named}"

    def over(self, make: Callable[..., Numbers], *given: Any) -> Told:
        return added_up([make(*given, self.shape, self.folder, *stretch) for stretch in self.stretches])

    def pulled(self, blocks: Blocks, give: str, settle: Callable[..., Numbers], *given: Any, largest: bool = False) -> Told:
        told = []
        for number, (begin, end) in enumerate(blocks.ranges):
            sums = np.zeros(end - begin)
            for span in range(self.shape.spans):
                first = span * self.shape.span
                handed = self.folder.held[give][first : first + self.shape.span]
                pull_block(block_of_range(self.under, blocks, number, span), handed, sums, largest=largest)
            told.append(settle(*given, self.shape, self.folder, begin, end, sums))
        return added_up(told)

    def drop(self, *vectors: str) -> None:
        self.folder.drop(*vectors)

    def vector(self, name: str, dtype: Any = np.float64) -> Array:
        """All of a vector."""
        return self.folder.part(name, dtype, 0, self.pages)

    def hand_over(self, name: str, values: Array) -> None:
        """Write a vector where all find it."""
        self.under.place(name, 0, values)


def each_alone(web: SparkWeb, works: list[Callable[[Alone], Numbers]]) -> Told:
    """Have each of these done by a task that has the web for itself."""
    blocks, turned, most = web.blocks, web.turned, web.most_links
    small = Small(web.folder, web.shape, web.stretches, blocks, turned, web.given, most, web.fetched_before)
    return told_by(in_arrow(web.tasks.frame(len(works)), partial(_done, small, works), NUMBERS), len(works))


def _done(small: Small, works: list[Callable[[Alone], Numbers]], arrived: Iterable[Any]) -> Iterator[Any]:
    small.folder.check()
    for task in each_task(arrived):
        yield numbers_row(task, task + 1, works[task](Alone(small)))
