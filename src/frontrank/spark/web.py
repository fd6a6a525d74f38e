"""A web on Spark as rankers use it: blocks and vectors in a work folder, and jobs over them.

The vectors of an iteration are files that its tasks wrote whole, so Spark's plan for an iteration does not contain those before
it, and a machine that is lost takes nothing with it but the tasks that it was running.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.spark.blocks import REACH, SPAN, TASK, WIDTH, Blocks, add_degrees, count_files, shape_of
from frontrank.spark.building import BlockPlan, build_blocks
from frontrank.spark.folder import Folder, folder_at
from frontrank.spark.jobs import Result, Shape, Stretch, Stretches, Tasks, Totals, even_bounds, for_each_stretch
from frontrank.spark.pulling import pull_along
from frontrank.spark.session import plain_errors
from frontrank.spark.tables import PageFacts, SparkTables, read_pages

Progress = Callable[[str, int, int], None]
SETTLE = 1 << 23  # pages of a task that works on vectors


class Cut(NamedTuple):
    """How a web is cut; others than these are for tests."""

    width: int = WIDTH
    span: int = SPAN
    bucket: int | None = None
    reach: int = REACH
    task: int = TASK


@contextmanager
def work_folder(parent: str) -> Iterator[Folder]:
    """A new folder in this one, removed at the end."""
    path = parent if "://" in parent else os.path.abspath(parent)
    folder = folder_at(f"{path.rstrip('/')}/frontrank-{secrets.token_hex(6)}")
    folder.open()
    try:
        yield folder
    finally:
        folder.close()


class SparkWeb:
    """The tables of a web, its blocks, and vectors that rankers start from."""

    def __init__(
        self, spark: Any, folder: Folder, tables: SparkTables, progress: Progress, impact: str | None, cut: Cut
    ) -> None:
        self.spark, self.folder, self.tables = spark, folder, tables
        self.progress, self.impact, self.cut = progress, impact, cut
        self.cache: dict[str, Any] = {}  # what several rankers ask for
        self.shape: Shape = shape_of(tables.page_rows, cut.width, cut.span, cut.bucket)
        cores = spark.sparkContext.defaultParallelism
        self.tasks, self.wanted = Tasks(spark), max(cores, -(-tables.link_rows // cut.task))
        bounds = even_bounds(self.pages, cut.width, max(cores, -(-self.pages // SETTLE)))
        self.stretches = Stretches(folder, self.shape, bounds)
        self.named = 0

    @property
    def pages(self) -> int:
        return self.shape.pages

    @property
    def has_impact(self) -> bool:
        """Whether something is known of the impact of fetched pages."""
        return bool(self.tables.columns & {"views", "clicks"})

    @cached_property
    def page_facts(self) -> PageFacts:
        """What the pages table says; it is written as the vectors "fetched" (uint8) and "impact" (of fetched pages)."""
        with plain_errors():
            return read_pages(self.tables, self.stretches, self.impact, self.has_impact)

    @property
    def fetched(self) -> int:
        """How many pages are fetched: all, where the table does not say."""
        return self.page_facts.fetched

    @cached_property
    def blocks(self) -> Blocks:
        """The links of fetched pages."""
        self.progress("cutting links into blocks", 0, 0)
        return self._build("links")

    @cached_property
    def turned(self) -> Blocks:
        """The same, turned round: what a page links to."""
        self.progress("cutting links into blocks, turned round", 0, 0)
        return self._build("turned")

    def _build(self, name: str) -> Blocks:
        fetched = "fetched" if self.fetched < self.pages else None
        with plain_errors():
            plan = BlockPlan(self.folder, self.shape, name, fetched, self.wanted, self.cut.reach)
            return build_blocks(self.tasks, plan, self.tables.links)

    @cached_property
    def max_links(self) -> float:
        """The largest number of links of a page; the vector "degree" (int32) has those of all."""
        totals = self.for_each_stretch(add_degrees, self.blocks, "degree")
        self.folder.drop(*count_files(self.blocks))
        return totals.peak

    def name(self, kind: str) -> str:
        """A name for a new vector of this kind."""
        self.named += 1
        return f"{kind}-{self.named}"

    def for_each_stretch(self, work: Callable[..., Result], *arguments: Any) -> Totals:
        """Run ``work(*arguments, stretch)`` for each stretch of pages."""
        return for_each_stretch(self.tasks, self.stretches, partial(work, *arguments))

    def pull(self, blocks: Blocks, give: str, settle: Callable[..., Result], *arguments: Any, largest: bool = False) -> Totals:
        """Pull a vector along blocks: ``settle(*arguments, stretch, sums)`` writes what is computed from the sums."""
        return pull_along(self.tasks, blocks, give, partial(settle, *arguments), largest)

    @cached_property
    def fetched_before(self) -> dict[int, int]:
        """How many fetched pages come before each stretch, by its first page."""
        assert self.fetched
        counts = [int(np.frombuffer(data, np.int64)[0]) for data in self.for_each_stretch(_count_fetched).data]
        before = np.concatenate([[0], np.cumsum(counts)]).tolist()
        return {begin: before[i] for i, (begin, _) in enumerate(self.stretches.bounds)}

    @contextmanager
    def earlier(self, fetched: int) -> Iterator[SparkWeb]:
        """The same crawl when so many of its pages were fetched: the first, as they are fetched in the order of their numbers.
        It has a work folder of its own, removed at the end."""
        begin, end = max(bounds for bounds in self.stretches.bounds if self.fetched_before[bounds[0]] < fetched)
        at = np.flatnonzero(self.folder.part("fetched", np.uint8, begin, end))
        last = begin + int(at[fetched - 1 - self.fetched_before[begin]])
        folder = folder_at(f"{self.folder.path}-{fetched}")
        folder.open()
        try:
            then = SparkWeb(self.spark, folder, self.tables, self.progress, self.impact, self.cut)
            then.page_facts = PageFacts(fetched, self.for_each_stretch(_write_earlier, folder, last).peak)
            yield then
            then.close()
        finally:
            folder.close()

    def drop(self, *vectors: str) -> None:
        self.folder.drop(*vectors)

    def close(self) -> None:
        self.tasks.close()


def _count_fetched(stretch: Stretch) -> Result:
    count = np.count_nonzero(stretch.get("fetched", np.uint8))
    return Result(data=np.array([count], np.int64).tobytes())


def _write_earlier(then: Folder, last: int, stretch: Stretch) -> Result:
    """Write which pages up to the last one are fetched, and their impact."""
    before = stretch.numbers <= last
    fetched = stretch.get("fetched", np.uint8) * before
    impact = stretch.get("impact") * before
    then.place("fetched", stretch.begin, fetched)
    then.place("impact", stretch.begin, impact)
    return Result(peak=float(impact.max()))


def add_up(into: str, stretch: Stretch, sums: Any) -> Result:
    """Settle a range by writing its sums."""
    stretch.put(into, np.asarray(sums, np.float64))
    return Result()
