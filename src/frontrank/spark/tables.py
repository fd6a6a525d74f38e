"""Parquet tables in: opened with Spark, checked before the work, pages as vectors.

A folder on this machine is checked part by part (``sources.parquet_rows``); of one elsewhere (hdfs://, s3a://) Spark reads the
footers. Page numbers are checked as they are packed, each page once: no table is sorted for it and none collected.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import EngineError, InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.parquet_crawl import impact_column
from frontrank.sources.parquet_rows import (
    LINK_COLUMNS,
    PAGE_COLUMNS,
    check_columns,
    no_table,
    not_numbered,
    table_of,
    there_twice,
)
from frontrank.sources.parquet_tables import UNDONE, half_written, table_path
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Shape, Stretches, in_arrow
from frontrank.spark.rows import ROW, array, batch, by_segment, packed, rows_of_segments
from frontrank.spark.session import plain_errors
from frontrank.system.capacity import free_memory

NEEDED = {"links": LINK_COLUMNS, "pages": PAGE_COLUMNS}
KINDS = {"bigint": "int64", "int": "int32", "smallint": "int16", "tinyint": "int8"}  # Spark's names for what Parquet has
LINK_DISK, PAGE_DISK = 24, 100  # bytes: packs, blocks, and counts of sources, all at a time; vectors
CORE_MEMORY = 1 << 29  # of a Python worker: sums of a range, some links, Python itself
SEGMENT_FACTS = "pages long, fetched long, best double"


class SparkTables(NamedTuple):
    """A web's tables as Spark has them."""

    path: str
    links: Any
    pages: Any
    page_rows: int
    link_rows: int
    columns: frozenset[str]  # of the pages table


def open_tables(spark: Any, path: str, work: str, span: int) -> SparkTables:
    """The tables of a web; SourceError if one is missing, cut off, or lacks a column. ``work`` is where blocks will be, a
    ``span`` how many pages' part of a vector a task has in memory."""
    counts: dict[str, int] = {}
    if "://" not in path:
        counts = {table: table_of(path, table, needed).rows for table, needed in NEEDED.items()}
        check_fit(spark, path, counts["links"], counts["pages"], work, span)
    with plain_errors():
        frames = {table: spark.read.parquet(_where(spark, path, table)) for table in ("links", "pages")}
        counts = counts or {table: frame.count() for table, frame in frames.items()}
    for table, needed in NEEDED.items():
        kinds = {name: KINDS.get(kind, kind) for name, kind in frames[table].dtypes}
        check_columns(f"{path}/{table}", kinds, needed)
    if counts["pages"] == 0:
        raise SourceError(f"{path}: the pages table is empty; a web has at least one page")
    links = frames["links"].selectExpr("cast(source as long) source", "cast(target as long) target")
    return SparkTables(path, links, frames["pages"], counts["pages"], counts["links"], frozenset(frames["pages"].columns))


def table_frame(spark: Any, path: str, table: str) -> Any | None:
    """One of the tables that need not be there: queries, results."""
    where = _found(spark, path, table)
    return None if where is None else spark.read.parquet(where)


def _where(spark: Any, path: str, table: str) -> str:
    where = _found(spark, path, table)
    if where is None:
        raise SourceError(no_table(path, table))
    return where


def _found(spark: Any, path: str, table: str) -> str | None:
    if "://" not in path:
        where = os.path.abspath(table_path(path, table))
        return f"file://{where}" if os.path.exists(where) else None
    for name in (f"{path}/{table}.parquet", f"{path}/{table}"):
        if _exists(spark, name):
            if _exists(spark, f"{name}/{UNDONE}"):
                raise SourceError(half_written(name))
            return name
    return None


def _exists(spark: Any, name: str) -> bool:
    files, place = hadoop(spark, name)
    return bool(files.exists(place))


def hadoop(spark: Any, name: str) -> tuple[Any, Any]:
    """Hadoop's file system that has this path, and the path in it."""
    place = spark._jvm.org.apache.hadoop.fs.Path(name)
    return place.getFileSystem(spark._jsc.hadoopConfiguration()), place


def check_fit(spark: Any, path: str, links: int, pages: int, work: str, span: int) -> None:
    """On one machine: InputError if its disk or its memory are too small for this web."""
    context = spark.sparkContext
    if not context.master.startswith("local"):
        return
    needed = links * LINK_DISK + pages * PAGE_DISK
    size = f"{path}: {links:,} links and {pages:,} pages"
    free = shutil.disk_usage(work).free if "://" not in work else needed
    if needed > free:
        raise InputError(
            f"{size} need about {needed / 2**30:.1f} GB of disk, and {work} has {free / 2**30:.1f} GB;"
            " give a larger one (--work DIR), or a cluster as --master"
        )
    cores = context.defaultParallelism
    memory, each = free_memory(), CORE_MEMORY + 8 * min(pages, span)
    if memory is not None and cores * each > memory:
        raise InputError(
            f"{size} on {cores} cores need about {cores * each / 2**30:.1f} GB of memory beside Java's, and"
            f" {memory / 2**30:.1f} GB are free; take fewer cores (--master local[1])"
        )


class PageFacts(NamedTuple):
    """What the pages table says: how many pages are fetched, and the largest impact of one."""

    fetched: int
    best: float


def read_pages(tables: SparkTables, stretches: Stretches, impact: str | None, has_impact: bool) -> PageFacts:
    """Write the vectors "fetched" (uint8) and, if the table has it, "impact" (of fetched pages)."""
    shape = stretches.shape
    name = impact_column(tables.columns, impact, tables.path) if has_impact else None
    columns = [
        "cast(page as long) page",
        "coalesce(cast(fetched as boolean), false) fetched" if "fetched" in tables.columns else "true fetched",
        f"coalesce(cast({name} as double), 0.0D) impact" if name else "0.0D impact",
    ]
    by_segments = in_arrow(tables.pages.selectExpr(*columns), partial(packed, partial(_facts, shape)), ROW)
    together = by_segments.repartition(len(stretches.bounds), "seg").sortWithinPartitions("seg")
    written = in_arrow(together, partial(_write, stretches.folder, shape, has_impact), SEGMENT_FACTS)
    segments, pages, fetched, best = written.selectExpr("count(*)", "sum(pages)", "sum(fetched)", "max(best)").first()
    if (segments, pages) != (shape.segments, shape.pages):
        raise EngineError(f"Spark lost a part: {pages or 0:,} of {shape.pages:,} pages came back; rank again")
    return PageFacts(int(fetched), float(best))


def _facts(shape: Shape, arrived: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    for rows in arrived:
        if rows.column("page").null_count:
            raise SourceError("pages: a row has no page number; expected one in every row")
        page: Array = rows.column("page").to_numpy(zero_copy_only=False)
        fetched, impact = (np.asarray(rows.column(name).to_numpy(zero_copy_only=False)) for name in ("fetched", "impact"))
        if page.size and not (page.min() >= 0 and page.max() < shape.pages):
            raise SourceError("pages: " + not_numbered(int(page[(page < 0) | (page >= shape.pages)][0]), shape.pages))
        if impact.size and not (impact.min() >= 0 and np.all(np.isfinite(impact))):
            raise SourceError(f"pages: views and clicks must be numbers from 0, got {impact.min():g}")
        for segment, some in by_segment(page, shape.width):
            at = (page[some] % shape.width).astype(np.uint16)
            data = at.tobytes() + fetched[some].astype(np.uint8).tobytes() + impact[some].astype(np.float64).tobytes()
            yield segment, data


def _write(folder: Folder, shape: Shape, has_impact: bool, arrived: Iterable[Any]) -> Iterator[Any]:
    folder.check()
    for segment, rows in rows_of_segments(arrived):
        size = shape.size(segment)
        times, fetched, impact = np.zeros(size, np.int64), np.zeros(size, np.uint8), np.zeros(size)
        for row in rows:
            data = array(row, np.uint8)
            count = len(data) // 11
            at = data[: 2 * count].copy().view(np.uint16)
            np.add.at(times, at, 1)
            fetched[at] = data[2 * count : 3 * count]
            impact[at] = data[3 * count :].copy().view(np.float64)
        first = segment * shape.width
        if times.max() > 1:
            raise SourceError(f"pages: {there_twice(first + int(times.argmax()))}")
        seen = np.where(fetched > 0, impact, 0.0)
        folder.place("fetched", first, fetched)
        if has_impact:
            folder.place("impact", first, seen)
        yield batch(SEGMENT_FACTS, [times.sum()], [fetched.sum()], [seen.max()])
