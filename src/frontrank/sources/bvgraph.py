"""BVGraph: web graphs as WebGraph and LAW publish them.

Three files share a base name: ``BASE.graph`` (a big-endian bit stream), ``BASE.properties`` (a Java property file) and
``BASE.offsets`` (not needed here: the stream is decoded from its beginning). ``BASE.urls`` or ``BASE.urls.gz`` beside them has
one URL per line, in node order.

``bvgraph_stream`` decodes it, a block of rows at a time: ``load_bvgraph`` into memory, 4 bytes per link and no second copy;
``write_bvgraph`` to disk, where memory does not grow with the graph.

Reference: Boldi, Vigna: The WebGraph Framework I: Compression Techniques (WWW 2004).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from frontrank.errors import SourceError, nearest
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.bitstream import CODE_NAMES, DELTA, GAMMA, GOLOMB, NIBBLE, UNARY, ZETA
from frontrank.sources.bvgraph_stream import RowBlock, StreamShape, blocks
from frontrank.sources.properties import read_properties
from frontrank.sources.url_files import UrlFiles, packed_lines
from frontrank.sources.web_directory import write_manifest
from frontrank.system.capacity import check_disk, check_room
from frontrank.system.files import NpyFile, Progress
from frontrank.system.text_files import read_lines
from frontrank.web.links import MAX_PAGES, cut
from frontrank.web.web import Web, hosts_from_urls

GRAPH_CLASSES = ("it.unimi.dsi.webgraph.BVGraph", "it.unimi.dsi.big.webgraph.BVGraph")

DEFAULT_CODES = (GAMMA, UNARY, GAMMA, GAMMA, GAMMA, ZETA)  # those of intervals cannot be changed
ALLOWED = {
    "OUTDEGREES": (GAMMA, DELTA),
    "REFERENCES": (UNARY, GAMMA, DELTA),
    "BLOCK_COUNT": (UNARY, GAMMA, DELTA),
    "BLOCKS": (UNARY, GAMMA, DELTA),
    "RESIDUALS": (GAMMA, ZETA, DELTA, NIBBLE, GOLOMB),
    "OFFSETS": (GAMMA, DELTA),  # of the .offsets file, which is not read
}
BITS = {f"bitsfor{part}" for part in ("outdegrees", "references", "blocks", "intervals", "residuals")}  # of the whole stream
PARTS = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "INTERVALS", "RESIDUALS")


def is_bvgraph(path: str) -> bool:
    return bool(_bases(path))


def _bases(path: str) -> list[str]:
    """The base names of the BVGraphs that this path is part of, or contains. Base names have dots, so none is cut off."""
    if os.path.isdir(path):
        try:
            names = sorted(name for name in os.listdir(path) if name.endswith(".properties"))
        except OSError as error:
            raise SourceError(f"{path}: cannot be read ({error.strerror or error})") from None
        return [os.path.join(path, name.removesuffix(".properties")) for name in names]
    for base in (path, path.removesuffix(".graph"), path.removesuffix(".properties")):
        if os.path.isfile(base + ".properties"):
            return [base]
    if path.endswith(".graph") and os.path.isfile(path):
        raise SourceError(f"{path}: {path.removesuffix('.graph')}.properties is missing; a BVGraph needs both files")
    return []


def _base(path: str) -> str:
    bases = _bases(path) or [path]
    if len(bases) > 1:
        files = ", ".join(f"{os.path.basename(base)}.properties" for base in bases)
        raise SourceError(f"{path}: {len(bases)} graphs in it ({files}); name one of these files")
    return bases[0]


def load_bvgraph(path: str, progress: Progress | None = None) -> Web:
    """The web in BASE.graph and BASE.properties, with the URLs of BASE.urls[.gz] if there are any; refused if too large."""
    base = _base(path)
    if progress is not None:
        progress(f"decoding {os.path.basename(base)}.graph")
    shape = read_shape(base + ".properties")
    check_room(base, shape.arcs, 4 * shape.arcs + 8 * shape.nodes)
    indptr, targets = decode(base + ".graph", shape, selves=False)
    name, url_file = os.path.basename(base), _urls(base)
    if url_file is None:
        return Web(indptr, targets, name=name)
    urls = read_lines(url_file)
    _check_urls(url_file, len(urls), shape)
    hosts, names = hosts_from_urls(urls)
    return Web(indptr, targets, hosts=hosts, host_names=names, urls=urls, name=name)


def write_bvgraph(path: str, where: Path, progress: Progress | None = None) -> None:
    """The same web, written into a folder as a web directory, however large it is."""
    base = _base(path)
    shape, name, urls = read_shape(base + ".properties"), os.path.basename(base), _urls(base)
    with NpyFile(where / "indptr.npy", np.int64) as indptr, NpyFile(where / "targets.npy", np.int32) as targets:
        indptr.append(np.zeros(1, np.int64))
        for block in _without_selves(base + ".graph", shape):
            if block.first == 0:  # the stream is sound so far: what it says of itself is believed
                check_disk(where, f"{name}: writing {shape.arcs:,} links", 4 * shape.arcs + 8 * shape.nodes)
            indptr.append(block.indptr[1:] + targets.size)
            targets.append(block.targets)
            if progress is not None:
                progress(f"{name}.graph: {targets.size:,} links decoded")
    if urls is None:
        write_manifest(where, name, shape.nodes, targets.size)
        return
    with UrlFiles(where) as files:
        for lines in packed_lines(urls):
            files.append(lines)
    _check_urls(urls, files.pages, shape)
    write_manifest(where, name, shape.nodes, targets.size, files.hosts, ["hosts", "urls"])


def _urls(base: str) -> str | None:
    return next((path for path in (base + ".urls", base + ".urls.gz") if os.path.exists(path)), None)


def _check_urls(path: str, urls: int, shape: StreamShape) -> None:
    if urls != shape.nodes:
        raise SourceError(f"{path}: {urls:,} URLs for {shape.nodes:,} nodes; expected one line for each")


def decode(path: str, shape: StreamShape, selves: bool = True) -> tuple[Array, Array]:
    """indptr and targets, successors increasing; self-links as they stand in the stream, or dropped."""
    indptr = targets = np.empty(0, np.int64)
    for block in blocks(path, shape) if selves else _without_selves(path, shape):
        if not indptr.size:  # the stream is sound so far: what it says of itself is believed
            try:
                indptr, targets = np.zeros(shape.nodes + 1, np.int64), np.empty(shape.arcs, np.int32)
            except MemoryError:
                raise SourceError(f"{path}: {shape.arcs:,} arcs do not fit in memory") from None
        begin, end = block.first, block.first + block.indptr.size
        indptr[begin:end] = block.indptr + indptr[begin]
        targets[indptr[begin] : indptr[end - 1]] = block.targets
    return indptr, cut(targets, int(indptr[-1]))


def _without_selves(path: str, shape: StreamShape) -> Iterator[RowBlock]:
    for block in blocks(path, shape):
        kept = block.targets.copy()  # later rows may refer to those of the block itself
        links = compiled(_drop_selves)(block.first, block.indptr, kept)
        yield block._replace(targets=kept[:links])


@kernel
def _drop_selves(first: int, indptr: Array, targets: Array) -> int:
    k = 0
    end = indptr[0]
    for r in range(indptr.size - 1):
        begin, end = end, indptr[r + 1]
        indptr[r] = k
        for j in range(begin, end):
            if targets[j] != first + r:
                targets[k] = targets[j]
                k += 1
    indptr[indptr.size - 1] = k
    return k


def read_shape(path: str) -> StreamShape:
    """The properties that decoding needs; those that are missing have the defaults of the Java implementation."""
    given = read_properties(path)
    graph_class = given.get("graphclass", "").removeprefix("class ").strip()
    if graph_class not in GRAPH_CLASSES:
        raise SourceError(
            f"{path}: graphclass is {graph_class or 'missing'}, expected {GRAPH_CLASSES[0]}; "
            "recompress the graph with WebGraph's BVGraph class"
        )
    if given.get("endianness", "big") != "big":
        raise SourceError(f"{path}: endianness is {given['endianness']}, expected big; convert the graph to big endian")
    if _number(given, path, "version", 0, 0) > 0:
        raise SourceError(f"{path}: format version {given['version']}, expected 0")
    nodes = _number(given, path, "nodes", None, 0)
    if nodes == 0 or nodes > MAX_PAGES:
        raise SourceError(f"{path}: nodes is {nodes:,}, expected 1 to {MAX_PAGES:,}")
    return StreamShape(
        nodes=nodes,
        arcs=_number(given, path, "arcs", None, 0),
        window=_number(given, path, "windowsize", 7, 0),
        min_interval=_number(given, path, "minintervallength", 4, 0),
        zeta_k=_number(given, path, "zetak", 3, 1),
        codes=_codes(given.get("compressionflags", ""), path),
        bits=sum(_number(given, path, key, None, 0) for key in BITS) if given.keys() >= BITS else None,
    )


def _number(given: dict[str, str], path: str, key: str, default: int | None, minimum: int) -> int:
    text = given.get(key, "").strip()
    if not text:
        if default is None:
            raise SourceError(f"{path}: the property {key} is missing; expected a number")
        return default
    if not (text.isascii() and text.isdigit() and minimum <= int(text) < 2**62):
        raise SourceError(f"{path}: {key} is {text!r}, expected a whole number not less than {minimum}")
    return int(text)


def _codes(flags: str, path: str) -> Array:
    codes = np.array(DEFAULT_CODES, np.int64)
    for flag in filter(None, (f.strip() for f in flags.split("|"))):
        part = next((p for p in sorted(ALLOWED, key=len, reverse=True) if flag.startswith(p + "_")), "")
        if not part:
            hint = nearest(flag.rpartition("_")[0], ALLOWED)
            raise SourceError(f"{path}: compression flag {flag!r} is unknown{hint}")
        code = flag[len(part) + 1 :]
        if code not in CODE_NAMES:
            raise SourceError(f"{path}: compression flag {flag!r} names no code{nearest(code, CODE_NAMES)}")
        if CODE_NAMES.index(code) not in ALLOWED[part]:
            possible = ", ".join(CODE_NAMES[c] for c in ALLOWED[part])
            raise SourceError(f"{path}: compression flag {flag!r}: BVGraph codes {part} only in {possible}")
        if part != "OFFSETS":
            codes[PARTS.index(part)] = CODE_NAMES.index(code)
    return codes
