"""BVGraph: web graphs as WebGraph and LAW publish them.

Three files share a base name: ``BASE.graph`` (a big-endian bit stream), ``BASE.properties`` (a Java property file) and
``BASE.offsets`` (not needed here: the stream is decoded from its beginning). ``BASE.urls`` or ``BASE.urls.gz``, one URL
a line in node order, is read where it lies beside them.

For each node x in turn the stream holds: the outdegree d; if d > 0 and the window is not 0, the reference r; if r > 0,
the list of x - r is copied in part: a number of blocks and their lengths, alternately copied and skipped, the first as
it is and the others less 1, what follows the last block being copied if their number is even; of what remains, the
intervals (unless the least interval length is 0): their number, and for each its left end and its length less the least
length; then the residuals. Left ends and residuals are gaps: the first one from x, folded to a natural number
(0, -1, 1, -2, ... become 0, 1, 2, 3, ...), the next from the end of the one before. Intervals are always γ-coded, the
code of every other part is a flag (``compressionflags``).

The codes are in ``bitstream``.

Reference: Boldi, Vigna: The WebGraph Framework I: Compression Techniques (WWW 2004). Cost: one pass, O(nodes + arcs);
rows already decoded are the reference window, so nothing is kept beside the links themselves.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import SourceError, nearest
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.sources.bitstream import (
    CODE_NAMES,
    DELTA,
    GAMMA,
    GOLOMB,
    NIBBLE,
    UNARY,
    ZETA,
    read_code,
    read_words,
)
from frontrank.sources.properties import read_properties
from frontrank.web.files import read_lines
from frontrank.web.links import MAX_PAGES, tidy
from frontrank.web.web import Web, hosts_from_urls

GRAPH_CLASSES = ("it.unimi.dsi.webgraph.BVGraph", "it.unimi.dsi.big.webgraph.BVGraph")

OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, INTERVALS, RESIDUALS = range(6)
DEFAULT_CODES = (GAMMA, UNARY, GAMMA, GAMMA, GAMMA, ZETA)  # those of intervals cannot be changed
ALLOWED = {
    "OUTDEGREES": (GAMMA, DELTA),
    "REFERENCES": (UNARY, GAMMA, DELTA),
    "BLOCK_COUNT": (UNARY, GAMMA, DELTA),
    "BLOCKS": (UNARY, GAMMA, DELTA),
    "RESIDUALS": (GAMMA, ZETA, DELTA, NIBBLE, GOLOMB),
    "OFFSETS": (GAMMA, DELTA),  # of the .offsets file, which is not read
}
PARTS = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "INTERVALS", "RESIDUALS")

FINE, TRUNCATED, BAD_DEGREE, MORE_ARCS, BAD_REFERENCE, BAD_COPY, BAD_INTERVALS, BAD_RESIDUALS, BAD_ORDER = range(9)
COMPLAINTS = {
    TRUNCATED: "the stream ends inside the links of this node; the file is truncated",
    BAD_DEGREE: "its outdegree is not possible",
    MORE_ARCS: "there are more arcs than the properties say",
    BAD_REFERENCE: "it refers to a node outside the window",
    BAD_COPY: "its copy blocks exceed the list they copy from",
    BAD_INTERVALS: "its intervals exceed its outdegree or the nodes of the graph",
    BAD_RESIDUALS: "its residuals exceed the nodes of the graph",
    BAD_ORDER: "its successors are not increasing",
}


class Shape(NamedTuple):
    """What the properties say of the stream."""

    nodes: int
    arcs: int
    window: int
    min_interval: int
    zeta_k: int
    codes: Array


def load_bvgraph(base: str) -> Web:
    """The web in BASE.graph and BASE.properties, with the URLs of BASE.urls[.gz] if there are any."""
    shape = read_shape(base + ".properties")
    indptr, targets = decode(base + ".graph", shape)
    indptr, targets, _ = tidy(indptr, targets)
    name = os.path.basename(base)
    for path in (base + ".urls", base + ".urls.gz"):
        if os.path.exists(path):
            urls = read_lines(path)
            if len(urls) != shape.nodes:
                raise SourceError(f"{path}: {len(urls):,} URLs for {shape.nodes:,} nodes; expected one a line for each")
            hosts, names = hosts_from_urls(urls)
            return Web(indptr, targets, hosts=hosts, host_names=names, urls=urls, name=name)
    return Web(indptr, targets, name=name)


def read_shape(path: str) -> Shape:
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
    return Shape(
        nodes=nodes,
        arcs=_number(given, path, "arcs", None, 0),
        window=_number(given, path, "windowsize", 7, 0),
        min_interval=_number(given, path, "minintervallength", 4, 0),
        zeta_k=_number(given, path, "zetak", 3, 1),
        codes=_codes(given.get("compressionflags", ""), path),
    )


def _number(given: dict[str, str], path: str, key: str, default: int | None, least: int) -> int:
    text = given.get(key, "").strip()
    if not text:
        if default is None:
            raise SourceError(f"{path}: the property {key} is missing; expected a number")
        return default
    if not (text.isascii() and text.isdigit() and least <= int(text) < 2**62):
        raise SourceError(f"{path}: {key} is {text!r}, expected a whole number not less than {least}")
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


def decode(path: str, shape: Shape) -> tuple[Array, Array]:
    """indptr and targets as they stand in the stream: successors increasing, self-links included."""
    words, bits = read_words(path)
    if shape.nodes > bits:  # every node takes a bit at least
        raise SourceError(f"{path}: {bits // 8:,} bytes cannot hold {shape.nodes:,} nodes; the file is truncated")
    if shape.arcs > shape.nodes**2:
        raise SourceError(f"{path}: {shape.arcs:,} arcs are too many for {shape.nodes:,} nodes; mend the properties")
    try:
        indptr, targets = np.zeros(shape.nodes + 1, np.int64), np.empty(shape.arcs, np.int32)
    except MemoryError:
        raise SourceError(f"{path}: {shape.arcs:,} arcs do not fit in memory") from None
    status, node = compiled(_decode)(words, bits, indptr, targets, shape.codes, shape.zeta_k, shape.window, shape.min_interval)
    if status != FINE:
        raise SourceError(f"{path}: node {node}: {COMPLAINTS[status]}")
    if indptr[-1] != shape.arcs:
        raise SourceError(f"{path}: {indptr[-1]:,} arcs decoded, but the properties say {shape.arcs:,}")
    return indptr, targets


# --- rows; a part returns (filled, next position), filled -1 if it cannot be ---


@kernel
def _unfold(n: int) -> int:
    """0, 1, 2, 3, ... as 0, -1, 1, -2, ..."""
    return (n >> 1) ^ -(n & 1)


@kernel
def _copy(words: Array, pos: int, end: int, codes: Array, k: int, listed: Array, row: Array, room: int) -> tuple[int, int]:
    count, pos = read_code(words, pos, end, codes[BLOCK_COUNT], k)
    if count < 0 or count > listed.size + 1:
        return -1, pos
    at = 0
    filled = 0
    for i in range(count + 1):
        if i == count:
            length = listed.size - at  # what follows the last block
        else:
            length, pos = read_code(words, pos, end, codes[BLOCKS], k)
            if length < 0 or length > listed.size:
                return -1, pos
            if i > 0:
                length += 1
        if at + length > listed.size:
            return -1, pos
        if i & 1 == 0:
            if filled + length > room:
                return -1, pos
            for j in range(length):
                row[filled + j] = listed[at + j]
            filled += length
        at += length
    return filled, pos


@kernel
def _intervals(
    words: Array,
    pos: int,
    end: int,
    codes: Array,
    k: int,
    node: int,
    nodes: int,
    least: int,
    row: Array,
    filled: int,
    room: int,
) -> tuple[int, int]:
    count, pos = read_code(words, pos, end, codes[INTERVALS], k)
    if count < 0 or count > room - filled:
        return -1, pos
    left = 0
    for i in range(count):
        gap, pos = read_code(words, pos, end, codes[INTERVALS], k)
        length, pos = read_code(words, pos, end, codes[INTERVALS], k)
        if gap < 0 or length < 0 or least > room or length + least > room - filled:
            return -1, pos
        left += node + _unfold(gap) if i == 0 else gap + 1
        length += least
        if left < 0 or left + length > nodes:
            return -1, pos
        for j in range(length):
            row[filled + j] = left + j
        filled += length
        left += length
    return filled, pos


@kernel
def _residuals(
    words: Array, pos: int, end: int, codes: Array, k: int, node: int, nodes: int, row: Array, filled: int, room: int
) -> tuple[int, int]:
    last = -1
    for i in range(filled, room):
        gap, pos = read_code(words, pos, end, codes[RESIDUALS], k)
        if gap < 0:
            return -1, pos
        last = node + _unfold(gap) if i == filled else last + gap + 1
        if last < 0 or last >= nodes:
            return -1, pos
        row[i] = last
    return room, pos


@kernel
def _merge(row: Array, copied: int, listed: int, degree: int, out: Array) -> bool:
    """row[:copied], row[copied:listed] and row[listed:degree] into out; false if that is not strictly increasing."""
    a = 0
    b = copied
    c = listed
    far = np.int64(1) << 40
    last = np.int64(-1)
    for i in range(degree):
        x = row[a] if a < copied else far
        y = row[b] if b < listed else far
        z = row[c] if c < degree else far
        if x < y and x < z:
            a += 1
        elif y < z:
            x = y
            b += 1
        else:
            x = z
            c += 1
        if x <= last:
            return False
        last = x
        out[i] = x
    return True


@kernel
def _row(
    words: Array,
    pos: int,
    end: int,
    node: int,
    degree: int,
    indptr: Array,
    targets: Array,
    codes: Array,
    k: int,
    window: int,
    least: int,
    row: Array,
) -> tuple[int, int]:
    """Decode the successors of a node, given its outdegree; returns a status and the next position."""
    nodes = indptr.size - 1
    filled = 0
    if window > 0:
        back, pos = read_code(words, pos, end, codes[REFERENCES], k)
        if back < 0 or back > window or back > node:
            return BAD_REFERENCE, pos
        if back > 0:
            listed = targets[indptr[node - back] : indptr[node - back + 1]]
            filled, pos = _copy(words, pos, end, codes, k, listed, row, degree)
            if filled < 0:
                return BAD_COPY, pos
    copied = filled
    if filled < degree and least > 0:
        filled, pos = _intervals(words, pos, end, codes, k, node, nodes, least, row, filled, degree)
        if filled < 0:
            return BAD_INTERVALS, pos
    spanned = filled
    if filled < degree:
        filled, pos = _residuals(words, pos, end, codes, k, node, nodes, row, filled, degree)
        if filled < 0:
            return BAD_RESIDUALS, pos
    begin = indptr[node]
    if not _merge(row, copied, spanned, degree, targets[begin : begin + degree]):
        return BAD_ORDER, pos
    return FINE, pos


@kernel
def _decode(
    words: Array, end: int, indptr: Array, targets: Array, codes: Array, k: int, window: int, least: int
) -> tuple[int, int]:
    """Fill indptr and targets; returns a status and the node it is about."""
    nodes = indptr.size - 1
    row = np.empty(1024, np.int64)
    pos: Any = np.int64(0)
    for node in range(nodes):
        degree, pos = read_code(words, pos, end, codes[OUTDEGREES], k)
        if pos > end:
            return TRUNCATED, node
        if degree < 0 or degree > nodes:
            return BAD_DEGREE, node
        if degree > targets.size - indptr[node]:
            return MORE_ARCS, node
        if degree > row.size:
            row = np.empty(2 * degree, np.int64)
        if degree > 0:
            status, pos = _row(words, pos, end, node, degree, indptr, targets, codes, k, window, least, row)
            if pos > end:  # whatever else is wrong comes from zeros read after the end
                return TRUNCATED, node
            if status != FINE:
                return status, node
        indptr[node + 1] = indptr[node] + degree
    return FINE, nodes
