"""rw-eg's omega and gamma learned on Spark, and distinct virtual neighbours counted: on the driver, from all of a small crawl,
or from a bounded part of a large one.

Tasks write the part that ``orderings.batch.sampled`` chooses to the folder: fetched pages, and their links. It has at most some
20 million links, so it fits into the driver, which learns with the local engine's own code: both choose the same.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array
from frontrank.kernels.walk import virtual_degree
from frontrank.orderings.batch.rw import EnrichedWalk, WalkSettings
from frontrank.orderings.batch.sampled import is_small, part_of, share_of, taken
from frontrank.spark.blocks import Blocks
from frontrank.spark.jobs import Result, Stretch, for_each_stretch
from frontrank.spark.web import SparkWeb
from frontrank.web.view import CrawlView


class CrawlPart(NamedTuple):
    """Links of fetched pages, by page."""

    source: Array
    indptr: Array
    target: Array
    whole: bool  # of all fetched pages


def rows_of_part(web: SparkWeb) -> CrawlPart:
    """The part of the crawl that settings are learned from."""
    blocks = web.blocks
    whole = is_small(web.pages, blocks.links)
    share = 1.0 if whole else share_of(web.fetched, blocks.links)
    web.for_each_stretch(_pages, share, "fetched" in web.tables.columns)
    for_each_stretch(web.tasks, web.stretches._replace(bounds=blocks.ranges), partial(_links, blocks, share))
    names = {kind: web.folder.names(f"part-{kind}-") for kind in ("pages", "links")}
    source = np.sort(np.concatenate([web.folder.array(name) for name in names["pages"]]))
    pairs = np.concatenate([web.folder.array(name) for name in names["links"]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    degree = np.bincount(np.searchsorted(source, pairs[:, 0]), minlength=len(source))
    web.drop(*names["pages"], *names["links"])
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    return CrawlPart(source, indptr, pairs[order, 1], whole)


def _pages(share: float, waits: bool, stretch: Stretch) -> Result:
    pages = stretch.numbers
    if waits:
        pages = pages[stretch.get("fetched", np.uint8) > 0]
    stretch.folder.write(f"part-pages-{stretch.begin}.npy", pages[taken(pages, share)])
    return Result()


def _links(blocks: Blocks, share: float, stretch: Stretch) -> Result:
    number = blocks.ranges.index((stretch.begin, stretch.end))
    links = [np.empty((0, 2), np.int64)]
    for span in range(stretch.shape.spans):
        block = blocks.block(number, span)
        at = block.at if block.at.size else np.arange(len(block.start) - 1)
        target = stretch.begin + np.repeat(at, np.diff(block.start))
        source = span * stretch.shape.span + block.row.astype(np.int64)
        sampled = taken(source, share)
        links.append(np.column_stack([source[sampled], target[sampled]]))
    stretch.folder.write(f"part-links-{stretch.begin}.npy", np.concatenate(links))
    return Result()


def learned(web: SparkWeb, ranker: EnrichedWalk) -> WalkSettings:
    """omega and gamma, as the local engine learns them."""
    web.progress(f"{ranker.name}: learning omega", 0, 0)
    rows = rows_of_part(web)
    if rows.whole:
        known = np.arange(web.pages, dtype=np.int32)
        source, target = (numbers.astype(np.int32) for numbers in (rows.source, rows.target))
        view, pages = CrawlView(web.pages, 0, known, source, rows.indptr, target), known
    else:
        view, pages = part_of(*rows[:3])
    impact = web.folder.vector("impact", np.float64, web.pages)[pages]
    view.impact = np.where(view.fetched, impact, 0.0)
    return ranker._learned(view)


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
