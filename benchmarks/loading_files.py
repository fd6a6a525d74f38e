"""Webs as files of other programs' forms, as large as asked for: Parquet tables, a BVGraph, Common Crawl's vertices and edges.

Each has the same kind of links: sources at random where the form allows it, targets as skewed as those of a web.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from frontrank.kernels.jit import Array, compiled, kernel

PIECE = 4_000_000
LINKS_A_PAGE = 20


def write_edges(path: Path, pages: int, links: int) -> None:
    """An edge list: numbers, a tab between them."""
    draw = np.random.default_rng(1)
    with path.open("wb") as file:
        for begin in range(0, links, PIECE):
            source, target = _links(draw, pages, min(PIECE, links - begin))
            text = np.empty(24 * source.size, np.uint8)
            file.write(text[: compiled(_print)(source, target, text)].data)


def write_tables(folder: Path, pages: int, links: int) -> None:
    """links.parquet and pages.parquet, with URLs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    draw = np.random.default_rng(1)
    columns = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with pq.ParquetWriter(folder / "links.parquet", columns) as writer:
        for begin in range(0, links, PIECE):
            source, target = _links(draw, pages, min(PIECE, links - begin))
            writer.write_table(pa.table([source, target], schema=columns), row_group_size=2**20)
    columns = pa.schema([("page", pa.int64()), ("url", pa.string()), ("fetched", pa.bool_()), ("views", pa.int64())])
    with pq.ParquetWriter(folder / "pages.parquet", columns) as writer:
        for begin in range(0, pages, 2**18):
            page = np.arange(begin, min(begin + 2**18, pages))
            urls = [f"http://h{number % 1000}.example/{number}" for number in page.tolist()]
            writer.write_table(pa.table([page, urls, page < 0.7 * pages, page % 7], schema=columns))


def write_common_crawl(folder: Path, pages: int, links: int) -> None:
    """vertices.txt and edges.txt."""
    folder.mkdir()
    with (folder / "vertices.txt").open("w", encoding="ascii") as file:
        for begin in range(0, pages, 2**18):
            file.writelines(f"{number}\tcom.example{number}.www\n" for number in range(begin, min(begin + 2**18, pages)))
    write_edges(folder / "edges.txt", pages, links)


def write_bvgraph(base: Path, pages: int, links: int) -> None:
    """A BVGraph without references and intervals, all codes γ: nothing but gaps between the links of a page."""
    draw = np.random.default_rng(1)
    arcs, rows = 0, PIECE // LINKS_A_PAGE
    held = np.empty(0, np.uint8)  # bits that are not a whole byte yet
    with base.with_suffix(".graph").open("wb") as file:
        for first in range(0, pages, rows):
            count = min(rows, pages - first)
            target = np.sort((pages * draw.random((count, links // pages)) ** 3).astype(np.int64), axis=1)
            bits = np.zeros(held.size + 64 * (target.size + count), np.uint8)
            bits[: held.size] = held
            used, more = compiled(_encode)(first, target, bits, held.size)
            whole = used // 8 * 8
            file.write(np.packbits(bits[:whole]).data)
            held, arcs = bits[whole:used].copy(), arcs + int(more)
        file.write(np.packbits(held).data)
    said = {
        "nodes": pages,
        "arcs": arcs,
        "windowsize": 0,
        "maxrefcount": 0,
        "minintervallength": 0,
        "zetak": 3,
        "compressionflags": "RESIDUALS_GAMMA",
        "graphclass": "it.unimi.dsi.webgraph.BVGraph",
        "version": 0,
    }
    base.with_suffix(".properties").write_text("".join(f"{key}={value}\n" for key, value in said.items()))


def _links(draw: np.random.Generator, pages: int, count: int) -> tuple[Array, Array]:
    return draw.integers(0, pages, count), (pages * draw.random(count) ** 3).astype(np.int64)


@kernel
def _print(source: Array, target: Array, text: Array) -> int:
    at = 0
    for i in range(source.size):
        for column in range(2):
            number = source[i] if column == 0 else target[i]
            unit = 1
            while number // unit >= 10:
                unit *= 10
            while unit > 0:
                text[at] = 48 + (number // unit) % 10
                at += 1
                unit //= 10
            text[at] = 9 + column  # a tab, then a line end
            at += 1
    return at


@kernel
def _gamma(number: int, bits: Array, at: int) -> int:
    length = 0
    while (number + 1) >> (length + 1) > 0:
        length += 1
    at += length  # zeros
    bits[at] = 1
    for i in range(length - 1, -1, -1):
        at += 1
        bits[at] = ((number + 1) >> i) & 1
    return at + 1


@kernel
def _encode(first: int, target: Array, bits: Array, at: int) -> tuple[int, int]:
    """Rows of sorted targets, repeated ones once; (bits used, arcs)."""
    arcs = 0
    for r in range(target.shape[0]):
        degree = 0
        for j in range(target.shape[1]):
            degree += j == 0 or target[r, j] != target[r, j - 1]
        at = _gamma(degree, bits, at)
        last = first + r
        for j in range(target.shape[1]):
            if j > 0 and target[r, j] == target[r, j - 1]:
                continue
            gap = target[r, j] - last
            at = _gamma((2 * gap if gap >= 0 else -2 * gap - 1) if j == 0 else gap - 1, bits, at)
            last = target[r, j]
        arcs += degree
    return at, arcs
