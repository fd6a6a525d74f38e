"""The best waiting pages by key alone, whatever politeness says: for people who ask what comes next."""

from __future__ import annotations

import numpy as np

from frontrank.frontiers.frontier import WAITING
from frontrank.frontiers.polite.arrays import Polite
from frontrank.kernels.jit import Array, by_size, lean

FEW = 1_000  # pages that are looked for in one pass


def best(queue: Polite, count: int) -> Array:
    """The next pages by key alone, whatever politeness says. A few of a million take milliseconds: one pass, nothing copied."""
    if 0 < count <= FEW:
        pages = np.empty(count, np.int32)
        pages = pages[: by_size(best_few, queue.mark.size)(queue, queue.mark.size, pages)]
        return pages[np.lexsort((queue.node["seq"][pages], -queue.node["key"][pages]))]
    pages = np.flatnonzero(queue.mark == WAITING).astype(np.int32)
    if 0 < count < pages.size:
        key = queue.node["key"][pages]
        pages = pages[key >= np.partition(key, pages.size - count)[pages.size - count]]
    node = queue.node[pages]
    return pages[np.lexsort((node["seq"], -node["key"]))[:count]]


@lean
def best_few(queue: Polite, known: int, pages: Array) -> int:
    """The best waiting pages of the first so many, in no order: a heap of as many as there is room for, the worst on top."""
    node, mark = queue.node, queue.mark
    size, room = 0, pages.size
    for page in range(known):
        if mark[page] != WAITING:
            continue
        if size < room:
            at = size
            size += 1
            while at > 0 and _after(node, page, pages[(at - 1) // 2]):
                pages[at] = pages[(at - 1) // 2]
                at = (at - 1) // 2
            pages[at] = page
        elif _after(node, pages[0], page):
            at = 0
            while 2 * at + 1 < room:
                child = 2 * at + 1
                if child + 1 < room and _after(node, pages[child + 1], pages[child]):
                    child += 1
                if not _after(node, pages[child], page):
                    break
                pages[at] = pages[child]
                at = child
            pages[at] = page
    return size


@lean
def _after(node: Array, page: int, other: int) -> bool:
    """Whether a page goes after another."""
    if node[page]["key"] != node[other]["key"]:
        return bool(node[page]["key"] < node[other]["key"])
    return bool(node[page]["seq"] > node[other]["seq"])
