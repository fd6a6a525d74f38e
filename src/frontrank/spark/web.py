"""A web as Spark holds it for rankers: blocks and vectors in a work folder, and jobs over them.

Vectors of an iteration are files that its tasks wrote whole, so the plan of an iteration is none for those before it, and a
machine that is lost takes nothing with it but the tasks it was at.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from frontrank.spark.blocks import REACH, SPAN, TASK, WIDTH, Blocks, built, count_files, degree_of, pulled, shape_of
from frontrank.spark.folder import Folder, folder_at
from frontrank.spark.jobs import Numbers, Shape, Stretch, Tasks, Told, even, over_pages
from frontrank.spark.session import said_plainly
from frontrank.spark.tables import GivenPages, Tables, opened, read_pages

Tell = Callable[[str, int, int], None]
SETTLE = 1 << 23  # pages of a task that works on vectors
PIECE = 1 << 18  # pages that are settled at once, and stay in a processor's cache meanwhile


@contextmanager
def work_folder(given: str) -> Iterator[Folder]:
    """A folder of our own in the given one, removed at the end."""
    path = given if "://" in given else os.path.abspath(given)
    folder = folder_at(f"{path.rstrip('/')}/frontrank-{secrets.token_hex(6)}")
    folder.open()
    try:
        yield folder
    finally:
        folder.close()


class Web(Protocol):
    """What rankers by links ask a web for."""

    solved: dict[str, Any]  # what several rankers ask for

    @property
    def tell(self) -> Tell: ...
    @property
    def pages(self) -> int: ...
    @property
    def fetched(self) -> int: ...
    @property
    def given(self) -> GivenPages: ...
    @property
    def blocks(self) -> Blocks: ...
    @property
    def turned(self) -> Blocks: ...
    @property
    def most_links(self) -> float: ...
    @property
    def fetched_before(self) -> dict[int, int]: ...

    def name(self, kind: str) -> str: ...
    def over(self, make: Callable[..., Numbers], *given: Any) -> Told: ...
    def pulled(self, blocks: Blocks, give: str, settle: Callable[..., Numbers], *given: Any, largest: bool = False) -> Told: ...
    def drop(self, *vectors: str) -> None: ...


class SparkWeb:
    """The tables of a web, its blocks, and vectors that rankers start from. Other than these sizes are for tests."""

    def __init__(
        self,
        spark: Any,
        folder: Folder,
        path: str,
        tell: Tell,
        impact: str | None = None,
        *,
        width: int = WIDTH,
        span: int = SPAN,
        bucket: int | None = None,
        reach: int = REACH,
        task: int = TASK,
        tables: Tables | None = None,
    ) -> None:
        self.spark, self.folder, self.tell, self.impact, self.reach = spark, folder, tell, impact, reach
        self.solved: dict[str, Any] = {}  # what several rankers ask for
        self.cut: dict[str, Any] = {"width": width, "span": span, "bucket": bucket, "reach": reach, "task": task}
        if tables is None:
            tell("reading the tables", 0, 0)
        self.tables: Tables = tables or opened(spark, path, folder.path, span)
        self.shape: Shape = shape_of(self.tables.page_rows, width, span, bucket)
        cores = spark.sparkContext.defaultParallelism
        self.tasks, self.wanted = Tasks(spark), max(cores, -(-self.tables.link_rows // task))
        self.stretches: list[Stretch] = even(self.pages, width, max(cores, -(-self.pages // SETTLE)))
        self.named = 0

    @property
    def pages(self) -> int:
        return self.shape.pages

    @property
    def worth(self) -> bool:
        """Whether something is known of what fetched pages are worth."""
        return bool(self.tables.columns & {"views", "clicks"})

    @cached_property
    def given(self) -> GivenPages:
        """What the pages table tells, as the vectors "fetched" (uint8) and "impact" (of fetched pages)."""
        with said_plainly():
            return read_pages(self.tables, self.folder, self.shape, len(self.stretches), self.impact, self.worth)

    @property
    def fetched(self) -> int:
        """How many pages are fetched: all, where the table does not say."""
        return self.given.fetched

    @cached_property
    def blocks(self) -> Blocks:
        """The links of fetched pages."""
        self.tell("cutting links into blocks", 0, 0)
        return self._built("links")

    @cached_property
    def turned(self) -> Blocks:
        """The same, turned round: what a page links to."""
        self.tell("cutting links into blocks, turned round", 0, 0)
        return self._built("turned")

    def _built(self, name: str) -> Blocks:
        kept = "fetched" if self.given.fetched < self.pages else None
        with said_plainly():
            return built(self.tasks, self.folder, self.tables.links, kept, self.shape, self.wanted, name, self.reach)

    @cached_property
    def most_links(self) -> float:
        """The greatest number of links of a page; "degree" (int32) has those of all."""
        work = partial(degree_of, len(self.blocks.ranges), self.blocks.name, "degree")
        told = over_pages(self.tasks, self.folder, self.shape, self.stretches, work)
        self.folder.drop(*count_files(self.blocks))
        return told.most

    def name(self, kind: str) -> str:
        """A name for a new vector of this kind."""
        self.named += 1
        return f"{kind}-{self.named}"

    def over(self, make: Callable[..., Numbers], *given: Any) -> Told:
        """Have something done for each stretch of pages: ``make(*given, shape, folder, begin, end)``."""
        return over_pages(self.tasks, self.folder, self.shape, self.stretches, partial(make, *given))

    def pulled(self, blocks: Blocks, give: str, settle: Callable[..., Numbers], *given: Any, largest: bool = False) -> Told:
        """Pull a vector along blocks: ``settle(*given, shape, folder, begin, end, sums)`` writes what comes of the sums."""
        return pulled(self.tasks, self.folder, blocks, give, partial(settle, *given), largest)

    @cached_property
    def fetched_before(self) -> dict[int, int]:
        """How many fetched pages stand before each stretch, by its first page."""
        assert self.given.fetched
        counts = [int(np.frombuffer(data, np.int64)[0]) for data in self.over(_count_fetched).data]
        before = np.concatenate([[0], np.cumsum(counts)]).tolist()
        return {begin: before[i] for i, (begin, _) in enumerate(self.stretches)}

    @contextmanager
    def earlier(self, fetched: int) -> Iterator[SparkWeb]:
        """The same crawl when so many of its pages were fetched: the first, as they are fetched in the order of their numbers.
        It has a work folder of its own, which goes when it is done."""
        begin, end = max(one for one in self.stretches if self.fetched_before[one[0]] < fetched)
        held = np.flatnonzero(self.folder.part("fetched", np.uint8, begin, end))
        last = begin + int(held[fetched - 1 - self.fetched_before[begin]])
        folder = folder_at(f"{self.folder.path}-{fetched}")
        folder.open()
        try:
            then = SparkWeb(self.spark, folder, self.tables.path, self.tell, self.impact, tables=self.tables, **self.cut)
            then.given = GivenPages(fetched, self.over(_as_then, folder, last).most)
            yield then
            then.close()
        finally:
            folder.close()

    def drop(self, *vectors: str) -> None:
        self.folder.drop(*vectors)

    def close(self) -> None:
        self.tasks.close()


def _count_fetched(shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    count = np.count_nonzero(folder.part("fetched", np.uint8, begin, end))
    return Numbers(data=np.array([count], np.int64).tobytes())


def _as_then(then: Folder, last: int, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    """Write what was fetched up to a page, and what that is worth."""
    before = np.arange(begin, end) <= last
    fetched = folder.part("fetched", np.uint8, begin, end) * before
    impact = folder.part("impact", np.float64, begin, end) * before
    then.place("fetched", begin, fetched)
    then.place("impact", begin, impact)
    return Numbers(most=float(impact.max()))


def pieces(begin: int, end: int, size: int = PIECE) -> Iterator[Stretch]:
    """A stretch in pieces."""
    for low in range(begin, end, size):
        yield low, min(low + size, end)


def add_up(into: str, shape: Shape, folder: Folder, begin: int, end: int, sums: Any) -> Numbers:
    """Settle a range by writing its sums."""
    folder.place(into, begin, np.asarray(sums, np.float64))
    return Numbers()
