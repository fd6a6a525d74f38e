"""Parquet tables in: opened with Spark, checked before the work, pages as vectors.

A folder on this machine is checked part by part (``sources.parquet_crawl``); of one elsewhere (hdfs://, s3a://) Spark reads the
footers. Page numbers are checked as they are packed, each page once: no table is sorted for it and none collected.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError, SourceError
from frontrank.kernels.jit import Array
from frontrank.sources.parquet_crawl import (
    LINKS,
    PAGES,
    check_columns,
    checked_parts,
    impact_column,
    not_numbered,
    table_path,
)
from frontrank.spark.session import said_plainly
from frontrank.spark.vectors import ROW, Held, Made, Shape, batches, by_segment, in_arrow
from frontrank.web.room import free_memory

KINDS = {"bigint": "int64", "int": "int32", "smallint": "int16"}  # Spark's names for what Parquet has
DISK_A_LINK, DISK_A_PAGE = 24, 200  # bytes: packed links, blocks, and both at a time; some vectors
MEMORY_A_CORE = 1 << 29  # of a Python worker: sums of a range, a cell, Python itself


class Tables(NamedTuple):
    """A web's tables as Spark has them."""

    path: str
    links: Any
    pages: Any
    page_rows: int
    link_rows: int
    columns: frozenset[str]  # of the pages table


def opened(spark: Any, path: str) -> Tables:
    """The tables of a web; SourceError if one is missing, cut off, or lacks a column."""
    if "://" not in path:
        links, pages = checked_parts(path, "links", LINKS), checked_parts(path, "pages", PAGES)
        check_fit(spark, path, links.rows, pages.rows)
    with said_plainly():
        frames = {table: spark.read.parquet(_where(spark, path, table)) for table in ("links", "pages")}
        counts = {table: frame.count() for table, frame in frames.items()}
    for table, needed in (("links", LINKS), ("pages", PAGES)):
        kinds = {name: KINDS.get(kind, kind) for name, kind in frames[table].dtypes}
        check_columns(f"{path}/{table}", kinds, needed)
    if counts["pages"] == 0:
        raise SourceError(f"{path}: the pages table is empty; a web has at least one page")
    links = frames["links"].selectExpr("cast(source as long) source", "cast(target as long) target")
    return Tables(path, links, frames["pages"], counts["pages"], counts["links"], frozenset(frames["pages"].columns))


def table_frame(spark: Any, path: str, table: str) -> Any | None:
    """One of the tables that need not be there: queries, results."""
    where = _found(spark, path, table)
    return None if where is None else spark.read.parquet(where)


def _where(spark: Any, path: str, table: str) -> str:
    where = _found(spark, path, table)
    if where is None:
        raise SourceError(f"{path}: there is no {table}.parquet and no folder {table} with parts; a web has links and pages")
    return where


def _found(spark: Any, path: str, table: str) -> str | None:
    if "://" not in path:
        where = os.path.abspath(table_path(path, table))
        return f"file://{where}" if os.path.exists(where) else None
    for name in (f"{path}/{table}.parquet", f"{path}/{table}"):
        place = spark._jvm.org.apache.hadoop.fs.Path(name)
        if place.getFileSystem(spark._jsc.hadoopConfiguration()).exists(place):
            return name
    return None


def check_fit(spark: Any, path: str, links: int, pages: int) -> None:
    """On one machine: InputError if its disk or its memory are too small for this web."""
    context = spark.sparkContext
    if not context.master.startswith("local"):
        return
    conf = context.getConf()
    folder = conf.get("spark.local.dir", os.environ.get("SPARK_LOCAL_DIRS", "/tmp")).split(",")[0]
    wanted, free = links * DISK_A_LINK + pages * DISK_A_PAGE, shutil.disk_usage(folder).free
    size = f"{path}: {links:,} links and {pages:,} pages"
    if wanted > free:
        raise InputError(
            f"{size} need about {wanted / 2**30:.1f} GB of disk, and {folder} has {free / 2**30:.1f} GB;"
            " give a larger one (--conf spark.local.dir=DIR), or a cluster as --master"
        )
    cores = context.defaultParallelism
    memory = free_memory()
    if memory is not None and cores * MEMORY_A_CORE > memory:
        raise InputError(
            f"{size} on {cores} cores need about {cores * MEMORY_A_CORE / 2**30:.1f} GB of memory beside Java's, and"
            f" {memory / 2**30:.1f} GB are free; take fewer cores (--master local[1])"
        )


def page_rows(tables: Tables, shape: Shape, partitions: int, impact: str | None, worth: bool) -> Any:
    """Vectors of the pages table: "fetched" (uint8), and "impact" (of fetched pages) if their worth is asked for."""
    name = impact_column(tables.columns, impact, tables.path) if worth else None
    columns = [
        "cast(page as long) page",
        "coalesce(cast(fetched as boolean), false) fetched" if "fetched" in tables.columns else "true fetched",
        f"coalesce(cast({name} as double), 0.0D) impact" if name else "0.0D impact",
    ]
    packed = in_arrow(tables.pages.selectExpr(*columns), partial(_pack, shape), ROW)
    return by_segment(packed, partial(_together, shape), partitions)


def _pack(shape: Shape, arrived: Iterable[Any]) -> Iterator[Any]:
    yield from batches(_packed(shape, arrived))


def _packed(shape: Shape, arrived: Iterable[Any]) -> Iterator[tuple[int, Made]]:
    for batch in arrived:
        if batch.column("page").null_count:
            raise SourceError("pages: a row has no page number; expected one in every row")
        page: Array = batch.column("page").to_numpy(zero_copy_only=False)
        fetched, impact = (np.asarray(batch.column(name).to_numpy(zero_copy_only=False)) for name in ("fetched", "impact"))
        if page.size and not (page.min() >= 0 and page.max() < shape.pages):
            raise SourceError(not_numbered(int(page[(page < 0) | (page >= shape.pages)][0]), shape.pages))
        if impact.size and not (impact.min() >= 0 and np.all(np.isfinite(impact))):
            raise SourceError(f"pages: views and clicks must be numbers from 0, got {impact.min():g}")
        segment = page // shape.width
        order = np.argsort(segment, kind="stable")
        cuts = np.flatnonzero(np.diff(segment[order])) + 1
        for some in np.split(order, cuts) if page.size else ():
            at = (page[some] % shape.width).astype(np.uint16)
            data = at.tobytes() + fetched[some].astype(np.uint8).tobytes() + impact[some].astype(np.float64).tobytes()
            yield int(segment[some[0]]), Made("page", np.frombuffer(data, np.uint8))


def _together(shape: Shape, held: Held) -> Iterator[Made]:
    size = shape.size(held.segment)
    times, fetched, impact = np.zeros(size, np.int64), np.zeros(size, np.uint8), np.zeros(size)
    for data in held.all("page", np.uint8):
        count = len(data) // 11
        at = data[: 2 * count].copy().view(np.uint16)
        np.add.at(times, at, 1)
        fetched[at] = data[2 * count : 3 * count]
        impact[at] = data[3 * count :].copy().view(np.float64)
    if times.max() > 1:
        page = held.segment * shape.width + int(times.argmax())
        raise SourceError(f"pages: page {page} is there twice; pages must be numbered, each once")
    yield Made("fetched", fetched)
    seen = np.where(fetched > 0, impact, 0.0)
    yield Made("impact", seen, change=float(seen.max()))
