"""A web as Spark holds it for rankers: blocks, what blocks and tables tell of pages, and a folder for what must not be lost.

Every iteration's vectors are written to the work folder and read from there by the next: the plan of an iteration is no longer
for the ones before it, and an executor that dies takes nothing with it but its share of the present one. (Kept in Spark's
memory instead, a lost executor would have all iterations done again.) The folder must be one that all executors reach.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import Any

import numpy as np

from frontrank.spark.blocks import Blocks, built, counted, degrees, shape_of
from frontrank.spark.session import said_plainly
from frontrank.spark.tables import Tables, opened, page_rows
from frontrank.spark.vectors import ROW, Held, Made, Shape, by_segment

Tell = Callable[[str, int, int], None]
BUILD = 1 << 24  # links that a task makes blocks of
SETTLE = 1 << 23  # pages of a task that works on vectors


class Work:
    """Rows in a folder that all executors reach."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.spark, self.folder = spark, folder
        self.count = 0

    def kept(self, rows: Any, name: str) -> tuple[Any, str]:
        """The same rows, from the folder; and where they lie, for ``drop``."""
        self.count += 1
        path = f"{self.folder}/{name}-{self.count}"
        with said_plainly():
            writer = rows.write.option("compression", "none").option("parquet.enable.dictionary", "false")
            writer.parquet(path)
            return self.spark.read.schema(ROW).parquet(path), path

    def drop(self, path: str) -> None:
        place = self.spark._jvm.org.apache.hadoop.fs.Path(path)
        place.getFileSystem(self.spark._jsc.hadoopConfiguration()).delete(place, True)


@contextmanager
def work_folder(spark: Any, given: str) -> Iterator[Work]:
    """A folder of our own in the given one, removed at the end."""
    path = f"{given.rstrip('/')}/frontrank-{secrets.token_hex(6)}"
    if "://" not in path:
        path = f"file://{os.path.abspath(path)}"
    work = Work(spark, path)
    try:
        yield work
    finally:
        if path.startswith("file://"):  # also when the session is gone
            shutil.rmtree(path.removeprefix("file://"), ignore_errors=True)
        else:
            with suppress(Exception):  # what went wrong before is what matters
                work.drop(path)


class SparkWeb:
    """The tables of a web, its blocks, and vectors that rankers start from. ``cut``: see ``shape_of``."""

    def __init__(self, work: Work, path: str, tell: Tell, impact: str | None = None, **cut: int) -> None:
        self.spark, self.work, self.tell, self.impact = work.spark, work, tell, impact
        self.solved: dict[str, Any] = {}  # what several rankers ask for
        tell("reading the tables", 0, 0)
        self.tables: Tables = opened(self.spark, path)
        self.shape: Shape = shape_of(self.spark, self.tables.page_rows, self.tables.link_rows, **cut)
        cores = self.spark.sparkContext.defaultParallelism
        self.partitions = min(self.shape.segments, max(cores, -(-self.shape.pages // SETTLE)))
        self.building = max(cores, -(-self.tables.link_rows // BUILD))

    @property
    def pages(self) -> int:
        return self.shape.pages

    @cached_property
    def fetched(self) -> int:
        """How many pages are fetched: all, where the table does not say."""
        if "fetched" not in self.tables.columns:
            return self.pages
        with said_plainly():
            return int(self.tables.pages.where("fetched").count())

    @property
    def worth(self) -> bool:
        """Whether something is known of what fetched pages are worth."""
        return bool(self.tables.columns & {"views", "clicks"})

    @cached_property
    def given(self) -> Any:
        """Vectors of the pages table: "fetched", and "impact", with its greatest value as change."""
        rows = page_rows(self.tables, self.shape, self.partitions, self.impact, self.worth)
        with said_plainly():
            return self.work.kept(rows, "pages")[0]

    @cached_property
    def blocks(self) -> Blocks:
        """The links of fetched pages."""
        self.tell("cutting links into blocks", 0, 0)
        fetched = self.given.where("kind = 'fetched'") if "fetched" in self.tables.columns else None
        return built(self.tables.links, fetched, self.shape, self.building)

    @cached_property
    def turned(self) -> Blocks:
        """All links, turned round."""
        self.tell("cutting links into blocks, turned round", 0, 0)
        return built(self.tables.links, None, self.shape, self.building, turned=True)

    @cached_property
    def fixed(self) -> Any:
        """Of each page its number of links ("degree", int32; the greatest is its change), of each segment the tasks that
        need it ("to", int32)."""
        return self._routed(self.blocks, "to")

    @cached_property
    def back(self) -> Any:
        """The tasks of the links turned round that need a segment ("back", int32)."""
        return self._routed(self.turned, "back").where("kind = 'back'")

    def _routed(self, blocks: Blocks, to: str) -> Any:
        rows = degrees(blocks).union(self.given.where("kind = 'fetched'"))
        return self.work.kept(by_segment(rows, partial(_fixed, self.shape, to), self.partitions), to)[0]

    def made(self, rows: Any, make: Any, *given: Any) -> Any:
        """Rows made segment by segment, by a function of the shape, what is given, and the rows held."""
        return by_segment(rows, partial(make, self.shape, *given), self.partitions)

    def close(self) -> None:
        for name in ("blocks", "turned"):
            if name in self.__dict__:
                self.__dict__[name].frame.unpersist()


def _fixed(shape: Shape, to: str, held: Held) -> Iterator[Made]:
    degree, tasks = counted(held, shape.size(held.segment))
    yield Made("degree", degree, change=float(degree.max()))
    yield Made(to, tasks)


def addressed(kind: str, values: Any, tasks: Any) -> Iterator[Made]:
    """A vector's segment for each task that needs it."""
    for task in np.asarray(tasks).tolist():
        yield Made(kind, values, place=task)
