"""rw-eg's omega and gamma learned on Spark, and distinct virtual neighbours counted: what the driver does for small crawls, and
for a bounded part of large ones.

Tasks write the part that ``orderings.batch.sampled`` names to the folder: fetched pages, and their links. It has at most some
20 million links, so it fits into the driver, which learns with the local engine's own code: both choose the same.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.kernels.walk import virtual_degree
from frontrank.orderings.batch.rw import EnrichedWalk
from frontrank.orderings.batch.sampled import is_small, part_of, share_of, taken
from frontrank.spark.blocks import Blocks, block_of_range
from frontrank.spark.folder import Folder
from frontrank.spark.jobs import Numbers, Shape, over_pages
from frontrank.spark.web import SparkWeb
from frontrank.web.view import CrawlView


class Rows(NamedTuple):
    """Links of fetched pages, by page."""

    source: Array
    indptr: Array
    target: Array
    whole: bool  # of all fetched pages


def rows_of_part(web: SparkWeb) -> Rows:
    """The part of the crawl that settings are learned from."""
    blocks = web.blocks
    whole = is_small(web.pages, blocks.links)
    share = 1.0 if whole else share_of(web.fetched, blocks.links)
    web.over(_pages, share, "fetched" in web.tables.columns)
    over_pages(web.tasks, web.folder, web.shape, blocks.ranges, partial(_links, blocks, share))
    held = {kind: web.folder.names(f"part-{kind}-") for kind in ("pages", "links")}
    source = np.sort(np.concatenate([web.folder.array(name) for name in held["pages"]]))
    pairs = np.concatenate([web.folder.array(name) for name in held["links"]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    degree = np.bincount(np.searchsorted(source, pairs[:, 0]), minlength=len(source))
    web.drop(*held["pages"], *held["links"])
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    return Rows(source, indptr, pairs[order, 1], whole)


def _pages(share: float, waits: bool, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    pages = np.arange(begin, end)
    if waits:
        pages = pages[folder.part("fetched", np.uint8, begin, end) > 0]
    folder.write(f"part-pages-{begin}.npy", pages[taken(pages, share)])
    return Numbers()


def _links(blocks: Blocks, share: float, shape: Shape, folder: Folder, begin: int, end: int) -> Numbers:
    number = blocks.ranges.index((begin, end))
    held = [np.empty((0, 2), np.int64)]
    for span in range(shape.spans):
        block = block_of_range(folder, blocks, number, span)
        at = block.at if block.at.size else np.arange(len(block.start) - 1)
        target = begin + np.repeat(at, np.diff(block.start))
        source = span * shape.span + block.row.astype(np.int64)
        mine = taken(source, share)
        held.append(np.column_stack([source[mine], target[mine]]))
    folder.write(f"part-links-{begin}.npy", np.concatenate(held))
    return Numbers()


def learned(web: SparkWeb, ranker: EnrichedWalk) -> tuple[float, float]:
    """omega and gamma, as the local engine learns them."""
    web.tell(f"{ranker.name}: learning omega", 0, 0)
    rows = rows_of_part(web)
    if rows.whole:
        known = np.arange(web.pages, dtype=np.int32)
        source, target = (numbers.astype(np.int32) for numbers in (rows.source, rows.target))
        view, pages = CrawlView(web.pages, 0, known, source, rows.indptr, target), known
    else:
        view, pages = part_of(*rows[:3])
    impact = web.folder.vector("impact", np.float64, web.pages)[pages]
    view.impact = np.where(view.fetched, impact, 0.0)
    choice = ranker._learned(view)
    return choice.omega, choice.gamma


def neighbours(web: SparkWeb, name: str) -> str:
    """A vector of how many distinct virtual neighbours each page has; InputError if the crawl is too large for it."""
    rows = rows_of_part(web)
    if not rows.whole:
        raise InputError(
            f"{name}: gamma above 0 counts distinct neighbours, which Spark does for up to 20 million links and pages;"
            " give gamma=0, or rank locally"
        )
    into = web.name("neighbours")
    web.folder.place(into, 0, virtual_degree(rows.indptr, rows.target.astype(np.int32), web.pages))
    return into
